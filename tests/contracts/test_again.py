"""Who asks for the same again, since it was not told that it is done, gets the same and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, new_home, write_plugin


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Home:
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-colors", files={"data/one.txt": "one"}))
    return home


def test_what_is_installed_and_runs_is_installed_again_without_a_change(home: Home) -> None:
    (home.path / "plugins" / "ash" / "own.txt").write_text("what the plugin wrote")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answers = [
        home.install(home.work / "ash"),
        home.ask("plugins", "install", home.work / "ash"),
        home.install(home.work / "ash", "--dry-run"),
    ]
    assert [answer.gist for answer in answers] == ["0 unchanged"] * 3
    assert answers[0].value["summary"] == "`ash` is already installed"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_request_that_is_made_twice_at_the_same_time_is_carried_out_once(home: Home) -> None:
    birch = home.plugin("birch", "demo-socket")
    running = [home.start("plugins", "install", birch, "--enable", "--json") for _ in range(2)]
    outcomes = sorted(json.loads(process.communicate(timeout=60)[0])["outcome"] for process in running)
    assert (outcomes, [process.returncode for process in running]) == (["admitted", "unchanged"], [0, 0])
    assert sorted(path.name for path in home.state.glob("generations/*")) == ["1", "1.json", "2", "2.json"]


def test_what_is_installed_and_switched_off_is_switched_on_by_installing_it_again_if_that_is_asked_for(
    home: Home,
) -> None:
    home.ask("plugins", "disable", "ash")
    left_off = home.ask("plugins", "install", home.work / "ash")
    assert (left_off.gist, left_off.warnings, home.admitted) == ("0 unchanged", ["not-enabled"], [])
    assert (home.install(home.work / "ash").gist, home.admitted) == ("0 admitted", ["ash in default"])


def test_other_files_than_those_that_are_installed_are_not_the_same(home: Home) -> None:
    installed = home.path / "plugins" / "ash" / "data" / "one.txt"
    installed.write_text("edited")
    edited = home.install(home.work / "ash").gist
    installed.unlink()
    deleted = home.install(home.work / "ash").gist
    installed.write_text("one")
    restored = home.install(home.work / "ash").gist
    write_plugin(home.work / "ash", "demo-colors", files={"data/two.txt": "two"})
    assert (edited, deleted, restored, home.install(home.work / "ash").gist) == (
        "1 refused name-taken",
        "1 refused name-taken",
        "0 unchanged",
        "1 refused name-taken",
    )


def test_by_force_the_same_files_are_put_there_again(home: Home) -> None:
    assert home.install(home.work / "ash", "--force").gist == "0 admitted"


def test_what_was_removed_is_removed_again_without_a_change(home: Home) -> None:
    home.ask("plugins", "install", home.plugin("birch", "demo-socket"))
    removed = [home.ask("plugins", "remove", name).gist for name in ("ash", "birch")]
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    again = [home.ask("plugins", "remove", name) for name in ("ash", "birch")]
    assert (removed, [answer.gist for answer in again]) == (["0 removed"] * 2, ["0 unchanged"] * 2)
    assert again[0].value["summary"] == "`ash` is already removed"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_what_was_never_here_cannot_be_removed(home: Home) -> None:
    refused = home.install(home.plugin("birch", "PyYAML<6"))
    assert refused.gist == "1 refused core-conflict"
    answers = [home.ask("plugins", "remove", name).gist for name in ("birch", "asch")]
    assert answers == ["2 failed unknown-plugin"] * 2


def test_records_receipts_and_notes_that_are_damaged_stop_nobody(home: Home) -> None:
    (home.state / "generations" / "7.json").write_text('{"members": [{}]}')
    for receipt in home.state.glob("receipts/*-install-*.json"):
        receipt.write_text('{"outcome": "admitted"}')
    note = home.state / "cache" / "unpacked.json"
    note.write_text(json.dumps(json.loads(note.read_text()) | {"unpacked": []}))
    assert home.ask("plugins", "remove", "nobody").gist == "2 failed unknown-plugin"
    assert home.install(home.plugin("birch", "demo-socket")).gist == "0 admitted"
