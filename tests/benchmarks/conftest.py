"""The table of all comparisons: shown at the end of the run, and written as JSON where `BENCHMARKS_JSON` says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fixtures.benchmarks import Furnished, Row, as_json, table
from fixtures.growth import Measured, growth_table

CORE = "hermes-agent==0.19.0"
PROVIDERS = ("memory/mem0", "memory/hindsight", "memory/honcho", "memory/supermemory")
# what public plugins ask for most, in their spelling; all of it fits the core
ASKED = (
    ("httpx>=0.27", "pyyaml>=6.0"),
    ("requests>=2.31", "pyyaml"),
    ("httpx>=0.25.0,<1",),
    ("numpy>=1.26",),
    ("pillow>=10", "requests"),
    ("aiohttp>=3.9", "pyyaml>=6"),
    ("jsonschema>=4.0",),
    ("jinja2>=3.1",),
    ("websockets>=12",),
    ("qrcode>=7.4", "click>=8"),
)
CROWD = 50
_ROWS = pytest.StashKey[list[Row]]()
_GROWN = pytest.StashKey[list[Measured]]()


@pytest.fixture(scope="session")
def rows(pytestconfig: pytest.Config) -> list[Row]:
    """Return the rows that were measured so far; tests add theirs."""
    return pytestconfig.stash.setdefault(_ROWS, [])


@pytest.fixture
def compared(rows: list[Row]) -> Callable[..., list[Row]]:
    """Return a function that takes rows into the table, and returns those that miss their target by far."""

    def compare(*measured: Row) -> list[Row]:
        rows.extend(measured)
        return [row for row in measured if not row.is_bearable]

    return compare


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Return a home with the real core and its four memory providers switched on."""
    return Furnished(tmp_path_factory.mktemp("furnished"), CORE, PROVIDERS)


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Return the same home with fifty more plugins, which ask for what public plugins ask for."""
    furnished = Furnished(tmp_path_factory.mktemp("crowded"), CORE, PROVIDERS)
    furnished.join({f"public-{number:02}": ASKED[number % len(ASKED)] for number in range(CROWD)})
    return furnished


@pytest.fixture
def grown(pytestconfig: pytest.Config) -> Callable[[Measured], Measured]:
    """Return a function that takes what a home takes into the table of growth."""

    def take(measured: Measured) -> Measured:
        pytestconfig.stash.setdefault(_GROWN, []).append(measured)
        return measured

    return take


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the table, and write it."""
    if sizes := config.stash.get(_GROWN, []):
        terminalreporter.section("growth, in milliseconds")
        terminalreporter.write_line(growth_table(sizes))
    measured = config.stash.get(_ROWS, [])
    if not measured:
        return
    terminalreporter.section("benchmarks")
    terminalreporter.write_line(table(measured))
    if file := os.environ.get("BENCHMARKS_JSON"):
        Path(file).write_text(as_json(measured), "utf-8")
