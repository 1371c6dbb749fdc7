"""What others open, and what was read before, through the verbs and a real index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.homes import new_home
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe


def test_a_newcomer_is_refused_for_what_it_caps_and_not_for_what_others_open(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    early = [Distribution("xx", "1.0"), Distribution("xx", "2.0rc1", ["zz>=2"])]
    capped = [Distribution("zz", "1"), Distribution("zz", "2")]
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), *early, *capped])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("opening", "xx>=1.0rc1"))
    assert home.install(home.plugin("other", "xx>1.5")).gist == "0 admitted"
    refused = home.install(home.plugin("newcomer", "zz<2"))
    assert (refused.gist, refused.demands) == (
        "1 refused conflict",
        ["plugin other: xx>1.5 at plugin.yaml:4", "plugin newcomer: zz<2 at plugin.yaml:4"],
    )
    [reason] = refused.value["reasons"]
    assert [demand["owner"]["name"] for demand in reason["opened_by"]] == ["opening"]
    assert [step for step in refused.steps if "opening" in step] == []
    said = home.say("plugins", "check", home.plugin("newcomer", "zz<2"), COLUMNS="200").stdout
    assert "what opens a pre-release or a yanked version that this is about:" in said


@pytest.fixture
def history(tmp_path: Path) -> Iterator[IndexServer]:
    """Serve twelve releases of `pp`, of which the oldest and no other pins the only pre-release of `xx` above 0.9."""
    releases = [Distribution("pp", str(number), ["xx==1.0rc1"] if number == 1 else []) for number in range(1, 13)]
    early = [Distribution("xx", "0.9"), Distribution("xx", "1.0rc1")]
    with IndexServer(tmp_path / "files", [*read_recipe(DEFAULT_RECIPE), *releases, *early]) as server:
        yield server


def test_the_verdict_is_the_same_whatever_the_cache_holds(tmp_path: Path, history: IndexServer) -> None:
    home = new_home(tmp_path / "home", indexes=[history.url])
    asking, reading = home.plugin("asking", "pp", "xx>0.9"), home.plugin("reading", "pp==1", "xx==1.0rc1")
    cold = home.ask("plugins", "check", asking)
    assert home.ask("plugins", "check", reading).gist == "0 admitted"
    warm = home.ask("plugins", "check", asking)
    assert (cold.gist, warm.gist) == ("1 refused prerelease-only", "1 refused prerelease-only")
    assert cold.value["reasons"] == warm.value["reasons"]


def test_the_release_that_is_locked_vouches(tmp_path: Path, history: IndexServer) -> None:
    home = new_home(tmp_path / "home", indexes=[history.url])
    assert home.install(home.plugin("old", "pp<2", "xx==1.0rc1")).gist == "0 admitted"
    assert home.ask("plugins", "check", home.plugin("asking", "pp", "xx>0.9")).gist == "0 admitted"
