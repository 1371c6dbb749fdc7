"""A fault of the manager itself, as what an operation can end with: nothing of it hides what was done by then."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from pm.errors import PmError
from pm.names import safe_text, shown, without_commands
from pm.receipts.receipt import Operation, ReasonRow, Receipt, StepRow, time_text

_Value = TypeVar("_Value")


def or_fault(work: Callable[[], _Value]) -> _Value | PmError:
    """Return what work returns; where it breaks by a fault of the manager, that fault as what went wrong.

    Every other `PmError` and `OSError` is raised.
    """
    try:
        return work()
    except (PmError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours: what is known must be said all the same
        return manager_fault(error)


def manager_fault(error: Exception) -> PmError:
    """Return a fault as what went wrong; its traceback is written to standard error."""
    import traceback

    lines = "".join(traceback.format_exception(error)).splitlines()
    sys.stderr.write(without_commands("\n".join([*map(safe_text, lines), ""])))
    told = traceback.format_exception_only(error)[-1].strip()
    message = f"this is a fault of the manager itself: {safe_text(told)}"
    return PmError("manager-fault", message, hint="report it with the traceback on standard error")


def plain_receipt(operation: Operation, fault: PmError, outcome: str) -> Receipt:
    """Return the receipt of an operation of which no other one could be made: what is sure of it.

    `outcome` is what it came to, and is empty where it came to nothing.
    """
    from shlex import join

    again = StepRow("retry", "", "", join(operation.command), "try again", confirmed=False, when="the fault is mended")
    reason = ReasonRow(fault.code, fault.message, hint=fault.hint)
    finished_at = datetime.now(UTC)
    return Receipt(
        id=operation.id,
        operation=operation.name,
        outcome="failed",
        exit_status=3,
        summary=_plain_summary(operation, outcome),
        started_at=time_text(operation.started_at),
        finished_at=time_text(finished_at),
        duration_ms=round((finished_at - operation.started_at).total_seconds() * 1000),
        trigger=operation.trigger,
        sequence=operation.sequence,
        dry_run=operation.dry_run,
        reasons=(reason,),
        steps=(again,),
        generation=operation.generation,
        core=operation.core,
        target=operation.target,
    )


def _plain_summary(operation: Operation, outcome: str) -> str:
    said = f"`{operation.name}`" + (f" of {shown(operation.argument)}" if operation.argument else "")
    if outcome:
        selected = operation.generation.after
        now = f"; generation {selected} is selected" if selected is not None else ""
        return f"{said} is done ({outcome}), and then the manager itself had a fault, so this is all that is told{now}"
    left = "what was begun is undone by the next command that changes something"
    changed = left if operation.left == "unfinished" else "nothing was changed"
    return f"{said} was not done: the manager itself has a fault; {changed}"
