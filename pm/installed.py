"""Where the distributions of an environment lie, and whether something was added to them or taken away."""

from __future__ import annotations

from pathlib import Path

from pm.errors import PmError


def site_packages(folder: Path) -> Path:
    """Return where an environment's distributions lie; raise `PmError` (`drift`) if it is not complete."""
    found = sorted((folder / "lib").glob("python3.*/site-packages"))
    if not found:
        raise PmError("drift", f"`{folder}` is not a complete environment", file=str(folder))
    return found[0]


def stamp(folder: Path) -> str:
    """Return a cheap sign that changes when a top-level name is added to or removed from the site-packages."""
    status = site_packages(folder).stat()
    return f"{status.st_ino}:{status.st_mtime_ns}"
