"""A requirement that names an address: refused with what works instead, or with consent the only release of a name."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from admission.address import PUBLISH
from fixtures.homes import Home, new_home, write_plugin
from fixtures.server import Fault, IndexServer
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe

REPOSITORY = "git+https://git.example.invalid/podclient@0123456789abcdef0123456789abcdef01234567"
WHEEL = "https://127.0.0.1/podclient-1.6-py3-none-any.whl"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[IndexServer]:
    """Serve files that no index of the home has."""
    with IndexServer(tmp_path / "elsewhere") as running:
        running.offer(Distribution("demo-colors", "9.0", requires=["demo-socket"], extras={"more": ["demo-speedups"]}))
        running.offer(Distribution("winged", "1.0", tags=["cp27-cp27m-win32"]))
        yield running


def _address(server: IndexServer, name: str = "demo_colors") -> str:
    [offer] = [offer for offer in server.offers if offer.path.name.startswith(name)]
    return f"{name.replace('_', '-')} @ http://{server.host}/files/{offer.path.name}#sha256={offer.sha256}"


def test_a_consented_address_is_the_release_that_is_installed(home: Home, elsewhere: IndexServer) -> None:
    address = _address(elsewhere)
    refused = home.install(home.plugin("ash", address))
    hint = refused.value["reasons"][0]["hint"]
    answer = home.install(home.work / "ash", "--allow-direct-urls")
    lock = tomllib.loads((home.generation / "pylock.toml").read_text())
    [package] = [package for package in lock["packages"] if package["name"] == "demo-colors"]
    assert (refused.gist, "`--allow-direct-urls`" in hint, answer.gist, answer.warnings) == (
        "1 refused direct-url",
        True,
        "0 admitted",
        [],
    )
    assert (home.pins["demo-colors"], "demo-socket" in home.pins, package["archive"]["url"]) == (
        "9.0",
        True,
        address.partition(" @ ")[2].partition("#")[0],
    )
    assert [home.ask("plugins", "check").gist, home.ask("pm", "verify").gist] == ["0 ready", "0 verified"]


def test_what_an_address_brought_stays_with_its_plugin_and_goes_with_it(home: Home, elsewhere: IndexServer) -> None:
    home.install(home.plugin("ash", _address(elsewhere)), "--allow-direct-urls")
    more = home.install(home.plugin("birch", "demo-colors[more]>=2"), "--offline")
    conflict = home.install(home.plugin("cedar", "demo-colors<9"))
    before = home.pins
    shutil.rmtree(home.generation, onerror=lambda *_: None)
    gone = [home.ask("plugins", "remove", name).gist for name in ("birch", "ash")]
    assert (more.gist, before["demo-colors"], "demo-speedups" in before) == ("0 admitted", "9.0", True)
    assert (conflict.gist, conflict.demands) == (
        "1 refused conflict",
        [
            f"plugin ash: {_address(elsewhere)} at plugin.yaml:4",
            "plugin cedar: demo-colors<9 at plugin.yaml:4",
        ],
    )
    assert gone == ["0 removed"] * 2


def test_a_home_whose_packages_come_from_an_index_takes_an_address_too(
    served: Home, server: IndexServer, elsewhere: IndexServer
) -> None:
    served.configure("  allow_direct_urls: true\n")
    write_plugin(served.path / "plugins/ash", f"{_address(elsewhere)} ; python_version >= '3'")
    served.configure("plugins:\n  enabled: [ash]\n")
    answer = served.install(served.plugin("birch", "demo-transport"))
    assert (answer.gist, answer.warnings, served.pins["demo-colors"]) == ("0 admitted", [], "9.0")
    assert not [asked.path for asked in server.asked if "/demo-colors/" in asked.path]


def test_two_addresses_of_one_name_are_a_conflict_of_the_two_that_name_them(home: Home, elsewhere: IndexServer) -> None:
    other = f"demo-colors @ http://{elsewhere.host}/files/demo_colors-8.0-py3-none-any.whl#sha256={'1' * 64}"
    home.install(home.plugin("ash", _address(elsewhere)), "--allow-direct-urls")
    answer = home.install(home.plugin("birch", other), "--allow-direct-urls")
    assert (answer.gist, [demand.partition(":")[0] for demand in answer.demands]) == (
        "1 refused conflict",
        ["plugin ash", "plugin birch"],
    )


def test_a_wheel_for_another_target_is_told_as_that(home: Home, elsewhere: IndexServer) -> None:
    answer = home.install(home.plugin("ash", _address(elsewhere, "winged")), "--allow-direct-urls")
    assert answer.gist == "1 refused no-wheel"


def test_a_file_that_is_not_what_the_address_promises_is_never_installed(home: Home, elsewhere: IndexServer) -> None:
    wrong = _address(elsewhere).partition("#")[0] + f"#sha256={'1' * 64}"
    answer = home.install(home.plugin("ash", wrong), "--allow-direct-urls")
    assert (answer.status, home.admitted) == (3, [])


def test_an_address_that_is_gone_is_told_and_is_in_the_way_of_its_own_plugin_alone(
    home: Home, elsewhere: IndexServer
) -> None:
    elsewhere.faults = [Fault("/files/*", "status", times=-1, status=404)]
    home.configure("  allow_direct_urls: true\n")
    write_plugin(home.path / "plugins/ash", _address(elsewhere))
    home.configure("plugins:\n  enabled: [ash]\n")
    own, other = home.ask("plugins", "enable", "ash"), home.install(home.plugin("birch"))
    assert (own.gist, other.gist, other.warnings, home.admitted) == (
        "3 failed index-unreachable",
        "0 admitted",
        ["not-admitted"],
        ["birch in default"],
    )
    assert "404" in own.value["reasons"][0]["message"]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            f"{REPOSITORY}#podclient==1.6.2",
            f"is an address and names no package; with one it is `podclient @ {REPOSITORY}`",
            PUBLISH.format(name="podclient"),
        ),
        (
            f"podclient @ {REPOSITORY}",
            "points to a repository, which would have to be built",
            PUBLISH.format(name="podclient"),
        ),
        (
            WHEEL,
            "is an address and names no package",
            f"add the file's digest, `podclient @ {WHEEL}#sha256=DIGEST`, and allow it: `--allow-direct-urls`",
        ),
    ],
)
def test_what_is_said_of_an_address_never_leads_to_the_same_refusal(
    home: Home, text: str, message: str, hint: str
) -> None:
    """Case url-with-name-fragment-01."""
    home.plugin("ash", text)
    answers = [home.install(home.work / "ash"), home.install(home.work / "ash", "--allow-direct-urls")]
    [reason] = answers[1].value["reasons"]
    assert [answer.gist for answer in answers] == ["1 refused direct-url"] * 2
    assert (reason["message"], reason["hint"], reason["declared_at"]["line"]) == (f"`{text}` {message}", hint, 4)


def test_a_verdict_on_an_address_is_repeated_offline(tmp_path: Path, elsewhere: IndexServer) -> None:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", _address(elsewhere)), "--allow-direct-urls")
        refused = home.install(home.plugin("birch", "demo-colors<9"))
    again = home.ask("plugins", "check", "--replay", refused.value["id"])
    assert (refused.gist, again.gist) == ("1 refused conflict", "1 refused conflict")
