"""An operation of which any one call to the disk fails ends and says so; it has happened, or it has not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.faults import OPERATIONS, Point, Selected, Staging, leftovers
from fixtures.homes import Answer, check_receipt, new_home
from fixtures.sampling import ALL, Sample

COUNTS = [pytest.param(6, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.slow)]


class Ending(NamedTuple):
    """How an operation ends of which one call failed, and what is found then."""

    status: int
    happened: bool | None
    """`None`: half of it."""
    again: str
    """How the same command ends then."""
    said: str = ""
    """On standard error."""
    start: int = 0
    """The status of a command in the selected generation."""
    done: bool = True
    verified: str = "0 verified"
    left: tuple[str, ...] = ()


def ending(staging: Staging, answer: Answer) -> Ending:
    """Look at the home of an operation of which something failed, and do it again."""
    home, selected = staging.home, compared(staging, staging.selected)
    before, after = compared(staging, staging.before), compared(staging, staging.after)
    check_receipt(answer.value)
    start = home.say("run", "--", "python", "-c", "pass").status if home.pointer else 0
    happened = {True: True, False: None}[selected == after] if selected != before else False
    again = staging.again().gist
    done = compared(staging, staging.selected)._replace(records=[]) == after._replace(records=[])
    verified = home.ask("pm", "verify").gist
    return Ending(answer.status, happened, again, answer.stderr, start, done, verified, leftovers(home))


def compared(staging: Staging, selected: Selected) -> Selected:
    return selected._replace(locked={}) if staging.operation.can_keep_more else selected


def surprises(staging: Staging, points: Iterable[Point]) -> dict[str, Ending]:
    """Let calls fail, one at a time and each time from the beginning; return what should not have come of it."""
    operation = staging.operation
    expected = [
        # a pointer that the disk does not give is `drift`, and nobody goes on without knowing what is selected
        Ending(status=1, happened=False, again=operation.gist),
        Ending(status=3, happened=False, again=operation.gist),
        Ending(status=0, happened=not operation.gradual, again=operation.again),
    ]
    # a RECORD that cannot be read is damage of its environment: it is built again, and has another number then
    built_again = Ending(status=0, happened=None, again="2 failed unknown-generation")
    found = {}
    for point in points:
        staging.restore()
        found[str(point)] = ending(staging, staging.fail(point))
    return {
        point: end
        for point, end in found.items()
        if end not in expected
        and not (end == built_again and "rollback" in operation.words and point.endswith(".dist-info/RECORD"))
    }


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("staging", OPERATIONS, indirect=True)
def test_whatever_call_fails_an_operation_has_happened_or_says_that_it_has_not(
    staging: Staging, count: int, sample: Sample
) -> None:
    assert surprises(staging, sample(staging.fault_points(), count)) == {}


@pytest.mark.parametrize("fault", ["signal=SIGKILL", "error=ENOSPC", "error=EROFS"])
@pytest.mark.parametrize("staging", ["first install", "install", "enable"], indirect=True)
def test_when_uv_dies_or_cannot_write_an_operation_has_happened_or_says_that_it_has_not(
    staging: Staging, fault: str
) -> None:
    operation = staging.operation
    staging.restore()
    end = ending(staging, staging.fail_in_uv(Point("renameat2", 1), fault))
    # uv knows another way round some of them
    assert end in (
        Ending(status=3, happened=False, again=operation.gist),
        Ending(status=0, happened=True, again=operation.again),
    )


def test_what_cannot_be_read_now_is_not_taken_for_empty_and_written_over(tmp_path: Path, wheels: Path) -> None:
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-colors"))
    installed = home.state / "trees" / "installed.json"
    written = installed.read_bytes()
    installed.unlink()
    installed.mkdir()
    answer = home.install(home.plugin("birch", "demo-socket"))
    assert (answer.gist, home.admitted, installed.is_dir()) == ("3 failed not-writable", ["ash in default"], True)
    installed.rmdir()
    installed.write_bytes(written)
    assert home.install(home.work / "birch").gist == "0 admitted"
    assert sorted(json.loads(installed.read_text())) == [str(home.path / "plugins" / name) for name in ("ash", "birch")]
    assert leftovers(home) == ()
