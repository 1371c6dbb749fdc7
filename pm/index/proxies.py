"""Which proxy leads to an address, and which setting says so: as uv and pip have it.

`HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY`, each in small letters first; `NO_PROXY` exempts hosts, domains with what is
below them, addresses and ranges of addresses. A proxy of pip's configuration is for everything, as with pip.
"""

import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pm.errors import PmError
from pm.index.package_sources import Secret, Sources
from pm.redaction import redact_value, userinfo_of, without_credentials

_PORTS = {"http": 80, "https": 443}


class Proxy(NamedTuple):
    """A proxy that is asked instead of a server."""

    url: str
    """Without credentials."""
    named_by: str
    """The setting that names it, as a person knows it."""
    userinfo: Secret | None = None

    @property
    def login(self) -> str:
        """Return `user:password` as it is sent; empty for none."""
        return unquote(self.userinfo.reveal()) if self.userinfo else ""

    def __str__(self) -> str:
        return f"the proxy `{redact_value(self.url)}`, which {self.named_by} names,"


def proxy_for(url: str, sources: Sources, environ: Mapping[str, str]) -> Proxy | None:
    """Return the proxy for an address; `None` to ask the server itself.

    Raise `PmError` (`index-unreachable`) for one that cannot be used, with the setting that names it.
    """
    parts = urlsplit(url)
    if sources.proxy is not None:
        return _usable(sources.proxy.reveal(), "pip's `proxy`", parts)
    names = [f"{parts.scheme}_proxy", f"{parts.scheme}_proxy".upper(), "all_proxy", "ALL_PROXY"]
    name = next((name for name in names if name in environ), "")
    if not name:
        return _of_system(parts)
    if not environ[name] or is_exempt(parts, environ.get("no_proxy", environ.get("NO_PROXY", ""))):
        return None
    return _usable(environ[name], f"`{name}`", parts)


def _of_system(parts: SplitResult) -> Proxy | None:
    """Return what the settings of macOS and Windows say; elsewhere there are none besides the variables."""
    value = getproxies().get(parts.scheme, "")
    return _usable(value, "the system's settings", parts) if value and not proxy_bypass(parts.hostname or "") else None


def _usable(value: str, named_by: str, parts: SplitResult) -> Proxy:
    url = value.strip() if "://" in value else f"http://{value.strip()}"
    if _is_http(url):
        userinfo = userinfo_of(url)
        return Proxy(without_credentials(url), named_by, Secret(userinfo) if userinfo else None)
    is_socks = url.lower().startswith("socks")
    kind = "a SOCKS proxy, and only HTTP proxies can be used" if is_socks else "which is no address of a proxy"
    raise PmError(
        "index-unreachable",
        f"{named_by} names `{redact_value(url)}`, {kind}",
        hint=f"name an HTTP proxy there, or exempt the host with `NO_PROXY={parts.hostname}`",
    )


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_exempt(parts: SplitResult, no_proxy: str) -> bool:
    """Say whether a list of hosts, domains, addresses and ranges (`NO_PROXY`) names the host of an address."""
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or _PORTS.get(parts.scheme, 0)
    entries = [entry.strip().lower() for entry in no_proxy.replace(" ", ",").split(",") if entry.strip()]
    return any(_names(entry, host, port) for entry in entries)


def _names(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    with suppress(ValueError):  # no address, or no range
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry.strip("[]"), strict=False)
    name, _, written = entry.rpartition(":")
    if name and written.isdecimal():
        if written != str(port):
            return False
        return _names(name.strip("[]"), host, port)
    domain = entry.lstrip("*").lstrip(".")
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))
