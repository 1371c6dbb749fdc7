"""Say whether the selected generation is what was recorded, by content and not by appearance."""

from contextlib import suppress
from pathlib import Path

from admission import Problem, Reason, Step
from pm.errors import PmError
from pm.generations.drift import drift_of
from pm.generations.file_faults import Fault
from pm.generations.pointer import read_pointer
from pm.generations.records import Record, read_record, recorded
from pm.generations.verification import Hashes, changed_trees, differences, differences_of_selected
from pm.host.interpreter import describe_interpreter
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import selected_record
from pm.receipts.receipt import Done

SHOWN = 50
"""Differences that a receipt names."""


def verify(run: OperationRun) -> Result:
    """Compare environment and plugin folders with the record; a difference is `drift`, and `repair` builds anew.

    Earlier generations are compared too, and warned of. Raise `PmError` (`no-generation`) if there is no generation.
    """
    record = selected_record(run)
    hashes: Hashes = {}
    environment = [_reason(fault) for fault in found(run, record, hashes)]
    _note_others(run, record, hashes)
    trees = [_reason(fault, _OF_A_PLUGIN) for fault in changed_trees(run.places, record.members)]
    reasons = [*environment, *trees]
    if not reasons:
        return Done("verified", record.lock)
    more = len(reasons) - SHOWN
    shown = [*reasons[:SHOWN], *([Reason("drift", f"{more} more files differ")] if more > 0 else [])]
    # the last step puts an environment right; a plugin's folder is not touched by it
    steps = () if environment else (Step("retry", "", when="the plugin's files are restored"),)
    return Done("drift", reasons=tuple(shown), steps=steps)


def _note_others(run: OperationRun, record: Record, hashes: Hashes) -> None:
    """Warn of earlier generations that are not what they were: files that were edited in one are edited in others."""
    judged = {record.environment}
    for number in reversed(recorded(run.places)):
        with suppress(PmError):  # one without a record or an interpreter cannot be gone back to anyway
            other = read_record(run.places, number)
            folder = run.places.environment(other.environment)
            if other.environment in judged or not folder.is_dir():
                continue
            judged.add(other.environment)
            interpreter = describe_interpreter(Path(other.interpreter), run.places.cache)
            faults = differences(folder, other.lock, interpreter, hashes)
            if faults:
                more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
                run.note(Problem("generation-damaged", f"generation {number}: {faults[0].message}{more}"))


_OF_A_PLUGIN = "`hermes plugins install --force` with its source restores the plugin's files"


def _reason(fault: Fault, hint: str = "") -> Reason:
    return Reason(fault.code, fault.message, package=fault.package if not hint else "", hint=hint)


def found(run: OperationRun, record: Record, hashes: Hashes | None = None) -> list[Fault]:
    """Return by what the environment is not as it was recorded."""
    with run.phase("verify", "comparing every file"):
        pointer = read_pointer(run.places)
        drift = drift_of(run.places, pointer) if pointer is not None else None
        return differences_of_selected(run.places, record, drift, hashes)
