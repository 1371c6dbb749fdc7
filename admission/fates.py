"""What becomes of a demand or of one version by itself, whatever else is asked for."""

from collections.abc import Sequence
from typing import NamedTuple

from admission.core_gate import CoreFault, core_fault
from admission.requirement import Origin, Owner, parse_requirement
from admission.universe import INVALID, Arc, Root, Universe
from admission.versions import bits, newest

__all__ = [
    "ALONE",
    "UnreadableRelease",
    "core_fault_of",
    "fate_code",
    "listed",
    "owner_of",
    "told_alone",
    "unreadable_release",
    "unusable_code",
]


def unusable_code(universe: Universe, arc: Arc) -> str:
    """Return why no release satisfies a demand by itself; empty if one does."""
    if arc.name == INVALID:
        return "no-matching-version"
    if arc.name in universe.core_names:
        return core_fault_of(universe, arc).code
    package = universe.package(arc.name)
    if not package.page.versions:
        return "not-found-on-index"
    if not arc.mask:
        return "no-matching-version"
    if arc.mask & (package.free | (package.conditional if arc.exact else 0)):
        return ""
    codes = {code for position in bits(arc.mask) if (code := fate_code(universe, arc.name, position))}
    # what a consent could change comes first, the newest possible cause last
    order = ("prerelease-only", "quarantined", "build-needs-consent", "yanked-only", "python-version", "no-wheel")
    return next(code for code in order if code in codes)


class UnreadableRelease(NamedTuple):
    """The newest of the releases that a demand accepts, of which none can be used for what its metadata says."""

    version: str
    why: str
    is_only: bool
    """Whether there is no other."""


def unreadable_release(universe: Universe, arc: Arc) -> UnreadableRelease | None:
    """Return the newest release if the metadata of all that a demand could lead to keeps them out."""
    if arc.name == INVALID or arc.name in universe.core_names:
        return None
    package = universe.package(arc.name)
    choosable = arc.mask & (package.free | (package.conditional if arc.exact else 0))
    reasons = [_why_unreadable(universe, arc, position) for position in bits(choosable)]
    if not all(reasons) or not reasons:
        return None
    return UnreadableRelease(package.page.versions[newest(choosable)], reasons[0], len(reasons) == 1)


def _why_unreadable(universe: Universe, arc: Arc, position: int) -> str:
    candidate = universe.candidate(arc.name, position)
    if candidate is None:
        return ""
    return candidate.invalid or next((why for extra, why in candidate.broken if extra in ("", *arc.extras)), "")


def core_fault_of(universe: Universe, arc: Arc) -> CoreFault:
    """Return why the core does not satisfy a demand that a distribution makes on it: only such demands are arcs."""
    asked = parse_requirement(arc.text, Origin(Owner("distribution", "")))
    fault = core_fault(universe.constraints.core, asked.name, asked.specifier, asked.extras)
    return fault or CoreFault(code="core-version", asked="", message="")


def fate_code(universe: Universe, name: str, position: int) -> str:
    """Return why one version may not be chosen freely; empty if it may."""
    package = universe.package(name)
    if package.free >> position & 1:
        return ""
    exclusion = package.page.excluded.get(position)
    if exclusion is not None and exclusion.code != "yanked-only":
        return exclusion.code
    if package.quarantined >> position & 1:
        return "quarantined"
    if exclusion is not None:
        return "yanked-only"
    return "prerelease-only" if package.conditional >> position & 1 else ""


ALONE = {
    "not-found-on-index": "no index has a package `{package}`",
    "no-matching-version": "no release of `{package}` satisfies `{demand}`",
    "prerelease-only": "only pre-releases of `{package}` satisfy `{demand}`",
    "yanked-only": "only yanked releases of `{package}` satisfy `{demand}`",
    "quarantined": "every release of `{package}` that satisfies `{demand}` is newer than `pm.exclude_newer` allows",
    "no-wheel": "no release of `{package}` that satisfies `{demand}` has a wheel for this target",
    "python-version": "every release of `{package}` that satisfies `{demand}` requires another Python",
    "build-needs-consent": "only source distributions satisfy `{demand}`, and building one runs its code",
    "core-version": "this core does not satisfy `{demand}`",
    "core-extra": "this core does not satisfy `{demand}`",
    "unknown-extra": "this core does not satisfy `{demand}`",
}
"""Code → why no release satisfies a demand by itself, where that holds for every release that it accepts."""

_OF_SOME = {
    "prerelease-only": ("is a pre-release", "are pre-releases"),
    "yanked-only": ("is yanked", "are yanked"),
    "quarantined": ("is newer than `pm.exclude_newer` allows", "are newer than `pm.exclude_newer` allows"),
    "no-wheel": ("has no wheel for this target", "have no wheel for this target"),
    "python-version": ("requires another Python", "require another Python"),
    "build-needs-consent": ("is a source distribution only", "are source distributions only"),
}
_MOST_NAMED = 2


def told_alone(universe: Universe, arc: Arc, code: str) -> str:
    """Say why no release satisfies a demand by itself; where that differs among them, which are out for what."""
    if not arc.mask or arc.name in universe.core_names:
        return ALONE[code].format(package=arc.name, demand=arc.text)
    fates: dict[str, list[str]] = {}
    for position in bits(arc.mask):
        fate = fate_code(universe, arc.name, position)
        fates.setdefault(fate, []).append(universe.package(arc.name).page.versions[position])
    if len(fates) == 1:
        return ALONE[code].format(package=arc.name, demand=arc.text)
    told = listed([_told_of_some(versions, fate) for fate, versions in fates.items()])
    return f"no release of `{arc.name}` that satisfies `{arc.text}` can be chosen: {told}"


def _told_of_some(versions: Sequence[str], fate: str) -> str:
    one, several = _OF_SOME[fate]
    named = listed(versions) if len(versions) <= _MOST_NAMED else f"{len(versions)} releases"
    return f"{named} {one if len(versions) == 1 else several}"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def owner_of(root: Root) -> str:
    """Return whose a root is, as a person reads it."""
    owner = root.requirement.origin.owner
    return {"core": "the core", "core-extra": f"the core's extra `{owner.name}`"}.get(owner.kind, f"`{owner.name}`")
