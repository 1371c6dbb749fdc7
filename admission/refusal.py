"""Explain an impossible set: the smallest sets of requirements that cannot hold together, and what each demands."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from admission.alternatives import Alternatives, Way
from admission.complete import CompleteAnswer, Leaf, decide_completely, roots_of
from admission.decision import Available, Demand, Need, Proof, Reason, Refused
from admission.fates import (
    ALONE,
    core_fault_of,
    fate_code,
    listed,
    owner_of,
    told_alone,
    unreadable_release,
    unusable_code,
)
from admission.frontier import with_neighbours
from admission.obstacles import Obstacle, ObstacleSearch, holders_of
from admission.openings import opening_of
from admission.question import Question
from admission.universe import INVALID, Arc, Root, Universe
from admission.versions import bits

__all__ = ["refuse"]

_MOST_CONFLICTS = 5


class _Limits(NamedTuple):
    """How long one decision that makes a proof shorter may take."""

    rounds: int
    may_go_on: Callable[[], bool]


class _Core(NamedTuple):
    """A set of roots that cannot hold together."""

    roots: tuple[Root, ...]
    verdict: CompleteAnswer
    minimal: bool
    unread: Need | None
    """What must be read to know whether it is minimal."""


def refuse(
    question: Question,
    universe: Universe,
    verdict: CompleteAnswer,
    *,
    search: str,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Refused | Need:
    """Return the refusal of a set that `verdict` calls impossible, with one reason for each independent conflict."""
    reasons: dict[tuple[Root, ...], Reason] = {}
    remaining: tuple[Root, ...] = universe.roots
    limits = _Limits(min(question.budget, _PROOF_ROUNDS), may_go_on)
    while verdict.outcome == "impossible" and len(reasons) < _MOST_CONFLICTS:
        core = _minimised(universe, _direct(universe, remaining, verdict, limits), limits)
        if core.unread is not None and not question.frozen:
            return core.unread
        reasons[core.roots] = _explained(universe, core, search)
        # another conflict is independent only if it needs none of these roots
        remaining = tuple(root for root in remaining if root not in core.roots)
        verdict = _decide(universe, remaining, limits)
        if verdict.outcome == "unknown" and not question.frozen:
            asked = with_neighbours(universe, verdict.unknown, at_once=True, beside=verdict.hoped)
            return Need(verdict.pages, asked, "proof")
    return Refused(tuple(reasons[roots] for roots in sorted(reasons)))


def _decide(universe: Universe, roots: Sequence[Root], limits: _Limits) -> CompleteAnswer:
    """Decide whether some roots hold together, alone or with any other roots of the set.

    Others may open what these do not, by naming a pre-release, by an exact pin, or through a release that pins. So what
    is impossible here stays so whatever is added, and leaving out one that only opens shows nothing.
    """
    # where an address fell away its package counts as fit for everything, so nothing can be added by it
    left = frozenset(roots).union(universe.address_roots)
    others = [root for root in universe.roots if root not in left]
    return decide_completely(universe.restricted(roots), roots, *limits, optional=others)


def _direct(universe: Universe, remaining: Sequence[Root], verdict: CompleteAnswer, limits: _Limits) -> CompleteAnswer:
    """Return the verdict on the roots that ask for one package themselves, if they exclude each other.

    It must be one that the contradiction takes part in: what needs no chain is the shortest explanation of it.
    """
    for name in sorted({root.requirement.name for root in roots_of(verdict.leaves)}):
        roots = tuple(root for root in remaining if root.requirement.name == name)
        if len(roots) > 1:
            direct = _decide(universe, roots, limits)
            if direct.outcome == "impossible":
                return direct
    return verdict


def _minimised(universe: Universe, verdict: CompleteAnswer, limits: _Limits) -> _Core:
    """Drop every root that the contradiction does not need; the core's last, so that they stay where one may choose."""
    roots = tuple(sorted({*roots_of(verdict.leaves), *universe.address_roots}))
    order = {root: _dropped_first(universe, root) for root in roots}
    needed: dict[Root, CompleteAnswer] = {}
    while len(roots) > 1 and (untried := [root for root in roots if root not in needed]):
        root = min(untried, key=order.__getitem__)
        rest = tuple(other for other in roots if other != root)
        without = _decide(universe, rest, limits)
        if without.outcome == "impossible":
            kept = {*roots_of(without.leaves), *universe.address_roots}
            roots, verdict = tuple(other for other in rest if other in kept), without
        else:
            needed[root] = without
    unsure = [without for without in needed.values() if without.outcome != "found"]
    pages = {page for without in unsure for page in without.pages}
    candidates = {candidate for without in unsure for candidate in without.unknown}
    hoped = {candidate for without in unsure for candidate in without.hoped}
    if not pages and not candidates:
        return _Core(roots, verdict, not unsure, None)
    # only a few rounds are spent on an explanation, so each asks for what the next ones would
    asked = with_neighbours(universe, candidates, at_once=True, beside=hoped)
    unread = Need(tuple(sorted(pages)), asked, "proof")
    return _Core(roots, verdict, not unsure, unread)


def _dropped_first(universe: Universe, root: Root) -> tuple[object, ...]:
    """Order roots: first what others have to open, so that where one may choose the proof needs no opening."""
    kind = root.requirement.origin.owner.kind
    settled = universe.root_arc(root).mask & universe.package(root.requirement.name).settled
    needs_opening = not settled and not universe.opens(root)
    return (kind in ("core", "core-extra"), not needs_opening, root.position)


def _explained(universe: Universe, core: _Core, searched: str) -> Reason:
    again = _decide(universe, core.roots, _Limits(_VERIFY_BUDGET, lambda: True))
    proof = Proof(
        minimal=core.minimal,
        verified=again.outcome == "impossible",
        search=searched,
        complete="impossible",
    )
    opening = opening_of(universe, core.roots, core.verdict.leaves)
    restricted = universe.restricted(core.roots).opening(opening.versions)
    package, chains = _chains(restricted, core, opening.leading if len(core.roots) > 1 else ())
    demands = tuple(_demand(root, way) for root, way in chains if root in core.roots)
    arcs = sorted((root, way[-1]) for root, way in chains if way[-1].name == package)
    code = _code(restricted, core.roots, arcs)
    search = ObstacleSearch(restricted, holders_of(restricted, core.roots))
    said = _message(restricted, code, package=package, roots=_parties(core, package, chains), arcs=arcs)
    beside = _beside(restricted, core, chains).told(search)
    also = tuple(
        Demand(root.requirement, (root.text,))
        for root in universe.roots
        if len(core.roots) == 1 and root not in core.roots and root.requirement.name == package
        if _excludes(restricted, root, core.roots)
    )
    return Reason(
        code=code,
        message="; ".join(filter(None, (said, beside))),
        package=package,
        demands=demands,
        available=_available(search, package, arcs),
        also=also,
        opened_by=tuple(_demand(root, _longest(way, dict(chains).get(root, ()))) for root, way in opening.ways.items()),
        hint=_hint(restricted, package, arcs),
        proof=proof,
        consents=_consents(restricted, package, arcs),
    )


def _beside(universe: Universe, core: _Core, chains: Iterable[tuple[Root, Way]]) -> Alternatives:
    held: dict[str, int] = {}
    for arc in map(universe.root_arc, core.roots):
        held[arc.name] = held.get(arc.name, -1) & arc.mask
    return Alternatives(universe, [way for root, way in chains if root in core.roots], _demands(core), held)


def _parties(core: _Core, package: str, chains: Iterable[tuple[Root, Way]]) -> tuple[Root, ...]:
    """Return the roots that the message is about: the proof's, and what else leads to where only one of them leads."""
    meeting = {root for root, way in chains if way[-1].name == package}
    others = meeting - set(core.roots) if len(meeting & set(core.roots)) == 1 else set()
    return (*core.roots, *sorted(others))


def _demand(root: Root, way: Way) -> Demand:
    return Demand(root.requirement, tuple(arc.text for arc in way))


def _longest(way: Way, chain: Way) -> Way:
    """Return the chain of a root to the disputed package if there is one, else its way to what it opens."""
    return chain if len(chain) > 1 else way


_PROOF_ROUNDS = 2_000
"""For each decision that makes a proof shorter: how many there are depends on how many roots there are."""
_VERIFY_BUDGET = 20_000


def _consents(universe: Universe, package: str, arcs: Iterable[tuple[Root, Arc]]) -> tuple[str, ...]:
    """Return what the operator could allow so that there is a version of the package that all demands on it accept."""
    if package in universe.core_names:
        return ()
    known = universe.package(package)
    mask = known.sets.every
    for _, arc in arcs:
        mask &= arc.mask
    codes = {fate_code(universe, package, position) for position in bits(mask)}
    found = {"allow-prerelease": "prerelease-only" in codes, "allow-newer": "quarantined" in codes}
    # whether a build helps is not known, so it is not proposed where there are versions that need none
    found["allow-build"] = "" not in codes and bool("build-needs-consent" in codes or mask & known.page.buildable)
    return tuple(action for action, helps in found.items() if helps)


def _excludes(universe: Universe, root: Root, roots: Sequence[Root]) -> bool:
    """Return whether a root accepts nothing of what those roots on the same package accept, usable or not.

    Where they accept no version that exists, their bounds tell.
    """
    others = [other for other in roots if other.requirement.name == root.requirement.name]
    mask = -1
    for other in others:
        mask &= universe.root_arc(other).mask
    if mask:
        return not mask & universe.root_arc(root).mask
    bounds = {other.requirement.specifier for other in (root, *others)}
    return SpecifierSet(",".join(filter(None, bounds))).is_unsatisfiable()


def _chains(universe: Universe, core: _Core, leading: Sequence[Root]) -> tuple[str, list[tuple[Root, Way]]]:
    """Return the disputed package, and for each root its chain there, else its own demand.

    A root that contradicts itself has two chains: they part at their ends. What only leads to a pin has a chain too.
    """
    demands = _demands(core)
    roots = (*core.roots, *leading)
    ways = _ways(universe, roots, demands)
    package = _disputed(universe, core.roots, ways)
    if package == INVALID:
        # what cannot be read is a fault of the versions of the package before it
        package = next(ways[root, INVALID][-2].name for root in core.roots if (root, INVALID) in ways)
    elif len(core.roots) == 1 and not unusable_code(universe, ways[core.roots[0], package][-1]):
        parting = _parting(universe, core.roots[0], demands)
        if parting:
            return parting[0][-1].name, [(core.roots[0], way) for way in parting]
    return package, [(root, ways.get((root, package), (universe.root_arc(root),))) for root in roots]


def _demands(core: _Core) -> dict[str, list[Leaf]]:
    """Return what the contradiction rests on of the demands of versions, by package: those of the newest first."""
    demands: dict[str, list[Leaf]] = {}
    for leaf in core.verdict.leaves:
        if leaf.arc is not None and leaf.name:
            demands.setdefault(leaf.name, []).append(leaf)
    for leaves in demands.values():
        leaves.sort(key=lambda leaf: (-leaf.versions, str(leaf.arc)))
    return demands


def _ways(
    universe: Universe, roots: Sequence[Root], demands: Mapping[str, Sequence[Leaf]]
) -> dict[tuple[Root, str], Way]:
    """Return for each root and package the shortest chain of demands among those the contradiction rests on."""
    ways: dict[tuple[Root, str], Way] = {}
    for root in roots:
        pending: list[Way] = [(universe.root_arc(root),)]
        while pending:
            way = pending.pop(0)
            end = way[-1]
            if (root, end.name) not in ways:
                ways[root, end.name] = way
                leaves = demands.get(end.name, ())
                pending.extend((*way, leaf.arc) for leaf in leaves if leaf.arc is not None and leaf.versions & end.mask)
    return ways


def _parting(universe: Universe, root: Root, demands: Mapping[str, Sequence[Leaf]]) -> tuple[Way, ...]:
    """Return two chains of a root that end in demands on one package which part, or one whose end nothing meets.

    Each step is asked by every version that may be chosen: chains of alternatives prove nothing. None if there are no
    such chains.
    """
    seen: dict[str, dict[int, Way]] = {}
    pending: list[Way] = [(universe.root_arc(root),)]
    while pending:
        way = pending.pop(0)
        end = way[-1]
        known = seen.setdefault(end.name, {})
        if end.mask in known:
            continue
        if not end.mask:
            return (way,)
        other = next((other for mask, other in known.items() if not mask & end.mask), None)
        if other is not None:
            return (other, way)
        known[end.mask] = way
        package = universe.package(end.name)
        choosable = end.mask & (package.free | (package.conditional if end.exact else 0))
        leaves = demands.get(end.name, ())
        pending.extend((*way, leaf.arc) for leaf in leaves if leaf.arc is not None and not choosable & ~leaf.versions)
    return ()


def _disputed(universe: Universe, roots: Sequence[Root], ways: dict[tuple[Root, str], tuple[Arc, ...]]) -> str:
    """Return the package on which most roots meet, of several the one farthest down: where the versions part.

    One that no release satisfies by itself is about its own package, whatever else its versions would need.
    """
    if len(roots) == 1 and unusable_code(universe, universe.root_arc(roots[0])):
        return roots[0].requirement.name
    meeting: dict[str, list[tuple[Arc, ...]]] = {}
    for (_, name), way in ways.items():
        meeting.setdefault(name, []).append(way)
    impossible = {name for name, found in meeting.items() if any(not way[-1].mask for way in found)}
    if len(roots) == 1 and impossible:
        return min(impossible, key=lambda name: (min(map(len, meeting[name])), name))
    return min(
        meeting, key=lambda name: (-len(meeting[name]), name not in impossible, -max(map(len, meeting[name])), name)
    )


def _code(universe: Universe, roots: Sequence[Root], arcs: Sequence[tuple[Root, Arc]]) -> str:
    if len(roots) == 1:
        for _, arc in arcs:
            if alone := unusable_code(universe, arc):
                return alone
            if unreadable_release(universe, arc) is not None:
                return "no-matching-version"
    kinds = {root.requirement.origin.owner.kind for root in roots}
    return "core-conflict" if kinds & {"core", "core-extra"} else "conflict"


def _message(
    universe: Universe, code: str, *, package: str, roots: Sequence[Root], arcs: Sequence[tuple[Root, Arc]]
) -> str:
    if code in ALONE:
        arc = next((arc for _, arc in arcs if unusable_code(universe, arc) == code), None)
        if arc is None:
            return _told_unreadable(universe, arcs)
        said = told_alone(universe, arc, code)
        return f"{said}: {core_fault_of(universe, arc).message}" if package in universe.core_names else said
    owners = listed(sorted({owner_of(root) for root in roots}))
    if len(roots) == 1:
        first = roots[0].text
        return f"no version of `{package}` satisfies everything that `{first}` of {owners} requires"
    if len({owner_of(root) for root in roots}) == 1:
        return f"no version of `{package}` satisfies all requirements of {owners} together"
    return f"no version of `{package}` satisfies {owners} together"


def _told_unreadable(universe: Universe, arcs: Iterable[tuple[Root, Arc]]) -> str:
    arc, release = next((arc, found) for _, arc in arcs if (found := unreadable_release(universe, arc)) is not None)
    said = f"no release of `{arc.name}` that satisfies `{arc.text}` can be used"
    return f"{said}: {release.version if release.is_only else f'the newest, {release.version},'} because {release.why}"


def _hint(universe: Universe, package: str, arcs: Sequence[tuple[Root, Arc]]) -> str:
    """Return what else may have been meant, where a distribution asks for an extra that the core does not have."""
    if package not in universe.core_names:
        return ""
    return next((hint for _, arc in arcs if (hint := core_fault_of(universe, arc).hint)), "")


def _available(search: ObstacleSearch, package: str, arcs: Sequence[tuple[Root, Arc]]) -> tuple[Available, ...]:
    """Return the versions that exist, newest first, in runs with the same fate."""
    if package in search.universe.core_names:
        return ()
    known = search.universe.package(package)
    fates = ((known.page.versions[i], _fate(search, package, i, arcs)) for i in bits(known.sets.every))
    return tuple(_run(list(run)) for _, run in islice(groupby(fates, lambda fate: fate[1].series), _MOST_RUNS))


_MOST_RUNS = 40


def _run(run: Sequence[tuple[str, Obstacle]]) -> Available:
    versions = [version for version, _ in run]
    fate = run[0][1]
    reason = fate.text if len({other.text for _, other in run}) == 1 else fate.series
    if len(versions) <= 2:  # noqa: PLR2004 - two versions are listed, three are a run
        return Available(", ".join(versions), reason)
    return Available(f"{versions[0]} … {versions[-1]} ({len(versions)} versions)", reason)


def _fate(search: ObstacleSearch, package: str, position: int, arcs: Sequence[tuple[Root, Arc]]) -> Obstacle:
    """Return why a version is out, and what all of a run have in common."""
    if excluding := sorted({f"`{arc.text}`" for _, arc in arcs if not arc.mask >> position & 1}):
        text = f"excluded by {listed(excluding)}"
    elif code := fate_code(search.universe, package, position):
        text = _closed(search.universe, package, position, code)
    elif (found := search.taking(package, position).obstacle(package, position, _extras_asked(arcs))) is not None:
        return Obstacle(f"matches, but {found.text}", f"matches, but {found.series}")
    else:
        text = "matches, but does not fit together with all the rest"
    return Obstacle(text, text)


def _extras_asked(arcs: Iterable[tuple[Root, Arc]]) -> tuple[str, ...]:
    return ("", *sorted({extra for _, arc in arcs for extra in arc.extras}))


def _closed(universe: Universe, package: str, position: int, code: str) -> str:
    exclusion = universe.package(package).page.excluded.get(position)
    detail = f": {exclusion.detail}" if exclusion is not None and exclusion.detail else ""
    if code == "no-wheel" and universe.package(package).page.buildable >> position & 1:
        detail += "; a source distribution exists"
    meaning = {
        "prerelease-only": "a pre-release that is not allowed",
        "yanked-only": "yanked",
        "quarantined": "newer than `pm.exclude_newer` allows",
        "no-wheel": "no wheel for this target",
        "python-version": "requires another Python",
        "build-needs-consent": "source distribution only",
    }
    return f"{meaning[code]}{detail}"
