"""Say whether the selected generation is what was recorded, by content and not by appearance."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from admission import Problem, Reason, Step
from pm.errors import PmError
from pm.generations.drift import drift_of
from pm.generations.file_faults import Fault
from pm.generations.pointer import read_pointer
from pm.generations.records import Member, Record, read_record, recorded
from pm.generations.verification import (
    DamagedCopy,
    Hashes,
    changed_trees,
    damaged_copies,
    differences,
    differences_of_selected,
    edited_links,
)
from pm.host.interpreter import describe_interpreter
from pm.names import shown
from pm.operations.damage import environment_damage, journal_damage
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import selected_record
from pm.plugins.tree import link_target
from pm.receipts.receipt import Done

SHOWN = 50
"""Differences that a receipt names."""


def verify(run: OperationRun, *, everything: bool = False) -> Result:
    """Compare environment, plugin folders and their kept copies with the record; a difference is `drift`.

    With `everything`, earlier generations are compared too, and warned of. Raise `PmError` (`no-generation`) if there
    is no generation.
    """
    left = journal_damage(run.places)
    if left is not None:
        return left.ending
    record = selected_record(run)
    hashes: Hashes = {}
    environment = [_reason(fault) for fault in found(run, record, hashes)]
    if everything:
        _note_others(run, record, hashes)
    for member, change in edited_links(record.members):
        hint = f"`hermes plugins check {member.key}` judges it as it is now" if link_target(Path(member.root)) else ""
        run.note(Problem("linked-plugin-changed", f"{shown(member.root)} of `{member.key}` {change}", hint=hint))
    trees = compare_trees(run, record)
    reasons = [*environment, *trees.reasons]
    if not reasons:
        return Done("verified", record.lock)
    steps = (_step(run, record),) if environment else trees.steps(record)
    return Done("drift", reasons=tuple(first(reasons)), steps=steps)


def first(reasons: Sequence[Reason]) -> Iterator[Reason]:
    """Yield as many reasons as a receipt names, and how many more there are."""
    yield from reasons[:SHOWN]
    more = len(reasons) - SHOWN
    if more > 0:
        yield Reason("drift", f"{more} more files differ")


def _step(run: OperationRun, record: Record) -> Step:
    damage = environment_damage(run.places, record)
    return damage.step if damage is not None else Step("repair", record.lock.core)


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


def _reason(fault: Fault) -> Reason:
    return Reason(fault.code, fault.message, package=fault.package)


def found(run: OperationRun, record: Record, hashes: Hashes | None = None) -> list[Fault]:
    """Return by what the environment is not as it was recorded."""
    with run.phase("verify", "comparing every file"):
        pointer = read_pointer(run.places)
        drift = drift_of(run.places, pointer) if pointer is not None else None
        return differences_of_selected(run.places, record, drift, hashes)


# -- plugins


class TreeFaults(NamedTuple):
    """What is wrong with the folders of plugins, and with the copies that are kept of them."""

    changed: tuple[Fault, ...] = ()
    """Files of plugins that are not as they were admitted, and whose kept copy is whole."""
    mendable: tuple[DamagedCopy, ...] = ()
    """Damaged copies of what the plugin's folder still holds."""
    lost: tuple[Member, ...] = ()
    """Plugins of which neither the folder nor the copy is what was admitted."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        lost = (
            f"neither {shown(member.root)} nor the kept copy holds the files with which `{member.key}` was admitted"
            for member in self.lost
        )
        kept = (f"the kept copy of the files of `{copy.member.key}` is damaged" for copy in self.mendable)
        return (
            *(Reason("drift", fault.message) for fault in self.changed),
            *(Reason("drift", message) for message in kept),
            *(Reason("drift", message, hint=_INSTALL_AGAIN) for message in lost),
        )

    def steps(self, record: Record) -> tuple[Step, ...]:
        """Return the step for the first of them that there is one for."""
        if self.mendable:
            return (Step("repair", record.lock.core, "make the kept copies of plugins again"),)
        if self.changed:
            return (Step("roll-back", "", value=str(record.generation)),)
        return (Step("retry", "", when="the plugin is installed again from its source"),)


_INSTALL_AGAIN = "`hermes plugins install --force` with its source brings its files back"


def compare_trees(run: OperationRun, record: Record) -> TreeFaults:
    """Return what is wrong with the plugins of a generation."""
    copies = tuple(damaged_copies(run.places, record.members))
    whole = (member for member in record.members if member not in {copy.member for copy in copies})
    return TreeFaults(
        changed=tuple(changed_trees(run.places, whole)),
        mendable=tuple(copy for copy in copies if copy.files is not None),
        lost=tuple(_members(copy for copy in copies if copy.files is None)),
    )


def _members(copies: Iterable[DamagedCopy]) -> Iterator[Member]:
    return (copy.member for copy in copies)
