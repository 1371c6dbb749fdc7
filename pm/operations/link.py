"""Make and unmake the front door: a `hermes` in a folder of programs that starts this manager.

What stood there is kept beside it under another name, by which no program is found, and is put back. Both steps are one
rename: whatever is stopped in between, a whole `hermes` is there, the old one or the new one.
"""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.launch.front_door import KEPT, NAME, door_text, is_door, is_door_to, running_program
from pm.names import shown
from pm.places import expanded
from pm.system.files import disk_error, unfinished, write_bytes

_MANAGER = "hermes-pm"


class Linked(NamedTuple):
    """What was done to the program `hermes` of a folder, or would be."""

    state: str
    """`linked`, `unlinked` or `unchanged`."""
    path: str
    """Of the front door."""
    program: str
    """What it starts; empty where there is none."""
    kept: str = ""
    """What stood there before, where it is kept, or was put back."""
    notes: tuple[str, ...] = ()
    """What the operator has to know: why another `hermes` is found, what was left alone."""


def link(folder: str | None, environ: Mapping[str, str], *, force: bool = False, dry_run: bool = False) -> Linked:
    """Make the front door in a folder, by default in that of `hermes-pm`.

    Raise `PmError` (`name-taken` for another program of that name, without `force`; `no-home`, `no-space`,
    `not-writable`).
    """
    door, program = _door(folder, environ), _program()
    content, kept = door_text(program), door.with_name(KEPT)
    if is_door_to(door, content):
        return Linked("unchanged", str(door), program, _there(kept), _notes(door, environ))
    stands = os.path.lexists(door) and not is_door(door)
    if stands and not force:
        raise _taken(door)
    if not dry_run:
        if stands:
            _keep(door, kept)
        write_bytes(door, content, mode=0o755)
    return Linked("linked", str(door), program, str(kept) if stands else _there(kept), _notes(door, environ))


def unlink(folder: str | None, environ: Mapping[str, str], *, dry_run: bool = False) -> Linked:
    """Take the front door away, and put back what stood there; another program of that name is left alone.

    Raise `PmError` (`no-home`, `not-writable`).
    """
    door = _door(folder, environ)
    kept = door.with_name(KEPT)
    if os.path.lexists(door) and not is_door(door):
        note = f"`{door}` is not the front door, and stays as it is"
        left = (f"what stood there before the front door is kept as `{kept}`",) if os.path.lexists(kept) else ()
        return Linked("unchanged", str(door), "", notes=(note, *left))
    if not os.path.lexists(door) and not os.path.lexists(kept):
        return Linked("unchanged", str(door), "", notes=(f"there is no front door in `{door.parent}`",))
    back = os.path.lexists(kept)
    if not dry_run:
        _put_back(door, kept)
    return Linked("unlinked", str(door), "", str(door) if back else "")


def linked_folders(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders of programs in which the front door to this manager stands, in the order of the PATH."""
    program = running_program()
    if program is None:
        return []
    content = door_text(program)
    folders = [*environ.get("PATH", "").split(os.pathsep), str(_usual(environ))]
    return [Path(folder) for folder in dict.fromkeys(folders) if folder and is_door_to(Path(folder, NAME), content)]


def _door(folder: str | None, environ: Mapping[str, str]) -> Path:
    place = Path(os.path.abspath(expanded(folder))) if folder else _usual(environ)  # noqa: PTH100 - a link to a folder keeps its name
    if os.path.lexists(place) and not place.is_dir():
        raise PmError("not-writable", f"`{place}` is not a folder", file=str(place))
    return place / NAME


def _usual(environ: Mapping[str, str]) -> Path:
    """Return the folder in which this manager is found, else the one for the programs of a user."""
    found = shutil.which(_MANAGER, path=environ.get("PATH"))
    if found is not None and os.path.realpath(found) == running_program():
        return Path(found).absolute().parent
    return expanded("~/.local/bin")


def _program() -> str:
    program = running_program()
    if program is None:
        message = "it is not known which program this manager is"
        raise PmError("invalid-source", message, hint=f"start it as `{_MANAGER}`")
    return program


def _taken(door: Path) -> PmError:
    what = f"a link to {shown(str(door.readlink()))}" if door.is_symlink() else "another program"
    message = f"`{door}` is there already: {what}"
    hint = f"`hermes-pm link --bin {door.parent} --force` keeps it and takes its place; `unlink` puts it back"
    return PmError("name-taken", message, file=str(door), hint=hint)


def _keep(door: Path, kept: Path) -> None:
    """Give the program a second name, which also replaces what was kept of an earlier one."""
    name = unfinished(kept)
    try:
        os.link(door, name, follow_symlinks=False)
        name.replace(kept)  # does nothing, and leaves `name`, where both are one file already
    except OSError as error:
        raise disk_error(error, kept) from error
    finally:
        with suppress(FileNotFoundError):
            name.unlink()


def _put_back(door: Path, kept: Path) -> None:
    try:
        if os.path.lexists(kept):
            kept.replace(door)
        else:
            door.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(error, door) from error


def _there(kept: Path) -> str:
    return str(kept) if os.path.lexists(kept) else ""


def _notes(door: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return why a shell would not find the front door, with the line that changes that."""
    path = environ.get("PATH", "")
    line = f'write `export PATH="{door.parent}:$PATH"` into the file that your shell reads at its start'
    if str(door.parent) not in path.split(os.pathsep):
        return (f"`{door.parent}` is not on the PATH; {line}",)
    first = next((found for folder in path.split(os.pathsep) if os.path.lexists(found := Path(folder, NAME))), door)
    return () if first == door else (f"`{first}` comes first on the PATH; {line}",)
