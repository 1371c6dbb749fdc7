"""A fault of the manager itself, as what an operation can end with."""

from __future__ import annotations

import sys

from pm.errors import PmError
from pm.names import safe_text, without_commands


def manager_fault(error: Exception) -> PmError:
    """Return a fault as what went wrong; its traceback is written to standard error."""
    import traceback

    lines = "".join(traceback.format_exception(error)).splitlines()
    sys.stderr.write(without_commands("\n".join([*map(safe_text, lines), ""])))
    told = traceback.format_exception_only(error)[-1].strip()
    message = f"this is a fault of the manager itself: {safe_text(told)}"
    return PmError("manager-fault", message, hint="report it with the traceback on standard error")
