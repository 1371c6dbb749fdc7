"""Where the distributions of an environment lie, and whether something was added to them or taken away."""

from __future__ import annotations

import re
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


def foreign_distributions(folder: Path) -> tuple[list[str], list[str]]:
    """Return the names of distributions that somebody has added to an environment and taken from it, sorted.

    Told from the names of folders and from the lock beside them; nothing for a lock that cannot be read.
    """
    import tomllib

    try:
        lock = tomllib.loads((folder / "pylock.toml").read_text(encoding="utf-8"))
        locked = {str(package["name"]) for package in lock["packages"]}
    except (OSError, ValueError, LookupError, TypeError):
        return [], []
    infos = site_packages(folder).glob("*.dist-info")
    there = {re.sub(r"[-_.]+", "-", info.stem.rpartition("-")[0]).lower() for info in infos}
    return sorted(there - locked), sorted(locked - there)
