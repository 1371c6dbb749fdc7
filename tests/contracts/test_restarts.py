"""Whether a process must be started again: the process itself, the status and the receipt say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import Answer, Home, new_home
from fixtures.running import Running
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, build_wheels, read_recipe

IMPORT_ALL = "[__import__(name) for name in ('demo_colors', 'hermes_cli', 'hermes_constants', 'pyyaml', 'wirekit')]"
INSIDE = (
    "(lambda s: __import__('json').dumps([s.behind, s.restart_required.required, "
    "[*map(str, s.restart_required.reasons)]]))(__import__('_hermes_pm').status())"
)


class Said(NamedTuple):
    """Who says what after a change."""

    receipt: list[str]
    outside: tuple[bool, list[str]]
    """`restart_required` and `restart_reasons` of the status."""
    everything: list[object]
    """A process that has imported all that there is: whether it is behind, must be started again, and why."""
    nothing: list[object]
    """A process that has imported none of it."""


def moves(home: Home) -> Answer:
    build_wheels(home.path.parent / "wheels", Distribution("wirekit", "2.0"))
    return home.install(home.plugin("birch", "wirekit>=2"))


def goes(home: Home) -> Answer:
    return home.ask("plugins", "remove", "ash")


def comes(home: Home) -> Answer:
    return home.install(home.plugin("birch", "demo-socket"))


def is_switched_off(home: Home) -> Answer:
    return home.ask("plugins", "disable", "ash")


def needs_the_same(home: Home) -> Answer:
    return home.install(home.plugin("birch", "demo-colors"))


def is_built_again(home: Home) -> Answer:
    goes(home)
    build_wheels(home.path.parent / "wheels", Distribution("wirekit", "1.0", files={"wirekit.py": "again = True\n"}))
    return home.install(home.work / "ash")


def comes_and_goes_back(home: Home) -> Answer:
    moves(home)
    return home.ask("pm", "rollback")


NOBODY = Said([], (False, []), [False, False, []], [False, False, []])
MOVED = ["wirekit 1.0 → 2.0"]
GONE = ["demo-colors 1.2 is gone", "wirekit 1.0 is gone"]
AGAIN = ["wirekit 1.0, another file"]
RUNS = ["a process runs in generation 1"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (moves, Said(MOVED, (True, MOVED), [True, True, MOVED], [True, False, []])),
        (goes, Said(GONE, (True, GONE), [True, True, GONE], [True, False, []])),
        # what it does not see yet it may still take: what only comes is behind, and stands in no way
        (comes, Said(RUNS, (True, RUNS), [True, False, []], [True, False, []])),
        (is_built_again, Said(AGAIN, (True, AGAIN), [True, True, AGAIN], [True, False, []])),
        (is_switched_off, NOBODY),
        (needs_the_same, NOBODY),
        # who was started between the two must go back too
        (comes_and_goes_back, NOBODY._replace(receipt=["wirekit 2.0 → 1.0"])),
    ],
)
def test_inside_and_outside_agree(tmp_path: Path, change: Callable[[Home], Answer], expected: Said) -> None:
    folder = tmp_path / "wheels"
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), Distribution("wirekit", "1.0")])
    home = new_home(tmp_path / "home", wheels=folder)
    home.install(home.plugin("ash", "wirekit", "demo-colors<2"))
    with Running(home) as everything, Running(home) as nothing:
        everything.says(IMPORT_ALL)
        receipt = change(home).value["generation"]
        status = home.ask("pm", "status").value
        said = Said(
            receipt["restart_reasons"],
            (status["restart_required"], status["restart_reasons"]),
            json.loads(everything.says(INSIDE)),
            json.loads(nothing.says(INSIDE)),
        )
    assert (said, receipt["restart_required"]) == (expected, bool(expected.receipt))
