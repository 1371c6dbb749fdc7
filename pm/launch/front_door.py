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
from pm.system.program import FRONT_DOOR

NAME = "hermes"
KEPT = ".hermes.before-plugin-manager"
"""Beside a front door that took the place of another program: that one, as it was."""
_MARK = b"# The front door of the Hermes plugin manager"
# Neither the module nor the distribution of the host is named: it deletes programs of this name that name them.
_TEXT = """#!/bin/sh
{mark}: starts it as `hermes`. A start, or `link`, writes it again.
program={program}
if [ ! -x "$program" ]; then
    before=$(dirname "$0")/{kept}
    if [ -x "$before" ]; then
        echo "hermes: the plugin manager is no longer at $program; this is the hermes that was here before" >&2
        exec "$before" "$@"
    fi
    echo "hermes: the plugin manager is no longer at $program; start something with the one that is there now" >&2
    exit 127
fi
export {variable}=1
exec "$program" "$@"
"""


def front_door(places: Places) -> Path | None:
    """Return the program below the state that starts this manager, and nothing else lies in its folder.

    It is written where it is missing or leads elsewhere; `None` if that cannot be, or what runs is no program.
    """
    program = running_program()
    if program is None:
        return None
    path = places.front / NAME
    content = door_text(program)
    if not is_door_to(path, content):
        with suppress(PmError):  # a state that cannot be written has none, and starts all the same
            write_bytes(path, content, mode=0o755)
    return path if is_door_to(path, content) else None


def running_program() -> str | None:
    """Return the program that runs, without links; `None` where the manager was started in another way."""
    program = os.path.realpath(sys.argv[0])
    is_command = Path(program).name.startswith(NAME) and os.access(program, os.X_OK)
    return program if is_command and os.path.isfile(program) else None  # noqa: PTH113 - a Path raises for odd names


def door_text(program: str) -> bytes:
    """Return the content of a front door to a program."""
    text = _TEXT.format(mark=_MARK.decode(), program=_quoted(program), kept=KEPT, variable=FRONT_DOOR)
    return text.encode(errors="surrogateescape")


def _quoted(text: str) -> str:
    """Quote a path for the shell, so that it names neither the module nor the distribution of the host."""
    # `shlex` takes a millisecond to import, which every start would pay
    quoted = "'" + text.replace("'", "'\\''") + "'"
    return quoted.replace("hermes-agent", "hermes''-agent").replace("hermes_cli", "hermes''_cli")


def is_door_to(path: Path, content: bytes) -> bool:
    """Say whether a file is a front door of this content that can be started."""
    try:
        return read_regular(path) == content and os.access(path, os.X_OK)
    except OSError:
        return False


def is_door(path: Path) -> bool:
    """Say whether a file is a front door to some manager, this one or another."""
    try:
        with path.open("rb") as file:
            return not path.is_symlink() and _MARK in file.read(4096)
    except OSError:
        return False
