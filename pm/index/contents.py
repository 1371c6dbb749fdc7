"""`WheelContents`: which files a wheel puts where, learnt from its directory and kept by the wheel's digest.

Nothing is unpacked. A file's identity is its checksum and size, as the directory of the archive gives them; that of a
console script, which the installer writes, is the object that it calls. The rules of what is written where are those
of uv, which installs: it passes over entries that would leave the environment, so they are no part of the contents.

A digest never means another wheel, so what was learnt once holds for ever, and where a set was installed, all of it is
known: neither verdicts nor the files of the selected environment need to be kept or compared beside it.
"""

import io
import json
import os
import posixpath
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, TypeVar, cast

from lockfiles import Artifact
from pm.dist_info import ENDING, is_info

if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_Result = TypeVar("_Result")
_MAGIC = b"hermes-pm contents 1 %d"
_OUTSIDE = "../../.."
"""From the site-packages to the environment's own folder, as RECORDs write it."""
_SCRIPTS = f"{_OUTSIDE}/bin"
_SCHEMES = {"purelib": "", "platlib": "", "scripts": f"{_SCRIPTS}/", "data": f"{_OUTSIDE}/"}
_OF_ITS_OWN = "headers"
"""Headers go into a folder that is named for the distribution: no other wheel writes there."""
_OF_AN_INFO = f"{ENDING}/"
_LARGEST_DIRECTORY = 16 * 1024 * 1024
"""Bytes; ten times the largest real ones."""
_LONGEST_ENTRY_POINTS = 1024 * 1024
LOCAL_HEADER = 30 + 2 * 1024
"""Bytes of a member's own header: fixed part, name and extra fields."""


class WheelContents(NamedTuple):
    """What one wheel puts where."""

    tops: tuple[str, ...]
    """One path for each top-level name, a package's `__init__.py` where it has one; sorted."""
    row: bytes
    """Path → identity as JSON: parsed when it is looked at, because hardly any wheel shares a name with another."""
    flaw: str = ""
    """Why no installer can use the wheel."""

    @property
    def files(self) -> Mapping[str, str]:
        """Paths relative to the site-packages, each with what tells whether two files of that path are the same."""
        return cast("dict[str, str]", json.loads(self.row))


def counts(path: str) -> bool:
    """Say whether a path can collide: metadata is each distribution's own, and bytecode is made anew."""
    return _OF_AN_INFO not in path and "__pycache__/" not in path


def top_of(path: str) -> str:
    """Return the top-level name of an installed path; outside of the site-packages each path is its own."""
    return path if path.startswith("..") else path.partition("/")[0]


# -- reading a wheel


def contents_of(files: Mapping[str, str], flaw: str = "") -> WheelContents:
    """Return the value that stands for these files."""
    tops: dict[str, str] = {}
    for path in sorted(files):
        top = top_of(path)
        if top not in tops or path == f"{top}/__init__.py":
            tops[top] = path
    row = json.dumps(files, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode("ascii")
    return WheelContents(tuple(sorted(tops.values())), row, flaw)


def read_contents(wheel: IO[bytes], want: Callable[[int, int], None] | None = None) -> WheelContents | None:
    """Return what a wheel puts where; of a file that is no usable wheel, its flaw.

    `None` if its directory is too large to be read. `want` is told which bytes will be read next, for a file of which
    only parts are here.
    """
    import zipfile

    try:
        with zipfile.ZipFile(cast("IO[bytes]", _Measured(wheel))) as archive:
            return _read_archive(archive, want)
    except _TooLarge:
        return None
    except _Flawed as flawed:
        return contents_of({}, str(flawed))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError, ValueError, zlib.error):
        return contents_of({}, "it is not a readable wheel")


class _Flawed(Exception):
    """A wheel that uv refuses to install."""


class _TooLarge(Exception):
    """A directory that is larger than any real one."""


def _read_archive(archive: "ZipFile", want: Callable[[int, int], None] | None) -> WheelContents:
    members = dict(_members(archive))
    stem = _stem(members)
    files: dict[str, str] = {}
    moved: dict[str, str] = {}
    for path, member in members.items():
        target = _target(path, f"{stem}.data/")
        if target is not None and counts(target):
            (files if target == path else moved)[target] = f"{member.CRC:08x}-{member.file_size}"
    # in the installer's order: what is moved overwrites what lies there, and the scripts that it makes come last
    scripts = _scripts(archive, members.get(f"{stem}{ENDING}/entry_points.txt"), want)
    return contents_of(files | moved | scripts)


def _members(archive: "ZipFile") -> "Iterator[tuple[str, ZipInfo]]":
    """Yield the files with the path at which they are unpacked."""
    seen: dict[str, ZipInfo] = {}
    for member in archive.infolist():
        path = posixpath.normpath(member.filename)
        if member.filename.endswith("/") or path in {".", ".."} or path.startswith(("/", "../")):
            continue
        before = seen.setdefault(path, member)
        if (before.CRC, before.file_size) != (member.CRC, member.file_size):
            raise _Flawed(f"it holds two different files `{path}`")
        yield path, member


def _stem(paths: Iterable[str]) -> str:
    """Return the name and version by which a wheel calls its own folders."""
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    stems = sorted(folder.removesuffix(ENDING) for folder in folders if is_info(folder))
    if len(stems) != 1:
        raise _Flawed("it has no folder of metadata" if not stems else "it has several folders of metadata")
    return stems[0]


def _target(path: str, data: str) -> str | None:
    """Return where a file of a wheel ends up; `None` for one that goes to a folder of the distribution's own."""
    if not path.startswith(data):
        return path
    scheme, _, rest = path.removeprefix(data).partition("/")
    if scheme == _OF_ITS_OWN:
        return None
    if scheme not in _SCHEMES or not rest:
        raise _Flawed(f"it is not known where `{path}` belongs")
    return _SCHEMES[scheme] + rest


def _scripts(archive: "ZipFile", member: "ZipInfo | None", want: Callable[[int, int], None] | None) -> dict[str, str]:
    """Return the scripts that an installer writes for entry points. A file that cannot be read is the installer's."""
    import configparser
    import zipfile

    readable = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    if member is None or member.compress_size > _LONGEST_ENTRY_POINTS or member.compress_type not in readable:
        return {}
    if want is not None:
        want(member.header_offset, member.header_offset + LOCAL_HEADER + member.compress_size)
    with archive.open(member) as file:
        text = file.read(_LONGEST_ENTRY_POINTS).decode("utf-8", "replace")
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, default_section="")
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # the documented way to keep upper case
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {
        f"{_SCRIPTS}/{name}": f"calls {''.join(value.partition('[')[0].split())}"
        for section in ("console_scripts", "gui_scripts")
        if parser.has_section(section)
        for name, value in parser.items(section)
    }


class _Measured(io.RawIOBase):
    """A file that is not read in pieces larger than a reasonable directory."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def read(self, size: int = -1, /) -> bytes:
        if size > _LARGEST_DIRECTORY:
            raise _TooLarge
        return self._file.read(size)


# -- keeping what was learnt


def load_contents(cache: Path, sha256: str) -> WheelContents | None:
    """Return what is known of a wheel; a damaged file is nothing."""
    try:
        with open(_file(cache, sha256), "rb") as file:  # noqa: PTH123 - a Path for each of many wheels costs more
            first, _, rest = file.read().partition(b"\n")
    except OSError:
        return None
    if first != _MAGIC % zlib.crc32(rest):
        return None
    head, _, row = rest.partition(b"\n")
    try:
        tops, flaw = json.loads(head)
    except (ValueError, TypeError):  # so short that its check says nothing
        return None
    return WheelContents(tuple(tops), row, flaw)


def save_contents(cache: Path, sha256: str, contents: WheelContents) -> None:
    """Keep what is known of a wheel. Raise `PmError` (`no-space`, `not-writable`)."""
    from pm.system.files import write_bytes

    head = json.dumps([contents.tops, contents.flaw], ensure_ascii=True, separators=(",", ":")).encode("ascii")
    rest = head + b"\n" + contents.row
    write_bytes(Path(_file(cache, sha256)), _MAGIC % zlib.crc32(rest) + b"\n" + rest)


def _file(cache: Path, sha256: str) -> str:
    return f"{os.fspath(cache)}/contents/{sha256[:2]}/{sha256}"


# -- learning from many wheels at once


def read_local(places: Iterable[Path], artifact: Artifact) -> WheelContents | None:
    """Return the contents of the first of these files that is the wheel in question; `None` if none is."""
    from pm.index.folders import sha256_of

    for path in places:
        if path.name == artifact.filename and path.is_file() and sha256_of(path) == artifact.sha256:
            with path.open("rb") as file:
                return read_contents(file)
    return None


def side_by_side(
    tasks: Sequence[Callable[[], _Result]], workers: int, until: float = inf
) -> Iterator[tuple[int, _Result]]:
    """Yield the results of tasks by their positions as they come, and raise the first exception.

    Raise `queue.Empty` if one has not come until then (`time.monotonic`). What is under way is not waited for when the
    caller stops listening, for example because the user did.
    """
    import queue
    import threading

    waiting: queue.SimpleQueue[int | None] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[int, _Result | None, Exception | None]] = queue.SimpleQueue()
    over = threading.Event()

    def work() -> None:
        while (position := waiting.get()) is not None and not over.is_set():
            try:
                results.put((position, tasks[position](), None))
            except Exception as error:  # noqa: BLE001 - carried to the thread that listens, and raised there
                results.put((position, None, error))

    workers = min(workers, len(tasks))
    for position in (*range(len(tasks)), *[None] * workers):
        waiting.put(position)
    for _ in range(workers):
        threading.Thread(target=work, daemon=True).start()
    try:
        for _ in tasks:
            position, result, error = results.get(timeout=None if until == inf else max(0, until - time.monotonic()))
            if error is not None:
                raise error
            yield position, cast("_Result", result)
    finally:
        over.set()
