"""One changing operation at a time: a second one waits, says for whom, and gives up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from pm.errors import PmError
from pm.generations.install_lock import install_lock
from pm.places import Places

ROOT = Path(__file__).parent.parent.parent
HOLD = """
import sys
from pathlib import Path
from pm.generations.install_lock import install_lock
from pm.places import Places
root = Path(sys.argv[1])
with install_lock(Places(root, root), "update"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, tmp_path)


class Holder:
    """Another process that holds a root's install lock until it is told to let go, or killed."""

    def __init__(self, places: Places) -> None:
        command = [sys.executable, "-c", HOLD, str(places.root)]
        environ = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(
            command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        if self.process.stdout is None or self.process.stdout.readline() != "held\n":
            raise AssertionError("the lock could not be taken")

    @property
    def name(self) -> str:
        return f"`update` of process {self.process.pid}"

    def let_go(self) -> None:
        self.process.communicate(timeout=60)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@contextmanager
def held(places: Places) -> Iterator[Holder]:
    holder = Holder(places)
    try:
        yield holder
    finally:
        if holder.process.returncode is None:
            holder.kill()


def written(places: Places) -> object:
    return json.loads((places.locks / "install.json").read_text())


def busy(places: Places, tell: Callable[[str], None] = lambda _: None) -> tuple[str, str, str]:
    with pytest.raises(PmError) as caught, install_lock(places, "install", seconds=0.1, tell=tell):
        pass
    return caught.value.code, caught.value.message, caught.value.hint


def test_the_holder_is_written_down_as_long_as_it_holds(places: Places) -> None:
    with install_lock(places, "install"):
        assert written(places) == {"operation": "install", "pid": os.getpid()}
    assert (places.locks / "install.json").exists() is False


def test_a_busy_root_says_who_holds_it(places: Places) -> None:
    heard: list[str] = []
    with held(places) as holder:
        said = busy(places, heard.append)
        assert (said, heard, written(places)) == (
            (
                "busy",
                f"{holder.name} has held the install lock for 0.1 seconds",
                "try again when it is done; nothing was changed",
            ),
            [f"waiting for {holder.name}"],
            {"operation": "update", "pid": holder.process.pid},
        )


def test_a_holder_that_nobody_knows_is_another_operation(places: Places) -> None:
    with held(places):
        (places.locks / "install.json").write_text("damaged")
        assert busy(places)[1] == "another operation has held the install lock for 0.1 seconds"


def test_a_thread_of_the_same_process_waits_as_well(places: Places) -> None:
    with install_lock(places, "install"):
        assert busy(places)[1] == f"`install` of process {os.getpid()} has held the install lock for 0.1 seconds"


@pytest.mark.parametrize("ending", ["let_go", "kill"])
def test_who_waits_goes_on_when_the_holder_ends_or_is_killed(places: Places, ending: str) -> None:
    heard: list[str] = []
    with held(places) as holder:

        def tell(text: str) -> None:
            heard.append(text)
            getattr(holder, ending)()

        with install_lock(places, "install", seconds=60, tell=tell):
            assert written(places) == {"operation": "install", "pid": os.getpid()}
    assert heard == [f"waiting for {holder.name}"]


def test_what_a_killed_holder_left_behind_makes_nobody_wait(places: Places) -> None:
    heard: list[str] = []
    with held(places) as holder:
        holder.kill()
        assert written(places) == {"operation": "update", "pid": holder.process.pid}
        with install_lock(places, "install", seconds=0, tell=heard.append):
            assert written(places) == {"operation": "install", "pid": os.getpid()}
    assert heard == []


def test_an_operation_that_fails_lets_go(places: Places) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), install_lock(places, "install", seconds=0):
            raise ZeroDivisionError
    assert (places.locks / "install.json").exists() is False


def test_the_lock_is_let_go_even_if_the_note_cannot_be_taken_away(places: Places) -> None:
    with install_lock(places, "install"):
        (places.locks / "install.json").unlink()
        (places.locks / "install.json").mkdir()
    with FileLock(places.locks / "install.lock", timeout=0) as lock:
        assert lock.is_locked


def test_a_note_that_cannot_be_written_lets_go_as_well(places: Places) -> None:
    (places.locks / "install.json").mkdir(parents=True)
    with pytest.raises(PmError) as caught, install_lock(places, "install"):
        pass
    with FileLock(places.locks / "install.lock", timeout=0) as lock:
        assert (caught.value.code, lock.is_locked) == ("not-writable", True)


def test_a_state_that_cannot_be_written_is_no_matter_of_waiting(places: Places) -> None:
    places.state.write_text("a file")
    with pytest.raises(PmError) as caught, install_lock(places, "install"):
        pass
    assert (caught.value.code, caught.value.message) == (
        "not-writable",
        f"`{places.locks}` cannot be written: Not a directory",
    )


def test_roots_do_not_wait_for_each_other(places: Places, tmp_path: Path) -> None:
    other = Places(tmp_path / "other", tmp_path / "other")
    with held(places), install_lock(other, "install", seconds=0):
        assert written(other) == {"operation": "install", "pid": os.getpid()}
