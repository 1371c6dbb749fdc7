"""Say what a person would want to know about an admission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from admission.assignment import Assignment, reachable
from admission.core_gate import told_extras
from admission.decision import Notice
from admission.facts import Candidate
from admission.question import Question
from admission.requirement import Origin, Owner
from admission.universe import Universe
from admission.versions import bits, newest

if TYPE_CHECKING:
    from admission.obstacles import Holders
from lockfiles import Edge
from lockfiles.graph import requirement_of

__all__ = ["notices"]


def notices(question: Question, universe: Universe, chosen: Assignment) -> tuple[Notice, ...]:
    """Return the warnings of an admission, sorted by code and package."""
    found = [
        *_declared(question),
        *_conditional(universe, chosen),
        *_moved(question, universe, chosen),
        *_older(question, universe, chosen),
        *_core_expects(universe, chosen),
        *_unknown_extras(question, universe, chosen),
        *_broken_extras(question, universe, chosen),
        *_idle(question, universe),
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda notice: notice[:4]))


def _declared(question: Question) -> Iterator[Notice]:
    """Repeat the notes of the candidate's own files (of every member's when the whole set is judged)."""
    for member in question.constraints.members:
        if question.candidate in ("", member.declaration.key):
            for note in member.declaration.notes:
                yield Notice(note.code, note.message, owner=member.declaration.key)


def _conditional(universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    for name, position in chosen.items():
        package = universe.package(name)
        version = package.page.versions[position]
        if package.yanked >> position & 1:
            reason = package.page.excluded[position].detail
            yield Notice(
                "yanked-pin", f"{name} {version} is yanked{f': {reason}' if reason else ''}; it is pinned exactly", name
            )
        if package.prereleases >> position & 1:
            askers = _askers(universe, chosen, name)
            yield Notice(
                "prerelease-chosen", f"{name} {version} is a pre-release, required by {', '.join(askers)}", name
            )


def _askers(universe: Universe, chosen: Assignment, name: str) -> list[str]:
    askers = {str(root.requirement.origin.owner) for root in universe.roots if root.requirement.name == name}
    for other, position in chosen.items():
        candidate = universe.candidate(other, position)
        if candidate is not None and any(edge.name == name for edge in candidate.requires):
            askers.add(f"{other} {candidate.version}")
    return sorted(askers)


def _moved(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    core = {requirement.name for requirement in question.constraints.core.requirements}
    for name, position in chosen.items():
        sets = universe.package(name).sets
        before = sets.positions.get(question.pins.get(name, ""), position)
        if before == position:
            continue
        change = f"{name} {sets.versions[before]} → {sets.versions[position]}"
        if name in core:
            yield Notice("core-package-moved", f"{change}: a package of the core, within its bounds", name)
        if position < before:
            yield Notice("moved-down", f"{change}: older than before", name)


def _older(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name older versions that were chosen only because newer ones exclude this Python or need what does not fit."""
    accepted = _accepted(universe, chosen)
    held: Holders = {}
    for name, position in chosen.items():
        if name in question.pins:
            continue
        package = universe.package(name)
        newer = accepted.get(name, -1) & package.sets.every & ~((2 << position) - 1)
        shut = [
            i for i in bits(newer) if (e := package.page.excluded.get(i)) is not None and e.code == "python-version"
        ]
        if shut and not newer & package.free:
            best = package.page.excluded[shut[0]]
            yield Notice(
                "older-for-python",
                f"{name} {package.page.versions[position]} is chosen although {package.page.versions[shut[0]]} exists: "
                f"it requires Python `{best.detail}`, this is {question.constraints.target.python}",
                name,
            )
        elif newer & package.free and not universe.preferred(name) >> position & 1:
            top = package.page.versions[newest(newer & package.free)]
            version = package.page.versions[position]
            held = held or _held(universe, chosen)
            why = _in_the_way(universe, held, name, top)
            yield Notice("older-for-dependency", f"{name} {version} is chosen although {top} exists: {why}", name)


def _held(universe: Universe, chosen: Assignment) -> Holders:
    from admission.obstacles import holders_of  # most sets have nothing older

    return holders_of(universe, universe.roots, chosen)


def _in_the_way(universe: Universe, held: Holders, name: str, top: str) -> str:
    from admission.obstacles import ObstacleSearch

    position = universe.package(name).sets.positions[top]
    found = ObstacleSearch(universe, held, apart=name).obstacle(name, position)
    return f"{top} {found.text}" if found is not None else f"{top} does not fit together with all that is chosen"


def _accepted(universe: Universe, chosen: Assignment) -> Mapping[str, int]:
    """Return for each package the versions that all demands on it accept, those of extras aside."""
    accepted: dict[str, int] = {}
    plain = (arc for name, position in chosen.items() for arc in universe.arcs(name, position))
    for arc in (*map(universe.root_arc, universe.roots), *plain):
        accepted[arc.name] = accepted.get(arc.name, -1) & arc.mask
    return accepted


def _core_expects(universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    for name, position in chosen.items():
        preferred = universe.preferred(name)
        specifier = universe.constraints.core.preferences.get(name)
        if specifier is not None and not preferred >> position & 1:
            version = universe.package(name).page.versions[position]
            yield Notice(
                "core-expects-version",
                f"the core expects {name}{specifier}, {version} is chosen; the core may replace or refuse it",
                name,
            )


def _unknown_extras(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name extras that do not exist, of what the candidate asks for and of what is new: they add nothing."""
    for root in universe.roots:
        requirement = root.requirement
        origin = requirement.origin
        if question.candidate in ("", origin.owner.name) or _is_new(question, universe, chosen, requirement.name):
            for extra, candidate in _missing(universe, chosen, requirement.name, requirement.extras):
                told = f"{candidate.name} {candidate.version} has no extra `{extra}`"
                yield _unknown_extra(told, extra, candidate, origin)
    yield from _unknown_extras_through(question, universe, chosen)


def _unknown_extras_through(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    for name, edge in _new_edges_with_extras(question, universe, chosen):
        asker = universe.candidate(name, chosen[name])
        missing = [*_missing(universe, chosen, edge.name, edge.extras)] if edge.name in chosen else []
        if asker is None or not missing or not _counts(universe, chosen, name, edge.extra):
            continue
        origin = Origin(Owner("distribution", f"{name} {asker.version}"), "METADATA", 0, "Requires-Dist")
        for extra, candidate in missing:
            told = (
                f"{name} {asker.version} requires `{requirement_of(edge)}`, and {candidate.version} has no such extra"
            )
            yield _unknown_extra(told, extra, candidate, origin)


def _unknown_extra(told: str, extra: str, candidate: Candidate, origin: Origin) -> Notice:
    hint = told_extras(extra, candidate.extras)
    return Notice("unknown-extra", told, candidate.name, str(origin.owner), origin, hint)


def _new_edges_with_extras(question: Question, universe: Universe, chosen: Assignment) -> Iterator[tuple[str, Edge]]:
    """Yield what distributions ask for with extras, of those that are new or that the candidate asks extras of."""
    roots = (root.requirement for root in universe.roots)
    asked = {r.name for r in roots if r.extras and r.origin.owner.name == question.candidate}
    for name, position in chosen.items():
        candidate = universe.candidate(name, position)
        if candidate is not None and (name in asked or _is_new(question, universe, chosen, name)):
            yield from ((name, edge) for edge in candidate.requires if edge.extras)


def _is_new(question: Question, universe: Universe, chosen: Assignment, name: str) -> bool:
    return question.pins.get(name) != universe.package(name).page.versions[chosen[name]]


def _missing(
    universe: Universe, chosen: Assignment, name: str, extras: Iterable[str]
) -> Iterator[tuple[str, Candidate]]:
    """Yield the extras that a chosen version does not have: metadata may use one that it does not list."""
    candidate = universe.candidate(name, chosen[name])
    for extra in extras:
        if candidate is None or extra in candidate.extras:
            continue
        if all(edge.extra != extra for edge in candidate.requires):
            yield extra, candidate


def _counts(universe: Universe, chosen: Assignment, name: str, extra: str) -> bool:
    """Say whether a dependency of a package is asked for, or stands behind an extra that is not."""
    return not extra or extra in (reachable(universe, chosen) or {}).get(name, ())


def _broken_extras(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name extras that cannot be had, and that nothing asks for, of what is new."""
    for name, position in chosen.items():
        candidate = universe.candidate(name, position)
        if candidate is None or not _is_new(question, universe, chosen, name):
            continue
        for extra, why in candidate.broken:
            text = f"the extra `{extra}` of {name} {candidate.version} cannot be used: {why}"
            yield Notice("broken-extra", text, name)


def _idle(question: Question, universe: Universe) -> Iterator[Notice]:
    """Name requirements of the candidate that change nothing, because the core pins the package already.

    One that asks for an extra which the core does not ask for adds what stands behind that extra.
    """
    core = question.constraints.core.requirements
    pinned = {r.name: r for r in core if r.specifier.startswith("==") and "*" not in r.specifier}
    extras = {(r.name, extra) for r in core for extra in r.extras}
    for root in universe.roots:
        requirement = root.requirement
        owner = requirement.origin.owner
        if owner.kind != "plugin" or owner.name != question.candidate or requirement.name not in pinned:
            continue
        if not requirement.url and all((requirement.name, extra) in extras for extra in requirement.extras):
            yield Notice(
                "core-pins-already",
                f"`{root.text}` changes nothing: the core pins `{pinned[requirement.name].canonical}`",
                requirement.name,
                str(owner),
                requirement.origin,
            )
