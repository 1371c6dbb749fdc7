"""Who is asking: the credentials that belong to a server, from an index's address or from `.netrc`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from urllib3.util import make_headers

from pm.index.foreign import TROUBLE
from pm.index.package_sources import IndexAddress
from pm.places import user_home

if TYPE_CHECKING:
    from netrc import netrc


class Logins:
    """What is sent to which server so that it knows who asks; to no other one."""

    def __init__(self, indexes: Iterable[IndexAddress]) -> None:
        self._of_indexes = {
            origin(index.url): make_headers(basic_auth=unquote(index.userinfo.reveal()))
            for index in indexes
            if index.userinfo
        }

    def headers(self, url: str) -> Mapping[str, str]:
        """Return the header for an address; none where no login is known."""
        known = self._of_indexes.get(origin(url))
        return self._of_netrc(urlsplit(url).hostname or "") if known is None else known

    def _of_netrc(self, host: str) -> Mapping[str, str]:
        found = self._netrc.authenticators(host) if self._netrc and host else None
        return make_headers(basic_auth=f"{found[0]}:{found[2]}") if found else {}

    @cached_property
    def _netrc(self) -> netrc | None:
        """The user's file, which uv reads as well; one that cannot be read has no logins, as for pip."""
        from netrc import NetrcParseError, netrc

        for path in _places():
            if path.exists() and not path.is_file():  # a pipe would be waited for
                return None
            try:
                return netrc(str(path))
            except FileNotFoundError:
                continue
            except (OSError, NetrcParseError, *TROUBLE):
                return None
        return None


def _places() -> list[Path]:
    if named := os.environ.get("NETRC"):
        return [Path(named)]
    home = user_home(os.environ)
    return [home / name for name in (".netrc", "_netrc")] if home is not None else []


def origin(url: str) -> tuple[str, str]:
    """Return scheme, host and port of an address: the server that credentials are for."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()
