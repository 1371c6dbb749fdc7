"""Several profiles share one generation: it holds what all of them enable, whatever becomes of one of them."""

from __future__ import annotations

import shutil

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, write_plugin

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


@pytest.fixture
def work(home: Home) -> Home:
    """Return another profile of the home."""
    return home.profile("work")


def test_two_profiles_with_different_plugins_share_one_generation_of_the_union(home: Home, work: Home) -> None:
    home.install(home.plugin("ash", "demo-colors<2"))
    answer = work.install(home.plugin("birch", "demo-transport"))
    assert (answer.gist, answer.value["plugin"]["profile"]) == ("0 admitted", "work")
    assert home.pins == {"demo-colors": "1.2", "demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE
    assert home.admitted == ["ash in default", "birch in work"]
    assert (work.path / "plugins" / "birch").is_dir()
    assert work.config.read_text() == "plugins:\n  enabled:\n    - birch\n"
    assert not (work.path / "pm").exists()


def test_the_same_plugin_in_two_profiles_counts_once_until_both_have_switched_it_off(home: Home, work: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    assert work.install(source).changes == []
    assert home.admitted == ["ash in default", "ash in work"]
    assert [plugin["profile"] for plugin in home.ask("plugins", "check").value["plugins"]] == ["default", "work"]
    home.ask("plugins", "remove", "ash")
    assert (home.admitted, home.pins) == (["ash in work"], {"demo-colors": "2.0"} | CORE)
    assert work.ask("plugins", "check").gist == "0 ready"
    assert work.ask("plugins", "remove", "ash").changes == ["-demo-colors 2.0"]
    assert (home.admitted, home.pins) == ([], CORE)


def test_two_versions_of_a_plugin_in_two_profiles_must_go_together(home: Home, work: Home) -> None:
    home.install(home.plugin("ash", "demo-colors<2"))
    newer = write_plugin(home.work / "newer" / "ash", "demo-colors>=1.2", version="2.0.0")
    assert work.install(newer).gist == "0 admitted"
    assert home.admitted == ["ash in default", "ash in work"]
    newest = write_plugin(home.work / "newest" / "ash", "demo-colors>=2", version="3.0.0")
    answer = work.install(newest, "--force")
    assert (answer.gist, answer.demands) == (
        "1 refused conflict",
        ["plugin ash: demo-colors<2 at plugin.yaml:4", "plugin ash: demo-colors>=2 at plugin.yaml:4"],
    )


def test_a_plugin_of_one_profile_stands_in_the_way_of_another_profile(home: Home, work: Home) -> None:
    home.install(home.plugin("ash", "demo-colors<2"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = work.install(home.plugin("birch", "demo-colors>=2"))
    assert (answer.gist, answer.demands) == (
        "1 refused conflict",
        ["plugin ash: demo-colors<2 at plugin.yaml:4", "plugin birch: demo-colors>=2 at plugin.yaml:4"],
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_a_profile_whose_config_cannot_be_read_keeps_its_last_admitted_plugins(home: Home, work: Home) -> None:
    work.install(home.plugin("birch", "demo-transport>=1.3"))
    work.config.write_text("plugins: [\n")
    answer = home.install(home.plugin("ash", "demo-colors"))
    assert (answer.gist, answer.warnings) == ("0 admitted", ["profile-unreadable"])
    warning = answer.value["warnings"][0]
    assert warning["declared_at"] == {"file": str(work.config), "line": 2, "column": 0, "key": ""}
    assert home.admitted == ["ash in default", "birch in work"]
    assert home.pins == {"demo-colors": "2.0", "demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE
    refused = home.install(home.plugin("cedar", "demo-transport<1.3"))
    assert (refused.gist, refused.demands) == (
        "1 refused conflict",
        ["plugin birch: demo-transport>=1.3 at plugin.yaml:4", "plugin cedar: demo-transport<1.3 at plugin.yaml:4"],
    )


def test_a_profile_whose_folder_is_gone_leaves_the_union_with_a_warning_that_names_its_plugins(
    home: Home, work: Home
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    work.install(home.plugin("birch", "demo-transport"))
    shutil.rmtree(work.path)
    answer = home.ask("pm", "init")
    assert (answer.gist, answer.warnings, answer.changes) == (
        "0 admitted",
        ["profile-gone"],
        ["-demo-socket 2.4", "-demo-transport 1.3.0"],
    )
    assert "`work` is gone, and with it `birch`" in answer.value["warnings"][0]["message"]
    assert (home.admitted, home.pins) == (["ash in default"], {"demo-colors": "2.0"} | CORE)


def test_the_settings_of_a_profile_are_not_read_and_it_is_told(home: Home, work: Home) -> None:
    work.config.write_text("pm:\n  core: nobody\n")
    answer = work.install(home.plugin("ash", "demo-colors"))
    assert (answer.gist, answer.warnings) == ("0 admitted", ["settings-ignored"])


def test_a_profile_that_is_not_there_is_told_and_not_made(home: Home) -> None:
    nowhere = home.root / "profiles" / "nowhere"
    answer = home.say("plugins", "check", "--json", "--home", nowhere)
    assert (answer.gist, nowhere.exists()) == ("3 failed not-writable", False)


def test_a_declaration_that_became_invalid_counts_as_it_was_admitted_and_troubles_nobody_else(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors<2"))
    (home.path / "plugins" / "ash" / "plugin.yaml").write_text("name: ash\nname: ash\n")
    admitted = home.install(home.plugin("birch", "demo-colors"))
    assert (admitted.gist, admitted.warnings) == ("0 admitted", ["declaration-invalid"])
    assert (home.admitted, home.pins) == (["ash in default", "birch in default"], {"demo-colors": "1.2"} | CORE)
    refused = home.install(home.plugin("cedar", "demo-colors>=2"))
    assert (refused.gist, refused.demands) == (
        "1 refused conflict",
        ["plugin ash: demo-colors<2 at plugin.yaml:4", "plugin cedar: demo-colors>=2 at plugin.yaml:4"],
    )
    again = home.ask("plugins", "enable", "ash")
    assert (again.gist, again.steps) == ("1 refused duplicate-key", ["re-enable ash"])


def test_a_plugin_that_the_config_names_and_nobody_admitted_is_not_ready_and_the_step_admits_it(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    write_plugin(home.path / "plugins" / "birch", "demo-transport")
    home.config.write_text(home.config.read_text().replace("    - ash\n", "    - ash\n    - birch\n"))
    answer = home.ask("plugins", "check")
    step = answer.value["steps"][0]
    assert (answer.gist, step["command"], step["confirmed"]) == (
        "1 not-ready not-admitted",
        "hermes plugins enable birch",
        True,
    )
    assert home.ask("plugins", "enable", "birch").gist == "0 admitted"
    assert home.ask("plugins", "check").gist == "0 ready"


def test_a_plugin_that_nobody_admitted_and_that_does_not_fit_stands_in_nobodys_way(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors<2"))
    write_plugin(home.path / "plugins" / "birch", "demo-colors>=2")
    home.config.write_text(home.config.read_text().replace("    - ash\n", "    - ash\n    - birch\n"))
    checked = home.ask("plugins", "check")
    step = checked.value["steps"][0]
    assert (checked.gist, checked.warnings, step["command"], step["confirmed"]) == (
        "1 not-ready not-admitted",
        ["not-admitted"],
        "hermes plugins enable birch",
        False,
    )
    installed = home.install(home.plugin("cedar", "demo-transport"))
    assert (installed.gist, installed.warnings) == ("0 admitted", ["not-admitted"])
    assert home.admitted == ["ash in default", "cedar in default"]
    assert home.ask("plugins", "enable", "birch").gist == "1 refused conflict"
    assert home.ask("plugins", "check").gist == "1 not-ready not-admitted"
    assert [home.ask("pm", "init").gist, home.ask("plugins", "enable", "cedar").gist] == ["0 unchanged"] * 2


def test_a_plugin_in_a_folder_of_another_name_counts_as_it_was_admitted_when_its_name_cannot_be_read(
    home: Home,
) -> None:
    folder = write_plugin(home.path / "plugins" / "hermes-ash", "demo-colors<2", name="ash")
    home.configure("plugins:\n  enabled: [hermes-ash]\n")
    home.ask("pm", "init")
    (folder / "plugin.yaml").write_text("name: [\n")
    answer = home.install(home.plugin("birch", "demo-colors"))
    assert (answer.gist, answer.warnings, home.pins["demo-colors"]) == ("0 admitted", ["declaration-invalid"], "1.2")
    assert home.admitted == ["ash in default", "birch in default"]


def test_a_plugin_that_cannot_be_read_and_was_never_admitted_is_reported_and_blocks_nobody(home: Home) -> None:
    folder = home.path / "plugins" / "ash"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: ash\n\tversion: '1'\n")
    home.configure("plugins:\n  enabled: [ash]\n")
    assert home.install(home.plugin("birch", "demo-colors")).gist == "0 admitted"
    answer = home.ask("plugins", "check")
    assert (answer.gist, answer.value["reasons"][0]["declared_at"]["line"]) == ("1 not-ready not-admitted", 2)


def test_a_plugin_of_a_project_is_a_member_from_wherever_the_operator_works_now(home: Home) -> None:
    switch = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
    folder = write_plugin(home.work / ".hermes" / "plugins" / "ash", "demo-colors<2")
    assert home.ask("plugins", "enable", "ash", **switch).gist == "0 admitted"
    pointer = home.pointer
    assert pointer is not None
    assert (pointer["admitted"][0]["root"], home.pins["demo-colors"]) == (str(folder), "1.2")
    elsewhere = home.profile("elsewhere")
    refused = elsewhere.install(home.plugin("birch", "demo-colors>=2"))
    assert (refused.gist, refused.demands[0]) == (
        "1 refused conflict",
        "plugin ash: demo-colors<2 at plugin.yaml:4",
    )
    folder.rename(home.work / "moved-away")
    admitted = home.install(home.plugin("cedar", "demo-transport"))
    assert (admitted.gist, admitted.warnings) == ("0 admitted", ["plugin-missing"])
    assert home.admitted == ["ash in default", "cedar in default"]


def test_a_changed_file_of_a_plugin_is_found_in_each_profile_that_has_a_copy(home: Home, work: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    work.install(source)
    (work.path / "plugins" / "ash" / "__init__.py").write_text("changed = True\n")
    answer = home.ask("pm", "verify")
    assert (answer.gist, [reason["message"] for reason in answer.value["reasons"]]) == (
        "1 drift drift",
        [f"`{work.path}/plugins/ash/__init__.py` of the plugin `ash` is not as it was admitted"],
    )


def test_going_back_brings_back_the_files_of_each_profile(home: Home, work: Home) -> None:
    source = home.plugin("ash", "demo-colors")
    home.install(source)
    work.install(source)
    (source / "__init__.py").write_text('"""Another plugin."""\n')
    for place in (home, work):
        assert place.install(source, "--force").gist == "0 admitted"
    assert home.ask("pm", "rollback", "2", "--yes").gist == "0 rolled-back"
    files = [place.path / "plugins" / "ash" / "__init__.py" for place in (home, work)]
    assert [file.read_text().startswith('"""A plugin."""') for file in files] == [True, True]
