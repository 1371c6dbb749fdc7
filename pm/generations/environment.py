"""Build an environment from a lock at its final place, and check that it is what the lock says."""

import base64
import csv
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, NoReturn

from lockfiles import Lock
from lockfiles.graph import requirement_of
from pm.generations import uv
from pm.generations.distributions import site_packages
from pm.generations.file_faults import Fault, collisions, reserved, shadowing
from pm.host.interpreter import Interpreter
from pm.index.package_sources import Sources
from pm.inside import FILE, MODULE, module_source
from pm.names import HOST_NAME
from pm.places import Places
from pm.system.files import disk_error, write_bytes

__all__ = [
    "LOCK_NAME",
    "RECORD_NAME",
    "EnvironmentCheck",
    "Fault",
    "RecordLine",
    "build_environment",
    "check_environment",
    "discard_environment",
    "own_files",
    "read_record",
    "seal",
    "site_packages",
]

LOCK_NAME = "pylock.toml"
RECORD_NAME = f"{MODULE}.RECORD"
"""Beside the lock: what the manager itself has put into the environment, in the form of a distribution's RECORD."""


def build_environment(
    places: Places,
    number: int,
    interpreter: Interpreter,
    lock_text: str,
    *,
    sources: Sources | None,
    fill: Callable[[Path], None] | None = None,
) -> Path:
    """Build `generations/<number>` with uv and return its folder; nothing else is touched, and nothing of it is run.

    Without sources it is built from uv's cache alone, and with `fill` by that and not by uv. Raise `PmError`
    (`build-failed`, `no-space`, `not-writable`); then the folder is gone again.
    """
    folder = places.generation(number)
    try:
        places.generations.mkdir(parents=True, exist_ok=True)
        folder.mkdir()  # fails for a number that is taken: what is there belongs to another generation
    except OSError as error:
        raise disk_error(error, folder) from error
    try:
        uv.create_environment(places, folder, interpreter.path)
        lock = folder / LOCK_NAME
        write_bytes(lock, lock_text.encode())
        if fill is not None:
            fill(folder)
        else:
            uv.sync(places, folder, lock, sources)
        _put_module(folder)
    except BaseException:
        with suppress(OSError):  # if that fails too, why it could not be built is what matters
            discard_environment(folder)
        raise
    return folder


def _put_module(folder: Path) -> None:
    """Write our module for what runs in the environment, by its content: it shares no file with other environments."""
    module, content = site_packages(folder) / FILE, module_source()
    write_bytes(module, content)
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    line = f"{module.relative_to(folder).as_posix()},sha256={digest},{len(content)}\n"
    write_bytes(folder / RECORD_NAME, line.encode())


def discard_environment(folder: Path) -> None:
    """Remove an environment, also one whose folders are read-only."""
    if not folder.exists():
        return
    for directory, _, _ in os.walk(folder):
        Path(directory).chmod(0o755)
    shutil.rmtree(folder, onerror=_raise_named)


def _raise_named(_: object, path: str, raised: tuple[type[BaseException], BaseException, TracebackType]) -> NoReturn:
    if isinstance(raised[1], OSError):
        raised[1].filename = path  # it names the last part only
    raise raised[1]


def seal(folder: Path) -> None:
    """Take write permission from the environment's folders, so that nobody adds a file by accident."""
    for directory, _, _ in os.walk(folder, topdown=False):
        Path(directory).chmod(0o555)


class EnvironmentCheck(NamedTuple):
    """What is wrong with an environment as it lies there."""

    drift: tuple[Fault, ...] = ()
    """By what it is not what its lock and its RECORDs say."""
    clashes: tuple[Fault, ...] = ()
    """Files that cannot lie in one environment, or not without harm."""


def check_environment(folder: Path, lock: Lock, interpreter: Interpreter) -> EnvironmentCheck:
    """Compare an environment with its lock by names, versions and file sizes, and look for files that hide others.

    Reads RECORDs and METADATA only; no interpreter is started, because that would run `.pth` files.
    """
    site = site_packages(folder)
    installed = list(_installed(site))
    records = {one.name: one.record for one in installed}
    core = lock.core.partition("==")[0]
    files = {name: {os.path.normpath(line.path): line.digest for line in lines} for name, lines in records.items()}
    drift = (
        *_compare_names(installed, lock),
        *_compare_sizes(site, records),
        *_compare_own(folder),
        *_compare_needs(installed, lock, interpreter),
    )
    clashes = (
        *collisions(files, core),
        *shadowing(files, interpreter.standard_modules, core),
        *reserved(files),
    )
    return EnvironmentCheck(drift, clashes)


class RecordLine(NamedTuple):
    """One line of a RECORD (binary distribution format)."""

    path: str
    digest: str
    """`sha256=…`; empty where the installer gave none."""
    size: int | None


def own_files(folder: Path) -> list[RecordLine]:
    """Return what the manager has put into an environment, by paths from its folder.

    The environment itself says so: another version of the manager has put something else there, and an older one
    nothing.
    """
    return read_record(folder / RECORD_NAME)


class _Distribution(NamedTuple):
    """One distribution as it lies in the site-packages."""

    name: str
    version: str
    info: Path
    """Its `.dist-info` folder."""
    record: list[RecordLine]


def _installed(site: Path) -> Iterator[_Distribution]:
    from admission import canonical_name

    for info in sorted(site.glob("*.dist-info")):
        name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        yield _Distribution(canonical_name(name), version, info, read_record(info / "RECORD"))


def read_record(path: Path) -> list[RecordLine]:
    """Return the lines of a RECORD; empty if it is missing or cannot be read."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        return [
            RecordLine(row[0], row[1], int(row[2]) if row[2] else None)
            for row in rows
            if len(row) == 3  # noqa: PLR2004 - path, hash, size
        ]
    except (OSError, ValueError, csv.Error):
        return []


def _compare_names(installed: Iterable[_Distribution], lock: Lock) -> Iterator[Fault]:
    expected = lock.versions()
    present: dict[str, list[str]] = {}
    for distribution in installed:
        present.setdefault(distribution.name, []).append(distribution.version)
    for name in sorted(expected.keys() | present.keys()):
        wanted, found = expected.get(name), present.get(name, [])
        if wanted is None:
            yield Fault("drift", f"`{name}` {found[0]} is installed and not in the lock", name)
        elif not found:
            yield Fault("drift", f"`{name}` {wanted} is in the lock and not installed", name)
        elif len(found) > 1:
            yield Fault("drift", f"`{name}` is installed in several versions at once: {', '.join(found)}", name)
        elif not _same_version(wanted, found[0]):
            yield Fault("drift", f"`{name}` is {found[0]}, the lock says {wanted}", name)


def _same_version(wanted: str, found: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(wanted) == Version(found)
    except InvalidVersion:
        return wanted == found


def _compare_needs(installed: Iterable[_Distribution], lock: Lock, interpreter: Interpreter) -> Iterator[Fault]:
    """Compare what each distribution says that it needs with the lock: an index may have said something else."""
    from packaging.specifiers import SpecifierSet

    from pm.index.metadata import Judge

    judge = Judge(interpreter.target)
    pins = {pin.name: pin for pin in lock.pins}
    gates = {lock.core.partition("==")[0], HOST_NAME}
    for name, version, info, _ in installed:
        pin = pins.get(name)
        if pin is None:
            continue
        try:
            metadata = (info / "METADATA").read_bytes()
        except OSError:  # the RECORD names it, so it is said to be missing already
            continue
        read = judge.candidate(metadata, name=name, version=version, artifact=pin.artifact, index="", extras=pin.extras)
        if read.invalid:
            yield Fault("drift", f"the METADATA of `{name}` cannot be used: {read.invalid}", name)
        for edge in read.requires:
            if edge.name in gates or edge.extra not in {"", *pin.extras}:
                continue
            needed = pins.get(edge.name)
            if needed is None or not SpecifierSet(edge.specifier).contains(needed.version, prereleases=True):
                has = f"{edge.name} {needed.version}" if needed is not None else f"no {edge.name}"
                yield Fault("drift", f"`{name}` needs `{requirement_of(edge)}` and the lock has {has}", name)


def _compare_own(folder: Path) -> Iterator[Fault]:
    for line in own_files(folder):
        try:
            size = (folder / line.path).stat().st_size
        except OSError:
            yield Fault("drift", f"`{line.path}` of the manager is missing")
            continue
        if size != line.size:
            yield Fault("drift", f"`{line.path}` of the manager has {size} bytes, its RECORD says {line.size}")


def _compare_sizes(site: Path, records: dict[str, list[RecordLine]]) -> Iterator[Fault]:
    base = os.fspath(site)
    # of a path that several write only one content is there; whether that is a fault is not a question of sizes
    sizes: dict[str, set[int | None]] = {}
    for line in (line for lines in records.values() for line in lines):
        sizes.setdefault(line.path, set()).add(line.size)
    for name, lines in records.items():
        if not lines:
            yield Fault("drift", f"`{name}` has no RECORD that can be read", name)
        for line in lines:
            try:
                size = os.stat(f"{base}/{line.path}").st_size  # noqa: PTH116 - a Path for each costs more
            except OSError:
                yield Fault("drift", f"`{line.path}` of `{name}` is missing", name)
                continue
            if line.size is not None and size not in sizes[line.path]:
                yield Fault("drift", f"`{line.path}` of `{name}` has {size} bytes, its RECORD says {line.size}", name)
