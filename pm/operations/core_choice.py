"""Before the first generation of a home: which core it gets is said, or the home is one that nothing has used."""

from __future__ import annotations

from pm.operations.run import OperationRun
from pm.verdict.state import State


def need_core_choice(run: OperationRun, state: State) -> None:
    """Raise `PmError` (`core-not-chosen`) if the embedded core would be set up unasked in a home that is used."""
    is_named = bool(state.settings.core) or state.options.core is not None
    is_first = state.record is None and not state.places.pointer.exists()
    if is_first and not is_named:
        from pm.host.used_home import check_core_is_chosen

        check_core_is_chosen(state.places, run.context.environ)
