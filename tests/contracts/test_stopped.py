"""Stopped by Ctrl-C, SIGTERM or SIGHUP an operation has happened, or it says in a receipt that it has not."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock

from fixtures.faults import Point, Staging, held, leftovers
from fixtures.homes import HERMES, Answer, Home, check_receipt, new_home
from fixtures.sampling import ALL, Sample
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe
from pm.errors import PmError
from pm.generations.install_lock import held_by_programs, install_lock
from pm.places import Places
from pm.system.processes import Stillness, run

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
WITH_UV = [
    pytest.param(signal.SIGTERM, "install"),
    pytest.param(signal.SIGHUP, "repair"),
    *(pytest.param(signal.SIGINT, name, marks=pytest.mark.slow) for name in ("first install", "enable", "remove")),
]
NAMES = ["install", "install --force", "enable", "disable", "remove", "rollback", "gc", "repair"]
SOME_POINTS = [
    pytest.param("install", signal.SIGTERM, 3, id="install, SIGTERM, some"),
    pytest.param("rollback", signal.SIGHUP, 2, id="rollback, SIGHUP, some"),
    pytest.param("gc", signal.SIGINT, 3, id="gc, SIGINT, some"),
]
ALL_POINTS = [
    pytest.param(name, number, ALL, id=f"{name}, {number.name}, all", marks=pytest.mark.slow)
    for name, number in zip(NAMES, SIGNALS * 3, strict=False)
]


class Ending(NamedTuple):
    """How an operation ends that a signal has hit, and what is found then."""

    gist: str
    happened: bool | None
    """`None`: half of it."""
    again: str
    """How the same command ends then."""
    said: str = ""
    held: tuple[str, ...] = ()
    """Locks and leases, right after it."""
    is_stored: bool = True
    """Whether its receipt is."""
    start: int = 0
    """The status of a command in the selected generation."""
    done: bool = True
    verified: str = "0 verified"
    left: tuple[str, ...] = ()


class SlowIndex(IndexServer):
    """Tells when it holds an answer back."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, read_recipe(DEFAULT_RECIPE))
        self.holds = threading.Event()
        self.held_back = ""
        """The package whose page is given when `goes_on` is set."""
        self.goes_on = threading.Event()

    def page(self, name: str, *, as_json: bool) -> bytes | None:
        if name == self.held_back:
            self.holds.set()
            self.goes_on.wait(60)
        return super().page(name, as_json=as_json)

    def fault_for(self, path: str) -> Fault | None:
        fault = super().fault_for(path)
        if fault is not None:
            self.holds.set()
        return fault


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SlowIndex]:
    with SlowIndex(tmp_path / "files") as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: SlowIndex) -> Home:
    # uv must not end by itself while an answer is held back
    home = new_home(tmp_path / "home", indexes=[server.url], UV_HTTP_TIMEOUT="600")
    home.install(home.plugin("ash", "demo-colors"))
    return home


def ending(staging: Staging, answer: Answer) -> Ending:
    """Look at the home of an operation that was stopped, and do it again."""
    home, selected, locks = staging.home, staging.selected, held(staging.home)
    stored = is_stored(home, answer)
    start = home.say("run", "--", "python", "-c", "pass").status if home.pointer else 0
    happened = {True: True, False: None}[selected == staging.after] if selected != staging.before else False
    again = staging.again().gist
    done = staging.selected._replace(records=[]) == staging.after._replace(records=[])
    verified = home.ask("pm", "verify").gist
    left = leftovers(home)
    return Ending(answer.gist, happened, again, answer.stderr, locks, stored, start, done, verified, left)


def is_stored(home: Home, answer: Answer) -> bool:
    check_receipt(answer.value)
    stored = [path.read_text() for path in home.state.glob(f"receipts/*-{answer.value['id']}.json")]
    return stored == [answer.stdout]


def message(answer: Answer) -> str:
    return str(answer.value["reasons"][0]["message"])


def finished(process: subprocess.Popen[str]) -> Answer:
    stdout, stderr = process.communicate(timeout=60)
    return Answer(process.returncode, stdout, stderr)


@pytest.mark.parametrize(("staging", "number", "count"), SOME_POINTS + ALL_POINTS, indirect=["staging"])
def test_stopped_at_any_point_an_operation_has_happened_or_says_that_it_has_not(
    staging: Staging, number: signal.Signals, count: int, sample: Sample
) -> None:
    operation = staging.operation
    expected = [
        Ending("3 interrupted interrupted", happened=False, again=operation.gist),
        Ending(operation.gist, happened=not operation.gradual, again=operation.again),
    ]
    found = {}
    for point in sample(staging.points, count):
        staging.restore()
        found[str(point)] = ending(staging, staging.interrupt((number, point)))
    assert {point: end for point, end in found.items() if end not in expected} == {}


@pytest.mark.parametrize(("number", "staging"), WITH_UV, indirect=["staging"])
def test_stopped_while_uv_works_uv_is_gone_and_nothing_has_happened(staging: Staging, number: signal.Signals) -> None:
    staging.restore()
    answer = staging.interrupt_while_uv_runs(number)
    assert message(answer) == f"`{staging.words[1]}` was stopped by {number.name}"
    assert answer.value["summary"].endswith("; nothing was changed")
    end = ending(staging, answer)
    assert end == Ending("3 interrupted interrupted", happened=False, again=staging.operation.gist, said=end.said)


@pytest.mark.parametrize(
    ("path", "number"),
    [("/simple/demo-speedups/", signal.SIGTERM), *(("*demo_speedups*.whl", number) for number in SIGNALS)],
)
def test_stopped_while_an_index_or_uv_is_waited_for_nothing_is_left(
    home: Home, server: SlowIndex, path: str, number: signal.Signals
) -> None:
    birch = home.plugin("birch", "demo-speedups")
    if path.endswith(".whl"):
        home.ask("plugins", "check", birch)
    before = home.snapshot(["pm/cache", "pm/locks", "pm/receipts"])
    server.faults = [Fault(path, "stall", times=-1)]
    process = home.start("plugins", "install", birch, "--enable", "--json")
    assert server.holds.wait(60)
    process.send_signal(number)
    answer = finished(process)
    assert (answer.gist, answer.stderr, is_stored(home, answer)) == ("3 interrupted interrupted", "", True)
    assert message(answer) == f"`install` was stopped by {number.name}"
    assert answer.value["summary"].endswith("; nothing was changed")
    assert home.snapshot(["pm/cache", "pm/locks", "pm/receipts"]) == before
    assert (held(home), leftovers(home)) == ((), ())
    server.faults = []
    assert home.install(birch).gist == "0 admitted"


@pytest.mark.parametrize(
    ("words", "number"),
    list(zip([("plugins", "remove", "ash"), ("pm", "gc"), ("pm", "rollback", "1")], SIGNALS, strict=True)),
)
def test_stopped_while_it_waits_for_another_operation_it_says_so_and_leaves_the_lock_alone(
    home: Home, words: tuple[str, ...], number: signal.Signals
) -> None:
    before = home.snapshot(["pm/locks", "pm/receipts"])
    with FileLock(home.state / "locks" / "install.lock"):
        process = home.start(*words, "--json", "--verbose")
        assert process.stderr is not None
        assert "waiting for" in process.stderr.readline()
        process.send_signal(number)
        answer = finished(process)
        assert held(home) == ("pm/locks/install.lock",)
    assert (answer.gist, is_stored(home, answer)) == ("3 interrupted interrupted", True)
    assert (home.snapshot(["pm/locks", "pm/receipts"]), held(home)) == (before, ())
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"


@pytest.mark.parametrize("staging", ["install"], indirect=True)
def test_ctrl_c_pressed_again_cuts_the_tidying_up_short_and_the_next_change_does_it(staging: Staging) -> None:
    journal = staging.points[[point.call for point in staging.points].index("link")]
    staging.restore()
    answer = staging.interrupt((signal.SIGINT, journal), (signal.SIGINT, Point("rmdir", 3)))
    assert (answer.gist, is_stored(staging.home, answer)) == ("3 interrupted interrupted", True)
    assert staging.again().gist == "0 admitted"
    assert leftovers(staging.home) == ()


def test_a_terminal_that_is_closed_stops_what_runs_in_it_and_the_receipt_is_stored(
    home: Home, server: SlowIndex
) -> None:
    birch = home.plugin("birch", "demo-speedups")
    server.faults = [Fault("/simple/demo-speedups/", "stall", times=-1)]
    ours, theirs = os.openpty()
    command: list[str | Path] = ["setsid", "--ctty", HERMES, "plugins", "install", birch, "--enable"]
    with subprocess.Popen(command, env=home.environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        assert server.holds.wait(60)
        os.close(ours)
        assert process.wait(60) == 3
    receipt = json.loads((home.state / "receipts" / "latest.json").read_text())
    assert receipt["reasons"][0]["message"] == "`install` was stopped by SIGHUP"
    assert receipt["summary"].endswith("; nothing was changed")
    assert (held(home), leftovers(home)) == ((), ())


def test_signals_that_whoever_started_it_wants_ignored_are_ignored(home: Home, server: SlowIndex) -> None:
    birch = home.plugin("birch", "demo-speedups")
    server.held_back = "demo-speedups"
    process = home.start("plugins", "install", birch, "--enable", "--json", under=["nohup"])
    assert server.holds.wait(60)
    process.send_signal(signal.SIGHUP)
    server.goes_on.set()
    assert finished(process).gist == "0 admitted"


def test_a_look_that_is_stopped_says_so_as_well(home: Home, server: SlowIndex) -> None:
    birch = home.plugin("birch", "demo-speedups")
    server.faults = [Fault("/simple/demo-speedups/", "stall", times=-1)]
    process = home.start("plugins", "check", birch, "--json")
    assert server.holds.wait(60)
    process.send_signal(signal.SIGTERM)
    assert finished(process).gist == "3 interrupted interrupted"


@pytest.fixture
def torn(tmp_path: Path, server: SlowIndex) -> Home:
    """Return a home whose core pins a package, and where trying another core needs metadata that does not come."""
    for number in ("1.0", "2.0"):
        server.offer(Distribution("board", number))
        server.offer(Distribution("hermes-agent", number, [f"board=={number}"]))
    home = new_home(tmp_path / "torn", indexes=[server.url])
    home.configure("  core: hermes-agent==1.0\n")
    home.install(home.plugin("elm", "demo-colors"))
    server.faults = [Fault("*hermes_agent-2.0*", "stall", times=-1)]
    return home


@pytest.mark.parametrize("number", SIGNALS)
def test_stopped_while_ways_out_are_tried_the_verdict_stays(
    torn: Home, server: SlowIndex, number: signal.Signals
) -> None:
    process = torn.start("plugins", "install", torn.plugin("birch", "board==2.0"), "--enable", "--json")
    assert server.holds.wait(60)
    process.send_signal(number)
    answer = finished(process)
    assert (answer.gist, answer.warnings) == ("1 refused core-conflict", ["interrupted"])
    steps = [(step["action"], step["confirmed"]) for step in answer.value["steps"]]
    assert steps == [("widen", True), ("update-core", False), ("retry", False)]
    assert is_stored(torn, answer)
    assert not (torn.path / "plugins" / "birch").exists()


def test_killed_while_ways_out_are_tried_the_verdict_is_stored(torn: Home, server: SlowIndex) -> None:
    process = torn.start("plugins", "install", torn.plugin("birch", "board==2.0"), "--enable", "--json")
    assert server.holds.wait(60)
    process.kill()
    process.communicate(timeout=60)
    stored = json.loads(next(torn.state.glob("receipts/latest-install.json")).read_text())
    assert (stored["operation"], stored["outcome"], stored["steps"][-1]["action"]) == ("install", "refused", "retry")
    assert [reason["code"] for reason in stored["reasons"]] == ["core-conflict"]


# -- what an operation has started


def test_when_the_manager_alone_is_killed_uv_dies_with_it_and_the_next_command_works(
    home: Home, server: SlowIndex
) -> None:
    birch = home.plugin("birch", "demo-speedups")
    home.ask("plugins", "check", birch)
    server.faults = [Fault("*demo_speedups*.whl", "stall", times=-1)]
    process = home.start("plugins", "install", birch, "--enable", "--json")
    assert server.holds.wait(60)
    uv = [os.pidfd_open(child) for child in children(process.pid)]
    process.kill()
    process.communicate(timeout=60)
    assert [bool(select.select([one], [], [], 60)[0]) for one in uv] == [True]
    server.faults = []
    assert home.install(birch).gist == "0 admitted"
    assert (held(home), leftovers(home)) == ((), ())


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(child) for child in listed.split()]


def test_a_program_that_outlives_its_operation_is_waited_for(tmp_path: Path) -> None:
    places = Places(tmp_path, tmp_path)
    with suppress(KeyboardInterrupt), held_by_programs(places) as lock:
        program = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(lock,))
        raise KeyboardInterrupt
    heard: list[str] = []
    with pytest.raises(PmError) as caught, install_lock(places, "install", seconds=0.1, tell=heard.append):
        pytest.fail("it has begun all the same")
    assert (caught.value.code, heard) == ("busy", ["waiting for a program that another operation had started"])
    program.communicate(timeout=60)
    with install_lock(places, "install"):
        assert held_locks(places) == ["install.lock"]


def test_what_a_program_leaves_running_on_purpose_keeps_nobody_waiting(tmp_path: Path) -> None:
    places = Places(tmp_path, tmp_path)
    with held_by_programs(places) as lock:
        server = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=(lock,))
    with install_lock(places, "install", seconds=0.1):
        assert held_locks(places) == ["install.lock"]
    server.communicate(timeout=60)


def held_locks(places: Places) -> list[str]:
    from pm.generations.leases import is_held

    return [path.name for path in sorted(places.locks.iterdir()) if is_held(path)]


def test_a_program_is_ended_as_a_whole_when_it_takes_too_long(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(PmError) as caught:
        run(["sh", "-c", f"sleep 600 > '{pipe}' & cat '{pipe}'"], seconds=0.2)
    assert caught.value.message == "`sh` did not end within 0.2 seconds and was stopped"
    # nobody who has the pipe open for writing lives on, so its end is found
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_a_program_that_goes_on_is_waited_for_where_only_its_stillness_is_limited() -> None:
    """Row G4: a wheel may drip for as long as it keeps coming."""
    said = run(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done"], seconds=Stillness(0.5))
    assert (said.status, said.stdout.split()) == (0, list("12345678"))


def test_a_program_that_does_nothing_is_stopped_all_the_same() -> None:
    with pytest.raises(PmError) as caught:
        run(["sleep", "60"], seconds=Stillness(0.2))
    assert (caught.value.code, caught.value.message) == (
        "interrupted",
        "`sleep` did nothing for 0.2 seconds and was stopped",
    )


def test_what_a_program_leaves_running_on_purpose_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = run(["sh", "-c", f"(cat '{pipe}' > '{tmp_path}/said') > /dev/null 2>&1 & echo $!"])
    server = os.pidfd_open(int(done.stdout))
    pipe.write_text("served")
    assert select.select([server], [], [], 60)[0] == [server]
    assert (tmp_path / "said").read_text() == "served"


ASKS = "exec < /dev/tty && read answer"


def test_a_program_that_asks_something_at_the_terminal_is_told_that_there_is_none() -> None:
    ours, theirs = os.openpty()
    asking = f"from pm.system.processes import run; print(run(['sh', '-c', {ASKS!r}], seconds=20).status != 0)"
    command = ["setsid", "--ctty", sys.executable, "-c", asking]
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=60)
    os.close(ours)
    os.close(theirs)
    assert (done.stdout, done.stderr) == ("True\n", "")


STOPPED_AT_THE_START = """
import os, signal, sys
from pm.system import processes
from pm.system import signals as stopping
stopping.listen()
started = []
class Watched(processes.subprocess.Popen):
    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        os.kill(os.getpid(), signal.SIGTERM)
        started.append(self)
processes.subprocess.Popen = Watched
try:
    processes.run(["sleep", "600"])
except stopping.Stopped as stopped:
    print(stopped, [program.returncode for program in started])
"""


def test_a_signal_that_arrives_while_a_program_is_started_ends_the_program_too() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_AT_THE_START], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("SIGTERM [-9]\n", "")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_what_waits_for_somebody_to_read_what_is_said(home: Home, number: signal.Signals) -> None:
    many = [home.plugin(f"birch-{number}", "demo-colors") for number in range(40)]
    process = home.start("plugins", "check", *many, "--json")
    assert process.stdout is not None
    # a pipe that holds less than what is said
    assert fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096) == 4096
    assert select.select([process.stdout], [], [], 60)[0] == [process.stdout]
    process.send_signal(number)
    assert process.wait(60) == -number
    process.communicate()


def test_output_that_cannot_be_written_changes_nothing_of_how_an_operation_ended(home: Home) -> None:
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [HERMES, "plugins", "disable", "ash"],
            env=home.environ,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert (process.returncode, process.stderr) == (
        0,
        (
            "hermes: the output cannot be written: No space left on device; "
            "`hermes pm receipts show latest` tells how it ended\n"
        ),
    )
    assert json.loads((home.state / "receipts" / "latest.json").read_text())["outcome"] == "disabled"
