"""A plugin of a git repository: the files of one commit, as they are stored there, and nothing else of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.git_server import GitServer, Repository
from fixtures.homes import Home

MANIFEST = "name: birch\nversion: 1.0.0\npip_dependencies: ['demo-colors<2']\n"
FILES = {"plugin.yaml": MANIFEST, "__init__.py": "def register(ctx):\n    pass\n"}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository with a plugin at its top."""
    repository = Repository(tmp_path / "repositories" / "birch")
    repository.commit(FILES)
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitServer]:
    with GitServer(repository.folder.parent) as server:
        yield server


def test_a_repository_is_a_source_and_the_commit_is_recorded(home: Home, repository: Repository) -> None:
    answer = home.install(repository.address)
    commit = repository.git("rev-parse", "HEAD")
    assert (answer.gist, answer.value["plugin"]["source"]) == (
        "0 admitted",
        {"kind": "git", "location": repository.address, "commit": commit, "ref": ""},
    )
    placed = home.path / "plugins" / "birch"
    assert sorted(path.name for path in placed.iterdir()) == ["__init__.py", "plugin.yaml"]
    assert (placed / "plugin.yaml").read_text() == MANIFEST
    assert home.pins["demo-colors"] == "1.2"
    assert [path for path in home.state.rglob("*") if path.name in ("repository", "files.tar")] == []


def test_a_server_is_asked_for_one_commit_and_no_more(home: Home, server: GitServer, repository: Repository) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    answer = home.install(server.address("birch"), "--ref", first)
    assert (answer.gist, answer.value["plugin"]["version"]) == ("0 admitted", "1.0.0")
    assert answer.value["plugin"]["source"]["commit"] == first
    assert home.install(server.address("birch"), "--force").value["plugin"]["version"] == "2.0.0"


@pytest.mark.parametrize("name", ["v1", "old"])
def test_a_branch_or_a_tag_of_a_forge_is_resolved_once(home: Home, repository: Repository, name: str) -> None:
    first = repository.git("rev-parse", "HEAD")
    repository.git("tag", "v1")
    repository.git("branch", "old")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    # the form of a forge, whose host is given another meaning by the operator's own configuration
    config = home.user / ".gitconfig"
    config.write_text(f'[url "{repository.folder.parent}/"]\n\tinsteadOf = https://forge.invalid/owner/\n')
    (repository.folder.parent / "birch.git").symlink_to(repository.folder / ".git")
    answer = home.install(f"https://forge.invalid/owner/birch/tree/{name}")
    assert (answer.gist, answer.value["plugin"]["source"]["commit"]) == ("0 admitted", first)


def test_a_folder_of_a_repository_is_a_source(home: Home, repository: Repository) -> None:
    repository.commit({f"plugins/cedar/{name}": text.replace("birch", "cedar") for name, text in FILES.items()})
    answer = home.install(f"{repository.address}#plugins/cedar")
    assert (answer.gist, home.admitted) == ("0 admitted", ["cedar in default"])
    assert answer.value["plugin"]["source"]["location"] == f"{repository.address}#plugins/cedar"
    answer = home.install(f"{repository.address}#plugins/nothing")
    assert answer.gist == "2 failed invalid-source"
    assert "has no folder `plugins/nothing`" in answer.value["reasons"][0]["message"]


def test_the_same_files_have_the_same_digest_wherever_they_come_from(home: Home, repository: Repository) -> None:
    repository.commit({".gitattributes": "* text eol=crlf export-ignore filter=x\n", "a.txt": "one\ntwo\n"})
    home.install(repository.address)
    assert home.install(repository.folder).gist == "0 unchanged"
    assert (home.path / "plugins" / "birch" / "a.txt").read_bytes() == b"one\ntwo\n"


def test_nothing_of_a_repository_is_run(home: Home, repository: Repository, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-merge", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{sprung}'\n")
        (hooks / name).chmod(0o755)
    config = home.user / ".gitconfig"
    config.write_text(
        f'[core]\n\thooksPath = {hooks}\n\tfsmonitor = touch {sprung}\n[filter "x"]\n\tsmudge = touch {sprung}\n'
        f"[init]\n\ttemplateDir = {hooks.parent}\n"
    )
    repository.commit(
        {".gitattributes": "* filter=x\n", ".gitmodules": f'[submodule "s"]\n\tpath = s\n\turl = ext::touch {sprung}\n'}
    )
    assert home.install(repository.address).gist == "0 admitted"
    assert not sprung.exists()


def test_no_setting_leads_to_a_transport_that_runs_a_program(
    home: Home, repository: Repository, tmp_path: Path
) -> None:
    sprung = tmp_path / "sprung"
    (home.user / ".gitconfig").write_text(
        f'[protocol "ext"]\n\tallow = always\n[url "ext::touch {sprung} %S "]\n\tinsteadOf = https://forge.invalid/\n'
    )
    assert home.install("https://forge.invalid/birch.git").gist == "3 failed source-unreachable"
    assert not sprung.exists()
    assert home.install(repository.address).gist == "0 admitted"


def test_the_operator_s_own_way_to_reach_a_server_is_used(home: Home, tmp_path: Path) -> None:
    used = tmp_path / "used"
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho \"$@\" > '{used}'\nexit 1\n")
    ssh.chmod(0o755)
    (home.user / ".gitconfig").write_text(f"[core]\n\tsshCommand = {ssh}\n")
    assert home.install("git@forge.invalid:owner/birch.git").gist == "3 failed source-unreachable"
    assert "git@forge.invalid" in used.read_text()


def test_another_commit_than_the_one_that_was_named_is_not_taken(home: Home, repository: Repository) -> None:
    missing = "0" * 39 + "1"
    answer = home.install(repository.address, "--ref", missing)
    assert answer.gist == "2 failed invalid-source"
    assert f"has no commit `{missing}`" in answer.value["reasons"][0]["message"]
    tree = repository.git("rev-parse", "HEAD^{tree}")
    assert home.install(repository.address, "--ref", tree).gist == "2 failed invalid-source"


def test_a_link_out_of_the_folder_is_refused(home: Home, repository: Repository) -> None:
    os.symlink("/etc/passwd", repository.folder / "secret")  # noqa: PTH211 - into a folder of git
    repository.commit({})
    answer = home.install(repository.address)
    assert answer.gist == "1 refused unsafe-archive"
    assert not (home.path / "plugins" / "birch").exists()


def test_a_login_is_used_and_never_shown(home: Home, repository: Repository) -> None:
    with GitServer(repository.folder.parent, login="user:hunter2") as server:
        answer = home.install(server.address("birch", login="user:hunter2"), "--verbose")
        assert answer.gist == "0 admitted"
        wrong = home.say("plugins", "install", server.address("birch", login="user:hunter3"), "--force", "--json")
        assert wrong.status == 3
        none = home.ask("plugins", "install", server.address("birch"), "--force")
        assert none.gist == "3 failed source-unreachable"
    written = subprocess.run(
        ["grep", "-rlE", "hunter[23]", home.path], capture_output=True, text=True, check=False
    ).stdout
    assert written == ""
    assert "hunter" not in answer.stdout + answer.stderr + wrong.stdout + wrong.stderr


def test_a_repository_that_cannot_be_fetched_says_so_and_leaves_nothing(home: Home, tmp_path: Path) -> None:
    home.ask("pm", "init")
    before = home.snapshot(besides=("pm/receipts", "pm/locks", "pm/cache"))
    answer = home.install(f"file://{tmp_path}/nowhere.git")
    assert answer.gist == "3 failed source-unreachable"
    assert answer.value["steps"][-1]["action"] == "retry"
    assert home.snapshot(besides=("pm/receipts", "pm/locks", "pm/cache")) == before


def test_offline_nothing_is_fetched(home: Home, repository: Repository) -> None:
    assert home.install(repository.address, "--offline").gist == "3 failed offline"


def test_without_git_the_tool_is_named(home: Home, repository: Repository) -> None:
    answer = home.install(repository.address, PATH="/nowhere")
    assert answer.status == 3
    assert "`git` cannot be started" in answer.stdout
    assert "install `git`" in answer.stdout


def test_a_dry_run_and_a_check_give_the_verdict_and_place_nothing(home: Home, repository: Repository) -> None:
    assert home.install(repository.address, "--dry-run").gist == "0 admitted"
    assert home.ask("plugins", "check", repository.address).gist == "0 admitted"
    repository.commit({"plugin.yaml": MANIFEST.replace("demo-colors<2", "PyYAML<6")})
    assert home.ask("plugins", "check", repository.address).gist == "1 refused core-conflict"
    assert not (home.path / "plugins" / "birch").exists()


def test_an_owner_and_a_repository_mean_the_forge_of_the_host(home: Home, repository: Repository) -> None:
    (repository.folder.parent / "birch.git").symlink_to(repository.folder / ".git")
    (home.user / ".gitconfig").write_text(
        f'[url "{repository.folder.parent}/"]\n\tinsteadOf = https://github.com/owner/\n'
    )
    answer = home.install("owner/birch")
    assert (answer.gist, answer.value["plugin"]["source"]["location"]) == (
        "0 admitted",
        "https://github.com/owner/birch.git",
    )
