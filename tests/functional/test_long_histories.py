"""What lies behind a long history is asked of an index once, and with a cold cache comes out as with a warm one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.histories import CLIENTS, chained
from fixtures.homes import Home, new_home
from fixtures.server import IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, read_recipe

RELEASES = 40


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    distributions = [*read_recipe(DEFAULT_RECIPE), *chained(RELEASES), *CLIENTS]
    with IndexServer(tmp_path / "files", distributions, shape=Shape(announces_metadata=True)) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, server: IndexServer) -> Home:
    home = new_home(tmp_path / "home", indexes=[server.url])
    home.ask("pm", "init")
    return home


def test_each_page_and_each_metadata_is_asked_for_once(home: Home, server: IndexServer) -> None:
    """Fault D2."""
    server.asked.clear()
    answer = home.ask("plugins", "check", home.plugin("birch", "svc", "cappy"))
    times = Counter(server.paths())
    assert answer.gist == "1 refused conflict"
    assert {path: count for path, count in times.items() if count > 1} == {}
    assert sum(path.startswith("/simple/") for path in times) == 4
    assert sum(path.endswith(".metadata") for path in times) == 2 * RELEASES + 3


def test_a_second_look_asks_for_no_metadata_and_says_the_same(home: Home, server: IndexServer) -> None:
    birch = home.plugin("birch", "svc", "cappy")
    cold = home.ask("plugins", "check", birch).value
    server.asked.clear()
    warm = home.ask("plugins", "check", birch).value
    assert (warm["reasons"], warm["steps"]) == (cold["reasons"], cold["steps"])
    assert server.paths("*.metadata") == []
