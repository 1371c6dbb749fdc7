"""The two kinds of archive, as members and their content. Nothing is written here, and only the form is judged."""

import bz2
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, Protocol, cast

from pm.documents.boundary import TROUBLE
from pm.errors import PmError
from pm.limits import PLUGIN_BYTES, TAR_HEADERS, ZIP_DIRECTORY
from pm.names import shown

BROKEN = (
    *TROUBLE,
    zipfile.BadZipFile,
    tarfile.TarError,
    lzma.LZMAError,
    struct.error,
    NotImplementedError,
)
"""What the standard library raises for an archive that is none."""
_LONGEST_HEADER = 1024 * 1024
"""Bytes that a tar header may ask for at once; names and comments have a few hundred."""
_LONGEST_TARGET = 4096
_BLOCK = 512


class ArchiveEntry(NamedTuple):
    """One entry of an archive, before it was judged."""

    name: str
    """As the archive spells it."""
    kind: str
    """`file`, `folder`, `link`, `hard link`, or what else it claims to be, for which there is no place."""
    size: int = 0
    target: str = ""
    """Of a link."""
    executable: bool = False
    target_exists: bool = True
    """Of a hard link: whether an earlier file of the archive is meant."""


class Archive(Protocol):
    """What both kinds of archive can do."""

    def members(self) -> Iterator[ArchiveEntry]:
        """Yield the entries in their order."""

    def content(self, member: ArchiveEntry) -> IO[bytes]:
        """Open the content of a file or hard link."""


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip or tar file by what is in it. Raise one of `BROKEN` for what is neither."""
    if path.stat().st_size > PLUGIN_BYTES.value:
        raise tarfile.ReadError(f"it has more than {PLUGIN_BYTES.value // 1024 // 1024} MiB")
    _check_directory(path)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as opened:
            yield _Zip(opened)
        return
    with _decompressed(path) as stream:
        bounded = _Bounded(stream)
        file = cast("BinaryIO", bounded)
        with tarfile.open(fileobj=file, mode="r:", errorlevel=2, encoding="utf-8") as archive:
            yield _Tar(archive, bounded)


def _check_directory(path: Path) -> None:
    """Refuse a zip file with a central directory beyond the limit: `zipfile` makes a value for each of its entries."""
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - _LONGEST_END, 0))
        tail = stream.read()
    if max(_directory_sizes(tail), default=0) > ZIP_DIRECTORY.value:
        raise zipfile.BadZipFile(f"its central directory has more than {ZIP_DIRECTORY.value // 1024 // 1024} MiB")


def _directory_sizes(tail: bytes) -> Iterator[int]:
    """Yield what every end record, old or large, says of the size of the directory: any may be the one that counts."""
    for record in (_END, _END_64):
        for found in re.finditer(re.escape(record.signature), tail):
            field = tail[found.start() + record.size_at :][: record.size_bytes]
            size = int.from_bytes(field, "little")
            if size != _ELSEWHERE:
                yield size


class _EndRecord(NamedTuple):
    """Where a record at the end of a zip file has the size of the central directory."""

    signature: bytes
    size_at: int
    size_bytes: int


_END, _END_64 = _EndRecord(b"PK\x05\x06", 12, 4), _EndRecord(b"PK\x06\x06", 40, 8)
_LONGEST_END = 22 + 65535 + 76
"""Bytes of both with the longest comment, and of what stands between them."""
_ELSEWHERE = 0xFFFFFFFF
"""As a size: the large record has it."""


def _executable(mode: int) -> bool:
    return bool(mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH))


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._entries: dict[str, zipfile.ZipInfo] = {}

    def members(self) -> Iterator[ArchiveEntry]:
        for entry in self._archive.infolist():
            # `filename` is cut at a NUL and has its backslashes replaced on some systems; the raw name is judged.
            name = entry.orig_filename
            if entry.flag_bits & 0x1:
                raise PmError("unsafe-archive", f"the entry {shown(name)} is encrypted", key=name)
            self._entries[name] = entry
            yield self._member(name, entry)

    def content(self, member: ArchiveEntry) -> IO[bytes]:
        return self._archive.open(self._entries[member.name])

    def _member(self, name: str, entry: zipfile.ZipInfo) -> ArchiveEntry:
        mode = entry.external_attr >> 16
        if name.endswith("/"):
            return ArchiveEntry(name, "folder")
        if stat.S_ISLNK(mode):
            # A target that is longer than any system takes is not read, and leads nowhere.
            readable = entry.file_size <= _LONGEST_TARGET
            return ArchiveEntry(
                name, "link", target=self._archive.read(entry).decode(errors="replace") if readable else ""
            )
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
            return ArchiveEntry(name, "special file")
        return ArchiveEntry(name, "file", entry.file_size, executable=_executable(mode))


class _Tar:
    def __init__(self, archive: tarfile.TarFile, stream: "_Bounded") -> None:
        self._archive = archive
        self._stream = stream
        self._entries: dict[str, tarfile.TarInfo] = {}

    def members(self) -> Iterator[ArchiveEntry]:
        """Yield the entries one header after the other: a caller that stops early has not read what comes after."""
        for entry in self._archive:
            yield self._member(entry)
            self._entries[entry.name] = entry
        self._check_end()

    def content(self, member: ArchiveEntry) -> IO[bytes]:
        content = self._archive.extractfile(self._entries[member.name])
        if content is None:
            raise tarfile.ReadError(f"the content of {shown(member.name)} is missing")
        return content

    def _member(self, entry: tarfile.TarInfo) -> ArchiveEntry:
        if entry.isdir():
            return ArchiveEntry(entry.name, "folder")
        if entry.issym():
            return ArchiveEntry(entry.name, "link", target=entry.linkname)
        if entry.islnk():
            return self._hard_link(entry)
        if entry.issparse() or not entry.isreg():
            return ArchiveEntry(entry.name, "device or special file")
        return ArchiveEntry(entry.name, "file", entry.size, executable=_executable(entry.mode))

    def _hard_link(self, entry: tarfile.TarInfo) -> ArchiveEntry:
        """Return a hard link as a copy of the earlier file that it means."""
        target = self._entries.get(entry.linkname)
        if target is None or not target.isreg():
            return ArchiveEntry(entry.name, "hard link", target=entry.linkname, target_exists=False)
        return ArchiveEntry(entry.name, "hard link", target.size, entry.linkname, executable=_executable(target.mode))

    def _check_end(self) -> None:
        """Refuse an archive that goes on behind a damaged header, which `tarfile` takes for its end.

        What comes behind the end is read for the sake of the checksum that stands behind all.
        """
        stream = self._stream
        stream.left = None
        stream.seek(self._archive.offset)
        if stream.read(_BLOCK).strip(b"\0"):
            raise tarfile.ReadError("a header is damaged")
        if len(stream.read(_LONGEST_HEADER)) == _LONGEST_HEADER:
            raise tarfile.ReadError("it continues after its end")


class _Bounded(io.RawIOBase):
    """A stream that gives no more at once than an honest tar header asks for, and fails in one way.

    `tarfile` reads the long form of a header in one piece, as large as the header says: a few kilobytes of archive
    could ask for all of the machine's memory.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream
        self.left: int | None = TAR_HEADERS.value
        """Bytes that headers may still take; `None` when they are all read, and contents are."""

    def read(self, size: int = -1, /) -> bytes:
        if size < 0 or size > _LONGEST_HEADER:
            raise tarfile.ReadError(f"a header asks for {size} bytes")
        if self.left is not None:
            self.left -= size
            if self.left < 0:
                raise tarfile.ReadError(f"its headers have more than {TAR_HEADERS.value // 1024 // 1024} MiB")
        with _one_failure():
            return self._stream.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _one_failure():
            return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


@contextmanager
def _one_failure() -> Iterator[None]:
    """Tell damaged data from a disk that fails: gzip and bz2 say both with an `OSError`."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise tarfile.ReadError(str(error)) from error


def _decompressed(path: Path) -> BinaryIO:
    with path.open("rb") as stream:
        start = stream.read(6)
    if start.startswith(b"\x1f\x8b"):
        return cast("BinaryIO", gzip.open(path))
    if start.startswith(b"BZh"):
        return cast("BinaryIO", bz2.open(path))
    if start.startswith((b"\xfd7zXZ\x00", b"]\x00\x00")):
        return cast("BinaryIO", lzma.open(path))
    return path.open("rb")
