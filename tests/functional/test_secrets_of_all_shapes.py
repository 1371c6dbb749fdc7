"""A password of any shape, wherever an operator can write one, stands in no output and in no file that is ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from fixtures.homes import Answer, Home
from fixtures.sampling import Sample

SECRET = "S3cr3t-w0rd"
ADDRESSES = (
    "https://anna:{}@host.invalid/simple",
    "https://{}@host.invalid/simple",
    "https://anna:a/{}@host.invalid/simple",
    "https://anna:a#{}@host.invalid/simple",
    "https://anna:a?{}@host.invalid/simple",
    "https://anna:a@{}@host.invalid/simple",
    "https://anna:a@b/{}@host.invalid/simple",
    "https://anna:12/{}@host.invalid/simple",
    "https://anna:a {}@host.invalid/simple",
    "https://anna:{} b@host.invalid/simple",
    "http:/anna:{}@host.invalid",
    "http:anna:{}@host.invalid",
    "http://anna:{}@[::1/",
    "http://anna:{}@[zz]/",
    "http://anna:{}@host.invalid:port/",
    "https://anna:{}",
    "https://anna%3A{}%40host.invalid/",
    "https%3A%2F%2Fanna%3A{}%40host.invalid/",
    "//anna:{}@host.invalid/simple",
    "anna:{}@host.invalid:repo.git",
    "anna:{}@host.invalid",
    "git+https://anna:{}@host.invalid/x.git@main",
    "git+ssh://anna:{}@host.invalid/x.git",
    "https://host.invalid/simple?token={}",
    "https://host.invalid/x-1.0-py3-none-any.whl?X-Amz-Signature={}&x=1",
    "https://host.invalid/x-1.0-py3-none-any.whl?{}",
)


class Place(NamedTuple):
    """Where a secret is written, and what is run then."""

    write: Callable[[Home, str], Mapping[str, str]]
    """Writes an address, and returns variables to run with."""
    words: tuple[str, ...]
    """`{}` is the address."""


def _setting(text: str) -> Callable[[Home, str], Mapping[str, str]]:
    def write(home: Home, address: str) -> Mapping[str, str]:
        home.config.write_text("pm:\n  " + text.replace("{}", json.dumps(address)) + "\n")
        return {}

    return write


def _variable(name: str) -> Callable[[Home, str], Mapping[str, str]]:
    def write(home: Home, address: str) -> Mapping[str, str]:
        home.config.write_text("# nothing is set\n")
        return {name: address}

    return write


def _nowhere(_home: Home, _address: str) -> Mapping[str, str]:
    return {}


def _requirement(home: Home, address: str) -> Mapping[str, str]:
    home.plugin("ash", f"demo @ {address}")
    return {}


def _manifest(home: Home, address: str) -> Mapping[str, str]:
    home.plugin("ash", address, version=address, requires_hermes=address, hooks=[address], kind=address)
    return {}


def _pip_conf(home: Home, address: str) -> Mapping[str, str]:
    home.config.write_text("# nothing is set\n")
    path = home.user / ".config" / "pip" / "pip.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"[global]\nindex-url = {address}\nextra-index-url = {address}\nfind-links = {address}\n")
    return {}


ASH = ("plugins", "install", "{work}/ash", "--enable", "--verbose", "--offline")
CHECK = ("plugins", "check", "--offline")
PLACES = {
    "pm.indexes": Place(_setting("indexes: [{url: {}}]"), ASH),
    "pm.indexes without a list": Place(_setting("indexes: {}"), CHECK),
    "pm.find_links": Place(_setting("find_links: [{}]"), ASH),
    "pm.core": Place(_setting("core: {}"), CHECK),
    "pm.python": Place(_setting("python: {}"), CHECK),
    "pm.exclude_newer": Place(_setting("exclude_newer: {}"), CHECK),
    "UV_INDEX_URL": Place(_variable("UV_INDEX_URL"), ASH),
    "UV_DEFAULT_INDEX": Place(_variable("UV_DEFAULT_INDEX"), ASH),
    "UV_INDEX": Place(_variable("UV_INDEX"), ASH),
    "UV_FIND_LINKS": Place(_variable("UV_FIND_LINKS"), ASH),
    "PIP_INDEX_URL": Place(_variable("PIP_INDEX_URL"), ASH),
    "PIP_EXTRA_INDEX_URL": Place(_variable("PIP_EXTRA_INDEX_URL"), ASH),
    "PIP_PROXY": Place(_variable("PIP_PROXY"), ASH),
    "PIP_CONSTRAINT": Place(_variable("PIP_CONSTRAINT"), ASH),
    "HTTPS_PROXY": Place(_variable("HTTPS_PROXY"), CHECK),
    "HERMES_MANAGED": Place(_variable("HERMES_MANAGED"), ASH),
    "pip.conf": Place(_pip_conf, ASH),
    "a requirement": Place(_requirement, ASH),
    "a manifest": Place(_manifest, ASH),
    "a source": Place(_nowhere, ("plugins", "install", "{}", "--enable")),
    "a name": Place(_nowhere, ("plugins", "enable", "{}")),
    "what is checked": Place(_nowhere, ("plugins", "check", "{}")),
    "--core": Place(_nowhere, ("pm", "init", "--core", "{}", "--offline")),
    "--python": Place(_nowhere, ("pm", "init", "--python", "{}")),
    "--not": Place(_nowhere, ("pm", "why", "--not", "{}", "--offline")),
    "--bundle": Place(_nowhere, ("pm", "init", "--bundle", "{}")),
    "--replay": Place(_nowhere, ("plugins", "check", "--replay", "{}")),
    "a command": Place(_nowhere, ("run", "--", "{}")),
    "a verb": Place(_nowhere, ("pm", "{}")),
}
# what the operator, or the author of a plugin, has written stays as it is
THEIRS = re.compile(r"(^|/)(config\.yaml|plugin\.yaml|pip\.conf)$")


def holders(home: Home) -> list[str]:
    """Return the files of ours that hold the secret."""
    places = [folder for folder in (home.path, home.user, home.work) if folder.exists()]
    files = [path for folder in places for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    known = [str(path) for path in files if SECRET.encode() in path.read_bytes() or SECRET in path.name]
    return [path for path in known if not THEIRS.search(path)]


def shown_in(answer: Answer) -> list[str]:
    """Return the lines of an output that hold the secret."""
    lines = (answer.stdout + answer.stderr).splitlines()
    return [line for line in lines if SECRET in line or SECRET.lower() in line.lower()]


@pytest.mark.parametrize("count", [pytest.param(3, id="some"), pytest.param(99, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_secret_is_shown_and_kept_nowhere(home: Home, place: Place, count: int, sample: Sample) -> None:
    home.install(home.plugin("birch", "demo-colors"))
    home.plugin("ash", "demo-socket")
    config = home.config.read_text()
    for shape in sample(ADDRESSES, count):
        home.config.write_text(config)
        address = shape.format(SECRET)
        environ = place.write(home, address)
        words = [word.replace("{work}", str(home.work)).replace("{}", address) for word in place.words]
        options = ((), ("--json",)) if words[0] != "run" else ((),)
        answers = [home.say(*words, *form, **environ) for form in options]
        answers += [home.say(*verb.split(), **environ) for verb in ("plugins check", "pm receipts", "pm receipts show")]
        assert (address, [line for answer in answers for line in shown_in(answer)], holders(home)) == (address, [], [])
        assert "Traceback" not in "".join(answer.stderr for answer in answers), (address, answers)


def test_a_password_with_a_blank_is_one_that_works(home: Home) -> None:
    home.config.write_text('pm:\n  indexes: [{url: "https://anna:a b@host.invalid/simple"}]\n')
    assert home.ask("plugins", "check", home.plugin("ash", "demo-socket"), "--offline").gist.startswith(
        "3 failed offline"
    )


def test_an_address_that_cannot_be_read_is_refused_with_the_way_to_write_it(home: Home) -> None:
    home.config.write_text(f'pm:\n  indexes:\n    - url: "https://anna:a/{SECRET}@host.invalid/simple"\n')
    reason = home.ask("plugins", "check").value["reasons"][0]
    assert (reason["code"], reason["message"], reason["declared_at"]["line"]) == (
        "config-unreadable",
        "`pm.indexes[0].url` must be an address, not `https://****@host.invalid/simple`",
        3,
    )
    assert "%2F" in reason["hint"]


def test_variables_that_are_secrets_are_not_part_of_what_is_kept(home: Home) -> None:
    secrets = {"UV_INDEX_CORP_PASSWORD": SECRET, "PIP_API_TOKEN": SECRET, "HERMES_SECRET": SECRET}
    home.install(home.plugin("birch", "demo-colors"), **secrets)
    assert home.say("plugins", "check", **secrets).status == 0
    assert ((home.state / "cache" / "ready.json").exists(), holders(home)) == (True, [])


def test_a_netrc_is_kept_nowhere(home: Home) -> None:
    (home.user / ".netrc").write_text(f"machine 127.0.0.1 login anna password {SECRET}\n")
    answer = home.install(home.plugin("birch", "demo-colors"), "--verbose")
    assert (answer.gist, shown_in(answer)) == ("0 admitted", [])
    assert [path for path in holders(home) if not path.endswith(".netrc")] == []


@pytest.mark.parametrize("address", ["https://anna:{}@host.invalid/simple", "https://host.invalid/simple?token={}"])
def test_what_an_admitted_plugin_only_shows_brings_none_into_the_record(home: Home, address: str) -> None:
    secret = address.format(SECRET)
    tool = {"name": secret, "install": f"curl {secret}", "check": f"curl {secret}"}
    shown: dict[str, Any] = {"version": secret, "description": f"see {secret}", "kind": secret, "hooks": [secret]}
    plugin = home.plugin("ash", requires_env=[secret], external_dependencies=[tool], **shown)
    answers = [home.install(plugin), home.ask("plugins", "list"), home.say("plugins", "show", "ash")]
    assert (answers[0].gist, [shown_in(answer) for answer in answers]) == ("0 admitted", [[], [], []])
    assert holders(home) == []
