"""Delete the generations that are not needed any more, and what only they needed."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from pm.config.profiles import read_selection
from pm.errors import PmError
from pm.generations.environment import discard_environment
from pm.generations.leases import exclusively, leased
from pm.generations.pointer import read_pointer
from pm.generations.records import Record, read_record, recorded
from pm.index.folders import wheel_in_state
from pm.operations.kept_trees import kept_digests
from pm.operations.leftovers import GONE
from pm.operations.run import OperationRun, Result
from pm.places import EnvironmentNumber, GenerationNumber, Places
from pm.receipts.receipt import Done
from pm.system.files import disk_error, is_damaged, read_regular, size_text, sync_folder

_TREE = re.compile(r"/pm/trees/([0-9a-f]{64})")


class Needed(NamedTuple):
    """What stays."""

    records: frozenset[GenerationNumber]
    environments: frozenset[EnvironmentNumber]
    trees: frozenset[str]
    wheels: frozenset[str]
    """Names of folders below `wheels`."""


def collect(run: OperationRun) -> Result:
    """Keep what is selected, what something runs in, and the newest `pm.keep_generations`; the rest goes.

    A dry run only says what would go. Raise `PmError` (`drift`) if it is not known what is selected.
    """
    places = run.places
    needed = _needed(places)
    freed = 0
    failed: list[OSError] = []
    # records first: one whose environment is gone would be gone back to, an environment without a record is swept
    for path in sorted(_unneeded(places, needed), key=lambda path: (path.suffix != ".json", path)):
        size = _bytes(path)
        try:
            if not run.operation.dry_run and not _deleted(places, path):
                continue
        except OSError as error:
            failed.append(error)
            continue
        freed += size
        run.leaves("rest")
        run.note(Problem("collected", f"`{path.relative_to(places.state)}`, {size_text(size)}"))
    if failed:  # by now everything else is gone
        raise disk_error(failed[0], places.generations, verb="deleted")
    return Done("collected", freed=size_text(freed) if freed else "")


def _needed(places: Places) -> Needed:
    settings = read_selection(places.root).settings
    pointer = read_pointer(places)
    known = {number: record for number in recorded(places) if (record := _record(places, number)) is not None}
    if pointer is not None and pointer.generation not in known:
        read_record(places, pointer.generation)  # says what is wrong: what the selected one needs cannot be told
    newest = sorted(known, reverse=True)[: settings.keep_generations]
    running = set(leased(places.locks))
    kept = {number for number in known if number in newest or known[number].environment in running}
    kept |= {pointer.generation} if pointer is not None else set()
    records = [known[number] for number in kept if number in known]
    environments = {record.environment for record in records} | running
    environments |= {pointer.environment} if pointer is not None else set()
    return Needed(
        records=frozenset(kept),
        environments=frozenset(environments),
        trees=frozenset({member.tree_digest for record in records for member in record.members})
        | kept_digests(places)
        | _promised(places),
        wheels=frozenset(
            wheel_in_state(places.wheels, pin.artifact.path).parent.name
            for record in records
            for pin in record.lock.pins
            if pin.artifact.path
        ),
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


def _unneeded(places: Places, needed: Needed) -> Iterator[Path]:
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


def _deleted(places: Places, path: Path) -> bool:
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
        discard_environment(path)
    else:
        path.unlink(missing_ok=True)


def _bytes(path: Path) -> int:
    """Return what deleting a path frees: files that have another name elsewhere, in uv's cache, free nothing."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_size
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            status = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - a Path for each of many files costs more
            total += status.st_size if status.st_nlink == 1 else 0
    return total
