"""Switching off and removing: always possible, without resolving or a network, in whatever state things are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, UNTOUCHED_BY_REFUSALS, Home, new_home, snapshot, write_plugin
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, read_recipe

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


def test_a_plugin_that_is_switched_off_leaves_the_environment_as_it_is_under_a_new_number(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    environment, before = home.generation, snapshot(home.generation)
    answer = home.ask("plugins", "disable", "admitted-simple")
    pointer = home.pointer
    assert pointer is not None
    assert (answer.gist, answer.changes, home.generation, pointer["generation"]) == (
        "0 disabled",
        [],
        environment,
        2,
    )
    assert (snapshot(environment), home.admitted) == (before, [])
    transition = answer.value["generation"]
    assert (transition["before"], transition["after"], transition["restart_required"]) == (1, 2, False)
    assert (home.path / "plugins" / "admitted-simple" / "plugin.yaml").is_file()


def test_the_config_says_off_and_keeps_its_comments(home: Home) -> None:
    home.configure("plugins:\n  enabled:  # mine\n    - other  # first\n")
    home.install(PLUGINS / "admitted-simple")
    home.ask("plugins", "disable", "ADMITTED_simple")
    assert home.config.read_text().endswith(
        "plugins:\n  enabled:  # mine\n    - other  # first\n  disabled:\n    - admitted-simple\n"
    )


def test_the_next_build_drops_what_only_the_leaver_needed(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("plugins", "disable", "ash")
    answer = home.install(home.plugin("birch", "demo-socket"))
    assert answer.changes == ["+demo-socket 3.0", "-demo-colors 2.0"]
    assert home.pins == {"demo-socket": "3.0"} | CORE


def test_what_was_switched_off_is_switched_on_again_in_the_same_environment(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    environment = home.generation
    home.ask("plugins", "disable", "ash")
    answer = home.ask("plugins", "enable", "ash")
    assert (answer.gist, home.generation, home.admitted) == ("0 admitted", environment, ["ash in default"])


def test_switching_off_what_is_off_changes_nothing(home: Home) -> None:
    home.ask("plugins", "install", PLUGINS / "admitted-simple", "--no-enable")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert home.ask("plugins", "disable", "admitted-simple").gist == "0 unchanged"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_selected_provider_that_is_switched_off_is_selected_no_longer(home: Home) -> None:
    home.install(home.plugin("granite", "demo-transport", kind="exclusive"))
    home.configure("memory:\n  provider: granite  # the old one\n")
    answer = home.ask("plugins", "disable", "granite")
    assert (answer.gist, answer.warnings) == ("0 disabled", ["selection-reset"])
    assert home.config.read_text().endswith('memory:\n  provider: ""  # the old one\n')
    assert home.ask("plugins", "check").gist == "0 ready"


def test_a_plugin_whose_files_are_broken_or_gone_leaves_all_the_same(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-socket"))
    (home.path / "plugins" / "ash" / "plugin.yaml").write_bytes(b"\xff\xfe\x00 not text")
    shutil.rmtree(home.path / "plugins" / "birch")
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
    assert home.ask("plugins", "disable", "birch").gist == "0 disabled"
    assert (home.admitted, home.ask("plugins", "remove", "ash").gist) == ([], "0 removed")
    assert home.ask("plugins", "remove", "birch").gist == "0 removed"
    assert home.config.read_text().endswith("plugins:\n  enabled: []\n  disabled: []\n")


def test_a_removal_takes_folder_mentions_and_what_only_it_needed(home: Home) -> None:
    home.install(home.plugin("ash", "demo-socket<3"))
    home.install(home.plugin("birch-bark", "demo-transport", kind="exclusive"))
    home.configure("  disabled: [Birch_Bark]\n  entries:\n    birch-bark: {a: 1}\n    ash: {b: 2}\n")
    home.configure("memory:\n  provider: birch_bark\n")
    answer = home.ask("plugins", "remove", "birch-bark")
    assert (answer.gist, answer.changes) == ("0 removed", ["-demo-transport 1.3.0"])
    assert (home.pins, home.admitted) == ({"demo-socket": "2.4"} | CORE, ["ash in default"])
    assert [path.name for path in (home.path / "plugins").iterdir()] == ["ash"]
    assert home.config.read_text().endswith(
        'plugins:\n  enabled:\n    - ash\n  disabled: []\n  entries:\n    ash: {b: 2}\nmemory:\n  provider: ""\n'
    )
    assert answer.value["generation"]["restart_reasons"] == ["demo-transport 1.3.0 is gone"]


def test_what_a_plugin_wrote_into_its_folder_survives_its_removal_and_a_new_installation(home: Home) -> None:
    source = home.plugin("ash", "demo-colors", files={"data/default.json": "{}"})
    home.install(source)
    folder = home.path / "plugins" / "ash"
    (folder / "data" / "mine.json").write_text('{"years": 12}')
    os.mkfifo(folder / "talk")
    (folder / "outside").symlink_to(home.config)
    removed = home.ask("plugins", "remove", "ash")
    assert (removed.gist, removed.warnings) == ("0 removed", ["files-kept"])
    assert sorted(snapshot(folder)) == ["data", "data/mine.json", "outside"]
    assert home.ask("plugins", "list").value == {"plugins": []}
    assert home.install(source).gist == "0 admitted"
    assert (folder / "data" / "mine.json").read_text() == '{"years": 12}'
    assert (folder / "data" / "default.json").read_text() == "{}"


def test_a_copy_that_somebody_else_put_there_is_kept_when_it_is_removed(home: Home) -> None:
    folder = write_plugin(home.path / "plugins" / "ash", "demo-colors", files={"mine.py": "years = 12\n"})
    before = snapshot(folder)
    answer = home.ask("plugins", "remove", "ash")
    assert (answer.gist, answer.warnings, folder.exists()) == ("0 removed", ["tree-kept"], False)
    kept = Path(answer.value["warnings"][0]["hint"].split("`")[1])
    assert snapshot(kept) == before


def test_a_bundled_plugin_is_switched_off_and_stays_where_it_is(home: Home) -> None:
    switch = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
    folder = write_plugin(home.work / ".hermes" / "plugins" / "ash", "demo-colors")
    home.ask("plugins", "enable", "ash", **switch)
    answer = home.ask("plugins", "remove", "ash", **switch)
    assert (answer.gist, answer.warnings, folder.is_dir()) == ("0 removed", ["stays-there"], True)
    assert home.pins == CORE


def linked_home(place: Path) -> None:
    place.symlink_to("..")


def other_plugin(place: Path) -> None:
    write_plugin(place, name="birch")


@pytest.mark.parametrize("put", [Path.touch, Path.mkdir, os.mkfifo, linked_home, other_plugin])
def test_what_lies_under_the_name_of_a_missing_plugin_and_is_none_stays_and_is_told(
    home: Home, put: Callable[[Path], None]
) -> None:
    place = home.path / "plugins" / "ash"
    place.parent.mkdir()
    write_plugin(place.parent / "a-birch", name="birch")
    put(place)
    home.configure("plugins:\n  enabled: [ash]\n")
    answer = home.ask("plugins", "remove", "ash")
    (warning,) = [row for row in answer.value["warnings"] if row["code"] == "stays-there"]
    assert (answer.gist, os.path.lexists(place), "ash" in home.config.read_text()) == ("0 removed", True, False)
    assert warning["message"].startswith(f"`{place}` stays: ")


def test_without_an_index_and_without_a_cache_everybody_can_still_leave(tmp_path: Path) -> None:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", "demo-colors"))
        home.install(home.plugin("birch", "demo-socket"))
        home.install(home.plugin("cedar", "demo-transport"))
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
    removed = home.ask("plugins", "remove", "birch")
    assert (removed.gist, removed.warnings) == ("0 removed", [])
    assert home.pins == {"demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE
    shutil.rmtree(home.state / "cache")
    last = home.ask("plugins", "remove", "cedar", "--offline")
    assert (last.gist, last.warnings, home.admitted, home.pins) == ("0 removed", [], [], CORE)
    assert home.ask("pm", "verify").gist == "0 verified"


def test_without_wheels_and_whole_files_a_removal_keeps_the_environment_and_the_next_build_makes_it_right(
    home: Home,
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.install(home.plugin("birch", "demo-transport"))
    environment = home.generation
    (next(environment.glob("lib/python3*/site-packages")) / "demo_colors.py").write_text("changed = True\n")
    shutil.rmtree(home.state / "cache")
    shutil.rmtree(home.state / "wheels")
    answer = home.ask("plugins", "remove", "birch")
    assert (answer.gist, answer.warnings, answer.changes) == ("0 removed", ["superset-kept"], [])
    assert (home.generation, home.admitted) == (environment, ["ash in default"])
    assert home.ask("plugins", "check").gist == "0 ready"
    assert home.install(home.plugin("cedar")).changes == ["-demo-socket 2.4", "-demo-transport 1.3.0"]
    assert home.pins == {"demo-colors": "2.0"} | CORE
