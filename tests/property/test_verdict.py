"""The verdict agrees with brute force, and every proof is sufficient and minimal, on small random worlds."""

from collections.abc import Callable, Iterable
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from admission import NOTHING_KNOWN, Admitted, Decision, Exclusion, Facts, Need, Policy, Reason, Refused, decide
from admission.complete import decide_completely
from admission.gates import root_requirements
from admission.universe import Universe, roots_of
from fixtures.brute_force import solutions
from fixtures.worlds import (
    World,
    aged_world,
    answered,
    any_world,
    candidate,
    crowded_world,
    knotted_world,
    opened_world,
    page,
    part_of,
    random_world,
    shuffled,
    some_pins,
    spoiled_world,
    wide_world,
    with_needed,
)

_SEEDS = st.integers(0, 2**32)
_POLICIES = st.sampled_from(["default", "direct-opt-in"])
_MANY = 5_000


def _decided(world: World, policy: str = "default", pins: dict[str, str] | None = None) -> Decision:
    return decide(world.question(policy=Policy(prerelease=policy), pins=pins), world.facts)


def _disagreement(world: World, policy: str, pins: dict[str, str]) -> str:
    """Return what is wrong with the verdict; empty if it is the one of brute force, and its lock one of the solutions.

    The complete decision is asked as well: most verdicts do not need it.
    """
    right = list(solutions(world, policy, pins))
    decision = _decided(world, policy, pins)
    if not isinstance(decision, Admitted | Refused) or isinstance(decision, Admitted) != bool(right):
        return f"{type(decision).__name__} where {len(right)} solutions exist"
    if isinstance(decision, Admitted) and decision.lock.versions() not in right:
        return f"the lock {decision.lock.versions()} is none of {right}"
    constraints = world.question(policy=Policy(prerelease=policy)).constraints
    universe = Universe(world.facts, constraints, roots_of(root_requirements(constraints)), pins)
    verdict = decide_completely(universe, universe.roots, 1_000)
    if verdict.outcome != ("found" if right else "impossible"):
        return f"the complete decision says {verdict.outcome} where {len(right)} solutions exist"
    chosen = {name: world.facts.pages[name].versions[position] for name, position in verdict.chosen.items()}
    return f"the complete decision finds {chosen}" if right and chosen not in right else ""


@given(_SEEDS, _POLICIES)
def test_a_set_is_admitted_exactly_if_brute_force_finds_a_solution(seed: int, policy: str) -> None:
    world = any_world(seed)
    assert _disagreement(world, policy, some_pins(world, seed)) == ""


@given(_SEEDS, _POLICIES)
@example(3404, "default")
def test_long_histories_of_which_all_is_known_make_no_difference(seed: int, policy: str) -> None:
    world = aged_world(seed)
    assert _disagreement(world, policy, some_pins(world, seed)) == ""


@given(_SEEDS, _POLICIES)
@settings(max_examples=300)
@example(792, "default")
def test_worlds_with_everything_that_versions_and_requirements_can_say_make_no_difference(
    seed: int, policy: str
) -> None:
    world = wide_world(seed)
    assert _disagreement(world, policy, some_pins(world, seed)) == ""


@given(_SEEDS, _POLICIES)
def test_worlds_with_metadata_extras_gates_and_a_quarantine_in_the_way_make_no_difference(
    seed: int, policy: str
) -> None:
    world = spoiled_world(seed)
    assert _disagreement(world, policy, some_pins(world, seed)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["default", "direct-opt-in"])
@pytest.mark.parametrize("first", [0, _MANY])
def test_the_verdict_agrees_with_brute_force_on_20_000_wide_worlds(first: int, policy: str) -> None:
    seeds = range(first, first + _MANY) if policy == "default" else range(first + 2 * _MANY, first + 3 * _MANY)
    worlds = ((seed, wide_world(seed)) for seed in seeds)
    wrong = {seed: _disagreement(world, policy, some_pins(world, seed)) for seed, world in worlds}
    assert {seed: what for seed, what in wrong.items() if what} == {}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["default", "direct-opt-in"])
@pytest.mark.parametrize("kind", [random_world, knotted_world, opened_world, crowded_world, aged_world, spoiled_world])
def test_the_verdict_agrees_with_brute_force_on_many_worlds(kind: Callable[[int], World], policy: str) -> None:
    worlds = ((seed, kind(seed)) for seed in range(_MANY))
    wrong = {seed: _disagreement(world, policy, some_pins(world, seed)) for seed, world in worlds}
    assert {seed: what for seed, what in wrong.items() if what} == {}


# -- proofs


def _named(reason: Reason) -> list[tuple[str, str]]:
    requirements = dict.fromkeys(demand.requirement for demand in reason.demands)
    return [(r.origin.owner.name if r.origin.owner.kind == "plugin" else "core", r.text) for r in requirements]


def _is_possible(world: World, roots: Iterable[tuple[str, str]], policy: str) -> bool:
    return next(solutions(world._replace(roots=tuple(roots)), policy), None) is not None


def _that_holds(world: World, named: list[tuple[str, str]], others: list[tuple[str, str]], policy: str) -> object:
    """Return some requirements with any others beside them that hold together; `None` if there are none."""
    added = (more for count in range(len(others) + 1) for more in combinations(others, count))
    return next((more for more in added if _is_possible(world, [*named, *more], policy)), None)


def _faults_of_proofs(world: World, policy: str) -> list[str]:
    """Return what is wrong with the proofs of a refusal."""
    decision = _decided(world, policy)
    faults = []
    for reason in decision.reasons if isinstance(decision, Refused) else ():
        named = _named(reason)
        others = [root for root in dict.fromkeys(world.roots) if root not in named]
        if (more := _that_holds(world, named, others, policy)) is not None:
            faults.append(f"{named} hold together with {more}")
        rests = {left: [other for other in named if other != left] for left in named if len(named) > 1}
        unneeded = [left for left, rest in rests.items() if _that_holds(world, rest, others, policy) is None]
        faults += [f"{left} is not needed in {named}" for left in unneeded]
        if reason.proof is None or not (reason.proof.minimal and reason.proof.verified):
            faults.append(f"{named} is not proved: {reason.proof}")
    return faults


@given(_SEEDS, _POLICIES)
def test_what_a_proof_names_is_impossible_whatever_is_added_and_without_any_one_of_it_possible(
    seed: int, policy: str
) -> None:
    assert _faults_of_proofs(any_world(seed), policy) == []


@given(_SEEDS, _POLICIES)
def test_the_same_holds_where_metadata_extras_gates_and_a_quarantine_are_in_the_way(seed: int, policy: str) -> None:
    assert _faults_of_proofs(spoiled_world(seed), policy) == []


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["default", "direct-opt-in"])
@pytest.mark.parametrize("kind", [crowded_world, opened_world, wide_world, spoiled_world])
def test_proofs_are_sufficient_and_minimal_on_many_worlds(kind: Callable[[int], World], policy: str) -> None:
    wrong = {seed: _faults_of_proofs(kind(seed), policy) for seed in range(_MANY)}
    assert {seed: faults for seed, faults in wrong.items() if faults} == {}


@given(_SEEDS, _POLICIES)
def test_no_requirement_is_in_two_proofs(seed: int, policy: str) -> None:
    decision = _decided(any_world(seed), policy)
    reasons = decision.reasons if isinstance(decision, Refused) else ()
    named = [root for reason in reasons for root in dict.fromkeys(demand.requirement for demand in reason.demands)]
    assert len(named) == len(set(named))


# -- what must not matter


@given(_SEEDS, st.integers(0, 9), _POLICIES)
def test_no_order_matters(seed: int, order: int, policy: str) -> None:
    world = any_world(seed)
    pins = some_pins(world, seed)
    question = shuffled(world, order).question(policy=Policy(prerelease=policy), pins=pins)
    turned = question.constraints._replace(members=question.constraints.members[::-1])
    decision = decide(question._replace(constraints=turned), shuffled(world, order).facts)
    assert decision == _decided(world, policy, pins)


@given(_SEEDS, st.integers(0, 9), _POLICIES)
def test_what_nobody_has_read_never_changes_a_verdict(seed: int, part: int, policy: str) -> None:
    world = any_world(seed)
    question = world.question(policy=Policy(prerelease=policy), pins=some_pins(world, seed))
    decision = decide(question._replace(frozen=bool(part % 2)), part_of(world.facts, part))
    whole = decide(question, world.facts)
    assert isinstance(decision, Need | type(whole))


def _verdict(decision: Decision) -> tuple[object, ...]:
    if not isinstance(decision, Admitted):
        return (type(decision),)
    return decision.lock, [(warning.code, warning.package) for warning in decision.warnings]


@given(_SEEDS, _POLICIES, st.one_of(st.none(), st.integers(0, 9)))
@example(792 * 5 + 3, "default", None)
def test_what_was_read_before_makes_no_difference(seed: int, policy: str, part: int | None) -> None:
    world = any_world(seed)
    question = world.question(policy=Policy(prerelease=policy), pins=some_pins(world, seed))
    known = NOTHING_KNOWN if part is None else part_of(world.facts, part)
    first, known = answered(question, world.facts, known)
    assert _verdict(first) == _verdict(decide(question, world.facts))
    assert decide(question, known) == first


def _history(pinning: str, extra: list[str] | None = None) -> Facts:
    """Return twelve releases of `p` of which one pins the only pre-release that `x` has above 0.9."""
    releases = [str(number) for number in range(1, 13)]
    made = {v: candidate("p", v, ["x==1.0rc1"] if v == pinning else extra or []) for v in releases}
    return Facts(
        {"p": page("p", releases), "x": page("x", ["0.9", "1.0rc1"])},
        {"p": made, "x": {version: candidate("x", version, []) for version in ("0.9", "1.0rc1")}},
    )


@pytest.mark.parametrize(("pinning", "is_possible"), [("1", False), ("4", False), ("5", True), ("12", True)])
@pytest.mark.parametrize("read", [[], ["1"], ["4", "1"], [str(number) for number in range(1, 13)]])
def test_only_the_newest_eight_releases_vouch_whichever_were_read_before(
    pinning: str, read: list[str], *, is_possible: bool
) -> None:
    facts = _history(pinning)
    known = Facts(facts.pages, {"p": {version: facts.candidates["p"][version] for version in read}})
    decision, _ = answered(World(facts, (("a", "p"), ("b", "x>0.9"))).question(), facts, known)
    assert isinstance(decision, Admitted) == is_possible
    assert is_possible or _roots_of(decision) == [("prerelease-only", ["x>0.9"])]


@pytest.mark.parametrize("read", [[], ["1"], ["12"]])
def test_a_locked_release_vouches_however_old_it_is(read: list[str]) -> None:
    facts = _history("1")
    known = Facts(facts.pages, {"p": {version: facts.candidates["p"][version] for version in read}})
    question = World(facts, (("a", "p"), ("b", "x>0.9"))).question(pins={"p": "1"})
    decision, _ = answered(question, facts, known)
    assert isinstance(decision, Admitted)
    assert decision.lock.versions() == {"p": "1", "x": "1.0rc1"}


def test_nightly_builds_do_not_push_the_newest_releases_out() -> None:
    facts = _history("12")
    nightly = [f"13.dev{number}" for number in range(20)]
    known = facts.pages["p"]
    pages = {**facts.pages, "p": page("p", [*known.versions, *nightly])}
    made = {**facts.candidates["p"], **{version: candidate("p", version, []) for version in nightly}}
    facts = Facts(pages, {**facts.candidates, "p": made})
    decision, _ = answered(World(facts, (("a", "p"), ("b", "x>0.9"))).question(), facts)
    assert isinstance(decision, Admitted)


def test_the_newest_releases_of_a_whole_set_are_read_in_a_few_questions() -> None:
    names = [f"other{i}" for i in range(40)]
    releases = [f"1.{number}" for number in range(50)]
    facts = Facts(
        {**{name: page(name, releases) for name in names}, "x": page("x", ["0.9", "1.0rc1"])},
        {name: {v: candidate(name, v, []) for v in releases} for name in names}
        | {"x": {"1.0rc1": candidate("x", "1.0rc1", [])}},
    )
    roots = (*(("core", name if i % 2 else f"{name}==1.7") for i, name in enumerate(names)), ("b", "x>0.9"))
    question = World(facts, roots).question()
    asked, known = 0, NOTHING_KNOWN
    while isinstance(decision := decide(question, known), Need):
        asked, known = asked + 1, with_needed(known, decision, facts)
    assert _roots_of(decision) == [("prerelease-only", ["x>0.9"])]
    assert asked <= 4
    assert sum(map(len, known.candidates.values())) <= 20 * 8 + 20 + 1


@given(_SEEDS)
def test_facts_that_the_question_does_not_touch_change_nothing(seed: int) -> None:
    world, other = any_world(seed), any_world(seed + 1)
    strangers = {f"other-{name}": page._replace(name=f"other-{name}") for name, page in other.facts.pages.items()}
    more = Facts({**world.facts.pages, **strangers}, world.facts.candidates)
    assert decide(world.question(), more) == _decided(world)


_OTHERS = (("aaa", "other-p0"), ("zzz", "other-p1>=1"))


@given(_SEEDS, _POLICIES)
def test_plugins_that_have_nothing_to_do_with_a_set_change_neither_verdict_nor_reasons(seed: int, policy: str) -> None:
    world = spoiled_world(seed)
    names = ("other-p0", "other-p1")
    facts = Facts(
        {**world.facts.pages, **{name: page(name, ["1", "2"]) for name in names}},
        {**world.facts.candidates, **{name: {v: candidate(name, v, []) for v in ("1", "2")} for name in names}},
    )
    more = world._replace(facts=facts, roots=(*world.roots, *_OTHERS))
    assert _gist(_decided(more, policy)) == _gist(_decided(world, policy))


def _gist(decision: Decision) -> object:
    """Return the verdict, and of a refusal all but how the quick search ended: it gives up where it has more to do."""
    if not isinstance(decision, Refused):
        return type(decision)
    return [reason._replace(proof=reason.proof and reason.proof._replace(search="")) for reason in decision.reasons]


# -- worlds in which something was wrong once

_ONLY_A_PRERELEASE = page("p", ["1", "2rc1"], {"1": Exclusion("no-wheel", "")})


def _roots_of(decision: Decision) -> list[tuple[str, list[str]]]:
    reasons = decision.reasons if isinstance(decision, Refused) else ()
    return [(reason.code, [demand.requirement.text for demand in reason.demands]) for reason in reasons]


def _two_way_facts(names: list[str]) -> Facts:
    """Return packages that each have a version 1 and a version 2, which need nothing."""
    return Facts(
        {name: page(name, ["1", "2"]) for name in names},
        {name: {version: candidate(name, version, []) for version in ("1", "2")} for name in names},
    )


def test_who_might_pin_a_prerelease_behind_a_page_that_nobody_has_read_is_asked_for() -> None:
    known = Facts(
        {"p": _ONLY_A_PRERELEASE, "q": page("q", ["1", "2"])},
        {
            "p": {"2rc1": candidate("p", "2rc1", [])},
            "q": {"1": candidate("q", "1", []), "2": candidate("q", "2", ["z"])},
        },
    )
    world = World(known, (("a", "p"), ("b", "q")))
    assert _decided(world, pins={"q": "1"}) == Need(pages=("z",))


def test_packages_that_have_nothing_to_do_with_a_circle_do_not_make_its_refusal_long() -> None:
    others = _two_way_facts([f"other{i}" for i in range(40)] + ["u"])
    facts = Facts(
        {**others.pages, "p": _ONLY_A_PRERELEASE, "v": page("v", ["1"]), "q": page("q", ["1", "2"])},
        {
            **others.candidates,
            "p": {"2rc1": candidate("p", "2rc1", ["v"])},
            "v": {"1": candidate("v", "1", ["p==2rc1"])},
            "q": {"1": candidate("q", "1", []), "2": candidate("q", "2", ["v", "u==2"])},
        },
    )
    roots = (("a", "p"), ("b", "q"), ("c", "u==1"), *(("d", f"other{i}") for i in range(40)))
    decision = decide(World(facts, roots).question()._replace(budget=200), facts)
    assert _roots_of(decision) == [("conflict", ["p", "u==1"])]
    assert _openers_of(decision) == ["q"]


def _openers_of(decision: Decision) -> list[str]:
    reasons = decision.reasons if isinstance(decision, Refused) else ()
    return [demand.requirement.text for reason in reasons for demand in reason.opened_by]


def test_what_keeps_out_the_release_that_would_pin_is_in_the_proof() -> None:
    # only `z` 1 pins the pre-release of `p`, and it does not fit `x` 1: without `x` all that is asked for holds
    others = _two_way_facts(["w", "y"])
    facts = Facts(
        {**others.pages, "p": _ONLY_A_PRERELEASE, "x": page("x", ["1", "2"]), "z": page("z", ["1", "2"])},
        {
            **others.candidates,
            "p": {"2rc1": candidate("p", "2rc1", ["w==2"])},
            "x": {"1": candidate("x", "1", ["y==1"]), "2": candidate("x", "2", ["p==2rc1"])},
            "z": {"1": candidate("z", "1", ["y==2", "p==2rc1"]), "2": candidate("z", "2", ["w==1"])},
        },
    )
    decision = _decided(World(facts, (("a", "x==1"), ("b", "z"), ("c", "p"))))
    assert _roots_of(decision) == [("conflict", ["p", "x==1"])]
    assert _openers_of(decision) == ["z"]


def test_two_that_are_needed_for_themselves_vouch_for_each_other_and_one_that_is_not_does_not() -> None:
    facts = Facts(
        {"p": _ONLY_A_PRERELEASE, "q": page("q", ["1"], {"1": Exclusion("yanked-only", "")})},
        {"p": {"2rc1": candidate("p", "2rc1", ["q==1"])}, "q": {"1": candidate("q", "1", ["p==2rc1"])}},
    )
    both = _decided(World(facts, (("a", "p"), ("b", "q"))))
    one = _decided(World(facts, (("a", "p"),)))
    assert isinstance(both, Admitted)
    assert both.lock.versions() == {"p": "2rc1", "q": "1"}
    assert _roots_of(one) == [("prerelease-only", ["p"])]


def test_what_no_release_satisfies_by_itself_is_told_as_that_whatever_else_is_known() -> None:
    facts = Facts(
        {"p": _ONLY_A_PRERELEASE, "q": page("q", ["1"])},
        {"p": {"2rc1": candidate("p", "2rc1", ["q"])}, "q": {"1": candidate("q", "1", ["p==1"])}},
    )
    world = World(facts, (("a", "p"),))
    assert _roots_of(_decided(world)) == [("prerelease-only", ["p"])]


def test_who_accepts_what_does_not_exist_is_not_in_the_way_of_it() -> None:
    facts = _two_way_facts(["p"])
    world = World(facts, (("a", "p<1"), ("b", "p<2"), ("c", "p==1"), ("d", "p>=2")))
    decision = _decided(world)
    assert isinstance(decision, Refused)
    [alone, *_] = [reason for reason in decision.reasons if reason.code == "no-matching-version"]
    assert [demand.requirement.text for demand in alone.also] == ["p==1", "p>=2"]


def test_who_asks_for_the_package_itself_is_told_before_who_leads_there() -> None:
    known = _two_way_facts(["p", "q"])
    needy = {"1": candidate("z", "1", ["p>=2"])}
    facts = Facts({**known.pages, "z": page("z", ["1"])}, {**known.candidates, "z": needy})
    world = World(facts, (("core", "p==2"), ("core", "z==1"), ("new", "p<2"), ("other", "q>=3")))
    assert _roots_of(_decided(world)) == [("core-conflict", ["p==2", "p<2"]), ("no-matching-version", ["q>=3"])]
