"""The verdict agrees with brute force, and every proof is sufficient and minimal, on small random worlds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admission import Admitted, Policy, Reason, Refused, decide
from fixtures.worlds import World, random_world, solutions

_SEEDS = st.integers(0, 2**32)
_POLICIES = st.sampled_from(["default", "direct-opt-in"])


def _agrees(seed: int, policy: str) -> None:
    world = random_world(seed)
    decision = decide(world.question(policy=Policy(prerelease=policy)), world.facts)
    assert isinstance(decision, Admitted | Refused)
    assert isinstance(decision, Admitted) == (next(solutions(world, policy), None) is not None)


@given(_SEEDS, _POLICIES)
def test_a_set_is_admitted_exactly_if_brute_force_finds_a_solution(seed: int, policy: str) -> None:
    _agrees(seed, policy)


@pytest.mark.slow
@settings(max_examples=20_000)
@given(_SEEDS, _POLICIES)
def test_the_verdict_agrees_with_brute_force_on_many_worlds(seed: int, policy: str) -> None:
    _agrees(seed, policy)


@given(_SEEDS)
def test_what_is_admitted_is_one_of_the_solutions(seed: int) -> None:
    world = random_world(seed)
    decision = decide(world.question(), world.facts)
    if isinstance(decision, Admitted):
        assert decision.lock.versions() in list(solutions(world))


def _named(reason: Reason) -> list[tuple[str, str]]:
    requirements = [demand.requirement for demand in reason.demands]
    return [(r.origin.owner.name if r.origin.owner.kind == "plugin" else "core", r.text) for r in requirements]


def _possible(world: World, roots: list[tuple[str, str]]) -> bool:
    return next(solutions(world._replace(roots=tuple(roots))), None) is not None


@given(_SEEDS)
def test_what_a_proof_names_is_impossible_and_without_any_one_of_it_possible(seed: int) -> None:
    world = random_world(seed)
    decision = decide(world.question(), world.facts)
    for reason in decision.reasons if isinstance(decision, Refused) else ():
        named = _named(reason)
        assert not _possible(world, named)
        assert [left for left in named if not _possible(world, [n for n in named if n != left])] == []
        assert reason.proof is not None
        assert (reason.proof.minimal, reason.proof.verified) == (True, True)


@given(_SEEDS)
def test_the_order_of_requirements_does_not_matter(seed: int) -> None:
    world = random_world(seed)
    turned = world._replace(roots=tuple(reversed(world.roots)))
    assert decide(turned.question(), world.facts) == decide(world.question(), world.facts)
