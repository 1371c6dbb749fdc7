"""Write files that are there whole or not at all, and read JSON that may be damaged."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from pathlib import Path

from pm.errors import PmError


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644, durable: bool = False) -> None:
    """Replace a file by one rename; with `durable` its content and its folder are on the disk when this returns.

    Raise `PmError` (`no-space`, `not-writable`); then the old file is as it was.
    """
    # of a long name a part, since letters can take four bytes and a name has at most 255
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor with the mode it shall have
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        if str(error.filename) == str(temporary):  # which nobody knows
            error.filename = str(path)
        raise disk_error(error, path) from error


def write_json(path: Path, value: object, *, mode: int = 0o644, durable: bool = False) -> None:
    """Replace a JSON file; see `write_bytes`."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    write_bytes(path, content + b"\n", mode=mode, durable=durable)


def read_json(path: Path) -> object:
    """Return what a JSON file holds, or `None` if it is missing or damaged: for what can be made anew."""
    try:
        content: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def disk_error(error: OSError, path: Path) -> PmError:
    """Return the `PmError` that an error of the disk means."""
    where = str(error.filename or path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PmError(
            "no-space", f"no space is left for `{where}`", file=where, hint="free some space and run it again"
        )
    return PmError("not-writable", f"`{where}` cannot be written: {error.strerror or error}", file=where)
