"""How much a warning matters: whether the author of a plugin can mend what it is about."""

from collections.abc import Collection

from pm.receipts.receipt import WarningRow

__all__ = ["level_of"]

_NOTICES = frozenset(
    {"core-pins-already", "external-unchecked", "import-not-judged", "import-optional", "source-not-parsed"}
)
"""Codes of warnings that are no fault of the plugin's author, but information."""


def level_of(warning: WarningRow, keys: Collection[str]) -> str:
    """Return `warning` for one about a plugin of some keys that its author can mend, else `notice`."""
    about_plugin = warning.owner.removeprefix("plugin:") in keys
    return "warning" if about_plugin and warning.code not in _NOTICES else "notice"
