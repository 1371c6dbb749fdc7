"""A refusal, as a user meets it: it says who and why and what now, and everything is as it was before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fixtures.homes import PLUGINS, UNTOUCHED_BY_REFUSALS, Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

CORE_DEMAND = "core hermes-embedded-core: pyyaml<7,>=6.0.2 at METADATA"


def test_a_plugin_that_cannot_live_with_the_core_is_refused_and_nothing_else_has_changed(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(PLUGINS / "conflicts-with-core")
    assert (answer.gist, answer.demands, answer.steps) == (
        "1 refused core-conflict",
        [CORE_DEMAND, "plugin conflicts-with-core: PyYAML<6 at plugin.yaml:5"],
        ["widen conflicts-with-core", "retry conflicts-with-core"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_the_proof_of_a_refusal_is_minimal_and_checked_by_both_decisions(home: Home) -> None:
    receipt = home.install(PLUGINS / "conflicts-with-core").value
    reason = receipt["reasons"][0]
    assert (reason["package"], reason["proof"]) == (
        "pyyaml",
        {"minimal": True, "verified": True, "checked_by": {"search": "impossible", "complete": "impossible"}},
    )
    assert reason["available"] == [
        {"versions": "6.0.3, 6.0.2", "reason": "excluded by `pyyaml<6`"},
        {"versions": "5.4.1", "reason": "excluded by `pyyaml<7,>=6.0.2`"},
    ]
    step = receipt["steps"][-1]
    assert (step["command"], step["confirmed"], step["when"] != "") == (
        f"hermes plugins install {PLUGINS / 'conflicts-with-core'} --enable",
        False,
        True,
    )


def test_the_text_of_a_refusal_names_plugin_package_owners_file_and_line(home: Home) -> None:
    answer = home.say("plugins", "install", PLUGINS / "conflicts-with-core", "--enable", COLUMNS="200")
    words = ["PyYAML<6", "hermes-embedded-core", "pyyaml<7,>=6.0.2", "plugin.yaml:5", "What now"]
    assert (answer.status, [word for word in words if word not in answer.stdout]) == (1, [])
    assert answer.stderr == ""


def test_a_conflict_through_a_dependency_of_a_dependency_refuses_whoever_comes_second(
    home: Home, tmp_path: Path
) -> None:
    lantern, flint = home.plugin("lantern", "lanternkit"), home.plugin("flint", "flintspark>=7")
    other = Home(tmp_path / "other" / "home", surroundings=tmp_path / "other")
    other.config.write_text(home.config.read_text())
    home.install(lantern)
    other.install(flint)
    before, before_there = home.snapshot(UNTOUCHED_BY_REFUSALS), other.snapshot(UNTOUCHED_BY_REFUSALS)
    second, swapped = home.install(flint), other.install(lantern)
    assert (second.gist, swapped.gist) == ("1 refused conflict", "1 refused conflict")
    assert second.value["reasons"] == swapped.value["reasons"]
    assert [demand["chain"] for demand in second.value["reasons"][0]["demands"]] == [
        ["flintspark>=7"],
        ["lanternkit", "wickcore>=1.1", "flintspark<7,>=5"],
    ]
    assert (home.snapshot(UNTOUCHED_BY_REFUSALS), other.snapshot(UNTOUCHED_BY_REFUSALS)) == (before, before_there)
    assert (home.admitted, other.admitted) == (["lantern in default"], ["flint in default"])


def test_kept_after_a_refusal_it_is_installed_switched_off_and_the_step_is_to_switch_it_on_again(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(PLUGINS / "conflicts-with-core", "--keep")
    assert (answer.gist, answer.steps) == (
        "1 refused core-conflict",
        ["widen conflicts-with-core", "re-enable conflicts-with-core"],
    )
    assert answer.value["steps"][-1]["command"] == "hermes plugins enable conflicts-with-core"
    assert answer.value["summary"] == (
        "`conflicts-with-core` was not enabled: it needs a version of `pyyaml` that Hermes itself does not allow; "
        "it is installed, and stays disabled"
    )
    after = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert {path for path in after if path not in before and not path.startswith("pm/trees/")} == {
        "plugins/conflicts-with-core",
        "plugins/conflicts-with-core/__init__.py",
        "plugins/conflicts-with-core/plugin.yaml",
    }
    assert (after["config.yaml"], after["pm/pointer.json"]) == (before["config.yaml"], before["pm/pointer.json"])
    assert home.ask("plugins", "list").value["plugins"][1]["state"] == "disabled"


def test_switching_on_an_installed_plugin_that_does_not_fit_leaves_it_installed_and_off(home: Home) -> None:
    home.ask("plugins", "install", PLUGINS / "conflicts-with-core", "--no-enable")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("plugins", "enable", "conflicts-with-core")
    assert (answer.gist, answer.steps) == (
        "1 refused core-conflict",
        ["widen conflicts-with-core", "re-enable conflicts-with-core"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_the_commands_of_the_steps_mean_the_home_that_was_named(home: Home, tmp_path: Path) -> None:
    elsewhere = new_home(tmp_path / "my home")
    answer = home.say("plugins", "install", home.plugin("ash", "nowhere"), "--json", "--home", elsewhere.path)
    assert answer.gist == "0 admitted"
    answer = home.say("plugins", "enable", "ash", "--home", elsewhere.path, "--json")
    assert (answer.gist, answer.value["steps"][-1]["command"]) == (
        "1 refused not-found-on-index not-found-on-index",
        f"hermes plugins enable ash --home '{elsewhere.path}'",
    )


@pytest.mark.parametrize(
    ("plugin", "codes", "places"),
    [
        ("bad-specifier", "invalid-declaration invalid-declaration", ["plugin.yaml:5", "plugin.yaml:6"]),
        ("direct-url", "direct-url direct-url direct-url", ["plugin.yaml:5", "plugin.yaml:6", "plugin.yaml:7"]),
        ("duplicate-key", "duplicate-key", ["plugin.yaml:5"]),
        ("dynamic-dependencies", "dynamic-dependencies", ["pyproject.toml:8"]),
        ("self-dependency", "self-dependency", ["pyproject.toml:4"]),
        ("unsupported-manifest-version", "unsupported-manifest-version", ["plugin.yaml:4"]),
        ("utf-16", "invalid-declaration", ["plugin.yaml:1"]),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused_with_the_places_of_all_its_faults(
    cold: Home, plugin: str, codes: str, places: list[str]
) -> None:
    before = cold.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = cold.install(PLUGINS / plugin)
    declared = [reason["declared_at"] for reason in answer.value["reasons"]]
    assert (answer.gist, [f"{place['file']}:{place['line']}" for place in declared]) == (f"1 refused {codes}", places)
    assert cold.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() == {"pm"}


def test_a_plugin_for_another_core_or_python_is_refused_before_anything_is_resolved(home: Home) -> None:
    assert home.install(PLUGINS / "needs-newer-core").gist == "1 refused core-version"
    project = '[project]\nname = "old"\nversion = "1"\nrequires-python = "<3.11"\ndependencies = []\n'
    answer = home.install(home.plugin("old", files={"pyproject.toml": project}))
    assert (answer.gist, home.pointer) == ("1 refused python-version", None)


def test_wheels_that_write_one_path_with_different_content_are_refused_by_dry_run_and_install_alike(
    tmp_path: Path,
) -> None:
    """Case file-collision-01."""
    wheels = tmp_path / "wheels"
    full = Distribution("vision", "1.0", files={"vis/__init__.py": "full = True\n"})
    headless = Distribution("vision-headless", "1.0", files={"vis/__init__.py": "full = False\n"})
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), full, headless])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "vision"))
    birch = home.plugin("birch", "vision-headless")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    checked, refused = home.ask("plugins", "check", birch), home.install(birch)
    assert (checked.gist, refused.gist) == ("1 refused file-collision", "1 refused file-collision")
    assert checked.value["reasons"] == refused.value["reasons"]
    assert refused.demands == ["plugin ash: vision at plugin.yaml:4", "plugin birch: vision-headless at plugin.yaml:4"]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_module_that_hides_one_of_the_core_is_refused_and_one_that_is_never_imported_is_told(
    tmp_path: Path,
) -> None:
    """Case shadows-stdlib-or-host-module-03."""
    wheels = tmp_path / "wheels"
    hiding = Distribution("hiding", "1.0", files={"hermes_constants/__init__.py": "", "other.py": ""})
    backport = Distribution("argparse", "1.4.0")
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), hiding, backport])
    home = new_home(tmp_path / "home", wheels=wheels)
    refused = home.install(home.plugin("ash", "hiding"))
    assert (refused.gist, home.pointer) == ("1 refused module-shadowing", None)
    admitted = home.install(home.plugin("birch", "argparse"))
    assert (admitted.gist, admitted.warnings) == ("0 admitted", ["module-shadowing"])


def test_nothing_but_the_receipt_remains_of_a_refusal_in_a_home_that_had_nothing(cold: Home) -> None:
    cold.install(PLUGINS / "conflicts-with-core")
    assert sorted(cold.snapshot(UNTOUCHED_BY_REFUSALS)) == ["config.yaml", "pm"]
    latest = json.loads((cold.state / "receipts" / "latest-install.json").read_text())
    assert latest["outcome"] == "refused"
