"""`hermes update`: the newest core with its extras and everything enabled, or nothing of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow, new_home, write_plugin
from fixtures.hosts import chains, host, is_proved, new_hosted_home, offer, releases, steps

CORE = "hermes-agent==0.18.0"
WIRE = releases("wirekit", v1_0=(), v2_0=())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home with core 0.18.0, where 0.19.0 requires a newer `wirekit`, and 0.20.0rc1 is a preview."""
    cores = [host("0.18.0"), host("0.19.0", "wirekit>=2"), host("0.20.0rc1")]
    home = new_hosted_home(tmp_path, CORE, *cores, *WIRE)
    home.ask("pm", "init")
    return home


def setting(home: Home) -> str:
    [line] = [line.strip() for line in home.config.read_text().splitlines() if line.strip().startswith("core:")]
    return line.partition(":")[2].strip().strip("'\"")


def test_the_newest_release_comes_with_everything_that_is_enabled(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors", "wirekit"))
    assert home.pins["wirekit"] == "2.0"
    answer = home.ask("update")
    assert (answer.gist, answer.changes) == ("0 admitted", ["hermes-agent 0.18.0 → 0.19.0"])
    assert answer.value["summary"].startswith("Hermes is updated; core hermes-agent 0.18.0 → 0.19.0")
    assert (setting(home), home.admitted) == ("hermes-agent==0.19.0", ["ash in default"])
    again = home.ask("update")
    assert (again.gist, again.value["summary"]) == ("0 unchanged", "Hermes is up to date")


def test_a_check_says_the_same_and_changes_nothing(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    for option in ("--check", "--dry-run"):
        answer = home.ask("update", option)
        assert (answer.gist, answer.changes) == ("0 admitted", ["+wirekit 2.0", "hermes-agent 0.18.0 → 0.19.0"])
        assert answer.value["dry_run"]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_plugins_that_do_not_fit_are_named_and_the_old_generation_stays(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    home.install(home.plugin("birch", "demo-colors"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("update")
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["hermes-agent: wirekit>=2", "ash: wirekit<2"],
        True,
    )
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert steps(answer.value) == ["widen ash → wirekit<3", "leave-out ash", "retry hermes-agent==0.19.0 ?"]
    [leaving] = [step["command"] for step in answer.value["steps"] if step["action"] == "leave-out"]
    assert leaving == "hermes update --core hermes-agent==0.19.0 --without ash"
    done = follow(home, leaving)
    assert (done.status, home.admitted, home.pins["hermes-agent"]) == (0, ["birch in default"], "0.19.0")


def test_what_is_left_out_is_disabled_and_told_how_it_comes_back(home: Home) -> None:
    home.install(home.plugin("ash", "wirekit<2"))
    home.install(home.plugin("birch", "demo-colors"))
    home.config.write_text(home.config.read_text() + "memory:\n  provider: ''\n")
    answer = home.ask("update", "--without", "ASH")
    assert (answer.gist, steps(answer.value)) == ("0 admitted", ["re-enable ash ?"])
    assert answer.value["steps"][0]["command"] == "hermes plugins enable ash"
    rows = {row["key"]: row["state"] for row in home.ask("plugins", "list").value["plugins"]}
    assert (rows["ash"], rows["birch"]) == ("disabled", "enabled")
    assert (home.path / "plugins" / "ash" / "plugin.yaml").exists()
    assert home.ask("pm", "rollback").gist == "0 rolled-back"
    assert (setting(home), home.admitted) == (CORE, ["ash in default", "birch in default"])


def test_a_gate_of_a_plugin_refuses_the_whole(home: Home) -> None:
    home.install(home.plugin("ash", requires_hermes="<0.19"))
    answer = home.ask("update")
    assert (answer.gist, steps(answer.value)[0]) == ("1 refused core-version", "leave-out ash")
    assert home.ask("update", "--without", "ash").gist == "0 admitted"


def test_another_profile_is_asked_before_its_config_changes(home: Home) -> None:
    home.install(home.plugin("birch", "demo-colors"))
    coder = home.profile("coder")
    write_plugin(coder.path / "plugins" / "ash", "wirekit<2")
    coder.ask("plugins", "enable", "ash")
    refused = home.ask("update", "--without", "ash")
    assert (refused.gist, refused.value["reasons"][0]["message"]) == (
        "3 failed not-agreed",
        "other profiles would change as well: `coder`",
    )
    assert home.ask("update", "--without", "ash", "--yes").gist == "0 admitted"
    assert home.admitted == ["birch in default"]


@pytest.mark.parametrize("word", ["oak", "birch"])
def test_only_what_is_enabled_can_be_left_out(home: Home, word: str) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("plugins", "install", home.plugin("birch", "demo-colors"), "--no-enable")
    [reason] = home.ask("update", "--without", word).value["reasons"]
    assert (reason["code"], reason["hint"]) == ("unknown-plugin", "enabled are `ash`")


def test_a_core_that_is_named_is_chosen_with_the_extras_of_now(tmp_path: Path) -> None:
    extras = {"cli": ["wirekit"], "voice": ["demo-colors"]}
    home = new_hosted_home(tmp_path, "hermes-agent[cli,voice]==0.19.0", host("0.19.0", extras=extras), *WIRE)
    offer(home, host("0.18.0", extras=extras), host("0.20.0", extras={"cli": ["wirekit"]}))
    home.ask("pm", "init")
    assert home.ask("update", "--core", "hermes-agent==0.18.0").gist == "0 admitted"
    assert setting(home) == "hermes-agent[cli,voice]==0.18.0"
    refused = home.ask("update", "--core", "hermes-agent==0.20.0")
    [reason] = refused.value["reasons"]
    assert (reason["code"], reason["message"]) == ("unknown-extra", "hermes-agent 0.20.0 has no extra `voice`")
    assert "`hermes pm extras remove voice`" in reason["hint"]
    assert home.ask("update").gist == "1 refused unknown-extra"
    assert home.ask("pm", "extras", "remove", "voice").gist == "0 admitted"
    assert home.ask("update").gist == "0 admitted"
    assert setting(home) == "hermes-agent[cli]==0.20.0"


def test_no_step_proposes_a_core_without_an_extra_that_is_chosen(tmp_path: Path) -> None:
    home = new_hosted_home(
        tmp_path, "hermes-agent[cli]==0.18.0", host("0.18.0", "wirekit<2", extras={"cli": []}), *WIRE
    )
    offer(home, host("0.19.0", extras={"cli": []}), host("0.20.0"))
    answer = home.install(home.plugin("ash", "wirekit>=2"))
    cores = [step["value"] for step in answer.value["steps"] if step["action"] == "update-core"]
    assert cores == ["hermes-agent[cli]==0.19.0"]


def test_a_range_stays_and_holds_back_what_it_does_not_hold(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, "hermes-agent<0.20", host("0.18.0"))
    home.ask("pm", "init")
    offer(home, host("0.19.0"), host("0.20.0"))
    answer = home.ask("update", "--refresh")
    assert (answer.gist, answer.warnings, home.pins["hermes-agent"]) == ("0 admitted", ["core-held-back"], "0.19.0")
    assert setting(home) == "hermes-agent<0.20"
    [warning] = answer.value["warnings"]
    assert warning["hint"] == "`hermes update --core hermes-agent==0.20.0`"
    assert home.ask("update", "--core", "hermes-agent==0.20.0").gist == "0 admitted"
    assert setting(home) == "hermes-agent==0.20.0"


def test_a_project_is_taken_with_its_files_of_now(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, host("0.18.0"), *WIRE)
    project = tmp_path / "checkout"
    project.mkdir()
    text = "[project]\nname = 'hermes-agent'\nversion = '0.19.0'\n"
    (project / "pyproject.toml").write_text(text)
    home.ask("pm", "init", "--core", project)
    assert home.ask("update").gist == "0 unchanged"
    (project / "pyproject.toml").write_text(f"{text}dependencies = ['wirekit<2']\n")
    answer = home.ask("update")
    assert (answer.gist, answer.changes, setting(home)) == ("0 admitted", ["+wirekit 1.0"], str(project))


def test_the_embedded_core_is_that_of_the_manager(tmp_path: Path, wheels: Path) -> None:
    home = new_home(tmp_path / "home", wheels=wheels)
    assert home.ask("update").gist == "0 admitted"
    assert home.ask("update").gist == "0 unchanged"


def test_earlier_refusals_that_would_be_admitted_now_are_told(home: Home) -> None:
    early = home.plugin("early", requires_hermes=">=0.19")
    placed = home.plugin("placed", requires_hermes=">=0.19")
    never = home.plugin("never", requires_hermes=">=99")
    assert home.install(early).gist == "1 refused core-version"
    assert home.install(placed, "--keep").gist == "1 refused core-version"
    assert home.install(never).gist == "1 refused core-version"
    expected = {
        "placed": "`hermes plugins enable placed` enables it",
        "early": f"`hermes plugins install {early} --enable` enables it",
    }
    for answer in (home.ask("update", "--check"), home.ask("update")):
        told = [warning for warning in answer.value["warnings"] if warning["code"] == "admitted-now"]
        assert {warning["message"].split("`")[1]: warning["hint"] for warning in told} == expected
    for hint in expected.values():
        assert follow(home, hint.split("`")[1]).status == 0
    assert [w for w in home.ask("update").warnings if w == "admitted-now"] == []


def test_an_index_that_is_gone_is_an_outage_and_nothing_else(home: Home) -> None:
    home.config.write_text(
        home.config.read_text().replace("indexes: []", "indexes: [{url: 'http://127.0.0.1:9/simple/'}]")
    )
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("update", "--refresh")
    assert (answer.status, answer.value["outcome"]) == (3, "failed")
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before


def test_the_host_s_own_words_are_understood(home: Home) -> None:
    assert home.ask("update", "--yes", "--no-backup", "--force", "--gateway", "--check").gist == "0 admitted"
    refused = home.say("update", "--branch", "main")
    assert (refused.status, "`--branch` is not possible here" in refused.stderr) == (2, True)


def test_another_core_is_chosen_where_the_one_of_now_is_gone(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, host("0.18.0"), host("0.19.0", extras={"cli": []}))
    project = tmp_path / "checkout"
    project.mkdir()
    text = "[project]\nname = 'hermes-agent'\nversion = '0.18.0'\n[project.optional-dependencies]\ncli = []\n"
    (project / "pyproject.toml").write_text(text)
    home.ask("pm", "init", "--core", f"{project}[cli]")
    shutil.rmtree(project)
    assert home.ask("update").status != 0
    assert home.ask("update", "--core", "hermes-agent==0.19.0").gist == "0 admitted"
    assert setting(home) == "hermes-agent[cli]==0.19.0"
