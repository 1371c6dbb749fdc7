"""Two owners pin one package: the proof names both and the chain, and the step that helps was tried and does help."""

from __future__ import annotations

from pathlib import Path

from fixtures.homes import UNTOUCHED_BY_REFUSALS
from fixtures.hosts import chains, host, is_proved, new_hosted_home, offer, releases, steps

CORE = "hermes-agent==0.19.0"


def test_a_pin_on_an_older_host_is_a_gate_and_the_host_stays(tmp_path: Path) -> None:
    """Case conflicting-pins-01: both versions are named, and no step would move the host down."""
    home = new_hosted_home(tmp_path, CORE, host("0.17.0"), host("0.19.0"), host("0.20.0"))
    answer = home.install(home.plugin("denoise", "hermes-agent==0.17.0"))
    assert (answer.gist, answer.value["reasons"][0]["message"]) == (
        "1 refused core-version",
        "`denoise` requires the core `==0.17.0`, the core is hermes-agent 0.19.0",
    )
    assert (steps(answer.value), home.pointer) == (["retry denoise ?"], None)


def test_a_bound_on_a_newer_host_is_met_by_the_confirmed_update_of_the_host(tmp_path: Path) -> None:
    home = new_hosted_home(tmp_path, CORE, host("0.19.0"), host("0.20.0"), host("0.21.0"))
    answer = home.install(home.plugin("denoise", "hermes-agent>=0.20,<0.21"))
    assert (answer.gist, steps(answer.value)) == (
        "1 refused core-version",
        ["update-core hermes-agent → hermes-agent==0.20.0", "retry denoise ?"],
    )


def test_a_plugin_that_pins_what_the_core_pins_differently_is_refused_and_the_wider_bound_admits_it(
    tmp_path: Path,
) -> None:
    """Cases conflicting-pins-03 and -09: nothing is replaced silently, and `validate` says the same."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0", "somelib==3.1.0"), *releases("somelib", v1_0_0=(), v3_1_0=()))
    source = home.plugin("custom", "somelib==1.0.0")
    answer = home.install(source)
    validated = home.ask("plugins", "validate", source)
    assert (answer.gist, validated.gist) == ("1 refused core-conflict", "1 refused core-conflict")
    assert chains(answer.value) == chains(validated.value) == ["hermes-agent: somelib==3.1.0", "custom: somelib==1.0.0"]
    assert (is_proved(answer.value), steps(answer.value)) == (
        True,
        ["widen custom → somelib>=1.0.0,<=3.1.0", "retry custom ?"],
    )
    assert home.install(home.plugin("custom", "somelib>=1.0.0,<=3.1.0")).gist == "0 admitted"
    assert home.pins["somelib"] == "3.1.0"


def test_a_conflict_through_a_dependency_names_the_chain_and_two_ways_out(tmp_path: Path) -> None:
    """Case conflicting-pins-05: never a bare *not found*."""
    home = new_hosted_home(
        tmp_path,
        CORE,
        host("0.19.0", "bleak==0.21"),
        host("0.20.0", "bleak==0.19.5"),
        *releases("bleak", v0_19_5=(), v0_21=()),
        *releases("ac-infinity-ble", v0_4_2=["bleak<0.20"], v0_5=["bleak>=0.21"]),
    )
    answer = home.install(home.plugin("fans", "ac-infinity-ble==0.4.2"))
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["fans: ac-infinity-ble==0.4.2 → bleak<0.20", "hermes-agent: bleak==0.21"],
        True,
    )
    assert steps(answer.value) == [
        "widen fans → ac-infinity-ble>=0.4.2,<=0.5",
        "update-core hermes-agent → hermes-agent==0.20.0",
        "retry fans ?",
    ]
    assert home.ask("pm", "init", "--core", "hermes-agent==0.20.0").gist == "0 admitted"
    assert home.install(home.plugin("fans", "ac-infinity-ble==0.4.2")).gist == "0 admitted"


def test_the_second_of_two_plugins_is_refused_the_first_is_named_and_stays(tmp_path: Path) -> None:
    """Case conflicting-pins-07: the operator is offered both bounds, and to go on without the first."""
    hub = releases("huggingface-hub", v0_24_6=(), v0_26=())
    home = new_hosted_home(tmp_path, CORE, host("0.19.0"), *hub)
    home.install(home.plugin("first", "huggingface_hub==0.24.6"))
    before = home.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = home.install(home.plugin("second", "huggingface_hub>=0.26"))
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused conflict",
        ["first: huggingface-hub==0.24.6", "second: huggingface-hub>=0.26"],
        True,
    )
    assert steps(answer.value) == [
        "widen second → huggingface_hub>=0.24.6",
        "widen first → huggingface_hub>=0.24.6,<=0.26",
        "leave-out first",
        "retry second ?",
    ]
    assert home.snapshot(UNTOUCHED_BY_REFUSALS) == before
    home.ask("plugins", "disable", "first")
    assert home.install(home.plugin("second", "huggingface_hub>=0.26")).gist == "0 admitted"
    assert home.pins["huggingface-hub"] == "0.26"


def test_a_range_of_the_core_is_its_limit_and_not_the_version_that_is_installed(tmp_path: Path) -> None:
    """Case conflicting-pins-11: admitted, and the receipt says that a package of the core moves."""
    home = new_hosted_home(tmp_path, CORE, host("0.19.0", "aiosqlite>=0.21.0"), *releases("aiosqlite", v0_21_0=()))
    home.ask("pm", "init")
    offer(home, *releases("aiosqlite", v0_22_1=()))
    untouched = home.install(home.plugin("notes", "aiosqlite"))
    assert (untouched.gist, untouched.changes, home.pins["aiosqlite"]) == ("0 admitted", [], "0.21.0")
    moving = home.install(home.plugin("tasks", "aiosqlite>=0.22.1"))
    assert (moving.gist, moving.changes, moving.warnings) == (
        "0 admitted",
        ["aiosqlite 0.21.0 → 0.22.1"],
        ["core-package-moved"],
    )


def test_a_line_without_bounds_is_not_blamed_for_what_another_line_leads_to(tmp_path: Path) -> None:
    """Case conflicting-pins-13: the chain leads through the package that has the cap, not to the one that is free."""
    home = new_hosted_home(
        tmp_path,
        CORE,
        host("0.19.0", "aiohttp==3.13.3"),
        *releases("aiohttp", v3_12_15=(), v3_13_3=()),
        *releases("lightrag-hku", v1_4=["aiohttp<3.13"]),
    )
    answer = home.install(home.plugin("graph", "aiohttp", "lightrag-hku"))
    assert (answer.gist, chains(answer.value), is_proved(answer.value)) == (
        "1 refused core-conflict",
        ["hermes-agent: aiohttp==3.13.3", "graph: lightrag-hku → aiohttp<3.13"],
        True,
    )
    assert steps(answer.value) == ["retry graph ?"]
