"""`hermes plugins validate`: the author's check, with and without a home, in a process of its own."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.homes import PLUGINS, UNTOUCHED_BY_LOOKING, Answer, Home, new_home, snapshot, write_plugin
from fixtures.server import IndexServer
from fixtures.wheels import Distribution, build_wheels
from pm.receipts.github import github_lines
from pm.receipts.receipt import from_json


def findings(answer: Answer) -> list[str]:
    """Return the warnings with their places, such as `hook-unknown plugin.yaml:5`."""
    return [f"{warning['code']} {_place(warning['declared_at'])}".strip() for warning in answer.value["warnings"]]


def reasons(answer: Answer) -> list[str]:
    return [f"{reason['code']} {_place(reason['declared_at'])}".strip() for reason in answer.value["reasons"]]


def _place(place: dict[str, Any] | None) -> str:
    return f"{place['file']}:{place['line']}" if place else ""


# -- the verdict


def test_a_plugin_with_which_nothing_is_wrong_is_valid(home: Home) -> None:
    answer = home.ask("plugins", "validate", PLUGINS / "nothing-to-report")
    assert (answer.gist, answer.warnings, answer.changes) == ("0 ready", [], ["+demo-colors 1.2"])
    assert answer.value["plugin"] == {
        "key": "nothing-to-report",
        "name": "nothing-to-report",
        "version": "1.0.0",
        "source": {"kind": "folder", "location": str(PLUGINS / "nothing-to-report"), "commit": "", "ref": ""},
        "profile": "",
        "declared_in": "plugin.yaml",
        "digest": answer.value["plugin"]["digest"],
    }


def test_all_faults_of_a_declaration_are_told_with_what_the_files_tell(home: Home) -> None:
    answer = home.ask("plugins", "validate", PLUGINS / "bad-specifier")
    assert (answer.gist, reasons(answer), findings(answer)) == (
        "1 refused invalid-declaration invalid-declaration",
        ["invalid-declaration plugin.yaml:5", "invalid-declaration plugin.yaml:6"],
        ["readme-missing"],
    )


def test_a_declaration_that_is_fit_is_judged_with_the_core(home: Home) -> None:
    answer = home.ask("plugins", "validate", PLUGINS / "conflicts-with-core")
    proof = answer.value["reasons"][0]["proof"]
    assert (answer.gist, answer.demands, proof["minimal"], proof["verified"]) == (
        "1 refused core-conflict",
        [
            "core hermes-embedded-core: pyyaml<7,>=6.0.2 at METADATA",
            "plugin conflicts-with-core: PyYAML<6 at plugin.yaml:5",
        ],
        True,
        True,
    )


@pytest.mark.parametrize(
    "folder",
    [
        "admitted-simple",
        "bad-specifier",
        "conflicts-with-core",
        "direct-url",
        "duplicate-key",
        "dynamic-dependencies",
        "legacy-list",
        "needs-newer-core",
        "self-dependency",
        "unsupported-manifest-version",
    ],
)
def test_the_verdict_is_that_of_the_dry_run(home: Home, folder: str) -> None:
    validated = home.ask("plugins", "validate", PLUGINS / folder)
    checked = home.ask("plugins", "check", PLUGINS / folder)
    assert (validated.status, validated.value["reasons"]) == (checked.status, checked.value["reasons"])


def test_what_is_installed_in_the_home_does_not_count(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors==1.0"))
    birch = write_plugin(home.work / "birch", "demo-colors>=1.2", files={"README": "Reads."})
    validated = home.ask("plugins", "validate", birch)
    assert (home.ask("plugins", "check", birch).gist, validated.gist, validated.changes, validated.warnings) == (
        "1 refused conflict",
        "0 ready",
        ["+demo-colors 2.0"],
        [],
    )


def test_an_archive_is_judged_as_the_folder_in_it(home: Home) -> None:
    archive = shutil.make_archive(str(home.work / "made"), "zip", PLUGINS, "bad-specifier")
    answer = home.ask("plugins", "validate", archive)
    assert (reasons(answer), answer.value["plugin"]["source"]["kind"]) == (
        ["invalid-declaration plugin.yaml:5", "invalid-declaration plugin.yaml:6"],
        "archive",
    )


def test_a_path_that_is_not_there_is_no_verdict(home: Home) -> None:
    answer = home.ask("plugins", "validate", home.work / "missing")
    assert answer.gist == "2 failed invalid-source"


# -- which core


def _offer_hosts(server: IndexServer) -> None:
    files = {"acp_adapter/__init__.py": "", "acp_adapter/server.py": ""}
    server.offer(Distribution("hermes-agent", "0.19.0", requires=["demo-transport>=1"], files=files))
    server.offer(Distribution("hermes-agent", "0.20.0", files={"agent/__init__.py": ""}))


def test_the_core_is_that_of_the_option_else_of_the_home_else_the_embedded_one(
    served: Home, server: IndexServer
) -> None:
    _offer_hosts(server)
    words = ("plugins", "validate", PLUGINS / "host-module")
    embedded = served.ask(*words)
    named = served.ask(*words, "--core", "hermes-agent==0.19.0")
    served.configure("  core: hermes-agent>=0.19\n")
    configured = served.ask(*words)
    assert [(answer.value["core"].partition("==")[0], findings(answer)) for answer in (embedded, named)] == [
        ("hermes-embedded-core", ["core-module-missing __init__.py:3"]),
        ("hermes-agent", []),
    ]
    assert (configured.value["core"], findings(configured)) == (
        "hermes-agent==0.20.0",
        ["core-module-missing __init__.py:3"],
    )


def test_a_plugin_that_needs_another_core_is_refused_for_that(served: Home, server: IndexServer) -> None:
    _offer_hosts(server)
    answer = served.ask("plugins", "validate", PLUGINS / "needs-newer-core", "--core", "hermes-agent==0.19.0")
    assert answer.gist == "1 refused core-version"


def test_a_project_is_a_core_with_its_own_modules(home: Home) -> None:
    project = home.work / "host"
    (project / "acp_adapter").mkdir(parents=True)
    (project / "acp_adapter" / "__init__.py").touch()
    (project / "pyproject.toml").write_text('[project]\nname = "hermes-agent"\nversion = "0.21.0"\ndependencies = []\n')
    answer = home.ask("plugins", "validate", PLUGINS / "host-module", "--core", project)
    assert (answer.gist, answer.value["core"], answer.warnings) == ("0 ready", "hermes-agent==0.21.0", [])


def test_a_memory_provider_that_the_core_would_hide_is_refused(served: Home, server: IndexServer) -> None:
    files = {"plugins/memory/mem0/plugin.yaml": "name: mem0", "plugins/memory/mem0/__init__.py": "# MemoryProvider"}
    server.offer(Distribution("hermes-agent", "0.19.0", files=files))
    plugin = write_plugin(served.work / "mem0", kind="exclusive")
    answer = served.ask("plugins", "validate", plugin, "--core", "hermes-agent==0.19.0")
    assert answer.gist == "1 refused name-taken"


# -- which home


def test_without_a_home_only_the_cache_is_written(home: Home, server: IndexServer, tmp_path: Path) -> None:
    missing = tmp_path / "not there" / "home"
    answer = home.ask(
        "plugins",
        "validate",
        PLUGINS / "nothing-to-report",
        HERMES_HOME=str(missing),
        UV_DEFAULT_INDEX=server.url,
    )
    written = sorted({"/".join(path.split("/")[:2]) for path in snapshot(missing)})
    assert (answer.gist, answer.warnings, written) == ("0 ready", [], ["pm", "pm/cache"])


def test_in_a_home_only_the_cache_is_written_and_nothing_stays_staged(cold: Home) -> None:
    cold.state.mkdir()
    before = cold.snapshot(UNTOUCHED_BY_LOOKING)
    cold.ask("plugins", "validate", PLUGINS / "nothing-to-report")
    assert (cold.snapshot(UNTOUCHED_BY_LOOKING), (cold.state / "cache" / "staged").exists()) == (before, False)


def test_a_home_that_is_at_fault_is_not_the_authors(home: Home, server: IndexServer) -> None:
    home.config.write_text("plugins: [\n")
    answer = home.ask("plugins", "validate", PLUGINS / "nothing-to-report", UV_DEFAULT_INDEX=server.url)
    assert (answer.gist, findings(answer)) == ("0 ready", [f"home-not-used {home.config}:2"])


def test_a_profile_that_is_not_there_is_not_needed(home: Home, server: IndexServer) -> None:
    answer = home.ask(
        "plugins",
        "validate",
        PLUGINS / "nothing-to-report",
        HERMES_HOME=str(home.path / "profiles" / "nobody"),
        UV_DEFAULT_INDEX=server.url,
    )
    assert (answer.gist, answer.warnings) == ("0 ready", ["home-not-used"])


def test_what_cannot_be_found_out_is_not_the_homes_fault(served: Home) -> None:
    answer = served.ask("plugins", "validate", PLUGINS / "nothing-to-report", "--offline")
    assert (answer.status, answer.warnings) == (3, [])


def test_what_the_home_allows_counts_and_is_shown(home: Home) -> None:
    plugin = write_plugin(home.work / "p", "dawnpress>=1.0.dev1", files={"README": "Reads."})
    before = home.ask("plugins", "validate", write_plugin(home.work / "q", "dawnpress<2,!=0.28.1"))
    home.configure("  allow_prerelease: [dawnpress]\n")
    after = home.ask("plugins", "validate", home.work / "q")
    assert (home.ask("plugins", "validate", plugin).gist, before.gist, after.gist, after.value["consents"]) == (
        "0 ready",
        "1 refused prerelease-only",
        "0 ready",
        [{"action": "allow-prerelease", "subject": "dawnpress"}],
    )


# -- what the files tell


def test_imports_are_compared_with_what_the_packages_really_bring(wheels: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(wheels, tmp_path / "wheels")
    build_wheels(folder, Distribution("Odd-Name", "1.0", requires=["demo-colors"], files={"oddly/__init__.py": ""}))
    home = new_home(tmp_path / "home", wheels=folder)
    source = "import oddly.inner, demo_colors\nimport odd_name\ndef register(ctx): ...\n"
    plugin = write_plugin(home.work / "odd", "odd-name", files={"README": "Reads.", "__init__.py": source})
    assert findings(home.ask("plugins", "validate", plugin)) == ["undeclared-import __init__.py:2"]


def test_offline_nothing_is_claimed_of_packages_that_nobody_looked_into(served: Home) -> None:
    source = "import demo_colors, demo_elsewhere\ndef register(ctx): ...\n"
    plugin = write_plugin(served.work / "p", "demo-colors", files={"README": "Reads.", "__init__.py": source})
    online = served.ask("plugins", "validate", plugin)
    shutil.rmtree(served.state / "cache" / "contents")
    offline = served.ask("plugins", "validate", plugin, "--offline")
    assert (findings(online), findings(offline)) == (
        ["undeclared-import __init__.py:1"],
        ["contents-unknown", "import-not-judged __init__.py:1"],
    )


def test_nothing_of_a_plugin_is_run_wherever_the_command_is_started(home: Home, tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    shutil.copytree(PLUGINS / "named-like-a-package", home.work, dirs_exist_ok=True)
    here = home.ask("plugins", "validate", ".", MARKER_FOLDER=str(marks))
    there = home.ask("plugins", "validate", PLUGINS / "marker-files", MARKER_FOLDER=str(marks))
    left = sorted(path.name for path in home.work.rglob("ran-*"))
    assert (here.gist, here.warnings, there.gist, list(marks.iterdir()), left) == (
        "0 ready",
        ["external-unchecked"],
        "0 ready",
        [],
        [],
    )


def test_findings_can_be_shown_beside_the_lines(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PLUGINS.parent)
    receipt = from_json(home.ask("plugins", "validate", PLUGINS / "unknown-hook").value)
    assert list(github_lines(receipt, str(PLUGINS / "unknown-hook"))) == [
        (
            "::warning file=plugins/unknown-hook/plugin.yaml,line=5,col=5,title=hook-unknown::"
            "`post_tool_cal` is not a hook that any known host calls%0Ahint: did you mean `post_tool_call`?"
        )
    ]


@pytest.mark.parametrize("core", ["no-such-core", "/no/such/folder", "two words"])
def test_a_core_of_the_command_line_is_not_looked_for_in_a_config(home: Home, core: str) -> None:
    receipt = home.ask("plugins", "validate", PLUGINS / "nothing-to-report", "--core", core).value
    assert [reason["declared_at"]["key"] for reason in receipt["reasons"]] == ["--core"]
    assert "pm.core" not in receipt["summary"] + receipt["reasons"][0]["message"]


# -- several cores and Pythons


def project(folder: Path, name: str, *requires: str) -> Path:
    folder.mkdir()
    needs = ", ".join(f'"{one}"' for one in requires)
    text = f'[project]\nname = "{name}"\nversion = "1.0"\nrequires-python = ">=3.11"\ndependencies = [{needs}]\n'
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_each_core_that_is_named_has_a_row_and_the_worst_one_decides(home: Home) -> None:
    cores = [project(home.work / "old", "old-core", "demo-colors<2"), project(home.work / "new", "new-core")]
    plugin = home.plugin("ash", "demo-colors>=2")
    named = [word for core in cores for word in ("--core", core)]
    answer = home.say("plugins", "validate", plugin, *named, "--json")
    receipts = answer.value["receipts"]
    assert (answer.status, answer.value["exit_status"]) == (1, 1)
    assert [(one["core"].partition("==")[0], one["outcome"]) for one in receipts] == [
        ("old-core", "refused"),
        ("new-core", "ready"),
    ]
    text = home.say("plugins", "validate", plugin, *named)
    rows = text.stdout.splitlines()[-2:]
    assert [row.partition("==")[0] for row in rows] == ["old-core", "new-core"]
    assert [row.partition(": ")[2].startswith("`ash` is") for row in rows] == [True, True]
    assert text.status == 1


def test_one_that_is_named_twice_is_judged_once(home: Home) -> None:
    core = project(home.work / "core", "some-core")
    plugin = home.plugin("ash", "demo-colors")
    assert home.ask("plugins", "validate", plugin, "--core", core, "--core", core).gist == "0 ready"


def test_a_python_that_the_core_does_not_support_is_refused_beside_one_that_it_does(home: Home) -> None:
    plugin = home.plugin("ash", "demo-colors")
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    answer = home.say("plugins", "validate", plugin, "--python", here, "--python", "3.99", "--json")
    assert [one["outcome"] for one in answer.value["receipts"]] == ["ready", "failed"]
    assert answer.status == 3


def test_annotations_of_several_cores_name_each_of_them(home: Home) -> None:
    cores = [project(home.work / "old", "old-core", "demo-colors<2"), project(home.work / "new", "new-core")]
    named = [word for core in cores for word in ("--core", core)]
    plugin = home.plugin("ash", "demo-colors>=2")
    answer = home.say("plugins", "validate", plugin, *named, "--format", "github")
    assert answer.stdout.count("::error ") == 1
    assert [line.partition("==")[0] for line in answer.stdout.splitlines()[-2:]] == ["old-core", "new-core"]


def test_a_log_of_github_has_proof_and_steps_in_a_group_and_so_has_the_summary_of_the_job(home: Home) -> None:
    plugin = home.plugin("ash", "demo-colors>=99", "demo-socket>=99")
    summary = home.work / "summary.md"
    summary.write_text("before\n")
    answer = home.say("plugins", "validate", plugin, "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    lines = answer.stdout.splitlines()
    begin, end = lines.index(next(line for line in lines if line.startswith("::group::"))), lines.index("::endgroup::")
    inside = "\n".join(lines[begin + 1 : end])
    assert (answer.status, "What now" in inside, "demo-socket>=99" in inside) == (1, True, True)
    assert not any(line.startswith("::") for line in lines[begin + 1 : end])
    written = summary.read_text()
    assert written.startswith("before\n### ✗ `ash` is not valid")
    assert inside.strip() in written


def test_a_summary_that_cannot_be_written_is_told_and_changes_nothing(home: Home) -> None:
    words = ("plugins", "validate", home.plugin("ash"), "--format", "github")
    answer = home.say(*words, GITHUB_STEP_SUMMARY=str(home.work / "nowhere" / "x"))
    assert "the summary of the job cannot be written" in answer.stderr
    assert answer.status == home.say(*words).status


@pytest.mark.parametrize("verb", ["validate", "check"])
def test_a_warning_about_a_plugin_fails_where_that_is_asked_for_and_one_about_the_machine_does_not(
    home: Home, wheels: Path, verb: str
) -> None:
    clean = PLUGINS / "nothing-to-report"
    odd = home.plugin("ash", files={"__init__.py": "import nowhere_to_be_found\n\n\ndef register(ctx):\n    pass\n"})
    noise = {"PIP_EXTRA_INDEX_URL": "http://127.0.0.1:9/simple"}
    home.config.write_text("")
    for plugin, status in ((clean, 0), (odd, 1)):
        words = ("plugins", verb, plugin, "--fail-on-warning")
        answer = home.ask(*words, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), **noise)
        levels = {warning["level"] for warning in answer.value["warnings"]}
        assert (answer.status, answer.value["exit_status"], "warning" in levels) == (status, status, status == 1)
    assert home.ask("plugins", verb, odd, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels)).status == 0
