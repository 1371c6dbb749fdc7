"""`hermes run` becomes a command in the selected generation: its environment, its lease, and what is told before."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import time
from itertools import count
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Answer, Home, new_home, snapshot, write_plugin
from pm.generations.leases import exclusively, leased
from pm.places import EnvironmentNumber, Places

PRINT_ENVIRONMENT = "import json, os; print(json.dumps(dict(os.environ)))"
NUMBERS = count()
PRINT_WORDS = "import json, sys; print(json.dumps(sys.argv[1:]))"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Home:
    """Return a home with a generation; every test leaves it as it was."""
    return ready(new_home(tmp_path_factory.mktemp("shared") / "home", wheels=wheels))


@pytest.fixture
def profile(shared: Home) -> Home:
    """Return a profile for one test, which shares the generation."""
    return shared.profile(f"profile-{next(NUMBERS)}")


@pytest.fixture
def own(home: Home) -> Home:
    """Return a home with a generation, for one test."""
    return ready(home)


def ready(home: Home) -> Home:
    answer = home.say("pm", "init")
    assert (answer.status, answer.stderr) == (0, "")
    return home


def run(home: Home, *words: str | Path, **environ: str) -> Answer:
    return home.say("run", "--", *words, **environ)


def places(home: Home) -> Places:
    return Places(home.path, home.root)


def program(file: Path, text: str, mode: int = 0o755) -> Path:
    file.write_text(text)
    file.chmod(mode)
    return file


# -- the environment


def test_a_command_gets_the_documented_environment_and_everything_else_of_the_caller(shared: Home) -> None:
    caller = {
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PWD": str(shared.work),  # which a shell sets where it is not
        "PYTHONPATH": str(shared.work),
        "VIRTUAL_ENV": "/somewhere/else",
        "CONDA_PREFIX": "/conda",
        "UV_PYTHON": "3.99",
        "UV_INDEX_URL": "http://127.0.0.1:9/simple",
        "HERMES_DISABLE_LAZY_INSTALLS": "0",
        "HERMES_LAZY_INSTALL_TARGET": "/somewhere/else",
        "HERMES_PM_ADMITTED": '{"default": ["/somewhere/else"]}',
        "EDITOR": "ed ü",
    }
    answer = run(shared, "python", "-c", PRINT_ENVIRONMENT, **caller)
    state = shared.state
    assert (answer.status, answer.stderr, answer.value) == (
        0,
        "",
        {
            "EDITOR": "ed ü",
            "HERMES_BIN": f"{state}/front/hermes",
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            "HERMES_HOME": str(shared.path),
            "HERMES_MANAGED_DIR": str(shared.user),
            "HERMES_PM_ADMITTED": "{}",
            "HERMES_PM_GENERATION": "1",
            "HOME": str(shared.user),
            "LANG": "C.UTF-8",
            "PATH": f"{state}/front:{state}/generations/1/bin:/usr/local/bin:/usr/bin:/bin",
            "PWD": str(shared.work),
            "PYTHONPYCACHEPREFIX": f"{state}/pycache/1",
            "UV_INDEX_URL": "http://127.0.0.1:9/simple",
            "VIRTUAL_ENV": f"{state}/generations/1",
        }
        | {name: os.environ[name] for name in ("TMPDIR",) if name in os.environ},
    )


def test_a_profile_is_the_home_of_its_command_and_shares_the_generation(shared: Home, profile: Home) -> None:
    answer = run(profile, "python", "-c", PRINT_ENVIRONMENT)
    names = ("HERMES_HOME", "HERMES_PM_GENERATION", "VIRTUAL_ENV")
    assert [answer.value[name] for name in names] == [str(profile.path), "1", f"{shared.state}/generations/1"]


def test_python_is_the_generations_and_imports_nothing_of_the_caller(shared: Home) -> None:
    leaking = shared.work / "leaking"
    leaking.mkdir()
    (leaking / "leaked.py").write_text("")
    code = "import importlib.util, sys; print(sys.prefix, importlib.util.find_spec('leaked'))"
    answer = run(shared, "python", "-c", code, PYTHONPATH=str(leaking))
    assert answer == Answer(0, f"{shared.generation} None\n", "")


def test_the_manager_cannot_be_imported_in_a_generation(shared: Home) -> None:
    answer = run(shared, "python", "-c", "import importlib.util; print(importlib.util.find_spec('pm'))")
    assert answer == Answer(0, "None\n", "")


# -- the command


@pytest.mark.parametrize(("code", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM)])
def test_a_command_ends_as_it_ends(shared: Home, code: str, status: int) -> None:
    assert run(shared, "sh", "-c", code) == Answer(status, "", "")


def test_words_arrive_as_they_were_given(shared: Home) -> None:
    words = ["two words", "", "ü ✓", "--safe", "--", "$HOME", "*", 'a"b', "back\\slash", "line\nline"]
    answer = run(shared, "python", "-c", PRINT_WORDS, *words)
    assert (answer.status, json.loads(answer.stdout)) == (0, words)


def test_a_command_works_in_the_folder_of_the_caller(shared: Home) -> None:
    program(shared.work / "here.sh", "#!/bin/sh\npwd\n")
    assert run(shared, "./here.sh") == Answer(0, f"{shared.work}\n", "")


def test_a_folder_that_is_gone_stops_nothing(shared: Home) -> None:
    code = f'mkdir gone && cd gone && rmdir ../gone && exec "{HERMES}" run -- echo started'
    done = subprocess.run(["sh", "-c", code], cwd=shared.work, env=shared.environ, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"started\n")


def test_a_pipe_that_is_closed_ends_a_command(shared: Home) -> None:
    assert run(shared, "sh", "-c", "kill -PIPE $$; echo went on") == Answer(-signal.SIGPIPE, "", "")


@pytest.mark.parametrize("name", ["no-such-command", "", "./no-such-file", "no/such/folder"])
def test_a_command_that_is_not_there_is_127(shared: Home, name: str) -> None:
    said = "no such file or directory" if "/" in name else "command not found"
    assert run(shared, name) == Answer(127, "", f"hermes: `{name}`: {said}\n")


def test_a_file_that_is_not_executable_is_126(shared: Home) -> None:
    file = program(shared.work / "plain", "text", 0o644)
    by_path = run(shared, "./plain")
    by_name = run(shared, "plain", PATH=str(shared.work))
    assert [by_path, by_name] == [
        Answer(126, "", "hermes: `./plain`: permission denied\n"),
        Answer(126, "", f"hermes: `{file}`: permission denied\n"),
    ]


def test_a_later_executable_of_the_name_is_taken_as_a_shell_takes_it(shared: Home) -> None:
    for folder, mode in (("first", 0o644), ("second", 0o755)):
        (shared.work / folder).mkdir()
        program(shared.work / folder / "twice", f"#!/bin/sh\necho {folder}\n", mode)
    path = f"{shared.work}/first:{shared.work}/second"
    assert run(shared, "twice", PATH=path) == Answer(0, "second\n", "")


def test_a_script_whose_interpreter_is_missing_says_so(shared: Home) -> None:
    program(shared.work / "lost", "#!/no/such/interpreter\n")
    assert run(shared, "./lost") == Answer(127, "", "hermes: `./lost`: what its first line names is not there\n")


def test_a_script_without_a_first_line_is_one_for_the_shell(shared: Home) -> None:
    program(shared.work / "bare", 'echo "$1"\n')
    assert run(shared, "./bare", "a word") == Answer(0, "a word\n", "")


# -- the core's own command


def test_other_words_go_to_the_cores_own_command(shared: Home) -> None:
    answer = shared.say("chat", "--version")
    assert answer == Answer(0, "hermes-embedded-core 0.1.0\n", "")


def test_a_core_without_a_command_of_its_own_is_told_with_the_word(own: Home) -> None:
    (own.generation / "bin" / "hermes").unlink()
    answer = own.say("chat", "--secret=hunter2")
    assert answer == Answer(
        2,
        "",
        "hermes: `hermes chat` is no command of the manager, and the core brings no `hermes` of its own "
        "(unknown-plugin)\n        `hermes --help` lists what there is\n",
    )


def test_a_command_that_is_not_executable_is_not_searched_elsewhere(own: Home) -> None:
    file = own.generation / "bin" / "hermes"
    file.chmod(0o644)
    answer = own.say("chat", PATH=f"{HERMES.parent}:/usr/bin:/bin")
    assert answer == Answer(126, "", f"hermes: `{file}`: permission denied\n")


def test_a_manager_inside_of_a_generation_does_not_hand_over_to_itself(own: Home) -> None:
    file = own.generation / "bin" / "hermes"
    file.unlink()
    file.symlink_to(HERMES)
    answer = own.say("chat")
    assert answer == Answer(
        1,
        "",
        f"hermes: {file}: `hermes chat` is no command of the manager, and the generation's own `hermes` is the manager "
        "again (drift)\n        `hermes pm repair` builds the generation again\n",
    )


# -- the lease


def started(home: Home, code: str) -> tuple[subprocess.Popen[str], str]:
    """Start a shell in the generation, and return it with the first line that it says."""
    process = home.start("run", "--", "sh", "-c", code)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def is_free(home: Home) -> bool:
    with exclusively(places(home), EnvironmentNumber(1)) as free:
        return free


def wait_until_free(home: Home) -> None:
    with (home.state / "locks" / "generation-1").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def test_a_generation_is_leased_until_the_command_is_killed(shared: Home) -> None:
    before = is_free(shared)
    process, said = started(shared, "echo up; exec sleep 60")
    during = (is_free(shared), leased(shared.state / "locks"))
    process.kill()
    process.communicate()
    assert (before, said, during, is_free(shared)) == (True, "up", (False, (1,)), True)


def test_a_generation_stays_leased_while_a_child_of_the_command_lives(shared: Home) -> None:
    process, child = started(shared, "sleep 60 >/dev/null 2>&1 & echo $!; exit 3")
    process.communicate()
    held = not is_free(shared)
    os.kill(int(child), signal.SIGKILL)
    wait_until_free(shared)
    assert (process.returncode, held, is_free(shared)) == (3, True, True)


def test_a_lease_does_not_lie_where_scripts_open_files(shared: Home) -> None:
    process, said = started(shared, "exec 3</dev/null 4</dev/null 5</dev/null 9</dev/null; echo up; exec sleep 60")
    held = not is_free(shared)
    process.kill()
    process.communicate()
    assert (said, held) == ("up", True)


def test_several_commands_lease_one_generation(shared: Home) -> None:
    one, _ = started(shared, "echo up; exec sleep 60")
    other, _ = started(shared, "echo up; exec sleep 60")
    one.kill()
    one.communicate()
    still = leased(shared.state / "locks")
    other.kill()
    other.communicate()
    assert (still, leased(shared.state / "locks")) == ((1,), ())


def wait_until_blocked(process: subprocess.Popen[str]) -> None:
    """Wait until the system says that a process waits for a shared lock."""
    deadline = time.monotonic() + 30
    while f" READ {process.pid} " not in Path("/proc/locks").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_generation_that_is_selected_meanwhile_is_taken(own: Home) -> None:
    first = (own.state / "pointer.json").read_bytes()
    assert own.install(own.plugin("ash", "demo-colors>=1")).gist == "0 admitted"
    second = (own.state / "pointer.json").read_bytes()
    (own.state / "pointer.json").write_bytes(first)
    with exclusively(places(own), EnvironmentNumber(1)) as free:
        process = own.start("run", "--", "sh", "-c", "echo $HERMES_PM_GENERATION $VIRTUAL_ENV")
        wait_until_blocked(process)
        (own.state / "pointer.json").write_bytes(second)
    said, _ = process.communicate(timeout=60)
    assert (free, said) == (True, f"2 {own.state}/generations/2\n")


def test_a_lock_file_that_is_removed_meanwhile_is_made_again(shared: Home) -> None:
    with exclusively(places(shared), EnvironmentNumber(1)) as free:
        process = shared.start("run", "--", "sh", "-c", "echo up; exec sleep 60")
        wait_until_blocked(process)
        (shared.state / "locks" / "generation-1").unlink()
    assert process.stdout is not None
    said = process.stdout.readline()
    held = leased(shared.state / "locks")
    process.kill()
    process.communicate()
    assert (free, said, held) == (True, "up\n", (1,))


# -- nothing writes into a generation


def test_importing_changes_nothing_in_the_generation_and_keeps_bytecode_elsewhere(shared: Home) -> None:
    before = snapshot(shared.generation)
    answer = run(shared, "python", "-c", "import pyyaml, hermes_constants; print(hermes_constants.__cached__)")
    kept = Path(answer.stdout.strip())
    elsewhere = shared.state / "pycache" / "1" / shared.generation.relative_to("/")
    assert (answer.status, snapshot(shared.generation), kept.exists()) == (0, before, True)
    assert kept.is_relative_to(elsewhere)


# -- what is odd about the generation


def test_a_distribution_that_somebody_added_is_told_and_stops_nothing(own: Home) -> None:
    [site] = own.generation.glob("lib/python3.*/site-packages")
    site.chmod(0o755)
    (site / "added.py").write_text("")
    answer = run(own, "echo", "started")
    assert answer == Answer(
        0,
        "started\n",
        "hermes: something was added to generation 1 or taken from it since it was built; "
        "`hermes pm repair` builds it again\n",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("mkdir", "Foreign_Thing-1.0.dist-info"), "`foreign-thing` was added to"),
        (
            ("mkdir", *(f"x{number}-1.dist-info" for number in range(7))),
            "`x0`, `x1`, `x2`, `x3`, `x4` and 2 more were added to",
        ),
        (("mv", "pyyaml-6.0.3.dist-info", ".."), "`pyyaml` was taken from"),
    ],
)
def test_distributions_that_somebody_added_or_took_are_named(own: Home, change: tuple[str, ...], said: str) -> None:
    [site] = own.generation.glob("lib/python3.*/site-packages")
    for folder in (site, site.parent):
        folder.chmod(0o755)
    subprocess.run(change, cwd=site, check=True)
    told = f"hermes: {said} generation 1 since it was built; `hermes pm repair` builds it again\n"
    assert run(own, "echo", "started") == Answer(0, "started\n", told)


def test_an_environment_that_is_gone_is_drift(own: Home) -> None:
    own.generation.rename(own.work / "moved")
    answer = run(own, "true")
    assert answer == Answer(
        1,
        "",
        f"hermes: {own.state}/generations/1: the environment of generation 1 is gone (drift)\n"
        "        `hermes pm repair` builds it again\n",
    )


def test_a_home_that_was_moved_runs_nothing_before_it_is_repaired(own: Home) -> None:
    moved = own.path.with_name("moved")
    own.path.rename(moved)
    there, here = own.state / "generations" / "1", moved / "pm" / "generations" / "1"
    said = f"the environment of generation 1 was built in `{there}` and lies in `{here}` now, where it cannot run"
    told = f"hermes: {here}: {said} (drift)\n        `hermes pm repair` builds it here\n"
    place = {"HERMES_HOME": str(moved)}
    assert run(own, "true", **place) == Answer(1, "", told)
    repaired = own.say("pm", "repair", **place).status
    assert (repaired, run(own, "true", **place)) == (0, Answer(0, "", ""))


def test_an_interpreter_that_is_gone_is_drift(own: Home) -> None:
    python = own.generation / "bin" / "python"
    python.parent.chmod(0o755)
    python.unlink()
    python.symlink_to("/no/such/python")
    assert run(own, "true") == Answer(
        1,
        "",
        f"hermes: {python}: the interpreter that generation 1 was built with is gone (drift)\n"
        "        `hermes pm init` builds it with another one\n",
    )


def test_a_pointer_that_cannot_be_read_is_drift(own: Home) -> None:
    pointer = own.state / "pointer.json"
    pointer.write_text('{"generation": 1}')
    answer = run(own, "true")
    assert answer == Answer(
        1,
        "",
        f"hermes: {pointer}: the pointer `{pointer}` cannot be read (drift)\n"
        "        `hermes pm init` makes a new generation\n",
    )


def test_without_a_generation_nothing_starts(home: Home) -> None:
    expected = (
        f"hermes: no generation was made yet for `{home.path}` (no-generation)\n        `hermes pm init` makes one\n"
    )
    assert [run(home, "true"), home.say("chat")] == [Answer(1, "", expected)] * 2


def test_the_journal_of_an_interrupted_operation_is_followed_and_that_of_a_running_one_is_not(own: Home) -> None:
    journal = {"schema": 1, "operation": "install", "pointer": {"after": None}, "replacements": []}
    (own.state / "journal.json").write_text(json.dumps(journal))
    with (own.state / "locks" / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = run(own, "true")
    interrupted = run(own, "true")
    assert [running, interrupted, (own.state / "journal.json").exists()] == [
        Answer(0, "", ""),
        Answer(0, "", "hermes: an interrupted operation was undone\n"),
        False,
    ]


def test_a_journal_that_cannot_be_followed_is_set_aside_by_a_start(own: Home) -> None:
    (own.state / "journal.json").write_text("{}")
    said = run(own, "true").stderr
    (parked,) = own.state.glob("journal.parked-*.json")
    kept = f"its journal is kept as `{parked}`, and `hermes pm verify` says what differs"
    assert said == f"hermes: an interrupted operation can be neither finished nor undone: {kept}\n"
    assert run(own, "true") == Answer(0, "", "")


# -- admitted or not


def unadmitted(home: Home, listed: str, step: str) -> str:
    return f"hermes: enabled in `{home.config}` and not part of generation 1: {listed}; {step}\n"


def test_what_the_config_enables_and_nobody_admitted_is_told_in_one_line(profile: Home) -> None:
    write_plugin(profile.path / "plugins" / "ash")
    write_plugin(profile.path / "plugins" / "birch")
    write_plugin(profile.path / "plugins" / "off")
    profile.configure(
        "plugins:\n  enabled: [ash, ghost, BIRCH, off]\n  disabled: [off]\nmemory:\n  provider: elsewhere\n"
    )
    told = unadmitted(
        profile,
        "`ash`, `birch`, `ghost` (not found), `elsewhere` (not found)",
        "`hermes plugins enable NAME` admits one of them",
    )
    assert [run(profile, "true"), run(profile, "true")] == [Answer(0, "", told)] * 2


def test_a_plugin_that_is_not_there_can_be_removed(profile: Home) -> None:
    profile.configure("plugins:\n  enabled: [ghost]\n")
    told = unadmitted(profile, "`ghost` (not found)", "put it back, or `hermes plugins remove ghost`")
    assert run(profile, "true") == Answer(0, "", told)


def test_what_was_admitted_is_not_told_however_it_is_spelled(own: Home) -> None:
    assert own.install(write_plugin(own.work / "red_ash", "demo-colors>=1", name="Fraxinus")).gist == "0 admitted"
    quiet = [run(own, "true")]
    for spelling in ("Red-Ash", "fraxinus"):
        own.config.write_text(own.config.read_text().replace("red_ash", spelling).replace("Red-Ash", spelling))
        quiet.append(run(own, "true"))
    assert quiet == [Answer(0, "", "")] * 3


def test_a_declaration_that_changed_since_it_was_admitted_is_told(own: Home) -> None:
    assert own.install(own.plugin("ash", "demo-colors>=1")).gist == "0 admitted"
    quiet = run(own, "true")
    write_plugin(own.path / "plugins" / "ash", "demo-colors>=1", description="other words")
    reworded = run(own, "true")
    write_plugin(own.path / "plugins" / "ash", "demo-colors>=1.1")
    changed = run(own, "true")
    assert [quiet, reworded] == [Answer(0, "", "")] * 2
    assert changed == Answer(
        0,
        "",
        f"hermes: enabled in `{own.config}` and not part of generation 2: `ash` (changed since it was admitted); "
        "`hermes plugins enable ash` admits it\n",
    )


def test_requirements_in_a_file_of_the_plugins_own_are_read_at_every_start(own: Home) -> None:
    project = (
        '[project]\nname = "ash"\nversion = "1"\ndynamic = ["dependencies"]\n'
        '[tool.setuptools.dynamic]\ndependencies = {file = ["needs.txt"]}\n'
    )
    plugin = write_plugin(own.work / "ash", files={"pyproject.toml": project, "needs.txt": "demo-colors>=1\n"})
    assert own.install(plugin).gist == "0 admitted"
    quiet = run(own, "true")
    (own.path / "plugins" / "ash" / "needs.txt").write_text("demo-colors>=1.1\n")
    assert (quiet.stderr, "(changed since it was admitted)" in run(own, "true").stderr) == ("", True)


def test_a_plugin_of_the_project_counts_where_it_is_switched_on(profile: Home) -> None:
    write_plugin(profile.work / ".hermes" / "plugins" / "ash")
    profile.configure("plugins:\n  enabled: [ash]\n")
    off = run(profile, "true")
    on = run(profile, "true", HERMES_ENABLE_PROJECT_PLUGINS="1")
    assert [off.stderr, on.stderr] == [
        unadmitted(profile, "`ash` (not found)", "put it back, or `hermes plugins remove ash`"),
        unadmitted(profile, "`ash`", "`hermes plugins enable ash` admits it"),
    ]


def test_whoever_asks_for_it_starts_nothing_that_was_not_admitted(own: Home) -> None:
    write_plugin(own.path / "plugins" / "ash")
    text = own.config.read_text().replace("pm:\n", "pm:\n  on_unadmitted: stop\n")
    own.config.write_text(f"{text}plugins:\n  enabled: [ash]\n")
    refused = Answer(
        1,
        "",
        f"hermes: enabled in `{own.config}` and not part of generation 1: `ash` (not-admitted)\n"
        "        `hermes plugins enable ash` admits it; `hermes run --safe -- …` starts without plugins\n",
    )
    assert [run(own, "true"), run(own, "true"), own.say("chat", "--version")] == [refused] * 3
    assert own.say("run", "--safe", "--", "echo", "started") == Answer(0, "started\n", "")


def test_a_config_that_cannot_be_read_is_told_and_stops_nothing(profile: Home) -> None:
    profile.configure("plugins:\n  enabled: all of them\n")
    assert run(profile, "echo", "started") == Answer(
        0,
        "started\n",
        f"hermes: `{profile.config}`:2: `plugins.enabled` must be a list of names, not `all of them`; "
        "whether everything enabled was admitted is not known\n",
    )


def test_a_record_that_cannot_be_read_is_told_and_stops_nothing(own: Home) -> None:
    own.configure("plugins:\n  enabled: [ash]\n")
    record = own.state / "generations" / "1.json"
    record.write_text("{}")
    assert run(own, "echo", "started") == Answer(
        0,
        "started\n",
        f"hermes: `{record}`: the record of generation 1 cannot be read; "
        "whether everything enabled was admitted is not known; `hermes pm init` makes a new generation\n",
    )


def test_a_start_reads_nothing_again_that_is_as_it_was(own: Home) -> None:
    assert own.install(own.plugin("ash", "demo-colors>=1")).gist == "0 admitted"
    run(own, "true")
    answer = run(own, "true", PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in answer.stderr.splitlines()}
    heavy = {
        "admission",
        "lockfiles",
        "packaging",
        "yaml",
        "pm.config.profiles",
        "pm.generations.records",
        "hashlib",
        "subprocess",
    }
    assert (answer.status, "pm.launch.exec" in imported, imported & heavy) == (0, True, set())


# -- safe mode


def test_safe_mode_is_told_to_the_core_and_changes_no_file_of_the_home(profile: Home) -> None:
    profile.configure("plugins:\n  enabled: [ghost]\n")
    before = snapshot(profile.path)
    answer = profile.say("run", "--safe", "--", "python", "-c", PRINT_ENVIRONMENT)
    told = {name: answer.value.get(name) for name in ("HERMES_SAFE_MODE", "HERMES_IGNORE_RULES", "HERMES_HOME")}
    expected = {"HERMES_SAFE_MODE": "1", "HERMES_IGNORE_RULES": "1", "HERMES_HOME": str(profile.path)}
    assert (answer.status, answer.stderr, told, snapshot(profile.path)) == (0, "", expected, before)


def test_safe_mode_says_what_it_cannot_promise_for_another_core(own: Home) -> None:
    pointer = own.state / "pointer.json"
    pointer.write_text(pointer.read_text().replace("hermes-embedded-core==0.1.0", "hermes-agent==0.19.0"))
    [package] = own.generation.glob("lib/python3.*/site-packages/hermes_cli")
    package.chmod(0o755)
    loader = package / "plugins.py"
    loader.unlink()
    unaware = own.say("run", "--safe", "--", "true")
    loader.write_text('SWITCH = "HERMES_SAFE_MODE"\n')
    aware = own.say("run", "--safe", "--", "true")
    assert [unaware, aware] == [
        Answer(
            0,
            "",
            "hermes: `hermes-agent==0.19.0` does not know `HERMES_SAFE_MODE`: it may load plugins all the same\n",
        ),
        Answer(
            0,
            "",
            "hermes: `hermes-agent==0.19.0` leaves plugins out in safe mode, but outside of a chat it may still load "
            "the memory provider that the config selects\n",
        ),
    ]
