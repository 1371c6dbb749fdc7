"""What a complete decision has read itself: step by step, so that it rests on nothing that only happens to be known.

Of the version that is left of a package all demands count. When it fails, those that come next are read as well, as
many as were read before: how often something is missing grows with the logarithm of how many versions fail. Of those
only demands on packages that were met before count, so that no page is asked for because an old version names it.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from admission.frontier import unknown_pages
from admission.universe import Arc, Universe
from admission.versions import bits

__all__ = ["PlannedReading", "Readings"]

_MOST_AHEAD = 512


class PlannedReading(NamedTuple):
    """What is to be read of one package."""

    name: str
    position: int
    """The version that is left."""
    extras: tuple[str, ...]
    """Those that are asked for, the empty one for the package itself."""
    unread: tuple[str, ...]
    """Those of them of which the demands of this version were not posted yet."""
    ahead: int
    """The versions that come next."""


class Readings:
    """Which versions were read."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe
        self._seen: defaultdict[str, int] = defaultdict(int)
        """Package → the versions that were read."""
        self._glanced: defaultdict[tuple[str, str], int] = defaultdict(int)
        """Package and extra → the versions of which the demands on packages met before were taken."""
        self._taken: defaultdict[tuple[str, str], int] = defaultdict(int)
        """Package and extra → the versions of which all demands were taken."""
        self._given: defaultdict[tuple[str, str, Arc], int] = defaultdict(int)
        """A demand → the versions that it was given for."""

    def taken(self, name: str, extra: str = "") -> int:
        """Return the versions all of whose demands were taken."""
        return self._taken[name, extra]

    def plan(self, name: str, position: int, extras: tuple[str, ...], others: int) -> PlannedReading:
        """Return what is to be read of a package of which one version is left; `others` may be chosen instead of it."""
        unread = tuple(extra for extra in extras if not self._taken[name, extra] >> position & 1)
        seen = self._seen[name]
        older = others & ((1 << position) - 1) & ~seen
        wanted = 0 if seen >> position & 1 else min(seen.bit_count(), _MOST_AHEAD)
        ahead = sum(1 << place for place in islice(self._universe.in_order(name, older), wanted))
        return PlannedReading(name, position, extras, unread, ahead)

    def missing(self, plans: Sequence[PlannedReading]) -> tuple[set[tuple[str, str]], set[str]]:
        """Return the candidates and the pages that must be known first."""
        candidates = {candidate for plan in plans for candidate in self._missing_candidates(plan)}
        pages = {page for plan in plans for page in self._missing_pages(plan)}
        return candidates, pages

    def _missing_candidates(self, plan: PlannedReading) -> Iterator[tuple[str, str]]:
        versions = self._universe.package(plan.name).page.versions
        for place in bits(plan.ahead | 1 << plan.position):
            if self._universe.candidate(plan.name, place) is None:
                yield plan.name, versions[place]

    def _missing_pages(self, plan: PlannedReading) -> Iterator[str]:
        for extra in plan.unread:
            yield from unknown_pages(self._universe, plan.name, plan.position, extra)

    def take(self, plan: PlannedReading, met: Container[str]) -> Iterator[tuple[str, Arc, int]]:
        """Yield the demands that were not given before: extra, demand, and the versions that make it."""
        name, position = plan.name, plan.position
        self._seen[name] |= plan.ahead | 1 << position
        for extra in plan.extras:
            grouped: defaultdict[Arc, int] = defaultdict(int)
            for place in bits(self._seen[name] & ~self._glanced[name, extra] & ~(1 << position)):
                for arc in self._universe.arcs_on(met, name, place, extra):
                    grouped[arc] |= 1 << place
            if extra in plan.unread:
                for arc in self._universe.arcs(name, position, extra):
                    grouped[arc] |= 1 << position
                self._taken[name, extra] |= 1 << position
            self._glanced[name, extra] |= self._seen[name]
            for arc in sorted(grouped):
                if new := grouped[arc] & ~self._given[name, extra, arc]:
                    self._given[name, extra, arc] |= new
                    yield extra, arc, new
