"""Gates hold for every plugin that is admitted, whichever one is judged: the core, the Python, addresses, files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.homes import Answer, Home, follow, write_plugin
from fixtures.hosts import new_hosted_home, releases
from fixtures.wheels import Distribution

ADDRESS = f"demo-colors @ https://files.example.invalid/demo_colors-9.0-py3-none-any.whl#sha256={'0' * 64}"


def _enabled_by_hand(home: Home, *keys: str) -> None:
    home.configure(f"plugins:\n  enabled: [{', '.join(keys)}]\n")


def _left_out(answer: Answer) -> list[str]:
    return [warning["message"] for warning in answer.value["warnings"] if warning["code"] == "not-admitted"]


@pytest.mark.parametrize(
    ("requires", "manifest", "why"),
    [
        (
            [],
            {"requires_hermes": ">=99"},
            "`birch` requires the core `>=99`, the core is hermes-embedded-core 0.1.0, which counts as 0.19.0",
        ),
        (
            ["hermes-agent>=99"],
            {},
            "`birch` requires the core `>=99`, the core is hermes-embedded-core 0.1.0, which counts as 0.19.0",
        ),
    ],
)
def test_a_plugin_that_a_config_enables_and_that_fails_a_gate_is_left_out_of_what_others_get(
    home: Home, requires: list[str], manifest: dict[str, Any], why: str
) -> None:
    write_plugin(home.path / "plugins/birch", *requires, **manifest)
    write_plugin(home.path / "plugins/cedar", "demo-colors")
    _enabled_by_hand(home, "birch", "cedar")
    answer = home.install(home.plugin("ash"))
    checked = home.ask("plugins", "check")
    assert (answer.gist, _left_out(answer), home.admitted) == (
        "0 admitted",
        [f"`birch` is enabled and was left out: {why}"],
        ["ash in default", "cedar in default"],
    )
    assert (checked.gist, _left_out(checked), home.ask("plugins", "enable", "birch").gist) == (
        "1 not-ready not-admitted",
        _left_out(answer),
        "1 refused core-version",
    )


def test_a_plugin_for_another_python_is_left_out_of_what_others_get(home: Home) -> None:
    project = '[project]\nname = "birch"\nversion = "1.0"\nrequires-python = "<3.11"\ndependencies = []\n'
    write_plugin(home.path / "plugins/birch", files={"pyproject.toml": project})
    _enabled_by_hand(home, "birch")
    answer = home.install(home.plugin("ash"))
    version = ".".join(map(str, sys.version_info[:3]))
    assert (answer.gist, _left_out(answer), home.admitted) == (
        "0 admitted",
        [f"`birch` is enabled and was left out: `birch` requires Python `<3.11`, this is {version}"],
        ["ash in default"],
    )


def test_the_first_generation_is_made_without_what_fails_a_gate(home: Home) -> None:
    write_plugin(home.path / "plugins/birch", requires_hermes=">=99")
    write_plugin(home.path / "plugins/cedar", "demo-colors")
    _enabled_by_hand(home, "birch", "cedar")
    answer = home.ask("pm", "init")
    assert (answer.gist, answer.warnings, home.admitted) == ("0 admitted", ["not-admitted"], ["cedar in default"])


def _core(home: Home, version: str) -> Path:
    folder = home.work / f"core-{version}"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(f'[project]\nname = "hermes-agent"\nversion = "{version}"\n')
    return folder


def test_another_core_in_the_config_judges_what_an_earlier_one_admitted(home: Home) -> None:
    home.ask("pm", "init", "--core", _core(home, "0.20"))
    home.install(home.plugin("birch", requires_hermes=">=0.20"))
    home.install(home.plugin("cedar", requires_hermes=">=0.19"))
    config = home.config.read_text()
    home.config.write_text(config.replace("core-0.20", "core-0.19"))
    _core(home, "0.19")
    whole = [home.ask("plugins", "check"), home.ask("pm", "init")]
    answer = home.install(home.plugin("ash"))
    why = "`birch` requires the core `>=0.20`, the core is hermes-agent 0.19"
    assert ([each.gist for each in whole], answer.gist, _left_out(answer), home.admitted) == (
        ["1 refused core-version"] * 2,
        "0 admitted",
        [f"`birch` is enabled and was left out: {why}"],
        ["ash in default", "cedar in default"],
    )


def test_a_declaration_that_was_changed_to_fail_a_gate_is_left_out(home: Home) -> None:
    home.install(home.plugin("birch"))
    write_plugin(home.path / "plugins/birch", requires_hermes=">=99")
    answer = home.install(home.plugin("ash"))
    assert (answer.gist, answer.warnings, home.admitted) == ("0 admitted", ["not-admitted"], ["ash in default"])


def test_an_address_never_becomes_the_release_of_an_index(home: Home) -> None:
    home.configure("  allow_direct_urls: true\n")
    write_plugin(home.path / "plugins/birch", ADDRESS)
    _enabled_by_hand(home, "birch")
    answer = home.install(home.plugin("ash", "demo-transport"))
    assert (answer.gist, answer.warnings, home.admitted, "demo-colors" in home.locked) == (
        "0 admitted",
        ["not-admitted"],
        ["ash in default"],
        False,
    )


# -- the core, asked for by a requirement

EXTRAS: dict[str, list[str]] = {
    "matrix": ["demo-colors"],
    "voice": ["demo-socket"],
    "all": ["hermes-agent[matrix]", "hermes-agent[voice]"],
}


def _hosted(folder: Path, core: str) -> Home:
    host = Distribution("hermes-agent", "0.19.0", extras=EXTRAS)
    return new_hosted_home(
        folder,
        core,
        host,
        *releases("through", v1=["hermes-agent[matrix]>=0.19"], v2=["hermes-agent[matrx]"]),
    )


@pytest.mark.parametrize("asked", ["hermes-agent[matrix]>=0.19", "through==1"])
def test_an_extra_that_the_core_was_chosen_without_is_a_gate_and_the_step_chooses_it(
    tmp_path: Path, asked: str
) -> None:
    home = _hosted(tmp_path, "hermes-agent==0.19.0")
    home.ask("pm", "init")
    refused = home.install(home.plugin("ash", asked))
    step = refused.value["steps"][0]
    assert (refused.gist, step["action"], step["confirmed"], step["command"]) == (
        "1 refused core-extra",
        "update-core",
        True,
        f"hermes pm init --core 'hermes-agent[matrix]==0.19.0' && hermes plugins install {home.work / 'ash'} --enable",
    )
    assert (
        "the core hermes-agent 0.19.0 was chosen without its extra `matrix`" in refused.value["reasons"][0]["message"]
    )
    assert (follow(home, step["command"]).status, home.admitted) == (0, ["ash in default"])
    assert home.pins["demo-colors"] == "2.0"


@pytest.mark.parametrize("core", ["hermes-agent[matrix]==0.19.0", "hermes-agent[all]==0.19.0"])
def test_an_extra_that_was_chosen_or_that_a_chosen_one_asks_for_is_there(tmp_path: Path, core: str) -> None:
    home = _hosted(tmp_path, core)
    answers = [home.install(home.plugin("ash", "hermes-agent[Matrix]")), home.install(home.plugin("elm", "through==1"))]
    assert [answer.gist for answer in answers] == ["0 admitted"] * 2


@pytest.mark.parametrize("asked", ["hermes-agent[matrx]", "through==2"])
def test_an_extra_that_the_core_does_not_have_is_refused_with_the_nearest_that_it_has(
    tmp_path: Path, asked: str
) -> None:
    home = _hosted(tmp_path, "hermes-agent==0.19.0")
    answer = home.install(home.plugin("ash", asked))
    [reason] = answer.value["reasons"]
    assert (answer.gist, reason["hint"]) == (
        "1 refused unknown-extra",
        "did you mean `matrix`? it has all, matrix, voice",
    )
    assert "hermes-agent 0.19.0 has no extra `matrx`" in reason["message"]


def test_an_extra_of_a_core_that_is_a_folder_is_chosen_by_its_step(home: Home) -> None:
    folder = home.work / "core"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "hermes-agent"\nversion = "0.19.0"\n'
        '[project.optional-dependencies]\nmatrix = ["demo-colors"]\n'
    )
    home.ask("pm", "init", "--core", folder)
    refused = home.install(home.plugin("ash", "hermes-agent[matrix]"))
    step = refused.value["steps"][0]
    assert (refused.gist, step["confirmed"]) == ("1 refused core-extra", True)
    assert (follow(home, step["command"]).status, home.admitted) == (0, ["ash in default"])


def test_a_core_that_only_speaks_for_the_host_has_none_of_its_extras(home: Home) -> None:
    answer = home.install(home.plugin("ash", "hermes-agent[matrix]"))
    assert (answer.gist, answer.value["reasons"][0]["message"]) == (
        "1 refused core-extra",
        "`ash` requires `hermes-agent[matrix]`, the core hermes-embedded-core 0.1.0 has no extra `matrix`",
    )


def _writing(name: str, text: str) -> Distribution:
    return Distribution(name, "1", files={"same.py": text, f"{name}.py": ""})


def test_a_plugin_whose_files_clash_is_left_out_of_what_others_get(tmp_path: Path) -> None:
    home = new_hosted_home(
        tmp_path,
        "hermes-agent==0.19.0",
        Distribution("hermes-agent", "0.19.0"),
        _writing("one", "1"),
        _writing("two", "2"),
    )
    write_plugin(home.path / "plugins/birch", "one", "two")
    _enabled_by_hand(home, "birch")
    answer = home.install(home.plugin("ash"))
    assert (answer.gist, answer.warnings, home.admitted, home.ask("plugins", "enable", "birch").gist) == (
        "0 admitted",
        ["not-admitted"],
        ["ash in default"],
        "1 refused file-collision",
    )


def test_another_core_in_the_config_judges_the_files_of_what_an_earlier_one_admitted(tmp_path: Path) -> None:
    cores = (Distribution("hermes-agent", "0.19.0"), Distribution("hermes-agent", "0.20.0", files={"one.py": "mine"}))
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", *cores, _writing("one", "1"))
    home.install(home.plugin("birch", "one"))
    home.install(home.plugin("cedar", "demo-colors"))
    home.config.write_text(home.config.read_text().replace("hermes-agent==0.19.0", "hermes-agent==0.20.0"))
    answer = home.install(home.plugin("ash"))
    assert (answer.status, "not-admitted" in answer.warnings, home.admitted) == (
        0,
        True,
        ["ash in default", "cedar in default"],
    )
