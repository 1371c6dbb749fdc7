"""`plugins update` and `outdated`: what a source has now is judged first, and takes the place of the old one whole."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fixtures.git_server import GitServer, Repository
from fixtures.homes import HERMES, UNTOUCHED_BY_REFUSALS, Home, follow, write_plugin
from fixtures.hosts import steps

MANIFEST = "name: birch\nversion: 1.0.0\npip_dependencies: ['demo-colors<2']\n"
FILES = {"plugin.yaml": MANIFEST, "__init__.py": "def register(ctx):\n    pass\n"}


@pytest.fixture
def repository(home: Home) -> Repository:
    repository = Repository(home.work / "repositories" / "birch")
    repository.commit(FILES)
    return repository


def standings(home: Home, *words: str) -> dict[str, Any]:
    return {row["key"]: row for row in home.ask("plugins", "outdated", *words).value["plugins"]}


def version(home: Home, name: str) -> str:
    return str(home.ask("plugins", "show", name).value["version"])


def test_a_newer_commit_is_seen_judged_and_takes_the_place(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    assert standings(home)["birch"]["state"] == "current"
    commit = repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    row = standings(home)["birch"]
    assert (row["state"], row["available"]) == ("newer", commit)
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert standings(home) == {key: row for key, row in standings(home).items() if key == "birch"}
    assert home.ask("plugins", "update", "birch", "--dry-run").gist == "0 admitted"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    answer = home.ask("plugins", "update", "birch")
    assert (answer.gist, version(home, "birch"), home.admitted) == ("0 admitted", "2.0.0", ["birch in default"])
    assert answer.value["summary"].startswith("`birch` is updated")
    assert home.ask("plugins", "show", "birch").value["origin"]["commit"] == commit
    assert home.ask("plugins", "update", "birch").gist == "0 unchanged"
    assert home.ask("pm", "rollback").gist == "0 rolled-back"
    assert (version(home, "birch"), standings(home)["birch"]["state"]) == ("1.0.0", "newer")


def test_without_a_name_it_says_what_is_newer_and_changes_nothing(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    home.install(home.plugin("ash", "demo-socket"))
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    said = home.say("plugins", "update").stdout
    assert "`hermes plugins update birch` checks and installs what is newer" in said
    assert said == home.say("plugins", "outdated").stdout
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.ask("plugins", "update", "--all").gist == "0 admitted"
    assert version(home, "birch") == "2.0.0"
    assert home.ask("plugins", "update", "--all").gist == "0 unchanged"


def test_a_branch_is_followed_and_a_commit_is_a_pin(home: Home, repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("branch", "stable")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "9.0.0")})
    config = home.user / ".gitconfig"
    config.write_text(f'[url "{repository.folder.parent}/"]\n\tinsteadOf = https://forge.invalid/owner/\n')
    (repository.folder.parent / "birch.git").symlink_to(repository.folder / ".git")
    home.install("https://forge.invalid/owner/birch/tree/stable")
    assert standings(home)["birch"]["state"] == "current"
    repository.git("checkout", "--quiet", "stable")
    moved = repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "1.1.0")})
    assert home.ask("plugins", "update", "birch").gist == "0 admitted"
    assert version(home, "birch") == "1.1.0"
    assert home.ask("plugins", "update", "birch", "--ref", first).gist == "0 admitted"
    assert (version(home, "birch"), standings(home)["birch"]["state"]) == ("1.0.0", "pinned")
    [reason] = home.ask("plugins", "update", "birch").value["reasons"]
    assert reason["message"] == f"`birch` is pinned to the commit {first[:12]}"
    assert (reason["code"], reason["hint"].split("`")[1]) == (
        "not-updatable",
        "hermes plugins update birch --ref COMMIT",
    )
    assert home.ask("plugins", "update", "birch", "--ref", moved).gist == "0 admitted"


def test_a_folder_and_an_archive_are_compared_by_their_files(home: Home) -> None:
    ash, birch = home.plugin("ash", "demo-colors"), home.plugin("birch")
    archive = Path(shutil.make_archive(str(home.work / "birch"), "zip", birch))
    home.install(ash, archive)
    assert {key: row["state"] for key, row in standings(home).items()} == {"ash": "current", "birch": "current"}
    (ash / "__init__.py").write_text("def register(ctx):\n    return 2\n")
    (birch / "__init__.py").write_text("def register(ctx):\n    return 2\n")
    shutil.make_archive(str(home.work / "birch"), "zip", birch)
    assert {key: row["state"] for key, row in standings(home).items()} == {"ash": "newer", "birch": "newer"}
    answer = home.ask("plugins", "update", "ash", "birch")
    assert (answer.gist, answer.value["summary"].startswith("`ash` and `birch` are updated")) == ("0 admitted", True)
    assert (home.path / "plugins" / "birch" / "__init__.py").read_text().endswith("return 2\n")


def test_what_does_not_fit_is_refused_and_the_old_one_goes_on(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    home.install(home.plugin("ash", "demo-colors<2"))
    repository.commit({"plugin.yaml": MANIFEST.replace("demo-colors<2", "demo-colors>=2").replace("1.0.0", "2.0.0")})
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.ask("plugins", "update", "birch")
    assert (answer.gist, home.snapshot(UNTOUCHED_BY_REFUSALS)) == ("1 refused conflict", before)
    assert answer.value["summary"].startswith("`birch` was not updated")
    assert "leave-out ash" in steps(answer.value)


def test_requirements_that_grow_need_a_word(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    grown = "['demo-colors<2', 'demo-socket']"
    repository.commit({"plugin.yaml": MANIFEST.replace("['demo-colors<2']", grown).replace("1.0.0", "2.0.0")})
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    tried = home.ask("plugins", "update", "birch", "--dry-run")
    assert (tried.gist, tried.warnings) == ("0 admitted", ["requirements-grow", "requirements-grow"])
    refused = home.ask("plugins", "update", "birch")
    assert (refused.gist, refused.value["reasons"][0]["hint"]) == ("3 failed not-agreed", "give `--yes` to agree")
    assert "`birch` 2.0.0 requires what 1.0.0 did not: `demo-socket`" in refused.value["reasons"][0]["message"]
    assert "new packages come with it: demo-socket 3.0" in refused.value["reasons"][0]["message"]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    agreed = home.ask("plugins", "update", "birch", "--yes")
    assert (agreed.gist, agreed.changes, version(home, "birch")) == ("0 admitted", ["+demo-socket 3.0"], "2.0.0")


@pytest.mark.parametrize(("typed", "status"), [("y\n", 0), ("n\n", 3)])
def test_on_a_terminal_it_is_asked(home: Home, repository: Repository, typed: str, status: int) -> None:
    home.install(repository.address)
    repository.commit({"plugin.yaml": MANIFEST.replace("demo-colors<2", "demo-socket")})
    ours, theirs = pty.openpty()
    words: list[str | Path] = [HERMES, "plugins", "update", "birch", "--home", str(home.path)]
    child = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=home.environ, cwd=home.work)
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        assert select.select([ours], [], [], 60)[0], said
        said += os.read(ours, 4096)
    os.write(ours, typed.encode())
    while child.poll() is None:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                said += os.read(ours, 4096)
            except OSError:
                break
    assert child.wait(60) == status
    os.close(ours)


def test_a_disabled_plugin_is_replaced_without_resolving_and_stays_disabled(home: Home, repository: Repository) -> None:
    home.ask("plugins", "install", repository.address, "--no-enable")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0").replace("<2", ">=99")})
    answer = home.ask("plugins", "update", "birch")
    assert (answer.gist, version(home, "birch"), home.pointer) == ("0 admitted", "2.0.0", None)


def test_a_plugin_that_cannot_be_read_any_more_is_replaced(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    (home.path / "plugins" / "birch" / "plugin.yaml").write_text("name: [\n")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    assert home.ask("plugins", "update", "birch").gist == "0 admitted"
    assert version(home, "birch") == "2.0.0"


def test_what_a_plugin_wrote_into_its_folder_comes_along(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    (home.path / "plugins" / "birch" / "memory.db").write_text("remembered")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    assert home.ask("plugins", "update", "birch").gist == "0 admitted"
    assert (home.path / "plugins" / "birch" / "memory.db").read_text() == "remembered"


def test_a_source_that_holds_another_plugin_now_is_not_taken_for_it(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    repository.commit({"plugin.yaml": MANIFEST.replace("birch", "oak")})
    [reason] = home.ask("plugins", "update", "birch").value["reasons"]
    assert reason["message"] == "the source of `birch` holds the plugin `oak` now"
    assert home.admitted == ["birch in default"]


def test_a_source_that_is_gone_is_told_for_that_plugin_only(home: Home, repository: Repository) -> None:
    with GitServer(repository.folder.parent) as server:
        home.install(server.address("birch"))
    ash = home.plugin("ash")
    home.install(ash)
    (ash / "__init__.py").write_text("def register(ctx):\n    return 2\n")
    rows = standings(home)
    assert (rows["birch"]["state"], rows["ash"]["state"]) == ("unreachable", "newer")
    assert "cannot be fetched" in rows["birch"]["message"]
    assert home.ask("plugins", "update", "birch").gist == "3 failed source-unreachable"
    assert home.ask("plugins", "update", "--all").gist == "0 admitted"
    assert standings(home, "--offline")["birch"]["state"] == "unreachable"


def test_links_bundled_ones_and_those_of_unknown_source_say_what_to_do(home: Home) -> None:
    working = home.plugin("ash", "demo-colors")
    (home.path / "plugins").mkdir(parents=True)
    (home.path / "plugins" / "ash").symlink_to(working)
    write_plugin(home.path / "plugins" / "birch")
    home.ask("plugins", "enable", "ash", "birch")
    assert {key: row["state"] for key, row in standings(home).items()} == {"ash": "linked", "birch": "unknown"}
    for name, said in (("ash", "`ash` is a link to"), ("birch", "where `birch` came from is not known")):
        answer = home.ask("plugins", "update", name)
        assert (answer.value["reasons"][0]["code"], said in answer.value["reasons"][0]["message"]) == (
            "not-updatable",
            True,
        )
    assert (home.path / "plugins" / "ash").is_symlink()


@pytest.mark.parametrize("words", [("--all", "birch"), ("--ref", "a" * 40), ("--ref", "a" * 40, "x", "y")])
def test_words_that_make_no_sense_are_refused(home: Home, words: tuple[str, ...]) -> None:
    assert home.say("plugins", "update", "--yes", *words).status == 2


def test_an_update_that_is_killed_leaves_the_old_one_or_the_new_one(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    with home.start("plugins", "update", "birch") as killed:
        killed.kill()
    assert home.ask("plugins", "update", "birch").status == 0
    assert (version(home, "birch"), home.ask("pm", "verify").gist) == ("2.0.0", "0 verified")


def test_the_path_of_a_listing_is_absolute(home: Home) -> None:
    home.plugin("ash")
    home.install("./ash")
    assert Path(standings(home)["ash"]["origin"]["location"]).is_absolute()


def test_a_step_of_an_update_of_all_leaves_the_one_that_does_not_fit_as_it_is(
    home: Home, repository: Repository
) -> None:
    home.install(repository.address)
    ash = home.plugin("ash")
    home.install(ash)
    (ash / "__init__.py").write_text("def register(ctx):\n    return 2\n")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0").replace("<2", ">=99")})
    refused = home.ask("plugins", "update", "--all")
    [step] = [step for step in refused.value["steps"] if step["action"] == "leave-out"]
    assert (step["subject"], step["explanation"]) == ("birch", "update the others without `birch`")
    assert step["command"] == "hermes plugins update ash"
    assert follow(home, step["command"]).status == 0
    assert (version(home, "birch"), sorted(home.admitted)) == ("1.0.0", ["ash in default", "birch in default"])
    assert (home.path / "plugins" / "ash" / "__init__.py").read_text().endswith("return 2\n")


def test_of_several_sources_the_one_that_is_gone_is_named_with_its_plugin(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    home.install(home.plugin("ash"))
    shutil.rmtree(home.work / "ash")
    answer = home.ask("plugins", "update", "birch", "ash")
    assert answer.value["summary"].startswith("`ash` was not updated")
