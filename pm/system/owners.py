"""Whose files are: what is replaced keeps owner and group, and what root makes in another user's home is theirs.

Root is asked for one thing in a service's home, and the service has to be able to use what came of it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

ROOT = 0


def keeps_owner(path: Path) -> bool:
    """Say whether what replaces a path can have its owner and its group."""
    try:
        status = path.lstat()
    except OSError:  # nothing is there, or it is not known: then nothing is kept from anything
        return True
    user = os.geteuid()
    if user == ROOT:
        return True
    return status.st_uid == user and (status.st_gid in (os.getegid(), *os.getgroups()))


def give_like(descriptor: int, path: Path) -> None:
    """Give an open file the owner and the group of what it replaces; of root also a new one those of its folder."""
    replaced = _status(path)
    model = replaced if replaced is not None else _status(path.parent) if os.geteuid() == ROOT else None
    if model is None:
        return
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (model.st_uid, model.st_gid):
        mode = stat.S_IMODE(own.st_mode)
        with suppress(PermissionError):  # what must keep its owner was refused before (`keeps_owner`)
            os.fchown(descriptor, model.st_uid if os.geteuid() == ROOT else -1, model.st_gid)
            os.fchmod(descriptor, mode)  # the system takes bits away with the owner


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def hand_over(path: Path, like: Path) -> None:
    """Give what root has made below a path, and the path itself, to the owner of another path; no link is followed.

    Nothing is done for any other user, and where the other path is root's own.
    """
    model = _status(like) if os.geteuid() == ROOT else None
    if model is None or model.st_uid == ROOT:
        return
    owner = (model.st_uid, model.st_gid)
    with suppress(OSError):  # the next operation of root hands over what is left
        if path.lstat().st_uid == ROOT:
            os.chown(path, *owner, follow_symlinks=False)
        # by descriptors: between a look and a change, the other user may put a link in the place of a folder
        for _, folders, files, folder in os.fwalk(path, follow_symlinks=False):
            for name in (*folders, *files):
                if os.stat(name, dir_fd=folder, follow_symlinks=False).st_uid == ROOT:
                    os.chown(name, *owner, dir_fd=folder, follow_symlinks=False)


def user_name(user: int) -> str:
    """Return the name of a user, or the number of one that has none."""
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"#{user}"


def owners_home(path: Path) -> Path | None:
    """Return the home of the user that a path belongs to; `None` for one that has none."""
    import pwd

    status = _status(path)
    try:
        return Path(pwd.getpwuid(status.st_uid).pw_dir) if status is not None else None
    except KeyError:
        return None
