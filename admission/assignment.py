"""An assignment of versions to packages, and the check that every solution must pass, whichever decision found it."""

from __future__ import annotations

from collections.abc import Mapping

from admission.universe import Arc, Universe

__all__ = ["Assignment", "reachable"]

Assignment = Mapping[str, int]
"""Package → position of its chosen version."""


def reachable(universe: Universe, chosen: Assignment) -> dict[str, set[str]] | None:
    """Return package → extras that the roots reach in an assignment, or `None` if it does not satisfy a demand.

    This is the check that every solution must pass, whichever decision found it.
    """
    extras: dict[str, set[str]] = {}
    pending = [universe.root_arc(root) for root in universe.roots]
    met: list[Arc] = []
    while pending:
        arc = pending.pop()
        met.append(arc)
        position = chosen.get(arc.name)
        if position is None or not arc.mask >> position & 1:
            return None
        new = set(arc.extras) - extras.get(arc.name, set())
        first = arc.name not in extras
        extras.setdefault(arc.name, set()).update(arc.extras)
        for extra in new | {""} if first else new:
            pending.extend(universe.arcs(arc.name, position, extra))
    for name in extras:
        package = universe.package(name)
        if package.free >> chosen[name] & 1:
            continue
        if not (package.conditional & _vouched(universe, name, chosen)) >> chosen[name] & 1:
            return None
    return extras


def _vouched(universe: Universe, name: str, chosen: Assignment) -> int:
    """Return the versions of a package that are pinned exactly by a demand which does not exist because of the package.

    No release vouches for itself, nor because of what only an old release asks for (`PackageSets.leading`); and under
    the policy `direct-opt-in` only pins of roots count.
    """
    pending = [universe.root_arc(root) for root in universe.roots]
    pins_of_all = universe.constraints.policy.prerelease != "direct-opt-in"
    extras: dict[str, set[str]] = {}
    mask = 0
    while pending:
        arc = pending.pop()
        if arc.name == name:
            mask |= arc.mask if arc.exact else 0
        elif pins_of_all and universe.package(arc.name).leading(arc.mask) >> chosen[arc.name] & 1:
            known = extras.setdefault(arc.name, set())
            new = {"", *arc.extras} - known
            known |= new
            for extra in new:
                pending.extend(universe.arcs(arc.name, chosen[arc.name], extra))
    return mask
