"""The front door: a `hermes` that starts this manager, found first by whatever runs in a generation.

A host calls itself by its name (`which hermes`): that must lead through the manager, for the command of the generation
would change its own environment.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from pm.errors import PmError
from pm.places import Places
from pm.system.files import read_regular, write_bytes

NAME = "hermes"
# Neither the module nor the distribution of the host is named: it deletes programs of this name that name them.
_TEXT = """#!/bin/sh
# Starts the plugin manager. It is written again by the manager that starts something here, wherever that lies then.
program={program}
if [ ! -x "$program" ]; then
    echo "hermes: the plugin manager is no longer at $program; start something with the one that is there now" >&2
    exit 127
fi
exec "$program" "$@"
"""


def front_door(places: Places) -> Path | None:
    """Return the program below the state that starts this manager, and nothing else lies in its folder.

    It is written where it is missing or leads elsewhere; `None` if that cannot be, or what runs is no program.
    """
    program = _running()
    if program is None:
        return None
    path = places.state / "front" / NAME
    content = _TEXT.format(program=_quoted(program)).encode(errors="surrogateescape")
    if not _is(path, content):
        with suppress(PmError):  # a state that cannot be written has none, and starts all the same
            write_bytes(path, content, mode=0o755)
    return path if _is(path, content) else None


def _running() -> str | None:
    """Return the program that runs, without links; `None` where the manager was started in another way."""
    program = os.path.realpath(sys.argv[0])
    is_command = Path(program).name.startswith(NAME) and os.access(program, os.X_OK)
    return program if is_command and os.path.isfile(program) else None  # noqa: PTH113 - a Path raises for odd names


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"  # `shlex` takes a millisecond to import, which every start would pay


def _is(path: Path, content: bytes) -> bool:
    try:
        return read_regular(path) == content and os.access(path, os.X_OK)
    except OSError:
        return False
