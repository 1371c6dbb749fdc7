"""A verdict that is decided again from its evidence is the same verdict, whatever it is."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from admission import Admitted, Decision, Facts, Policy, Question, Refused, decide
from fixtures.evidence import evidence
from fixtures.worlds import any_world, some_pins
from pm.errors import PmError
from pm.verdict.evidence import read_evidence

_SEEDS = st.integers(0, 2**32)
_POLICIES = st.sampled_from(["default", "direct-opt-in"])
_DAYS = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", ""]


def _said(decision: Decision) -> object:
    """Return everything that a decision says, but where files of the index lie."""
    if isinstance(decision, Admitted):
        pins = [(pin.name, pin.version, pin.extras, pin.owners, pin.edges) for pin in decision.lock.pins]
        return pins, decision.lock.fingerprint, decision.warnings, decision.search
    return decision


def _in_quarantine(question: Question, facts: Facts, days: list[str]) -> tuple[Question, Facts]:
    """Return the question with a quarantine, and pages whose versions came on some of the days."""
    policy = question.constraints.policy._replace(exclude_newer="2 days", not_after=_DAYS[1])
    pages = {
        name: page._replace(uploaded=tuple(days[i % len(days)] for i, _ in enumerate(page.versions)))
        for name, page in facts.pages.items()
    }
    constraints = question.constraints._replace(policy=policy)
    return question._replace(constraints=constraints), facts._replace(pages=pages)


@given(_SEEDS, _POLICIES)
def test_it_is_the_same_verdict(seed: int, policy: str) -> None:
    world = any_world(seed)
    question = world.question(policy=Policy(prerelease=policy), pins=some_pins(world, seed))
    again = decide(*read_evidence(evidence(question, world.facts)))
    assert _said(again) == _said(decide(question, world.facts))


@given(_SEEDS, st.lists(st.sampled_from(_DAYS), min_size=1, max_size=5))
def test_it_is_the_same_verdict_under_a_quarantine(seed: int, days: list[str]) -> None:
    world = any_world(seed)
    question, facts = _in_quarantine(world.question(pins=some_pins(world, seed)), world.facts, days)
    again = decide(*read_evidence(evidence(question, facts)))
    assert _said(again) == _said(decide(question, facts))


@given(_SEEDS)
def test_evidence_of_evidence_is_the_same_text(seed: int) -> None:
    world = any_world(seed)
    text = evidence(world.question(), world.facts)
    assert evidence(*read_evidence(text)) == text


@given(_SEEDS)
def test_a_refusal_needs_no_more_than_its_evidence_to_be_refused_again(seed: int) -> None:
    world = any_world(seed)
    decision = decide(world.question(), world.facts)
    question, facts = read_evidence(evidence(world.question(), world.facts))
    assert isinstance(decide(question, facts), Refused) == isinstance(decision, Refused)
    assert facts.pages.keys() <= world.facts.pages.keys()


def _damaged(value: Any, path: list[int], wrong: object) -> Any:  # noqa: ANN401 - any value of JSON
    """Return a value of JSON with another one in a place of it."""
    if not path or not isinstance(value, dict | list) or not value:
        return wrong
    keys = sorted(value) if isinstance(value, dict) else range(len(value))
    chosen = keys[path[0] % len(keys)]
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[chosen] = _damaged(value[chosen], path[1:], wrong)
    return changed


@given(
    _SEEDS,
    st.lists(st.integers(0, 20), max_size=7),
    st.sampled_from([None, True, -1, 10**9, "", "x", "1.0", ">=", [], [[]], {}, {"": ""}, ["a", "b"]]),
)
def test_damaged_evidence_is_invalid_or_can_be_decided(seed: int, path: list[int], wrong: object) -> None:
    world = any_world(seed)
    value = json.loads(evidence(world.question(), world.facts))
    with suppress(PmError):
        decide(*read_evidence(json.dumps(_damaged(value, path, wrong))))
