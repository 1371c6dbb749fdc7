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
    """Return what a JSON file holds, or `None` if it is missing, damaged or cannot be read: for what is made anew."""
    try:
        return read_stored(path)
    except OSError:
        return None


def read_stored(path: Path) -> object:
    """Return what a JSON file holds, or `None` if it is missing or damaged.

    Raise `OSError` for one that the disk does not give now: it may be fine later, and must not be written over.
    """
    try:
        content: object = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    return content


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, as far as its file system can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # of a network or in user space, it keeps them itself
            raise
    finally:
        os.close(descriptor)


def disk_error(error: OSError, path: Path, *, verb: str = "written") -> PmError:
    """Return the `PmError` that an error of the disk means; `verb` says what was tried with a file."""
    where = str(error.filename or path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PmError(
            "no-space", f"no space is left for `{where}`", file=where, hint="free some space and run it again"
        )
    if error.errno in (errno.ENOLCK, errno.ENOSYS):
        hint = "its file system has no locks, or cannot reach whoever gives them: put the home on one that has"
        return PmError("not-writable", f"`{where}` cannot be locked: {error.strerror}", file=where, hint=hint)
    message = f"`{where}` cannot be {verb}: {error.strerror or error}"
    others = _of_somebody_else(Path(where)) if error.errno in (errno.EACCES, errno.EPERM) else None
    if others is None:
        return PmError("not-writable", message, file=where)
    blocking, owner = others
    hint = f"it belongs to `{owner}`: run this as that user, for example with `sudo -u {owner}`"
    return PmError("not-writable", message, file=str(blocking), hint=hint)


def require_writable(*paths: Path) -> None:
    """Raise `PmError` (`not-writable`) for what cannot be written, before anything was done in vain for it."""
    for path in paths:
        there = next(part for part in (path, *path.parents) if os.path.lexists(part))
        # a file of one's own is replaced, whatever its mode; for the link that keeps the old one it must be one's own
        is_own_file = there.is_file() and there.stat().st_uid == os.geteuid()
        if not is_own_file and not os.access(there, os.W_OK):
            raise disk_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there)), there)


def _of_somebody_else(path: Path) -> tuple[Path, str] | None:
    """Return what of a path and its folder this user may not use because it belongs to another, and to whom."""
    folder = next((part for part in path.parents if os.access(part, os.F_OK)), path)
    for part in (path, folder):
        with contextlib.suppress(OSError):
            user = part.stat().st_uid
            if user != os.geteuid() and not os.access(part, os.R_OK | os.W_OK):
                return part, _user_name(user)
    return None


def _user_name(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"#{user}"
