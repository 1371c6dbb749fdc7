"""Whoever does what a confirmed step says gets a set that holds together, and what the step foretold."""

import json
from datetime import UTC, datetime
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from admission import Admitted, Policy, Refused, Step, decide
from admission.steps import changed, proposals
from fixtures.brute_force import solutions
from fixtures.ways_out import after_effect, carried_out, policy_after, steps_of
from fixtures.worlds import World, any_world
from lockfiles import Lock
from pm.receipts.build import build
from pm.receipts.receipt import Done, Operation, Part, StepRow, from_json, place_of, receipt_text

_SEEDS = st.integers(0, 2**32)
_POLICIES = st.sampled_from(["default", "direct-opt-in"])


def _before(world: World, policy: Policy) -> Lock | None:
    """Return what is locked before the candidate comes: the lock of all others, if they hold together."""
    others = world._replace(roots=tuple(root for root in world.roots if root[0] != "a"))
    decision = decide(others.question(policy=policy), world.facts)
    return decision.lock if isinstance(decision, Admitted) else None


def _fault(world: World, policy: Policy, before: Lock | None, step: Step) -> str:
    """Return what is wrong with a step; empty if it leads where it says."""
    after, allowed = carried_out(world, step), policy_after(policy, step)
    pins = before.versions() if before is not None else {}
    decision = decide(after.question(policy=allowed, pins=pins), after.facts)
    if not step.confirmed or not isinstance(decision, Admitted):
        return f"{step} is not admitted"
    if decision.lock.versions() not in solutions(after, policy.prerelease, pins, allowed=allowed.allow_prerelease):
        return f"{step} leads to what is no solution"
    foretold = after_effect(pins, step.effect)
    return "" if foretold == decision.lock.versions() else f"{step} leads to {decision.lock.versions()}"


@given(_SEEDS, _POLICIES)
def test_every_confirmed_step_leads_where_it_says(seed: int, prerelease: str) -> None:
    world, policy = any_world(seed), Policy(prerelease=prerelease)
    before = _before(world, policy)
    question = world.question(policy=policy, pins=before.versions() if before is not None else {})
    steps = steps_of(question._replace(candidate=""), world.facts, before=before)
    assert [fault for step in steps if (fault := _fault(world, policy, before, step))] == []


@given(_SEEDS)
def test_no_step_is_offered_twice_and_none_where_nothing_is_refused(seed: int) -> None:
    world = any_world(seed)
    steps = steps_of(world.question(), world.facts)
    assert len(steps) == len(set(steps))
    assert not steps or not isinstance(decide(world.question(), world.facts), Admitted)


def _does_without(world: World, step: Step) -> list[Step]:
    """Return the parts of a step that need not be done."""
    return [part for part in step.parts if _is_admitted(world, step.parts, but=part)]


def _is_admitted(world: World, parts: tuple[Step, ...], *, but: Step) -> bool:
    rest = Step("together", "", "", parts=tuple(part for part in parts if part is not but))
    question = carried_out(world, rest).question(policy=policy_after(Policy(), rest))
    return isinstance(decide(question, world.facts), Admitted)


@given(_SEEDS)
def test_no_part_of_a_combination_is_superfluous(seed: int) -> None:
    world = any_world(seed)
    assert [part for step in steps_of(world.question(), world.facts) for part in _does_without(world, step)] == []


def _pairs_that_lead_out(world: World) -> list[str]:
    """Return which two of the proposals for a refusal would be admitted if both were done."""
    question, facts = world.question(), world.facts
    refused = decide(question, facts)
    pairs = combinations(proposals(question, refused), 2) if isinstance(refused, Refused) else ()
    return [
        f"{one.step}, {other.step}"
        for one, other in pairs
        if isinstance(decide(changed(question, (one, other))._replace(frozen=True), facts), Admitted)
    ]


@given(_SEEDS)
def test_where_two_proposals_together_lead_out_a_way_out_is_confirmed(seed: int) -> None:
    world = any_world(seed)
    confirmed = [step for step in steps_of(world.question(), world.facts) if step.confirmed]
    assert confirmed or not _pairs_that_lead_out(world)


_NOW = datetime(2026, 1, 31, tzinfo=UTC)
_CHECK = Operation("check", "0a1b", _NOW, ("hermes", "plugins", "check"))


def _rows(steps: list[Step]) -> tuple[StepRow, ...]:
    """Return the steps as a program reads them from the JSON of a receipt."""
    receipt = build(_CHECK, Done("refused", steps=(*steps, Step("retry", ""))), finished_at=_NOW)
    return from_json(json.loads(receipt_text(receipt))).steps[:-1]


def _changes(steps: list[Step]) -> list[tuple[Step, StepRow | Part]]:
    """Return every change, by itself or as part of a step, with what a receipt says of it."""
    found: list[tuple[Step, StepRow | Part]] = []
    for step, row in zip(steps, _rows(steps), strict=True):
        found += [(step, row), *zip(step.parts, row.parts, strict=True)]
    return found


@given(_SEEDS)
def test_a_receipt_says_which_line_a_step_changes_and_into_what(seed: int) -> None:
    world = any_world(seed)
    changes = _changes(steps_of(world.question(), world.facts))
    assert [(row.declared_at, row.before, row.after) for _, row in changes] == [
        (place_of(step.origin) if step.origin else None, step.before, step.after) for step, _ in changes
    ]
    assert [(row.subject, row.before) for _, row in changes if row.action == "widen"] == [
        (step.origin.owner.name, step.before)
        for step, _ in changes
        if step.origin is not None and (step.origin.owner.name, step.before) in world.roots
    ]
    assert [row for _, row in changes if row.before and row.explanation != _told(row)] == []


def _told(row: StepRow | Part) -> str:
    place = row.declared_at
    where = f"{place.file}:{place.line}" if place else ""
    return f"write `{row.after}` instead of `{row.before}` in {where} of `{row.subject}`"
