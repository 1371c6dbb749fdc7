"""Build an environment from a lock at its final place, and check that it is what the lock says."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from lockfiles import Lock
from pm import uv
from pm.atomic import disk_error, write_bytes
from pm.errors import PmError
from pm.interpreter import Interpreter
from pm.places import Places
from pm.sources import Sources

LOCK_NAME = "pylock.toml"


class Fault(NamedTuple):
    """One way in which an environment is not what its lock says."""

    code: str
    """`drift`, `file-collision` or `module-shadowing`."""
    message: str
    package: str = ""
    others: tuple[str, ...] = ()
    """Further distributions that take part."""
    harmless: bool = False
    """Worth a warning and no refusal."""


def build_environment(
    places: Places, number: int, interpreter: Interpreter, lock_text: str, *, sources: Sources | None
) -> Path:
    """Build `generations/<number>` with uv and return its folder; nothing else is touched, and nothing of it is run.

    Without sources it is built from uv's cache alone. Raise `PmError` (`build-failed`, `no-space`, `not-writable`);
    then the folder is gone again.
    """
    folder = places.generation(number)
    try:
        places.generations.mkdir(parents=True, exist_ok=True)
        uv.create_environment(places, folder, interpreter.path)
        lock = folder / LOCK_NAME
        write_bytes(lock, lock_text.encode())
        uv.sync(places, folder, lock, sources)
    except OSError as error:
        discard_environment(folder)
        raise disk_error(error, folder) from error
    except PmError as error:
        full = _no_space(folder.parent)
        discard_environment(folder)
        if full is not None:
            raise full from error
        raise
    return folder


def discard_environment(folder: Path) -> None:
    """Remove an environment, also one whose folders are read-only."""
    if not folder.exists():
        return
    for directory, _, _ in os.walk(folder):
        Path(directory).chmod(0o755)
    shutil.rmtree(folder)


def seal(folder: Path) -> None:
    """Take write permission from the environment's folders, so that nobody adds a file by accident."""
    for directory, names, _ in os.walk(folder, topdown=False):
        for name in names:
            path = Path(directory, name)
            if not path.is_symlink():
                path.chmod(0o555)


def site_packages(folder: Path) -> Path:
    """Return where an environment's distributions lie."""
    found = sorted((folder / "lib").glob("python3.*/site-packages"))
    if not found:
        raise PmError("drift", f"`{folder}` is not a complete environment", file=str(folder))
    return found[0]


def stamp(folder: Path) -> str:
    """Return a cheap sign that changes when a top-level name is added to or removed from the site-packages."""
    status = site_packages(folder).stat()
    return f"{status.st_ino}:{status.st_mtime_ns}"


def check_environment(folder: Path, lock: Lock, interpreter: Interpreter) -> list[Fault]:
    """Compare an environment with its lock by names, versions and file sizes, and look for files that hide others.

    Reads RECORDs and METADATA only; no interpreter is started, because that would run `.pth` files.
    """
    site = site_packages(folder)
    records = {name: record for name, _, record in _distributions(site)}
    core = lock.core.partition("==")[0]
    core_modules = frozenset(line.path for line in records.get(core, ()) if "/" not in line.path)
    return [
        *_compare_names(site, lock),
        *_compare_sizes(site, records),
        *_collisions(records),
        *shadowing(records, interpreter.standard_modules, core_modules, core),
    ]


class RecordLine(NamedTuple):
    """One line of a RECORD (binary distribution format)."""

    path: str
    digest: str
    """`sha256=…`; empty where the installer gave none."""
    size: int | None


def _distributions(site: Path) -> Iterator[tuple[str, str, list[RecordLine]]]:
    """Yield name, version and RECORD of each distribution."""
    from admission import canonical_name

    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        yield canonical_name(name), version, read_record(info / "RECORD")


def read_record(path: Path) -> list[RecordLine]:
    """Return the lines of a RECORD; empty if it is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [
        RecordLine(row[0], row[1], int(row[2]) if row[2] else None)
        for row in csv.reader(text.splitlines())
        if len(row) == 3  # noqa: PLR2004 - path, hash, size
    ]


def _compare_names(site: Path, lock: Lock) -> Iterator[Fault]:
    from packaging.version import InvalidVersion, Version

    expected = lock.versions()
    present: dict[str, str] = {name: version for name, version, _ in _distributions(site)}
    for name in sorted(expected.keys() | present.keys()):
        wanted, found = expected.get(name), present.get(name)
        if wanted is None:
            yield Fault("drift", f"`{name}` {found} is installed and not in the lock", name)
        elif found is None:
            yield Fault("drift", f"`{name}` {wanted} is in the lock and not installed", name)
        else:
            try:
                same = Version(wanted) == Version(found)
            except InvalidVersion:
                same = wanted == found
            if not same:
                yield Fault("drift", f"`{name}` is {found}, the lock says {wanted}", name)


def _compare_sizes(site: Path, records: dict[str, list[RecordLine]]) -> Iterator[Fault]:
    base = os.fspath(site)
    for name, lines in records.items():
        if not lines:
            yield Fault("drift", f"`{name}` has no RECORD", name)
        for line in lines:
            try:
                size = os.stat(f"{base}/{line.path}").st_size  # noqa: PTH116 - a Path for each costs more
            except OSError:
                yield Fault("drift", f"`{line.path}` of `{name}` is missing", name)
                continue
            if line.size is not None and size != line.size:
                yield Fault("drift", f"`{line.path}` of `{name}` has {size} bytes, its RECORD says {line.size}", name)


def _collisions(records: dict[str, list[RecordLine]]) -> Iterator[Fault]:
    """Name distributions that write one path with different content: the last one wins, the others are broken."""
    writers: dict[str, dict[str, str]] = {}
    for name, lines in records.items():
        for line in lines:
            if line.digest and ".dist-info/" not in line.path:
                writers.setdefault(os.path.normpath(line.path), {})[name] = line.digest
    pairs: dict[tuple[str, ...], list[str]] = {}
    for path, by_name in writers.items():
        if len(set(by_name.values())) > 1:
            pairs.setdefault(tuple(sorted(by_name)), []).append(path)
    for names, paths in sorted(pairs.items()):
        yield collision(names, sorted(paths))


def collision(names: tuple[str, ...], paths: list[str]) -> Fault:
    """Return the fault of distributions that write the same paths."""
    listed = " and ".join(f"`{name}`" for name in names)
    more = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
    return Fault("file-collision", f"{listed} write `{paths[0]}`{more} with different content", names[0], names[1:])


def shadowing(
    records: dict[str, list[RecordLine]], standard: frozenset[str], core_modules: frozenset[str], core: str
) -> Iterator[Fault]:
    """Name packages that hide a module of the core, and modules that the standard library hides from everybody.

    A package folder wins over a module file beside it, so a distribution's `utils/__init__.py` hides the core's
    `utils.py`. The standard library comes first on the path: a back-port such as `argparse` is never imported.
    """
    for name, lines in sorted(records.items()):
        paths = {line.path for line in lines}
        if name == core:
            continue
        for module in sorted(top_level_names(paths)):
            if module in standard:
                text = f"`{name}` brings a module `{module}` that is never imported: the standard library has one"
                yield Fault("module-shadowing", text, name, harmless=True)
            elif f"{module}.py" in core_modules and f"{module}/__init__.py" in paths:
                text = f"`{name}` brings a package `{module}` that hides the core's module of that name"
                yield Fault("module-shadowing", text, name, (core,))


def top_level_names(paths: Iterable[str]) -> set[str]:
    """Return the importable top-level names among installed paths."""
    names: set[str] = set()
    for path in paths:
        first, _, rest = path.partition("/")
        if first.startswith("..") or first.endswith((".dist-info", ".data")) or first == "__pycache__":
            continue
        if rest:
            names.add(first)
        elif first.endswith((".py", ".so", ".pyd")):
            names.add(first.split(".")[0])
    return {name for name in names if name.isidentifier()}


def _no_space(folder: Path) -> PmError | None:
    """Return `no-space` if the disk is full now: what uv says is not parsed."""
    usage = shutil.disk_usage(folder)
    if usage.free < _LOW_SPACE:
        text = f"the disk of `{folder}` is full: {usage.free} bytes are free"
        return PmError("no-space", text, file=str(folder), hint="free some space and run it again; nothing was changed")
    return None


_LOW_SPACE = 8 * 1024 * 1024
