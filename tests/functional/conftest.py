"""Homes and wheels for the tests of the verbs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.same_place import tmp_path
from fixtures.server import IndexServer
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

__all__ = ["tmp_path"]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of the small index; whoever adds to it works on a copy."""
    folder = tmp_path_factory.mktemp("wheels")
    build_recipe(folder, read_recipe(DEFAULT_RECIPE))
    return folder


@pytest.fixture
def home(tmp_path: Path, wheels: Path) -> Home:
    """Return a new home that gets everything from the folder of wheels."""
    return new_home(tmp_path / "home", wheels=wheels)


@pytest.fixture
def cold(tmp_path: Path, wheels: Path) -> Home:
    """Return the same home without any state: not even its interpreter is known."""
    return new_home(tmp_path / "home", wheels=wheels, cold=True)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[IndexServer]:
    """Serve the small index on loopback."""
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as running:
        yield running


@pytest.fixture
def served(tmp_path: Path, server: IndexServer) -> Home:
    """Return a new home that gets everything from the server."""
    return new_home(tmp_path / "home", indexes=[server.url])
