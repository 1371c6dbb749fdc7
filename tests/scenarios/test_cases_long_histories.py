"""What lies behind long histories is decided with few questions, none of them asked twice, and in few rounds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from admission import Admitted, Refused, Undecided
from admission.decision import Decision
from admission.verdict import Deliberation
from fixtures.histories import CLIENTS, Index, chained, clauses, crowded_home, joined, world_of
from fixtures.wheels import Distribution
from fixtures.worlds import World

FEW = 2_000
"""Rounds: a fifth of what a verdict may take."""


class Clock:
    """Says how often a deliberation may go on, and counts how often it asks."""

    def __init__(self, rounds: int) -> None:
        self.asked = 0
        self._rounds = rounds

    def may_go_on(self) -> bool:
        self.asked += 1
        return self.asked <= self._rounds


def demands(decision: Decision) -> list[tuple[str, list[str], bool]]:
    """Return code and demands of each reason, and whether its proof is minimal and was checked."""
    reasons = decision.reasons if isinstance(decision, Refused) else ()
    return [
        (
            reason.code,
            [" → ".join(demand.chain) for demand in reason.demands],
            reason.proof is not None and reason.proof.minimal and reason.proof.verified,
        )
        for reason in reasons
    ]


def service(releases: int) -> World:
    return world_of([*chained(releases), *CLIENTS], ("web", "svc"), ("cap", "cappy"))


@pytest.mark.parametrize("releases", [50, 200, 800])
def test_a_conflict_behind_a_long_history_is_found_with_few_questions_of_which_none_is_asked_twice(
    releases: int,
) -> None:
    """Fault D2: two questions for each doubling, one about either package, and as many before it begins."""
    world = service(releases)
    index = Index(world)
    decision = index.decision(world.question()._replace(budget=FEW))
    assert (
        demands(decision) == [("conflict", ["cappy → clientlib>=2", "svc → svccore>=1.0 → clientlib<1.27"], True)]
        or demands(decision)[0][2]
    )
    assert len(index.needs) <= 6 + 2 * releases.bit_length()
    assert len(index.asked()) == len(set(index.asked()))


def test_rounds_grow_with_the_logarithm_of_a_history() -> None:
    world = service(1_000)
    assert isinstance(Index(world).decision(world.question()._replace(budget=100)), Refused)


@pytest.mark.parametrize(("plugins", "packages", "below"), [(52, 300, "lib150<1"), (20, 120, "lib010<2")])
def test_a_candidate_that_fits_in_none_of_its_releases_is_refused_in_a_home_of_many_plugins(
    plugins: int, packages: int, below: str
) -> None:
    """Fault D1: hundreds of packages have nothing to do with it, and nothing of them is read more than once."""
    home = joined(crowded_home(plugins, packages), world_of(chained(100, below=below), ("new", "svc")))
    index = Index(home)
    decision = index.decision(home.question()._replace(budget=10_000))
    assert isinstance(decision, Refused)
    assert [(len(named), is_proved) for _, named, is_proved in demands(decision)] == [(2, True)]
    assert len(index.needs) <= 35
    assert len(index.asked()) == len(set(index.asked()))


def test_a_home_of_fifty_plugins_is_admitted_with_the_questions_that_its_depth_takes() -> None:
    home = crowded_home(52, 300)
    index = Index(home)
    assert isinstance(index.decision(home.question()), Admitted)
    assert len(index.needs) <= 12


@pytest.mark.parametrize("seed", range(4))
def test_a_formula_with_a_solution_is_solved(seed: int) -> None:
    """Fault G11: two hundred packages."""
    world = clauses(40, 164, seed=seed)
    assert isinstance(Deliberation(world.question()).decide(world.facts), Admitted)


def test_what_is_not_decided_when_the_time_is_over_is_undecided_and_says_where_it_stood() -> None:
    world = clauses(40, 164, seed=1)
    decision = Deliberation(world.question(), Clock(400).may_go_on).decide(world.facts)
    assert isinstance(decision, Undecided)
    assert decision.package in world.facts.pages
    assert decision.message == (
        "neither a solution nor a contradiction was found in the time that there was; "
        f"the last conflicts were about `{decision.package}`"
    )


def test_a_refusal_that_is_clear_when_the_time_is_over_stays_one_with_a_proof_that_may_be_too_long() -> None:
    world = service(20)
    whole = Clock(FEW)
    Deliberation(world.question(), whole.may_go_on).decide(world.facts)
    clocks = (Clock(rounds) for rounds in range(whole.asked))
    ends = [Deliberation(world.question(), clock.may_go_on).decide(world.facts) for clock in clocks]
    proofs = [reason.proof for end in ends if isinstance(end, Refused) for reason in end.reasons]
    assert {type(end) for end in ends} == {Undecided, Refused}
    assert {(proof.minimal, proof.verified) for proof in proofs if proof} == {(False, True), (True, True)}


# -- wide and deep


def calls_of(world: World) -> int:
    """Return how many calls of functions it takes to decide about a world: time that no other program changes."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        Deliberation(world.question()).decide(world.facts)
    finally:
        sys.setprofile(None)
    return count


def wide(size: int) -> World:
    """Return a world in which one package needs many, and each of those the same one."""
    names = [f"part{number}" for number in range(size)]
    parts = [Distribution(name, version, ["base>=1"]) for name in names for version in ("1.0", "2.0")]
    return world_of([Distribution("whole", "1.0", names), *parts, Distribution("base", "1.0")], ("p", "whole"))


def held_back(size: int) -> World:
    """Return a world in which many packages are older than they could be, all for the same reason."""
    names = [f"part{number}" for number in range(size)]
    parts = [Distribution(name, f"{number}.0", [f"base>={number}"]) for name in names for number in (1, 2)]
    bases = [Distribution("base", version) for version in ("1.0", "2.0")]
    return world_of([Distribution("whole", "1.0", names), *parts, *bases], ("p", "whole"), ("core", "base==1.0"))


def deep(size: int) -> World:
    links = [Distribution(f"link{number}", "1.0", [f"link{number + 1}"]) for number in range(size)]
    return world_of([*links, Distribution(f"link{size}", "1.0")], ("p", "link0"))


def many(size: int) -> World:
    """Return a world in which one plugin declares many requirements, one of which the core forbids."""
    names = [f"part{number}" for number in range(size)]
    parts = [Distribution(name, "1.0") for name in (*names, "base")]
    asked = [("p", name) for name in names]
    return world_of([*parts, Distribution("base", "2.0")], *asked, ("p", "base>=2"), ("core", "base==1.0"))


@pytest.mark.parametrize("kind", [wide, held_back, deep, many])
def test_what_is_twice_as_wide_or_deep_takes_hardly_more_than_twice_as_long(kind: Callable[[int], World]) -> None:
    """Faults D8 and G2: what grew with the square took four times as long."""
    assert calls_of(kind(600)) < 2.6 * calls_of(kind(300))
