"""Enable an installed plugin: one admission, and the config with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from admission import Admitted, Reason, Refused
from pm.config.edit import Enable
from pm.config.profiles import own_names
from pm.generations.build import Edits
from pm.operations.catalog_lookup import known_catalog, refuse_withdrawn
from pm.operations.core_choice import need_core_choice
from pm.operations.enabling import check_enabling
from pm.operations.import_check import note_imports
from pm.operations.installed_trees import origin_of
from pm.operations.new_generation import decided_on, realise
from pm.operations.plugin_lookup import find_plugin
from pm.operations.plugin_status import again, announced, is_running
from pm.operations.resolution import recorded_or_resolved, resolve
from pm.operations.run import OperationRun, Result
from pm.operations.use import with_selecting_step
from pm.plugins.discovery import Found
from pm.receipts.receipt import Done
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options
from pm.verdict.union import Proposal


def enable(run: OperationRun, words: Sequence[str], options: Options) -> Result:
    """Judge plugins together with everything that is enabled, and enable all of them if they are admitted."""
    with open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver:
        run.reads(resolver.state)
        need_core_choice(run, resolver.state)
        meant = [(find_plugin(resolver.state.here.found, word), word) for word in words]
        found = {plugin.key: plugin for plugin, _ in meant}
        check_enabling(resolver.state, found.values())
        withdrawn = _withdrawn(run, options, found.values())
        if withdrawn:
            return Refused(withdrawn)
        if len(found) == 1:
            return _one(run, resolver, next(iter(found.values())))
        return _several(run, resolver, list(found.values()), {plugin.key: word for plugin, word in meant})


def _withdrawn(run: OperationRun, options: Options, plugins: Iterable[Found]) -> tuple[Reason, ...]:
    """Return which plugins the catalog has withdrawn; one that is enabled already is told elsewhere, and stays."""
    catalog = known_catalog(run, offline=options.offline)
    if catalog is None:
        return ()
    origins = [(found, origin_of(run.places, found)) for found in plugins]
    told = [refuse_withdrawn(catalog, found.key, {*found.names, origin.ref}, origin) for found, origin in origins]
    return tuple(reason for refused in told if refused is not None for reason in refused.reasons)


def _several(run: OperationRun, resolver: Resolver, asked: Sequence[Found], words: Mapping[str, str]) -> Result:
    """Enable several plugins by one decision and one commit: either all of them are, or none.

    `words` are those that name them, by their keys.
    """
    state = resolver.state
    new = [found for found in asked if not is_running(state, found)]
    members = [announced(run, state, found) for found in new]
    run.is_about_several(words)
    union = reduce(Proposal.with_member, members, state.union)
    if not new:
        run.decides_on(union)
        return Done("unchanged")
    verdict = resolve(run, resolver, union, asked=[found.key for found in new])
    if isinstance(verdict.decision, Admitted):
        for found in new:
            note_imports(run, resolver, found, folder=found.folder, lock=verdict.decision.lock)
    changes = tuple(Enable(found.key, own_names(found, state.here.found)) for found in new)
    return realise(run, resolver, verdict, Edits({state.places.home: changes}, decided_on=decided_on(state)))


def _one(run: OperationRun, resolver: Resolver, found: Found) -> Result:
    state = resolver.state
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
    result = with_selecting_step(state, found, realise(run, resolver, verdict, edits))
    return result._replace(steps=(*result.steps, again(found.key, result))) if isinstance(result, Refused) else result
