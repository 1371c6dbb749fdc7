"""No verb grows faster with the number of plugins than the number of packages does, and no verdict than reading."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from uv import find_uv_bin

from admission import Admitted, decide
from fixtures.benchmarks import Program, Row, race, timed
from fixtures.crowds import Crowd, crowd
from fixtures.growth import Measured, measured, too_fast
from fixtures.histories import CLIENTS, chained
from fixtures.homes import HERMES, new_home
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe
from pm.plugins.declaration_cache import Rules, read_declaration_cached

pytestmark = pytest.mark.slow

ROUNDS = 7
SIZES = (1, 10, 50, 100, 200)
_TOLERANCE = 2.0
"""By how much a verb may grow faster before the test fails: a busy machine is no fault."""


def read_all(folders: list[Path]) -> None:
    """Read the plugins as a dry run does that has seen all of them before."""
    rules = Rules(frozenset({"hermes-agent"}), cache_directory=folders[0].parent / "cache")
    for folder in folders:
        read_declaration_cached(folder, rules)


@pytest.fixture
def few(tmp_path: Path) -> Crowd:
    return crowd(10, tmp_path / "few")


@pytest.fixture
def many(tmp_path: Path) -> Crowd:
    return crowd(100, tmp_path / "many")


def test_the_verdict_on_one_more_grows_no_faster_than_reading_them(
    few: Crowd, many: Crowd, compared: Callable[..., list[Row]]
) -> None:
    assert [type(decide(one.question, one.facts)) for one in (few, many)] == [Admitted, Admitted]
    ms = race(
        {
            "few": timed(lambda: decide(few.question, few.facts)),
            "many": timed(lambda: decide(many.question, many.facts)),
            "reading few": timed(lambda: read_all(few.folders)),
            "reading many": timed(lambda: read_all(many.folders)),
        },
        ROUNDS,
    )
    grown, reading = ms["many"] / ms["few"], ms["reading many"] / ms["reading few"]
    missed = compared(
        Row("growth 10 to 100 plugins, verdict : reading", grown, reading, 1.0, "times"),
        Row("verdict on one more of 10 : reading them", ms["few"], ms["reading few"], 3.0),
        Row("verdict on one more of 100 : reading them", ms["many"], ms["reading many"], 3.0),
    )
    assert missed == []


def test_no_verb_grows_faster_than_the_number_of_packages(
    tmp_path: Path, grown: Callable[[Measured], Measured]
) -> None:
    sizes = [grown(measured(size, tmp_path / str(size))) for size in SIZES]
    assert too_fast(sizes, _TOLERANCE) == []


@pytest.mark.parametrize("releases", [120, 240])
def test_a_conflict_behind_a_long_history_is_found_in_a_few_times_of_what_uv_takes_for_it(
    tmp_path: Path, compared: Callable[..., list[Row]], releases: int
) -> None:
    """Fault D2: all caches are cold, and the wheels lie in a folder."""
    wheels, cache, asked = tmp_path / "wheels", tmp_path / "uv", tmp_path / "asked.in"
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), *chained(releases), *CLIENTS])
    home = new_home(tmp_path / "home", wheels=wheels)
    home.ask("pm", "init")
    plugin = home.plugin("birch", "svc", "cappy")
    asked.write_text("svc\ncappy\n", "utf-8")

    def emptied() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(home.state / "cache" / "facts", ignore_errors=True)

    words = ("pip", "compile", "--quiet", "--no-index", "--find-links", wheels, "--cache-dir", cache, asked)
    uv = Program((find_uv_bin(), *words), home.environ, tmp_path, status=1, before=emptied)
    ours = Program((HERMES, "plugins", "check", plugin), home.environ, home.work, status=1, before=emptied)
    ms = race({"ours": ours.milliseconds, "uv": uv.milliseconds}, 3)
    assert compared(Row(f"conflict behind {releases} releases, cold : compile, cold", ms["ours"], ms["uv"], 10.0)) == []
