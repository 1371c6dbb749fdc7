"""Whether a wheel can be installed, and installed right: by its RECORD, its `WHEEL`, its scripts and its paths.

The rules are those of uv, which installs, and where it would leave files that no RECORD tells the truth about, those of
the format. Most of them need the archive's directory and two short members of it; whether each file has the hash that
RECORD gives is told where the whole wheel is at hand and small, else of the files that were installed.
"""

import hashlib
import io
import os
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pm.dist_info import ENDING, RECORD, RecordLine, is_info, sha256_text, strict_record_lines
from pm.index.archive_structure import (
    READ_HERE,
    Flawed,
    Structure,
    check_structure,
    is_unpacked,
    not_unpacked,
    said_in_two_ways,
)
from pm.index.entry_points import scripts_of
from pm.index.own_paths import SCRIPTS, bytes_to_read, is_own, reserved, settled, to_be_read
from pm.limits import ENTRY_POINTS_BYTES, PATH_LENGTH, PROVED_BYTES, RECORD_BYTES, WHEEL_FILE_BYTES, Limit
from pm.names import shown

LOCAL_HEADER = 30 + 2 * 1024
"""Bytes of a member's own header: fixed part, name and extra fields."""
WHOLE_BYTES = 64 * 1024
"""A wheel up to this size is read whole in any case."""
_APART = 32 * 1024
"""Bytes between two members that are asked for together all the same."""
_CHUNK = 1 << 20
_LONGEST_NAME = 255
"""Bytes that file systems have for one name."""
_MOST_FOR_A_SIGN = 4
"""Bytes of UTF-8."""
_VERSION = re.compile(r"^Wheel-Version:[ \t]*(?P<major>[0-9]+)\.", re.MULTILINE)

Members = Mapping[str, zipfile.ZipInfo]
"""The path at which a member is unpacked → the member."""
Want = Callable[[int, int], None]


class Installed(NamedTuple):
    """What an installer makes of a wheel."""

    targets: Mapping[str, str]
    """Path in the archive → where the file ends up, relative to the site-packages; headers are left out."""
    scripts: Mapping[str, str]
    """Script that is written for an entry point → the object that it calls."""
    proved: bool
    """Whether each file was compared with the hash that RECORD gives."""


class Wheel:
    """A wheel that is open, of which perhaps only parts are here."""

    def __init__(self, archive: zipfile.ZipFile, file: io.RawIOBase, want: Want | None) -> None:
        self._archive = archive
        self._file = file
        self._want = want
        self.archived = archive.infolist()
        self.members = dict(_members(archive))
        self.stem = _stem(self.members)
        self.size = file.seek(0, io.SEEK_END)
        self.structure = Structure(self.archived, archive.start_dir, self.size, self.bytes_at)

    @property
    def whole(self) -> bool:
        """Whether all of it may be read."""
        return self._want is None or self.size <= WHOLE_BYTES

    def info(self, name: str) -> zipfile.ZipInfo | None:
        """Return a member of the wheel's own folder of metadata."""
        return self.members.get(f"{self.stem}{ENDING}/{name}")

    def ahead(self, members: Iterable[tuple[zipfile.ZipInfo, int]]) -> None:
        """Ask for what will be read, of each member no more than so many bytes, in as few parts as makes sense."""
        for start, end in _parts(members):
            if self._want is not None:
                self._want(start, min(end, self.size))

    def head(self, member: zipfile.ZipInfo, most: int) -> bytes:
        """Return the first bytes of a member; nothing of one that only the installer can unpack."""
        if member.compress_type not in READ_HERE:
            return b""
        with self._archive.open(member) as file:
            return file.read(most)

    def text(self, member: zipfile.ZipInfo, limit: Limit) -> str | None:
        """Return the text of a member; `None` for one that only the installer can unpack."""
        if member.compress_type not in READ_HERE:
            return None
        content = self.head(member, limit.value + 1)
        if len(content) > limit.value:
            raise Flawed(f"{shown(member.filename)} has more than {limit.value} bytes")
        if len(content) != member.file_size:
            raise Flawed(f"{shown(member.filename)} in it is damaged")
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise Flawed(f"{shown(member.filename)} is not UTF-8") from error

    def digest(self, member: zipfile.ZipInfo) -> str:
        """Return the digest of a member as a RECORD gives it, after all of it was unpacked."""
        digest = hashlib.sha256()
        with self._archive.open(member) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        return sha256_text(digest.digest())

    def ends_well(self, member: zipfile.ZipInfo) -> bool:
        """Say whether what is packed of a member ends where it should, which `zipfile` does not ask."""
        if member.compress_type != zipfile.ZIP_DEFLATED:
            return True
        inflating = zlib.decompressobj(-zlib.MAX_WBITS)
        place, end = self._packed(member)
        while place < end and not inflating.eof:
            part = self.bytes_at(place, min(end - place, _CHUNK))
            if not part:
                return False
            place += len(part)
            while part and not inflating.eof:
                inflating.decompress(part, _CHUNK)
                part = inflating.unconsumed_tail
        while not inflating.eof and inflating.decompress(b"", _CHUNK):
            pass
        return inflating.eof and place == end and not inflating.unused_data

    def _packed(self, member: zipfile.ZipInfo) -> tuple[int, int]:
        """Return from where to where the packed bytes of a member lie."""
        start = self.structure.header_of(member).end
        return start, start + member.compress_size

    def bytes_at(self, start: int, length: int) -> bytes:
        """Return some bytes of the file."""
        self._file.seek(start)
        return self._file.read(length) or b""


def installed(wheel: Wheel, *, thorough: bool = False) -> Installed:
    """Return what an installer makes of a wheel; with `thorough` also of a large one by all of its bytes.

    Raise `Flawed` for a wheel that cannot be installed right, and what `zipfile` raises for one that is damaged.
    """
    _check_packing(wheel)
    targets = dict(_targets(wheel))
    record, points, kind = wheel.info(RECORD), wheel.info("entry_points.txt"), wheel.info("WHEEL")
    if record is None:
        raise Flawed("it has no RECORD")
    if kind is None:
        raise Flawed("it has no `WHEEL`")
    odd = ((wheel.members[path], bytes_to_read(target)) for path, target in targets.items() if to_be_read(target))
    listed = [] if points is None else [(points, ENTRY_POINTS_BYTES.value)]
    wheel.ahead([(record, RECORD_BYTES.value), (kind, WHEEL_FILE_BYTES.value), *listed, *odd])
    _check_kind(wheel.text(kind, WHEEL_FILE_BYTES))
    scripts = dict(_scripts(wheel, points))
    _check_paths(targets, scripts)
    lines = _record(wheel, record)
    _compare(lines, wheel)
    proved = thorough or (wheel.whole and sum(member.file_size for member in wheel.members.values()) <= _PROVED)
    if proved:
        _prove(lines, wheel)
    return Installed(targets, scripts, proved)


_PROVED = PROVED_BYTES.value


def heads_of(wheel: Wheel, targets: Mapping[str, str]) -> Callable[[str], bytes]:
    """Return what gives the beginning of an installed file."""
    sources = {target: wheel.members[path] for path, target in targets.items() if to_be_read(target)}

    def head(path: str) -> bytes:
        return wheel.head(sources[path], bytes_to_read(path)) if path in sources else b""

    return head


# -- the archive


def _members(archive: zipfile.ZipFile) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    """Yield the files with the path at which they are unpacked."""
    seen: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename
        if name.startswith("/") or ".." in name.split("/"):
            raise Flawed(f"{shown(name)} in it would not lie where it says")
        if _is_too_long(name):
            raise Flawed(f"{shown(name)} in it is a longer name than systems take")
        path = posixpath.normpath(name)
        if name.endswith("/") or path == ".":
            continue
        before = seen.setdefault(path, member)
        if (before.CRC, before.file_size) != (member.CRC, member.file_size):
            raise Flawed(f"it holds two different files {shown(path)}")
        yield path, member


def _is_too_long(path: str) -> bool:
    if len(path) * _MOST_FOR_A_SIGN <= _LONGEST_NAME:  # as nearly every one
        return False
    written = os.fsencode(path)
    return len(written) > PATH_LENGTH.value or max(map(len, written.split(b"/"))) > _LONGEST_NAME


def _stem(paths: Iterable[str]) -> str:
    """Return the name and version by which a wheel calls its own folders."""
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    stems = sorted(folder.removesuffix(ENDING) for folder in folders if is_info(folder))
    if len(stems) != 1:
        raise Flawed("it has no folder of metadata" if not stems else "it has several folders of metadata")
    return stems[0]


def _parts(members: Iterable[tuple[zipfile.ZipInfo, int]]) -> Iterator[tuple[int, int]]:
    """Yield from where to where the bytes of members lie; what is not far apart is one part."""
    start = end = -1
    for first, size in sorted((member.header_offset, min(member.compress_size, most)) for member, most in members):
        last = first + LOCAL_HEADER + size
        if end >= 0 and first - end > _APART:
            yield start, end
            start = first
        start, end = (first if start < 0 else start), max(end, last)
    if end >= 0:
        yield start, end


def _check_packing(wheel: Wheel) -> None:
    """Raise for a file that is packed as uv does not unpack it, or of which it is said in two ways how it is packed."""
    for member in wheel.archived:
        if not member.filename.endswith("/") and not is_unpacked(member.compress_type, member.flag_bits):
            contradicted = wheel.whole and wheel.structure.header_of(member).is_unpacked
            raise Flawed(said_in_two_ways(member) if contradicted else not_unpacked(member))


# -- what ends up where

_OUTSIDE_DATA = {"purelib": "", "platlib": "", "scripts": f"{SCRIPTS}/", "data": "../../../"}
_OF_ITS_OWN = "headers"
"""Headers go into a folder that is named for the distribution: no other wheel writes there."""


def _targets(wheel: Wheel) -> Iterator[tuple[str, str]]:
    data = f"{wheel.stem}.data/"
    for path in wheel.members:
        if not path.startswith(data):
            yield path, path
        elif (target := _moved(path, data)) is not None:
            yield path, target


def _moved(path: str, data: str) -> str | None:
    """Return where a file of the wheel's data ends up; `None` for one that goes to a folder of its own."""
    scheme, _, rest = path.removeprefix(data).partition("/")
    if scheme == _OF_ITS_OWN:
        return None
    if scheme not in _OUTSIDE_DATA or not rest or (scheme == "scripts" and "/" in rest):
        raise Flawed(f"it is not known where {shown(path)} belongs")
    target = settled(_OUTSIDE_DATA[scheme] + rest)
    if is_info(target.partition("/")[0]):
        raise Flawed(f"{shown(path)} would be written over the metadata of a distribution")
    return target


def _scripts(wheel: Wheel, points: zipfile.ZipInfo | None) -> Iterator[tuple[str, str]]:
    text = wheel.text(points, ENTRY_POINTS_BYTES) if points is not None else None
    try:
        for name, called in scripts_of(text or "").items():
            if _is_too_long(name):
                raise Flawed(f"its script {shown(name)} has a longer name than systems take")
            yield f"{SCRIPTS}/{name}", called
    except ValueError as error:
        raise Flawed(str(error)) from error


def _check_paths(targets: Mapping[str, str], scripts: Mapping[str, str]) -> None:
    """Raise for a path that is not a wheel's to write, or that is a file and a folder."""
    paths = {*targets.values(), *scripts}
    own = min(filter(is_own, paths), default="")
    if own:
        raise Flawed(reserved(own))
    both = min(paths & _folders(paths), default="")
    if both:
        raise Flawed(f"{shown(both)} in it is a file and a folder")


def _folders(paths: Iterable[str]) -> set[str]:
    """Return the folders that paths imply."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def _check_kind(text: str | None) -> None:
    if text is None:
        return
    version = _VERSION.search(text)
    if version is None:
        raise Flawed("its `WHEEL` gives no version of the format")
    if int(version["major"]) != 1:
        raise Flawed(f"it has version {shown(version['major'])} of the format, which uv does not know")


# -- RECORD


def _record(wheel: Wheel, record: zipfile.ZipInfo) -> list[RecordLine]:
    text = wheel.text(record, RECORD_BYTES)
    try:
        return strict_record_lines(text) if text is not None else []
    except ValueError as error:
        raise Flawed(f"its RECORD cannot be read: {error}") from error


def _compare(lines: Iterable[RecordLine], wheel: Wheel) -> None:
    """Raise for a line about a file that is not there or has another size."""
    folders = _folders(wheel.members)
    for line in lines:
        member = _named(line, wheel)
        if member is None:
            if posixpath.normpath(line.path.replace("\\", "/")) not in folders:
                raise Flawed(f"its RECORD names {shown(line.path)}, which is not in it")
        elif line.size not in (None, member.file_size) and member is not wheel.info(RECORD):
            raise Flawed(
                f"its RECORD says that {shown(line.path)} has {line.size} bytes, and it has {member.file_size}"
            )


def _named(line: RecordLine, wheel: Wheel) -> zipfile.ZipInfo | None:
    """Return the member that a line is about; the separator of Windows is understood, as uv passes over it."""
    path = posixpath.normpath(line.path)
    return wheel.members.get(path) or wheel.members.get(path.replace("\\", "/"))


def _prove(lines: Iterable[RecordLine], wheel: Wheel) -> None:
    """Raise for a damaged file, for one with another hash than its line gives, for an archive that uv does not read."""
    check_structure(wheel.structure)
    digests = {
        path: wheel.digest(member) for path, member in wheel.members.items() if member.compress_type in READ_HERE
    }
    cut = next((path for path, member in wheel.members.items() if not wheel.ends_well(member)), "")
    if cut:
        raise Flawed(f"{shown(cut)} in it is damaged")
    for line in lines:
        digest = digests.get(posixpath.normpath(line.path), line.digest)
        if line.has_sha256 and digest != line.digest and posixpath.normpath(line.path) != _own_record(wheel):
            raise Flawed(f"{shown(line.path)} in it has another hash than its RECORD gives")


def _own_record(wheel: Wheel) -> str:
    return f"{wheel.stem}{ENDING}/{RECORD}"
