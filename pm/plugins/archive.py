"""Unpack archives of unknown origin: every entry is judged before the first byte is written."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from pm.errors import PmError
from pm.limits import ARCHIVE_RATIO, PLUGIN_BYTES, PLUGIN_DEPTH, PLUGIN_ENTRIES
from pm.names import shown
from pm.plugins.archive_formats import BROKEN, Archive, ArchiveEntry, open_archive
from pm.plugins.tree import staged_folder

FREE_BYTES = 16 * 1024 * 1024
"""What may be unpacked however small the archive is: small texts may be squeezed further than `ARCHIVE_RATIO`."""
LONGEST_NAME = 1024
LONGEST_PART = 255
"""Bytes between two `/`: what file systems take."""
_PIECE = 64 * 1024


def unpack(archive: Path, destination: Path) -> Path:
    """Unpack a `.zip` or `.tar.*` into a folder that is not there yet, without the single folder it may begin with.

    Raise `PmError` (`unsafe-archive`), with the entry as its key, if anything in it could land outside, hide behind
    another entry, or grow beyond the limits; (`no-space`, `not-writable`) if the disk fails. Then nothing of it is on
    the disk. Links are kept if they stay inside; executable bits are kept, owners, set-user bits and times are not.
    """
    with _opened(archive) as opened:
        members = _checked(opened.members(), _allowed_bytes(archive))
        with staged_folder(destination) as stage:
            _write_all(members, opened, stage)
    return destination


@contextmanager
def _opened(archive: Path) -> Iterator[Archive]:
    """Open an archive by what is in it, not by its name; every way in which it can be broken is `unsafe-archive`."""
    try:
        with open_archive(archive) as opened:
            yield opened
    except BROKEN as error:
        message = f"`{archive.name}` cannot be read as a zip or tar archive: {error}"
        raise PmError("unsafe-archive", message, file=str(archive)) from error
    except FileNotFoundError as error:
        raise PmError("not-writable", f"`{archive}` does not exist", file=str(archive)) from error
    except PmError as error:
        error.file = error.file or str(archive)
        raise


def _unsafe(entry: str, fault: str) -> PmError:
    return PmError("unsafe-archive", f"the entry {shown(entry)} {fault}", key=entry)


def _allowed_bytes(archive: Path) -> int:
    return min(PLUGIN_BYTES.value, max(archive.stat().st_size * ARCHIVE_RATIO.value, FREE_BYTES))


def _checked(members: Iterable[ArchiveEntry], allowed: int) -> dict[PurePosixPath, ArchiveEntry]:
    """Return the members by their place in the tree, or refuse the archive as a whole."""
    placed: dict[PurePosixPath, ArchiveEntry] = {}
    implied: set[PurePosixPath] = {PurePosixPath()}
    total = 0
    for count, member in enumerate(members, start=1):
        path = _place(member)
        implied.update([*itertools.takewhile(lambda part: part not in implied, itertools.chain((path,), path.parents))])
        if member.kind not in {"file", "folder", "link", "hard link"}:
            raise _unsafe(member.name, f"is a {member.kind}, which a plugin must not contain")
        total += member.size
        if max(count, len(implied) - 1) > PLUGIN_ENTRIES.value:
            most = f"{PLUGIN_ENTRIES.value:,} {PLUGIN_ENTRIES.unit}"
            raise _unsafe(member.name, f"is one too many: an archive may have {most}, with the folders that they imply")
        if total > allowed:
            raise _unsafe(member.name, f"makes the archive unpack to more than {allowed // 1024 // 1024} MiB")
        if path in placed and not member.kind == placed[path].kind == "folder":
            raise _unsafe(member.name, "is in the archive twice")
        if path.parts and path.parts[0] != "__MACOSX":  # what the Finder adds about each file
            placed[path] = member
    stripped = _without_top(placed)
    if not stripped:
        raise PmError("unsafe-archive", "the archive holds no files")
    _check_alike(stripped)
    _check_links(stripped)
    return stripped


_DRIVE = re.compile(r"[A-Za-z]:")


def _place(member: ArchiveEntry) -> PurePosixPath:
    """Return where an entry belongs; a name that means something else anywhere is refused."""
    name = member.name
    path = PurePosixPath(name.rstrip("/") or name)
    fault = ""
    if not name or any(unicodedata.category(one) in {"Cc", "Cs"} for one in name):
        fault = "holds characters that cannot be in a name"
    elif name.startswith("/"):
        fault = "is an absolute path"
    elif "\\" in name or _DRIVE.match(name):
        fault = "is a path of another system"
    elif ".." in path.parts:
        fault = "leads out of the archive"
    elif len(name) > LONGEST_NAME or any(len(part.encode()) > LONGEST_PART for part in path.parts):
        fault = "has a name that is too long"
    elif len(path.parts) > PLUGIN_DEPTH.value:
        fault = f"lies in more than {PLUGIN_DEPTH.value} {PLUGIN_DEPTH.unit}"
    if fault:
        raise _unsafe(name, fault)
    return path


def _without_top(placed: Mapping[PurePosixPath, ArchiveEntry]) -> dict[PurePosixPath, ArchiveEntry]:
    tops = {path.parts[0] for path in placed}
    if len(tops) != 1 or any(len(path.parts) == 1 and member.kind != "folder" for path, member in placed.items()):
        return dict(placed)
    return {PurePosixPath(*path.parts[1:]): member for path, member in placed.items() if len(path.parts) > 1}


def _check_alike(placed: Mapping[PurePosixPath, ArchiveEntry]) -> None:
    """Refuse entries that are one file on a disk that ignores case, or a file where another entry needs a folder."""
    known: dict[str, PurePosixPath] = {}
    judged: set[PurePosixPath] = {PurePosixPath()}
    for path, member in sorted(placed.items()):
        new = [path, *itertools.takewhile(lambda part: part not in judged, path.parents)]
        for part in reversed(new):
            earlier = known.setdefault(unicodedata.normalize("NFC", str(part)).casefold(), part)
            if earlier != part:
                raise _unsafe(member.name, f"is the same as {shown(str(earlier))} on disks that ignore case")
        for part in (*new[1:], new[-1].parent):
            above = placed.get(part)
            if above is not None and above.kind != "folder":
                raise _unsafe(member.name, f"would lie inside of {shown(above.name)}, which is a {above.kind}")
        judged.update(new)


def _check_links(placed: Mapping[PurePosixPath, ArchiveEntry]) -> None:
    for path, member in placed.items():
        if member.kind == "link" and not _stays_inside(path, member.target, placed):
            raise _unsafe(member.name, f"is a link that leads out of the archive, to {shown(member.target)}")
        if member.kind == "hard link" and not member.target_exists:
            raise _unsafe(
                member.name, f"is a link to {shown(member.target)}, which is not an earlier file of the archive"
            )


def _stays_inside(path: PurePosixPath, target: str, placed: Mapping[PurePosixPath, ArchiveEntry]) -> bool:
    """Say whether a link stays in the tree: step by step and through no other link, so that `..` means what it says."""
    if not target.isprintable() or not target or target.startswith("/") or "\\" in target or _DRIVE.match(target):
        return False
    here = list(path.parent.parts)
    for part in PurePosixPath(target).parts:
        above = placed.get(PurePosixPath(*here)) if here else None
        if above is not None and above.kind == "link":
            return False
        if part != "..":
            here.append(part)
        elif here:
            here.pop()
        else:
            return False
    return True


def _write_all(members: Mapping[PurePosixPath, ArchiveEntry], archive: Archive, stage: Path) -> None:
    # Links come last, so that nothing is ever written through one.
    for path, member in sorted(members.items(), key=lambda item: (item[1].kind == "link", item[0])):
        place = stage / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if member.kind == "folder":
            place.mkdir(exist_ok=True)
        elif member.kind == "link":
            place.symlink_to(member.target)
        else:
            with archive.content(member) as source:
                _write_file(place, source, member)


def _write_file(place: Path, source: IO[bytes], member: ArchiveEntry) -> None:
    left = member.size
    with place.open("xb") as target:
        while piece := source.read(_PIECE):
            left -= len(piece)
            if left < 0:
                break
            target.write(piece)
    if left:
        raise _unsafe(member.name, "has another size than the archive says")
    place.chmod(0o755 if member.executable else 0o644)
