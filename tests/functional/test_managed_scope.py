"""An administrator's config decides for every home what it sets: part of the union, and nothing writes over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, write_plugin


@pytest.fixture
def scope(tmp_path: Path) -> Path:
    """Return the administrator's folder, which sets nothing yet."""
    folder = tmp_path / "administrator"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path, wheels: Path, scope: Path) -> Home:
    """Return a home with two installed plugins, of which its own config enables one."""
    home = new_home(tmp_path / "home", wheels=wheels, HERMES_MANAGED_DIR=str(scope))
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("plugins", "install", home.plugin("birch", "demo-socket"), "--no-enable")
    return home


def states(home: Home) -> dict[str, str]:
    return {row["key"]: row["state"] for row in home.ask("plugins", "list").value["plugins"]}


def decide(scope: Path, text: str) -> None:
    (scope / "config.yaml").write_text(text)


def test_what_the_administrator_enables_takes_the_place_of_the_home_s_own_list(home: Home, scope: Path) -> None:
    decide(scope, "plugins:\n  enabled: [birch]\n")
    assert states(home) == {"ash": "disabled", "birch": "enabled"}
    checked = home.ask("plugins", "check")
    assert checked.value["outcome"] == "not-ready"
    assert home.ask("pm", "init").gist == "0 admitted"
    assert (home.admitted, home.ask("plugins", "check").gist) == (["birch in default"], "0 ready")
    assert set(home.pins) >= {"demo-socket"}
    (scope / "config.yaml").unlink()
    assert states(home) == {"ash": "enabled", "birch": "disabled"}


def test_a_start_names_what_was_never_admitted(home: Home, scope: Path) -> None:
    assert home.say("run", "--", "true").stderr == ""
    decide(scope, "plugins:\n  enabled: [birch]\n")
    assert "birch" in home.say("run", "--", "true").stderr


def test_the_status_and_the_list_name_the_file(home: Home, scope: Path) -> None:
    decide(scope, "plugins:\n  enabled: [birch]\nmemory:\n  provider: ''\n")
    told = {"file": str(scope / "config.yaml"), "settings": ["plugins.enabled", "memory.provider"]}
    line = f"managed     plugins.enabled, memory.provider are set for every home by {scope / 'config.yaml'}"
    for words in (("pm", "status"), ("plugins", "list")):
        assert home.ask(*words).value["administrator"] == told
        assert line in home.say(*words, COLUMNS="300").stdout


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    "words", [("enable", "ash"), ("disable", "birch"), ("remove", "birch"), ("install", "{cedar}", "--enable")]
)
def test_what_would_have_no_effect_is_refused_and_nothing_is_written(
    home: Home, scope: Path, words: tuple[str, ...], dry: tuple[str, ...]
) -> None:
    cedar = home.plugin("cedar")
    decide(scope, "plugins:\n  enabled: [birch]\n")
    before = home.config.read_text(), (scope / "config.yaml").read_text()
    answer = home.ask("plugins", *(word.format(cedar=cedar) for word in words), *dry)
    [reason] = answer.value["reasons"]
    assert (answer.gist, reason["declared_at"]["file"]) == ("1 refused managed-environment", str(scope / "config.yaml"))
    assert reason["message"] == "`plugins.enabled` is set by the administrator, for every home of this machine"
    assert (home.config.read_text(), (scope / "config.yaml").read_text()) == before
    assert (home.path / "plugins" / "birch").exists()


def test_what_the_administrator_enables_can_be_installed_and_admitted(home: Home, scope: Path) -> None:
    decide(scope, "plugins:\n  enabled: [cedar, birch]\n")
    assert states(home)["cedar"] == "missing"
    assert home.install(home.plugin("cedar")).gist == "0 admitted"
    assert home.admitted == ["birch in default", "cedar in default"]
    assert home.ask("plugins", "remove", "ash").gist == "0 removed"


def test_every_profile_is_meant(home: Home, scope: Path) -> None:
    coder = home.profile("coder")
    write_plugin(coder.path / "plugins" / "birch", "demo-socket")
    decide(scope, "plugins:\n  enabled: [birch]\n")
    assert home.ask("pm", "init").gist == "0 admitted"
    assert sorted(home.admitted) == ["birch in coder", "birch in default"]


def test_settings_that_it_does_not_name_stay_the_home_s(home: Home, scope: Path) -> None:
    decide(scope, "model:\n  name: x\n")
    assert states(home) == {"ash": "enabled", "birch": "disabled"}
    assert "administrator" not in home.ask("pm", "status").value
    assert home.ask("plugins", "enable", "birch").gist == "0 admitted"


@pytest.mark.parametrize("text", ["plugins: [\n", "plugins:\n  enabled: 7\n"])
def test_one_that_cannot_be_read_shrinks_nothing(home: Home, scope: Path, text: str) -> None:
    decide(scope, text)
    assert home.ask("plugins", "list").value["config_problem"]["file"] == str(scope / "config.yaml")
    assert states(home)["ash"] == "enabled"
    answer = home.install(home.plugin("cedar"))
    assert (answer.status, answer.value["reasons"][0]["code"]) == (3, "config-unreadable")
    assert home.say("run", "--", "true").status == 0
    assert home.admitted == ["ash in default"]


def test_without_a_list_of_enabled_plugins_none_is_enabled(home: Home, scope: Path) -> None:
    decide(scope, "plugins:\n  disabled: [ash]\n")
    assert states(home) == {"ash": "disabled", "birch": "disabled"}
    home.config.write_text("model: x\n")
    (scope / "config.yaml").unlink()
    assert states(home) == {"ash": "disabled", "birch": "disabled"}
