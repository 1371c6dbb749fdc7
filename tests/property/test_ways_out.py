"""Whoever does what a confirmed step says gets a set that holds together, and what the step foretold."""

from hypothesis import given
from hypothesis import strategies as st

from admission import Admitted, Policy, Step, decide
from fixtures.ways_out import after_effect, carried_out, policy_after, steps_of
from fixtures.worlds import World, any_world, solutions
from lockfiles import Lock

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
    if step.action != "allow-prerelease" and decision.lock.versions() not in solutions(after, policy.prerelease):
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
