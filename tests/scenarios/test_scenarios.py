"""Each scenario is played from its first command to its last, and gives what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.scenario_files import play, scenario_names


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_gives_what_it_says(name: str, tmp_path: Path) -> None:
    given, expected = play(name, tmp_path)
    assert given == expected
