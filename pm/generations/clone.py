"""Take distributions from environments that are there: what was built once can be built again without any wheel.

A distribution is taken only if its environment was built for the same target with the very wheel that the lock names,
and if every one of its files still has the hash that its RECORD gives. So a damaged file is never handed on, although
files are linked and not copied.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lockfiles import Lock, Pin
from pm.dist_info import RecordLine
from pm.errors import PmError
from pm.generations.distributions import (
    InstalledDistribution,
    digest_of,
    digest_of_file,
    installed,
    lines_of,
    site_packages,
    write_lines,
)
from pm.generations.records import read_record
from pm.places import GenerationNumber, Places
from pm.system.files import write_bytes


class Given(NamedTuple):
    """One distribution as it lies intact in an environment."""

    environment: Path
    distribution: InstalledDistribution
    lines: tuple[RecordLine, ...]


def distributions_of(places: Places, lock: Lock, numbers: Iterable[GenerationNumber]) -> tuple[Given, ...] | None:
    """Return where each pin of a lock lies intact in one of these generations; `None` if one of them does not."""
    donors = list(_donors(places, lock, numbers))
    found = []
    for pin in lock.pins:
        given = next((given for donor, pins in donors if (given := _intact(donor, pins, pin)) is not None), None)
        if given is None:
            return None
        found.append(given)
    return tuple(found)


def give(distributions: tuple[Given, ...], folder: Path) -> None:
    """Put distributions into a new environment. Raise `OSError`."""
    for given in distributions:
        _give(given, folder)


def _donors(
    places: Places, lock: Lock, numbers: Iterable[GenerationNumber]
) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Yield the environments of this target, the newest first, with the digest of each wheel that they are built of."""
    for number in sorted(set(numbers), reverse=True):
        with suppress(PmError):
            record = read_record(places, number)
            folder = places.environment(record.environment)
            if record.lock.target == lock.target and folder.is_dir():
                yield folder, {pin.name: pin.artifact.sha256 for pin in record.lock.pins}


def _intact(environment: Path, pins: Mapping[str, str], pin: Pin) -> Given | None:
    if pins.get(pin.name) != pin.artifact.sha256:
        return None
    site = site_packages(environment)
    distribution = next((one for one in installed(site) if one.name == pin.name), None)
    if distribution is None:
        return None
    lines = tuple(lines_of(distribution))
    whole = lines and all(_is_whole(environment, site / line.path, line, distribution) for line in lines)
    return Given(environment, distribution, lines) if whole else None


def _is_whole(environment: Path, written: Path, line: RecordLine, distribution: InstalledDistribution) -> bool:
    path = Path(os.path.normpath(written))
    # by way of a link it would be a file from elsewhere, which may still be written to
    if not path.is_file() or path.is_symlink() or not _lies_in(path, environment):
        return False
    return path == distribution.record or line.digest == digest_of_file(path)


def _lies_in(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _give(given: Given, folder: Path) -> None:
    old, new = site_packages(given.environment), site_packages(folder)
    record = given.distribution._replace(info=new / given.distribution.info.name).record
    lines: list[RecordLine] = []
    for line in given.lines:
        source, target = old / line.path, Path(os.path.normpath(new / line.path))
        target.parent.mkdir(parents=True, exist_ok=True)
        if target != record:
            lines.append(_given(source, target, line, (os.fsencode(given.environment), os.fsencode(folder))))
        else:
            lines.append(RecordLine(line.path, "", None))
    # in place of what may lie there: another distribution can bring a file of this name, linked like the others
    write_lines(record, lines)


def _given(source: Path, target: Path, line: RecordLine, moved: tuple[bytes, bytes]) -> RecordLine:
    """Put one file in its place, and return its line of the RECORD; a script names the environment that it is for."""
    content = source.read_bytes() if target.parent.name == "bin" else b""
    if moved[0] in content:
        content = content.replace(*moved)
        write_bytes(target, content)
        shutil.copymode(source, target)
        return RecordLine(line.path, digest_of(content), len(content))
    if not target.exists():  # two distributions can bring the same file
        _link(source, target)
    return line


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links, or another one
        shutil.copy2(source, target)
