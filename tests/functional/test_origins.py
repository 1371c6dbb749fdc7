"""Where the files of a plugin came from is known as long as they lie there, enabled or not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fixtures.git_server import GitServer, Repository
from fixtures.homes import Home, check_file, write_plugin

MANIFEST = "name: birch\nversion: 1.0.0\npip_dependencies: ['demo-colors<2']\n"
FILES = {"plugin.yaml": MANIFEST, "__init__.py": "def register(ctx):\n    pass\n"}


@pytest.fixture
def repository(home: Home) -> Repository:
    repository = Repository(home.work / "repositories" / "birch")
    repository.commit(FILES)
    return repository


def origin(home: Home, name: str = "birch") -> dict[str, Any]:
    """Return where a plugin came from, as `show` tells it."""
    shown = home.ask("plugins", "show", name).value["origin"]
    assert isinstance(shown, dict)
    return shown


def recorded(home: Home) -> list[dict[str, Any]]:
    assert home.pointer is not None
    record = home.state / "generations" / f"{home.pointer['generation']}.json"
    check_file("record", record)
    return [member["origin"] for member in json.loads(record.read_text())["members"]]


def test_it_stays_known_whatever_is_done_with_the_plugin(home: Home, repository: Repository) -> None:
    home.install(f"{repository.address}")
    told = {"kind": "git", "location": repository.address, "commit": repository.git("rev-parse", "HEAD"), "ref": ""}
    assert (origin(home), recorded(home)) == (told, [told])
    home.ask("plugins", "disable", "birch")
    assert (origin(home), recorded(home)) == (told, [])
    home.ask("plugins", "enable", "birch")
    home.install(home.plugin("ash", "demo-socket"))
    home.ask("pm", "repair")
    assert origin(home) == told
    assert told in recorded(home)
    assert (
        f"installed from   git {repository.address} at {told['commit']}" in home.say("plugins", "show", "birch").stdout
    )


def test_going_back_brings_the_origin_of_the_files_that_come_back(home: Home, repository: Repository) -> None:
    home.install(repository.address)
    first = origin(home)
    newer = write_plugin(home.work / "newer" / "birch", "demo-colors<2", version="2.0.0")
    assert home.install(newer, "--force").gist == "0 admitted"
    assert origin(home) == {"kind": "folder", "location": str(newer), "commit": "", "ref": ""}
    assert home.ask("pm", "rollback").gist == "0 rolled-back"
    assert (origin(home), recorded(home)) == (first, [first])


def test_a_commit_that_was_asked_for_is_told_from_a_branch(home: Home, repository: Repository) -> None:
    commit = repository.git("rev-parse", "HEAD")
    with GitServer(repository.folder.parent) as server:
        home.install(server.address("birch"), "--ref", commit)
    assert (origin(home)["ref"], origin(home)["commit"]) == (commit, commit)


def test_a_path_is_kept_as_it_is_found_from_everywhere(home: Home) -> None:
    home.plugin("ash")
    home.install("./ash")
    assert origin(home, "ash")["location"] == str(home.work / "ash")


def test_a_plugin_that_the_manager_did_not_put_there_has_none(home: Home) -> None:
    write_plugin(home.path / "plugins" / "ash")
    home.ask("plugins", "enable", "ash")
    nothing = {"kind": "", "location": "", "commit": "", "ref": ""}
    assert (origin(home, "ash"), recorded(home)) == (nothing, [nothing])


def test_what_an_older_version_wrote_is_read(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    installed = home.state / "trees" / "installed.json"
    trees = {folder: row["tree"] for folder, row in json.loads(installed.read_text()).items()}
    installed.write_text(json.dumps(trees))
    assert home.pointer is not None
    record = home.state / "generations" / f"{home.pointer['generation']}.json"
    value = json.loads(record.read_text())
    for member in value["members"]:
        del member["origin"]
    record.chmod(0o600)
    record.write_text(json.dumps(value))
    again = home.say("plugins", "install", home.work / "ash", "--enable")  # `ask` compares files with today's schema
    assert (again.status, home.say("pm", "verify").status) == (0, 0)
    assert home.ask("plugins", "disable", "ash").gist == "0 disabled"
    assert origin(home, "ash")["kind"] == ""
