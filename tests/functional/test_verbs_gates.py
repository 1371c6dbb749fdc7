"""Gates hold for every plugin that is admitted, whichever one is judged: the core, the Python, addresses, files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fixtures.homes import Answer, Home, write_plugin

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
    home: Home, requires: list[str], manifest: dict[str, str], why: str
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
