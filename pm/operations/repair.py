"""Build the recorded lock again: what runs afterwards is what was admitted, whatever happened to the files."""

import os
from collections.abc import Iterable
from pathlib import Path

from admission import Refused
from pm.errors import PmError
from pm.generations.build import Edits, contents_after, select
from pm.generations.file_faults import Fault
from pm.generations.records import Record
from pm.generations.verification import DamagedCopy
from pm.operations.damage import environment_damage
from pm.operations.kept_trees import keep_again
from pm.operations.rebuild import built_again
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import say_selected, selected_record
from pm.operations.verify import compare_trees, first, found
from pm.receipts.receipt import Done
from pm.verdict.state import Options


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
    """Select a new generation with the recorded lock."""
    try:
        prepared = built_again(run, record, faults, options)
    except PmError as error:
        if error.code == "install-failed":
            error.hint = error.hint or "the wheels may be gone from the index; `hermes pm init` resolves again"
        raise
    if isinstance(prepared, Refused):
        return prepared
    contents = contents_after(record, record.members, record.fingerprint)
    after = select(run.places, prepared, contents, Edits(), operation=run.mark)
    say_selected(run, record, after)
    return after
