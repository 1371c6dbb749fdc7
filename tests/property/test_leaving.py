"""When a plugin goes, what is left of the lock is what the others need, and every demand of theirs still holds."""

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from admission import Admitted, Policy, decide
from admission.gates import root_requirements
from fixtures.brute_force import demands_in, solutions
from fixtures.worlds import World, any_world
from lockfiles.subset import subset

_SEEDS = st.integers(0, 2**32)
_POLICIES = st.sampled_from(["default", "direct-opt-in"])


_LEAVERS = st.sampled_from(["a", "b", "c", "nobody"])


def _left(seed: int, policy: str, leaver: str) -> tuple[World, dict[str, str]]:
    """Return a world without one of its plugins, and what a lock of all leaves to it; nothing without a lock."""
    world = any_world(seed)
    decision = decide(world.question(policy=Policy(prerelease=policy)), world.facts)
    if not isinstance(decision, Admitted):
        return world._replace(roots=()), {}
    rest = world._replace(roots=tuple(root for root in world.roots if root[0] != leaver))
    roots = root_requirements(rest.question().constraints)
    return rest, subset(decision.lock, [(root.name, root.extras) for root in roots], {}).versions()


def _needs_a_pin(world: World, chosen: dict[str, str]) -> bool:
    """Return whether something is chosen that may only be taken because somebody asked for just that."""
    pages = world.facts.pages
    return any(
        Version(version).is_prerelease or pages[name].versions.index(version) in pages[name].excluded
        for name, version in chosen.items()
    )


@given(_SEEDS, _POLICIES, _LEAVERS)
def test_what_is_left_satisfies_everybody_who_stays_and_holds_nothing_else(seed: int, policy: str, leaver: str) -> None:
    rest, left = _left(seed, policy, leaver)
    demands = demands_in(rest, left)
    assert {edge.name for edge in demands} == left.keys()
    unmet = [e for e in demands if not SpecifierSet(e.specifier).contains(left[e.name], prereleases=True)]
    assert unmet == []


@given(_SEEDS, _POLICIES, _LEAVERS)
def test_what_is_left_is_a_solution_but_for_what_only_the_leaver_might_have_asked_for(
    seed: int, policy: str, leaver: str
) -> None:
    rest, left = _left(seed, policy, leaver)
    assert left in solutions(rest, policy) or _needs_a_pin(rest, left)


@given(_SEEDS, _POLICIES)
def test_where_nobody_leaves_it_is_the_whole_lock(seed: int, policy: str) -> None:
    world, left = _left(seed, policy, "nobody")
    decision = decide(world.question(policy=Policy(prerelease=policy)), world.facts)
    assert isinstance(decision, Admitted)
    assert decision.lock.versions() == left
