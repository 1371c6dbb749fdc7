"""A proof is made under what the whole set opens: pre-releases that others name, yanked versions that others pin."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from admission import Exclusion, Facts, Reason, Refused, Step, decide
from fixtures.ways_out import steps_of
from fixtures.worlds import World, candidate, page

Releases = dict[str, list[str]]
TWO: Releases = {"1": [], "2": []}
EARLY: Releases = {"1.0": [], "1.2": [], "2.0rc1": ["zz>=2"]}
"""Of what is above 1.5 there is only a pre-release, and that needs what another plugin caps."""


class Told(NamedTuple):
    """What a refusal of one reason says."""

    gist: str
    proof: list[str]
    opened_by: list[str]
    steps: list[str]


def _world(packages: dict[str, Releases], roots: dict[str, str], yanked: dict[str, str] | None = None) -> World:
    pages, candidates = {}, {}
    for name, releases in packages.items():
        bad = {version: Exclusion("yanked-only", "") for at, version in (yanked or {}).items() if at == name}
        pages[name] = page(name, list(releases), bad)
        candidates[name] = {version: candidate(name, version, requires) for version, requires in releases.items()}
    return World(Facts(pages, candidates), tuple(roots.items()))


def _told(world: World) -> Told:
    question = world.question()._replace(candidate="newcomer")
    decision = decide(question, world.facts)
    assert isinstance(decision, Refused)
    [reason] = decision.reasons
    assert reason.proof is not None
    assert (reason.proof.minimal, reason.proof.verified) == (True, True)
    steps = [_said(step) for step in steps_of(question, world.facts) if step.confirmed]
    return Told(f"{reason.code} {reason.package}", _lines(reason), _opening(reason), steps)


def _said(step: Step) -> str:
    return f"{step.action} {step.subject} {step.after}".strip()


def _lines(reason: Reason) -> list[str]:
    return [f"{d.requirement.origin.owner.name}: {' → '.join(d.chain)}" for d in reason.demands]


def _opening(reason: Reason) -> list[str]:
    return [f"{d.requirement.origin.owner.name}: {' → '.join(d.chain)}" for d in reason.opened_by]


def test_an_opt_in_of_another_plugin_counts_and_what_it_leads_to_is_named() -> None:
    roots = {"v": "xx>=1.0rc1", "other": "xx>1.5", "newcomer": "zz<2"}
    assert _told(_world({"xx": EARLY, "zz": TWO}, roots)) == Told(
        "conflict zz",
        ["other: xx>1.5 → zz>=2", "newcomer: zz<2"],
        ["v: xx>=1.0rc1"],
        ["widen newcomer zz<3", "widen other xx>=1.2", "leave-out other"],
    )


def test_what_another_package_asks_for_may_be_opened_by_a_plugin_too() -> None:
    roots = {"v": "xx>=1.0rc1", "other": "middle", "newcomer": "zz<2"}
    assert _told(_world({"xx": EARLY, "zz": TWO, "middle": {"1": ["xx>1.5"]}}, roots)) == Told(
        "conflict zz",
        ["other: middle → xx>1.5 → zz>=2", "newcomer: zz<2"],
        ["v: xx>=1.0rc1"],
        ["widen newcomer zz<3", "leave-out other"],
    )


def test_a_yanked_version_that_another_plugin_pins_is_open_and_the_pin_alone_explains_it() -> None:
    roots = {"v": "xx==2.0", "other": "xx>1.5", "newcomer": "zz<2"}
    releases: Releases = {"1.0": [], "2.0": ["zz>=2"]}
    assert _told(_world({"xx": releases, "zz": TWO}, roots, {"xx": "2.0"})) == Told(
        "conflict zz", ["v: xx==2.0 → zz>=2", "newcomer: zz<2"], [], ["widen newcomer zz<3"]
    )


@pytest.mark.parametrize(("version", "yanked"), [("2.0", {"xx": "2.0"}), ("2.0rc1", {})])
def test_a_release_that_another_plugin_needs_opens_what_it_pins(version: str, yanked: dict[str, str]) -> None:
    roots = {"v": "pinning", "other": "xx>1.5", "newcomer": "zz<2"}
    packages = {"xx": {"1.0": [], version: ["zz>=2"]}, "zz": TWO, "pinning": {"1": [f"xx=={version}"], "2": []}}
    assert _told(_world(packages, roots, yanked)) == Told(
        "conflict zz",
        ["other: xx>1.5 → zz>=2", "newcomer: zz<2"],
        [f"v: pinning → xx=={version}"],
        ["widen newcomer zz<3", "widen other xx>=1.0", "leave-out other"],
    )


def test_where_the_release_that_pins_does_not_fit_it_is_named_with_what_keeps_it_out() -> None:
    roots = {"v": "pinning", "other": "xx>1.5", "newcomer": "zz<2"}
    pinning: Releases = {"1": [], "2": ["xx==2.0rc1", "zz>=2"]}
    told = _told(_world({"xx": {"1.0": [], "2.0rc1": []}, "zz": TWO, "pinning": pinning}, roots))
    assert told == Told(
        "conflict zz",
        ["other: xx>1.5", "newcomer: zz<2"],
        ["v: pinning → zz>=2"],
        ["widen newcomer zz<3", "widen other xx>=1.0", "leave-out other"],
    )


def test_a_requirement_that_nothing_opens_is_told_by_itself() -> None:
    roots = {"v": "xx>=1.0", "other": "zz", "newcomer": "xx>1.5"}
    told = _told(_world({"xx": EARLY, "zz": TWO}, roots))
    assert told[:3] == ("prerelease-only xx", ["newcomer: xx>1.5"], [])
    assert told.steps == ["widen newcomer xx>=1.2", "allow-prerelease xx"]


def test_what_is_open_and_leads_to_nothing_is_not_told_as_closed() -> None:
    roots = {"v": "xx>=1.0rc1", "newcomer": "xx>1.5"}
    told = _told(_world({"xx": {"1.0": [], "2.0rc1": ["zz>=9"]}, "zz": TWO}, roots))
    assert told[:3] == ("no-matching-version zz", ["newcomer: xx>1.5 → zz>=9"], ["v: xx>=1.0rc1"])
