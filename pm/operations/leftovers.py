"""Remove what killed operations left: nothing refers to it, and no other operation is under way.

Everything that is made beside its place has a name of its own kind, so that it is known again: in the manager's state
`.<name>.<process>.<hex>.tmp` (`pm.system.files`), beside configs and plugin folders `.<name>.pm-<hex>.<kind>`.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pm.config.profiles import CONFIG
from pm.errors import PmError
from pm.generations.leases import exclusively
from pm.generations.pointer import read_pointer
from pm.generations.records import environments, read_record, recorded
from pm.places import EnvironmentNumber, Places, own_environment
from pm.system.files import read_json, read_regular, unfinished_by
from pm.system.folders import remove_tree

GONE = ".gone-"
"""In the name of an environment that is being deleted: a rename comes first, so that none half deleted has a number."""
_CACHE_OF_UV = "uv"
_BESIDE = re.compile(r"(?P<stem>\..+\.pm-[0-9a-f]{12})\.(?:tree|new|old)(?:\.[0-9]+\.[0-9a-f]{8}\.tmp)?")


def staging(places: Places) -> Path:
    """Return where sources are staged before anything is decided; what an interrupted operation left is swept."""
    return places.state / "staged"


def sweep(places: Places) -> None:
    """Remove staged and half-written files, and environments without a record; call it under the install lock.

    What cannot be removed now is removed another time.
    """
    shutil.rmtree(staging(places), ignore_errors=True)
    for path in (*_half_written(places), *_beside(places)):
        _remove(path)
    for path in _inside(places.generations):
        if path.name.startswith(GONE):
            with suppress(OSError):
                remove_tree(path)
    for number in _unrecorded(places):
        _discard(places, number)


def _half_written(places: Places) -> Iterator[Path]:
    """Yield what a process that is gone was writing; verbs that only look write too, and take no lock."""
    for folder in (places.state, places.generations, places.trees, places.receipts, places.locks, places.front):
        yield from _abandoned(folder, 0)
    yield from _abandoned(places.wheels, 1)
    for folder in _inside(places.cache):
        yield from _abandoned(folder, 1) if folder.name != _CACHE_OF_UV else ()
    yield from _abandoned(places.cache, 0)


def _abandoned(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the unfinished files and folders of dead processes in a folder, and so many levels of folders below it."""
    try:
        with os.scandir(folder) as scanned:
            entries = list(scanned)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        process = unfinished_by(entry.name)
        if process is not None and not is_alive(process):
            yield Path(entry.path)
        elif depth and process is None and entry.is_dir(follow_symlinks=False):
            yield from _abandoned(Path(entry.path), depth - 1)


def _beside(places: Places) -> Iterator[Path]:
    """Yield what was staged for a transaction or kept by it, unless a parked journal names it."""
    parked = _parked(places)
    if parked is None:  # what it names is not known, and may be all that is left of a plugin
        return
    for home in (places.root, *_inside(places.root / "profiles")):
        plugins = home / "plugins"
        groups = (path for path in _inside(plugins) if path.is_dir() and not path.is_symlink())
        config = Path(os.path.realpath(home / CONFIG))
        for folder in {config.parent, plugins, *groups, places.trees, places.generations}:
            for path in _inside(folder):
                match = _BESIDE.fullmatch(path.name)
                if match is not None and match["stem"] not in parked:
                    yield path


def _parked(places: Places) -> str | None:
    """Return the text of all parked journals; `None` if one of them cannot be read."""
    texts = []
    for journal in places.state.glob("journal.parked-*.json"):
        if not isinstance(read_json(journal), dict):
            return None
        texts.append(read_regular(journal).decode(errors="replace"))
    return "".join(texts)


def _unrecorded(places: Places) -> list[EnvironmentNumber]:
    """Return the environments that no generation has; none where that cannot be told.

    An environment can outlive the record of its own number: a later generation has it too.
    """
    known = recorded(places)
    alone = set(environments(places)) - set(map(own_environment, known))
    if not alone:
        return []
    try:
        pointer = read_pointer(places)
        used = {read_record(places, number).environment for number in known}
    except PmError:
        return []
    used |= {pointer.environment} if pointer is not None else set()
    return sorted(alone - used)


def is_alive(process: int) -> bool:
    """Say whether a process is still there, or another one that got its number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _discard(places: Places, number: EnvironmentNumber) -> None:
    """Remove an environment without a record, unless something runs in it: then its record was damaged or deleted."""
    with exclusively(places, number) as alone:
        if alone:
            with suppress(OSError):
                remove_tree(places.environment(number))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _inside(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing of one that is none, or cannot be looked into."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
