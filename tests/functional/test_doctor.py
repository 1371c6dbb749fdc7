"""`pm doctor` names each trouble with what puts it right: the trouble is made, the fix is followed, and it is gone."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from fixtures.homes import ROOT, Home, write_plugin
from pm.operations.doctor import FINDINGS


def findings(home: Home, **environ: str) -> list[dict[str, Any]]:
    answer = home.ask("pm", "doctor", **environ)
    rows: list[dict[str, Any]] = answer.value["findings"]
    assert answer.status == int(any(row["level"] == "problem" for row in rows))
    assert {row["name"] for row in rows} <= set(FINDINGS)
    return rows


def names(home: Home, **environ: str) -> list[str]:
    return [row["name"] for row in findings(home, **environ)]


class Trouble(NamedTuple):
    """One thing that goes wrong."""

    make: Callable[[Home], object]
    name: str
    fix: Callable[[Home], object] | None = None
    """What the fix says where it is no command."""


def _without_environment(home: Home) -> None:
    (home.generation / "pyvenv.cfg").parent.chmod(0o755)
    shutil.rmtree(home.generation)


def _packed(home: Home) -> None:
    source = home.plugin("cedar")
    shutil.make_archive(str(home.path / "plugins" / "cedar"), "zip", source)
    home.config.write_text(home.config.read_text().replace("enabled:", "enabled:\n    - cedar"))


def _unpacked_one_level_too_deep(home: Home) -> None:
    write_plugin(home.path / "plugins" / "more" / "cedar-main" / "cedar", "demo-socket")


def _enabled_by_hand(home: Home) -> None:
    write_plugin(home.path / "plugins" / "cedar", "demo-socket")
    home.config.write_text(home.config.read_text().replace("enabled:", "enabled:\n    - cedar"))


def _missing(home: Home) -> None:
    home.config.write_text(home.config.read_text().replace("enabled:", "enabled:\n    - oak"))


def _unreadable(home: Home) -> None:
    (home.path / "plugins" / "ash" / "plugin.yaml").write_text("name: [\n")


def _unit(home: Home) -> None:
    folder = home.user / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "hermes-gateway.service").write_text(f"[Service]\nExecStart={home.generation}/bin/python -m x\n")


def _of_the_future(home: Home) -> None:
    assert home.pointer is not None
    record = home.state / "generations" / f"{home.pointer['generation']}.json"
    record.chmod(0o600)
    record.write_text(json.dumps({**json.loads(record.read_text()), "created_at": "2999-01-01T00:00:00.000Z"}))


def _of_now(home: Home) -> None:
    assert home.pointer is not None
    record = home.state / "generations" / f"{home.pointer['generation']}.json"
    record.write_text(record.read_text().replace("2999-01-01", "2020-01-01"))


TROUBLES = {
    "a config that is no YAML": Trouble(
        lambda home: home.config.write_text(f"plugins: [\n{home.config.read_text()}"),
        "config-unreadable",
        lambda home: home.config.write_text(home.config.read_text().removeprefix("plugins: [\n")),
    ),
    "an environment that is gone": Trouble(_without_environment, "damaged"),
    "a plugin that is not there": Trouble(_missing, "plugin-not-found"),
    "a plugin that is packed": Trouble(_packed, "plugin-not-found"),
    "a plugin too deep": Trouble(
        _unpacked_one_level_too_deep,
        "plugin-too-deep",
        lambda home: shutil.rmtree(home.path / "plugins" / "more"),
    ),
    "a plugin that cannot be read": Trouble(_unreadable, "plugin-unreadable"),
    "a plugin that was never admitted": Trouble(_enabled_by_hand, "not-admitted"),
    "a variable": Trouble(
        lambda home: home.install(home.plugin("birch", requires_env=["BIRCH_KEY"])),
        "variable-missing",
        lambda home: (home.path / ".env").write_text("BIRCH_KEY=x\n"),
    ),
    "a service": Trouble(_unit, "service-names-generation"),
    "the clock": Trouble(_of_the_future, "clock-behind", _of_now),
}


@pytest.fixture
def used(home: Home) -> Home:
    home.install(home.plugin("ash", "demo-colors"))
    return home


def test_nothing_is_wrong_with_a_home_as_it_was_made(used: Home) -> None:
    assert findings(used) == []
    assert used.say("pm", "doctor").stdout == f"nothing is wrong with {used.path}\n"


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_trouble_is_named_and_its_fix_ends_it(used: Home, trouble: str) -> None:
    made = TROUBLES[trouble]
    made.make(used)
    before = used.snapshot(["pm/cache", "pm/locks"])
    found = findings(used)
    assert used.snapshot(["pm/cache", "pm/locks"]) == before
    assert made.name in [row["name"] for row in found]
    said = used.say("pm", "doctor")
    assert made.name in said.stdout
    [fix] = [row["fix"] for row in found if row["name"] == made.name][:1]
    if made.fix is not None:
        made.fix(used)
    else:
        command = fix.split("`")[1]
        done = used.say(*shlex.split(command)[1:])
        assert done.status == 0, done
    assert made.name not in names(used)


def test_before_the_first_generation_it_is_a_note(home: Home) -> None:
    [row] = findings(home)
    assert (row["name"], row["level"], row["fix"]) == ("no-generation", "note", "`hermes pm init` makes one")


def test_a_copy_that_is_hidden_is_a_note(used: Home) -> None:
    project = used.work / ".hermes" / "plugins" / "ash"
    write_plugin(project)
    rows = findings(used, HERMES_ENABLE_PROJECT_PLUGINS="1")
    assert "plugin-hidden" in [row["name"] for row in rows]


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"SSL_CERT_FILE": "/nowhere/ca.pem"}, "certificate-missing"),
        ({"HTTPS_PROXY": "socks5://127.0.0.1:1"}, "proxy-unusable"),
        ({"ALL_PROXY": "http://[::1"}, "proxy-unusable"),
    ],
)
def test_variables_that_lead_nowhere_are_named(used: Home, environ: dict[str, str], name: str) -> None:
    [row] = findings(used, **environ)
    assert (row["name"], next(iter(environ)) in row["message"]) == (name, True)


def test_another_hermes_that_is_found_first_is_named(used: Home) -> None:
    first, second = used.work / "first", used.work / "second"
    used.say("link", "--bin", second)
    first.mkdir()
    (first / "hermes").write_text("#!/bin/sh\n")
    (first / "hermes").chmod(0o755)
    path = os.pathsep.join((str(first), str(second), os.environ["PATH"]))
    [row] = findings(used, PATH=path)
    assert (row["name"], row["file"]) == ("several-hermes", str(first / "hermes"))
    assert findings(used, PATH=os.pathsep.join((str(second), str(first), os.environ["PATH"]))) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_of_another_user_are_named(used: Home) -> None:
    os.chown(used.state / "receipts", 12345, 12345)
    [row] = findings(used)
    assert (row["name"], row["file"]) == ("foreign-owner", str(used.state / "receipts"))


def test_the_page_names_every_finding() -> None:
    page = (ROOT / "docs" / "reference" / "doctor.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    assert {name.strip().strip("`"): meaning.strip() for name, meaning in rows} == dict(FINDINGS)
