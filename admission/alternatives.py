"""What else there is where a proof shows one chain of demands: the versions that do not make a demand of that chain.

A chain is the way of some versions only. Where others do without it, a reader asks why none of them is taken.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from admission.fates import unusable_code
from admission.obstacles import ObstacleSearch
from admission.rules import Leaf
from admission.universe import INVALID, Arc, Universe
from admission.versions import newest

__all__ = ["Alternatives", "Way"]

Way = tuple[Arc, ...]
"""A chain of demands, from a root's own to the one at the end."""


class Alternatives(NamedTuple):
    """Looks for versions that some chains pass by."""

    universe: Universe
    ways: Sequence[Way]
    """The chains of a proof; where they contradict they end at the same package."""
    demands: Mapping[str, Sequence[Leaf]]
    """Package → what the contradiction rests on of the demands of its versions."""
    held: Mapping[str, int]
    """Package → the versions that the roots of the proof accept."""

    def told(self, search: ObstacleSearch) -> str:
        """Say what is in the way of the newest version that a chain passes by; empty if nothing is found."""
        for way in self.ways:
            for arc, following in pairwise(way):
                if rest := self._others(way, arc, following):
                    return self._told(search, arc, following, rest)
        return ""

    def _others(self, way: Way, arc: Arc, following: Arc) -> int:
        """Return the versions that an arc leads to, that could be chosen, and that do not make the next demand."""
        if arc.name == INVALID or arc.name in self.universe.core_names:
            return 0
        package = self.universe.package(arc.name)
        choosable = package.free | (package.conditional if arc.exact else 0)
        left = arc.mask & self.held.get(arc.name, -1) & choosable & self._read(arc.name)
        for leaf in self.demands.get(arc.name, ()):
            if leaf.arc is not None and self._is_alike(way, leaf.arc, following):
                left &= ~leaf.versions
        return left

    def _read(self, name: str) -> int:
        positions = self.universe.package(name).sets.positions
        return sum(
            1 << positions[version] for version in self.universe.facts.candidates.get(name, ()) if version in positions
        )

    def _is_alike(self, way: Way, arc: Arc, following: Arc) -> bool:
        """Say whether a demand leads on as the next one of a chain does, or ends as badly as it at its end."""
        if arc == following or arc.name != following.name or following != way[-1]:
            return arc.name == following.name
        others = [other[-1].mask for other in self.ways if other != way and other[-1].name == arc.name]
        for mask in others:
            arc = arc._replace(mask=arc.mask & mask)
        return not arc.mask or bool(unusable_code(self.universe, arc))

    def _told(self, search: ObstacleSearch, arc: Arc, following: Arc, rest: int) -> str:
        position = newest(rest)
        version = self.universe.package(arc.name).page.versions[position]
        found = search.taking(arc.name, position).obstacle(arc.name, position, ("", *arc.extras))
        if found is None:
            return ""
        if not rest & (rest - 1):
            return f"`{arc.name}` {version} does not require `{following.text}`, but {found.text}"
        count = f"{rest.bit_count()} releases of `{arc.name}`"
        return f"of {count} that do not require `{following.text}`, the newest, {version}, {found.text}"
