"""What is not needed any more: generations, and what only they needed. A commit deletes it, and `hermes pm gc` does."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from lockfiles import Lock
from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.generations.leases import exclusively, leased
from pm.generations.pointer import read_pointer
from pm.generations.records import Record, read_record, recorded
from pm.generations.uv_cache import unneeded_in_cache
from pm.index.folders import wheel_in_state
from pm.operations.installed_trees import installed_trees
from pm.operations.leftovers import GONE
from pm.operations.service_units import named_by_units
from pm.places import EnvironmentNumber, GenerationNumber, Places
from pm.system.files import disk_error, is_damaged, read_regular, sync_folder
from pm.system.folders import remove_tree, walk

_TREE = re.compile(r"/pm/trees/([0-9a-f]{64})")


class Needed(NamedTuple):
    """What stays."""

    records: frozenset[GenerationNumber]
    environments: frozenset[EnvironmentNumber]
    trees: frozenset[str]
    wheels: frozenset[str]
    """Names of folders below `wheels`."""
    locks: tuple[Lock, ...]
    """Of the records."""


def collect_surplus(places: Places, environ: Mapping[str, str]) -> Problem | None:
    """Delete after a commit what `pm.keep_generations` does not keep.

    What cannot be deleted is no failure of the commit: return a warning of it.
    """
    try:
        keep = read_own_selection(places.root, places.cache / "read").settings.keep_generations
        if len(recorded(places)) <= keep:
            return None
        needed = needed_of(places, environ)
        paths = in_order(path for path in unneeded(places, needed) if not path.is_relative_to(places.cache))
        faults = [fault for path in paths if (fault := _not_deleted(places, path)) is not None]
    except (PmError, OSError) as error:
        faults = [_told(error, places.generations)]
    if not faults:
        return None
    hint = "; ".join(filter(None, (faults[0].hint, "`hermes pm gc` tries it again")))
    return Problem("not-collected", f"what is no longer needed was not all deleted: {faults[0].message}", hint=hint)


def _not_deleted(places: Places, path: Path) -> PmError | None:
    """Delete what is not needed, or return why it stays: it keeps nothing else from going."""
    try:
        delete(places, path)
    except (PmError, OSError) as error:
        return _told(error, path)
    return None


def _told(error: PmError | OSError, path: Path) -> PmError:
    return error if isinstance(error, PmError) else disk_error(error, path, verb="deleted")


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Return paths in the order in which they are deleted.

    Records first: one whose environment is gone would be gone back to, an environment without a record is swept.
    """
    return sorted(paths, key=lambda path: (path.suffix != ".json", path))


def needed_of(places: Places, environ: Mapping[str, str], keep: int | None = None) -> Needed:
    """Return what is selected, kept, in use, or named by a service; raise `PmError` (`drift`) if it is not known.

    `keep` is how many of the newest are kept, else `pm.keep_generations` says it.
    """
    kept_by_number = read_own_selection(places.root).settings.keep_generations if keep is None else keep
    pointer = read_pointer(places)
    known = {number: record for number in recorded(places) if (record := _record(places, number)) is not None}
    if pointer is not None and pointer.generation not in known:
        read_record(places, pointer.generation)  # says what is wrong: what the selected one needs cannot be told
    newest = sorted(known, reverse=True)[:kept_by_number]
    in_use = {*leased(places.locks), *named_by_units(places, environ)}
    kept = {number for number in known if number in newest or known[number].environment in in_use}
    kept |= {pointer.generation} if pointer is not None else set()
    records = [known[number] for number in kept if number in known]
    environments = {record.environment for record in records} | in_use
    environments |= {pointer.environment} if pointer is not None else set()
    return Needed(
        records=frozenset(kept),
        environments=frozenset(environments),
        trees=frozenset({member.tree_digest for record in records for member in record.members})
        | frozenset(tree.digest for tree in installed_trees(places).values())
        | _promised(places),
        wheels=frozenset(
            wheel_in_state(places.wheels, pin.artifact.path).parent.name
            for record in records
            for pin in record.lock.pins
            if pin.artifact.path
        ),
        locks=tuple(record.lock for record in records),
    )


def _promised(places: Places) -> frozenset[str]:
    """Return the digests of the trees of which a stored receipt tells that a copy is kept there."""
    receipts = (path for path in places.receipts.glob("*.json") if not path.name.endswith(".facts.json"))
    texts = map(_text, receipts)
    return frozenset(f"sha256:{digest}" for text in texts for digest in _TREE.findall(text))


def _text(path: Path) -> str:
    """Return the text of a file of ours; nothing of one that was dropped just now, or is no file."""
    try:
        return read_regular(path).decode(errors="replace")
    except OSError as error:
        if isinstance(error, FileNotFoundError) or is_damaged(error):
            return ""
        raise


def _record(places: Places, number: GenerationNumber) -> Record | None:
    """Return a generation's record; `None` for one that is missing or damaged, which nothing can go back to.

    One that the disk does not give now may be fine later: `OSError`, and nothing is deleted.
    """
    try:
        return read_record(places, number)
    except PmError:
        if places.record(number).exists():
            _text(places.record(number))
        return None


def unneeded(places: Places, needed: Needed) -> Iterator[Path]:
    """Yield what goes: records, environments, bytecode, trees, wheels, and what uv keeps of old interpreters."""
    for path in _inside(places.generations):
        stem = path.name.removesuffix(".json")
        number = int(stem) if stem.isdecimal() else None
        is_record = path.suffix == ".json"
        if (number is None and GONE in path.name) or (
            number is not None and number not in (needed.records if is_record else needed.environments)
        ):
            yield path
    yield from _old_interpreters(places)
    yield from (path for path in _inside(places.state / "pycache") if not _is_kept(path.name, needed.environments))
    yield from (path for path in _inside(places.trees) if path.is_dir() and f"sha256:{path.name}" not in needed.trees)
    yield from (path for path in _inside(places.wheels) if path.is_dir() and path.name not in needed.wheels)


def _old_interpreters(places: Places) -> list[Path]:
    """Return what uv keeps of interpreters, but for the newest: each environment has one, also when it is gone.

    The newest stay, since uv takes a tenth of a second to query an interpreter that it does not know.
    """
    known = sorted((places.cache / "uv").glob("interpreter-v*/*/*.msgpack"), key=lambda path: path.stat().st_mtime_ns)
    return known[:-_INTERPRETERS_KEPT]


_INTERPRETERS_KEPT = 16


def _is_kept(name: str, kept: Iterable[EnvironmentNumber]) -> bool:
    return name.isdecimal() and int(name) in set(kept)


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def delete(places: Places, path: Path) -> bool:
    """Delete what is not needed; an environment only while no process can start in it. Say whether it is gone."""
    if path.suffix == ".json":
        _remove(path)
        return True
    # if the power fails, no record may come back to something that is gone
    _flush_names(places.generations)
    if path.parent != places.generations or not path.name.isdecimal():
        _remove(path)
        return True
    number = EnvironmentNumber(int(path.name))
    with exclusively(places, number) as alone:
        pointer = read_pointer(places)
        if not alone or (pointer is not None and pointer.environment == number):
            return False
        gone = path.with_name(f"{GONE}{path.name}-{os.urandom(4).hex()}")
        path.chmod(0o755)
        path.rename(gone)
        _flush_names(places.generations)
        _remove(gone)
    return True


def _flush_names(folder: Path) -> None:
    if folder.is_dir():
        sync_folder(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def freed_by(paths: Iterable[Path]) -> dict[Path, int]:
    """Return how many bytes go with each path if they are deleted in this order.

    A file goes with the last of its names: as long as it has another one elsewhere, deleting it frees nothing.
    """
    names: Counter[tuple[int, int]] = Counter()
    freed: dict[Path, int] = {}
    for path in paths:
        freed[path] = 0
        for status in _statuses(path):
            file = (status.st_dev, status.st_ino)
            names[file] += 1
            freed[path] += status.st_size if names[file] == status.st_nlink else 0
    return freed


def _statuses(path: Path) -> Iterator[os.stat_result]:
    """Yield what is known of a file, or of all files in a folder."""
    if not path.is_dir() or path.is_symlink():
        yield path.lstat()
        return
    for folder, _, files in walk(path):
        for name in files:
            yield os.lstat(os.path.join(folder, name))  # noqa: PTH118 - a Path for each of many files costs more


# -- the cache

OWN_CACHE = 64 * 1024 * 1024
"""Bytes that stay of what we know of indexes, wheels and plugins, when `gc --cache` has deleted the oldest."""
_STAYS = ("uv", "unpacked.json", "interpreters")


def cached(places: Places, needed: Needed) -> Iterator[Path]:
    """Yield what the cache holds for nothing that stays: of uv's all, and of ours the oldest beyond a limit."""
    yield from unneeded_in_cache(places, needed.locks)
    ours = [path for folder in _inside(places.cache) if folder.name not in _STAYS for path in _files(folder)]
    total = 0
    for path in sorted(ours, key=lambda path: path.lstat().st_mtime_ns, reverse=True):
        total += path.lstat().st_size
        if total > OWN_CACHE:
            yield path


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [Path(folder, name) for folder, _, names in walk(path) for name in names]
