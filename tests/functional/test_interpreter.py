"""Interpreters are asked what they are, in isolation, once; and found by what the operator asks for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from uv import find_uv_bin

from pm.errors import PmError
from pm.host.interpreter import default_interpreter, describe_interpreter, find_interpreter
from pm.system.processes import run, scrubbed_environment

PYENV = Path(os.environ.get("PYENV_ROOT") or "~/.pyenv").expanduser() / "versions"
OWN = f"{sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"


def installed(version: str) -> Path:
    """Return the folder of a Python that pyenv keeps, or skip the test."""
    found = sorted(PYENV.glob(f"{version}.*"))
    if not found:
        pytest.skip(f"Python {version} is not installed in `{PYENV}`")
    return found[-1]


def refused(call: Callable[[], object]) -> tuple[str, str, str]:
    with pytest.raises(PmError) as caught:
        call()
    return caught.value.code, caught.value.message, caught.value.hint


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# --- what an interpreter is -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_an_interpreter_is_described_as_it_describes_itself(tmp_path: Path, version: str) -> None:
    folder = installed(version)
    python = folder / "bin" / "python3"
    question = "import json, sys; print(json.dumps([sys.version.split()[0], sorted(sys.stdlib_module_names)]))"
    full, modules = json.loads(run([python, "-c", question]).stdout)
    interpreter = describe_interpreter(python, tmp_path)
    environment = dict(interpreter.target.environment)
    plain = version.replace(".", "")
    assert (
        interpreter.path.resolve(),
        interpreter.standard_modules,
        interpreter.target.python,
        interpreter.target.name,
        environment["python_version"],
        environment["python_full_version"],
        interpreter.target.tags[0].rpartition("-")[0],
        interpreter.target.tags[-1],
    ) == (
        python.resolve(),
        frozenset(modules),
        full,
        f"cpython-{full}-{sys.platform}-{environment['platform_machine']}",
        version,
        full,
        f"cp{plain}-cp{plain}",
        "py30-none-any",
    )


def test_an_interpreter_that_is_too_old_says_what_it_is(tmp_path: Path) -> None:
    python = installed("3.10") / "bin" / "python"
    assert refused(lambda: describe_interpreter(python, tmp_path)) == (
        "no-interpreter",
        f"`{python}` is not a usable Python 3.11 or newer: it is Python {python.parent.parent.name}",
        "",
    )


def test_nothing_around_the_interpreter_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run([find_uv_bin(), "venv", "--python", sys.executable, tmp_path / "venv"], environment=scrubbed_environment())
    (site,) = (tmp_path / "venv" / "lib").glob("python3.*/site-packages")
    trap = f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__)"
    (site / "trap.pth").write_text(f"import os; {trap}\n")
    (site / "sitecustomize.py").write_text(trap)
    here = tmp_path / "here"
    here.mkdir()
    for module in ("json", "packaging", "sitecustomize", "usercustomize"):
        (here / f"{module}.py").write_text(trap)
    monkeypatch.setenv("PYTHONPATH", str(here))
    monkeypatch.setenv("PYTHONSTARTUP", str(here / "json.py"))
    monkeypatch.setenv("PYTHONHOME", str(here))
    monkeypatch.chdir(here)
    python = tmp_path / "venv" / "bin" / "python"

    interpreter = describe_interpreter(python, tmp_path / "cache")

    own = describe_interpreter(default_interpreter(), tmp_path / "cache")
    assert (interpreter, (tmp_path / "sprung").exists()) == (own, False)
    assert interpreter.path.resolve() == Path(sys.executable).resolve()
    run([python, "-c", ""])
    assert (tmp_path / "sprung").exists()


# --- asked once -------------------------------------------------------------------------------------------------------


def counting(folder: Path) -> Path:
    """Return an interpreter that notes each time it is started."""
    return script(folder / "python", f'echo started >> {folder}/count; exec {default_interpreter()} "$@"')


def count(folder: Path) -> int:
    return (folder / "count").read_text().count("started")


def test_an_interpreter_is_asked_once_and_again_when_its_file_changes(tmp_path: Path) -> None:
    python = counting(tmp_path)
    first = describe_interpreter(python, tmp_path / "cache")
    assert (describe_interpreter(python, tmp_path / "cache"), count(tmp_path)) == (first, 1)
    os.utime(python, ns=(0, 0))
    assert (describe_interpreter(python, tmp_path / "cache"), count(tmp_path)) == (first, 2)


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"key": 1}', "same key, no answer", "same key, another answer"])
def test_a_damaged_answer_counts_as_none(tmp_path: Path, damage: str) -> None:
    python = counting(tmp_path)
    first = describe_interpreter(python, tmp_path / "cache")
    (kept,) = (tmp_path / "cache" / "interpreters").iterdir()
    key = json.loads(kept.read_text())["key"]
    damages = {
        "same key, no answer": json.dumps({"key": key}),
        "same key, another answer": json.dumps({"key": key, "answer": {"tags": 1}}),
    }
    kept.write_text(damages.get(damage, damage))
    assert (describe_interpreter(python, tmp_path / "cache"), count(tmp_path)) == (first, 2)


def test_a_cache_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    python = counting(tmp_path)
    described = [describe_interpreter(python, tmp_path / "cache").target.python for _ in range(2)]
    assert (described, count(tmp_path)) == ([OWN, OWN], 2)


# --- what is none -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 0", "it does not answer as a Python does"),
        ("echo hello", "it does not answer as a Python does"),
        ("echo '[1]'", "it does not answer as a Python does"),
        ("""echo '{"environment": 1}'""", "it does not answer as a Python does"),
        ("exit 3", "it said nothing"),
        ("echo loading >&2; echo 'no libpython' >&2; exit 127", "no libpython"),
        ("kill -9 $$", "it said nothing"),
    ],
)
def test_a_program_that_is_no_usable_python_is_refused(tmp_path: Path, text: str, said: str) -> None:
    python = script(tmp_path / "python", text)
    assert refused(lambda: describe_interpreter(python, tmp_path / "cache")) == (
        "no-interpreter",
        f"`{python}` is not a usable Python 3.11 or newer: {said}",
        "",
    )


def test_a_path_that_cannot_be_started_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    said = [
        refused(partial(describe_interpreter, tmp_path / name, tmp_path / "cache")) for name in ("text", ".", "gone")
    ]
    assert said == [
        ("no-interpreter", f"`{tmp_path}/text` cannot be started: Permission denied", ""),
        ("no-interpreter", f"`{tmp_path}` cannot be started: Permission denied", ""),
        ("no-interpreter", f"the interpreter `{tmp_path}/gone` cannot be read: No such file or directory", ""),
    ]


# --- finding one ------------------------------------------------------------------------------------------------------


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide every Python but the one that runs this, and return a home."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "PYENV_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("HOME", str(home))
    return home


def test_without_a_request_it_is_the_managers_own_if_the_core_admits_it(tmp_path: Path) -> None:
    found = {find_interpreter("", wanted, tmp_path).target.python for wanted in ("", ">=3.11", f"=={OWN}")}
    assert found == {OWN}


@pytest.mark.parametrize("request_", ["3.99", ">=3.99", "3.99.1", "pypy3.99", "no such thing", "==3.99.*", "--help"])
def test_a_request_that_nothing_satisfies_is_refused(tmp_path: Path, alone: Path, request_: str) -> None:
    assert refused(lambda: find_interpreter(request_, "", tmp_path / "cache")) == (
        "no-interpreter",
        f"no installed Python satisfies `{request_}`",
        "install one, or name its path with `--python PATH` (`pm.python` in config.yaml)",
    )
    assert list(alone.rglob("*")) == []


def test_a_core_that_no_installed_python_suits_is_refused(tmp_path: Path, alone: Path) -> None:
    said = refused(lambda: find_interpreter("", ">=3.99", tmp_path / "cache"))
    assert (said[:2], list(alone.iterdir())) == (("no-interpreter", "no installed Python satisfies `>=3.99`"), [])


def test_a_path_is_taken_as_it_is(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (alone / "bin").mkdir()
    python = counting(alone / "bin")
    monkeypatch.chdir(alone)
    found = [find_interpreter(text, "<3", tmp_path / "cache") for text in (str(python), "~/bin/python", "bin/python")]
    assert ([interpreter.target.python for interpreter in found], count(alone / "bin")) == ([OWN, OWN, OWN], 1)


def on_path(monkeypatch: pytest.MonkeyPatch, *versions: str) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join(str(installed(version) / "bin") for version in versions))


@pytest.mark.parametrize("request_", ["3.12", ">=3.12,<3.13", "~=3.12.0", "python3.12"])
def test_a_version_is_found_on_the_path(
    tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch, request_: str
) -> None:
    on_path(monkeypatch, "3.11", "3.12")
    found = find_interpreter(request_, "", tmp_path / "cache")
    assert (found.target.python, list(alone.rglob("*"))) == (installed("3.12").name, [])


def test_of_several_the_newest_is_taken(tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_path(monkeypatch, "3.11", "3.13", "3.12")
    found = [find_interpreter(request, "", tmp_path / "cache").target.python for request in (">=3.11", ">=3.11,<3.13")]
    assert (found, list(alone.rglob("*"))) == ([installed("3.13").name, installed("3.12").name], [])


def test_a_core_that_excludes_the_managers_own_gets_the_newest_that_it_admits(
    tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path(monkeypatch, "3.13", "3.12")
    found = find_interpreter("", f"!={OWN},<3.13", tmp_path / "cache")
    assert (found.target.python, list(alone.iterdir())) == (installed("3.12").name, [])


def test_versions_of_pyenv_are_found_that_its_programs_on_the_path_refuse_to_start(
    tmp_path: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = alone / ".pyenv" / "versions"
    versions.mkdir(parents=True)
    for version in ("3.11", "3.12"):
        (versions / installed(version).name).symlink_to(installed(version))
    (versions / "3.12.99").mkdir()
    (versions / "pypy3.10-7.3").mkdir()
    shims = alone / "shims"
    shims.mkdir()
    script(shims / "python3.12", "echo 'pyenv: python3.12: command not found' >&2; exit 127")
    monkeypatch.setenv("PATH", str(shims))
    own = find_interpreter("3.12", "", tmp_path / "cache").target.python
    monkeypatch.setenv("PYENV_ROOT", str(alone / ".pyenv"))
    monkeypatch.setenv("HOME", str(tmp_path))
    moved = find_interpreter(">=3.11", "", tmp_path / "cache").target.python
    assert (own, moved) == (installed("3.12").name, installed("3.12").name)
