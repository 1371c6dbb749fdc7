"""`WheelContents`: which files a wheel puts where, kept by the wheel's digest.

Nothing is unpacked. A file's identity is its checksum and size, as the directory of the archive gives them; that of a
console script, which the installer writes, is the object that it calls. `pm.index.wheel_check` says what is written
where, and whether a wheel can be installed at all.

A digest never means another wheel, so what was learnt once holds for ever, and where a set was installed, all of it is
known: neither verdicts nor the files of the selected environment need to be kept or compared beside it.
"""

import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

from pm.dist_info import ENDING

_Result = TypeVar("_Result")
_MAGIC = b"hermes-pm contents 3 %d"
_OF_AN_INFO = f"{ENDING}/"


class Oddity(NamedTuple):
    """What an operator may want to know of a wheel that is installed all the same."""

    code: str
    """`runs-at-start` or `invalid-script`."""
    paths: tuple[str, ...]


class WheelContents(NamedTuple):
    """What one wheel puts where."""

    tops: tuple[str, ...]
    """One path for each top-level name, a package's `__init__.py` where it has one; sorted."""
    row: bytes
    """Path → identity as JSON: parsed when it is looked at, because hardly any wheel shares a name with another."""
    flaw: str = ""
    """Why the wheel cannot be installed, or not right."""
    oddities: tuple[Oddity, ...] = ()
    """What an operator may want to know of it."""
    proved: bool = False
    """Whether each file was compared with the hash that RECORD gives."""

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


# -- making the value


def contents_of(
    files: Mapping[str, str], flaw: str = "", oddities: Iterable[Oddity] = (), *, proved: bool = False
) -> WheelContents:
    """Return the value that stands for these files."""
    tops: dict[str, str] = {}
    for path in sorted(files):
        top = top_of(path)
        if top not in tops or path == f"{top}/__init__.py":
            tops[top] = path
    row = json.dumps(files, ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode("ascii")
    return WheelContents(tuple(sorted(tops.values())), row, flaw, tuple(oddities), proved)


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
        tops, flaw, odd, proved = json.loads(head)
        oddities = tuple(Oddity(code, tuple(paths)) for code, paths in odd)
    except (ValueError, TypeError):  # so short that its check says nothing
        return None
    return WheelContents(tuple(tops), row, flaw, oddities, proved)


def save_contents(cache: Path, sha256: str, contents: WheelContents) -> None:
    """Keep what is known of a wheel. Raise `PmError` (`no-space`, `not-writable`)."""
    from pm.system.files import write_bytes

    told = [contents.tops, contents.flaw, contents.oddities, contents.proved]
    head = json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    rest = head + b"\n" + contents.row
    write_bytes(Path(_file(cache, sha256)), _MAGIC % zlib.crc32(rest) + b"\n" + rest)


def _file(cache: Path, sha256: str) -> str:
    return f"{os.fspath(cache)}/contents/{sha256[:2]}/{sha256}"


# -- learning from many wheels at once


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
