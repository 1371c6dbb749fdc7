"""`decide`: whether the core and all enabled plugins hold together, as a value.

A solution that the search finds is checked demand by demand. An *impossible* is only believed when a second, complete
decision agrees; what neither can show within the budget is `Undecided`, never a refusal.
"""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from admission.address import Addresses
from admission.assignment import Assignment, reachable
from admission.decision import Admitted, Decision, Need, Refused, Undecided
from admission.facts import NOTHING_KNOWN, Facts
from admission.frontier import frontier, with_neighbours
from admission.gates import judge_gates, root_requirements
from admission.locking import lock_of
from admission.question import Question
from admission.universe import Universe, Unknown, roots_of

if TYPE_CHECKING:
    from admission.complete import CompleteAnswer, Solver  # the complete decision is imported where a search fails
    from admission.search import Searched

__all__ = ["Deliberation", "Impossible", "Solved", "decide"]


class Solved(NamedTuple):
    """A verified assignment."""

    chosen: Assignment
    search: str
    """`found`, or `complete` when only the complete decision found it."""
    extras: Mapping[str, AbstractSet[str]]
    """Package → extras that the roots reach: that there are any is the check that every solution passes."""


class Impossible(NamedTuple):
    """Both decisions agree, or the complete one alone needed fewer facts, that there is no solution."""

    search: str
    """What the search said (`Proof.search`)."""
    verdict: "CompleteAnswer"


def decide(question: Question, facts: Facts) -> Decision:
    """Decide a question on what is known; `Need` names what must be read before the answer can be given.

    The same question and facts give the same decision, in every order of plugins.
    """
    return Deliberation(question).decide(facts)


class Deliberation:
    """One question under way: it is asked again whenever more is known, and what was learned till then serves on.

    What it admits does not depend on how much was known when: the search and the complete decision each rest on what
    they read themselves.
    """

    def __init__(self, question: Question, may_go_on: Callable[[], bool] = lambda: True) -> None:
        self._question = question
        self._may_go_on = may_go_on
        """Asked in each round: once it says no, what is not decided is `Undecided`."""
        self._refused = judge_gates(question.constraints)
        self._roots = () if self._refused else roots_of(root_requirements(question.constraints))
        self._addresses = Addresses(root.requirement for root in self._roots)
        self._universe = self._new_universe(NOTHING_KNOWN)
        self._solving = _Solving(self._universe, question.budget, may_go_on)

    def decide(self, facts: Facts) -> Decision:
        """Decide on what is known now, as `decide` does."""
        if self._refused:
            return Refused(self._refused)
        facts = self._addresses.facts(facts)
        if not self._universe.learns(facts):
            self._universe = self._new_universe(facts)
            self._solving = _Solving(self._universe, self._question.budget, self._may_go_on)
        decision = self._told(self._solving.answer())
        return self._addresses.asked(decision) if isinstance(decision, Need) else decision

    def explain_from_what_is_known(self) -> None:
        """Ask for nothing more that would only make a refusal's explanation better (`Question.frozen`)."""
        self._question = self._question._replace(frozen=True)

    def _new_universe(self, facts: Facts) -> Universe:
        return Universe(facts, self._question.constraints, self._roots, self._question.pins)

    def _told(self, answer: "Solved | Impossible | Need | Undecided") -> Decision:
        question, universe = self._question, self._universe
        if isinstance(answer, Impossible):
            from admission.refusal import refuse

            return refuse(question, universe, answer.verdict, search=answer.search, may_go_on=self._may_go_on)
        if not isinstance(answer, Solved):
            return answer
        lock = lock_of(question, universe, answer.chosen, answer.extras)
        from admission.notices import notices

        return Admitted(lock, notices(question, universe, answer.chosen), answer.search)


def _verified(universe: Universe, likely: Mapping[str, int]) -> Solved | None:
    """Return the likely assignment if every demand holds in it: then there is nothing to search for."""
    reached = reachable(universe, likely) if likely else None
    return Solved({name: likely[name] for name in sorted(reached)}, "found", reached) if reached is not None else None


def _solved(universe: Universe, chosen: Assignment, search: str) -> Solved:
    extras = reachable(universe, chosen)
    if extras is None:
        message = "a verified assignment does not hold"
        raise AssertionError(message)
    return Solved(chosen, search, extras)


class _Solving:
    """The two decisions on one universe, which grows."""

    def __init__(self, universe: Universe, budget: int, may_go_on: Callable[[], bool]) -> None:
        self._universe = universe
        self._budget = budget
        self._may_go_on = may_go_on
        self._is_walked = False
        self._met_gaps = 0
        """How often the search met something that is not known."""
        self._ended: Solved | Searched | None = None
        """What the search said in the end."""
        self._solver: Solver | None = None
        self._verdict: CompleteAnswer | None = None
        """What the complete decision said in the end."""

    def answer(self) -> Solved | Impossible | Need | Undecided:
        """Return what can be said on what is known now."""
        if not self._is_walked:
            walk = frontier(self._universe)
            if walk.need is not None:
                return walk.need
            self._is_walked = True
            if (solved := _verified(self._universe, walk.likely)) is not None:
                return solved
        return self._decided()

    def _decided(self) -> Solved | Impossible | Need | Undecided:
        # a search begins anew at each gap, the complete decision goes on: so it says first what is missing
        searched = self._searched() if self._met_gaps < _MOST_GAPS else None
        if isinstance(searched, Solved):
            return searched
        verdict = self._completely()
        if searched is None and verdict.outcome != "unknown":
            searched = self._searched()
        if verdict.outcome == "impossible":
            return Impossible(_said(searched), verdict)
        if isinstance(searched, Solved | Need):
            # the search goes on with more facts, so that what it finds does not depend on what happened to be known
            return searched
        if verdict.outcome == "unknown":
            return Need(verdict.pages, verdict.unknown)
        if verdict.outcome == "found":
            return _solved(self._universe, verdict.chosen, "complete")
        return _undecided(self._budget, verdict, searched)

    def _searched(self) -> "Solved | Need | Searched":
        """Search from the beginning, once more if it met something that was not known."""
        if self._ended is None:
            found = self._searched_anew()
            if isinstance(found, Need):
                return found
            self._ended = found
        return self._ended

    def _searched_anew(self) -> "Solved | Need | Searched":
        from admission.search import search

        try:
            searched = search(self._universe, self._universe.roots, min(self._budget, _SEARCH_ROUNDS), self._may_go_on)
        except Unknown as unknown:
            self._met_gaps += 1
            pages = (unknown.page,) if unknown.page else ()
            return Need(pages, with_neighbours(self._universe, unknown.candidates))
        return _solved(self._universe, searched.chosen, "found") if searched.outcome == "found" else searched

    def _completely(self) -> "CompleteAnswer":
        from admission.complete import Solver

        if self._verdict is None:
            if self._solver is None:
                self._solver = Solver(self._universe, self._universe.roots, self._budget, self._may_go_on, reading=True)
            verdict = self._solver.solve()
            if verdict.outcome == "unknown":
                return verdict
            self._verdict = verdict
        return self._verdict


def _said(searched: "Solved | Need | Searched | None") -> str:
    """Return what the search said of a set that the complete decision calls impossible."""
    return "unfinished" if searched is None or isinstance(searched, Solved | Need) else searched.outcome


def _undecided(budget: int, verdict: "CompleteAnswer", searched: "Searched | None") -> Undecided:
    limit = f"in {budget} rounds" if verdict.effort >= budget else "in the time that there was"
    message = f"neither a solution nor a contradiction was found {limit}"
    if verdict.stood_at:
        message += f"; the last conflicts were about `{verdict.stood_at}`"
    tried = f"complete: gave up after {verdict.effort} steps"
    if searched is None:
        return Undecided("resolution-budget", message, (tried,), package=verdict.stood_at)
    search = f"search: {searched.outcome} after {searched.rounds} rounds"
    return Undecided("resolution-budget", message, (search, tried), package=verdict.stood_at)


_MOST_GAPS = 1
"""Gaps that the search may meet before it waits for the complete decision."""
_SEARCH_ROUNDS = 2_000
