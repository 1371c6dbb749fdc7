"""Services that start in an environment by its path: which there are, and how they start what is selected instead.

A service that starts by such a path has no lease until it runs, keeps an old environment from being deleted, and misses
every later change. The host writes its main file again and again, but leaves drop-ins alone.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pm.errors import PmError
from pm.launch.front_door import NAME, front_door
from pm.limits import SERVICE_UNIT_BYTES
from pm.places import EnvironmentNumber, Places, user_home
from pm.system.files import read_regular, write_bytes
from pm.system.folders import walk
from pm.system.owners import owners_home

_OF_THE_SYSTEM = ("/etc/systemd/system", "/etc/systemd/user", "/run/systemd/system", "/usr/local/lib/systemd/system")
_OF_A_USER = (".config/systemd/user", ".local/share/systemd/user", "Library/LaunchAgents")
_KINDS = (".service", ".conf", ".timer", ".socket", ".path", ".plist")
"""Endings of units, of drop-ins, and of what launchd reads."""
DROP_IN = "hermes-plugin-manager.conf"
"""In the folder of a unit's drop-ins: ours."""
_EXEC = re.compile(r"^(Exec[A-Za-z]+)[ \t]*=[ \t]*(.*)$", re.MULTILINE)


class Unit(NamedTuple):
    """A unit or a drop-in that names environments of this root by their paths."""

    file: Path
    numbers: frozenset[EnvironmentNumber]
    changed: tuple[tuple[str, str], ...]
    """Its commands that start in an environment: key and value as they would start what is selected."""

    @property
    def drop_in(self) -> Path | None:
        """Where what it starts can be said anew; `None` for what systemd does not read, and for a drop-in itself."""
        is_unit = self.file.suffix == ".service" and bool(self.changed)
        return self.file.with_name(f"{self.file.name}.d") / DROP_IN if is_unit else None


def named_by_units(places: Places, environ: Mapping[str, str]) -> frozenset[EnvironmentNumber]:
    """Return the environments of this root that a unit or a drop-in names by path."""
    return frozenset(number for unit in naming_units(places, environ) for number in unit.numbers)


def naming_units(places: Places, environ: Mapping[str, str]) -> list[Unit]:
    """Return the units and drop-ins that name an environment of this root by its path, by their files.

    Those of the system are looked at, of this user, and of the user that the root belongs to: it may be a service's.
    One that a drop-in of ours overrides is none of them.
    """
    spellings = sorted({one for home in _users(places, environ) or {""} for one in _spellings(places, home)})
    units = (_unit(places, file, text, spellings) for file, text in _found(places, environ).items())
    return [unit for unit in units if unit is not None and not _is_overridden(unit)]


def _users(places: Places, environ: Mapping[str, str]) -> set[str]:
    return {str(home) for home in (user_home(environ), owners_home(places.root)) if home is not None}


def _found(places: Places, environ: Mapping[str, str]) -> dict[Path, bytes]:
    """Return what units and drop-ins say, by their files in order."""
    folders = dict.fromkeys(_folders(environ, _users(places, environ)))
    return dict(sorted((file, text) for folder in folders for file, text in _texts(folder)))


def _unit(places: Places, file: Path, content: bytes, spellings: Iterable[str]) -> Unit | None:
    roots = b"|".join(re.escape(os.fsencode(f"{spelling}/pm/generations/")) for spelling in spellings)
    numbers = re.findall(rb"(?:" + roots + rb")([0-9]{1,9})(?![0-9.])", content)
    if not numbers:
        return None
    program = re.compile(rf'"?(?:{os.fsdecode(roots)})[0-9]{{1,9}}/bin/([^"\s]+)"?')
    start = f"{_quoted(str(places.front / NAME))} run -- "
    commands = _EXEC.findall(re.sub(r"\\\n", " ", os.fsdecode(content)))
    started = ((key, program.sub(lambda found: start + found[1], value)) for key, value in commands)
    changed = tuple((key, value) for key, value in started if start in value)
    return Unit(file, frozenset(EnvironmentNumber(int(number)) for number in numbers), changed)


def _quoted(path: str) -> str:
    """Write a path as units do."""
    escaped = path.replace("\\", r"\\").replace("%", "%%")
    return f'"{escaped}"' if re.search(r"\s", escaped) else escaped


def _is_overridden(unit: Unit) -> bool:
    """Say whether a drop-in of ours says for each of a unit's commands what is started."""
    if unit.drop_in is None:
        return False
    try:
        return read_regular(unit.drop_in, SERVICE_UNIT_BYTES) == drop_in_text(unit)
    except OSError:
        return False


def drop_in_text(unit: Unit) -> bytes:
    """Return a drop-in by which a unit's commands run in the generation that is selected at their start."""
    keys = dict.fromkeys(key for key, _ in unit.changed)
    lines = [
        "# Written by `hermes pm services --write`: it starts in the generation that is selected.",
        "[Service]",
        *(line for key in keys for line in (f"{key}=", *(f"{key}={v}" for k, v in unit.changed if k == key))),
    ]
    return "\n".join([*lines, ""]).encode(errors="surrogateescape")


def write_drop_in(places: Places, unit: Unit) -> Path:
    """Write a unit's drop-in. Raise `PmError` (`not-writable`, `no-space`)."""
    if unit.drop_in is None:
        raise PmError("not-writable", f"`{unit.file}` takes no drop-in", file=str(unit.file))
    front_door(places)
    write_bytes(unit.drop_in, drop_in_text(unit), like=unit.file)
    return unit.drop_in


def own_drop_ins(places: Places, environ: Mapping[str, str]) -> list[Path]:
    """Return the drop-ins that start what is selected in this root."""
    door = _quoted(str(places.front / NAME)).encode(errors="surrogateescape")
    return [file for file, text in _found(places, environ).items() if file.name == DROP_IN and door in text]


def _folders(environ: Mapping[str, str], homes: Iterable[str]) -> Iterator[Path]:
    yield from map(Path, _OF_THE_SYSTEM)
    if environ.get("XDG_CONFIG_HOME"):
        yield Path(environ["XDG_CONFIG_HOME"], "systemd", "user")
    yield from (Path(home, folder) for home in sorted(homes) for folder in _OF_A_USER)


def _spellings(places: Places, home: str) -> set[str]:
    """Return how a unit may write the root: with links or without, and from the user's home."""
    roots = {str(places.root), os.path.realpath(places.root)}
    inside = {root.removeprefix(f"{folder}/") for root in roots for folder in (home, os.path.realpath(home)) if home}
    return roots | {f"%h/{path}" for path in inside - roots}


def _texts(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield what the units of a folder say, and their drop-ins; what cannot be read says nothing."""
    for directory, _, names in walk(folder):
        for name in names:
            if name.endswith(_KINDS):
                try:
                    yield Path(directory, name), read_regular(Path(directory, name))[: SERVICE_UNIT_BYTES.value]
                except OSError:
                    continue
