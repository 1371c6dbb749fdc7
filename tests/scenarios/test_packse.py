"""Played in memory, packse's scenarios come out as packse says, but for those that a page explains; and so do ours."""

import re
from pathlib import Path

import pytest

from fixtures.packse import OWN, SHARED, Scenario, given_to, single_target_scenarios

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "packse.md").read_text(encoding="utf-8")
POLICIES = ["default", "direct-opt-in"]
_ROW = re.compile(r"^\| `([a-z-]+)` \| ([^|]+) \|", re.MULTILINE)
theirs = pytest.mark.skipif(not SHARED.is_dir(), reason="packse's scenarios do not lie beside this checkout")


def explained(policy: str) -> list[str]:
    """Return the scenarios of the page's table that come out differently under a policy."""
    return sorted(name for name, policies in _ROW.findall(PAGE) if f"`{policy}`" in policies)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("scenario", single_target_scenarios(OWN), ids=lambda scenario: scenario.name)
def test_a_scenario_of_ours_comes_out_as_it_says(scenario: Scenario, policy: str) -> None:
    expected, given = scenario.expected(policy), given_to(scenario, policy)
    assert given == expected


@theirs
@pytest.mark.parametrize("policy", POLICIES)
def test_those_of_packse_that_come_out_differently_are_those_that_the_page_explains(policy: str) -> None:
    scenarios = single_target_scenarios(SHARED)
    assert sorted(s.name for s in scenarios if not s.agrees(policy)) == explained(policy)


@theirs
@pytest.mark.parametrize(("policy", "agreeing"), [("default", 103), ("direct-opt-in", 105)])
def test_so_many_of_packse_s_scenarios_come_out_the_same(policy: str, agreeing: int) -> None:
    scenarios = single_target_scenarios(SHARED)
    assert (len(scenarios), sum(s.agrees(policy) for s in scenarios)) == (106, agreeing)


@theirs
def test_an_upper_bound_on_python_is_kept_on_purpose() -> None:
    [scenario] = [s for s in single_target_scenarios(SHARED) if s.name == "python-less-than-current"]
    assert given_to(scenario, "default").codes == ("python-version",)
