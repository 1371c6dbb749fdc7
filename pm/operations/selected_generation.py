"""Which generation is selected, as an operation finds it and leaves it, and what its receipt says of that."""

from pm.errors import PmError
from pm.generations.records import Record, read_selected
from pm.operations.receipt_rows import Start, plugin_of, stays, tools
from pm.operations.restarts import replaced_plugins, restart_reasons
from pm.operations.run import OperationRun
from pm.receipts.receipt import Transition


def selected_record(run: OperationRun) -> Record:
    """Return the selected generation's record, and say in the receipt which it is.

    Raise `PmError` (`no-generation`, `drift`).
    """
    record = read_selected(run.places)
    if record is None:
        raise PmError("no-generation", "no generation was made yet", hint="`hermes pm init` makes one")
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
    reasons = (*restart_reasons(run.places, before, after), *replaced_plugins(before, after))
    run.selects(
        Transition(
            before=before.generation if before is not None else None,
            after=after.generation,
            lock_digest=after.lock_digest,
            restart_required=bool(reasons),
            restart_reasons=reasons,
        )
    )
