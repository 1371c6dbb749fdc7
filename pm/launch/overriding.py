"""What a host reads after its start and puts above the environment that it was given."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pm.limits import ENVIRONMENT_FILE_BYTES
from pm.places import Places
from pm.system.files import read_regular
from pm.system.managed_scope import managed_scope

_FILE = ".env"
_SET = {"HERMES_DISABLE_LAZY_INSTALLS": ("1",), "HERMES_LAZY_INSTALL_TARGET": ("",)}
"""Variable → the values that leave it as `hermes run` sets it."""
_LINE = re.compile(r"\s*(?:export\s+)?(HERMES_\w+)\s*=\s*(.*?)\s*", re.ASCII)


def overriding(places: Places, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield where the home or the administrator lets the host install into its own environment all the same."""
    for file in (places.home / _FILE, Path(managed_scope(environ)) / _FILE):
        for name, value in _values(file).items():
            if value not in _SET[name]:
                yield (
                    f"`{file}` sets `{name}`, and the host obeys the file: it may install packages into its own "
                    "environment; take the line out"
                )


def _values(file: Path) -> dict[str, str]:
    """Return what a file gives to the variables that decide; nothing of one that cannot be read."""
    try:
        text = os.fsdecode(read_regular(file, ENVIRONMENT_FILE_BYTES))
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line) if "HERMES_" in line else None
        if match is not None and match[1] in _SET:
            found[match[1]] = match[2].partition(" #")[0].strip().strip("'\"")
    return found
