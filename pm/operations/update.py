"""Move the core to another version together with everything that is enabled, or refuse that as a whole."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from admission import Admitted, Problem, Refused, Step, Undecided
from pm.config.edit import ConfigChange, Disable, Set
from pm.config.managed import check_changes
from pm.config.profiles import own_names, selecting
from pm.errors import PmError
from pm.generations.build import Edits
from pm.generations.records import read_selected
from pm.host.core import HostedCore, LacksExtras, core_from_json, newer_versions
from pm.host.core_setting import chosen_release, with_same_extras
from pm.index import IndexClient
from pm.names import leaf, same_key, shown
from pm.operations.core_choice import need_core_choice
from pm.operations.earlier_refusals import note_admitted_now
from pm.operations.init import is_made, note_members, wanted_settings
from pm.operations.new_generation import decided_on, realise
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, ProfilePlugins, State
from pm.verdict.union import Proposal, without


class UpdateOptions(NamedTuple):
    """What an update may do beside moving the core."""

    without: tuple[str, ...] = ()
    """Plugins that are disabled by it, in every profile."""
    agreed: bool = False
    """Whether the configs of other profiles may change."""


class _Wanted(NamedTuple):
    """The core that is moved to."""

    setting: str
    version: str = ""
    """Of a release that a range means; empty where the setting says enough."""


class _Leaving(NamedTuple):
    """Plugins that the operator leaves out."""

    keys: tuple[str, ...]
    changes: Mapping[Path, tuple[ConfigChange, ...]]
    """Home of a profile → what its config says otherwise."""


def update(run: OperationRun, how: UpdateOptions, options: Options) -> Result:
    """Judge the newest core, or the one that is asked for, with its extras and everything that is enabled.

    If they do not fit together nothing changes. What the operator leaves out is disabled in the same step. Raise
    `PmError` (`unknown-extra`) for a core that has not every extra that is chosen, (`unknown-plugin`, `not-agreed`) for
    what cannot be left out.
    """
    wanted = _wanted(run, options)
    run.is_about_core(wanted.setting)
    options = options._replace(core=wanted.setting, core_version=wanted.version, anew=True)
    with _naming_extras(), open_resolver(run.places, run.context.environ, options, run.context.index_options) as found:
        run.reads(found.state)
        leaving = _leaving(run, found.state, how)
        return _updated(run, found, leaving)


# -- which core


def _wanted(run: OperationRun, options: Options) -> _Wanted:
    if options.core is not None:
        return _Wanted(_with_extras_of_now(run, options.core))
    now = options._replace(anew=True)
    with open_resolver(run.places, run.context.environ, now, run.context.index_options) as resolver:
        need_core_choice(run, resolver.state)
        hosted = resolver.state.hosted
        return _newest(run, hosted, resolver.index) if hosted.kind == "release" else _Wanted(hosted.setting)


def _with_extras_of_now(run: OperationRun, setting: str) -> str:
    """Return a setting with the extras of the selected core; of one that cannot be read none are known.

    The core of now is not looked for: it may be gone, which is why another one is named.
    """
    try:
        record = read_selected(run.places)
        core = core_from_json(record.core).core if record is not None else None
    except (PmError, ValueError):  # what is lost of the state is told by the update itself
        return setting
    return with_same_extras(setting, core.name, core.extras) if core is not None else setting


def _newest(run: OperationRun, hosted: HostedCore, index: IndexClient) -> _Wanted:
    """Return the newest release: in place of an exact version, else the newest that the range holds."""
    newer = newer_versions(hosted, index)
    choice = chosen_release(hosted.setting, newer)
    if newer and newer[0] != choice.version:
        message = f"{hosted.core.name} {newer[0]} is published, and `pm.core` is `{shown(hosted.setting)}`"
        run.note(Problem("core-held-back", message, hint=f"`hermes update --core {hosted.core.name}=={newer[0]}`"))
    return _Wanted(choice.setting, choice.version or hosted.core.version)


@contextmanager
def _naming_extras() -> Iterator[None]:
    """Say of extras that a core does not have how they are given up: they never go unasked."""
    try:
        yield
    except LacksExtras as error:
        names = " ".join(error.extras)
        error.hint = f"{error.hint}; `hermes pm extras remove {names}` gives up what is chosen and no longer there"
        raise


# -- what is left out


def _leaving(run: OperationRun, state: State, how: UpdateOptions) -> _Leaving:
    keys = tuple(dict.fromkeys(_key(state, word) for word in how.without))
    changes = {profile.profile.home: tuple(_disabling(profile, keys)) for profile in state.profiles}
    changes = {home: changed for home, changed in changes.items() if changed}
    for profile in state.profiles:
        if profile.profile.selection is not None:
            check_changes(profile.profile.selection, changes.get(profile.profile.home, ()))
    others = tuple(p.name for p in state.profiles if p.profile.home in changes and p.name != state.places.profile)
    for name in others:
        run.note(Problem("profile-changes", f"the profile `{name}` disables {', '.join(f'`{key}`' for key in keys)}"))
    if others and not how.agreed:
        names = ", ".join(f"`{name}`" for name in others)
        raise PmError("not-agreed", f"other profiles would change as well: {names}", hint="give `--yes` to agree")
    return _Leaving(keys, changes)


def _key(state: State, word: str) -> str:
    """Return the key of the plugin that a word means among those that are enabled in any profile."""
    keys = sorted({member.key for member in state.members} | {unfit.found.key for unfit in state.unfit})
    found = [key for key in keys if same_key(key, word)] or [key for key in keys if same_key(leaf(key), word)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(f"`{key}`" for key in found)
        raise PmError(
            "unknown-plugin", f"{shown(word)} is the name of several plugins: {listed}", hint="use the full key"
        )
    listed = ", ".join(f"`{key}`" for key in keys) or "none"
    raise PmError("unknown-plugin", f"no plugin {shown(word)} is enabled", hint=f"enabled are {listed}")


def _disabling(profile: ProfilePlugins, keys: Sequence[str]) -> Iterator[ConfigChange]:
    """Yield what a config says otherwise once plugins are disabled; nothing where it enables none of them."""
    selection = profile.profile.selection
    if selection is None:
        return
    for key in keys:
        found = next((plugin for plugin in profile.enabled.members if same_key(plugin.key, key)), None)
        if found is not None:
            yield Disable(found.key, own_names(found, profile.found))
            yield from (Set(setting, "") for setting in selecting(selection, found, profile.found))
        elif any(same_key(written, key) for written in profile.enabled.missing):
            yield Disable(key)


# -- the verdict and what comes of it


def _updated(run: OperationRun, resolver: Resolver, leaving: _Leaving) -> Result:
    state = resolver.state
    profiles = [profile.name for profile in state.profiles]
    union = state.union.of(without(state.members, leaving.keys, profiles))
    changes = wanted_settings(state)
    if not changes and not leaving.keys and is_made(run, state, union):
        return _unchanged(run, resolver, union)
    verdict = resolve(run, resolver, union)
    if not isinstance(verdict.decision, Admitted):
        return verdict.decision
    if not changes and not leaving.keys and is_made(run, state, verdict.proposal):
        return _unchanged(run, resolver, verdict.proposal)
    note_members(run, resolver, verdict.proposal.members, verdict.decision.lock)
    note_admitted_now(run, resolver, verdict.proposal, besides=leaving.keys)
    root = run.places.root
    configs = {**leaving.changes, root: (*changes, *leaving.changes.get(root, ()))}
    edits = Edits(configs, decided_on=decided_on(state))
    return _with_way_back(realise(run, resolver, verdict, edits), leaving.keys)


def _unchanged(run: OperationRun, resolver: Resolver, proposal: Proposal) -> Done:
    run.decides_on(proposal)
    note_admitted_now(run, resolver, proposal)
    return Done("unchanged")


def _with_way_back(result: Admitted | Refused | Undecided | Done, keys: Sequence[str]) -> Result:
    """Say of plugins that were left out how each of them comes back."""
    if not isinstance(result, Admitted) or not keys:
        return result
    steps = tuple(Step("re-enable", key, when=f"a version of `{key}` fits this core") for key in keys)
    return Done("admitted", result.lock, steps=steps, warnings=result.warnings)
