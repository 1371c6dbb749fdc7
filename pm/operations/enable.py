"""Enable an installed plugin: one admission, and the config with it."""

from __future__ import annotations

from admission import Admitted, Refused
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits
from pm.operations.import_check import note_imports
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_resolved
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.verdict.resolve import open_resolver
from pm.verdict.state import Options


def enable(run: OperationRun, word: str, options: Options) -> Result:
    """Judge a plugin together with everything that is enabled, and enable it if it is admitted."""
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        state = resolver.state
        run.reads(state)
        found = find_plugin(state.here.found, word)
        member = announced(run, state, found)
        if is_running(state, found):
            run.decides_on(state.union)
            return Done("unchanged")
        verdict = recorded_or_resolved(run, resolver, state.union.with_member(member), found.key)
        if isinstance(verdict.decision, Admitted) and is_running(state, found, verdict.proposal):
            return Done("unchanged")
        if isinstance(verdict.decision, Admitted):
            note_imports(run, resolver, found, folder=found.folder, lock=verdict.decision.lock)
        edits = Edits(
            {state.places.home: (Enable(found.key, own_names(found, state.here.found)),)},
            decided_on=decided_on(state),
        )
        result = realise(run, resolver, verdict, edits)
        return (
            result._replace(steps=(*result.steps, again(found.key, result))) if isinstance(result, Refused) else result
        )
