"""The verdict on one more plugin grows no faster with the number of plugins than reading all of them does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from admission import Admitted, decide
from fixtures.benchmarks import Row, race, timed
from fixtures.crowds import Crowd, crowd
from pm.plugins.declaration_cache import Rules, read_declaration_cached

pytestmark = pytest.mark.slow

ROUNDS = 7


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
