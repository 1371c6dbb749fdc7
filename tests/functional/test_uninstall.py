"""Leaving: the state and the front doors go, what is the user's stays, and nothing is deleted under a running host."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Home, snapshot


@pytest.fixture
def own(home: Home) -> Home:
    """Return a home with a generation, a plugin and what belongs to its user."""
    assert home.install(home.plugin("ash", "demo-colors")).gist == "0 admitted"
    (home.path / ".env").write_text("KEY=hunter2\n")
    (home.path / "memories").mkdir()
    (home.path / "memories" / "USER.md").write_text("likes tests\n")
    return home


def rest(home: Home) -> dict[str, str]:
    """Return the state of everything that is not the manager's."""
    return {path: state for path, state in snapshot(home.path).items() if path.split("/")[0] != "pm" and path != "."}


def test_what_is_the_users_stays(own: Home) -> None:
    before = rest(own)
    answer = own.ask("uninstall", "--yes")
    assert (answer.gist, answer.value["summary"]) == ("0 removed", "Hermes is uninstalled")
    assert (rest(own), own.state.exists()) == (before, False)
    assert [path for path in own.path.iterdir() if path.name.startswith(".pm")] == []
    assert own.ask("uninstall", "--yes").gist == "0 unchanged"
    assert own.ask("pm", "init", "--embedded-core").gist == "0 admitted"
    assert own.admitted == ["ash in default"]


def test_it_says_how_the_manager_itself_goes(own: Home) -> None:
    warnings = own.ask("uninstall", "--yes").value["warnings"]
    (line,) = [warning["message"] for warning in warnings if warning["code"] == "manager-installed"]
    assert f"`{HERMES.parent / 'python'} -m pip uninstall hermes-plugin-manager` removes it" in line


def test_without_a_terminal_it_must_be_agreed_to(own: Home) -> None:
    before = snapshot(own.path)
    answer = own.ask("uninstall")
    assert answer.gist == "3 failed not-agreed"
    assert f"this would delete `{own.state}`" in answer.stdout
    assert snapshot(own.path) == before


def test_a_dry_run_deletes_nothing(own: Home) -> None:
    before = snapshot(own.path)
    assert own.ask("uninstall", "--dry-run").gist == "0 removed"
    assert snapshot(own.path) == before


def test_nothing_is_deleted_under_what_runs(own: Home) -> None:
    process = own.start("run", "--", "sh", "-c", "echo; exec sleep 60")
    try:
        assert process.stdout is not None
        process.stdout.readline()
        before = snapshot(own.path)
        answer = own.ask("uninstall", "--yes")
        assert (answer.gist, answer.value["reasons"][0]["message"]) == (
            "4 failed busy",
            "something runs in generation 1",
        )
        assert snapshot(own.path) == before
    finally:
        process.kill()
        process.communicate()


def test_the_front_door_goes_and_what_stood_there_is_back(own: Home, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "hermes").write_text("the host\n")
    before = snapshot(programs)
    path = f"{programs}:/usr/bin:/bin"
    own.say("link", "--bin", programs, "--force", PATH=path)
    assert snapshot(programs) != before
    assert own.ask("uninstall", "--yes", PATH=path).gist == "0 removed"
    assert snapshot(programs) == before


def test_purge_deletes_the_whole_root_read_only_folders_and_all(own: Home) -> None:
    work = own.profile("work")
    assert work.ask("uninstall", "--purge", "--yes").gist == "0 removed"
    assert not own.path.exists()


def test_purge_deletes_no_folder_that_is_more_than_a_home(own: Home, tmp_path: Path) -> None:
    shutil.copytree(own.path, own.user, dirs_exist_ok=True)
    answer = own.ask("uninstall", "--purge", "--yes", "--home", own.user)
    assert answer.gist == "3 failed not-writable"
    assert (own.user / ".env").exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "thesis.txt").write_text("years of work\n")
    assert own.ask("uninstall", "--purge", "--yes", "--home", empty).gist == "3 failed not-writable"
    assert (empty / "thesis.txt").exists()


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.skipif(shutil.which("strace") is None, reason="`strace` stops a program at a call")
def test_stopped_on_the_way_there_is_all_of_it_or_none_and_the_next_time_goes_to_the_end(
    own: Home, number: int
) -> None:
    before = rest(own)
    inject = f"inject=rename,renameat,renameat2,unlinkat,rmdir:signal=KILL:when={number * number * number}"
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", os.devnull, "-e", inject, HERMES, "uninstall", "--yes"],
        env=own.environ,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL)
    assert own.say("run", "--", "true").status == (0 if own.pointer is not None else 1)
    assert own.ask("uninstall", "--yes").gist in ("0 removed", "0 unchanged")
    found = {path: state for path, state in rest(own).items() if not path.endswith(".lock")}
    assert found == {path: state for path, state in before.items() if not path.endswith(".lock")}
    assert [path.name for path in own.path.iterdir() if "pm" in path.name] == []


def test_a_managed_environment_is_not_deleted(own: Home) -> None:
    assert own.ask("uninstall", "--yes", HERMES_MANAGED="nix").gist == "1 refused managed-environment"
