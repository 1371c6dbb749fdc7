"""Build the recorded lock again: what runs afterwards is what was admitted, whatever happened to the files."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from admission import Refused
from pm.config.profiles import read_selection
from pm.errors import PmError
from pm.generations.build import Edits, Ingredients, Prepared, allowed_collisions, contents_after, prepare, select
from pm.generations.file_faults import Fault
from pm.generations.inventory import recorded_core
from pm.generations.records import Record
from pm.generations.uv import forget
from pm.generations.verification import DamagedCopy
from pm.host.core import keep_core
from pm.host.interpreter import Interpreter, describe_interpreter
from pm.index import open_index
from pm.index.package_sources import Sources
from pm.operations.damage import environment_damage
from pm.operations.kept_trees import keep_again
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import say_selected, selected_record
from pm.operations.verify import compare_trees, first, found
from pm.receipts.receipt import Done
from pm.verdict.state import Options, sources_of


def repair(run: OperationRun, options: Options) -> Result:
    """Put right whatever of the manager's own is damaged; nothing is resolved, and the core never goes alone.

    A damaged environment is built again from its lock, as a new generation. A damaged copy of a plugin is made again of
    the plugin's folder. The folders of plugins are never changed here: for what is damaged there the receipt names the
    step, as it does where another Python is needed. Raise `PmError` (`no-generation`, `install-failed`, `offline` …);
    then what is selected stays.
    """
    try:
        record = selected_record(run)
    except PmError as error:
        if error.code == "no-generation" and run.has_recovered:
            return Done("repaired")
        raise
    damage = environment_damage(run.places, record)
    if damage is not None and not Path(record.interpreter).exists():
        return damage.ending
    faults, trees = found(run, record), compare_trees(run, record)
    is_mended = bool(faults or trees.mendable or run.has_recovered)
    if run.operation.dry_run:
        return Done("repaired" if is_mended else "unchanged")
    _mend(run, trees.mendable)
    selected = _built_again(run, record, faults, options) if faults else record
    if isinstance(selected, Refused):
        return selected
    left = compare_trees(run, selected)
    if left.reasons:
        return Done("drift", record.lock, tuple(first(left.reasons)), left.steps(selected))
    return Done("repaired", record.lock) if is_mended else Done("unchanged")


def _mend(run: OperationRun, copies: Iterable[DamagedCopy]) -> None:
    """Make kept copies of plugins again, of what the plugins' folders hold."""
    for member, files in copies:
        keep_again(run.places, member.tree_digest, Path(member.root), files)
        os.sync()


def _built_again(run: OperationRun, record: Record, faults: Iterable[Fault], options: Options) -> Record | Refused:
    """Select a new generation with the recorded lock.

    The damaged distributions leave uv's cache first: its files may be the damaged ones, under another name.
    """
    damaged = sorted({fault.package for fault in faults if fault.package})
    forget(run.places, [name for name in damaged if record.lock.pin(name)])
    prepared = _built(run, record, options)
    if isinstance(prepared, Refused):
        return prepared
    contents = contents_after(record, record.members, record.fingerprint)
    after = select(run.places, prepared, contents, Edits(), operation=run.mark)
    say_selected(run, record, after)
    return after


def _built(run: OperationRun, record: Record, options: Options) -> Prepared | Refused:
    interpreter = describe_interpreter(Path(record.interpreter), run.places.cache)
    hosted = recorded_core(run.places, record)
    offline = Ingredients(hosted, interpreter, None, None, allowed_collisions(record.consents))
    with run.phase("build", f"building an environment of {len(record.lock.pins)} packages"):
        if options.offline:
            return prepare(run.places, record.lock, offline, None)
        try:
            settings = read_selection(run.places.root).settings
        except PmError as unread:
            return _built_of_cache(run, record, offline, unread)
        sources = sources_of(settings, run.places, run.context.environ)
        _bring_wheels(run, record, interpreter, sources)
        try:
            return prepare(run.places, record.lock, offline._replace(sources=sources), None)
        except PmError as error:
            if error.code == "install-failed":
                error.hint = error.hint or "the wheels may be gone from the index; `hermes pm init` resolves again"
            raise


def _built_of_cache(run: OperationRun, record: Record, offline: Ingredients, unread: PmError) -> Prepared | Refused:
    """Build the lock where the config does not tell where packages come from; raise that where more is needed."""
    try:
        return prepare(run.places, record.lock, offline, None)
    except PmError as error:
        if error.code != "install-failed":
            raise
        raise unread from error


def _bring_wheels(run: OperationRun, record: Record, interpreter: Interpreter, sources: Sources) -> None:
    """Copy the wheels that the lock names by path and the state lost, if their folders still have them.

    Without them uv's cache may have what it takes.
    """
    if not any(pin.artifact.path for pin in record.lock.pins):
        return
    keep_core(recorded_core(run.places, record), run.places)
    with suppress(PmError), open_index(run.places.cache, interpreter.target, sources) as index:
        index.adopt(record.lock, run.places.wheels)
