"""Bytecode of earlier files never runs in the place of what is installed now, however alike the files look."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, write_plugin
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

INSTANT = 1_700_000_000
SAYS = "import sys; sys.path.insert(0, sys.argv[1]); import {0}; print({0}.SAYS)"


def said(home: Home, module: str, folder: Path | None = None) -> str:
    """Return what a module says that a process in the generation imports."""
    answer = home.say("run", "--", "python", "-c", SAYS.format(module), folder or home.path)
    assert answer.stderr == ""
    return answer.stdout.strip()


def alike(file: Path) -> None:
    """Give a file the time of other ones of the same size: bytecode knows its source by these two."""
    os.utime(file, (INSTANT, INSTANT))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    wheels = tmp_path / "wheels"
    kits = [Distribution("kit", f"{number}.0", files={"kit.py": f"SAYS = {number}\n"}) for number in (1, 2)]
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), *kits])
    return new_home(tmp_path / "home", wheels=wheels)


def test_a_number_that_comes_again_after_its_folder_was_deleted_by_hand_has_no_bytecode_of_then(home: Home) -> None:
    """Case stale-pyc-01."""
    for version in ("1", "2"):
        shutil.rmtree(home.state / "generations", ignore_errors=True)
        (home.state / "pointer.json").unlink(missing_ok=True)
        home.install(write_plugin(home.work / version / "ash", f"kit=={version}.0"), "--force")
        alike(next(home.generation.glob("lib/python3*/site-packages")) / "kit.py")
        assert (home.generation.name, said(home, "kit")) == ("1", version)


def test_a_collected_generation_takes_its_bytecode_with_it(home: Home) -> None:
    for version in ("1", "2"):
        home.install(write_plugin(home.work / version / "ash", f"kit=={version}.0"), "--force")
        said(home, "kit")
    assert bytecode(home) == ["1", "2"]
    home.config.write_text(home.config.read_text("utf-8").replace("pm:\n", "pm:\n  keep_generations: 1\n"), "utf-8")
    home.ask("pm", "gc")
    assert bytecode(home) == ["2"]


def bytecode(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "pycache").iterdir())


def test_a_plugin_that_is_replaced_at_once_runs_as_it_is_now(home: Home) -> None:
    sources = [write_plugin(home.work / one / "ash", files={"part.py": f"SAYS = {one}\n"}) for one in ("1", "2")]
    folder = home.path / "plugins" / "ash"
    for one, words in (
        ("1", ("plugins", "install", sources[0], "--enable")),
        ("2", ("plugins", "install", sources[1], "--enable", "--force")),
        ("1", ("pm", "rollback")),
    ):
        assert home.ask(*words).status == 0
        alike(folder / "part.py")
        assert (words, said(home, "part", folder)) == (words, one)


def test_a_plugin_that_was_removed_and_comes_again_at_once_runs_as_it_is_now(home: Home) -> None:
    folder = home.path / "plugins" / "ash"
    for one in ("1", "2"):
        home.install(write_plugin(home.work / one / "ash", files={"part.py": f"SAYS = {one}\n"}))
        alike(folder / "part.py")
        assert said(home, "part", folder) == one
        assert home.ask("plugins", "remove", "ash").gist == "0 removed"


def test_a_plugin_that_compiles_its_own_files_is_as_it_was_admitted(home: Home) -> None:
    """Case stale-pyc-03: what a machine leaves behind in a plugin's folder is no part of it."""
    home.install(home.plugin("ash", files={"part.py": "SAYS = 1\n"}))
    folder = home.path / "plugins" / "ash"
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "part.cpython-311.pyc").write_bytes(b"compiled")
    assert (home.ask("pm", "verify").gist, home.ask("plugins", "check").gist) == ("0 verified", "0 ready")
