"""What nothing reads or acts on is told: settings, keys and files of a declaration, undeclared imports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Answer, Home


def _enabled(home: Home, plugin: Path) -> Answer:
    home.ask("plugins", "install", plugin, "--no-enable")
    return home.ask("plugins", "enable", plugin.name)


def _initialised(home: Home, plugin: Path) -> Answer:
    """Enable the plugin by hand, and make the first generation."""
    home.ask("plugins", "install", plugin, "--no-enable")
    home.configure(f"plugins:\n  enabled: [{plugin.name}]\n")
    return home.ask("pm", "init")


Ask = Callable[[Home, Path], Answer]
ADMITTING: dict[str, Ask] = {
    "check": lambda home, plugin: home.ask("plugins", "check", plugin),
    "several": lambda home, plugin: home.ask("plugins", "check", plugin, home.plugin("other")),
    "dry run": lambda home, plugin: home.install(plugin, "--dry-run"),
    "install": lambda home, plugin: home.install(plugin),
    "enable": _enabled,
    "init": _initialised,
    "validate": lambda home, plugin: home.ask("plugins", "validate", plugin),
}


# -- settings


@pytest.mark.parametrize("setting", ["refuse", "warn"])
@pytest.mark.parametrize("verb", ["check", "dry run", "install", "init"])
def test_a_setting_that_nothing_enforces_is_an_error_of_what_would_admit(home: Home, setting: str, verb: str) -> None:
    home.configure(f"  audit: {setting}\n")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    asked = ADMITTING | {"init": lambda home, _: home.ask("pm", "init")}
    answer = asked[verb](home, home.plugin("ash", "demo-colors"))
    reason = answer.value["reasons"][0]
    assert (answer.gist, reason["hint"].split(",")[0]) == ("3 failed setting-not-enforced", "set `pm.audit: off`")
    assert reason["message"] == (
        f"`pm.audit: {setting}` has no effect in this version, so nothing is admitted while it is set"
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS).keys() - before.keys() <= {"pm"}


def test_what_admits_nothing_works_beside_such_a_setting(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.configure("  audit: refuse\n")
    for words in (("plugins", "list"), ("pm", "status"), ("pm", "verify")):
        assert home.ask(*words).status == 0
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
    assert home.ask("plugins", "remove", "ash").gist == "0 removed"
    validated = home.ask("plugins", "validate", home.plugin("birch", "demo-colors"))
    assert (validated.gist, validated.changes) == ("0 ready", ["+demo-colors 2.0"])


# -- declarations


@pytest.mark.parametrize("verb", ADMITTING)
@pytest.mark.parametrize(
    ("manifest", "files", "hint"),
    [
        (
            {"python_dependancies": ["tiktoken"]},
            {},
            "packages belong to `python_dependencies` or to a `pyproject.toml`",
        ),
        ({"depends": ["tiktoken"]}, {}, "packages belong to `python_dependencies` or to a `pyproject.toml`"),
        ({}, {"requirements.txt": "tiktoken>=0.5\n"}, "list it in `python_dependencies` of the manifest"),
    ],
    ids=["misspelling", "another host's key", "a file"],
)
def test_requirements_that_nothing_reads_are_told_by_every_verb(
    home: Home, verb: str, manifest: dict[str, list[str]], files: dict[str, str], hint: str
) -> None:
    answer = ADMITTING[verb](home, home.plugin("ash", files=files, **manifest))
    told = [warning["hint"] for warning in answer.value["warnings"] if warning["code"] == "dependencies-not-read"]
    assert (answer.status, [one.startswith(hint) for one in told]) == (0, [True])


def test_a_file_that_repeats_what_is_declared_or_is_read_is_no_matter(home: Home) -> None:
    same = home.plugin("ash", "demo-colors>=1", files={"requirements.txt": "# same\nDemo_Colors\n-r other.txt\n"})
    project = '[project]\nname = "birch"\nversion = "1"\ndynamic = ["dependencies"]\n'
    project += '[tool.setuptools.dynamic]\ndependencies = {file = "requirements.txt"}\n'
    read = home.plugin("birch", files={"pyproject.toml": project, "requirements.txt": "demo-colors\n"})
    for plugin in (same, read):
        answer = home.ask("plugins", "check", plugin)
        assert (answer.gist, "dependencies-not-read" in answer.warnings) == ("0 admitted", False)


# -- source code


@pytest.mark.parametrize("verb", ADMITTING)
def test_an_import_that_nothing_brings_is_told_by_every_verb_that_admits(home: Home, verb: str) -> None:
    plugin = home.plugin("ash", "demo-colors", files={"__init__.py": "import tiktoken\n\ndef register(ctx): ...\n"})
    answer = ADMITTING[verb](home, plugin)
    told = [warning["message"] for warning in answer.value["warnings"] if warning["code"] == "undeclared-import"]
    assert (answer.status, told) == (0, ["no requirement of core or plugin provides `tiktoken`"])


def test_the_author_is_told_of_it_also_where_the_plugin_is_refused(home: Home) -> None:
    files = {"__init__.py": "import tiktoken\nimport demo_colors\n\ndef register(ctx): ...\n"}
    answer = home.ask("plugins", "validate", home.plugin("ash", "demo-colors>=99", files=files))
    told = [warning["message"] for warning in answer.value["warnings"] if warning["code"] == "undeclared-import"]
    assert (answer.gist, told) == (
        "1 refused no-matching-version",
        ["no requirement of core or plugin provides `tiktoken`"],
    )
