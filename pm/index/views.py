"""`Facts` as mappings over the store: a package is parsed when it is asked for, and that it was is noted."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from admission import Candidate, Facts, Page
from pm.index.store import Entry, Loaded


class Known(NamedTuple):
    """Everything that is known at one moment."""

    loaded: Loaded
    fetched: Mapping[str, Entry]
    """What came since the file was loaded."""
    signatures: Mapping[str, str]
    """Of the folders' files, as they are now."""

    def entry(self, name: str) -> Entry | None:
        """Return what is known of a package, also if the folders have changed since."""
        return self.fetched.get(name) or self.loaded.get(name)

    def valid(self, name: str) -> Entry | None:
        """Return what is known of a package; nothing if the folders' files for it are others now."""
        entry = self.entry(name)
        return entry if entry is not None and entry.signature == self.signatures.get(name, "") else None

    def names(self) -> list[str]:
        """Return the names of all packages of which something is known, sorted."""
        names = {*self.loaded.names(), *self.fetched}
        return sorted(name for name in names if self.valid(name) is not None)


def facts_of(known: Known, may_build: frozenset[str], consulted: set[str]) -> Facts:
    """Return the facts; the names of pages that are looked at are added to `consulted`."""
    return Facts(pages=_Pages(known, may_build, consulted), candidates=_Candidates(known))


class _Pages(Mapping[str, Page]):
    __slots__ = ("_consulted", "_known", "_may_build")

    def __init__(self, known: Known, may_build: frozenset[str], consulted: set[str]) -> None:
        self._known = known
        self._may_build = may_build
        self._consulted = consulted

    def __getitem__(self, name: str) -> Page:
        entry = self._known.valid(name)
        if entry is None:
            raise KeyError(name)
        self._consulted.add(name)
        return entry.page(may_build=name in self._may_build)

    def __iter__(self) -> Iterator[str]:
        return iter(self._known.names())

    def __len__(self) -> int:
        return len(self._known.names())


class _Candidates(Mapping[str, Mapping[str, Candidate]]):
    __slots__ = ("_known",)

    def __init__(self, known: Known) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Mapping[str, Candidate]:
        entry = self._known.valid(name)
        if entry is None or not entry.candidate_rows:
            raise KeyError(name)
        return _CandidatesOfOne(entry)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._known.names() if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _CandidatesOfOne(Mapping[str, Candidate]):
    __slots__ = ("_entry",)

    def __init__(self, entry: Entry) -> None:
        self._entry = entry

    def __getitem__(self, version: str) -> Candidate:
        candidate = self._entry.candidate(version)
        if candidate is None:
            raise KeyError(version)
        return candidate

    def __iter__(self) -> Iterator[str]:
        return iter(self._entry.candidate_rows)

    def __len__(self) -> int:
        return len(self._entry.candidate_rows)
