"""The one kind of address that a release can be taken from: a wheel that its digest pins."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from admission.decision import Need
from admission.facts import Facts
from admission.requirement import Requirement, canonical_name

__all__ = ["PUBLISH", "Addresses", "WheelAddress", "address_of", "file_name", "pinned_digest", "wheel_name"]

_DIGEST = re.compile(r"(?:.*&)?sha256=([0-9a-fA-F]{64})(?:&.*)?")
_WHEEL = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-[^-]+(?:-[0-9][^-]*)?-[^-]+-[^-]+-[^-]+\.whl")
_PAGE = re.compile(r"(?P<name>[a-z0-9-]+) @ (?P<url>\S+)#sha256=(?P<sha256>[0-9a-f]{64})")


PUBLISH = (
    "publish `{name}` to an index and name a version, or name its wheel: `{name} @ https://HOST/FILE.whl#sha256=DIGEST`"
)
"""What to do instead of an address that nothing can be installed from."""


class WheelAddress(NamedTuple):
    """A wheel where it lies, and what it must be."""

    name: str
    """Of the distribution, normalised."""
    url: str
    """Without what follows `#`."""
    sha256: str

    @property
    def page(self) -> str:
        """The name under which facts hold it: the only release there, and never one of an index."""
        return f"{self.name} @ {self.url}#sha256={self.sha256}"

    @classmethod
    def of_page(cls, name: str) -> "WheelAddress | None":
        """Return the address that is meant by the name of a page; `None` for a package of an index."""
        match = _PAGE.fullmatch(name) if " @ " in name else None
        return cls(match["name"], match["url"], match["sha256"]) if match else None


def address_of(requirement: Requirement) -> WheelAddress | None:
    """Return the wheel that a requirement names by its address; `None` if nothing can be installed from there."""
    url, _, _ = requirement.url.partition("#")
    digest = pinned_digest(requirement.url)
    if not digest or not re.match(r"(?i:https?)://[^/@\s]+/\S+$", url) or wheel_name(url) != requirement.name:
        return None
    return WheelAddress(requirement.name, url, digest)


def pinned_digest(url: str) -> str:
    """Return the digest that an address promises, in lower case; empty if it promises none."""
    match = _DIGEST.fullmatch(url.partition("#")[2])
    return match[1].lower() if match else ""


def wheel_name(url: str) -> str:
    """Return the name of the distribution whose wheel an address leads to; empty if that is no wheel."""
    match = _WHEEL.fullmatch(file_name(url))
    return canonical_name(match["name"]) if match else ""


def file_name(url: str) -> str:
    """Return the file's name in an address; empty for one that cannot be read."""
    from urllib.parse import unquote, urlsplit  # few requirements name an address

    try:
        return unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""


class Addresses:
    """Which packages of a question come from an address: it is the only release of its name, and no index is asked."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._of_name: dict[str, WheelAddress] = {}
        for requirement in requirements:
            address = address_of(requirement) if requirement.url else None
            if address is not None:
                self._of_name.setdefault(requirement.name, address)

    def __bool__(self) -> bool:
        return bool(self._of_name)

    def names(self) -> frozenset[str]:
        return frozenset(self._of_name)

    def is_meant_by(self, requirement: Requirement) -> bool:
        """Say whether a requirement names the very file that counts for its package."""
        address = self._of_name.get(requirement.name)
        return address is not None and address.sha256 == pinned_digest(requirement.url)

    def facts(self, facts: Facts) -> Facts:
        """Return facts in which the packages that come from an address are looked up there."""
        if not self._of_name:
            return facts
        pages = {name: address.page for name, address in self._of_name.items()}
        return Facts(_Elsewhere(facts.pages, pages), _Elsewhere(facts.candidates, pages))

    def asked(self, need: Need) -> Need:
        """Return what is needed under the names by which facts hold it."""
        if not self._of_name:
            return need
        candidates = tuple(sorted((self._page(name), version) for name, version in need.candidates))
        return need._replace(pages=tuple(sorted(map(self._page, need.pages))), candidates=candidates)

    def _page(self, name: str) -> str:
        address = self._of_name.get(name)
        return address.page if address is not None else name


_Value = TypeVar("_Value")


class _Elsewhere(Mapping[str, _Value]):
    """A mapping in which some names stand for others."""

    __slots__ = ("_inner", "_others")

    def __init__(self, inner: Mapping[str, _Value], others: Mapping[str, str]) -> None:
        self._inner = inner
        self._others = others

    def __getitem__(self, key: str) -> _Value:
        return self._inner[self._others.get(key, key)]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._others.get(key, key) in self._inner

    def __iter__(self) -> Iterator[str]:
        return (key for key in (*self._inner, *self._others) if key in self)

    def __len__(self) -> int:
        return len(set(self))
