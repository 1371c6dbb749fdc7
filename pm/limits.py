"""What others wrote is read up to a limit: one table of all limits, each with its reason (docs/reference/limits.md)."""

from typing import NamedTuple


class Limit(NamedTuple):
    """How much of one thing is read, and why no more."""

    value: int
    unit: str
    of: str
    reason: str
    unusable: str
    """What is unusable beyond the limit, and with which code."""


DECLARATION_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes",
    of="a declaration file: `plugin.yaml`, `plugin.json`, `pyproject.toml`, a requirements file",
    reason="real ones have a few hundred bytes, the largest known 40 KB",
    unusable="the plugin, `invalid-declaration`",
)


def table() -> list[Limit]:
    """Return all limits, in the order in which they are written above."""
    return [value for value in globals().values() if isinstance(value, Limit)]
