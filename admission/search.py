"""Search a solution with resolvelib: quick, and right whenever it finds one.

What it calls impossible is only a hint. On graphs with a cycle between candidates resolvelib 1.2.1 can answer
*impossible* where a solution exists, run to its round limit, or crash while it builds its result
(docs/explanation/how-it-decides.md shows the smallest case), so `decide` asks `admission.complete` before it refuses.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver
from resolvelib.resolvers import RequirementInformation
from resolvelib.structs import State

from admission.assignment import Assignment, reachable
from admission.universe import Arc, Root, Universe

__all__ = ["Searched", "search"]


PATIENCE = 5
"""Conflicts after which it gives up: it learns nothing from them, and the complete decision does. Where hundreds of
packages take part, a search takes ten times as long as that one."""


class Searched(NamedTuple):
    """What the search said."""

    outcome: str
    """`found`, `impossible`, `gave-up` or `crashed`."""
    chosen: Assignment
    rounds: int


class _Demand(NamedTuple):
    """What resolvelib calls a requirement: an arc on a package or, of the same mask, on one of its extras."""

    identifier: str
    arc: Arc


class _Choice(NamedTuple):
    """What resolvelib calls a candidate: one version of a package or of one of its extras."""

    identifier: str
    name: str
    extra: str
    position: int


MOST_WORK = 150_000
"""Packages looked at in all rounds together: in each round resolvelib looks at all of them. That is about a second."""


class _GivenUp(Exception):
    """Raised through resolvelib, which has a limit on rounds only."""


def search(
    universe: Universe, roots: Sequence[Root], budget: int, may_go_on: Callable[[], bool] = lambda: True
) -> Searched:
    """Search versions for the roots, in at most `budget` rounds; raise `Unknown` when facts are missing.

    It gives up as soon as `may_go_on` says no.
    """
    provider = _Provider(universe, roots)
    reporter = _Reporter(provider, may_go_on)
    demands = [demand for root in roots for demand in _split(universe.root_arc(root))]
    if any(not provider.root_masks[root.requirement.name] & _choosable(universe, root) for root in roots):
        return Searched("impossible", {}, 0)
    try:
        Resolver(provider, reporter).resolve(demands, max_rounds=budget)
    except ResolutionImpossible:
        return Searched("impossible", {}, reporter.rounds)
    except (ResolutionTooDeep, _GivenUp):
        return Searched("gave-up", {}, reporter.rounds)
    except RecursionError:
        # resolvelib found an end state and recursed for ever in it; whether that is a solution is checked below
        if not reporter.final:
            return Searched("crashed", {}, reporter.rounds)
    chosen = {choice.name: choice.position for choice in reporter.final.values()}
    reached = reachable(universe, chosen)
    if reached is None:
        return Searched("crashed", {}, reporter.rounds)
    return Searched("found", {name: chosen[name] for name in sorted(reached)}, reporter.rounds)


def _choosable(universe: Universe, root: Root) -> int:
    package = universe.package(root.requirement.name)
    return package.free | package.conditional


def _split(arc: Arc) -> Iterator[_Demand]:
    """Split `x[e]==1` into a demand on `x` and one on `x[e]`: else a conflict on plain `x` is found late."""
    yield _Demand(arc.name, arc)
    for extra in arc.extras:
        yield _Demand(f"{arc.name}[{extra}]", arc)


class _Provider(AbstractProvider[_Demand, _Choice, str]):
    def __init__(self, universe: Universe, roots: Sequence[Root]) -> None:
        self.universe = universe
        self.conflicts: Counter[str] = Counter()
        self.root_masks: dict[str, int] = {}
        self.root_exact: dict[str, int] = {}
        for root in roots:
            arc = universe.root_arc(root)
            self.root_masks[arc.name] = self.root_masks.get(arc.name, -1) & arc.mask
            if arc.exact:
                self.root_exact[arc.name] = self.root_exact.get(arc.name, 0) | arc.mask
        self._direct = universe.constraints.policy.prerelease == "direct-opt-in"
        self._demands: dict[tuple[str, int], list[_Demand]] = {}
        self._viable: dict[tuple[str, int], bool] = {}

    def identify(self, requirement_or_candidate: _Demand | _Choice) -> str:
        return requirement_or_candidate.identifier

    def get_preference(  # noqa: PLR0917 - resolvelib's interface
        self,
        identifier: str,
        resolutions: Mapping[str, _Choice],  # noqa: ARG002 - resolvelib's interface
        candidates: Mapping[str, Iterator[_Choice]],  # noqa: ARG002 - the same
        information: Mapping[str, Iterator[RequirementInformation[_Demand, _Choice]]],
        backtrack_causes: Sequence[RequirementInformation[_Demand, _Choice]],  # noqa: ARG002 - the same
    ) -> tuple[int, bool, str]:
        # most conflicts first (it turns hopeless searches into short ones), then what is pinned anyway
        pinned = any(info.requirement.arc.exact for info in information[identifier])
        return (-self.conflicts[identifier], not pinned, identifier)

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[_Demand]],
        incompatibilities: Mapping[str, Iterator[_Choice]],
    ) -> Callable[[], Iterator[_Choice]]:
        name, _, extra = identifier.rstrip("]").partition("[")
        package = self.universe.package(name)
        mask = -1
        exact = 0
        for demand in requirements[identifier]:
            mask &= demand.arc.mask
            if demand.arc.exact:
                exact |= demand.arc.mask
        if self._direct:
            exact = self.root_exact.get(name, 0)
        mask &= package.free | package.conditional & (exact | self.root_exact.get(name, 0))
        for choice in incompatibilities[identifier]:
            mask &= ~(1 << choice.position)
        return lambda: self._matches(identifier, name, extra, mask)

    def _matches(self, identifier: str, name: str, extra: str, mask: int) -> Iterator[_Choice]:
        for position in self.universe.in_order(name, mask):
            if self._is_viable(name, position):
                yield _Choice(identifier, name, extra, position)

    def _is_viable(self, name: str, position: int) -> bool:
        """Return whether no direct demand of a version contradicts a root: sound, and it saves most of the search."""
        key = (name, position)
        viable = self._viable.get(key)
        if viable is None:
            masks = self.root_masks
            viable = self._viable[key] = all(
                masks.get(arc.name, -1) & arc.mask for arc in self.universe.arcs(name, position)
            )
        return viable

    def is_satisfied_by(self, requirement: _Demand, candidate: _Choice) -> bool:
        return bool(requirement.arc.mask >> candidate.position & 1)

    def get_dependencies(self, candidate: _Choice) -> list[_Demand]:
        key = (candidate.identifier, candidate.position)
        demands = self._demands.get(key)
        if demands is None:
            demands = self._demands[key] = list(self._dependencies(candidate))
        return demands

    def _dependencies(self, candidate: _Choice) -> Iterator[_Demand]:
        if candidate.extra:
            text = f"{candidate.name}=={self.universe.package(candidate.name).page.versions[candidate.position]}"
            # not an exact pin of a requirement: the extra follows its package and opts into nothing
            yield _Demand(candidate.name, Arc(candidate.name, (), 1 << candidate.position, exact=False, text=text))
        for arc in self.universe.arcs(candidate.name, candidate.position, candidate.extra):
            yield from _split(arc)


class _Reporter(BaseReporter[_Demand, _Choice, str]):
    def __init__(self, provider: _Provider, may_go_on: Callable[[], bool]) -> None:
        self._provider = provider
        self._may_go_on = may_go_on
        self._patience = PATIENCE
        self._work = 0
        self.rounds = 0
        self.final: Mapping[str, _Choice] = {}

    def starting_round(self, index: int) -> None:
        self.rounds = index + 1
        if not self._may_go_on():
            raise _GivenUp

    def ending_round(self, index: int, state: State[_Demand, _Choice, str]) -> None:  # noqa: ARG002 - resolvelib's interface
        self._work += len(state.criteria)
        if self._work > MOST_WORK:
            raise _GivenUp

    def resolving_conflicts(self, causes: Collection[RequirementInformation[_Demand, _Choice]]) -> None:
        self._patience -= 1
        if self._patience < 0:
            raise _GivenUp
        for cause in causes:
            self._provider.conflicts[cause.requirement.identifier] += 1
            if cause.parent is not None:
                self._provider.conflicts[cause.parent.identifier] += 1

    def ending(self, state: State[_Demand, _Choice, str]) -> None:
        self.final = dict(state.mapping)
