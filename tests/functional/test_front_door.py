"""What runs in a generation finds the manager under the host's name; the host's own installers are shut out."""

from __future__ import annotations

import json
import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Answer, Home, new_home

NUMBERS = count()
WHICH = "import shutil, os; print(shutil.which('hermes'), os.environ.get('HERMES_BIN'))"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Home:
    """Return a home with a generation; every test leaves it as it was."""
    home = new_home(tmp_path_factory.mktemp("shared") / "home", wheels=wheels)
    assert home.say("pm", "init").status == 0
    return home


@pytest.fixture
def profile(shared: Home) -> Home:
    """Return a profile for one test, which shares the generation."""
    return shared.profile(f"profile-{next(NUMBERS)}")


def run(home: Home, *words: str | Path, **environ: str) -> Answer:
    return home.say("run", "--", *words, **environ)


def test_a_program_in_a_generation_finds_the_manager_under_the_name_of_the_host(shared: Home) -> None:
    door = str(shared.state / "front" / "hermes")
    answer = run(shared, "python", "-c", WHICH)
    assert (answer.stderr, answer.stdout) == ("", f"{door} {door}\n")
    assert [path.name for path in (shared.state / "front").iterdir()] == ["hermes"]
    text = Path(door).read_text()
    assert [word for word in ("hermes_cli", "hermes-agent") if word in text] == []


def test_the_host_that_calls_itself_calls_the_manager(shared: Home) -> None:
    answer = run(shared, "hermes", "pm", "status", "--json")
    assert (answer.status, answer.value["generation"]["number"]) == (0, 1)
    assert run(shared, "hermes", "chat", "--version").stdout == "hermes-embedded-core 0.1.0\n"


def test_the_version_is_that_of_the_manager_and_of_the_core_behind_it(shared: Home) -> None:
    said = "hermes-pm 0.1.0\nhermes-embedded-core==0.1.0 (generation 1)\n"
    assert run(shared, "hermes", "--version") == Answer(0, said, "")


def test_the_host_cannot_change_its_environment_through_its_own_command(shared: Home) -> None:
    answer = run(shared, "hermes", "memory", "setup", "mem0")
    assert (answer.status, "is not part of this version of the manager" in answer.stderr) == (2, True)
    assert shared.ask("pm", "verify").gist == "0 verified"


def test_an_update_that_the_host_calls_for_itself_is_the_manager_s(shared: Home) -> None:
    answer = run(shared, "hermes", "update", "--yes", "--gateway")
    assert (answer.status, answer.stdout.splitlines()[0]) == (0, "✓ Hermes is up to date")
    assert shared.ask("pm", "verify").gist == "0 verified"


def test_the_host_cannot_uninstall_itself_through_its_own_command(shared: Home) -> None:
    answer = run(shared, "hermes", "uninstall", "--full", "--yes")
    assert (answer.status, "something runs in generation 1" in answer.stdout) == (4, True)
    assert shared.ask("pm", "verify").gist == "0 verified"


def test_what_lies_beside_the_host_says_that_it_is_no_installation_of_its_own(home: Home) -> None:
    home.ask("pm", "init")
    (site,) = (home.generation / "lib").glob("python3.*/site-packages")
    mark = site / ".install_method"
    assert mark.read_text() == "hermes-plugin-manager\n"
    site.chmod(0o755)
    mark.write_text("pip\n")
    answer = home.ask("pm", "verify")
    assert answer.gist == "1 drift drift"
    assert ".install_method" in answer.stdout
    assert home.ask("pm", "repair").gist == "0 repaired"
    assert home.ask("pm", "verify").gist == "0 verified"


def test_a_front_door_that_was_changed_is_made_again(shared: Home) -> None:
    door = shared.state / "front" / "hermes"
    run(shared, "true")
    before = door.read_bytes()
    for damage in (lambda: door.write_text("#!/bin/sh\necho another\n"), lambda: door.chmod(0o644), door.unlink):
        damage()
        assert run(shared, "hermes", "--version").stdout.startswith("hermes-")
        assert (door.read_bytes(), os.access(door, os.X_OK)) == (before, True)


def test_a_manager_that_is_gone_is_said_in_a_line(shared: Home, tmp_path: Path) -> None:
    run(shared, "true")
    moved = tmp_path / "hermes"
    text = (shared.state / "front" / "hermes").read_text().replace(os.path.realpath(HERMES), "/gone/hermes")
    moved.write_text(text)
    moved.chmod(0o755)
    answer = run(shared, moved, "pm", "status")
    assert answer == Answer(
        127,
        "",
        "hermes: the plugin manager is no longer at /gone/hermes; start something with the one that is there now\n",
    )


def test_a_state_that_cannot_be_written_has_no_front_door_and_starts_all_the_same(home: Home) -> None:
    home.ask("pm", "init")
    run(home, "true")
    shutil.rmtree(home.state / "front")
    (home.state / "front").write_text("a file in its place")
    answer = run(home, "python", "-c", WHICH)
    assert answer == Answer(0, f"{home.generation / 'bin' / 'hermes'} None\n", "")


@pytest.mark.parametrize(
    "line",
    [
        "HERMES_DISABLE_LAZY_INSTALLS=0",
        "HERMES_DISABLE_LAZY_INSTALLS=true",
        "export HERMES_DISABLE_LAZY_INSTALLS='0' # as before",
        "HERMES_LAZY_INSTALL_TARGET=/data",
    ],
)
def test_a_file_of_variables_that_opens_the_host_s_installer_is_told(profile: Home, line: str) -> None:
    (profile.path / ".env").write_text(f"OPENAI_API_KEY=hunter2\n{line}\n")
    answer = run(profile, "true")
    assert answer.status == 0
    assert f"`{profile.path / '.env'}` sets `HERMES_" in answer.stderr
    assert "hunter2" not in answer.stderr


@pytest.mark.parametrize("line", ["HERMES_DISABLE_LAZY_INSTALLS=1", "# HERMES_DISABLE_LAZY_INSTALLS=0", "HERMES_X=1"])
def test_a_file_of_variables_that_changes_nothing_is_not_told(profile: Home, line: str) -> None:
    (profile.path / ".env").write_text(f"{line}\n")
    assert run(profile, "true").stderr == ""


def test_what_an_administrator_sets_is_told(shared: Home, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HERMES_DISABLE_LAZY_INSTALLS=0\n")
    assert f"`{tmp_path / '.env'}` sets" in run(shared, "true", HERMES_MANAGED_DIR=str(tmp_path)).stderr


def test_where_the_host_would_put_what_it_installs_is_taken_away(shared: Home) -> None:
    code = "import os; print('HERMES_LAZY_INSTALL_TARGET' in os.environ)"
    assert run(shared, "python", "-c", code, HERMES_LAZY_INSTALL_TARGET="/data").stdout == "False\n"


# -- which profile is meant


def test_a_profile_that_is_named_in_front_of_a_verb_is_the_one_that_is_changed(shared: Home, profile: Home) -> None:
    source = shared.plugin("birch", "demo-colors")
    answer = shared.ask("-p", profile.path.name, "plugins", "install", source, "--enable", "--dry-run")
    assert (answer.gist, answer.value["plugin"]["profile"]) == ("0 admitted", profile.path.name)


def test_steps_name_the_home_of_the_profile_that_was_named(shared: Home, profile: Home) -> None:
    source = shared.plugin("cedar", "demo-nothing-like-that")
    answer = shared.ask("plugins", "-p", profile.path.name, "install", source, "--enable")
    assert answer.gist.startswith("1 refused")
    assert [str(profile.path) in step["command"] for step in answer.value["steps"]] == [True] * len(
        answer.value["steps"]
    )


def test_a_profile_that_does_not_exist_is_a_misuse(shared: Home) -> None:
    answer = shared.say("-p", "nothing", "plugins", "list", "--json")
    assert (answer.status, json.loads(answer.stdout)["error"]["code"]) == (2, "unknown-profile")


def test_the_profile_that_the_host_calls_active_is_meant_where_none_is_named(home: Home) -> None:
    home.ask("pm", "init")
    home.profile("coder")
    assert home.ask("plugins", "check").value["outcome"] == "ready"
    active = home.path / "active_profile"
    for text, meant in (("coder\n", "coder"), ("default\n", "default"), ("", "default")):
        active.write_text(text)
        assert home.ask("pm", "status").value["profile"] == meant
    active.write_bytes(b"\xff\xfe")
    assert home.ask("pm", "status").value["profile"] == "default"
    active.write_text("gone\n")
    answer = home.ask("pm", "status")
    assert (answer.status, answer.value["error"]["code"], answer.value["error"]["file"]) == (
        2,
        "unknown-profile",
        str(active),
    )
    assert home.ask("pm", "status", "--home", home.path).value["profile"] == "default"


@pytest.mark.parametrize("text", ["nix", "true", "false", "0", "no"])
def test_any_text_says_that_an_environment_is_managed(shared: Home, text: str) -> None:
    assert shared.ask("pm", "gc", HERMES_MANAGED=text).gist == "1 refused managed-environment"
