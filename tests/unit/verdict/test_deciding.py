"""A question is decided once: what the decision looks at is noted, and is all that it takes to decide again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from admission import NOTHING_KNOWN, Admitted, Facts, Need, Question, Refused, decide
from fixtures.histories import CLIENTS, chained, crowded_home, world_of
from fixtures.worlds import World, with_needed
from pm.errors import OutOfTime, PmError
from pm.verdict.evidence import evidence_of, read_evidence
from pm.verdict.resolve import settled


class Index:
    """An index that is a world, of which little is known at first; it counts how often its facts are looked at."""

    def __init__(self, world: World, known: Facts = NOTHING_KNOWN, *, silent: str = "") -> None:
        self._world = world
        self._known = known
        self._silent = silent
        """For what it gives no answer: `verdict` or `proof`."""
        self.looks = 0
        self.saved = 0

    @property
    def facts(self) -> Facts:
        self.looks += 1
        return self._known

    @contextmanager
    def within(self, until: float) -> Iterator[None]:  # noqa: ARG002 - nothing takes time here
        yield

    def fetch(self, need: Need, question: Question | None = None) -> Facts:  # noqa: ARG002 - it guesses nothing
        if need.purpose == self._silent:
            raise OutOfTime("svc", "the page of `svc`")
        self._known = with_needed(self._known, need, self._world.facts)
        return self._known

    def refresh(self) -> bool:
        return False

    def revalidate(self, names: Iterable[str]) -> bool:  # noqa: ARG002 - it never changes
        return False

    def save(self) -> None:
        self.saved += 1


def service() -> World:
    return world_of([*chained(20), *CLIENTS], ("web", "svc"), ("cap", "cappy"))


@pytest.mark.parametrize("world", [service(), crowded_home(5, 40)])
def test_where_all_is_known_the_facts_are_looked_at_once_and_noted_meanwhile(world: World) -> None:
    """Fault D6."""
    index = Index(world, world.facts)
    decision, consulted = settled(index, world.question())  # type: ignore[arg-type] # what it uses of an index is here
    question, facts = read_evidence(evidence_of(world.question(), consulted))
    assert (index.looks, index.saved) == (1, 1)
    assert type(decide(question, facts)) is type(decision)


@pytest.mark.parametrize("world", [service(), crowded_home(5, 40)])
def test_the_facts_are_looked_at_once_more_for_each_answer(world: World) -> None:
    cold, warm = Index(world), Index(world, world.facts)
    answers = [settled(index, world.question())[0] for index in (cold, warm)]  # type: ignore[arg-type] # the same
    assert [type(answer) for answer in answers] == [type(answers[0])] * 2
    assert isinstance(answers[0], Admitted | Refused)
    assert cold.looks <= 25


def test_a_refusal_stands_where_what_would_make_its_proof_shorter_does_not_come() -> None:
    decision, _ = settled(Index(service(), silent="proof"), service().question())  # type: ignore[arg-type] # the same
    assert isinstance(decision, Refused)


def test_without_what_it_takes_to_decide_nothing_is_decided() -> None:
    index = Index(service(), silent="verdict")
    with pytest.raises(PmError, match="the time was over before the page of `svc` was known"):
        settled(index, service().question())  # type: ignore[arg-type] # the same
    assert index.saved == 1
