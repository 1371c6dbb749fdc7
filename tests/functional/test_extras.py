"""Extras of the core: chosen and given up by one admission each, and everything enabled is judged with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, new_home
from fixtures.hosts import chains, host, is_proved, new_hosted_home, offer, releases, steps
from fixtures.wheels import Distribution

CORE = "hermes-agent==0.19.0"
EXTRAS = {
    "edge-tts": ["edge-speech==7.2.7"],
    "anthropic": ["anthropic-client==0.86.0"],
    "all": ["hermes-agent[cli]"],
    "cli": ["menu-kit==1.0"],
    "pty": [],
}


def distributions() -> list[Distribution]:
    return [
        host("0.19.0", extras=EXTRAS),
        *releases("edge-speech", v7_2_7=["wirekit"]),
        *releases("wirekit", v1_0=()),
        *releases("menu-kit", v1_0=()),
        *releases("anthropic-client", v0_86_0=(), v1_0=()),
    ]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = new_hosted_home(tmp_path, CORE, *distributions())
    home.ask("pm", "init")
    return home


def setting(home: Home) -> str:
    [line] = [line.strip() for line in home.config.read_text().splitlines() if line.strip().startswith("core:")]
    return line.partition(":")[2].strip().strip("'\"")


def test_an_extra_brings_its_packages_and_they_stay_when_plugins_come(home: Home) -> None:
    added = home.ask("pm", "extras", "add", "Edge_TTS")
    assert (added.gist, added.changes) == ("0 admitted", ["+edge-speech 7.2.7", "+wirekit 1.0"])
    assert setting(home) == "hermes-agent[edge-tts]==0.19.0"
    assert home.install(home.plugin("ash", "demo-colors")).gist == "0 admitted"
    assert home.say("run", "--", "python", "-c", "import edge_speech").status == 0
    assert home.ask("plugins", "remove", "ash").gist == "0 removed"
    assert home.say("run", "--", "python", "-c", "import edge_speech").status == 0


def test_what_only_an_extra_required_goes_with_it(home: Home) -> None:
    home.ask("pm", "extras", "add", "edge-tts", "cli")
    removed = home.ask("pm", "extras", "remove", "edge-tts")
    assert (removed.gist, removed.changes) == ("0 admitted", ["-edge-speech 7.2.7", "-wirekit 1.0"])
    assert setting(home) == "hermes-agent[cli]==0.19.0"
    assert home.ask("pm", "extras", "remove", "cli").gist == "0 admitted"
    assert setting(home) == "hermes-agent==0.19.0"


def test_a_plugin_that_does_not_go_with_an_extra_is_refused_and_the_extra_is_named(home: Home) -> None:
    home.ask("pm", "extras", "add", "anthropic")
    answer = home.install(home.plugin("ash", "anthropic-client>=1"))
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["anthropic: anthropic-client==0.86.0", "ash: anthropic-client>=1"],
        True,
    )
    assert answer.value["reasons"][0]["demands"][0]["owner"] == {"kind": "core-extra", "name": "anthropic"}


def test_an_extra_that_a_plugin_does_not_go_with_is_refused_and_nothing_changes(home: Home) -> None:
    home.install(home.plugin("ash", "anthropic-client>=1"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("pm", "extras", "add", "anthropic")
    assert (answer.gist, steps(answer.value)[-2:]) == (
        "1 refused core-conflict",
        ["leave-out ash", "retry hermes-agent==0.19.0 ?"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_what_is_so_already_changes_nothing(home: Home) -> None:
    home.ask("pm", "extras", "add", "cli")
    before = home.pointer
    assert home.ask("pm", "extras", "add", "cli").gist == "0 unchanged"
    assert home.ask("pm", "extras", "remove", "pty").gist == "0 unchanged"
    assert home.pointer == before


@pytest.mark.parametrize("action", ["add", "remove"])
def test_an_unknown_extra_is_named_with_the_nearest(home: Home, action: str) -> None:
    answer = home.ask("pm", "extras", action, "edgetts")
    [reason] = answer.value["reasons"]
    assert (reason["code"], reason["message"]) == ("unknown-extra", "hermes-agent 0.19.0 has no extra `edgetts`")
    assert reason["hint"].startswith("did you mean `edge-tts`?")
    assert steps(answer.value) == ["reword edgetts → edge-tts ?"]
    assert answer.value["steps"][0]["command"] == f"hermes pm extras {action} edge-tts"


def test_the_part_of_an_extra_is_not_removed_by_itself(home: Home) -> None:
    home.ask("pm", "extras", "add", "all")
    [reason] = home.ask("pm", "extras", "remove", "cli").value["reasons"]
    assert reason["message"] == "the extra `cli` is not chosen itself: it is part of another one"
    assert reason["hint"].startswith("chosen are `all`")


def test_the_list_says_which_are_chosen_and_what_each_requires(home: Home) -> None:
    home.ask("pm", "extras", "add", "all")
    rows = {row["name"]: row for row in home.ask("pm", "extras").value["extras"]}
    assert sorted(rows) == sorted(EXTRAS)
    assert [name for name, row in rows.items() if row["chosen"]] == ["all"]
    assert [name for name, row in rows.items() if row["active"]] == ["all", "cli"]
    assert rows["edge-tts"]["requirements"] == ["edge-speech==7.2.7"]
    said = home.say("pm", "extras").stdout.splitlines()
    assert said[0] == "extras of hermes-agent 0.19.0 (* is chosen, + is part of one that is chosen)"
    assert [line for line in said if line.startswith(("*", "+"))] == [
        "* all        hermes-agent[cli]",
        "+ cli        menu-kit==1.0",
    ]


def test_a_range_of_versions_stays_one_and_the_core_at_its_version(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, "hermes-agent>=0.19  # mine", *distributions())
    home.ask("pm", "init")
    offer(home, host("0.20.0", extras=EXTRAS))
    answer = home.ask("pm", "extras", "add", "cli", "--refresh")
    assert (answer.gist, home.pins["hermes-agent"]) == ("0 admitted", "0.19.0")
    assert 'core: "hermes-agent[cli]>=0.19"  # mine' in home.config.read_text()


def test_a_project_has_extras_too(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, *distributions())
    project = tmp_path / "checkout"
    project.mkdir()
    (project / "pyproject.toml").write_text(
        "[project]\nname = 'hermes-agent'\nversion = '0.19.0'\n[project.optional-dependencies]\ncli = ['menu-kit']\n"
    )
    home.ask("pm", "init", "--core", project)
    assert home.ask("pm", "extras", "add", "cli").changes == ["+menu-kit 1.0"]
    assert setting(home) == f"{project}[cli]"
    assert home.ask("pm", "extras", "remove", "cli").changes == ["-menu-kit 1.0"]
    assert setting(home) == str(project)


def test_the_embedded_core_has_none_and_the_line_for_the_published_one_is_told(tmp_path: Path, wheels: Path) -> None:
    home = new_home(tmp_path / "home", wheels=wheels)
    home.ask("pm", "init")
    [reason] = home.ask("pm", "extras", "add", "edge-tts").value["reasons"]
    assert reason["message"] == "the embedded core has no extras"
    assert "`hermes pm init --core 'hermes-agent[edge-tts]==" in reason["hint"]
    assert home.say("pm", "extras").stdout.endswith("has no extras\n")


@pytest.mark.parametrize("words", [("add",), ("remove",), ("list", "cli")])
def test_words_that_make_no_sense_are_refused(home: Home, words: tuple[str, ...]) -> None:
    assert home.say("pm", "extras", *words).status == 2


def test_an_extra_that_requires_nothing_is_chosen_all_the_same(home: Home) -> None:
    answer = home.ask("pm", "extras", "add", "pty")
    assert (answer.gist, answer.changes, setting(home)) == ("0 admitted", [], "hermes-agent[pty]==0.19.0")


def test_the_extras_of_a_project_are_listed_and_what_they_require_is_not_known(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, *distributions())
    project = tmp_path / "checkout"
    project.mkdir()
    text = "[project]\nname = 'hermes-agent'\nversion = '0.19.0'\n[project.optional-dependencies]\ncli = ['menu-kit']\n"
    (project / "pyproject.toml").write_text(text)
    home.ask("pm", "init", "--core", project)
    [row] = home.ask("pm", "extras").value["extras"]
    assert (row["name"], row["requirements"]) == ("cli", None)
    assert "cli  (what it requires is not known here)" in home.say("pm", "extras").stdout
