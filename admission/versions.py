"""Version sets as integers: bit i stands for the i-th version of a page, in ascending order.

Intersecting two sets is `&`, the newest member is `bit_length() - 1`. A specifier becomes a set by bisection with
packaging's own `contains`, so that only about log n versions are ever parsed; with one call for each version the
search spends nearly all of its time there (8.3 s instead of 0.08 s on a set with boto3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import Version

__all__ = ["VersionSets", "bits", "newest"]

_PRERELEASE = re.compile(r"[0-9][-_.]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)", re.IGNORECASE)


def newest(mask: int) -> int:
    """Return the position of the newest member of a set that is not empty."""
    return mask.bit_length() - 1


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the members, newest first."""
    while mask:
        position = mask.bit_length() - 1
        yield position
        mask ^= 1 << position


class VersionSets:
    """The sets that specifiers select among the versions of one page."""

    __slots__ = ("_masks", "_parsed", "every", "positions", "versions")

    def __init__(self, versions: tuple[str, ...]) -> None:
        self.versions = versions
        self.positions = dict(zip(versions, range(len(versions)), strict=True))
        self.every = (1 << len(versions)) - 1
        self._parsed: dict[int, Version] = {}
        self._masks: dict[str, int] = {"": self.every}

    def select(self, specifier: str) -> int:
        """Return the versions that a specifier set contains, pre-releases included (PEP 440)."""
        mask = self._masks.get(specifier)
        if mask is None:
            mask = self.every
            for part in SpecifierSet(specifier):
                mask &= self._select_one(part)
            self._masks[specifier] = mask
        return mask

    def prereleases(self) -> int:
        """Return the pre-releases and development releases."""
        mask = 0
        # nearly all versions are digits and dots: nothing is left of them, and most need no look
        leftovers = " ".join(self.versions).encode().translate(None, b"0123456789.")
        for position, leftover in enumerate(leftovers.split(b" ")) if not leftovers.isspace() else ():
            # a local label may hold any letters, so it is cut off before looking
            if leftover and _PRERELEASE.search(self.versions[position].partition("+")[0]):
                mask |= 1 << position
        return mask

    def _version(self, position: int) -> Version:
        version = self._parsed.get(position)
        if version is None:
            version = self._parsed[position] = Version(self.versions[position])
        return version

    def _select_one(self, part: Specifier) -> int:
        operator = part.operator
        if operator == "===":
            return sum(1 << i for i, version in enumerate(self.versions) if part.contains(version, prereleases=True))
        if operator == "!=":
            return self.every & ~self._contiguous(Specifier(f"=={part.version}"))
        if operator in ("==", "~="):
            return self._contiguous(part)
        # the four orderings are monotone over ascending versions: one boundary decides
        if operator in (">", ">="):
            return self.every & ~((1 << self._boundary(0, part, holds=True)) - 1)
        return (1 << self._boundary(0, part, holds=False)) - 1

    def _boundary(self, low: int, part: Specifier, *, holds: bool) -> int:
        """Return the first position from `low` on where the specifier holds (or stops to hold)."""
        high = len(self.versions)
        # where a page has the version that the specifier names, the boundary nearly always lies beside it
        named = self.positions.get(part.version)
        for middle in (named, named - 1, named + 1) if named is not None else ():
            if low <= middle < high:
                if part.contains(self._version(middle), prereleases=True) is holds:
                    high = middle
                else:
                    low = middle + 1
        while low < high:
            middle = (low + high) // 2
            if part.contains(self._version(middle), prereleases=True) is holds:
                high = middle
            else:
                low = middle + 1
        return low

    def _contiguous(self, part: Specifier) -> int:
        """Return the run of versions of `==` or `~=`: it starts at the lowest version that could belong to it."""
        text = part.version
        lowest = Version(f"{text[:-2]}.dev0" if text.endswith(".*") else text)
        low = self.positions.get(text, 0)
        high = low if text in self.positions else len(self.versions)
        while low < high:
            middle = (low + high) // 2
            if self._version(middle) >= lowest:
                high = middle
            else:
                low = middle + 1
        end = self._boundary(low, part, holds=False)
        return (1 << end) - (1 << low) if end > low else 0
