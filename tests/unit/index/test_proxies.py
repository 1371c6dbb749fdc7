"""Which proxy leads to an address is what uv and pip take from the same variables."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from pm.errors import PmError
from pm.index.package_sources import Secret, Sources
from pm.index.proxies import Proxy, is_exempt, proxy_for

_PROXY = "http://proxy.invalid:3128"


@pytest.mark.parametrize(
    ("host", "no_proxy", "expected"),
    [
        ("127.0.0.1", "localhost,::1,.local,10.0.0.0/8,127.0.0.0/8,fd00::/8", True),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3", "10.1.2.3:80", True),
        ("10.1.2.3", "10.1.2.3:8080", False),
        ("[fd00::1]", "fd00::/8", True),
        ("[::1]", "::1", True),
        ("[::1]:8080", "[::1]:8080", True),
        ("corp.invalid", "corp.invalid", True),
        ("corp.invalid", ".corp.invalid", True),
        ("pypi.corp.invalid", "corp.invalid", True),
        ("pypi.corp.invalid", "*.corp.invalid", True),
        ("pypi.corp.invalid", " other , CORP.invalid", True),
        ("notcorp.invalid", "corp.invalid", False),
        ("corp.invalid:8080", "corp.invalid:8080", True),
        ("corp.invalid:8081", "corp.invalid:8080", False),
        ("anything.invalid", "*", True),
        ("anything.invalid", "", False),
        ("anything.invalid", ",,.,*.,10.0.0.0/99,[::", False),
    ],
)
def test_hosts_domains_addresses_and_ranges_are_exempt(host: str, no_proxy: str, *, expected: bool) -> None:
    """Case proxy-environment-01."""
    assert is_exempt(urlsplit(f"http://{host}/simple"), no_proxy) is expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"HTTP_PROXY": _PROXY}, Proxy(_PROXY, "`HTTP_PROXY`")),
        ({"HTTP_PROXY": "http://other.invalid", "http_proxy": _PROXY}, Proxy(_PROXY, "`http_proxy`")),
        ({"HTTP_PROXY": _PROXY, "http_proxy": ""}, None),
        ({"HTTPS_PROXY": _PROXY}, None),
        ({"ALL_PROXY": "proxy.invalid:3128"}, Proxy(_PROXY, "`ALL_PROXY`")),
        ({"ALL_PROXY": _PROXY, "NO_PROXY": "index.invalid"}, None),
        ({"ALL_PROXY": "http://me:pw@proxy.invalid:3128"}, Proxy(_PROXY, "`ALL_PROXY`", Secret("me:pw"))),
    ],
)
def test_the_variable_that_names_a_proxy_is_known(environ: dict[str, str], expected: Proxy | None) -> None:
    assert proxy_for("http://index.invalid/simple/", Sources(), environ) == expected


def test_a_proxy_of_pip_is_for_everything() -> None:
    environ = {"HTTP_PROXY": "http://other.invalid", "NO_PROXY": "*"}
    sources = Sources(proxy=Secret(_PROXY))
    assert proxy_for("https://index.invalid/", sources, environ) == Proxy(_PROXY, "pip's `proxy`")


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:9", "socks://127.0.0.1:9", "SOCKS5H://127.0.0.1:9"])
@pytest.mark.parametrize("name", ["ALL_PROXY", "http_proxy"])
def test_a_socks_proxy_is_told_with_its_variable(name: str, value: str) -> None:
    """Case proxy-environment-02."""
    with pytest.raises(PmError) as caught:
        proxy_for("http://index.invalid/simple/", Sources(), {name: value})
    assert (caught.value.code, caught.value.message, caught.value.hint) == (
        "index-unreachable",
        f"`{name}` names `{value}`, a SOCKS proxy, and only HTTP proxies can be used",
        "name an HTTP proxy there, or exempt the host with `NO_PROXY=index.invalid`",
    )


@pytest.mark.parametrize("value", ["http://", "http://[::1", "http://host:port", "ftp://host", "://", "http:///"])
def test_what_is_no_address_of_a_proxy_is_told_with_its_variable(value: str) -> None:
    with pytest.raises(PmError, match="`ALL_PROXY` names"):
        proxy_for("http://index.invalid/simple/", Sources(), {"ALL_PROXY": value})
