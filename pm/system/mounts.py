"""What is a mount of its own: it cannot be replaced by a rename, whatever a user may do."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_POINT, _ROOT = 4, 3
"""Fields of a line: where it is mounted, and which part of its file system."""


def mounted_at(path: Path) -> str | None:
    """Return what is mounted at just this path, as its system names it; `None` if nothing is, or that is not known."""
    wanted = os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - `realpath` gives a text
    try:
        lines = os.fsdecode(_MOUNTS.read_bytes()).splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        fields = line.split(" ")
        if len(fields) > _POINT and _plain(fields[_POINT]) == wanted:
            return _plain(fields[_ROOT])
    return None


def _plain(field: str) -> str:
    """Return a field without the escapes that it has for blanks and line breaks."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), field)
