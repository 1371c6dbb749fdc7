"""Why an older release was chosen, or why one that matches is out, is said with the package and the bound."""

from __future__ import annotations

from pathlib import Path

from admission import Admitted, Facts, Refused, decide
from admission.gates import root_requirements
from admission.obstacles import ObstacleSearch, holders_of
from admission.universe import Universe, roots_of
from fixtures.homes import new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe
from fixtures.worlds import World, candidate, page

Releases = dict[str, list[str]]
NUMPY: Releases = {"1.26": [], "2.0": [], "2.1": []}


def _facts(**packages: Releases) -> Facts:
    return Facts(
        {name: page(name, list(releases)) for name, releases in packages.items()},
        {name: {v: candidate(name, v, requires) for v, requires in each.items()} for name, each in packages.items()},
    )


def _warnings(facts: Facts, *roots: tuple[str, str]) -> list[str]:
    decision = decide(World(facts, roots).question(), facts)
    assert isinstance(decision, Admitted)
    return [warning.message for warning in decision.warnings if warning.code == "older-for-dependency"]


def test_a_bound_that_the_core_excludes_is_named_with_the_core_s() -> None:
    facts = _facts(p={"1.0": [], "2.0": ["numpy>=2"]}, numpy=NUMPY)
    assert _warnings(facts, ("core", "numpy<2"), ("a", "p")) == [
        "p 1.0 is chosen although 2.0 exists: 2.0 requires `numpy>=2`, and the core requires `numpy<2`"
    ]


def test_a_bound_that_another_release_excludes_is_named_with_that_release_s() -> None:
    facts = _facts(p={"1.0": [], "2.0": ["numpy>=2"]}, numpy=NUMPY, held={"1": ["numpy<2"]})
    assert _warnings(facts, ("a", "held"), ("a", "p")) == [
        "p 1.0 is chosen although 2.0 exists: 2.0 requires `numpy>=2`, and `held` 1 requires `numpy<2`"
    ]


def test_a_chain_to_the_bound_is_followed() -> None:
    facts = _facts(p={"1.0": [], "2.0": ["q"]}, q={"3": ["numpy>=2"]}, numpy=NUMPY)
    assert _warnings(facts, ("core", "numpy<2"), ("a", "p")) == [
        (
            "p 1.0 is chosen although 2.0 exists: 2.0 requires `q`, and `q` 3 requires `numpy>=2`, "
            "and the core requires `numpy<2`"
        )
    ]


def test_a_pre_release_that_it_needs_is_named_with_its_option() -> None:
    facts = _facts(p={"0.7.5": [], "0.7.6": ["zz>1.5"]}, zz={"1": [], "2rc1": []})
    assert _warnings(facts, ("a", "p")) == [
        (
            "p 0.7.5 is chosen although 0.7.6 exists: 0.7.6 requires `zz>1.5`, "
            "and only pre-releases of `zz` satisfy `zz>1.5`; `--allow-prerelease zz` lets them in"
        )
    ]


def test_metadata_that_cannot_be_read_is_quoted(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    text = "Metadata-Version: 2.1\nName: pp\nVersion: 1.1\nRequires-Dist: numpy ~~ 2\n"
    broken = Distribution("pp", "1.1", metadata=text)
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), Distribution("pp", "1.0"), broken])
    home = new_home(tmp_path / "home", wheels=wheels)
    answer = home.ask("plugins", "check", home.plugin("ash", "pp"))
    [said] = [warning["message"] for warning in answer.value["warnings"] if warning["code"] == "older-for-dependency"]
    assert said == (
        "pp 1.0 is chosen although 1.1 exists: 1.1 cannot be used, because its requirement `numpy ~~ 2` cannot be read"
    )


def test_what_matches_and_is_out_says_what_it_meets() -> None:
    facts = _facts(p={"0.9": [], "1.0": ["q==1"], "1.1": ["q==2"]}, q={"1": ["p<1"], "2": ["p<1"]})
    world = World(facts, (("a", "p>=1"),))
    decision = decide(world.question(), facts)
    assert isinstance(decision, Refused)
    assert [available for reason in decision.reasons for available in reason.available] == [
        ("2", "matches, but requires `p<1`, and `a` requires `p>=1`"),
        ("1", "excluded by `q==2`"),
    ]


def test_releases_with_bounds_of_their_own_have_one_thing_in_their_way() -> None:
    facts = _facts(p={"1.0": ["q==1"], "1.1": ["q==2"], "1.2": ["r"]}, q={"1": [], "2": [], "3": []}, r={"1": ["q<2"]})
    question = World(facts, (("a", "q>=3"),)).question()
    universe = Universe(facts, question.constraints, roots_of(root_requirements(question.constraints)), {})
    search = ObstacleSearch(universe, holders_of(universe, universe.roots))
    first, second, third = (search.obstacle("p", position) for position in range(3))
    assert first is not None
    assert second is not None
    assert first.text == "requires `q==1`, and `a` requires `q>=3`"
    assert first.series == second.series == "requires other versions of `q`, and `a` requires `q>=3`"
    assert third is not None
    assert third.series == (
        "requires other versions of `r`, and its newest requires other versions of `q`, and `a` requires `q>=3`"
    )


def test_a_release_that_an_extra_excludes_is_not_missed() -> None:
    facts = _facts(p={"1.0": [], "2.0": []}, host={"1": []})
    caps = candidate("host", "1", [], {"old": ["p<2"]})
    facts = facts._replace(candidates={**facts.candidates, "host": {"1": caps}})
    assert _warnings(facts, ("a", "host[old]"), ("b", "p")) == []
