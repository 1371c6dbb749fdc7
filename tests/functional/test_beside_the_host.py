"""The manager and a host on one machine: installed in either order, and taken away again, each stays as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from uv import find_uv_bin

from fixtures.homes import snapshot
from fixtures.wheels import Distribution, build_wheels

ROOT = Path(__file__).parents[2]
HOST = Distribution(
    "hermes-agent",
    "0.19.0",
    files={
        "hermes_cli/__init__.py": "",
        "hermes_cli/main.py": "def main():\n    print('the host')\n",
        "hermes_agent-0.19.0.dist-info/entry_points.txt": "[console_scripts]\nhermes = hermes_cli.main:main\n",
    },
)


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the manager's wheel."""
    folder = tmp_path_factory.mktemp("dist")
    call([find_uv_bin(), "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", folder, ROOT])
    (wheel,) = folder.glob("hermes_plugin_manager-*.whl")
    return wheel


def call(words: Sequence[str | Path], **environ: str) -> str:
    done = subprocess.run(
        [str(word) for word in words],
        env=os.environ | environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AssertionError(done.stdout)
    return done.stdout


class Machine:
    """The folders of one user."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.environ = {
            "HOME": str(folder),
            "HERMES_HOME": str(folder / "home"),
            "UV_TOOL_DIR": str(folder / "tools"),
            "UV_TOOL_BIN_DIR": str(self.bin),
            "PATH": f"{self.bin}:/usr/bin:/bin",
        }
        self.wheels = folder / "wheels"
        self.wheels.mkdir(parents=True)
        (self.host,) = build_wheels(self.wheels, HOST)

    def uv(self, *words: str | Path) -> str:
        return call([find_uv_bin(), *words], **self.environ)

    def install_host(self) -> None:
        self.uv("tool", "install", "--offline", "--no-index", self.host)

    def install(self, manager: Path) -> None:
        self.uv("tool", "install", "--python", sys.executable, manager)

    def say(self, *words: str) -> str:
        return call(["/bin/sh", "-c", " ".join(words)], **self.environ)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "user")


@pytest.mark.real_index
def test_a_tool_that_is_installed_beside_the_host_and_taken_away_leaves_it_as_it_was(
    machine: Machine, manager: Path
) -> None:
    machine.install_host()
    before = snapshot(machine.bin)
    machine.install(manager)
    assert (machine.say("hermes"), machine.say("hermes-pm", "--version")) == ("the host\n", "hermes-pm 0.1.0\n")
    machine.say("hermes-pm", "link", "--force")
    assert machine.say("hermes", "--version") == "hermes-pm 0.1.0\n"
    machine.say("hermes-pm", "uninstall", "--yes")
    machine.uv("tool", "uninstall", "hermes-plugin-manager")
    assert snapshot(machine.bin) == before
    assert machine.say("hermes") == "the host\n"


@pytest.mark.real_index
def test_a_host_that_is_installed_after_the_manager_takes_its_name_and_the_manager_says_so(
    machine: Machine, manager: Path
) -> None:
    machine.install(manager)
    machine.say("hermes-pm", "link")
    machine.uv("tool", "install", "--offline", "--no-index", "--force", machine.host)
    assert machine.say("hermes") == "the host\n"
    assert "is not the front door, and stays as it is" in machine.say("hermes-pm", "unlink")
    assert machine.say("hermes") == "the host\n"


@pytest.mark.real_index
@pytest.mark.skipif(shutil.which("pipx") is None, reason="`pipx` is not there")
def test_it_is_installed_and_removed_with_pipx(machine: Machine, manager: Path) -> None:
    places = {"PIPX_HOME": str(machine.bin.parent / "pipx"), "PIPX_BIN_DIR": str(machine.bin)}
    call([shutil.which("pipx") or "", "install", str(manager)], **machine.environ, **places)
    assert machine.say("hermes-pm", "--version") == "hermes-pm 0.1.0\n"
    assert "`pipx uninstall hermes-plugin-manager` removes it" in " ".join(
        machine.say("hermes-pm", "uninstall", "--yes").split()
    )
    call([shutil.which("pipx") or "", "uninstall", "hermes-plugin-manager"], **machine.environ, **places)
    assert list(machine.bin.iterdir()) == []


@pytest.mark.real_index
def test_in_the_environment_of_the_host_it_does_nothing_and_says_why(machine: Machine, manager: Path) -> None:
    venv = machine.bin.parent / "venv"
    machine.uv("venv", "--quiet", "--python", sys.executable, venv)
    machine.uv("pip", "install", "--quiet", "--no-deps", "--python", venv / "bin" / "python", machine.host)
    host = (venv / "bin" / "hermes").read_bytes()
    machine.uv("pip", "install", "--quiet", "--python", venv / "bin" / "python", manager)
    assert (venv / "bin" / "hermes").read_bytes() == host
    done = subprocess.run(
        [venv / "bin" / "hermes-pm", "pm", "init"],
        env=os.environ | machine.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert f"installed in the environment of `hermes-agent` itself, `{venv}`" in said
    assert not Path(machine.environ["HERMES_HOME"]).exists()
