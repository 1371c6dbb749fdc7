"""What the manager puts into every generation: one module (docs/reference/generation-module.md), and one word.

The manager imports the module too: whether a process must be started again is judged by the same lines on both sides.
"""

from pathlib import Path

MODULE = "_hermes_pm"
FILE = f"{MODULE}.py"
HOST_MARK = ".install_method"
"""Beside the host's code: how it was installed. A host that finds a word that it does not know installs no update."""
HOST_MARK_TEXT = b"hermes-plugin-manager\n"


def module_source() -> bytes:
    """Return the module as it is written into a generation: always these bytes, from this version of the manager."""
    return Path(__file__).with_name(FILE).read_bytes()
