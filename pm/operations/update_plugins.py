"""Replace plugins by what their sources have today: judged first, then swapped together with the environment."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from admission import Admitted, Declaration, Problem, Refused
from lockfiles.subset import changes
from pm.errors import PmError
from pm.names import canonical_key, shown
from pm.operations.candidate import CandidatePlugin, announced_source
from pm.operations.catalog_lookup import Asked, check_candidate, entry_of, known_catalog
from pm.operations.install import is_there_already
from pm.operations.install_several import Batch, carried_out, check_distinct, judged
from pm.operations.installed_trees import installed_tree, origin_of
from pm.operations.leftovers import staging
from pm.operations.plugin_lookup import find_plugin
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun, Result
from pm.places import Places
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target
from pm.receipts.receipt import Done, SourceRow
from pm.sources.catalog import Catalog
from pm.sources.origins import Standing, is_pinned, source_of, standing_of
from pm.sources.spelling import Git, Source, read_source
from pm.sources.stage import staged_source
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, State
from pm.verdict.union import member_of


class PluginUpdate(NamedTuple):
    """How plugins are to be updated."""

    commit: str = ""
    """The one that a plugin of a repository is moved to."""
    everything: bool = False
    """Whether all are meant of which the source has something else."""
    agree: Callable[[str], bool] = lambda _: False
    """Is asked whether a plugin may require more than before."""


class Outdated(NamedTuple):
    """An installed plugin, and how it stands to its source."""

    found: Found
    origin: SourceRow
    standing: Standing


def update_plugins(run: OperationRun, words: Sequence[str], how: PluginUpdate, options: Options) -> Result:
    """Update plugins: all of them or none, and nothing that is enabled stops running meanwhile.

    Raise `PmError` (`unknown-plugin`, `not-updatable`, `not-agreed` for requirements that
    the operator has not agreed to, and what a source raises).
    """
    below = run.places.cache / "staged" if run.operation.dry_run else staging(run.places)
    with (
        ExitStack() as stack,
        open_resolver(run.places, run.context.environ, options, run.context.index_options) as resolver,
    ):
        state = resolver.state
        run.reads(state)
        catalog = known_catalog(run, offline=options.offline)
        named = {
            found.key: (found, word) for found, word in _named(state, words, how, catalog, offline=options.offline)
        }
        candidates = []
        for found, _ in named.values():
            run.context.tell(f"reading the source of {found.key}")
            run.is_about(plugin_of(member_of(found, (run.places.profile,))))  # whose source it is that may be gone
            asked = _asked(run, catalog, found, how.commit)
            taken = stack.enter_context(staged_source(asked.source, below, name=asked.name, offline=options.offline))
            candidates.append(_of_the_same_key(announced_source(run, taken, state), found))
        check_distinct(candidates)
        refusals = [check_candidate(run, state, catalog, each) for each in candidates]
        withdrawn = [reason for refused in refusals if refused is not None for reason in refused.reasons]
        if withdrawn:
            return Refused(tuple(withdrawn))
        if len(candidates) != 1:
            run.is_about_several({key: word for key, (_, word) in named.items()})
        return _updated(run, resolver, candidates, how)


def outdated(
    places: Places, found: Sequence[Found], catalog: Catalog | None = None, *, offline: bool
) -> Iterator[Outdated]:
    """Yield the user's plugins, each as it stands to its source."""
    for plugin in found:
        if plugin.source == "user" and plugin.folder is not None and not plugin.hidden_by:
            yield _outdated(places, plugin, catalog, offline=offline)


def _outdated(places: Places, found: Found, catalog: Catalog | None, *, offline: bool) -> Outdated:
    if found.folder is not None and (target := link_target(found.folder)):
        return Outdated(found, SourceRow("link", target), Standing("linked"))
    origin, installed = origin_of(places, found), None
    if found.folder is not None:
        installed = installed_tree(places, found.folder)
    digest = installed.digest if installed is not None else ""
    standing = _in_catalog(catalog, origin) if origin.kind == "catalog" else None
    return Outdated(found, origin, standing or standing_of(origin, digest, places, offline=offline))


def _in_catalog(catalog: Catalog | None, origin: SourceRow) -> Standing:
    entry = catalog.entry(origin.ref) if catalog is not None else None
    if entry is None:
        return Standing("unreachable", message=f"`{origin.ref}` is in no catalog that is known now")
    return Standing("current") if entry.sha == origin.commit else Standing("newer", available=entry.sha)


# -- what is updated


def _named(
    state: State, words: Sequence[str], how: PluginUpdate, catalog: Catalog | None, *, offline: bool
) -> Iterator[tuple[Found, str]]:
    if not how.everything:
        yield from ((find_plugin(state.here.found, word), word) for word in words)
        return
    for one in outdated(state.places, state.here.found, catalog, offline=offline):
        if one.standing.state == "newer":
            yield one.found, one.found.key


def _asked(run: OperationRun, catalog: Catalog | None, found: Found, commit: str) -> Asked:
    origin = origin_of(run.places, found)
    name = origin.ref if origin.kind == "catalog" and not commit else ""
    return Asked(_source(run.places, catalog, found, commit), name)


def _source(places: Places, catalog: Catalog | None, found: Found, commit: str) -> Source:
    """Return the source that a plugin is updated from; raise `PmError` (`invalid-source`) for one without."""
    key = found.key
    if found.source != "user" or found.folder is None:
        said = f"`{key}` comes with the {'core' if found.source == 'bundled' else found.source}"
        hint = "`hermes update` updates the core" if found.source == "bundled" else "change its files where they lie"
        raise PmError("not-updatable", f"{said}, and is not updated by itself", hint=hint)
    if target := link_target(found.folder):
        hint = f"update the files there; `hermes plugins enable {key}` admits them as they are then"
        raise PmError("not-updatable", f"`{key}` is a link to {shown(target)}", hint=hint)
    origin = origin_of(places, found)
    if not origin.kind:
        hint = "`hermes plugins install SOURCE --force` replaces it, and its source is known from then on"
        raise PmError("not-updatable", f"where `{key}` came from is not known", hint=hint)
    if commit:
        return _at_commit(origin, key, commit)
    if origin.kind == "catalog":
        return entry_of(catalog, origin, key).source
    if is_pinned(origin):
        hint = f"`hermes plugins update {key} --ref COMMIT` moves it; installed anew, it follows a branch"
        raise PmError("not-updatable", f"`{key}` is pinned to the commit {origin.commit[:12]}", hint=hint)
    return source_of(origin)


def _at_commit(origin: SourceRow, key: str, commit: str) -> Source:
    source = source_of(origin)
    if not isinstance(source, Git):
        said = f"`--ref` names a commit of a repository, and `{key}` came from {shown(origin.location)}"
        raise PmError("invalid-source", said, hint="leave out `--ref`")
    return read_source(origin.location, commit)


def _of_the_same_key(candidate: CandidatePlugin, found: Found) -> CandidatePlugin:
    if canonical_key(candidate.key) == canonical_key(found.key):
        return candidate
    location = candidate.staged.source.location
    hint = f"`hermes plugins install {shown(location).strip('`')}` installs it beside this one"
    raise PmError("not-updatable", f"the source of `{found.key}` holds the plugin `{candidate.key}` now", hint=hint)


# -- the verdict, and what the operator agrees to


def _updated(run: OperationRun, resolver: Resolver, candidates: Sequence[CandidatePlugin], how: PluginUpdate) -> Result:
    state = resolver.state
    new = [each for each in candidates if not is_there_already(state, each)]
    if not new:
        run.decides_on(state.union)
        return Done("unchanged")
    batch = judged(run, resolver, new, enable=False)
    if batch.refused is not None:
        return batch.refused
    grown = [text for each in batch.enabled for text in _grown(state, each)]
    grown += _new_packages(state, batch)
    for text in grown:
        run.note(Problem("requirements-grow", text))
    if grown and not run.operation.dry_run and not how.agree("; ".join(grown)):
        raise PmError("not-agreed", "; ".join(grown), hint="give `--yes` to agree")
    return carried_out(run, resolver, batch)


def _grown(state: State, candidate: CandidatePlugin) -> Iterator[str]:
    """Yield what a plugin requires that it did not require before."""
    old, new = _admitted_last(state, candidate), candidate.found.declaration
    if old is None:
        return
    known = {requirement.name for requirement in old.requirements}
    more = [r for r in new.requirements if r.name not in known]
    if more:
        listed = ", ".join(f"`{requirement.text or requirement.canonical}`" for requirement in more)
        yield f"`{new.key}` {new.version} requires what {old.version or 'the installed one'} did not: {listed}"
    programs = {external.name for external in old.external_dependencies}
    others = [external.name for external in new.external_dependencies if external.name not in programs]
    if others:
        yield f"`{new.key}` {new.version} needs further programs: {', '.join(map(shown, others))}"


def _admitted_last(state: State, candidate: CandidatePlugin) -> Declaration | None:
    """Return what was declared when the plugin was admitted, else what the installed one declares, if that is known."""
    member = next((m for m in state.recorded if canonical_key(m.key) == canonical_key(candidate.key)), None)
    if member is not None:
        return member.declaration
    return candidate.old.declaration if candidate.old is not None and candidate.old.declaration.fit else None


def _new_packages(state: State, batch: Batch) -> list[str]:
    decision = batch.verdict.decision if batch.verdict is not None else None
    if not isinstance(decision, Admitted) or state.record is None:
        return []
    added = changes(state.record.lock, decision.lock).added
    listed = ", ".join(f"{change.name} {change.after}" for change in added)
    return [f"new packages come with it: {listed}"] if added else []
