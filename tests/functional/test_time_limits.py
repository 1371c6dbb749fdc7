"""The limits on time hold for everything that a verdict and its ways out wait for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.homes import Answer, Home, new_home
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe

_BOARDS = (Distribution("board", "1.0"), Distribution("board", "2.0", ["rare"]), Distribution("rare", "1.0"))
SOON = 8.0
"""Seconds: far less than a page may take, and enough for a busy machine."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    with IndexServer(tmp_path / "files", [*read_recipe(DEFAULT_RECIPE), *_BOARDS]) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: IndexServer) -> Home:
    home = new_home(tmp_path / "home", indexes=[server.url])
    home.install(home.plugin("elm", "board<2"))
    return home


def timed(home: Home, *words: str | Path) -> tuple[Answer, float]:
    started = time.monotonic()
    answer = home.ask(*words)
    return answer, time.monotonic() - started


def test_a_verdict_for_which_a_page_does_not_come_in_time_is_undecided_and_names_the_package(
    home: Home, server: IndexServer
) -> None:
    server.faults = [Fault("/simple/rare/", "stall", times=-1)]
    birch = home.plugin("birch", "rare")
    answer, passed = timed(home, "plugins", "install", birch, "--enable", "--time-limit", "0.5")
    assert (answer.gist, passed < SOON) == ("3 undecided resolution-budget", True)
    reason = answer.value["reasons"][0]
    assert (reason["package"], reason["message"]) == ("rare", "the time was over before the page of `rare` was known")
    assert answer.steps == ["retry birch"]


@pytest.mark.parametrize("limit", ["inf", "1e10", "99999999999999999999", "1e300"])
@pytest.mark.parametrize("option", ["--time-limit", "--steps-budget"])
@pytest.mark.parametrize(
    ("requires", "gist"), [("demo-colors", "0 admitted"), ("rare>=2", "1 refused no-matching-version")]
)
def test_a_limit_that_is_longer_than_a_clock_can_wait_is_none(
    home: Home, option: str, limit: str, requires: str, gist: str
) -> None:
    assert home.ask("plugins", "check", home.plugin("birch", requires), option, limit).gist == gist


def test_metadata_that_does_not_come_in_time_is_named_with_its_version(home: Home, server: IndexServer) -> None:
    server.faults = [Fault("*/rare-1.0*", "stall", times=-1)]
    answer, passed = timed(home, "plugins", "check", home.plugin("birch", "rare"), "--time-limit", "0.5")
    assert (answer.gist, passed < SOON) == ("3 undecided resolution-budget", True)
    assert answer.value["reasons"][0]["message"] == "the time was over before the metadata of `rare` 1.0 was known"


def test_a_page_that_only_a_better_proof_needs_is_not_waited_for_longer_than_the_verdict_may_take(
    home: Home, server: IndexServer
) -> None:
    server.faults = [Fault("/simple/rare/", "stall", times=-1)]
    birch = home.plugin("birch", "board>=2")
    answer, passed = timed(home, "plugins", "check", birch, "--time-limit", "1", "--steps-budget", "0.5")
    assert (answer.gist, passed < SOON) == ("1 refused conflict", True)
    assert answer.value["reasons"][0]["proof"]["minimal"] is False
    left_out = next(step for step in answer.value["steps"] if step["action"] == "leave-out")
    assert (left_out["confirmed"], left_out["when"]) == (False, "it is tried with more time (`--steps-budget`)")


def test_ways_out_that_need_nothing_more_are_confirmed_where_another_core_does_not_come_in_time(
    tmp_path: Path, server: IndexServer
) -> None:
    """Faults D3 and D4."""
    for number in ("1.0", "2.0"):
        server.offer(Distribution("hermes-agent", number, [f"board=={number}"]))
    home = new_home(tmp_path / "hosted", indexes=[server.url])
    home.configure("  core: hermes-agent==1.0\n")
    home.install(home.plugin("elm", "demo-colors"))
    server.faults = [Fault("*hermes_agent-2.0*", "stall", times=-1)]
    birch = home.plugin("birch", "board==2.0")
    answer, passed = timed(home, "plugins", "check", birch, "--steps-budget", "1")
    assert (answer.gist, passed < SOON) == ("1 refused core-conflict", True)
    steps = [(step["action"], step["confirmed"]) for step in answer.value["steps"]]
    assert steps == [("widen", True), ("update-core", False), ("retry", False)]
