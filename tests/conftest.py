"""What every test can rely on: a home of its own, and tools that are there or reported."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from fixtures.sampling import SEED, Sample, seed_of_this_run

# Where the tests were started in the background or by `nohup`, signals are ignored, and what they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A machine that does other work too must not fail a test by being slow; in every run, also of CI, other examples.
settings.register_profile("full", deadline=None, derandomize=False, max_examples=200, parent=settings())
settings.register_profile("fast", max_examples=40, parent=settings.get_profile("full"))
settings.load_profile("fast")


_SEED = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Have one seed for all processes of a run."""
    config.stash[_SEED] = seed_of_this_run()


def pytest_report_header(config: pytest.Config) -> str:
    """Tell the seed."""
    return f"{SEED}={config.stash[_SEED]}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Tell the seed where there is no header, which `-q` leaves out."""
    if not terminalreporter.showheader:
        terminalreporter.write_line(f"{SEED}={config.stash[_SEED]}")


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Sample:
    """Return what draws a part of many points for this test: in every run another one, for the same seed the same."""
    return Sample(request.config.stash[_SEED], request.node.nodeid)


@pytest.fixture(autouse=True, scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the home of whoever runs the tests out of reach, and let Python write bytecode as it does for users."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("HERMES_")]:
            patch.delenv(name)
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.delenv("COLUMNS", raising=False)  # text is as wide as it says
        patch.setenv("HERMES_HOME", str(tmp_path_factory.mktemp("home-of-nobody")))
        yield


@pytest.fixture(scope="session")
def require_tool() -> Callable[[str], Path]:
    """Return a function that finds a program, or skips the test; where CI is true it fails instead."""
    return _required_tool


def _required_tool(name: str) -> Path:
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    reason = f"`{name}` is not installed; .ci/run lists the package that brings it"
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
