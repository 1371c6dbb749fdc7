"""What happens at the same time, or was cut off: nobody's change is lost, and there is always a complete generation."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from fixtures.homes import PLUGINS, UNTOUCHED_BY_REFUSALS, Home, check_file, new_home, write_plugin
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, read_recipe

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


class Meddler(IndexServer):
    """An index in whose answers somebody else finds the time to do something."""

    meddle: Callable[[], None] = staticmethod(lambda: None)
    """Done when the page of `demo-colors` is asked for, which is after the config was read."""

    def page(self, name: str, *, as_json: bool) -> bytes | None:
        if name == "demo-colors":
            self.meddle()
        return super().page(name, as_json=as_json)


@pytest.fixture
def server(tmp_path: Path) -> IndexServer:
    return Meddler(tmp_path / "files", read_recipe(DEFAULT_RECIPE))


def test_an_unrelated_change_of_the_config_while_it_is_decided_is_merged(served: Home, server: Meddler) -> None:
    text = served.config.read_text()
    with server:
        server.meddle = lambda: served.configure("display:\n  color: blue  # mine\n")
        answer = served.install(served.plugin("ash", "demo-colors"))
    assert (answer.gist, served.config.read_text()) == (
        "0 admitted",
        text + "display:\n  color: blue  # mine\nplugins:\n  enabled:\n    - ash\n",
    )


@pytest.mark.parametrize(
    "change",
    [
        "plugins:\n  enabled: [other]\n",
        "plugins:\n  disabled: [ash]\n",
        "memory:\n  provider: other\n",
        "context:\n  engine: other\n",
    ],
)
def test_a_change_of_what_is_selected_while_it_is_decided_is_not_overwritten(
    served: Home, server: Meddler, change: str
) -> None:
    text = served.config.read_text()
    left_out = ["config.yaml", "config.yaml.lock", "pm"]
    before = served.snapshot(left_out)
    with server:
        server.meddle = lambda: served.configure(change)
        answer = served.install(served.plugin("ash", "demo-colors"))
    assert (answer.gist, served.config.read_text(), served.pointer) == (
        "3 failed config-changed",
        text + change,
        None,
    )
    assert served.snapshot(left_out) == before
    assert sorted(path.name for path in served.state.glob("generations/*")) == []
    assert sorted(path.name for path in served.state.glob("trees/*")) == []


def test_a_change_in_another_profile_while_it_is_decided_is_noticed_too(served: Home, server: Meddler) -> None:
    work = served.profile("work")
    work.config.write_text("plugins:\n  enabled: []\n")
    with server:
        server.meddle = lambda: work.configure("memory:\n  provider: other\n")
        answer = served.install(served.plugin("ash", "demo-colors"))
    assert answer.gist == "3 failed config-changed"
    assert answer.value["reasons"][0]["declared_at"]["file"] == str(work.config)


def test_while_another_operation_runs_a_change_waits_and_a_look_does_not(home: Home) -> None:
    home.install(PLUGINS / "admitted-simple")
    lock = FileLock(home.state / "locks" / "install.lock")
    with lock:
        process = home.start("plugins", "disable", "admitted-simple", "--json", "--verbose")
        assert process.stderr is not None
        assert "waiting for" in process.stderr.readline()
        assert home.ask("plugins", "check").gist == "0 ready"
    stdout, _ = process.communicate(timeout=60)
    assert (process.returncode, '"outcome": "disabled"' in stdout) == (0, True)


def test_installations_at_the_same_time_wait_for_each_other_and_none_is_lost(home: Home) -> None:
    sources = [home.plugin(name, "demo-colors") for name in ("ash", "birch", "cedar")]
    running = [home.start("plugins", "install", source, "--enable", "--json") for source in sources]
    ended = [process.communicate(timeout=60) for process in running]
    assert ([process.returncode for process in running], [stderr for _, stderr in ended]) == ([0, 0, 0], ["", "", ""])
    assert home.admitted == ["ash in default", "birch in default", "cedar in default"]
    assert sorted(json.loads(stdout)["sequence"] for stdout, _ in ended) == [1, 2, 3]


def test_a_process_in_an_earlier_generation_is_told_to_restart_by_a_strict_check(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    with home.start("run", "--", "python", "-c", "print('runs', flush=True); input()", stdin=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "runs\n"
        assert home.ask("plugins", "check", "--strict").gist == "0 ready"
        home.install(home.plugin("birch", "demo-socket"))
        answers = home.ask("plugins", "check"), home.ask("plugins", "check", "--strict")
        assert [answer.gist for answer in answers] == ["0 ready", "5 ready"]
        assert home.ask("pm", "status").value["restart_required"] is True
        host.communicate("\n", timeout=60)
    assert home.ask("plugins", "check", "--strict").gist == "0 ready"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["config.yaml.lock", "pm/locks/install.lock"])
def test_whoever_holds_a_lock_is_waited_for_and_after_a_while_it_is_busy(home: Home, name: str) -> None:
    (home.path / name).parent.mkdir(parents=True, exist_ok=True)
    with FileLock(home.path / name):
        answer = home.install(PLUGINS / "admitted-simple")
    assert (answer.gist, home.pointer, list(home.state.glob("generations/*"))) == ("4 failed busy", None, [])
    assert home.install(PLUGINS / "admitted-simple").gist == "0 admitted"


@pytest.mark.parametrize("path", ["/simple/demo-speedups/", "*demo_speedups*.whl"])
def test_an_interrupted_installation_leaves_nothing_and_the_next_command_works(tmp_path: Path, path: str) -> None:
    arrived = threading.Event()

    class Watched(IndexServer):
        def fault_for(self, asked: str) -> Fault | None:
            fault = super().fault_for(asked)
            if fault is not None:
                arrived.set()
            return fault

    with Watched(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", "demo-colors"))
        birch = home.plugin("birch", "demo-speedups")
        if path.endswith(".whl"):
            home.ask("plugins", "check", birch)
        before = home.snapshot([*UNTOUCHED_BY_REFUSALS])
        server.faults = [Fault(path, "stall", times=-1)]
        process = home.start("plugins", "install", birch, "--enable", "--json")
        assert arrived.wait(60)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        assert (process.returncode, '"outcome": "interrupted"' in stdout, stderr) == (3, True, "")
        assert home.snapshot([*UNTOUCHED_BY_REFUSALS]) == before
        server.faults = []
        assert home.install(birch).gist == "0 admitted"


def test_a_journal_that_a_killed_operation_left_is_mended_by_the_next_change(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    strace = require_tool("strace")
    home.install(home.plugin("ash", "demo-colors"))
    birch = home.plugin("birch", "demo-transport")
    before = home.snapshot(["pm/cache", "pm/receipts", "pm/locks", "pm/generations/2", "pm/generations/2.json"])
    killed = home.start(
        "plugins", "install", birch, "--enable",
        under=[strace, "-o", home.work / "calls", "-e", "inject=link,linkat:signal=SIGKILL"],
    )  # fmt: skip
    killed.communicate(timeout=60)
    check_file("journal", home.state / "journal.json")
    assert home.ask("pm", "status").value["interrupted"] is True
    assert home.ask("plugins", "check").gist == "0 ready"
    answer = home.ask("plugins", "disable", "nobody")
    assert (answer.gist, answer.warnings) == ("2 failed unknown-plugin", ["interrupted"])
    after = home.snapshot(["pm/cache", "pm/receipts", "pm/locks", "pm/generations/2", "pm/generations/2.json"])
    kept = {path: state for path, state in after.items() if not path.startswith(("pm/wheels", "pm/trees"))}
    assert kept == {path: state for path, state in before.items() if not path.startswith(("pm/wheels", "pm/trees"))}
    assert home.install(birch).gist == "0 admitted"
    assert home.pins == {"demo-colors": "2.0", "demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE


def test_a_managed_environment_is_changed_by_nobody_and_checked_all_the_same(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    source = write_plugin(home.path / "plugins" / "birch", "demo-transport")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answers = [
        home.ask("plugins", "install", source, "--enable", HERMES_MANAGED="nixos"),
        home.ask("plugins", "enable", "birch", HERMES_MANAGED="nixos"),
        home.ask("plugins", "disable", "ash", HERMES_MANAGED="nixos"),
        home.ask("plugins", "remove", "ash", HERMES_MANAGED="nixos"),
        home.ask("pm", "init", HERMES_MANAGED="nixos"),
    ]
    assert [answer.gist for answer in answers] == ["1 refused managed-environment"] * 5
    assert answers[0].value["reasons"][0]["hint"] == (
        "declare the plugin where the environment is declared; `hermes plugins check` works here"
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.ask("plugins", "check", "birch", HERMES_MANAGED="nixos").gist == "0 admitted"


def test_a_marker_in_the_home_makes_it_managed(home: Home) -> None:
    (home.path / ".managed").touch()
    assert home.install(PLUGINS / "admitted-simple").gist == "1 refused managed-environment"
    assert home.ask("plugins", "check", PLUGINS / "admitted-simple").gist == "0 admitted"
    assert home.profile("work").install(PLUGINS / "admitted-simple").gist == "1 refused managed-environment"
