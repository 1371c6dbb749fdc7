"""`Target`: the interpreter that a generation is built for, never the one that runs the manager."""

from typing import NamedTuple


class Target(NamedTuple):
    """An interpreter as far as deciding needs it."""

    name: str
    """For example `cpython-3.11.7-linux-x86_64`."""
    python: str
    """The full version, `3.11.7`."""
    environment: tuple[tuple[str, str], ...]
    """The marker environment of PEP 508, sorted by name."""
    tags: tuple[str, ...]
    """Wheel tags as `cp311-cp311-manylinux_2_17_x86_64`, the preferred one first (PEP 425)."""
