"""Build an environment from a lock at its final place, and check that it is what the lock says."""

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from admission import Candidate, Target
from lockfiles import Lock, Pin, pylock
from lockfiles.graph import requirement_of
from pm.dist_info import RecordLine
from pm.generations import uv
from pm.generations.distributions import (
    LOCK_NAME,
    InstalledDistribution,
    digest_of,
    digest_of_file,
    installed,
    interpreter_in,
    lines_of,
    lists_itself,
    own_files,
    own_record,
    site_packages,
    write_lines,
)
from pm.generations.file_faults import Fault, Sharing, collisions, flaw, odd, shadowing
from pm.generations.shared_paths import contested, plain, winners
from pm.host.interpreter import Interpreter
from pm.index.own_paths import bytes_to_read, is_own, oddities, reserved, to_be_read
from pm.index.package_sources import Sources
from pm.inside import FILE, HOST_MARK, HOST_MARK_TEXT, module_source
from pm.names import HOST_NAME, shown
from pm.places import EnvironmentNumber, Places
from pm.system.files import disk_error, write_bytes
from pm.system.folders import remove_tree

if TYPE_CHECKING:
    from pm.index.metadata import Judge

_OVERWRITING = "pylock.overwriting.toml"
"""Beside the lock, which names wheels relative to it, and only while it is used."""


def build_environment(
    places: Places,
    number: EnvironmentNumber,
    interpreter: Interpreter,
    lock_text: str,
    *,
    sources: Sources | None,
    fill: Callable[[Path], None] | None = None,
) -> Path:
    """Build `generations/<number>` with uv and return its folder; nothing else is touched, and nothing of it is run.

    Without sources it is built from uv's cache alone, and with `fill` by that and not by uv. Raise `PmError`
    (`install-failed`, `no-interpreter`, `no-space`, `not-writable`); then the folder is gone again.
    """
    folder = places.environment(number)
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
        _put_own(folder)
    except BaseException:
        with suppress(OSError):  # if that fails too, why it could not be built is what matters
            remove_tree(folder)
        raise
    return folder


def settle_collisions(
    places: Places, folder: Path, lock: Lock, sharing: Sequence[str], *, sources: Sources | None
) -> None:
    """Let each path that several distributions write have the file of the last one by name; uv leaves that open.

    `sharing` are their names, sorted. Raise `PmError` (`install-failed`).
    """
    file = folder / _OVERWRITING
    for pin in (lock.pin(name) for name in sharing[1:]):
        if pin is not None:
            write_bytes(file, pylock.dumps(lock._replace(pins=(pin._replace(edges=()),))).encode())
            uv.overwrite(places, folder, file, sources)
            file.unlink()


def _put_own(folder: Path) -> None:
    """Write what is ours for what runs in the environment, by its content: no file is shared with others."""
    site = site_packages(folder)
    lines = []
    for name, content in ((FILE, module_source()), (HOST_MARK, HOST_MARK_TEXT)):
        write_bytes(site / name, content)
        lines.append(RecordLine((site / name).relative_to(folder).as_posix(), digest_of(content), len(content)))
    write_lines(own_record(folder), lines)


def seal(folder: Path) -> None:
    """Take write permission from the environment's folders, so that no file is added by accident."""
    left = [os.fspath(folder)]
    while left:
        directory = left.pop()
        with os.scandir(directory) as entries:
            left += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        Path(directory).chmod(0o555)


class EnvironmentCheck(NamedTuple):
    """What is wrong with an environment as it lies there."""

    drift: tuple[Fault, ...] = ()
    """By what it is not what its lock and its RECORDs say."""
    clashes: tuple[Fault, ...] = ()
    """Files that cannot lie in one environment, or not without harm."""
    unsettled: tuple[Fault, ...] = ()
    """Where several distributions write one path, and what lies there is not the file of the last one by name."""
    sharing: tuple[str, ...] = ()
    """Distributions that write such paths, sorted: right after a build it is open whose file lies there."""
    compared: float = 0.0
    """When the files were compared with the RECORDs of what uv has unpacked; 0 if it has unpacked nothing."""


def check_environment(
    folder: Path,
    lock: Lock,
    interpreter: Interpreter,
    compared: Mapping[str, float] | None = None,
    *,
    allow_collision: Collection[str] = (),
) -> EnvironmentCheck:
    """Compare an environment with its lock by names, versions and file sizes, and look for files that hide others.

    `compared` says since when the files of a distribution are known as whole: the content of what was written later is
    compared too, and all of a distribution that it does not name. Without it no content is compared. No interpreter is
    started, because that would run `.pth` files. Raise `PmError` (`drift`) for an environment that is not complete.
    """
    site = site_packages(folder)
    distributions = list(installed(site))
    records = {one.name: lines_of(one) for one in distributions}
    core = lock.core.partition("==")[0]
    # of other digests it is not known whether two of them are of one content
    files = {
        name: {plain(line.path): line.digest if line.has_sha256 else "" for line in lines}
        for name, lines in records.items()
    }
    shared = contested(files)
    found = dict(_compare_files(site, records, compared))
    drift = (
        *_compare_names(distributions, lock),
        *_compare_records(distributions, records),
        *(fault for path, fault in found.items() if path not in shared),
        *_compare_interpreter(folder),
        *_compare_own(folder),
        *_compare_needs(distributions, lock, interpreter),
    )
    clashes = (
        *_reserved(files),
        *collisions(files, core, Sharing(lock, frozenset(allow_collision))),
        *shadowing(files, interpreter.standard_modules, core),
        *odd({name: oddities(written, partial(_head, site)) for name, written in files.items()}),
    )
    unsettled = tuple(fault for path, fault in found.items() if path in shared)
    sharing = tuple(sorted({name for names in shared.values() for name in names}))
    return EnvironmentCheck(drift, clashes, unsettled, sharing)


def foresee(folder: Path, lock: Lock, interpreter: Interpreter) -> None:
    """Read what the distributions of an environment say of themselves; most of those of the next one say the same.

    What was read is remembered by its content, so `check_environment` is right whatever was foreseen, and quicker.
    """
    distributions = list(installed(site_packages(folder)))
    for distribution in distributions:
        lines_of(distribution)
    for _ in _compare_needs(distributions, lock, interpreter):
        pass


def _reserved(files: Mapping[str, Iterable[str]]) -> Iterator[Fault]:
    for name, written in files.items():
        path = min(filter(is_own, written), default="")
        if path:
            yield flaw(name, reserved(path))


def _head(site: Path, path: str) -> bytes:
    """Return the first bytes of an installed file; nothing of one that is gone, which is said anyway."""
    if not to_be_read(path):
        return b""
    try:
        with (site / path).open("rb") as file:
            return file.read(bytes_to_read(path))
    except OSError:
        return b""


def _compare_names(distributions: Iterable[InstalledDistribution], lock: Lock) -> Iterator[Fault]:
    expected = lock.versions()
    present: dict[str, list[str]] = {}
    for distribution in distributions:
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


def _compare_needs(
    distributions: Iterable[InstalledDistribution], lock: Lock, interpreter: Interpreter
) -> Iterator[Fault]:
    """Compare what each distribution says that it needs with the lock: an index may have said something else."""
    from packaging.specifiers import SpecifierSet

    pins = {pin.name: pin for pin in lock.pins}
    gates = {lock.core.partition("==")[0], HOST_NAME}
    for distribution in distributions:
        name, version, _ = distribution
        pin = pins.get(name)
        if pin is None:
            continue
        try:
            metadata = distribution.metadata.read_bytes()
        except OSError:  # the RECORD names it, so it is said to be missing already
            continue
        read = _said(interpreter.target, pin, version, metadata)
        if read.invalid:
            yield Fault("drift", f"the METADATA of `{name}` cannot be used: {read.invalid}", name)
        for edge in read.requires:
            if edge.name in gates or edge.extra not in {"", *pin.extras}:
                continue
            needed = pins.get(edge.name)
            if needed is None or not SpecifierSet(edge.specifier).contains(needed.version, prereleases=True):
                has = f"{edge.name} {needed.version}" if needed is not None else f"no {edge.name}"
                yield Fault("drift", f"`{name}` needs `{requirement_of(edge)}` and the lock has {has}", name)


@lru_cache(maxsize=1024)
def _said(target: Target, pin: Pin, version: str, metadata: bytes) -> Candidate:
    """Return what the installed version of a pin says that it needs."""
    judge = _judge(target)
    return judge.candidate(metadata, name=pin.name, version=version, artifact=pin.artifact, index="", extras=pin.extras)


@lru_cache(maxsize=1)
def _judge(target: Target) -> "Judge":
    from pm.index.metadata import Judge

    return Judge(target)


def _compare_interpreter(folder: Path) -> Iterator[Fault]:
    """Yield that nothing can be started there: without its own interpreter, another one would be found on the PATH."""
    if not interpreter_in(folder).exists():
        yield Fault("drift", "its link to the interpreter is gone, or leads nowhere")


def _compare_own(folder: Path) -> Iterator[Fault]:
    for line in own_files(folder):
        try:
            size = (folder / line.path).stat().st_size
        except OSError:
            yield Fault("drift", f"`{line.path}` of the manager is missing")
            continue
        if size != line.size:
            yield Fault("drift", f"`{line.path}` of the manager has {size} bytes, its RECORD says {line.size}")


def _compare_records(
    distributions: Iterable[InstalledDistribution], records: Mapping[str, list[RecordLine]]
) -> Iterator[Fault]:
    by_name = {distribution.name: distribution for distribution in distributions}
    for name, lines in records.items():
        if not lines:
            yield Fault("drift", f"`{name}` has no RECORD that can be read", name)
        elif not lists_itself(by_name[name], lines):
            yield Fault("drift", f"the RECORD of `{name}` is not complete", name)


def _compare_files(
    site: Path, records: Mapping[str, list[RecordLine]], compared: Mapping[str, float] | None
) -> Iterator[tuple[str, Fault]]:
    """Yield what is wrong with files, by their paths; of one that several write, the last by name has it."""
    expected = winners(records)
    found = _found(site, [line.path for _, line in expected.values()])
    for path, (name, line) in expected.items():
        since = compared.get(name, 0.0) if compared is not None else math.inf
        status = found.get(line.path)
        if status is None:
            yield path, Fault("drift", f"{shown(line.path)} of `{name}` is missing", name)
        elif line.size not in (None, status.st_size):
            said = f"has {status.st_size} bytes, its RECORD says {line.size}"
            yield path, Fault("drift", f"{shown(line.path)} of `{name}` {said}", name)
        elif status.st_mtime > since and line.has_sha256 and not _is_as_listed(site / line.path, line):
            yield path, Fault("drift", f"{shown(line.path)} of `{name}` was changed", name)


def _found(site: Path, paths: Iterable[str]) -> dict[str, os.stat_result]:
    """Return what the system knows of the files that are there, by their paths from the site-packages."""
    found: dict[str, os.stat_result] = {}
    # thousands of files: from the folder, the system finds each in two thirds of the time that it takes from the root
    folder = os.open(site, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for path in paths:
            try:
                found[path] = os.stat(f"./{path}", dir_fd=folder)
            except (OSError, ValueError):  # a name with a NUL byte names no file either
                continue
    finally:
        os.close(folder)
    return found


def _is_as_listed(path: Path, line: RecordLine) -> bool:
    """Say whether a file has the content that a line gives."""
    try:
        return digest_of_file(path) == line.digest
    except OSError:  # a folder in its place
        return False
