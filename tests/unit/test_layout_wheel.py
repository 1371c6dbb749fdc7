"""The manager's wheel carries the embedded core's, and every kind of installation finds it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest
import uv

from pm.host.embedded import spoken_version

ROOT = Path(__file__).parents[2]
SOURCES = (
    "pyproject.toml",
    "hatch_build.py",
    "scripts",
    "README.md",
    "LICENSE",
    ".gitignore",
    "pm",
    "admission",
    "lockfiles",
    "core",
)
CORE_WHEEL = "pm/embedded_core/hermes_embedded_core-0.1.0-py3-none-any.whl"

ASK_FOR_WHEEL = "from pm.host.embedded import embedded_core_wheel as ask; print(ask())"
ASK_FOR_ERROR = """
from pm.host.embedded import embedded_core_wheel
from pm.errors import PmError
try:
    embedded_core_wheel()
except PmError as error:
    print(error.code, error.message, error.hint, sep="\\n")
"""


def run(*command: str | Path, directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def build(checkout: Path, output: Path, target: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(output)]
    subprocess.run(command, cwd=checkout, capture_output=True, check=True)
    [wheel] = output.glob("*.whl")
    return wheel


def installed(wheel: Path, environment: Path) -> Path:
    """Install one wheel without its dependencies, and return the new environment's folder of programs."""
    program = uv.find_uv_bin()
    subprocess.run([program, "venv", "-q", "--python", sys.executable, environment], check=True)
    options = ["-q", "--offline", "--no-deps", "--no-config", "--python", str(environment)]
    subprocess.run([program, "pip", "install", *options, wheel], check=True)
    return environment / "bin"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("standard"), "wheel")


@pytest.fixture(scope="module")
def core_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with ZipFile(wheel) as archive:
        return Path(archive.extract(CORE_WHEEL, tmp_path_factory.mktemp("core")))


def test_the_core_wheel_holds_the_core_and_its_description(core_wheel: Path) -> None:
    with ZipFile(core_wheel) as archive:
        names = set(archive.namelist())
    modules = {path.relative_to(ROOT / "core").as_posix() for path in (ROOT / "core").rglob("*.py")}
    assert names == modules | {
        "hermes_embedded_core-0.1.0.dist-info/METADATA",
        "hermes_embedded_core-0.1.0.dist-info/WHEEL",
        "hermes_embedded_core-0.1.0.dist-info/entry_points.txt",
        "hermes_embedded_core-0.1.0.dist-info/licenses/LICENSE",
        "hermes_embedded_core-0.1.0.dist-info/extra_metadata/pyproject.toml",
        "hermes_embedded_core-0.1.0.dist-info/RECORD",
    }


def test_the_wheel_brings_the_module_that_is_put_into_generations(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        assert archive.read("pm/inside/_hermes_pm.py") == (ROOT / "pm" / "inside" / "_hermes_pm.py").read_bytes()


def test_the_wheel_brings_its_command_as_a_script(wheel: Path, tmp_path: Path) -> None:
    """Not as an entry point, for which Python would start with all that the surroundings say about modules."""
    programs = installed(wheel, tmp_path / "venv")
    assert (programs / "hermes-pm").read_bytes() == (ROOT / "scripts" / "hermes-pm").read_bytes()
    assert run(programs / "hermes-pm", "--version", directory=tmp_path) == "hermes-pm 0.1.0\n"


def test_the_core_wheel_says_which_contract_it_speaks(core_wheel: Path) -> None:
    assert spoken_version(core_wheel) == "0.19.0"


def test_a_copied_checkout_builds_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    for name in SOURCES:
        if (ROOT / name).is_dir():
            # only the mode of the command is part of a wheel
            copied = shutil.copy if name == "scripts" else shutil.copyfile
            shutil.copytree(ROOT / name, tmp_path / name, copy_function=copied)
        else:
            shutil.copyfile(ROOT / name, tmp_path / name)
    again = build(tmp_path, tmp_path / "dist", "wheel")
    assert sha256(again.read_bytes()).hexdigest() == sha256(wheel.read_bytes()).hexdigest()


def test_a_normal_installation_finds_the_core_wheel(wheel: Path, core_wheel: Path, tmp_path: Path) -> None:
    programs = installed(wheel, tmp_path / "venv")
    found = Path(run(programs / "python", "-c", ASK_FOR_WHEEL, directory=tmp_path).strip())
    assert (
        found
        == tmp_path
        / "venv/lib"
        / f"python{sys.version_info.major}.{sys.version_info.minor}"
        / "site-packages"
        / CORE_WHEEL
    )
    assert found.read_bytes() == core_wheel.read_bytes()


def test_an_editable_installation_finds_the_core_wheel(core_wheel: Path, tmp_path: Path) -> None:
    programs = installed(build(ROOT, tmp_path / "dist", "wheel:editable"), tmp_path / "venv")
    ask_for_both = f"import pm.host.embedded; print(pm.host.embedded.__file__); {ASK_FOR_WHEEL}"
    module, found = run(programs / "python", "-c", ask_for_both, directory=tmp_path).splitlines()
    assert module == str(ROOT / "pm" / "host" / "embedded.py")
    assert tmp_path in Path(found).parents
    assert Path(found).read_bytes() == core_wheel.read_bytes()


def test_an_installation_without_the_core_wheel_says_how_to_get_it(wheel: Path, tmp_path: Path) -> None:
    programs = installed(wheel, tmp_path / "venv")
    shutil.rmtree(next(tmp_path.glob("venv/lib/python*/site-packages/pm/embedded_core")))
    assert run(programs / "python", "-c", ASK_FOR_ERROR, directory=tmp_path) == (
        "not-found-on-index\n"
        "the embedded core's wheel is missing from this installation of `hermes-plugin-manager`\n"
        "install `hermes-plugin-manager` again, or name another core with `--core`\n"
    )


def test_a_checkout_that_is_not_installed_says_the_same(tmp_path: Path) -> None:
    subprocess.run([uv.find_uv_bin(), "venv", "-q", "--python", sys.executable, tmp_path / "venv"], check=True)
    asked = run(tmp_path / "venv/bin/python", "-c", ASK_FOR_ERROR, directory=ROOT)
    assert asked.splitlines()[0] == "not-found-on-index"


def test_the_installed_core_says_its_name_and_version(core_wheel: Path, tmp_path: Path) -> None:
    programs = installed(core_wheel, tmp_path / "venv")
    assert run(programs / "hermes", "--version", directory=tmp_path) == "hermes-embedded-core 0.1.0\n"


def test_the_installed_core_refuses_what_it_cannot_do(core_wheel: Path, tmp_path: Path) -> None:
    programs = installed(core_wheel, tmp_path / "venv")
    done = subprocess.run([programs / "hermes", "plugin", "list"], capture_output=True, text=True, check=False)
    answers = "this core answers `--version` only; the manager answers `plugins`, `pm` and `run`"
    said = f"usage: hermes [-h] [-V]\nhermes: error: `plugin` is no command: {answers}\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
