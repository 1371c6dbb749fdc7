"""Whether a plugin can be enabled in a profile at all, before it is judged."""

from collections.abc import Iterable

from pm.config.edit import Enable
from pm.config.managed import check_changes
from pm.config.profiles import own_names
from pm.plugins.discovery import Found
from pm.verdict.state import State


def check_enabling(state: State, plugins: Iterable[Found]) -> None:
    """Raise `PmError` (`managed-environment`) if the administrator decides what is enabled, and that otherwise."""
    selection = state.here.profile.selection
    if selection is not None and selection.decided:
        check_changes(selection, (Enable(found.key, own_names(found, state.here.found)) for found in plugins))
