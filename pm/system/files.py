"""Write files that are there whole or not at all, and read JSON that may be damaged.

No other module writes a file that must be whole: all that a killed process can leave has a name of one kind.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pm.errors import PmError
from pm.limits import STATE_BYTES, Limit
from pm.system.mounts import mounted_at
from pm.system.owners import ROOT, give_like, keeps_owner, user_name


def read_regular(path: Path, most: Limit = STATE_BYTES) -> bytes:
    """Return the content of a regular file, which may be a link to one.

    Raise `OSError` for anything else: `FileNotFoundError` also for a link that leads nowhere, and with `strerror` in
    words for what is no regular file (a pipe would be waited for, a device never ends) or is larger than the limit.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "this is not a regular file", str(path))
    if status.st_size > most.value:
        raise _too_large(path, most)
    # what became a pipe since gives nothing instead of being waited for
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor that does not wait
        content = stream.read(status.st_size + 1)  # asking for the whole limit takes memory for it
        if len(content) > status.st_size:  # it grew, or is of a kind that has no size
            content += stream.read(most.value + 1 - len(content))
    if len(content) > most.value:
        raise _too_large(path, most)
    return content


def _too_large(path: Path, most: Limit) -> OSError:
    return OSError(errno.EFBIG, f"the file is larger than {_amount(most)}", str(path))


def _amount(most: Limit) -> str:
    mebibytes, rest = divmod(most.value, 1024 * 1024)
    return f"{mebibytes} MiB" if mebibytes > 1 and not rest else f"{most.value // 1024} KiB"


def leads_nowhere(path: Path) -> str:
    """Return what a link names that is not there or leads round in circles; empty for anything else."""
    if not os.path.islink(path) or os.path.exists(path):  # noqa: PTH110, PTH114 - those of `Path` raise for a circle
        return ""
    return os.readlink(path)  # noqa: PTH115 - as above


def write_bytes(
    path: Path, content: bytes, *, mode: int = 0o644, durable: bool = False, like: Path | None = None
) -> None:
    """Replace a file by one rename; with `durable` its content and its folder are on the disk when this returns.

    It has the owner and the group of the file that it replaces, or of `like`. Raise `PmError` (`no-space`,
    `not-writable`); then the old file is as it was.
    """
    with written_whole(path, mode=mode, durable=durable, like=like) as file:
        file.write(content)


def write_json(path: Path, value: object, *, mode: int = 0o644, durable: bool = False) -> None:
    """Replace a JSON file; see `write_bytes`."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    # a name that is not UTF-8 has halves of surrogate pairs, which `json` reads back as they are
    write_bytes(path, content.encode(errors="surrogatepass") + b"\n", mode=mode, durable=durable)


@contextlib.contextmanager
def written_whole(
    path: Path, *, mode: int = 0o644, durable: bool = False, like: Path | None = None
) -> Iterator[BinaryIO]:
    """Give a stream whose content replaces a file by one rename when all went well; else the old file stays.

    With `durable`, content and folder are on the disk then. Raise `PmError` (`no-space`, `not-writable`); an `OSError`
    that names another file than this one is the caller's.
    """
    temporary = unfinished(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except OSError as error:
        raise _about(path, temporary, error) from error
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor with the mode it shall have
            give_like(file.fileno(), like or path)
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        temporary.replace(path)
        if durable:
            sync_folder(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary), str(path.parent)):
            raise _about(path, temporary, error) from error
        raise


def put_in_place(finished: Path, path: Path) -> Path:
    """Give a file that was finished on the same file system its place by one rename, and return that.

    Raise `PmError` (`no-space`, `not-writable`).
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return finished.replace(path)
    except OSError as error:
        raise _about(path, finished, error) from error


@contextlib.contextmanager
def working_folder(below: Path) -> Iterator[Path]:
    """Give an empty folder for a while. Raise `PmError` (`no-space`, `not-writable`)."""
    import shutil

    folder = unfinished(below / "work")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise _about(below, folder, error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unfinished(path: Path) -> Path:
    """Return a name beside a path for what is to take its place; what a killed process leaves is known by it."""
    # of a long name a part, since letters can take four bytes and a name has at most 255; its end tells the kind
    return path.with_name(f".{path.name[-40:]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")


def unfinished_by(name: str) -> int | None:
    """Return the process that made a name by `unfinished`; `None` for any other name."""
    match = re.fullmatch(_UNFINISHED, name) if name.startswith(".") else None
    return int(match[1]) if match is not None else None


_UNFINISHED = r"\..+\.([0-9]+)\.[0-9a-f]{8}\.tmp"


def _about(path: Path, temporary: Path, error: OSError) -> PmError:
    if str(error.filename) == str(temporary):  # a name that means nothing to the operator
        error.filename = str(path)
    return disk_error(error, path)


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
        content: object = json.loads(read_regular(path))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return None
    except OSError as error:
        if is_damaged(error):
            return None
        raise
    return content


def path_text(value: str) -> str:
    """Return a text that names a file or folder of this system; raise `ValueError` for one that no name can be."""
    if b"\0" in os.fsencode(value):
        message = "a name holds no NUL"
        raise ValueError(message)
    return value


def is_damaged(error: OSError) -> bool:
    """Say whether `read_regular` refused what lies there, and no later attempt will get more of it."""
    return error.errno in (errno.EINVAL, errno.EFBIG, errno.ELOOP)


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
        hint = "its file system has no locks, or cannot reach the server that gives them: put the home on one that has"
        return PmError("not-writable", f"`{where}` cannot be locked: {error.strerror}", file=where, hint=hint)
    if error.errno in (errno.EXDEV, errno.EBUSY):
        mount = next((one for one in (Path(where), path) if mounted_at(one) is not None), None)
        if mount is not None:
            return _is_mounted(mount)
    message = f"`{where}` cannot be {verb}: {error.strerror or error}"
    if hint := _of_the_place(error, where):
        return PmError("not-writable", message, file=where, hint=hint)
    others = _of_another_user(Path(where)) if error.errno in (errno.EACCES, errno.EPERM) else None
    if others is None:
        return PmError("not-writable", message, file=where)
    return PmError("not-writable", message, file=str(others[0]), hint=owner_hint(Path(where)))


def _of_the_place(error: OSError, where: str) -> str:
    """Return what to do about a place where nothing can be written, whatever rights there are; else an empty text."""
    if error.errno == errno.EROFS:
        return "its file system is mounted read-only: mount it so that it can be written"
    if error.errno == errno.ENOTDIR:
        file = next((one for one in Path(where).parents if one.exists()), Path(where))
        return f"`{file}` is not a folder: name another place, or move it away"
    return ""


def owner_hint(path: Path) -> str:
    """Return what to do about a path that another user keeps from this one; empty if none does."""
    others = _of_another_user(path)
    if others is None:
        return ""
    return _of_owner(*others)


def _of_owner(path: Path, owner: str) -> str:
    """Return what to do about a path of another user: in a folder of one's own, it should be one's own."""
    strange = next((part for part in (path, *path.parents) if _should_be_ours(part)), None)
    if strange is not None:
        return f"it belongs to `{owner}`: `sudo chown -R {user_name(os.geteuid())} {_quoted(strange)}` gives it to you"
    return f"it belongs to `{owner}`: run this as that user, for example with `sudo -u {owner}`"


def _should_be_ours(path: Path) -> bool:
    """Say whether a path of another user lies in a folder of this one, or is one of root in a folder for this one."""
    folder, owner, user = path.parent, path.lstat().st_uid, os.geteuid()
    if user == owner or folder == path:
        return False
    status = folder.stat()
    # in one for everyone, as `/tmp` is, each keeps what is theirs
    shared = bool(status.st_mode & stat.S_ISVTX)
    return status.st_uid == user or (owner == ROOT and not shared and os.access(folder, os.W_OK))


def _quoted(path: Path) -> str:
    """Return a path as a word of the shell."""
    import shlex

    return shlex.quote(str(path))


def _is_mounted(path: Path) -> PmError:
    message = f"`{path}` is a mount of its own (of `{mounted_at(path)}`), and cannot be replaced"
    hint = f"mount the folder `{path.parent}` instead, or unmount `{path}` for this change; nothing was changed"
    return PmError("not-writable", message, file=str(path), hint=hint)


def require_replaceable(*paths: Path) -> None:
    """Raise `PmError` (`not-writable`) for a mount of its own, and for what could not keep its owner."""
    for path in paths:
        if mounted_at(path) is not None:
            raise _is_mounted(path)
        if not keeps_owner(path):
            owner = user_name(path.lstat().st_uid)
            message = (
                f"`{path}` belongs to `{owner}` or to a group that you are not in, and would be yours once replaced"
            )
            raise PmError("not-writable", message, file=str(path), hint=_of_owner(path, owner))


def free_bytes(path: Path) -> int:
    """Return what this user can still write on the file system where a path lies or would lie; 0 if it has no names."""
    status = os.statvfs(existing(path))
    if status.f_files and not status.f_favail:
        return 0
    blocks = status.f_bfree if os.geteuid() == 0 else status.f_bavail
    return blocks * status.f_frsize


def existing(path: Path) -> Path:
    """Return a path, or the folder above it that is there."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def size_text(size: int) -> str:
    """Return a number of bytes as people read it."""
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1000:.1f} kB"  # noqa: PLR2004 - where MB read better


def require_space(path: Path, size: int) -> None:
    """Raise `PmError` (`no-space`) where so many bytes do not fit, before the first is written."""
    free = free_bytes(path)
    if free < size:
        message = f"`{path}` needs {size_text(size)}, {size_text(size - free)} more than are free"
        raise PmError("no-space", message, file=str(path), hint="free some space and run it again")


def require_writable(*paths: Path) -> None:
    """Raise `PmError` (`not-writable`) for what cannot be written, before anything was done in vain for it."""
    for path in paths:
        there = next(part for part in (path, *path.parents) if os.path.lexists(part))
        # a file of one's own is replaced, whatever its mode; for the link that keeps the old one it must be one's own
        is_own_file = there.is_file() and there.stat().st_uid == os.geteuid()
        if not is_own_file and not os.access(there, os.W_OK):
            raise disk_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there)), there)


def _of_another_user(path: Path) -> tuple[Path, str] | None:
    """Return what of a path and its folder this user may not use because it belongs to another, and to whom."""
    folder = next((part for part in path.parents if os.access(part, os.F_OK)), path)
    for part in (path, folder):
        with contextlib.suppress(OSError):
            user = part.stat().st_uid
            if user != os.geteuid() and not os.access(part, os.R_OK | os.W_OK):
                return part, user_name(user)
    return None
