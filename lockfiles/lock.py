"""The values that an environment is recorded as: `Lock`, `Pin`, `Artifact`, `Edge`, and the fault of a broken one.

These nouns, and those of `admission`, are `NamedTuple`s: immutable and slotted like frozen dataclasses, and a fifth of
their import time, which a dry run pays on every call (docs/explanation/how-it-decides.md has the numbers).
"""

from collections.abc import Mapping
from typing import NamedTuple


class Owner(NamedTuple):
    """What requires a package: the core, one of its extras, a plugin, or a distribution."""

    kind: str
    """`core`, `core-extra`, `plugin` or `distribution`."""
    name: str
    """The core's distribution name, the extra, the plugin's key, or `name version` of a distribution."""

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


class Artifact(NamedTuple):
    """One file that can be installed: a wheel, or with consent a source distribution."""

    filename: str
    sha256: str
    """Lower-case hex digest of the whole file; never empty in a lock."""
    url: str = ""
    """Absolute address without credentials; empty for a file of a folder."""
    path: str = ""
    """POSIX path relative to the lock file's folder; empty for a file of an index."""
    size: int | None = None
    """Bytes."""
    upload_time: str = ""
    """ISO 8601 in UTC with `Z`, as PEP 700 gives it; empty when unknown."""

    @property
    def is_wheel(self) -> bool:
        return self.filename.endswith(".whl")


class Edge(NamedTuple):
    """One dependency of a pin on another pin."""

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()
    """Extras asked of the dependency, normalised (PEP 685), sorted."""
    marker: str = ""
    """The marker as it is written there, without its `extra` part; it holds for the lock's target."""
    extra: str = ""
    """The extra of the pin that brings this edge; empty for a plain dependency."""


class Pin(NamedTuple):
    """One distribution of a lock."""

    name: str
    """Normalised (PEP 503)."""
    version: str
    artifact: Artifact
    index: str = ""  # type: ignore[assignment]  # hides `tuple.index`, which no code asks of a pin
    """The index's address spelled as uv spells it (no trailing slash), without credentials; empty for a folder."""
    requires_python: str = ""
    extras: tuple[str, ...] = ()
    """The extras of this pin that were asked for, normalised, sorted."""
    owners: tuple[Owner, ...] = ()
    """What requires it by a requirement of its own, sorted; empty when only other pins do."""
    edges: tuple[Edge, ...] = ()


class Lock(NamedTuple):
    """What one environment for one target contains."""

    pins: tuple[Pin, ...]
    """Sorted by name; one pin per name."""
    requires_python: str = ""
    """The core's `Requires-Python`, so that an installer refuses another interpreter."""
    target: str = ""
    """The target's name, for example `cpython-3.11.7-linux-x86_64`."""
    core: str = ""
    """The core's name and version, `hermes-agent==0.19.0`."""
    fingerprint: str = ""
    """Of the inputs that were resolved (`admission.ConstraintSet.fingerprint`)."""
    exclude_newer: str = ""
    """The quarantine's instant, ISO 8601 in UTC; empty without quarantine."""
    environment: str = ""
    """A marker that holds for interpreters of the target's kind, so that an installer refuses others; empty: unsaid."""

    def pin(self, name: str) -> Pin | None:
        """Return the pin of a normalised name."""
        return next((pin for pin in self.pins if pin.name == name), None)

    def versions(self) -> dict[str, str]:
        """Return the version of each name."""
        return {pin.name: pin.version for pin in self.pins}


def environment_marker(environment: Mapping[str, str]) -> str:
    """Return a marker that holds for interpreters of this kind: same Python series, system and machine."""
    told = ("implementation_name", "platform_machine", "python_version", "sys_platform")
    return " and ".join(f"{name} == '{environment[name]}'" for name in told if name in environment)


class InvalidLock(ValueError):
    """A text, or a value, that is not a lock; it says where."""

    def __init__(self, message: str, *, line: int = 0, column: int = 0, package: str = "", key: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        """1-based, for a fault inside a package the line of its `[[packages]]`; 0 when unknown."""
        self.column = column
        """1-based; 0 when unknown."""
        self.package = package
        self.key = key
        """For example `packages[3].wheels[0].hashes`."""

    def __str__(self) -> str:
        place = [
            f"line {self.line}" if self.line else "",
            f"column {self.column}" if self.column else "",
            f"package `{self.package}`" if self.package else "",
            f"key `{self.key}`" if self.key else "",
        ]
        said = ", ".join(part for part in place if part)
        return f"{said}: {self.message}" if said else self.message
