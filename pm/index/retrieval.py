"""Get the `METADATA` of one wheel as cheaply as its server allows.

In this order: the metadata file that the page announces; the end of the wheel by a range request, which nearly always
holds both the directory and the metadata; where a server knows no ranges, a metadata file that it does not announce;
the whole wheel. What has a digest is checked against it. (An index that announces nothing often has the files all the
same, but asking for one that is missing costs more than a range: docs/explanation/how-it-decides.md has the numbers.)
"""

import hashlib
import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple, cast
from urllib.parse import urlsplit, urlunsplit

from admission import canonical_name
from pm.errors import PmError
from pm.index.contents import WheelContents
from pm.index.folders import sha256_of
from pm.index.foreign import Unreadable, check_length
from pm.index.listed_files import ListedFile
from pm.index.metadata import read_core_metadata
from pm.index.transport import Again, HttpAnswer, Transport
from pm.index.wheel_check import LOCAL_HEADER, WHOLE_BYTES
from pm.index.wheel_reading import read_contents
from pm.index.wheels import NoMetadata, metadata_member, metadata_of_wheel, opened_wheel, read_member
from pm.limits import METADATA_BYTES, WHEEL_BYTES, WHEEL_PART_BYTES
from pm.system.files import written_whole

_OK = 200
_PARTIAL = 206
_TAIL = WHOLE_BYTES
# Answers that only say that this way does not work here; another one is tried.
_NOT_THIS_WAY = frozenset({401, 403, 404, 405, 410, 416, 501})
_GONE = frozenset({404, 410})
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})")


class Retrieved(NamedTuple):
    """The metadata of one file, and what was learnt of the file on the way."""

    metadata: bytes
    sha256: str
    size: int | None


class _NoRanges(Exception):
    """The server sends whole files only."""


class Retrieval:
    """Gets metadata; remembers which servers know no ranges and which have no metadata files."""

    def __init__(self, transport: Transport, temporary: Path) -> None:
        self._transport = transport
        self._temporary = temporary
        self._without_ranges: set[str] = set()
        self._without_metadata: set[str] = set()

    def retrieve(self, file: ListedFile, name: str) -> Retrieved:
        """Return a wheel's metadata.

        Raise `NoMetadata` if the wheel has none, `PmError` if it cannot be had or is not what the index announced.
        """
        if file.metadata and (metadata := self._announced(file)) is not None:
            return Retrieved(metadata, file.sha256, file.size)
        if not file.sha256:
            return self._whole(file, name)
        return self._by_range(file, name) or self._unannounced(file, name) or self._whole(file, name)

    def contents(self, file: ListedFile) -> WheelContents:
        """Return what a wheel puts where, from the end of it, where its directory is.

        Raise `PmError` if the wheel cannot be had.
        """
        server = urlsplit(file.url).netloc
        if server not in self._without_ranges:
            try:
                remote = _RemoteFile(self._transport, file)
                found = read_contents(cast("IO[bytes]", remote), remote.want)
            except _NoRanges:
                self._without_ranges.add(server)
            else:
                if not found.flaw:
                    return found
        # also for a flaw: it speaks against all who need the wheel, so it must be one of the file with the right digest
        return self.whole_contents(file, thorough=False)

    def whole_contents(self, file: ListedFile, *, thorough: bool = True) -> WheelContents:
        """Return what a wheel puts where, by all of its bytes; raise `PmError` as `contents` does."""
        with self._fetched(file) as (whole, _):
            return read_contents(whole, thorough=thorough)

    def _announced(self, file: ListedFile) -> bytes | None:
        def read(answer: HttpAnswer) -> bytes | None:
            if answer.status != _OK:
                return None
            content = answer.body(METADATA_BYTES.value, "its metadata")
            if file.metadata not in {"*", hashlib.sha256(content).hexdigest()}:
                raise Again(
                    f"the metadata of `{file.filename}` has another digest than the index announced",
                    code="hash-mismatch",
                )
            return content

        return self._transport.ask(metadata_address(file.url), read, passed=_NOT_THIS_WAY)

    def _unannounced(self, file: ListedFile, name: str) -> Retrieved | None:
        """Ask for a metadata file that the page does not announce; what comes back must be one of this distribution."""
        server = urlsplit(file.url).netloc
        if server in self._without_metadata:
            return None

        def read(answer: HttpAnswer) -> bytes:
            return answer.body(METADATA_BYTES.value) if answer.status == _OK else b""

        content = b""
        with suppress(Unreadable):
            content = self._transport.ask(metadata_address(file.url), read, passed=_NOT_THIS_WAY)
        if canonical_name(read_core_metadata(content).name) == name:
            return Retrieved(content, file.sha256, file.size)
        self._without_metadata.add(server)
        return None

    def _by_range(self, file: ListedFile, name: str) -> Retrieved | None:
        server = urlsplit(file.url).netloc
        if server in self._without_ranges:
            return None
        try:
            remote = _RemoteFile(self._transport, file)
            return Retrieved(_read_remotely(remote, name), file.sha256, remote.size)
        except _NoRanges:
            self._without_ranges.add(server)
            return None
        except NoMetadata:
            # parts of a file have no digest: only the whole one, which has, can say that it is broken
            return None

    def _whole(self, file: ListedFile, name: str) -> Retrieved:
        with self._fetched(file) as (whole, digest):
            return Retrieved(metadata_of_wheel(whole, name), digest, whole.seek(0, io.SEEK_END))

    def download(self, file: ListedFile, path: Path) -> None:
        """Put the whole file in its place, verified. Raise `PmError`."""

        def read(answer: HttpAnswer) -> None:
            with written_whole(path) as target:
                _write(answer, target, file)

        self._transport.ask(file.url, read, is_transfer=True)

    @contextmanager
    def _fetched(self, file: ListedFile) -> Iterator[tuple[IO[bytes], str]]:
        """Give the whole file, verified, and its digest; it has no name, so that nothing of it can be left."""
        self._temporary.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=self._temporary) as whole:

            def read(answer: HttpAnswer) -> str:
                whole.seek(0)
                whole.truncate()
                return _write(answer, whole, file)

            digest = self._transport.ask(file.url, read, is_transfer=True)
            whole.seek(0)
            yield whole, digest


def metadata_address(url: str) -> str:
    """Return where the metadata file of a file is: `.metadata` belongs to the path, and a query comes behind it."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=f"{parts.path}.metadata"))


def _write(answer: HttpAnswer, target: IO[bytes], file: ListedFile) -> str:
    """Write what an answer brings, and return its digest; raise `Again` for another file than the listed one."""
    if answer.status != _OK:
        raise Again(f"it answered {answer.status} for a file that the index lists")
    digest = hashlib.sha256()
    length, most = 0, file.size or WHEEL_BYTES.value
    for chunk in answer.chunks():
        length += len(chunk)
        if length > most:
            raise Again(f"`{file.filename}` is longer than {most:,} bytes", code="hash-mismatch")
        digest.update(chunk)
        target.write(chunk)
    _check_digest(digest.hexdigest(), file)
    return digest.hexdigest()


def _check_digest(found: str, file: ListedFile) -> None:
    if file.sha256 and found != file.sha256:
        raise Again(f"`{file.filename}` has another digest than the index announced", code="hash-mismatch")


def retrieve_locally(file: ListedFile, name: str) -> Retrieved:
    """Return the metadata of a wheel in a folder.

    Raise `NoMetadata` if the wheel has none, `PmError` if it cannot be read or is not what a local index announced.
    """
    return Retrieved(metadata_of_wheel(file.local, name), verified_digest(file), Path(file.local).stat().st_size)


def verified_digest(file: ListedFile) -> str:
    """Return the digest of a local file; raise `PmError` (`hash-mismatch`) if its listing says another."""
    digest = sha256_of(file.local)
    if file.sha256 and digest != file.sha256:
        raise PmError("hash-mismatch", f"`{file.local}` has another digest than its index announced", file=file.local)
    return digest


def _read_remotely(remote: "_RemoteFile", name: str) -> bytes:
    with opened_wheel(cast("IO[bytes]", remote)) as archive:
        member = metadata_member(archive, name)
        remote.want(member.header_offset, member.header_offset + LOCAL_HEADER + member.compress_size)
        return read_member(archive, member)


class _RemoteFile(io.RawIOBase):
    """A file on a server, of which only the parts that are looked at are fetched."""

    def __init__(self, transport: Transport, file: ListedFile) -> None:
        super().__init__()
        self._transport = transport
        self._file = file
        self._position = 0
        self._parts: list[tuple[int, bytes]] = []
        self.size = file.size or 0
        if self.size:
            self.want(max(0, self.size - _TAIL), self.size)
        else:
            self._fetch(f"bytes=-{_TAIL}", _TAIL)

    def want(self, start: int, end: int) -> None:
        """Make sure that the bytes from `start` up to `end` are here. Raise `Unreadable` for more than is ever read."""
        end = min(end, self.size)
        if not 0 <= start < end:
            raise NoMetadata("it is not a readable wheel")
        check_length(end - start, WHEEL_PART_BYTES, "a part of it")
        if not self._has(start, end):
            self._fetch(f"bytes={start}-{end - 1}", end - start)
            if not self._has(start, end):
                raise _NoRanges  # it sent another part than it was asked for

    def _has(self, start: int, end: int) -> bool:
        return any(first <= start and end <= first + len(part) for first, part in self._parts)

    def _fetch(self, wanted: str, most: int) -> None:
        # Without `identity` a proxy may compress the part, and its length would say nothing.
        headers = {"Range": wanted, "Accept-Encoding": "identity"}
        read = partial(self._read_part, most=most)
        self._parts.append(self._transport.ask(self._file.url, read, headers=headers, passed=_NOT_THIS_WAY))

    def _read_part(self, answer: HttpAnswer, most: int) -> tuple[int, bytes]:
        """Return where a part begins and what it is: as long as it was asked for, whatever its head says."""
        if answer.status in _GONE:
            raise Again(f"it answered {answer.status} for a file that the index lists")
        match = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        if answer.status != _PARTIAL or match is None:
            raise _NoRanges
        start, last, size = (int(number) for number in match.groups())
        if size != (self._file.size or size):
            raise Again(f"`{self._file.filename}` has another size than the index announced", code="hash-mismatch")
        if not start <= last < size or last - start >= most:
            raise _NoRanges
        self.size = size
        content = answer.body(last - start + 1)
        if len(content) != last - start + 1:
            raise Again("the transfer ended early")
        if start == 0 and len(content) == size:
            _check_digest(hashlib.sha256(content).hexdigest(), self._file)
        return start, content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        end = self.size if size < 0 else min(self.size, self._position + size)
        if end <= self._position:
            return b""
        self.want(self._position, end)
        start, part = next(
            (start, part) for start, part in self._parts if start <= self._position and end <= start + len(part)
        )
        content = part[self._position - start : end - start]
        self._position = end
        return content
