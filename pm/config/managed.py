"""What an administrator's config decides for every home: it takes the place of what the home's own config says."""

from collections.abc import Iterable, Iterator

from pm.config.edit import ConfigChange, Disable, Enable, Remove, Set
from pm.config.settings import Selection
from pm.errors import PmError
from pm.names import canonical_key, leaf


def check_changes(selection: Selection, changes: Iterable[ConfigChange]) -> None:
    """Raise `PmError` (`managed-environment`) if a change would have no effect, because the administrator decides."""
    for change in changes:
        setting = next(_decided(selection, change), "")
        if setting:
            raise PmError(
                "managed-environment",
                f"`{setting}` is set by the administrator, for every home of this machine",
                hint=f"have it changed there: `{selection.decided_in}`",
                file=selection.decided_in,
                key=setting,
            )


def _decided(selection: Selection, change: ConfigChange) -> Iterator[str]:
    """Yield the settings of the administrator that speak against a change."""
    decided = set(selection.decided)
    if isinstance(change, Set):
        yield from decided & {change.setting}
        return
    names = {canonical_key(name) for name in (change.key, leaf(change.key), *change.names)}
    if isinstance(change, Enable):
        lists = {"plugins.enabled": selection.enabled, "plugins.disabled": ()}
        is_on = names & {canonical_key(written) for written in selection.enabled}
        is_off = names & {canonical_key(written) for written in selection.disabled}
        yield from (name for name in lists if name in decided and (not is_on if name.endswith("enabled") else is_off))
    elif isinstance(change, Disable | Remove):
        yield from _keeping(selection, decided, names)


def _keeping(selection: Selection, decided: set[str], names: set[str]) -> Iterator[str]:
    """Yield the settings of the administrator by which a plugin of some names is enabled."""
    enabling = {
        "plugins.enabled": selection.enabled,
        "memory.provider": (selection.memory_provider,),
        "context.engine": (selection.context_engine,),
    }
    for setting, written in enabling.items():
        if setting in decided and names & {canonical_key(name) for name in written if name}:
            yield setting
