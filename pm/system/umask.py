"""What the manager writes is writable by its owner alone, whatever the mask of the caller allows."""

from __future__ import annotations

import os

_OTHERS = 0o022
"""The right to write of the group and of everyone."""
_GIVEN: list[int] = []
"""The mask that the command was started with."""


def keep_others_out() -> None:
    """Take the right to write from all but the owner of what this process and its programs make from now on."""
    given = os.umask(_OTHERS)
    _GIVEN[:] = [given]
    os.umask(given | _OTHERS)


def as_given() -> None:
    """Go back to the mask that the command was started with: what it becomes makes files of its own."""
    for mask in _GIVEN:
        os.umask(mask)
