"""Homes and wheels for the tests of scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.hosts import host, releases
from fixtures.same_place import tmp_path
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

__all__ = ["tmp_path"]


def _kit(version: str, *requires: str) -> Distribution:
    """Return a release of a package with two modules, of which each says its version."""
    said = f"VERSION = {version!r}\n"
    return Distribution("kit", version, requires, files={"kit/__init__.py": said, "kit/late.py": said})


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of the small index, releases of `kit`, and of a host; nobody adds to it."""
    folder = tmp_path_factory.mktemp("shelf")
    more = (
        _kit("1.0"),
        _kit("2.0"),
        _kit("3.0"),
        host("0.19.0", "kit==1.0"),
        *releases("gear", v1=["kit<2"], v2=["kit>=2"]),
    )
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), *more])
    return folder


@pytest.fixture
def stocked(tmp_path: Path, shelf: Path) -> Home:
    """Return a new home that gets everything from that folder."""
    return new_home(tmp_path / "home", wheels=shelf)
