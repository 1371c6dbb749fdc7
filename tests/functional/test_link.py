"""The front door in a folder of programs: made, found, kept from harm, and unmade so that nothing tells of it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Answer, Home, snapshot
from pm.launch.front_door import KEPT

STRACE = ("strace", "-f", "-qq", "-o", os.devnull, "-e")
HOST = "#!/bin/sh\necho the host $*\n"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder of programs."""
    folder = tmp_path / "programs ü'"
    folder.mkdir()
    return folder


def host_in(programs: Path) -> Path:
    program = programs / "hermes"
    program.write_text(HOST)
    program.chmod(0o751)
    return program


def say(home: Home, *words: str | Path, **environ: str) -> Answer:
    """Run the manager by its own name, as a user does who has no front door."""
    return home.say_anew(*words, **{"HERMES_PM_FRONT_DOOR": "", **environ})


def through(programs: Path, home: Home, *words: str) -> str:
    done = subprocess.run(
        ["hermes", *words],
        env=home.environ | {"PATH": f"{programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_front_door_starts_the_manager_and_goes_without_a_trace(home: Home, programs: Path) -> None:
    assert say(home, "link", "--bin", programs, PATH=f"{programs}:/usr/bin:/bin") == Answer(
        0, f"`{programs / 'hermes'}` is now the front door: it starts `{os.path.realpath(HERMES)}`\n", ""
    )
    assert through(programs, home, "--version") == "hermes-pm 0.1.0\n"
    assert "`hermes pm init` makes one" in through(programs, home, "pm", "verify")
    assert say(home, "unlink", "--bin", programs).status == 0
    assert list(programs.iterdir()) == []


def test_the_host_is_kept_aside_and_put_back_as_it_was(home: Home, programs: Path) -> None:
    host = host_in(programs)
    before = snapshot(programs)
    answer = say(home, "link", "--bin", programs)
    assert (answer.status, answer.stdout) == (1, "")
    assert f"`{host}` is there already: another program (name-taken)" in answer.stderr
    assert snapshot(programs) == before
    answer = say(home, "link", "--bin", programs, "--force", "--json")
    assert (answer.status, answer.value["state"], answer.value["kept"]) == (0, "linked", str(programs / KEPT))
    assert through(programs, home, "--version") == "hermes-pm 0.1.0\n"
    answer = say(home, "link", "--bin", programs, "--json")
    assert (answer.value["state"], answer.value["kept"]) == ("unchanged", str(programs / KEPT))
    answer = say(home, "unlink", "--bin", programs)
    assert "what stood there before is back" in answer.stdout
    assert snapshot(programs) == before


@pytest.mark.parametrize("target", ["../elsewhere/hermes", "/nowhere/hermes"])
def test_a_link_to_a_program_is_put_back_as_the_same_link(home: Home, programs: Path, target: str) -> None:
    host = programs / "hermes"
    host.symlink_to(target)
    say(home, "link", "--bin", programs, "--force")
    assert not host.is_symlink()
    say(home, "unlink", "--bin", programs)
    assert (str(host.readlink()), [path.name for path in programs.iterdir()]) == (target, ["hermes"])


def test_the_text_names_nothing_for_which_a_host_deletes_programs(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "hermes-agent" / "hermes_cli" / "bin"
    elsewhere.mkdir(parents=True)
    manager = elsewhere / "hermes-pm"
    manager.write_text(f'#!/bin/sh\nexec {HERMES} "$@"\n')
    manager.chmod(0o755)
    code = f"import sys; sys.argv[0] = {str(manager)!r}; from pm.launch.front_door import *; "
    code += "sys.stdout.buffer.write(door_text(running_program()))"
    text = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    door = tmp_path / "hermes"
    door.write_bytes(text)
    door.chmod(0o755)
    assert [word for word in (b"hermes_cli", b"hermes-agent") if word in text] == []
    assert subprocess.run([door, "--version"], capture_output=True, check=True, env=home.environ).stdout == (
        b"hermes-pm 0.1.0\n"
    )


def test_a_program_that_took_the_place_of_the_front_door_is_left_alone(home: Home, programs: Path) -> None:
    host_in(programs)
    say(home, "link", "--bin", programs, "--force")
    (programs / "hermes").unlink()
    (programs / "hermes").write_text("#!/bin/sh\necho a newer host\n")
    answer = say(home, "unlink", "--bin", programs)
    told = f"`{programs / 'hermes'}` is not the front door, and stays as it is\n"
    told += f"what stood there before the front door is kept as `{programs / KEPT}`\n"
    assert (answer.status, answer.stdout) == (0, told)
    assert (programs / "hermes").read_text() == "#!/bin/sh\necho a newer host\n"
    say(home, "link", "--bin", programs, "--force")
    assert (programs / KEPT).read_text() == "#!/bin/sh\necho a newer host\n"


def test_a_manager_that_is_gone_leaves_the_host_that_was_there_before(home: Home, programs: Path) -> None:
    host_in(programs)
    say(home, "link", "--bin", programs, "--force")
    door = programs / "hermes"
    text = door.read_text().replace(os.path.realpath(HERMES), "/gone/hermes-pm")
    door.write_text(text)
    said = "hermes: the plugin manager is no longer at /gone/hermes-pm; this is the hermes that was here before\n"
    assert through(programs, home, "chat", "now") == f"the host chat now\n{said}"


def test_a_dry_run_changes_nothing(home: Home, programs: Path) -> None:
    host_in(programs)
    before = snapshot(programs)
    answer = say(home, "link", "--bin", programs, "--force", "--dry-run")
    assert answer.stdout.splitlines()[0].startswith(f"`{programs / 'hermes'}` would be the front door")
    assert snapshot(programs) == before
    say(home, "link", "--bin", programs, "--force")
    before = snapshot(programs)
    assert "would be taken away" in say(home, "unlink", "--bin", programs, "--dry-run").stdout
    assert snapshot(programs) == before


def test_another_program_that_is_found_first_is_told_with_the_line_that_helps(
    home: Home, programs: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    first.mkdir()
    host = host_in(first)
    answer = say(home, "link", "--bin", programs, PATH=f"{first}:{programs}:/usr/bin:/bin")
    line = f'write `export PATH="{programs}:$PATH"` into the file that your shell reads at its start'
    assert f"`{host}` comes first on the PATH; {line}\n" in answer.stdout
    answer = say(home, "link", "--bin", programs, PATH="/usr/bin:/bin")
    assert f"`{programs}` is not on the PATH; {line}\n" in answer.stdout


def test_where_nothing_is_named_it_stands_beside_the_manager_or_with_the_programs_of_the_user(
    home: Home, programs: Path
) -> None:
    (programs / "hermes-pm").symlink_to(HERMES)
    answer = say(home, "link", "--json", "--dry-run", PATH=f"{programs}:/usr/bin:/bin")
    assert answer.value["path"] == str(programs / "hermes")
    answer = say(home, "link", "--json", "--dry-run", PATH="/usr/bin:/bin")
    assert answer.value["path"] == str(home.user / ".local" / "bin" / "hermes")


def test_a_folder_that_is_a_file_is_no_folder_of_programs(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = say(home, "link", "--bin", tmp_path / "file", "--json")
    assert (answer.status, answer.value["error"]["code"]) == (3, "not-writable")


def test_there_is_nothing_to_take_away_where_there_is_no_front_door(home: Home, programs: Path) -> None:
    answer = say(home, "unlink", "--bin", programs)
    assert answer == Answer(0, f"there is no front door in `{programs}`\n", "")


@pytest.mark.skipif(shutil.which("strace") is None, reason="`strace` stops a program at a call")
@pytest.mark.parametrize("words", [("link", "--force"), ("unlink",)])
def test_killed_at_any_change_a_whole_program_stands_there_and_the_next_time_goes_well(
    home: Home, programs: Path, words: tuple[str, ...]
) -> None:
    calls = ("link,linkat", "rename,renameat,renameat2")
    for call in calls:
        for number in (1, 2, 3):
            shutil.rmtree(programs)
            programs.mkdir()
            before = host_in(programs).read_bytes()
            if words == ("unlink",):
                say(home, "link", "--force", "--bin", programs)
            door = (programs / "hermes").read_bytes()
            done = subprocess.run(
                [*STRACE, f"inject={call}:signal=KILL:when={number}", HERMES, *words, "--bin", programs],
                env=home.environ,
                capture_output=True,
                check=False,
            )
            assert done.returncode in (0, -signal.SIGKILL, 128 + signal.SIGKILL)
            found = (programs / "hermes").read_bytes()
            assert found in (before, door) or b"front door" in found
            assert say(home, "link", "--force", "--bin", programs).status == 0
            say(home, "unlink", "--bin", programs)
            assert (programs / "hermes").read_bytes() == before


# -- by its own name


def test_commands_begin_with_the_name_by_which_the_manager_was_started(home: Home) -> None:
    answer = say(home, "pm", "verify", "--json")
    assert "`hermes-pm pm init` makes one" in answer.stdout
    assert [step["command"].split()[0] for step in answer.value["steps"]] == ["hermes-pm"] * len(answer.value["steps"])
    assert say(home, "pm", "verify", "--jsn").stderr.startswith("hermes-pm pm verify: error:")
    assert say(home, "pm", "--help").stdout.startswith("usage: hermes-pm pm ")
    assert say(home, "plugins", "instal").stderr.splitlines()[1].strip() == "did you mean `hermes-pm plugins install`?"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("plugin", "list"), "hermes-pm plugins list"),
        (("install", "x"), "hermes-pm plugins install x"),
        (("instal", "x"), "hermes-pm plugins install x"),
        (("unistall",), "hermes-pm uninstall"),
        (("verfy",), "hermes-pm pm verify"),
        (("rm", "x"), "hermes-pm plugins remove x"),
    ],
)
def test_a_misspelt_command_is_no_question_to_the_core(home: Home, words: tuple[str, ...], meant: str) -> None:
    assert say(home, *words) == Answer(
        2, "", f"hermes-pm: error: there is no command `{words[0]}`\n        did you mean `{meant}`?\n"
    )


def test_a_bare_group_prints_its_help(home: Home) -> None:
    for words in ((), ("pm",), ("plugins",)):
        answer = say(home, *words)
        assert (answer.status, answer.stderr) == (0, "")
        assert answer.stdout.startswith(" ".join(("usage: hermes-pm", *words)))


def test_what_others_wrote_is_not_changed_to_the_name_of_the_manager(home: Home) -> None:
    described = "helps hermes users, see hermes plugins"
    home.install(home.plugin("ash", description=described))
    [row] = say(home, "plugins", "list", "--json").value["plugins"]
    assert row["description"] == described
    assert say(home, "plugins", "enable", "ash", "--jsn").stderr.startswith("hermes-pm plugins enable: error")
