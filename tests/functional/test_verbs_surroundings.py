"""Odd surroundings are told as what they are: folders that are gone, files that are replaced, poor terminals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fixtures.homes import PLUGINS, Home, new_home
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, build_wheels, read_recipe


def test_a_folder_of_wheels_that_is_gone_refuses_nothing(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    build_recipe(wheels, read_recipe(DEFAULT_RECIPE))
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(PLUGINS / "admitted-simple")
    wheels.rename(tmp_path / "elsewhere")
    answer = home.install(home.plugin("ash", "demo-transport"))
    assert answer.gist == "3 failed index-unreachable"
    assert str(wheels) in answer.value["reasons"][0]["message"]
    assert home.ask("plugins", "check").gist == "0 ready"


def test_parts_of_a_broken_wheel_do_not_speak_for_the_package(tmp_path: Path) -> None:
    server = IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE), Shape(announces_metadata=False))
    with server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.ask("pm", "init")
        server.faults = [Fault("*demo_colors*.whl", "garbage", times=-1)]
        answer = home.install(home.plugin("ash", "demo-colors==1.2"))
        assert answer.gist == "3 failed hash-mismatch"


def test_a_file_that_is_published_again_with_other_bytes_is_named(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    build_recipe(wheels, read_recipe(DEFAULT_RECIPE))
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(PLUGINS / "admitted-simple")
    build_wheels(wheels, Distribution("demo-colors", "1.2", files={"demo_colors.py": "again = True\n"}))
    answer = home.install(home.plugin("ash", "demo-transport"))
    assert (answer.gist, "file-replaced" in answer.warnings) == ("0 admitted", True)


def test_a_core_that_is_too_old_is_told_with_the_line_that_says_so(home: Home) -> None:
    answer = home.install(PLUGINS / "needs-newer-core")
    reason = answer.value["reasons"][0]
    assert answer.gist == "1 refused core-version"
    assert (reason["declared_at"]["file"], reason["declared_at"]["line"] > 0) == ("plugin.yaml", True)
    assert "hermes-embedded-core 0.1.0, which counts as 0.19.0" in reason["message"]


def test_a_terminal_without_the_letters_shows_their_escapes(home: Home) -> None:
    home.install(home.plugin("ash", description="grün ✓"))
    answer = home.say(
        "plugins", "show", "ash", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii"
    )
    assert (answer.status, "gr\\xfcn \\u2713" in answer.stdout) == (0, True)


def test_wrong_words_are_one_json_object_too(home: Home) -> None:
    answer = home.say("plugins", "install", "--json")
    assert (answer.status, json.loads(answer.stdout)["error"]["code"]) == (2, "usage")


def test_what_is_enabled_and_not_there_any_more_is_not_ready(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    (home.path / "plugins" / "admitted-simple" / "plugin.yaml").write_text("name: [")
    answer = home.ask("plugins", "check")
    assert answer.gist == "1 not-ready not-admitted"


def test_another_core_in_the_config_is_not_ready_until_it_is_admitted(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    project = home.work / "core"
    project.mkdir()
    text = '[project]\nname = "hermes-agent"\nversion = "0.19.0"\ndependencies = ["demo-transport"]\n'
    (project / "pyproject.toml").write_text(text)
    home.config.write_text(home.config.read_text().replace("pm:\n", f"pm:\n  core: {project}\n"))
    answer = home.ask("plugins", "check")
    steps = ["update-core ", "retry hermes-agent==0.19.0"]
    assert (answer.gist, answer.steps) == ("1 not-ready not-admitted", steps)
    assert answer.value["steps"][0]["command"] == "hermes pm init"
    assert home.ask("pm", "init").gist == "0 admitted"
    assert home.ask("plugins", "check").gist == "0 ready"
    (project / "pyproject.toml").write_text(text.replace('"]', '", "lanternkit"]'))
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.changes) == (
        "1 not-ready not-admitted",
        ["+flintspark 6.4", "+lanternkit 2.1", "+wickcore 1.1"],
    )


def test_a_python_that_is_named_no_longer_is_chosen_anew(home: Home) -> None:
    home.ask("pm", "init", "--python", sys.executable)
    home.config.write_text(home.config.read_text().replace(f'  python: "{sys.executable}"\n', ""))
    answer = home.ask("pm", "init")
    assert answer.gist == "0 admitted"
    assert home.ask("pm", "init").gist == "0 unchanged"


def test_a_python_that_is_not_there_is_a_failure_and_no_refusal(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.config.write_text(home.config.read_text().replace("pm:\n", 'pm:\n  python: "/nowhere/python3.12"\n'))
    answers = [home.ask(*words).gist for words in (("pm", "init"), ("plugins", "check"), ("plugins", "enable", "ash"))]
    assert answers == ["3 failed no-interpreter"] * 3
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
