"""What is in the way of one version that a demand accepts: which of its own requirements, and what that meets.

An explanation and no proof: it looks at the requirements of the version, and where a package is new at those of its
newest release. What it says is true of them; other versions might do.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from admission.assignment import Assignment, reachable
from admission.fates import core_fault_of, owner_of, told_alone, unusable_code
from admission.universe import INVALID, Arc, Root, Universe
from admission.versions import newest

__all__ = ["Holder", "Obstacle", "ObstacleSearch", "holders_of"]

_DEEPEST = 4


class Holder(NamedTuple):
    """What holds a package at some of its versions."""

    said: str
    """*the core requires `numpy<2`*, *`numpy` 1.26 is chosen*."""
    mask: int
    by: str = ""
    """The chosen package that holds it; empty for a root."""


class Obstacle(NamedTuple):
    """What is in the way of a version."""

    text: str
    """What a person reads after the version: *requires `numpy>=2`, and the core requires `numpy<2`*."""
    series: str
    """The same without the version's own bound, which may be another one in each release."""


Holders = Mapping[str, Sequence[Holder]]


def holders_of(universe: Universe, roots: Iterable[Root], chosen: Assignment | None = None) -> Holders:
    """Return what holds each package: the roots, and in an assignment what is chosen and what that requires."""
    held: dict[str, list[Holder]] = {}
    for root in roots:
        arc = universe.root_arc(root)
        held.setdefault(arc.name, []).append(Holder(f"{owner_of(root)} requires `{root.text}`", arc.mask))
    settled = {name: (universe.package(name).page.versions[i], i) for name, i in (chosen or {}).items()}
    extras = reachable(universe, chosen) or {} if chosen else {}
    for name, (version, position) in settled.items():
        for arc in (
            arc for extra in sorted({"", *extras.get(name, ())}) for arc in universe.arcs(name, position, extra)
        ):
            held.setdefault(arc.name, []).append(Holder(f"`{name}` {version} requires `{arc.text}`", arc.mask, name))
    for name, (version, position) in settled.items():
        held.setdefault(name, []).append(Holder(f"`{name}` {version} is chosen", 1 << position, name))
    return held


class ObstacleSearch(NamedTuple):
    """Looks for obstacles among what is held."""

    universe: Universe
    held: Holders
    apart: str = ""
    """A package of which another version is looked at: what it holds as it is does not count."""

    def taking(self, name: str, position: int) -> "ObstacleSearch":
        """Return the search in which a version is taken: what it leads to may exclude it."""
        version = self.universe.package(name).page.versions[position]
        itself = Holder(f"`{name}` {version} is not that", 1 << position)
        return self._replace(held={**self.held, name: [*self.held.get(name, ()), itself]})

    def obstacle(self, name: str, position: int, extras: Iterable[str] = ("",)) -> Obstacle | None:
        """Return what is in the way of a version; `None` where that is not found."""
        return self._found(name, position, extras, {name: 0})

    def _found(self, name: str, position: int, extras: Iterable[str], depths: dict[str, int]) -> Obstacle | None:
        """Look at a version, and behind it at each package once: `depths` are those of what was looked at."""
        pages = self.universe.facts.pages
        arcs = sorted(arc for extra in extras for arc in self.universe.arcs_on(pages, name, position, extra))
        found = next(filter(None, map(self._direct, arcs)), None)
        if found is None and depths[name] < _DEEPEST:
            behind = (self._behind(arc, depths, depths[name] + 1) for arc in arcs)
            found = next(filter(None, behind), None)
        return found

    def _direct(self, arc: Arc) -> Obstacle | None:
        """Return what is in the way of one requirement by itself, or together with what holds its package."""
        if arc.name == INVALID:
            return Obstacle(f"cannot be used, because {arc.text}", "cannot be used")
        if code := unusable_code(self.universe, arc):
            return _met(arc, self._alone(arc, code), "none of these can be had")
        holders = self.held.get(arc.name, ())
        parting = (holder for holder in holders if not holder.mask & arc.mask)
        apart = self.apart
        return next((_met(arc, each.said, each.said) for each in parting if not apart or each.by != apart), None)

    def _behind(self, arc: Arc, depths: dict[str, int], depth: int) -> Obstacle | None:
        """Return what is in the way of the newest release that a requirement accepts, of a package that is new."""
        free = 0 if arc.name in self.held else arc.mask & self.universe.package(arc.name).free
        if not free or depths.get(arc.name, depth + 1) <= depth:
            return None
        depths[arc.name] = depth
        best = newest(free)
        found = self.taking(arc.name, best)._found(arc.name, best, ("", *arc.extras), depths)  # noqa: SLF001 - its own
        version = self.universe.package(arc.name).page.versions[best]
        return _met(arc, f"`{arc.name}` {version} {found.text}", f"its newest {found.series}") if found else None

    def _alone(self, arc: Arc, code: str) -> str:
        if arc.name in self.universe.core_names:
            return core_fault_of(self.universe, arc).message or "this core does not satisfy that"
        said = told_alone(self.universe, arc, code)
        return f"{said}; `--allow-prerelease {arc.name}` lets them in" if code == "prerelease-only" else said


def _met(arc: Arc, why: str, series: str) -> Obstacle:
    return Obstacle(f"requires `{arc.text}`, and {why}", f"requires other versions of `{arc.name}`, and {series}")
