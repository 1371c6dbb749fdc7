"""What many processes do to one root at the same time is what they would have done one after the other."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fixtures.faults import leftovers
from fixtures.homes import Home, new_home
from fixtures.sampling import Sample
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

PROCESSES = 8
PLUGINS = {"ash": "demo-colors", "birch": "demo-transport", "cedar": "demo-socket", "elm": "demo-speedups"}


class Model(NamedTuple):
    """What a root holds, as its receipts tell it."""

    installed: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    generation: int = 0
    members: Mapping[int, frozenset[str]] = {}
    """Of every generation that was ever selected."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    wheels = tmp_path / "wheels"
    build_recipe(wheels, read_recipe(DEFAULT_RECIPE))
    home = new_home(tmp_path / "home", wheels=wheels)
    for name, requirement in PLUGINS.items():
        home.plugin(name, requirement)
    return home


def random_words(home: Home, chance: random.Random) -> tuple[str, ...]:
    name = chance.choice(list(PLUGINS))
    source = str(home.work / name)
    return chance.choice(
        [
            ("plugins", "install", source, "--enable"),
            ("plugins", "install", source),
            ("plugins", "install", source, "--enable", "--force"),
            ("plugins", "enable", name),
            ("plugins", "disable", name),
            ("plugins", "remove", name),
            ("plugins", "check"),
            ("pm", "rollback"),
            ("pm", "gc"),
            ("run", "--", "python", "-c", "pass"),
        ]
    )


class Work(NamedTuple):
    """What came of one command after the other."""

    receipts: list[dict[str, Any]]
    """Of those that held the install lock."""
    odd: list[str]
    """What a user should never see."""


def work(home: Home, chance: random.Random, commands: int) -> Work:
    """Issue one command after the other."""
    receipts = []
    odd = []
    for _ in range(commands):
        words = random_words(home, chance)
        answer = home.say(*words, *(() if words[0] == "run" else ("--json",)))
        if "Traceback" in answer.stderr or not is_expected(words, answer.status, answer.stdout):
            odd.append(f"{' '.join(words)}: {answer}")
        elif words[0] != "run" and answer.value["sequence"]:
            receipts.append(answer.value)
    return Work(receipts, odd)


def is_expected(words: tuple[str, ...], status: int, stdout: str) -> bool:
    """Say whether a command ended as it may where others change the root all the time."""
    if words[0] == "run":
        return status in (0, 1)  # before the first generation there is none to start in
    receipt = json.loads(stdout)
    codes = {reason["code"] for reason in receipt["reasons"]}
    return status in (0, 1) or codes <= {"unknown-plugin", "unknown-generation", "config-changed", "busy", "drift"}


def replay(receipts: list[dict[str, Any]]) -> Model:
    """Do in a model what the receipts say was done, in their order."""
    model = Model()
    for receipt in receipts:
        model = after(model, receipt)
    return model


def after(model: Model, receipt: Mapping[str, Any]) -> Model:
    operation, outcome = receipt["operation"], receipt["outcome"]
    key = receipt["plugin"]["key"] if receipt["plugin"] else ""
    selected = receipt["generation"]["after"] or 0
    if receipt["generation"]["before"] not in (None, model.generation, selected):
        raise AssertionError(receipt)
    installed, enabled, members = model.installed, model.enabled, dict(model.members)
    if operation == "install" and outcome == "admitted":
        installed |= {key}
        enabled |= {key} if is_selected(receipt) else set()
    elif operation == "enable" and outcome == "admitted":
        enabled |= {key}
    elif operation == "disable" and outcome == "disabled":
        enabled -= {key}
    elif operation == "remove" and outcome == "removed":
        installed, enabled = installed - {key}, enabled - {key}
    elif operation == "rollback" and outcome == "rolled-back":
        installed |= members[selected]
        enabled = members[selected]
    if outcome in {"admitted", "disabled", "removed", "rolled-back"} and is_selected(receipt):
        members[selected] = enabled
        return Model(installed, enabled, selected, members)
    return Model(installed, enabled, model.generation, members)


def is_selected(receipt: Mapping[str, Any]) -> bool:
    """Say whether an operation selected another generation."""
    generation = receipt["generation"]
    return bool(generation["after"]) and generation["after"] != generation["before"]


def in_sequence(receipts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return receipts in the order in which their operations held the install lock."""
    return sorted(receipts, key=lambda one: int(one["sequence"]))


def found(home: Home) -> Model:
    """Return what the root really holds."""
    pointer = home.pointer
    listed = home.ask("plugins", "list").value["plugins"]
    installed = frozenset(path.name for path in (home.path / "plugins").glob("*"))
    enabled = frozenset(plugin["key"] for plugin in listed if plugin["state"] == "enabled")
    return Model(installed, enabled, pointer["generation"] if pointer else 0)


@pytest.mark.parametrize("commands", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_the_receipts_in_their_sequence_explain_what_many_processes_did(
    home: Home, commands: int, sample: Sample
) -> None:
    chances = [random.Random(sample.chance.random()) for _ in range(PROCESSES)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        works = list(pool.map(lambda chance: work(home, chance, commands), chances))
    assert [one.odd for one in works] == [[]] * PROCESSES
    receipts = in_sequence(receipt for one in works for receipt in one.receipts)
    assert [receipt["sequence"] for receipt in receipts] == list(range(1, len(receipts) + 1))
    explained = replay(receipts)
    assert found(home) == explained._replace(members={})
    assert set(home.admitted) == {f"{key} in default" for key in explained.enabled}
    assert home.ask("pm", "gc").gist == "0 collected"
    assert (home.ask("pm", "verify").gist, leftovers(home)) == ("0 verified", ())
