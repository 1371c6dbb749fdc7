"""A dry run imports nothing that it does not need: most of its time is the start of the interpreter and imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fixtures.homes import HERMES, Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

HEAVY = {
    "asyncio",
    "bz2",
    "dataclasses",
    "email",
    "filelock",
    "http",
    "importlib.metadata",
    "inspect",
    "logging",
    "lzma",
    "packaging.markers",
    "packaging.requirements",
    "pip_audit",
    "resolvelib",
    "rich",
    "ruamel",
    "shutil",
    "ssl",
    "subprocess",
    "tempfile",
    "tomlkit",
    "urllib3",
    "zipfile",
}
READERS = {"pm.plugins.manifest", "pm.documents.nodes", "pm.plugins.pyproject", "tomllib", "yaml"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp("imports")
    (folder / "wheels").mkdir()
    build_recipe(folder / "wheels", read_recipe(DEFAULT_RECIPE))
    home = new_home(folder / "home", wheels=folder / "wheels")
    home.ask("pm", "init")
    for bounds in ("", "<3"):  # what an index says is known, not what is new
        home.ask("plugins", "check", home.plugin(f"known{len(bounds)}", f"demo-socket{bounds}"))
    return home


def imported(home: Home, *folders: Path) -> set[str]:
    """Return what dry runs of these folders all import: what one alone imports came of the load, as a late answer."""
    return set.intersection(*(_imported(home, folder) for folder in folders))


def _imported(home: Home, *folder: Path) -> set[str]:
    command: list[str | Path] = [sys.executable, "-X", "importtime", HERMES, "plugins", "check", *folder, "--json"]
    done = subprocess.run(command, env=home.environ, cwd=home.work, capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def test_what_is_known_to_be_ready_is_answered_without_deciding_and_without_typing(home: Home) -> None:
    home.ask("plugins", "check")
    found = _imported(home) & _imported(home)
    assert "pm.cli.readiness_cache" in found
    assert found & (HEAVY | {"admission", "argparse", "pathlib", "typing"}) == set()


def test_a_dry_run_of_a_known_plugin_imports_no_reader_and_nothing_heavy(home: Home) -> None:
    plugin = home.plugin("ash", "demo-socket<3")
    home.ask("plugins", "check", plugin)
    found = imported(home, plugin, plugin)
    assert "admission.verdict" in found
    assert found & (HEAVY | READERS) == set()


def test_a_dry_run_of_a_plugin_that_nobody_has_seen_imports_its_reader_and_nothing_else_that_is_heavy(
    home: Home,
) -> None:
    found = imported(home, _project(home, "birch"), _project(home, "cedar"))
    assert "tomllib" in found
    assert found & (HEAVY | {"difflib", "pm.cli.wrong_words", "yaml"}) == set()


def _project(home: Home, name: str) -> Path:
    text = f'[project]\nname = "{name}"\nversion = "1.0"\ndependencies = ["demo-socket>=1,<3"]\n'
    plugin = home.plugin(name, files={"pyproject.toml": text})
    (plugin / "plugin.yaml").unlink()
    return plugin
