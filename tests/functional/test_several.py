"""Several plugins are installed, disabled and removed by one decision and one commit each, or none of them is."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow
from fixtures.hosts import steps


def sources(home: Home) -> list[Path]:
    return [home.plugin("ash", "demo-colors"), home.plugin("birch", "demo-socket"), home.plugin("cedar")]


def number(home: Home) -> int:
    return home.pointer["generation"] if home.pointer is not None else 0


def states(home: Home) -> dict[str, str]:
    return {row["key"]: row["state"] for row in home.ask("plugins", "list").value["plugins"]}


def test_several_are_installed_by_one_commit(home: Home) -> None:
    answer = home.install(*sources(home))
    assert (answer.gist, number(home), home.admitted) == (
        "0 admitted",
        1,
        ["ash in default", "birch in default", "cedar in default"],
    )
    assert (answer.value["plugin"], [plugin["key"] for plugin in answer.value["plugins"]]) == (
        None,
        ["ash", "birch", "cedar"],
    )
    assert set(home.pins) >= {"demo-colors", "demo-socket"}
    assert home.ask("pm", "verify").gist == "0 verified"
    assert home.install(*(home.work / name for name in ("ash", "birch", "cedar"))).gist == "0 unchanged"
    assert number(home) == 1


def test_if_one_is_refused_none_is_installed(home: Home) -> None:
    home.ask("pm", "init")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(*sources(home), home.plugin("dogwood", "demo-colors>=99"))
    assert answer.gist == "1 refused no-matching-version"
    assert answer.demands == ["plugin dogwood: demo-colors>=99 at plugin.yaml:4"]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert steps(answer.value)[-1].startswith("retry")


def test_two_that_clash_are_refused_together_though_each_fits(home: Home) -> None:
    answer = home.install(home.plugin("ash", "demo-colors<1.2"), home.plugin("birch", "demo-colors>=1.2"))
    assert (answer.gist, answer.demands) == (
        "1 refused conflict",
        ["plugin ash: demo-colors<1.2 at plugin.yaml:4", "plugin birch: demo-colors>=1.2 at plugin.yaml:4"],
    )
    assert answer.value["summary"].startswith("`ash` and `birch` were not installed: no version of `demo-colors`")
    assert not (home.path / "plugins").exists() or not any((home.path / "plugins").iterdir())
    leaving = {step["subject"]: step for step in answer.value["steps"] if step["action"] == "leave-out"}
    assert leaving["ash"]["explanation"] == "install the others without `ash`"
    assert follow(home, leaving["ash"]["command"]).status == 0
    assert home.admitted == ["birch in default"]


def test_without_enabling_they_only_lie_there(home: Home) -> None:
    answer = home.ask("plugins", "install", *sources(home), "--no-enable")
    assert (answer.gist, answer.warnings) == ("0 admitted", ["not-enabled"] * 3)
    assert (states(home), home.pointer) == ({"ash": "disabled", "birch": "disabled", "cedar": "disabled"}, None)


def test_a_dry_run_changes_nothing(home: Home) -> None:
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert home.install(*sources(home), "--dry-run").gist == "0 admitted"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_those_that_are_there_are_named_and_replaced_by_force(home: Home) -> None:
    ash, birch, cedar = sources(home)
    home.install(ash)
    (ash / "__init__.py").write_text("def register(ctx):\n    return 1\n")
    refused = home.install(ash, birch)
    assert (refused.gist, refused.value["reasons"][0]["message"]) == (
        "1 refused name-taken",
        "`ash` 1.0.0 is already installed",
    )
    assert home.install(ash, birch, "--force").gist == "0 admitted"
    assert (home.path / "plugins" / "ash" / "__init__.py").read_text().endswith("return 1\n")
    assert home.install(birch, cedar).gist == "0 admitted"
    assert home.admitted == ["ash in default", "birch in default", "cedar in default"]


def test_two_sources_of_one_plugin_are_a_mistake(home: Home) -> None:
    ash = home.plugin("ash")
    other = home.work / "other"
    ash.rename(other)
    [reason] = home.install(home.plugin("ash"), other).value["reasons"]
    assert (reason["code"], "are both the plugin `ash`" in reason["message"]) == ("invalid-source", True)


@pytest.mark.parametrize("option", [("--ref", "a" * 40), ("--keep",)])
def test_options_about_one_source_are_told(home: Home, option: tuple[str, ...]) -> None:
    answer = home.say("plugins", "install", *sources(home), *option)
    assert (answer.status, f"`{option[0]}` is about one source" in answer.stderr) == (2, True)


def test_several_are_disabled_and_enabled_by_one_commit_each(home: Home) -> None:
    home.install(*sources(home))
    disabled = home.ask("plugins", "disable", "ash", "BIRCH", "ash")
    assert (disabled.gist, number(home), home.admitted) == ("0 disabled", 2, ["cedar in default"])
    assert states(home) == {"ash": "disabled", "birch": "disabled", "cedar": "enabled"}
    assert home.ask("plugins", "disable", "ash", "birch").gist == "0 unchanged"
    assert home.ask("plugins", "enable", "ash", "birch").gist == "0 admitted"
    assert number(home) == 3


def test_several_are_removed_by_one_commit_with_what_only_they_needed(home: Home) -> None:
    home.install(*sources(home))
    home.config.write_text(home.config.read_text() + "memory:\n  provider: birch\n")
    dry = home.ask("plugins", "remove", "ash", "birch", "--dry-run")
    assert (dry.gist, number(home)) == ("0 removed", 1)
    removed = home.ask("plugins", "remove", "ash", "birch")
    assert (removed.gist, number(home), home.admitted) == ("0 removed", 2, ["cedar in default"])
    assert removed.changes == dry.changes
    assert {change.split()[0] for change in removed.changes} >= {"-demo-colors", "-demo-socket"}
    assert states(home) == {"cedar": "enabled"}
    assert [path.name for path in (home.path / "plugins").iterdir()] == ["cedar"]
    assert home.ask("pm", "verify").gist == "0 verified"
    again = home.ask("plugins", "remove", "ash", "cedar")
    assert (again.gist, states(home)) == ("0 removed", {})
    assert home.ask("pm", "rollback", "1").gist == "0 rolled-back"
    assert states(home) == {"ash": "enabled", "birch": "enabled", "cedar": "enabled"}


def test_a_word_that_is_no_plugin_stops_all_of_it(home: Home) -> None:
    home.install(*sources(home))
    for verb in ("disable", "remove"):
        answer = home.ask("plugins", verb, "ash", "oak")
        assert answer.gist == "2 failed unknown-plugin"
    assert home.admitted == ["ash in default", "birch in default", "cedar in default"]
