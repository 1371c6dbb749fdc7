"""Find the metadata inside of a wheel, and read no more of it than a wheel may have."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from pm.dist_info import METADATA, distribution_of, is_info
from pm.index.foreign import Unreadable, boundary, check_length
from pm.limits import METADATA_BYTES, WHEEL_DIRECTORY_BYTES

_IN_PARTS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_PIECE = 64 * 1024
# what bzip2 says of bytes that it cannot unpack, and lzma, without which a Python may have been built
_BROKEN = (OSError, getattr(getattr(zipfile, "lzma", None), "LZMAError", OSError))
_SMALL_PIECE = 4 * 1024
_SMALL_DIRECTORY = 1024 * 1024
_one_large_directory = threading.Lock()
"""What a large directory takes in memory, it takes once, however many threads look into wheels."""


class NoMetadata(Unreadable):
    """A file that should be a wheel and holds no readable metadata."""


def metadata_of_wheel(file: str | os.PathLike[str] | IO[bytes], name: str) -> bytes:
    """Return the `METADATA` of a wheel. Raise `NoMetadata` if there is none or the archive is damaged."""
    with ExitStack() as stack:
        opened = file if hasattr(file, "read") else stack.enter_context(Path(cast("str", file)).open("rb"))
        archive = stack.enter_context(opened_wheel(cast("IO[bytes]", opened)))
        return read_member(archive, metadata_member(archive, name))


@contextmanager
def opened_wheel(file: IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Give the archive of a wheel; raise `NoMetadata` for whatever is wrong with it, also while it is used."""
    try:
        with (
            boundary("it is not a readable wheel"),
            BoundedWheel(file) as measured,
            zipfile.ZipFile(cast("IO[bytes]", measured)) as archive,
        ):
            yield archive
    except NoMetadata:
        raise
    except Unreadable as error:
        raise NoMetadata(str(error)) from error


def metadata_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the member that holds the metadata of the distribution `name`; raise `NoMetadata` if none can."""
    for member in archive.infolist():
        folder, _, rest = member.filename.partition("/")
        if rest == METADATA and is_info(folder) and distribution_of(folder)[0] == name:
            check_length(member.file_size, METADATA_BYTES, "its `METADATA`")
            check_length(member.compress_size, METADATA_BYTES, "its `METADATA`")
            return member
    raise NoMetadata(f"it has no `{METADATA}` of `{name}`")


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a small member; what it says of its own size is not believed."""
    content = bytearray()
    # other methods, which no installer knows, unpack all of a piece at once
    size = _PIECE if member.compress_type in _IN_PARTS else _SMALL_PIECE
    try:
        with archive.open(member) as file:
            while piece := file.read(size):
                content += piece
                check_length(len(content), METADATA_BYTES, f"its `{METADATA}`")
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk, and not the archive
            raise
        raise NoMetadata("it is not a readable wheel") from error
    return bytes(content)


class BoundedWheel(io.RawIOBase):
    """A wheel that is not read in pieces larger than a reasonable directory, and large ones one at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._turn = ExitStack()
        self._has_turn = False

    def __exit__(self, *_: object) -> None:
        self._turn.close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_SET and offset < 0:
            raise Unreadable("its directory leads out of it")
        return self._file.seek(offset, whence)

    def read(self, size: int = -1, /) -> bytes:
        check_length(size, WHEEL_DIRECTORY_BYTES, "its directory")
        if size > _SMALL_DIRECTORY and not self._has_turn:
            self._turn.enter_context(_one_large_directory)
            self._has_turn = True
        return self._file.read(size)
