"""A home that is used gets no core unasked: what its owner has is named, from files."""

from __future__ import annotations

import os
import re
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fixtures.homes import Home, follow, write_plugin
from fixtures.hosts import host
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe
from pm.errors import PmError
from pm.host.used_home import check_core_is_chosen
from pm.places import Places

Make = Callable[[Path], object]


def _file(name: str, text: str = "") -> Make:
    def make(home: Path) -> None:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)

    return make


def _folder(name: str) -> Make:
    return lambda home: (home / name).mkdir(parents=True)


def _database(*statements: str) -> Make:
    def make(home: Path) -> None:
        with closing(sqlite3.connect(home / "state.db")) as database, database:
            for statement in statements:
                database.execute(statement)

    return make


SESSIONS = "CREATE TABLE sessions (id TEXT)"
ENDLESS = "CREATE VIEW sessions AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i FROM n) SELECT i FROM n"
USED = {
    "`.env`": _file(".env", "# keys\nexport OPENROUTER_API_KEY=x\n"),
    "`auth.json`": _file("auth.json", "{}"),
    "`state.db`": _database(SESSIONS, "INSERT INTO sessions VALUES ('a')"),
    "`sessions`": _file("sessions/a.json"),
    "`memories`": _file("memories/USER.md"),
    "`cron/jobs.json`": _file("cron/jobs.json"),
    "`gateway.pid`": _file("gateway.pid"),
    "`hermes-agent`": _folder("hermes-agent"),
    "`bin/uv`": _file("bin/uv"),
    "`hindsight`": _file("hindsight/a"),
    "`model` in `config.yaml`": _file("config.yaml", "_config_version: 33\nmodel: {default: x}\n"),
}
FRESH = {
    "nothing": _folder("logs"),
    "looked at": _file(".update_check"),
    "soul": _file("SOUL.md", "a soul"),
    "empty folders": _folder("sessions"),
    "env of comments": _file(".env", "# KEY=x\nOTHER=\n"),
    "a lock": _file("auth.lock"),
    "database without a table": _database("CREATE TABLE other (id TEXT)"),
    "database without rows": _database(SESSIONS),
    "endless view": _database(ENDLESS),
    "no database": _file("state.db", "not a database at all"),
    "pipe": lambda home: os.mkfifo(home / ".env"),
    "config of ours": _file(
        "config.yaml", "_config_version: 33\npm: {}\nplugins: {enabled: [a]}\nmemory: {provider: b}\n"
    ),
    "no config": _file("config.yaml", "model: [\n"),
    "plugins": _folder("plugins/ash"),
}
NO_PROGRAMS = {"PATH": "", "HOME": "/nonexistent"}


@pytest.mark.parametrize("sign", USED)
def test_each_sign_of_use_is_named_and_nothing_is_made(sign: str, tmp_path: Path) -> None:
    USED[sign](tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(PmError) as caught:
        check_core_is_chosen(Places(tmp_path, tmp_path), NO_PROGRAMS)
    assert caught.value.message == f"`{tmp_path}` is used ({sign}), and no core is chosen for it"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", FRESH)
def test_what_a_look_or_the_manager_leaves_is_no_sign(name: str, tmp_path: Path) -> None:
    FRESH[name](tmp_path)
    check_core_is_chosen(Places(tmp_path, tmp_path), NO_PROGRAMS)


def _environment(prefix: Path, version: str) -> None:
    (prefix / "lib/python3.11/site-packages" / f"hermes_agent-{version}.dist-info").mkdir(parents=True)


def _checkout(home: Path) -> None:
    _environment(home / "root/hermes-agent/venv", "0.18.0")
    _file("root/hermes-agent/pyproject.toml", '[project]\nname = "hermes-agent"\nversion = "0.19.0"\n')(home)


def _uv_tool(home: Path) -> None:
    _environment(home / ".local/share/uv/tools/hermes-agent", "0.18.2")
    receipt = '[tool]\nrequirements = [{ name = "hermes-agent", extras = ["matrix", "voice"] }, { name = "x" }]\n'
    _file(".local/share/uv/tools/hermes-agent/uv-receipt.toml", receipt)(home)


def _pipx(home: Path) -> None:
    _environment(home / ".local/share/pipx/venvs/hermes-agent", "0.18.2")
    metadata = '{"main_package": {"package_or_url": "hermes-agent[slack]==0.18.2"}}'
    _file(".local/share/pipx/venvs/hermes-agent/pipx_metadata.json", metadata)(home)


def _script(home: Path) -> None:
    _environment(home / "some where" / "venv", "9.9.9")
    _environment(home / "code/venv", "0.17.0")
    _file("programs/hermes", f'#!/bin/sh\nunset PYTHONPATH\nexec "{home}/code/venv/bin/hermes" "$@"\n')(home)


def _link(home: Path) -> None:
    _environment(home / "venv", "0.17.0+local")
    _file("venv/bin/hermes", "#!/bin/false\n")(home)
    (home / "programs").mkdir()
    (home / "programs/hermes").symlink_to(home / "venv/bin/hermes")


def _damaged(home: Path) -> None:
    _environment(home / ".local/share/uv/tools/hermes-agent", "0.18.2")
    _file(".local/share/uv/tools/hermes-agent/uv-receipt.toml", "tool = [1")(home)
    _file(".local/share/uv/tools/hermes-agent/pipx_metadata.json", "[" * 5000)(home)


INSTALLED: dict[str, tuple[Make, str]] = {
    "checkout": (_checkout, "HOME/root/hermes-agent"),
    "uv tool": (_uv_tool, "'hermes-agent[matrix,voice]==0.18.2'"),
    "pipx": (_pipx, "'hermes-agent[slack]==0.18.2'"),
    "script": (_script, "hermes-agent==0.17.0"),
    "link": (_link, "hermes-agent==0.17.0+local"),
    "damaged": (_damaged, "hermes-agent==0.18.2"),
    "nothing": (_folder("empty"), "'hermes-agent==VERSION'"),
}


@pytest.mark.parametrize("way", INSTALLED)
def test_the_version_that_is_installed_is_read_from_files(way: str, tmp_path: Path) -> None:
    make, shown = INSTALLED[way]
    make(tmp_path)
    _file("root/auth.json")(tmp_path)
    places = Places(tmp_path / "root", tmp_path / "root")
    with pytest.raises(PmError) as caught:
        check_core_is_chosen(places, {"PATH": str(tmp_path / "programs"), "HOME": str(tmp_path)})
    assert f"`hermes pm init --core {shown.replace('HOME', str(tmp_path))}` takes" in caught.value.hint


def test_a_host_on_the_path_is_a_sign_for_the_home_that_it_works_in(tmp_path: Path) -> None:
    usual = Places(tmp_path / ".hermes", tmp_path / ".hermes")
    usual.root.mkdir()
    environ = {"PATH": str(tmp_path / "programs"), "HOME": str(tmp_path)}
    check_core_is_chosen(usual, environ)
    _script(tmp_path)
    with pytest.raises(PmError) as caught:
        check_core_is_chosen(usual, environ)
    assert f"is used (by `{tmp_path / 'programs' / 'hermes'}` on the PATH)" in caught.value.message
    assert "`hermes pm init --core hermes-agent==0.17.0` takes" in caught.value.hint
    check_core_is_chosen(usual, environ | {"HERMES_HOME": str(usual.root)})
    check_core_is_chosen(Places(tmp_path / "other", tmp_path / "other"), environ)


COMMANDS = (
    ("pm", "init"),
    ("plugins", "enable", "ash"),
    ("plugins", "check", "ash"),
    ("pm", "init", "--dry-run"),
)


def _use(home: Home) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    (home.path / "auth.json").write_text("{}")
    _environment(home.path / "hermes-agent/venv", "0.19.0")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_verb_takes_the_embedded_core_unasked(home: Home, command: tuple[str, ...]) -> None:
    _use(home)
    assert home.ask(*command).gist == "3 failed core-not-chosen"
    assert home.pointer is None


def test_installing_asks_only_where_it_enables(home: Home) -> None:
    _use(home)
    source = str(home.plugin("birch", "demo-colors"))
    assert home.ask("plugins", "install", source, "--enable").gist == "3 failed core-not-chosen"
    assert not (home.path / "plugins" / "birch").exists()
    assert home.ask("plugins", "install", source, "--no-enable").status == 0


def test_both_lines_that_are_shown_lead_on(home: Home) -> None:
    _use(home)
    shelf = home.path.parent / "shelf"
    build_recipe(shelf, [*read_recipe(DEFAULT_RECIPE), host("0.19.0")])
    home.config.write_text(re.sub(r"find_links: .*", f"find_links: [{shelf}]", home.config.read_text("utf-8")), "utf-8")
    [reason] = home.ask("pm", "init").value["reasons"]
    own, embedded = re.findall(r"`(hermes [^`]+)`", reason["hint"])
    assert shlex.split(own)[-1] == "hermes-agent==0.19.0"
    assert follow(home, f"{embedded} --dry-run").status == 0
    assert follow(home, own).status == 0
    assert home.ask("plugins", "enable", "ash").gist == "0 admitted"


def test_the_embedded_core_can_be_asked_for(home: Home) -> None:
    _use(home)
    assert home.ask("pm", "init", "--embedded-core").status == 0
    assert home.ask("plugins", "enable", "ash").gist == "0 admitted"
    assert home.ask("pm", "init").gist == "0 unchanged"
