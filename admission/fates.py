"""What becomes of a demand or of one version by itself, whatever else is asked for."""

from admission.core_gate import CoreFault, core_fault
from admission.requirement import Origin, Owner, parse_requirement
from admission.universe import INVALID, Arc, Root, Universe
from admission.versions import bits

__all__ = ["ALONE", "core_fault_of", "fate_code", "owner_of", "unusable_code"]


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
"""Code → why no release satisfies a demand by itself."""


def owner_of(root: Root) -> str:
    """Return whose a root is, as a person reads it."""
    owner = root.requirement.origin.owner
    return {"core": "the core", "core-extra": f"the core's extra `{owner.name}`"}.get(owner.kind, f"`{owner.name}`")
