"""Who opens the pre-releases and yanked versions that a proof is about, where its own requirements do not.

A proof is made under everything that the whole set opens, so it can go through a version that its members alone could
not have. Those that open it are named beside the proof: that they are there contradicts nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from admission.rules import Leaf
from admission.universe import INVALID, Arc, Root, Universe, Unknown
from admission.versions import bits

__all__ = ["Opening", "opening_of"]


class Opening(NamedTuple):
    """What opens versions for a proof."""

    ways: Mapping[Root, tuple[Arc, ...]]
    """Root → its own demand, which names a pre-release or pins exactly, or the chain to the release that pins."""
    versions: Mapping[str, int]
    """Package → versions that are open for the proof."""

    @property
    def leading(self) -> tuple[Root, ...]:
        """The roots that lead to a pin of a release."""
        return tuple(root for root, way in self.ways.items() if len(way) > 1)


def opening_of(universe: Universe, roots: Sequence[Root], leaves: Sequence[Leaf]) -> Opening:
    """Return what opens the versions that a derivation goes through.

    One that it excludes because nothing can open it there is not open. But what tries is named, unless there is but one
    root: what no release satisfies by itself is told as that.
    """
    asked = _asked(universe, roots, leaves)
    shut = _shut(leaves)
    ways: dict[Root, tuple[Arc, ...]] = {}
    versions: dict[str, int] = {}
    for name, mask in asked.items():
        wanted = mask & ~shut.get(name, 0) if len(roots) == 1 else mask
        for root, way, opened in _openers(universe, roots, name, wanted):
            if opened & wanted:
                wanted &= ~opened
                ways[root] = way
        versions[name] = mask & ~shut.get(name, 0) & ~wanted | _pinned(leaves, name) & mask & ~shut.get(name, 0)
    return Opening({root: ways[root] for root in sorted(ways)}, versions)


def _asked(universe: Universe, roots: Sequence[Root], leaves: Sequence[Leaf]) -> dict[str, int]:
    """Return the versions that demands of a derivation accept and that the roots themselves do not open."""
    restricted = universe.restricted(roots)
    asked: dict[str, int] = {}
    for leaf in leaves:
        if leaf.arc is not None and leaf.arc.name not in {INVALID, *universe.core_names}:
            name = leaf.arc.name
            asked[name] = asked.get(name, 0) | leaf.arc.mask & restricted.package(name).conditional
    for root in roots:
        if root.requirement.name in asked:
            asked[root.requirement.name] &= universe.root_arc(root).mask & ~universe.opens(root)
    return {name: mask for name, mask in sorted(asked.items()) if mask}


def _shut(leaves: Iterable[Leaf]) -> dict[str, int]:
    """Return the versions that a derivation excludes because nothing opens them."""
    shut: dict[str, int] = {}
    for leaf in leaves:
        if leaf.arc is None:
            shut[leaf.name] = shut.get(leaf.name, 0) | leaf.versions
    return shut


def _pinned(leaves: Iterable[Leaf], name: str) -> int:
    """Return the versions of a package that releases pin of which a derivation tells."""
    mask = 0
    for leaf in leaves:
        if leaf.name and leaf.arc is not None and leaf.arc.exact and leaf.arc.name == name:
            mask |= leaf.arc.mask
    return mask


def _openers(
    universe: Universe, roots: Sequence[Root], name: str, mask: int
) -> Iterator[tuple[Root, tuple[Arc, ...], int]]:
    """Yield the other roots that open some versions, with the way to them: first those that do so themselves."""
    others = [root for root in universe.roots if root not in roots] if mask else []
    for root in others:
        if root.requirement.name == name:
            yield root, (universe.root_arc(root),), universe.opens(root)
    for root in others if universe.constraints.policy.prerelease == "default" else ():
        if root.requirement.name != name and (way := _way_to_pin(universe, root, name, mask)):
            yield root, way, way[-1].mask


def _way_to_pin(universe: Universe, root: Root, name: str, mask: int) -> tuple[Arc, ...]:
    """Return the shortest chain of demands from a root to a release that pins one of some versions; empty if none."""
    pending: list[tuple[Arc, ...]] = [(universe.root_arc(root),)]
    seen: set[Arc] = set()
    while pending:
        way = pending.pop(0)
        if way[-1].name == name:
            if way[-1].exact and way[-1].mask & mask:
                return way
        elif way[-1] not in seen:
            seen.add(way[-1])
            pending += [(*way, arc) for arc in _known_demands(universe, way[-1])]
    return ()


def _known_demands(universe: Universe, arc: Arc) -> Iterator[Arc]:
    """Yield what the versions demand that an arc leads to, as far as it is read."""
    if arc.name == INVALID or arc.name in universe.core_names:
        return
    package = universe.package(arc.name)
    for position in bits(package.leading(arc.mask)):
        for extra in ("", *arc.extras):
            try:
                yield from universe.arcs(arc.name, position, extra)
            except Unknown:
                continue
