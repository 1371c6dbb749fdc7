"""What limits the tests put on the reading of foreign bytes: they hold, and the damage that they do is damage."""

from __future__ import annotations

import os
import random
from pathlib import Path

from fixtures.limited import limited
from fixtures.mutations import mutated
from pm import limits
from pm.limits import table


def test_a_call_returns_within_its_limits() -> None:
    assert limited(lambda: 6 * 7) == (0, "42")


def test_a_call_that_takes_too_long_is_ended() -> None:
    def endless() -> None:
        while True:
            pass

    assert limited(endless, seconds=0.2).status is None


def test_a_call_that_waits_too_long_is_ended() -> None:
    reader, _ = os.pipe()
    assert limited(lambda: os.read(reader, 1), seconds=0.1).status is None


def test_a_call_that_takes_too_much_memory_fails() -> None:
    ending = limited(lambda: len(bytearray(200 << 20)), memory=100 << 20)
    assert (ending.status, ending.told.splitlines()[-1]) == (1, "MemoryError")


def test_damage_differs_from_the_original_and_can_be_done_again() -> None:
    original = bytes(range(256))
    damaged = [mutated(original, random.Random(number)) for number in range(200)]
    assert damaged == [mutated(original, random.Random(number)) for number in range(200)]
    assert len(set(damaged) - {original}) > 150


def test_each_limit_says_what_it_is_of_and_why() -> None:
    assert all(all(limit) for limit in table())
    assert len({limit.of for limit in table()}) == len(table())


def test_no_limit_takes_the_name_of_another() -> None:
    written = Path(limits.__file__).read_text("utf-8").count("= Limit(")
    assert len(table()) == written
