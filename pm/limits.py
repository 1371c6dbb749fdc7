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

RECORD_BYTES = Limit(
    value=16 * 1024 * 1024,
    unit="bytes",
    of="the RECORD of a wheel",
    reason="that of the largest wheels, with 20,000 files, has about 3 MB",
    unusable="the wheel, `invalid-wheel`",
)
WHEEL_FILE_BYTES = Limit(
    value=64 * 1024,
    unit="bytes",
    of="the `WHEEL` of a wheel",
    reason="real ones have some hundred bytes",
    unusable="the wheel, `invalid-wheel`",
)
ENTRY_POINTS_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes",
    of="the `entry_points.txt` of a wheel",
    reason="the largest real ones have 50 KB",
    unusable="the wheel, `invalid-wheel`",
)
PATH_FILE_BYTES = Limit(
    value=256 * 1024,
    unit="bytes",
    of="a `.pth` of a wheel",
    reason="real ones have one line",
    unusable="nothing: what comes later is not looked at for the warning `runs-at-start`",
)
PROVED_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes, unpacked",
    of="a wheel whose files a dry run compares with the hashes of its RECORD",
    reason="a verdict should not wait for that; of a larger wheel the installation compares them",
    unusable="nothing: another hash is refused once the wheel was unpacked, `invalid-wheel`",
)


def table() -> list[Limit]:
    """Return all limits, in the order in which they are written above."""
    return [value for value in globals().values() if isinstance(value, Limit)]
