"""Which indexes are asked for a name: those whose patterns it matches, and if there are none those without patterns."""

import re
from collections.abc import Iterable
from functools import cache
from typing import Protocol, TypeVar

from admission import canonical_name


class Assigned(Protocol):
    """An index with the patterns of its names."""

    @property
    def url(self) -> str:
        """Return its address, without credentials."""

    @property
    def packages(self) -> tuple[str, ...]:
        """Return its patterns; empty for an index of all names that no pattern has."""


_Index = TypeVar("_Index", bound=Assigned)


def asked_for(name: str, indexes: Iterable[_Index]) -> tuple[_Index, ...]:
    """Return the indexes that may answer for a package, in their order.

    A name that an index has a pattern for comes from such indexes only, also where none of them knows it: what another
    index has under that name is another project.
    """
    every = tuple(indexes)
    reserved = tuple(index for index in every if matches(name, index.packages))
    return reserved or tuple(index for index in every if not index.packages)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Say whether a package's name matches one of the patterns; how either is spelled does not count."""
    spelled = canonical_name(name)
    return any(_expression(pattern).fullmatch(spelled) for pattern in patterns)


def assigned(index: Assigned) -> str:
    """Return an index and its names as one text that fingerprints and keys of caches hold."""
    return " ".join((index.url, *sorted({canonical_name(pattern) for pattern in index.packages})))


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    """Read a pattern: `*` stands for any characters, `?` for one, everything else for itself."""
    parts = {"*": ".*", "?": "."}
    merged = re.sub(r"\*+", "*", canonical_name(pattern))  # several in a row mean no more, and take long to try
    return re.compile("".join(parts.get(character, re.escape(character)) for character in merged))
