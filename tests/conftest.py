"""What every test can rely on: a home of its own, and tools that are there or reported."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Where the tests were started in the background, Ctrl-C is ignored, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A machine that does other work too must not fail a test by being slow.
settings.register_profile("unhurried", deadline=None, parent=settings())
settings.load_profile("unhurried")


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
