"""A catalog names plugins and pins each to a commit; what it withdraws is not installed any more."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.git_server import GitServer, Repository
from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, follow
from fixtures.hosts import host, new_hosted_home

MANIFEST = "name: birch\nversion: 1.0.0\npip_dependencies: ['demo-colors<2']\n"
FILES = {"plugin.yaml": MANIFEST, "__init__.py": "def register(ctx):\n    pass\n"}


@pytest.fixture
def repository(home: Home) -> Repository:
    repository = Repository(home.work / "repositories" / "birch")
    repository.commit(FILES)
    return repository


@pytest.fixture
def server(repository: Repository) -> Iterator[GitServer]:
    with GitServer(repository.folder.parent) as server:
        yield server


@pytest.fixture
def catalog(home: Home, server: GitServer, repository: Repository) -> Path:
    """Return the folder of the catalog, which has one entry that can be used and one that cannot."""
    folder = home.work / "catalog"
    folder.mkdir()
    list_birch(folder, server, repository.git("rev-parse", "HEAD"))
    (folder / "broken.yaml").write_text("name: broken\nrepo: ext::sh -c id\nsha: abc\n")
    home.configure(f"  catalog: {folder}\n")
    return folder


def list_birch(folder: Path, server: GitServer, commit: str) -> None:
    text = f"name: birch\nrepo: {server.address('birch')}\nsha: {commit}\ndescription: a tree\nversion: '1.0'\n"
    (folder / "birch.yaml").write_text(text)


def withdraw(folder: Path, **row: str) -> None:
    (folder / "removed.yaml").write_text(f"removed: [{json.dumps(row)}]\n")


def test_a_search_lists_what_can_be_used(home: Home, catalog: Path) -> None:
    answer = home.ask("plugins", "search").value
    assert [(row["name"], row["installed"]) for row in answer["plugins"]] == [("birch", False)]
    assert answer["catalog"] == str(catalog)
    assert [problem.partition(":")[0] for problem in answer["problems"]] == ["broken.yaml"]
    assert "1 entries cannot be used; `-v` says why" in home.say("plugins", "search").stdout
    assert "must be an https address" in home.say("plugins", "search", "-v").stdout
    assert home.ask("plugins", "search", "TREE", "bir").value["plugins"] != []
    assert home.ask("plugins", "search", "oak").value["plugins"] == []


def test_a_name_installs_exactly_the_pinned_commit(home: Home, catalog: Path, repository: Repository) -> None:
    pinned = repository.git("rev-parse", "HEAD")
    repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "9.0.0")})
    assert home.ask("plugins", "check", "birch").gist == "0 admitted"
    answer = home.install("birch")
    assert (answer.gist, answer.value["plugin"]["version"]) == ("0 admitted", "1.0.0")
    source = answer.value["plugin"]["source"]
    assert (source["kind"], source["commit"], source["ref"]) == ("catalog", pinned, "birch")
    assert home.ask("plugins", "search").value["plugins"][0]["installed"]
    assert home.ask("plugins", "show", "birch").value["origin"] == source
    assert catalog.exists()


def test_a_new_pin_is_what_update_follows(home: Home, catalog: Path, server: GitServer, repository: Repository) -> None:
    home.install("birch")
    assert home.ask("plugins", "update", "birch").gist == "0 unchanged"
    moved = repository.commit({"plugin.yaml": MANIFEST.replace("1.0.0", "2.0.0")})
    assert home.ask("plugins", "outdated").value["plugins"][0]["state"] == "current"
    list_birch(catalog, server, moved)
    [row] = home.ask("plugins", "outdated").value["plugins"]
    assert (row["state"], row["available"]) == ("newer", moved)
    assert home.ask("plugins", "update", "birch").gist == "0 admitted"
    assert home.ask("plugins", "show", "birch").value["version"] == "2.0.0"
    (catalog / "birch.yaml").unlink()
    [reason] = home.ask("plugins", "update", "birch").value["reasons"]
    assert reason["message"] == "`birch` came from the catalog, and the catalog has no `birch` any more"


@pytest.mark.parametrize("row", [{"name": "Birch"}, {"repo": "{repo}/"}])
def test_what_was_withdrawn_is_refused_and_what_is_installed_stays(
    home: Home, catalog: Path, server: GitServer, row: dict[str, str]
) -> None:
    home.install("birch")
    filled = {key: value.format(repo=server.address("birch").upper()) for key, value in row.items()}
    withdraw(catalog, **filled, reason="it sends\nmessages", date="2026-03-01")
    checked = home.ask("plugins", "check")
    assert (checked.gist, checked.warnings) == ("0 ready", ["withdrawn-installed"])
    [warning] = checked.value["warnings"]
    assert warning["message"].startswith("the catalog has withdrawn `birch` on 2026-03-01: it sends")
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    assert home.ask("plugins", "update", "birch").gist in ("1 refused denylisted", "0 unchanged")
    assert home.install("birch", "--force").gist == "1 refused denylisted"
    assert home.install(server.address("birch"), "--force").gist == "1 refused denylisted"
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert home.admitted == ["birch in default"]
    assert follow(home, warning["hint"].split("`")[1]).status == 0
    assert home.ask("plugins", "enable", "birch").gist == "1 refused denylisted"
    assert home.ask("plugins", "remove", "birch").gist == "0 removed"


def test_a_name_that_is_nearly_another_one_is_told(home: Home, catalog: Path) -> None:
    (catalog / "ws-chat.yaml").write_text((catalog / "birch.yaml").read_text().replace("name: birch", "name: ws-chat"))
    answer = home.install(home.plugin("ws_chat"))
    assert (answer.gist, answer.warnings) == ("0 admitted", ["looks-like"])
    assert answer.value["warnings"][0]["message"] == "`ws_chat` is spelled nearly as `ws-chat`, which is another plugin"
    assert home.install(home.plugin("oak")).warnings == []


def test_an_entry_is_shown_before_it_is_installed(home: Home, catalog: Path) -> None:
    shown = home.ask("plugins", "show", "birch").value["catalog_entry"]
    assert (shown["name"], shown["description"], shown["installed"]) == ("birch", "a tree", False)
    assert (
        "`hermes plugins install birch --enable` checks and installs it" in home.say("plugins", "show", "birch").stdout
    )
    assert catalog.exists()


def test_words_that_lead_nowhere_say_what_is_near(home: Home, catalog: Path) -> None:
    answer = home.install("brich")
    assert (answer.value["reasons"][0]["hint"], answer.steps) == ("did you mean `birch`?", ["reword brich"])
    [reason] = home.install("birch", "--ref", "a" * 40).value["reasons"]
    assert reason["message"] == "the catalog decides the commit of `birch`"
    (home.work / "birch").mkdir()
    (home.work / "birch" / "plugin.yaml").write_text("name: birch\nversion: '7'\n")
    assert home.install("birch").value["plugin"]["source"]["kind"] == "folder"
    assert catalog.exists()


def test_without_a_catalog_a_search_says_how_one_is_chosen(home: Home) -> None:
    answer = home.ask("plugins", "search")
    assert (answer.status, "`catalog:`" in answer.value["error"]["hint"]) == (2, True)


# -- an address


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        state: dict[str, Any] = self.server.state  # type: ignore[attr-defined]
        state["asked"] += 1
        self.send_response(state["status"])
        self.send_header("Content-Length", str(len(state["body"])))
        self.end_headers()
        self.wfile.write(state["body"])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def live() -> Iterator[tuple[str, dict[str, Any]]]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    state: dict[str, Any] = {"status": 200, "body": b"", "asked": 0}
    server.state = state  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/catalog.json", state
    server.shutdown()
    server.server_close()


def test_an_address_is_asked_every_few_hours_and_its_copy_serves_when_it_is_gone(
    home: Home, live: tuple[str, dict[str, Any]], server: GitServer, repository: Repository
) -> None:
    address, state = live
    entry = {"name": "birch", "repo": server.address("birch"), "sha": repository.git("rev-parse", "HEAD")}
    state["body"] = json.dumps({"entries": [entry, {"name": "x"}, 7], "removed": [{"name": "oak"}]}).encode()
    home.configure(f"  catalog: {address}\n")
    assert [row["name"] for row in home.ask("plugins", "search").value["plugins"]] == ["birch"]
    assert home.install("birch").gist == "0 admitted"
    assert home.install(home.plugin("oak")).gist == "1 refused denylisted"
    assert state["asked"] == 1
    kept = home.state / "cache" / "catalog.json"
    kept.write_text(json.dumps({**json.loads(kept.read_text()), "at": 1_000_000}))
    state["status"] = 500
    stale = home.ask("plugins", "search").value
    assert ([row["name"] for row in stale["plugins"]], "1970-01-12" in stale["stale"]) == (["birch"], True)
    assert home.install(home.plugin("ash")).warnings == ["catalog-unreachable"]
    assert home.ask("plugins", "search", "--offline").status == 0


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b'{"entries": 7, "removed": "x"}', b'"' + b"x" * 3_000_000 + b'"']
)
def test_an_answer_that_cannot_be_used_stops_no_verb(home: Home, live: tuple[str, dict[str, Any]], body: bytes) -> None:
    address, state = live
    state["body"] = body
    home.configure(f"  catalog: {address}\n")
    answer = home.say("plugins", "search")
    assert (answer.status in (0, 3), "Traceback" in answer.stderr) == (True, False)
    assert home.install(home.plugin("ash")).gist == "0 admitted"
    assert home.ask("plugins", "list").status == 0


@pytest.mark.parametrize("setting", ["http://example.invalid/c.json", "ext::x", "./nowhere", "file:///etc"])
def test_a_setting_that_is_no_catalog_is_told(home: Home, setting: str) -> None:
    home.configure(f"  catalog: {json.dumps(setting)}\n")
    answer = home.say("plugins", "search")
    assert (answer.status != 0, "Traceback" in answer.stderr) == (True, False)
    assert home.install(home.plugin("ash")).warnings == ["catalog-unreachable"]


def test_a_name_that_is_nearly_one_of_the_core_s_is_told_without_a_catalog(tmp_path: Path) -> None:
    files = {"hermes.py": "", "plugins/web-search/plugin.yaml": "name: web-search\n"}
    home = new_hosted_home(tmp_path, "hermes-agent==0.19.0", host("0.19.0", files=files))
    answer = home.install(home.plugin("web_serach"))
    assert (answer.gist, answer.warnings) == ("0 admitted", ["looks-like"])
    assert "`web-search`, which is another plugin" in answer.value["warnings"][0]["message"]
    assert home.install(home.plugin("web-search")).warnings == []
