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
SHOWN_VALUE = Limit(
    value=200,
    unit="characters",
    of="a name, a version or another value of others where a sentence quotes it",
    reason="longer ones hide what the sentence says",
    unusable="the rest: `…` stands for it",
)
SHOWN_LINE = Limit(
    value=4000,
    unit="characters",
    of="a line of a text of others where it is shown",
    reason="several screens have as many",
    unusable="the rest: `…` stands for it",
)
SHOWN_LINES = Limit(
    value=30,
    unit="lines",
    of="what uv or a build said, where a message shows it",
    reason="an error stands at the end, in fewer lines",
    unusable="what was said before",
)


def table() -> list[Limit]:
    """Return all limits, in the order in which they are written above."""
    return [value for value in globals().values() if isinstance(value, Limit)]
