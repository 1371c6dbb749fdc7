"""`decide`: whether the core and all enabled plugins hold together, as a value.

A solution that the search finds is checked demand by demand. An *impossible* is only believed when a second, complete
decision agrees; what neither can show within the budget is `Undecided`, never a refusal.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from admission.assignment import Assignment, reachable
from admission.decision import Admitted, Decision, Need, Reason, Refused, Undecided
from admission.facts import Facts
from admission.frontier import frontier, with_neighbours
from admission.gates import judge_gates, root_requirements
from admission.locking import lock_of
from admission.question import Question
from admission.universe import Root, Universe, Unknown, roots_of

if TYPE_CHECKING:
    from admission.complete import CompleteAnswer  # the complete decision is imported where a search fails

__all__ = ["Impossible", "PreparedQuestion", "Solved", "decide", "decide_prepared", "prepare", "solve"]


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


class PreparedQuestion(NamedTuple):
    """A question with what can be told of it whatever is known: it is asked again whenever more is."""

    question: Question
    refused: tuple[Reason, ...]
    """Why it is refused whatever is resolved."""
    roots: tuple[Root, ...]


def prepare(question: Question) -> PreparedQuestion:
    """Judge what needs no resolving, and bring the requirements of the union in their order."""
    refused = judge_gates(question.constraints)
    return PreparedQuestion(question, refused, () if refused else roots_of(root_requirements(question.constraints)))


def decide(question: Question, facts: Facts) -> Decision:
    """Decide a question on what is known; `Need` names what must be read before the answer can be given.

    The same question and facts give the same decision, in every order of plugins.
    """
    return decide_prepared(prepare(question), facts)


def decide_prepared(prepared: PreparedQuestion, facts: Facts) -> Decision:
    """Decide as `decide` does what was prepared before."""
    question = prepared.question
    if prepared.refused:
        return Refused(prepared.refused)
    universe = Universe(facts, question.constraints, prepared.roots, question.pins)
    walk = frontier(universe)
    if walk.need is not None:
        return walk.need
    answer = _verified(universe, walk.likely) or solve(universe, question.budget)
    if isinstance(answer, Impossible):
        from admission.refusal import refuse

        return refuse(question, universe, answer.verdict, search=answer.search)
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


def solve(universe: Universe, budget: int) -> Solved | Impossible | Need | Undecided:
    """Search, and where the search finds nothing decide completely."""
    from admission.search import Searched, search

    need = None
    try:
        searched = search(universe, universe.roots, min(budget, _SEARCH_ROUNDS))
    except Unknown as unknown:
        pages = (unknown.page,) if unknown.page else ()
        need = Need(pages, with_neighbours(universe, unknown.candidates))
        searched = Searched("unfinished", {}, 0)
    if searched.outcome == "found":
        return _solved(universe, searched.chosen, "found")
    from admission.complete import decide_completely

    verdict = decide_completely(universe, universe.roots, budget)
    if verdict.outcome == "impossible":
        return Impossible(searched.outcome, verdict)
    if need is not None:
        # the search goes on with more facts, so that what it finds does not depend on what happened to be known
        return need
    if verdict.outcome == "unknown":
        return Need(verdict.pages, with_neighbours(universe, verdict.unknown, beside=verdict.hoped))
    if verdict.outcome == "found":
        return _solved(universe, verdict.chosen, "complete")
    return Undecided(
        "resolution-budget",
        f"neither a solution nor a contradiction was found in {budget} rounds",
        tried=(
            f"search: {searched.outcome} after {searched.rounds} rounds",
            f"complete: gave up after {verdict.effort} steps",
        ),
    )


_SEARCH_ROUNDS = 2_000
