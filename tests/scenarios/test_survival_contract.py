"""What plugins may rely on, whatever is installed beside them; and that every case of survival has its test."""

from __future__ import annotations

import re
import sys
import venv
from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, snapshot, write_plugin
from fixtures.hosts import chains, host, new_hosted_home, releases
from fixtures.reports import CASES, reports

ROOT = Path(__file__).parents[2]
KINDS = (
    "concurrent-installs", "disk-full", "foreign-mutation", "generation-gc", "killed-mid-install", "partial-rollback",
    "read-only-dir", "removed-or-replaced-while-running", "safe-mode-recovery", "shared-dependency-removal",
    "stale-pyc", "unloadable-plugin-stuck", "windows-file-lock",
)  # fmt: skip
PARTLY = {
    "read-only-dir-03": "`ensure(feature)` is a lazy install, which this version does not have: shown with `pm init`",
    "stale-pyc-03": "its watcher is a host's: shown with the starts and the commands that look at a plugin",
    "windows-file-lock-01": "Windows is not supported: shown with a file that is held open, which Linux would let go",
    "windows-file-lock-03": "Windows is not supported: shown with a manager that was started inside of a generation",
    "contract: left out by `--without`": "`hermes update --without` does not exist in this version",
}
"""What is asked for and shown only as far as this version goes, with the reason."""


@pytest.mark.skipif(not CASES.exists(), reason="the collected bug reports are not part of the repository")
def test_every_report_of_these_kinds_is_named_by_a_test() -> None:
    known = [report["id"] for report in reports(*KINDS)]
    tests = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "scenarios").glob("test_cases_*.py")
    )
    named = set(re.findall(r"(?:[a-z]+-)+\d\d", tests))
    for kind, further in re.findall(r"((?:[a-z]+-)+)\d\d((?:,? and -\d\d)+)", tests):
        named |= {f"{kind}{number}" for number in re.findall(r"\d\d", further)}
    assert (len(known), [each for each in known if each not in named]) == (31, [])
    assert [each for each in PARTLY if each not in known] == ["contract: left out by `--without`"]


# -- sidecars


PROJECT = '[project]\nname = "{name}"\nversion = "1"\ndependencies = [{requires}]\n'


def test_a_project_inside_of_a_plugins_folder_never_joins_the_union(stocked: Home) -> None:
    files = {
        "sidecar/pyproject.toml": PROJECT.format(name="sidecar", requires='"kit==1.0", "is-nowhere"'),
        "sidecar/requirements.txt": "is-nowhere\n",
        "services/worker/plugin.yaml": "name: worker\npython_dependencies: [is-nowhere]\n",
    }
    answer = stocked.install(stocked.plugin("ash", "kit==2.0", files=files))
    assert (answer.gist, stocked.pins["kit"], stocked.admitted) == ("0 admitted", "2.0", ["ash in default"])


def test_what_a_plugin_with_an_environment_of_its_own_declares_never_joins_the_union(stocked: Home) -> None:
    files = {"pyproject.toml": PROJECT.format(name="ash", requires='"is-nowhere"')}
    answer = stocked.install(stocked.plugin("ash", python_runtime="external", files=files))
    assert (answer.gist, answer.warnings, "kit" in stocked.pins) == ("0 admitted", ["external-runtime"], False)


@pytest.mark.parametrize("name", ["venv", ".venv"])
def test_an_environment_that_a_plugin_made_in_its_folder_is_as_it_was_whatever_happens_around_it(
    stocked: Home, name: str
) -> None:
    stocked.configure("  keep_generations: 9\n")
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    folder = stocked.path / "plugins" / "ash" / name
    venv.create(folder, symlinks=True)
    (folder / "marker").write_text("made by the plugin")
    before = files_of(folder)
    newer = write_plugin(stocked.work / "newer" / "ash", "kit==2.0", version="2")
    for words in (
        ("plugins", "install", stocked.plugin("birch", "demo-colors"), "--enable"),
        ("plugins", "install", newer, "--enable", "--force"),
        ("plugins", "disable", "ash"),
        ("plugins", "enable", "ash"),
        ("pm", "rollback", "1"),
        ("pm", "gc"),
    ):
        assert (stocked.ask(*words).status, files_of(folder)) == (0, before)


def files_of(folder: Path) -> dict[str, str]:
    return {path: state for path, state in snapshot(folder).items() if not state.endswith("folder")}


def test_what_a_host_starts_works_in_the_home_of_the_active_profile(stocked: Home) -> None:
    work = stocked.profile("work")
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    asks = "import os; print(os.environ['HERMES_HOME'])"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {asks!r}])"
    homes = [home.say("run", "--", "python", "-c", child).stdout for home in (stocked, work)]
    assert homes == [f"{stocked.path}\n", f"{work.path}\n"]
    assert stocked.say("run", "--", sys.executable, "-c", child).stdout == f"{stocked.path}\n"


# -- two that exclude each other


def test_two_sources_of_one_library_are_refused_offline_and_nothing_changes_until_one_of_them_goes(
    tmp_path: Path,
) -> None:
    home = new_hosted_home(
        tmp_path, "hermes-agent==0.19.0", host("0.19.0"), *releases("sharedlib", v1_0_0=(), v2_0_0=())
    )
    one, two = (with_source(home, name, version) for name, version in (("one", "1.0.0"), ("two", "2.0.0")))
    assert home.ask("plugins", "install", one, "--enable", "--offline").gist == "0 admitted"
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("plugins", "install", two, "--enable", "--offline")
    assert (answer.gist, chains(answer.value)) == (
        "1 refused conflict",
        ["one: sharedlib==1.0.0", "two: sharedlib==2.0.0"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.say("pm", "receipts", "show", "latest", "--json").value["outcome"] == "refused"
    assert home.ask("plugins", "disable", "one", "--offline").gist == "0 disabled"
    assert home.ask("plugins", "install", two, "--enable", "--offline").gist == "0 admitted"
    assert (home.admitted, home.pins["sharedlib"]) == (["two in default"], "2.0.0")


def with_source(home: Home, name: str, version: str) -> Path:
    """Write a plugin that wants one version of a library, from a folder beside it."""
    project = PROJECT.format(name=name, requires=f'"sharedlib=={version}"')
    sources = f'[tool.uv.sources]\nsharedlib = {{path = "../lib/{version}"}}\n'
    return home.plugin(name, files={"pyproject.toml": project + sources})


def test_a_requirement_on_a_folder_is_refused_with_plugin_and_line_and_one_on_a_version_commits(stocked: Home) -> None:
    library = stocked.work / "lib"
    library.mkdir()
    stocked.install(stocked.plugin("ash", "demo-colors"))
    before = stocked.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = stocked.ask(
        "plugins", "install", stocked.plugin("one", f"kit @ {library.as_uri()}"), "--enable", "--offline"
    )
    [reason] = answer.value["reasons"]
    assert (answer.gist, answer.steps, reason["declared_at"]["line"]) == ("1 refused direct-url", ["retry one"], 4)
    assert stocked.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert stocked.ask("plugins", "install", stocked.plugin("one", "kit"), "--enable", "--offline").gist == "0 admitted"


# -- nobody is left out by the manager itself


def test_whatever_conflicts_no_plugin_is_switched_off_for_another(tmp_path: Path) -> None:
    hosts = (host("0.19.0"), host("0.20.0", "kit==2"))
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", *hosts, *releases("kit", v1=(), v2=()))
    work = home.profile("work")
    home.install(home.plugin("ash", "kit==1"))
    work.install(work.plugin("birch", "demo-colors"))
    write_plugin(home.path / "plugins" / "cedar", "kit==2")
    home.config.write_text(home.config.read_text().replace("    - ash\n", "    - Cedar\n    - ash\n"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answers = [
        home.install(home.plugin("elm", "kit==2")),
        work.install(home.work / "elm"),
        home.ask("plugins", "enable", "cedar"),
        home.ask("pm", "init", "--core", "hermes-agent==0.20.0"),
    ]
    assert [(answer.status, answer.value["outcome"]) for answer in answers] == [(1, "refused")] * 4
    assert (home.ask("pm", "init").gist, home.ask("pm", "init").warnings) == ("0 unchanged", ["not-admitted"])
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    told = home.install(home.plugin("fir", "demo-socket"))
    assert (told.gist, told.warnings) == ("0 admitted", ["not-admitted"])
    assert home.config.read_text().endswith("  enabled:\n    - Cedar\n    - ash\n    - fir\n")
    assert home.admitted == ["ash in default", "birch in work", "fir in default"]
