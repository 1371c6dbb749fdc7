"""The one module that the manager puts into every generation (docs/reference/generation-module.md).

The manager imports it too: whether a process must be started again is judged by the same lines on both sides.
"""

from pathlib import Path

MODULE = "_hermes_pm"
FILE = f"{MODULE}.py"


def module_source() -> bytes:
    """Return the module as it is written into a generation: always these bytes, from this version of the manager."""
    return Path(__file__).with_name(FILE).read_bytes()
