"""What versions demand, as far as a complete decision may rest on it."""

from collections.abc import Iterator, Sequence

from admission.reading import Readings
from admission.rules import Rulebook
from admission.universe import Arc, Universe, Unknown

__all__ = ["Demands"]


class Demands:
    """The demands of versions that are known, or that were read where only that counts."""

    def __init__(self, universe: Universe, rules: Rulebook, readings: Readings | None) -> None:
        self._universe = universe
        self._rules = rules
        self._readings = readings
        self._unread_pages: dict[tuple[str, int, str], str] = {}
        self.wanted: set[tuple[str, int, str]] = set()
        """Reading: what was asked of a version, or of an extra of it, and was not taken yet."""

    def of(self, name: str, position: int, extra: str) -> Sequence[Arc] | None:
        """Return the demands of a version; `None` if not all of them are known, or read where only that counts."""
        if self._readings is not None and not self._readings.taken(name, extra) >> position & 1:
            if self._rules.domain_of_all(name) & 2 << position:
                self.wanted.add((name, position, extra))
            return None
        if self._universe.candidate(name, position) is None or (name, position, extra) in self._unread_pages:
            return None
        try:
            return self._universe.arcs(name, position, extra)
        except Unknown as unknown:
            self._unread_pages[name, position, extra] = unknown.page
            return None

    def unread_page(self, name: str, position: int, extra: str) -> str:
        """Return the page that is missing for the demands of a version; empty if its metadata is what is missing."""
        return self._unread_pages.get((name, position, extra), "")

    def that_are_known(self, name: str, extra: str) -> Iterator[tuple[int, Sequence[Arc]]]:
        """Yield each version of which something is known, with as many of its demands as can be told."""
        positions = self._universe.package(name).sets.positions
        for version in self._universe.facts.candidates.get(name, {}):
            position = positions.get(version)
            if position is None:
                continue
            try:
                yield position, self._universe.arcs(name, position, extra)
            except Unknown as unknown:
                self._unread_pages[name, position, extra] = unknown.page
                yield position, tuple(self._universe.arcs_on(self._universe.facts.pages, name, position, extra))
