"""Wheels and staged operations for the tests of what is promised."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.faults import MORE_OPERATIONS, OPERATIONS, Staging
from fixtures.homes import new_home
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of the small index; nobody adds to it."""
    folder = tmp_path_factory.mktemp("wheels")
    build_recipe(folder, read_recipe(DEFAULT_RECIPE))
    return folder


@pytest.fixture(scope="module")
def staging(
    tmp_path_factory: pytest.TempPathFactory,
    wheels: Path,
    require_tool: Callable[[str], Path],
    request: pytest.FixtureRequest,
) -> Staging:
    """Return the operation that is named; whoever uses it restores the home before."""
    home = new_home(tmp_path_factory.mktemp("staging") / "home", wheels=wheels)
    return Staging(home, (OPERATIONS | MORE_OPERATIONS)[request.param], require_tool("strace"))
