"""The embedded core: the wheel of a host that travels inside the manager's own distribution."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from pm.dist_info import ENDING, RECORD, record_lines
from pm.errors import PmError

_MANAGER = "hermes-plugin-manager"
_RECORDS = f"hermes_plugin_manager-*{ENDING}/{RECORD}"
_WHEEL = "hermes_embedded_core-*.whl"


def embedded_core_wheel() -> Path:
    """Return the embedded core's wheel as it lies in this installation of the manager.

    Raise `PmError` (`not-found-on-index`) if this installation has none.
    """
    wheel = next((wheel for wheel in _recorded_wheels() if wheel.is_file()), None)
    if wheel is None:
        raise PmError(
            "not-found-on-index",
            f"the embedded core's wheel is missing from this installation of `{_MANAGER}`",
            hint=f"install `{_MANAGER}` again, or name another core with `--core`",
        )
    return wheel.resolve()


def _recorded_wheels() -> Iterator[Path]:
    """Yield what the installer recorded; read by ourselves, because `importlib.metadata` takes 30 ms to import.

    By its record and not beside this file: an editable install imports `pm` from the checkout, while the wheel, which
    a build made, lies in site-packages.
    """
    for entry in sys.path:
        for record in Path(entry).glob(_RECORDS):
            for line in record_lines(record.read_text(encoding="utf-8")):
                if line.path.endswith(".whl") and Path(line.path).match(_WHEEL):
                    yield Path(entry, line.path)


def spoken_version(wheel: Path) -> str:
    """Return the version of the Hermes contract that an embedded core answers to `requires_hermes`."""
    import tomllib
    from zipfile import ZipFile

    name, version, *_ = wheel.name.split("-")
    with ZipFile(wheel) as archive:
        text = archive.read(f"{name}-{version}{ENDING}/extra_metadata/pyproject.toml").decode()
    speaks: str = tomllib.loads(text)["tool"]["hermes-pm"]["speaks"]
    return speaks
