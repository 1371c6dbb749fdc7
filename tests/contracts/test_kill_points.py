"""An operation that is killed at any of its calls that change names or flush them has happened, or it has not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

from fixtures.faults import MORE_OPERATIONS, OPERATIONS, Point, Staging, held, leftovers
from fixtures.homes import new_home
from fixtures.sampling import ALL, Sample

COUNTS = [pytest.param(3, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.slow)]


class Aftermath(NamedTuple):
    """What is found after a kill, and after the commands that follow it."""

    happened: bool | None
    """`None`: half of it."""
    again: str
    """How the same command ends then."""
    held: tuple[str, ...] = ()
    start: int = 0
    """The status of a command in the selected generation, right after the kill."""
    mended: str = "2 failed unknown-plugin"
    """How the next changing command ends, which here has nothing to do of its own."""
    left: tuple[str, ...] = ()
    done: bool = True
    verified: str = "0 verified"
    left_in_the_end: tuple[str, ...] = ()


def aftermath(staging: Staging) -> Aftermath:
    """Look at the home of an operation that was killed, and go on working with it."""
    home = staging.home
    locks = held(home)
    start = home.say("run", "--", "python", "-c", "pass").status if home.pointer else 0
    mended = home.ask("plugins", "disable", "nobody").gist
    selected, left = staging.selected, leftovers(home)
    happened = {True: True, False: None}[selected == staging.after] if selected != staging.before else False
    again = staging.again().gist
    done = staging.selected._replace(records=[]) == staging.after._replace(records=[])
    verified = home.ask("pm", "verify").gist
    return Aftermath(happened, again, locks, start, mended, left, done, verified, leftovers(home))


When = TypeVar("When", Point, float)


def surprises(staging: Staging, kill: Callable[[When], object], points: Iterable[When]) -> dict[str, Aftermath]:
    """Kill an operation at points or moments, each time from the beginning; return what should not have come of it."""
    operation = staging.operation
    expected = [Aftermath(happened=False, again=operation.gist), Aftermath(happened=True, again=operation.again)]
    found = {}
    for point in points:
        staging.restore()
        if kill(point) is not False:
            found[str(point)] = aftermath(staging)
    return {point: after for point, after in found.items() if after not in expected}


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("staging", OPERATIONS, indirect=True)
def test_killed_at_any_point_an_operation_has_happened_or_not(staging: Staging, count: int, sample: Sample) -> None:
    assert surprises(staging, staging.kill_manager, sample(staging.points, count)) == {}


@pytest.mark.parametrize("count", [pytest.param(2, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("staging", ["first install", "install", "remove", "repair"], indirect=True)
def test_when_everything_dies_while_uv_builds_nothing_has_happened(
    staging: Staging, count: int, sample: Sample
) -> None:
    assert surprises(staging, staging.kill_everything, sample(staging.points_of_uv, count)) == {}


@pytest.mark.parametrize("staging", ["install"], indirect=True)
def test_killed_while_it_takes_over_a_wheel_an_operation_leaves_nothing_for_long(staging: Staging) -> None:
    staging.restore()
    staging.kill_manager(Point("fsync", 1))
    half = [path.name for path in staging.home.state.glob("wheels/*/.*")]
    assert len(half) == 1
    after = aftermath(staging)
    left = [path.name for path in staging.home.state.glob("wheels/*/.*")]
    assert (after, left) == (Aftermath(happened=False, again=staging.operation.gist), [])


def drawn(chance: random.Random, count: int, names: Sequence[str]) -> dict[str, list[float]]:
    """Draw operations, and for each time the part of its duration after which it is killed."""
    parts: dict[str, list[float]] = {}
    for _ in range(count):
        parts.setdefault(chance.choice(names), []).append(chance.random())
    return parts


@pytest.mark.parametrize(
    ("count", "names"),
    [
        pytest.param(6, ["install"], id="6 kills of install"),
        pytest.param(300, list(OPERATIONS | MORE_OPERATIONS), id="300 kills", marks=pytest.mark.slow),
    ],
)
def test_killed_at_a_random_moment_an_operation_has_happened_or_not(
    count: int, names: list[str], tmp_path: Path, wheels: Path, require_tool: Callable[[str], Path], sample: Sample
) -> None:
    wrong = {}
    for name, parts in drawn(sample.chance, count, names).items():
        home = new_home(tmp_path / name / "home", wheels=wheels)
        staging = Staging(home, (OPERATIONS | MORE_OPERATIONS)[name], require_tool("strace"))
        seconds = staging.seconds()
        wrong[name] = surprises(staging, staging.kill_after, [part * seconds for part in parts])
    assert {name: found for name, found in wrong.items() if found} == {}
