"""Select the memory provider or the context engine: one admission, and the config with it."""

from typing import NamedTuple

from admission import Admitted, Refused, Step, Undecided
from pm.config.edit import ConfigChange, Enable, Set
from pm.config.managed import check_changes
from pm.config.profiles import own_names, selections
from pm.errors import PmError
from pm.generations.build import Edits, apply
from pm.names import leaf, same_key
from pm.operations.core_choice import need_core_choice
from pm.operations.import_check import note_imports
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_resolved
from pm.operations.run import OperationRun, Result
from pm.plugins.discovery import Found
from pm.receipts.receipt import Done
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, State

SETTINGS = {"memory": "memory.provider", "context-engine": "context.engine"}
"""What can be selected → the setting that says it."""
BUILT_IN = ("builtin", "built-in", "default", "none")


class Wanted(NamedTuple):
    """What is to be selected."""

    kind: str
    """Of `SETTINGS`."""
    name: str

    @property
    def setting(self) -> str:
        return SETTINGS[self.kind]

    @property
    def is_built_in(self) -> bool:
        return self.name.lower() in BUILT_IN


def use(run: OperationRun, wanted: Wanted, options: Options) -> Result:
    """Select a plugin as memory provider or context engine and enable it, or go back to what the core brings.

    Raise `PmError` (`unknown-plugin`) for one that is not there, or cannot be selected as that.
    """
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        state = resolver.state
        run.reads(state)
        if wanted.is_built_in:
            return _built_in(run, state, wanted)
        need_core_choice(run, state)
        found = find_plugin(state.here.found, wanted.name)
        if wanted.kind == "memory" and not found.memory_provider:
            raise PmError("unknown-plugin", f"`{found.key}` is no memory provider", hint=_providers(state))
        return _selected(run, resolver, found, wanted)


def _providers(state: State) -> str:
    listed = ", ".join(f"`{leaf(found.key)}`" for found in state.here.found if found.memory_provider)
    return f"providers here are {listed}" if listed else "no provider is installed"


def _built_in(run: OperationRun, state: State, wanted: Wanted) -> Result:
    """Select what the core brings: nothing is resolved, and the plugin that was selected stays as it is enabled."""
    selection = state.here.profile.selection
    run.decides_on(state.union)
    if selection is None or wanted.setting not in dict(selections(selection)):
        return Done("unchanged")
    changes = (Set(wanted.setting, ""),)
    check_changes(selection, changes)
    if not run.operation.dry_run:
        edits = Edits({state.places.home: changes}, decided_on=decided_on(state))
        apply(run.places, edits, None, operation=run.operation.name)
    return Done("admitted")


def _selected(run: OperationRun, resolver: Resolver, found: Found, wanted: Wanted) -> Result:
    state = resolver.state
    selection = state.here.profile.selection
    changes: tuple[ConfigChange, ...] = (Enable(found.key, own_names(found, state.here.found)),)
    is_selected = selection is not None and is_selected_as(state, found, wanted.setting)
    if not is_selected:
        changes = (*changes, Set(wanted.setting, leaf(found.key)))
    if selection is not None:
        check_changes(selection, changes)
    member = announced(run, state, found)
    if is_selected and is_running(state, found):
        run.decides_on(state.union)
        return Done("unchanged")
    verdict = recorded_or_resolved(run, resolver, state.union.with_member(member), found.key)
    if isinstance(verdict.decision, Admitted):
        note_imports(run, resolver, found, folder=found.folder, lock=verdict.decision.lock)
    edits = Edits({state.places.home: changes}, decided_on=decided_on(state))
    result = realise(run, resolver, verdict, edits)
    return result._replace(steps=(*result.steps, again(found.key, result))) if isinstance(result, Refused) else result


def is_selected_as(state: State, found: Found, setting: str) -> bool:
    """Say whether a setting of the profile selects a plugin."""
    selection = state.here.profile.selection
    written = dict(selections(selection)).get(setting, "") if selection is not None else ""
    return bool(written) and any(same_key(written, name) for name in found.names)


def with_selecting_step(
    state: State, found: Found, result: Admitted | Refused | Undecided | Done
) -> Admitted | Refused | Undecided | Done:
    """Say of a memory provider that was enabled how it is selected: enabled alone, it is not used."""
    if not isinstance(result, Admitted) or not found.memory_provider or is_selected_as(state, found, "memory.provider"):
        return result
    step = Step("select", found.key, value=leaf(found.key))
    return Done("admitted", result.lock, steps=(step,), warnings=result.warnings)
