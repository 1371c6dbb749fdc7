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
from admission.universe import Arc, Universe
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
        *_spared(universe, chosen),
        *_moved(question, universe, chosen),
        *_lost_builds(question, universe, chosen),
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
            yield _yanked(universe, chosen, name)
        if package.prereleases >> position & 1:
            askers = _askers(universe, chosen, name)
            yield Notice(
                "prerelease-chosen", f"{name} {version} is a pre-release, required by {', '.join(askers)}", name
            )


def _yanked(universe: Universe, chosen: Assignment, name: str) -> Notice:
    """Say why a yanked version was chosen: it is pinned exactly, or it is locked and was yanked later."""
    package, position = universe.package(name), chosen[name]
    said = f"{name} {package.page.versions[position]} is yanked{_reason(universe, name, position)}"
    if any(arc.exact for arc in _demands(universe, chosen, name)):
        return Notice("yanked-pin", f"{said}; it is pinned exactly", name)
    return Notice("yanked-locked", f"{said}; it is in the selected lock, and stays", name)


def _reason(universe: Universe, name: str, position: int) -> str:
    """Return the reason of a yank as it follows a sentence; empty where none is given."""
    detail = universe.package(name).page.excluded[position].detail
    return f": {detail}" if detail else ""


def _spared(universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name the locked versions that the quarantine would exclude, all of them at once."""
    spared = [
        f"{name} {universe.package(name).page.versions[position]}"
        for name, position in sorted(chosen.items())
        if universe.package(name).spared >> position & 1
    ]
    if spared:
        more = f" and {len(spared) - _MOST_NAMED} more" if len(spared) > _MOST_NAMED else ""
        named = f"{', '.join(spared[:_MOST_NAMED])}{more}"
        text = f"newer than `pm.exclude_newer` allows, and stays because it is in the selected lock: {named}"
        yield Notice("quarantined-locked", text)


_MOST_NAMED = 20


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
        if universe.package(name).yanked >> before & 1:
            text = f"{change}: {sets.versions[before]} is yanked{_reason(universe, name, before)}"
            yield Notice("yanked-left", text, name)


def _lost_builds(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name local builds, such as `2.1.1+cu118`, that leave for a version of another build or a plain one."""
    for name, position in chosen.items():
        sets, before = universe.package(name).sets, question.pins.get(name, "")
        version, build = sets.versions[position], before.partition("+")[2]
        if not build or version.partition("+")[2] == build:
            continue
        known = sets.positions.get(before)
        excluding = [] if known is None else [a for a in _demands(universe, chosen, name) if not a.mask >> known & 1]
        asked = " and ".join(sorted({f"`{arc.text}`" for arc in excluding}))
        why = f"{asked} excludes it" if asked else "no source has it any more"
        fitting = f" that {asked} accepts" if asked else ""
        other = f"put a wheel of `{name}` with `+{build}`{fitting} into a folder that `pm.find_links` names"
        hint = f"`hermes pm rollback` goes back to it; to have both, {other}"
        text = f"{name} {before} → {version}: the build `{build}` is lost, since {why}"
        yield Notice("build-variant-lost", text, name, hint=hint)


def _demands(universe: Universe, chosen: Assignment, name: str) -> Iterator[Arc]:
    """Yield the demands on one package, those of extras aside: for the few that are yanked or that left."""
    yield from (universe.root_arc(root) for root in universe.roots if root.requirement.name == name)
    for other, position in chosen.items():
        candidate = universe.candidate(other, position)
        if candidate is not None and any(edge.name == name and not edge.extra for edge in candidate.requires):
            yield from (arc for arc in universe.arcs(other, position) if arc.name == name)


def _older(question: Question, universe: Universe, chosen: Assignment) -> Iterator[Notice]:
    """Name older versions that were chosen only because newer ones exclude this Python or need what does not fit."""
    accepted = _accepted(universe, chosen)
    held: Holders = {}
    extras: Mapping[str, set[str]] = {}
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
            extras = extras or reachable(universe, chosen) or {}
            why = _in_the_way(universe, held, name, top, extras=("", *sorted(extras.get(name, ()))))
            yield Notice("older-for-dependency", f"{name} {version} is chosen although {top} exists: {why}", name)


def _held(universe: Universe, chosen: Assignment) -> Holders:
    from admission.obstacles import holders_of  # most sets have nothing older

    return holders_of(universe, universe.roots, chosen)


def _in_the_way(universe: Universe, held: Holders, name: str, top: str, *, extras: Iterable[str]) -> str:
    from admission.obstacles import ObstacleSearch

    position = universe.package(name).sets.positions[top]
    found = ObstacleSearch(universe, held, apart=name).taking(name, position).obstacle(name, position, extras)
    return f"{top} {found.text}" if found is not None else f"{top} does not fit together with all that is chosen"


def _accepted(universe: Universe, chosen: Assignment) -> Mapping[str, int]:
    """Return for each package the versions that all demands on it accept, those of extras that are asked for too."""
    accepted: dict[str, int] = {}
    asked = [(name, extra) for name, extras in (reachable(universe, chosen) or {}).items() for extra in ("", *extras)]
    made = (arc for name, extra in asked for arc in universe.arcs(name, chosen[name], extra))
    for arc in (*map(universe.root_arc, universe.roots), *made):
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
    reached: Mapping[str, set[str]] | None = None
    for asker, edge in _new_edges_with_extras(question, universe, chosen):
        missing = [*_missing(universe, chosen, edge.name, edge.extras)] if edge.name in chosen else []
        if missing and edge.extra and reached is None:
            reached = reachable(universe, chosen) or {}
        if missing and edge.extra and edge.extra not in (reached or {}).get(asker.name, ()):
            continue  # it stands behind an extra that nothing asks for
        origin = Origin(Owner("distribution", f"{asker.name} {asker.version}"), "METADATA", 0, "Requires-Dist")
        for extra, candidate in missing:
            asked = f"{asker.name} {asker.version} requires `{requirement_of(edge)}`"
            yield _unknown_extra(f"{asked}, and {candidate.version} has no such extra", extra, candidate, origin)


def _unknown_extra(told: str, extra: str, candidate: Candidate, origin: Origin) -> Notice:
    hint = told_extras(extra, candidate.extras)
    return Notice("unknown-extra", told, candidate.name, str(origin.owner), origin, hint)


def _new_edges_with_extras(
    question: Question, universe: Universe, chosen: Assignment
) -> Iterator[tuple[Candidate, Edge]]:
    """Yield what distributions ask for with extras, of those that are new or that the candidate asks extras of."""
    roots = (root.requirement for root in universe.roots)
    asked = {r.name for r in roots if r.extras and r.origin.owner.name == question.candidate}
    for name, position in chosen.items():
        candidate = universe.candidate(name, position)
        if candidate is not None and (name in asked or _is_new(question, universe, chosen, name)):
            yield from ((candidate, edge) for edge in candidate.requires if edge.extras)


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
