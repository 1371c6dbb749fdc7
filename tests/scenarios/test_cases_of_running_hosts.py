"""A host that runs keeps what it runs with, whoever installs, updates, removes or tampers meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from uv import find_uv_bin

from fixtures.homes import HERMES, Home, snapshot, write_plugin
from fixtures.hosts import chains, host, new_hosted_home, releases
from fixtures.running import Running
from pm.generations.distributions import site_packages

IMPORT_FOLDER = "import sys; sys.path.insert(0, sys.argv[1]); import mod; print(mod.VALUE)"


def newer(home: Home, name: str, *requires: str, files: dict[str, str] | None = None) -> Path:
    """Write the folder of a plugin's next version beside the one that it was installed from."""
    return write_plugin(home.work / "newer" / name, *requires, files=files, version="2")


def restart(receipt: dict[str, Any]) -> tuple[bool, list[str]]:
    return receipt["generation"]["restart_required"], receipt["generation"]["restart_reasons"]


# -- removed-or-replaced-while-running


def test_what_a_host_imports_after_an_update_fits_what_it_imported_before(stocked: Home) -> None:
    """Old and new code never mix, and a restart is asked for.

    Cases removed-or-replaced-while-running-01 and removed-or-replaced-while-running-05.
    """
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    with Running(stocked) as runs:
        assert runs.imports("kit", "VERSION") == "1.0"
        answer = stocked.install(newer(stocked, "ash", "kit==2.0"), "--force")
        assert restart(answer.value) == (True, ["kit 1.0 → 2.0", "ash 1.0.0 → 2"])
        assert (runs.imports("kit.late", "VERSION"), runs.says("__import__('kit').VERSION")) == ("1.0", "1.0")
    with Running(stocked) as runs:
        assert (runs.imports("kit", "VERSION"), runs.imports("kit.late", "VERSION")) == ("2.0", "2.0")


def test_a_package_that_goes_with_its_plugin_stays_for_whoever_has_not_imported_it_yet(stocked: Home) -> None:
    """Case removed-or-replaced-while-running-01, for a removal."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    with Running(stocked) as runs:
        answer = stocked.ask("plugins", "remove", "ash")
        assert restart(answer.value) == (True, ["kit 1.0 is gone"])
        assert runs.imports("kit", "VERSION") == "1.0"


OPTIONAL = "try:\n    import kit\nexcept ImportError:\n    kit = None\n\n\ndef register(ctx):\n    pass\n"


def test_who_uses_another_ones_package_if_it_is_there_stays_enabled_when_that_one_is_switched_off(
    stocked: Home,
) -> None:
    """Case removed-or-replaced-while-running-03: nobody is taken along, and what is missing now can be asked for."""
    stocked.install(stocked.plugin("ash", files={"__init__.py": OPTIONAL}))
    stocked.install(stocked.plugin("birch", "kit"))
    off = stocked.ask("plugins", "disable", "birch")
    assert (off.gist, stocked.admitted, stocked.ask("plugins", "check").gist) == (
        "0 disabled",
        ["ash in default"],
        "0 ready",
    )
    assert stocked.ask("plugins", "remove", "birch").status == 0
    assert (stocked.admitted, stocked.ask("plugins", "check").gist) == (["ash in default"], "0 ready")
    degraded = stocked.ask("plugins", "validate", stocked.path / "plugins" / "ash")
    [told] = [warning["message"] for warning in degraded.value["warnings"] if warning["code"] == "import-optional"]
    assert told.startswith("`kit` ")


# -- stale-pyc


def test_a_new_module_of_the_same_size_and_time_as_the_old_one_is_what_runs(stocked: Home) -> None:
    """Case stale-pyc-01: bytecode of one version is never taken for that of another."""
    values = []
    for number in range(1, 4):
        files = {"mod.py": f"VALUE = {number}\n"}
        stocked.install(newer(stocked, "ash", "kit==1.0", files=files), "--force")
        folder = stocked.path / "plugins" / "ash"
        os.utime(folder / "mod.py", (1_700_000_000, 1_700_000_000))
        values.append(stocked.say("run", "--", "python", "-c", IMPORT_FOLDER, folder).stdout)
    assert values == ["1\n", "2\n", "3\n"]


def test_bytecode_of_two_environments_does_not_lie_together(stocked: Home) -> None:
    """Case stale-pyc-01, for distributions."""
    folders = []
    for version in ("1.0", "2.0"):
        stocked.install(newer(stocked, "ash", f"kit=={version}"), "--force")
        with Running(stocked) as runs:
            assert runs.imports("kit", "VERSION") == version
            folders.append(runs.says("__import__('kit').__cached__").rpartition("/kit/")[0])
    assert len({str(Path(folder).relative_to(stocked.state)).split("/")[1] for folder in folders}) == 2
    assert list(stocked.state.glob("generations/**/*.pyc")) == []


def test_bytecode_in_a_plugins_folder_changes_nothing_that_anybody_asks(stocked: Home) -> None:
    """Case stale-pyc-03: no start says that the plugin changed, and no command builds again."""
    stocked.install(stocked.plugin("ash", "kit==1.0", files={"mod.py": "VALUE = 1\n"}))
    pointer, folder = stocked.pointer, stocked.path / "plugins" / "ash"
    for _ in range(2):
        written = [sys.executable, "-c", IMPORT_FOLDER, str(folder)]
        subprocess.run(written, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True)
        assert [path.parent.name for path in folder.rglob("*.pyc")] == ["__pycache__"]
        start = stocked.say("run", "--", "python", "-c", "pass")
        assert (start.status, start.stderr, stocked.ask("plugins", "check").gist) == (0, "", "0 ready")
        assert (stocked.ask("plugins", "enable", "ash").gist, stocked.ask("pm", "init").gist) == ("0 unchanged",) * 2
        assert (stocked.ask("pm", "verify").gist, stocked.pointer) == ("0 verified", pointer)


def test_new_code_of_a_plugin_that_runs_is_told_to_need_a_restart(stocked: Home) -> None:
    """Case stale-pyc-05: nothing is swapped under a process, and the receipt says what it does not have yet."""
    stocked.install(stocked.plugin("ash", "kit==1.0", files={"sub/mod.py": "VALUE = 1\n"}))
    with Running(stocked):
        answer = stocked.install(newer(stocked, "ash", "kit==1.0", files={"sub/mod.py": "VALUE = 2\n"}), "--force")
        assert (answer.gist, restart(answer.value)) == ("0 admitted", (True, ["ash 1.0.0 → 2"]))


# -- windows-file-lock: what cannot be replaced there while it is open is not replaced anywhere


def test_a_file_that_is_held_open_is_neither_replaced_nor_in_the_way(stocked: Home) -> None:
    """Case windows-file-lock-01: an update needs no file of the running host, which keeps it as long as it runs."""
    stocked.configure("  keep_generations: 1\n")
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    old = stocked.generation
    held = site_packages(old) / "kit" / "late.py"
    with Running(stocked) as runs:
        assert (
            runs.says(f"[globals().update(held=open({str(held)!r})), held.readline().strip()][1]") == "VERSION = '1.0'"
        )
        inode = held.stat().st_ino
        assert stocked.install(newer(stocked, "ash", "kit==2.0"), "--force").gist == "0 admitted"
        assert stocked.ask("pm", "gc").gist == "0 collected"
        assert (held.stat().st_ino, runs.imports("kit.late", "VERSION")) == (inode, "1.0")
    assert (stocked.ask("pm", "gc").gist, old.exists()) == ("0 collected", False)


def test_the_environment_that_the_manager_itself_was_started_from_is_repaired_and_collected_without_touching_it(
    stocked: Home,
) -> None:
    """Case windows-file-lock-03: it is built anew beside, and asking again ends at once."""
    stocked.configure("  keep_generations: 1\n")
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    old = stocked.generation
    (site_packages(old) / "kit" / "late.py").write_text("damaged\n")
    before = snapshot(old)
    inside = f"set -e; {HERMES} pm repair --json >/dev/null; {HERMES} pm gc --json >/dev/null; {HERMES} pm repair"
    done = stocked.say("run", "--", "sh", "-c", inside)
    assert (done.status, snapshot(old), stocked.pointer is not None) == (0, before, True)
    assert (stocked.generation.name, stocked.ask("pm", "verify").gist) == ("2", "0 verified")
    assert (stocked.ask("pm", "gc").gist, old.exists()) == ("0 collected", False)


# -- foreign-mutation


PINNED = {"openai": "2.24.0", "packaging-kit": "26.0", "requests": "2.33.0", "rich": "14.3.3"}
UPGRADED = {"openai": "2.30.0", "packaging-kit": "26.1", "requests": "2.34.0", "rich": "15.0.0"}


@pytest.fixture
def pinned(tmp_path: Path) -> Home:
    """Return a home whose host pins packages exactly, of which newer releases exist."""
    pins = [f"{name}=={version}" for name, version in PINNED.items()]
    both = [distribution for name in PINNED for distribution in _two(name)]
    viking = releases("openviking", v1=[f"{name}>={version}" for name, version in UPGRADED.items()])
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", host("0.19.0", *pins), *both, *viking)
    home.install(home.plugin("ash", "demo-colors"))
    return home


def _two(name: str) -> list[Any]:
    return releases(name, **{f"v{version.replace('.', '_')}": () for version in (PINNED[name], UPGRADED[name])})


def test_packages_that_somebody_else_moved_are_drift_with_their_names_and_repair_brings_back_what_was_recorded(
    pinned: Home,
) -> None:
    """Case foreign-mutation-01: the managed way refuses, another installer does it all the same, and it shows."""
    refused = pinned.install(pinned.plugin("viking", "openviking"))
    assert refused.gist.startswith("1 refused core-conflict")
    assert chains(refused.value)[0].startswith(("hermes-agent: ", "viking: "))
    before = pinned.pins
    install_by_hand(pinned, "openviking")
    assert pinned.pins == before | UPGRADED | {"openviking": "1"}
    assert pinned.ask("plugins", "check").gist == "1 drift drift"
    assert pinned.ask("plugins", "check").steps == ["repair hermes-agent==0.19.0"]
    found = [reason["message"] for reason in pinned.ask("pm", "verify").value["reasons"]]
    moved = [f"`{name}` is {UPGRADED[name]}, the lock says {version}" for name, version in PINNED.items()]
    assert [message for message in found if "the lock" in message] == sorted(
        [*moved, "`openviking` 1 is installed and not in the lock"]
    )
    start = pinned.say("run", "--", "python", "-c", "pass")
    assert (start.status, "`hermes pm repair`" in start.stderr) == (0, True)
    assert (pinned.ask("pm", "repair").gist, pinned.pins, pinned.ask("plugins", "check").gist) == (
        "0 repaired",
        before,
        "0 ready",
    )


def install_by_hand(home: Home, *requirements: str) -> None:
    """Install into the selected generation with another installer, as somebody does who may write everywhere."""
    for folder in (home.generation, *(path for path in home.generation.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    command: list[str | Path] = [
        find_uv_bin(),
        "pip",
        "install",
        "--quiet",
        "--no-config",
        "--no-index",
        "--cache-dir",
        home.work / "cache",
    ]
    command += ["--find-links", home.path.parent / "wheels", "--python", home.generation / "bin" / "python"]
    subprocess.run([*command, *requirements], env={"PATH": os.environ["PATH"]}, check=True, capture_output=True)
