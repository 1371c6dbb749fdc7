"""Whatever stops an installation in the middle, what runs goes on, and the next command does what was wanted."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.faults import OPERATIONS, Point, Selected, Staging, leftovers
from fixtures.homes import Home, new_home, snapshot
from fixtures.hosts import host
from fixtures.running import Running
from fixtures.sampling import ALL, Sample
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

PROJECT = '[project]\nname = "hermes-agent"\nversion = "{version}"\ndependencies = ["demo-colors{bound}"]\n'


def test_a_build_that_fails_leaves_the_running_host_every_file_that_it_has_not_imported_yet(tmp_path: Path) -> None:
    """Case killed-mid-install-01: what is built is built beside it, and the failed candidate is deleted."""
    wheels = tmp_path / "wheels"
    broken = Distribution(
        "mautrix", "1.0", extras={"encryption": ["demo-socket"]}, tags=(), sdist=True, buildable=False
    )
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), broken])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-colors"))
    chat = home.plugin("chat", "mautrix[encryption]", "demo-colors<2")
    with Running(home) as runs:
        before = home.pointer, snapshot(home.generation)
        answer = home.install(chat, "--allow-build", "mautrix")
        assert answer.gist == "3 failed build-failed"
        assert (home.pointer, snapshot(home.generation)) == before
        assert runs.imports("demo_colors", "__version__") == "2.0"
    assert leftovers(home) == ()


class Watched(IndexServer):
    """Tells when a fault has begun."""

    def __init__(self, folder: Path, distributions: tuple[Distribution, ...]) -> None:
        super().__init__(folder, distributions)
        self.begun = threading.Event()

    def fault_for(self, asked: str) -> Fault | None:
        fault = super().fault_for(asked)
        if fault is not None:
            self.begun.set()
        return fault


def test_a_move_to_another_core_that_was_killed_before_its_build_is_not_up_to_date_and_runs_again(
    tmp_path: Path,
) -> None:
    """Case killed-mid-install-03: what is complete is told by the pointer alone, and by no setting."""
    distributions = (*read_recipe(DEFAULT_RECIPE), host("0.19.0"), host("0.20.0", "demo-speedups"))
    with Watched(tmp_path / "files", distributions) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.configure("  core: hermes-agent==0.19.0\n")
        home.install(home.plugin("ash", "demo-colors"))
        home.config.write_text(home.config.read_text().replace("0.19.0", "0.20.0"))
        server.faults = [Fault("*demo_speedups*.whl", "stall", times=-1)]
        update = home.start("pm", "init", "--json")
        assert server.begun.wait(60)
        update.send_signal(signal.SIGKILL)
        update.communicate(timeout=60)
        server.faults = []
        assert (home.ask("plugins", "check").gist, home.pins["hermes-agent"]) == ("1 not-ready not-admitted", "0.19.0")
        assert home.ask("pm", "init").changes == ["+demo-speedups 1.1", "hermes-agent 0.19.0 → 0.20.0"]
        assert (home.ask("pm", "init").gist, home.ask("plugins", "check").gist) == ("0 unchanged", "0 ready")


def test_a_checkout_of_the_core_that_moved_is_not_up_to_date_until_a_generation_was_made_for_it(
    stocked: Home,
) -> None:
    """Case killed-mid-install-03, where the core is a project's folder: another program has moved it."""
    core = stocked.work / "core"
    core.mkdir()
    (core / "pyproject.toml").write_text(PROJECT.format(version="0.19.0", bound="<2"))
    stocked.configure(f"  core: {core}\n")
    stocked.ask("pm", "init")
    (core / "pyproject.toml").write_text(PROJECT.format(version="0.20.0", bound=">=2"))
    assert (stocked.ask("plugins", "check").gist, stocked.pins) == ("1 not-ready not-admitted", {"demo-colors": "1.2"})
    assert stocked.ask("pm", "init").changes == ["demo-colors 1.2 → 2.0"]
    assert (stocked.ask("pm", "init").gist, stocked.ask("plugins", "check").gist) == ("0 unchanged", "0 ready")


def test_everything_that_the_pointer_names_is_on_the_disk_before_the_pointer_names_it(
    stocked: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case killed-mid-install-05: after the one flush of the file systems nothing of the environment is written."""
    log = stocked.work / "calls"
    traced = "trace=sync,fsync,/^rename,/^link,/^symlink,/^mkdir,/^unlink,rmdir,creat,/^truncate,ftruncate,openat,write"
    under: list[str | Path] = [require_tool("strace"), "-f", "-y", "-s", "400", "-o", log, "-e", traced]
    process = stocked.start("plugins", "install", stocked.plugin("ash", "demo-colors"), "--enable", under=under)
    assert process.communicate(timeout=120)[1] == ""
    calls = [line.partition(" ")[2].strip() for line in log.read_text().splitlines()]
    switch = next(n for n, call in enumerate(calls) if call.startswith("rename") and '/pm/pointer.json"' in call)
    flush = max(n for n, call in enumerate(calls[:switch]) if call.startswith("sync("))
    written = [call for call in calls[flush:switch] if re.search(r"/generations/1[/>\"]", call) and not _looks(call)]
    assert written == []
    temporary = re.search(r'"([^"]*\.pointer\.json[^"]*)"', calls[switch])
    assert temporary is not None
    assert [call for call in calls[flush:switch] if call.startswith("fsync") and temporary[1] in call] != []
    assert [call for call in calls[switch:] if call.startswith("fsync") and f"<{stocked.state}>" in call] != []


def _looks(call: str) -> bool:
    """Say whether a call only opens a file to read it."""
    return call.startswith("openat") and not re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", call)


@pytest.fixture
def staging(
    tmp_path: Path, shelf: Path, require_tool: Callable[[str], Path], request: pytest.FixtureRequest
) -> Staging:
    home = new_home(tmp_path / "home", wheels=shelf)
    return Staging(home, OPERATIONS[request.param], require_tool("strace"))


@pytest.mark.parametrize("count", [pytest.param(2, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("staging", ["install --force", "rollback"], indirect=True)
def test_what_was_killed_runs_again_though_mending_it_was_killed_too(
    staging: Staging, count: int, sample: Sample
) -> None:
    """Case killed-mid-install-07: what is meant is written down before the first change, and mending is repeatable.

    Interrupts of `rollback`, at every such call, are in `tests/contracts/test_fault_points.py`.
    """
    points = sample(renames(staging), count)
    ended = {str(point): killed_twice(staging, point) for point in points}
    assert ended == {str(point): (0, staging.after._replace(records=[]), "0 verified", ()) for point in points}


def renames(staging: Staging) -> list[Point]:
    return [point for point in staging.points if point.call.startswith(("rename", "link", "unlink"))]


def killed_twice(staging: Staging, point: Point) -> tuple[int, Selected, str, tuple[str, ...]]:
    """Kill an operation, and the next one while it mends; return what the same command makes of that."""
    staging.restore()
    staging.kill_manager(point)
    staging.kill_mending(3)
    status = staging.again().status
    return status, staging.selected._replace(records=[]), staging.home.ask("pm", "verify").gist, leftovers(staging.home)
