"""Which generation is selected, as an operation finds it and leaves it, and what its receipt says of that."""

from pm.generations.records import Member, Record, read_selected
from pm.generations.set_up import no_generation
from pm.operations.receipt_rows import Start, plugin_of, stays, tools
from pm.operations.restarts import restart_reasons
from pm.operations.run import OperationRun
from pm.receipts.receipt import Transition


def selected_record(run: OperationRun) -> Record:
    """Return the selected generation's record, and say in the receipt which it is.

    Raise `PmError` (`no-generation`, `drift`).
    """
    record = read_selected(run.places)
    if record is None:
        raise no_generation(run.places)
    run.starts_from(
        Start(
            core=record.lock.core,
            target=record.target,
            before=record.lock,
            generation=stays(record),
            exclude_newer=record.lock.exclude_newer,
            tools=tools(),
        )
    )
    run.decides_on_inputs(map(plugin_of, record.members), record.fingerprint)
    return record


def say_selected(run: OperationRun, before: Record | None, after: Record) -> None:
    """Say in the receipt which generation is selected now, and whether what runs must be started again."""
    environment = before.environment if before is not None else None
    reasons = (*restart_reasons(run.places, environment, after.environment), *_replaced_plugins(before, after))
    run.selects(
        Transition(
            before=before.generation if before is not None else None,
            after=after.generation,
            lock_digest=after.lock_digest,
            restart_required=bool(reasons),
            restart_reasons=reasons,
        )
    )


def _replaced_plugins(before: Record | None, after: Record) -> tuple[str, ...]:
    """Return the plugins whose folder holds other files than before: a process that imported from it would mix both."""
    known = {member.root: member for member in before.members} if before is not None else {}
    replaced = ((known[member.root], member) for member in after.members if member.root in known)
    return tuple(_replaced(old, new) for old, new in replaced if old.tree_digest and old.tree_digest != new.tree_digest)


def _replaced(old: Member, new: Member) -> str:
    versions = old.declaration.version, new.declaration.version
    if versions[0] == versions[1]:
        return f"the files of `{new.key}` {versions[1]}".rstrip()
    return f"{new.key} {versions[0]} → {versions[1]}"
