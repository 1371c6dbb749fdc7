"""A solution that the way down finds without a search follows the rule of preference: kept first, then the newest."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from admission import Admitted, Question, decide
from admission.assignment import reachable
from admission.frontier import frontier
from admission.gates import root_requirements
from admission.universe import Universe, roots_of
from fixtures.brute_force import demands_in, is_exact, is_prerelease, names_a_prerelease, satisfies
from fixtures.worlds import World, any_world, shuffled, some_pins

_SEEDS = st.integers(0, 2**32)


def _found_without_search(question: Question, world: World) -> dict[str, str]:
    """Return the solution that the way down leads to, as names and versions; empty if a search has to begin."""
    universe = Universe(
        world.facts, question.constraints, roots_of(root_requirements(question.constraints)), question.pins
    )
    likely = frontier(universe).likely
    reached = reachable(universe, likely) if likely else None
    return {name: world.facts.pages[name].versions[likely[name]] for name in reached or ()}


def _locked(question: Question, world: World) -> dict[str, str]:
    """Return what is admitted, as names and versions; nothing if nothing is."""
    decision = decide(question, world.facts)
    return decision.lock.versions() if isinstance(decision, Admitted) else {}


def _with_preferences(question: Question, preferences: Mapping[str, str]) -> Question:
    constraints = question.constraints
    return question._replace(constraints=constraints._replace(core=constraints.core._replace(preferences=preferences)))


def _first(world: World, name: str, chosen: dict[str, str], question: Question) -> str:
    """Return the version that the rule of preference takes of those that everybody who asks for it accepts."""
    known = world.facts.pages[name]
    asked = [edge for edge in demands_in(world, chosen) if edge.name == name]
    accepted = [v for v in known.versions if all(satisfies(edge.specifier, v) for edge in asked)]
    pinned = any(is_exact(edge.specifier) for edge in asked)
    opted_in = any(
        names_a_prerelease(requirement.specifier)
        for requirement in root_requirements(question.constraints)
        if requirement.name == name
    ) or all(map(is_prerelease, known.versions))
    excluded = {known.versions[position]: exclusion.code for position, exclusion in known.excluded.items()}
    if excluded.get(question.pins.get(name, "")) == "yanked-only":
        del excluded[question.pins[name]]  # what is locked stays admissible when its authors yank it
    free = [v for v in accepted if v not in excluded and (opted_in or not is_prerelease(v))]
    usable = [v for v in accepted if excluded.get(v, "yanked-only") == "yanked-only" and (v in free or pinned)]
    preferred = question.constraints.core.preferences.get(name)

    def rank(version: str) -> tuple[bool, bool, bool, Version]:
        is_preferred = preferred is not None and satisfies(preferred, version) and version in free
        return question.pins.get(name) == version, is_preferred, version in free, Version(version)

    return max(usable, key=rank)


@given(_SEEDS)
def test_each_package_is_at_the_first_version_that_everybody_accepts(seed: int) -> None:
    world = any_world(seed)
    preferences = {name: f"=={version}" for name, version in some_pins(world, seed + 1).items()}
    question = _with_preferences(world.question(pins=some_pins(world, seed)), preferences)
    chosen = _found_without_search(question, world)
    assert {name: _first(world, name, chosen, question) for name in chosen} == chosen


@given(_SEEDS)
def test_what_it_leads_to_is_the_verdict(seed: int) -> None:
    world = any_world(seed)
    question = world.question(pins=some_pins(world, seed))
    chosen = _found_without_search(question, world)
    assert not chosen or _locked(question, world) == chosen


@given(_SEEDS, st.integers(0, 9))
def test_it_leads_to_the_same_in_every_order(seed: int, order: int) -> None:
    world = any_world(seed)
    other = shuffled(world, order)
    pins = some_pins(world, seed)
    expected = _found_without_search(world.question(pins=pins), world)
    assert _found_without_search(other.question(pins=pins), other) == expected


@given(_SEEDS)
def test_a_lock_that_holds_is_kept_to_the_last_version(seed: int) -> None:
    world = any_world(seed)
    locked = _locked(world.question(), world)
    assert _locked(world.question(pins=locked), world) == locked
