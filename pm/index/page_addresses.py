"""`PageAddresses`: the addresses of the files of a page, made absolute."""

import re
from urllib.parse import urljoin, urlsplit

from pm.index.foreign import Unreadable, brief, check_length
from pm.limits import ADDRESS_LENGTH
from pm.redaction import without_credentials


class PageAddresses:
    """Makes the addresses of a page absolute; most of them begin alike, and then go on plainly."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._beginnings: dict[str, str] = {}

    def absolute(self, written: object) -> str:
        """Return an address as it can be asked for, without credentials. Raise `Unreadable` for what is none."""
        if not isinstance(written, str) or not written:
            raise Unreadable("it has no address")
        check_length(len(written), ADDRESS_LENGTH, "its address")
        plain = _PLAIN.fullmatch(written)
        if plain is None:
            return self._parsed(written)
        begin = self._beginnings.get(plain[1])
        if begin is None:
            whole = self._parsed(written)
            begin = self._beginnings[plain[1]] = whole.removesuffix(written[plain.end(1) :])
        return begin + written[plain.end(1) :]

    def _parsed(self, written: str) -> str:
        try:
            address = urljoin(self._base, written) if "://" not in written else written
            parts = urlsplit(address)
            parts.port  # noqa: B018 - raises for one that is no number
        except ValueError as error:
            raise Unreadable(f"its address {brief(written)} cannot be read") from error
        if not _ADDRESS.match(address) or (parts.scheme != "file" and not parts.hostname):
            raise Unreadable(f"its address {brief(written)} cannot be asked for")
        return without_credentials(address) if "@" in address else address


_PLAIN = re.compile(
    r"(https?://[A-Za-z0-9.:-]++/|/|(?:\.\./)*+)"
    r"(?:[A-Za-z0-9_~!+%-][A-Za-z0-9._~!+%-]*+/)*+[A-Za-z0-9_~!+%-][A-Za-z0-9._~!+%-]*+"
)
"""A server or a way up, and behind it only names: nothing that leads back, and no blank, query or user."""
_ADDRESS = re.compile(r"(?:https?|file)://[^\s\x00-\x20\x7f]*\Z", re.IGNORECASE)
