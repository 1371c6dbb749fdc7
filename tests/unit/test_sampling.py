"""The sample that a test draws: repeatable by its seed, spread over all points, and in time every one of them."""

from __future__ import annotations

import pytest

from fixtures.sampling import ALL, SEED, Sample, seed_of_this_run

POINTS = list(range(100))


def test_the_same_seed_and_test_draw_the_same_and_others_draw_others() -> None:
    drawn = [Sample(seed, name)(POINTS, 9) for seed, name in (("1", "a"), ("1", "a"), ("1", "b"), ("2", "a"))]
    assert (drawn[0] == drawn[1], drawn[0] != drawn[2], drawn[0] != drawn[3]) == (True, True, True)


@pytest.mark.parametrize("count", [1, 3, 9, 99])
def test_one_point_is_drawn_from_each_stretch_and_every_point_can_be(count: int) -> None:
    samples = [Sample(str(seed), "")(POINTS, count) for seed in range(2000)]
    assert {len(sample) for sample in samples} == {count}
    assert all(sample == sorted(set(sample)) for sample in samples)
    assert all(
        100 * n // count <= point < 100 * (n + 1) // count for sample in samples for n, point in enumerate(sample)
    )
    assert {point for sample in samples for point in sample} == set(POINTS)


@pytest.mark.parametrize("count", [100, 101, ALL])
def test_if_as_many_are_wanted_as_there_are_all_are_drawn(count: int) -> None:
    assert (Sample("1", "")(POINTS, count), Sample("1", "")([], count)) == (POINTS, [])


def test_a_seed_that_is_given_is_the_one_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SEED, "17")
    assert seed_of_this_run() == "17"
    monkeypatch.delenv(SEED)
    drawn = seed_of_this_run()
    assert seed_of_this_run() == drawn
