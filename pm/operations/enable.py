"""Switch an installed plugin on: one admission, and the config with it."""

from __future__ import annotations

from admission import Admitted, Refused
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits
from pm.operations.import_check import note_imports
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_verdict
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.verdict.state import Options, observed, with_member


def enable(run: OperationRun, word: str, options: Options) -> Result:
    """Judge a plugin together with everything that is enabled, and switch it on if it is admitted."""
    with observed(run.places, run.context.environ, options, run.context.index_options) as state:
        run.learn(state)
        found = find_plugin(state.here.found, word)
        member = announced(run, state, found)
        if is_running(state, found):
            run.judged(state, state.members)
            return Done("unchanged")
        judged = recorded_or_verdict(run, state, with_member(state.members, member), found.key)
        if isinstance(judged.decision, Admitted) and is_running(state, found, judged.members):
            return Done("unchanged")
        if isinstance(judged.decision, Admitted):
            note_imports(run, state, found, folder=found.folder, lock=judged.decision.lock)
        edits = Edits(
            {state.places.home: (Enable(found.key, own_names(found, state.here.found)),)},
            decided_on=decided_on(state),
        )
        result = realise(run, state, judged, edits)
        return (
            result._replace(steps=(*result.steps, again(found.key, result))) if isinstance(result, Refused) else result
        )
