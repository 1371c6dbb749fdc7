"""Wheels and staged operations for the tests of what is promised."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from fixtures.faults import MORE_OPERATIONS, OPERATIONS, Staging
from fixtures.homes import new_home
from fixtures.same_place import tmp_path
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

__all__ = ["tmp_path"]


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheels of the small index; nobody adds to it."""
    folder = tmp_path_factory.mktemp("wheels")
    build_recipe(folder, read_recipe(DEFAULT_RECIPE))
    return folder


@pytest.fixture(scope="session")
def staged(
    tmp_path_factory: pytest.TempPathFactory, wheels: Path, require_tool: Callable[[str], Path]
) -> Callable[[str], Staging]:
    """Return a function that prepares an operation, each of them once."""
    strace = require_tool("strace")

    @cache
    def prepared(name: str) -> Staging:
        home = new_home(tmp_path_factory.mktemp("staging") / "home", wheels=wheels)
        return Staging(home, (OPERATIONS | MORE_OPERATIONS)[name], strace)

    return prepared


@pytest.fixture
def staging(staged: Callable[[str], Staging], request: pytest.FixtureRequest) -> Staging:
    """Return the operation that is named; whoever uses it restores the home before."""
    return staged(request.param)
