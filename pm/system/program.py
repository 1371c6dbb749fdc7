"""Under which name this program was started, and so how the commands that it prints begin."""

from __future__ import annotations

import os
import re
import sys

FRONT_DOOR = "HERMES_PM_FRONT_DOOR"
"""Is set by the front door, the program `hermes` that starts this one."""
_OWN = "hermes-pm"
_HOST = "hermes"
_COMMAND = re.compile(r'(^(?:\x1b\[[0-9;]*m)* *|`|&& |"(?:command|step)": ")hermes (?=[a-z-])', re.MULTILINE)
"""Where a command of ours stands: in backticks, at the beginning of a line, and alone in a field of JSON.

Not everywhere: what others wrote may name their host in a sentence, and stays as they wrote it."""


def called() -> str:
    """Return the name by which this program is there for the operator: without a front door that is its own."""
    through_the_door = os.environ.get(FRONT_DOOR) or os.path.basename(sys.argv[0]) == _HOST  # noqa: PTH119 - a start pays for a Path
    return _HOST if through_the_door else _OWN


def as_called(text: str) -> str:
    """Return a text in which each command begins with the name of this program: `hermes` may be another one here."""
    return text if called() == _HOST else _COMMAND.sub(rf"\1{_OWN} ", text)
