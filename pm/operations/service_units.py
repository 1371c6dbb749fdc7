"""The environments that service units name: a service that starts by such a path has no lease until it runs."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pm.limits import SERVICE_UNIT_BYTES
from pm.places import EnvironmentNumber, Places, user_home
from pm.system.files import read_regular
from pm.system.folders import walk
from pm.system.owners import owners_home

_OF_THE_SYSTEM = ("/etc/systemd/system", "/etc/systemd/user", "/run/systemd/system", "/usr/local/lib/systemd/system")
_OF_A_USER = (".config/systemd/user", ".local/share/systemd/user", "Library/LaunchAgents")
_KINDS = (".service", ".conf", ".timer", ".socket", ".path", ".plist")
"""Endings of units, of drop-ins, and of what launchd reads."""


def named_by_units(places: Places, environ: Mapping[str, str]) -> frozenset[EnvironmentNumber]:
    """Return the environments of this root that a unit or a drop-in names by path.

    Those of the system are looked at, of this user, and of the user that the root belongs to: it may be a service's.
    """
    users = {str(home) for home in (user_home(environ), owners_home(places.root)) if home is not None}
    texts = [text for folder in dict.fromkeys(_folders(environ, users)) for text in _texts(folder)]
    numbers: set[EnvironmentNumber] = set()
    for spelling in {spelling for home in users or {""} for spelling in _spellings(places, home)}:
        pattern = re.compile(re.escape(os.fsencode(f"{spelling}/pm/generations/")) + rb"([0-9]{1,9})(?![0-9.])")
        numbers |= {EnvironmentNumber(int(number)) for text in texts for number in pattern.findall(text)}
    return frozenset(numbers)


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


def _texts(folder: Path) -> Iterator[bytes]:
    """Yield what the units of a folder say, and their drop-ins; what cannot be read says nothing."""
    for directory, _, names in walk(folder):
        for name in names:
            if name.endswith(_KINDS):
                try:
                    yield read_regular(Path(directory, name))[: SERVICE_UNIT_BYTES.value]
                except OSError:
                    continue
