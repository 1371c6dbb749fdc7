"""What a hostile reader found: consents that outlive their plugin, plugins that share a word, answers out of date."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fixtures.homes import Home, write_plugin

PROJECTS = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
CORE = {"hermes-embedded-core": "0.1.0", "ruamel-yaml": "0.19.1"}


# -- consents


def test_a_consent_goes_with_the_package_it_was_given_for(home: Home) -> None:
    home.install(home.plugin("ash", "dawnpress>0.29"), "--allow-prerelease", "dawnpress")
    home.ask("plugins", "remove", "ash")
    ready = home.ask("plugins", "check", "--offline")
    answer = home.install(home.plugin("birch", "dawnpress>0.29"))
    assert (ready.gist, answer.gist, answer.value["consents"]) == ("0 ready", "1 refused prerelease-only", [])


def test_what_was_built_once_is_not_built_unasked_for_somebody_else(home: Home) -> None:
    home.install(home.plugin("ash", "rawhide"), "--allow-build", "rawhide")
    home.ask("plugins", "remove", "ash")
    answer = home.install(home.plugin("birch", "rawhide"))
    assert (answer.gist, home.pins) == ("1 refused build-needs-consent", CORE)


def test_a_plugin_that_is_switched_off_and_on_again_needs_no_second_consent(home: Home) -> None:
    home.install(home.plugin("ash", "rawhide"), "--allow-build", "rawhide")
    home.ask("plugins", "disable", "ash")
    answer = home.ask("plugins", "enable", "ash")
    assert answer.gist == "0 admitted"


def test_a_consent_to_addresses_that_nobody_needed_is_not_kept(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"), "--allow-direct-urls")
    ready = home.ask("plugins", "check")
    answer = home.install(home.plugin("birch", "demo-colors"))
    assert (ready.gist, ready.value["timings"], answer.value["consents"]) == ("0 ready", {}, [])


# -- two plugins that one word may mean


def test_a_plugin_is_switched_on_by_its_key_where_its_name_means_another(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo]\n  disabled: [cat/foo]\n")
    home.ask("pm", "init")
    answer = home.ask("plugins", "enable", "cat/foo")
    assert (answer.gist, _listed(home), home.admitted) == (
        "0 admitted",
        "plugins:\n  enabled: [foo, cat/foo]\n  disabled: []\n",
        ["cat/foo in default", "foo in default"],
    )


def test_switching_a_plugin_off_leaves_another_of_its_name_on(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo, cat/foo]\n")
    home.ask("pm", "init")
    home.ask("plugins", "disable", "cat/foo")
    assert (_listed(home), home.admitted, home.ask("plugins", "check").gist) == (
        "plugins:\n  enabled: [foo]\n  disabled:\n    - cat/foo\n",
        ["foo in default"],
        "0 ready",
    )


def test_removing_a_plugin_leaves_another_of_its_name_on(home: Home) -> None:
    _two_of_a_name(home)
    home.configure("plugins:\n  enabled: [foo, cat/foo]\n")
    home.ask("pm", "init")
    home.ask("plugins", "remove", "cat/foo")
    assert (_listed(home), home.admitted, home.ask("plugins", "check").gist) == (
        "plugins:\n  enabled: [foo]\n",
        ["foo in default"],
        "0 ready",
    )


def test_a_memory_provider_stays_selected_when_a_plugin_of_its_name_goes(home: Home) -> None:
    write_plugin(home.path / "plugins/foo", "demo-colors")
    write_plugin(home.path / "plugins/memory/foo", kind="exclusive")
    home.configure("plugins:\n  enabled: [foo]\nmemory:\n  provider: foo\n")
    home.ask("pm", "init")
    off = home.ask("plugins", "disable", "foo")
    gone = home.ask("plugins", "remove", "foo")
    assert (off.warnings, gone.warnings, _listed(home), home.admitted) == (
        [],
        ["tree-kept"],
        "plugins:\n  enabled: []\n  disabled: []\nmemory:\n  provider: foo\n",
        ["memory/foo in default"],
    )


def _two_of_a_name(home: Home) -> None:
    write_plugin(home.path / "plugins/foo", "demo-colors")
    write_plugin(home.path / "plugins/cat/foo", "flintspark")


def _listed(home: Home) -> str:
    text = home.config.read_text()
    return text[text.index("plugins:") :]


# -- answers about readiness that are kept


def test_a_changed_plugin_of_a_project_shows_from_everywhere(home: Home) -> None:
    project = home.work / ".hermes/plugins/ash"
    write_plugin(project, "demo-colors")
    home.configure("plugins:\n  enabled: [ash]\n")
    home.ask("pm", "init", **PROJECTS)
    home.work = home.user
    before = [home.ask("plugins", "check", **PROJECTS).gist for _ in range(2)]
    write_plugin(project, "flintspark")
    assert (before, home.ask("plugins", "check", **PROJECTS).gist) == (
        ["0 ready", "0 ready"],
        "1 not-ready not-admitted",
    )


def test_a_changed_plugin_of_a_core_that_is_a_project_shows(home: Home) -> None:
    core = home.work / "core"
    write_plugin(core / "plugins/bund", "demo-colors")
    (core / "pyproject.toml").write_text('[project]\nname = "hermes-agent"\nversion = "0.19.0"\n')
    home.configure("plugins:\n  enabled: [bund]\n")
    home.ask("pm", "init", "--core", core)
    before = [home.ask("plugins", "check").gist for _ in range(2)]
    write_plugin(core / "plugins/bund", "flintspark")
    assert (before, home.ask("plugins", "check").gist) == (["0 ready", "0 ready"], "1 not-ready not-admitted")


def test_an_answer_that_was_resolved_is_found_out_anew(home: Home, wheels: Path) -> None:
    folder = home.work / "wheels"
    shutil.copytree(wheels, folder)
    home.config.write_text(home.config.read_text().replace(str(wheels), str(folder)))
    home.install(home.plugin("ash", "demo-colors"))
    home.config.write_text(home.config.read_text().replace("pm:\n", 'pm:\n  exclude_newer: "2020-01-01"\n'))
    before = home.ask("plugins", "check").gist
    for wheel in folder.glob("demo_colors-*"):
        wheel.unlink()
    assert (before, home.ask("plugins", "check").gist) == ("0 ready", "1 refused not-found-on-index")


def test_the_summary_knows_the_variables_of_now(home: Home) -> None:
    home.install(home.plugin("ash", requires_env=["ASH_TOKEN"]))
    before = home.say("plugins", "check", "--summary").stdout
    (home.path / ".env").write_text("ASH_TOKEN=set\n")
    assert (before, home.say("plugins", "check", "--summary").stdout) == (
        "needs-config  ash 1.0.0\nHermes is ready\n",
        "ready         ash 1.0.0\nHermes is ready\n",
    )


# -- one verdict, also on files


def test_a_folder_that_cannot_be_installed_is_not_admitted_by_a_check(home: Home) -> None:
    plugin = home.plugin("ash", "demo-colors")
    (plugin / "data").symlink_to(home.user)
    assert (home.ask("plugins", "check", plugin).gist, home.install(plugin).gist) == (
        "1 refused unsafe-archive",
        "1 refused unsafe-archive",
    )


def test_a_plugin_that_was_put_there_with_a_link_to_its_data_is_in_nobodys_way(home: Home) -> None:
    plugin = write_plugin(home.path / "plugins/ash", "demo-colors")
    (plugin / "data").symlink_to(home.user)
    home.configure("plugins:\n  enabled: [ash]\n")
    made = home.ask("pm", "init")
    other = home.install(home.plugin("birch"))
    answers = [home.ask("plugins", "disable", "ash"), home.ask("plugins", "check", "ash")]
    on = home.ask("plugins", "enable", "ash")
    assert [made.gist, made.warnings, other.gist, *(answer.gist for answer in answers), on.gist, home.admitted] == [
        "0 admitted",
        ["tree-not-kept"],
        "0 admitted",
        "0 disabled",
        "0 admitted",
        "0 admitted",
        ["ash in default", "birch in default"],
    ]


# -- odd places


def test_a_home_that_was_moved_is_told_and_built_again(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.path = home.path.rename(home.path.with_name("moved"))
    before = home.ask("plugins", "check")
    repaired = home.ask("pm", "repair")
    run = home.say("run", "--", "python", "-c", "import demo_colors")
    assert (before.gist, repaired.gist, run, home.ask("plugins", "check").gist) == (
        "1 drift drift",
        "0 repaired",
        (0, "", ""),
        "0 ready",
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [("plugins list", 0), ("plugins check", 0), ("pm status", 0), ("plugins disable ash", 0), ("plugins remove ash", 0)],
)
def test_a_working_folder_that_is_gone_stops_nothing(home: Home, words: str, status: int) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.work.joinpath("gone").mkdir()
    home.work = home.work / "gone"
    process = home.start(*words.split(), under=["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh"])
    _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (status, "")
