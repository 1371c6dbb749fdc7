"""A requirement that names an address: refused with what works instead, or with consent the only release of a name."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from admission.address import PUBLISH
from fixtures.homes import Answer, Home, follow, new_home, write_plugin
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


# -- the step that gives the consent


def _record(home: Home) -> Path:
    return home.state / "generations" / f"{(home.pointer or {})['generation']}.json"


def _kept(home: Home) -> object:
    """Return for which plugins the consent is kept."""
    return json.loads(_record(home).read_text())["consents"]["allow_direct_urls"]


def _steps(answer: Answer) -> list[tuple[str, bool]]:
    return [(f"{step['action']} {step['subject']}", step["confirmed"]) for step in answer.value["steps"]]


def test_the_step_that_allows_an_address_names_the_plugin_and_works(home: Home, elsewhere: IndexServer) -> None:
    plugin = home.plugin("ash", _address(elsewhere))
    for words in (("plugins", "check", plugin), ("plugins", "install", plugin, "--enable")):
        refused = home.ask(*words)
        step = refused.value["steps"][0]
        assert (refused.gist, _steps(refused)[0]) == ("1 refused direct-url", ("allow-direct-url ash", True))
        assert step["command"] == f"{shlex.join(['hermes', *map(str, words)])} --allow-direct-url ash"
        assert step["effect"][:2] == ["+ demo-colors 9.0", "+ demo-socket 3.0"]
        assert refused.demands == [f"plugin ash: {_address(elsewhere)} at plugin.yaml:4"]
        assert follow(home, step["command"]).status == 0
    assert (home.admitted, home.pins["demo-colors"]) == (["ash in default"], "9.0")
    assert _kept(home) == ["ash"]


def test_a_consent_is_one_for_its_plugin_and_for_no_other(home: Home, elsewhere: IndexServer) -> None:
    other = home.plugin("birch", _address(elsewhere))
    first = home.install(home.plugin("ash", _address(elsewhere)), "--allow-direct-urls")
    refused = home.install(other)
    assert ([row["subject"] for row in first.value["consents"]], _kept(home)) == (
        ["every plugin"],
        ["ash"],
    )
    assert (refused.gist, _steps(refused)[0]) == ("1 refused direct-url", ("allow-direct-url birch", True))
    assert home.install(other, "--allow-direct-url", "ash").gist == "1 refused direct-url"
    assert home.install(other, "--allow-direct-url", "BIRCH").gist == "0 admitted"
    assert _kept(home) == ["ash", "birch"]
    assert [home.ask("plugins", "check").gist, home.install(home.plugin("cedar")).gist] == ["0 ready", "0 admitted"]


def test_a_consent_stays_while_its_plugin_is_disabled_and_goes_with_it(home: Home, elsewhere: IndexServer) -> None:
    home.install(home.plugin("ash", _address(elsewhere)), "--allow-direct-url", "ash")
    gists = [home.ask("plugins", verb, "ash").gist for verb in ("disable", "enable", "remove")]
    assert gists == ["0 disabled", "0 admitted", "0 removed"]
    assert home.ask("plugins", "check").gist == "0 ready"
    assert home.install(home.work / "ash").gist == "1 refused direct-url"


def test_the_setting_names_plugins_or_allows_all_of_them(home: Home, elsewhere: IndexServer) -> None:
    home.configure("  allow_direct_urls: [Memory_Kit, ash]\n")
    assert home.install(home.plugin("ash", _address(elsewhere))).gist == "0 admitted"
    assert home.install(home.plugin("birch", _address(elsewhere))).gist == "1 refused direct-url"
    assert home.ask("plugins", "check").gist == "0 ready"


def test_one_yes_for_all_in_an_older_record_still_counts_until_it_is_said_by_name(
    home: Home, elsewhere: IndexServer
) -> None:
    home.configure("  allow_direct_urls: true\n")
    home.install(home.plugin("ash", _address(elsewhere)))
    record = _record(home)
    record.write_text(record.read_text().replace('"allow_direct_urls":["ash"]', '"allow_direct_urls":true'))
    assert '"allow_direct_urls":true' in record.read_text()
    home.config.write_text(home.config.read_text().replace("  allow_direct_urls: true\n", ""))
    assert home.ask("plugins", "check").gist == "0 ready"
    assert home.install(home.plugin("birch", "demo-transport")).gist == "0 admitted"
    assert _kept(home) == ["ash"]
    assert home.ask("plugins", "check").gist == "0 ready"


def test_an_address_and_a_second_reason_are_one_step(
    home: Home, elsewhere: IndexServer, require_tool: Callable[[str], Path]
) -> None:
    require_tool("patch")
    plugin = home.plugin("ash", _address(elsewhere), "dawnpress!=0.28.1")
    [step] = [step for step in home.install(plugin).value["steps"] if step["confirmed"]]
    assert [part["action"] for part in step["parts"]] == ["widen", "allow-direct-url"]
    assert follow(home, step["command"]).status == 1
    words = ["patch", "-p1", "--fuzz=0", "--input", str(home.work / "ash.patch")]
    subprocess.run(words, cwd=plugin, check=True, stdout=subprocess.DEVNULL)
    assert (follow(home, step["command"]).status, home.admitted) == (0, ["ash in default"])


def test_no_step_allows_an_address_from_which_nothing_can_be_installed(home: Home, elsewhere: IndexServer) -> None:
    both = home.install(home.plugin("ash", _address(elsewhere), f"podclient @ {REPOSITORY}"))
    assert (both.gist, _steps(both)) == ("1 refused direct-url direct-url", [("retry ash", False)])
    wrong = _address(elsewhere).partition("#")[0] + f"#sha256={'1' * 64}"
    assert [step for step in _steps(home.install(home.plugin("birch", wrong))) if step[1]] == []


def test_a_plugin_in_a_category_and_a_requirement_that_is_asked_about_are_allowed_by_their_names(
    home: Home, elsewhere: IndexServer
) -> None:
    nested = home.path / "plugins" / "web" / "birch"
    write_plugin(nested, _address(elsewhere))
    refused, asked = home.ask("plugins", "enable", "birch"), home.ask("pm", "why", "--not", _address(elsewhere))
    for answer, name in ((refused, "web/birch"), (asked, "demo-colors")):
        assert (answer.gist, _steps(answer)[0]) == ("1 refused direct-url", (f"allow-direct-url {name}", True))
        assert follow(home, answer.value["steps"][0]["command"]).status == 0
    assert home.admitted == ["web/birch in default"]


def test_an_enabled_plugin_whose_address_was_not_allowed_is_left_out_and_its_hint_leads_on(
    home: Home, elsewhere: IndexServer
) -> None:
    write_plugin(home.path / "plugins" / "birch", _address(elsewhere))
    home.configure("plugins:\n  enabled: [birch]\n")
    answer = home.install(home.plugin("ash"))
    assert (answer.gist, answer.warnings) == ("0 admitted", ["not-admitted"])
    looked = home.ask("plugins", "check", "birch")
    assert (looked.gist, _steps(looked)[0]) == ("1 refused direct-url", ("allow-direct-url birch", True))
    enabled = home.ask("plugins", "enable", "birch")
    assert follow(home, enabled.value["steps"][0]["command"]).status == 0
    assert home.admitted == ["ash in default", "birch in default"]
