"""Choose the core and the Python, and make a generation of what is enabled."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from admission import Admitted
from lockfiles import Lock
from pm.config.edit import ConfigChange, Set
from pm.config.profiles import CONFIG, read_own_selection
from pm.config.settings import Settings
from pm.errors import PmError
from pm.generations.build import Edits
from pm.generations.bundle import Bundle, check_wheels
from pm.generations.records import Member
from pm.operations.core_choice import need_core_choice
from pm.operations.damage import environment_damage
from pm.operations.import_check import note_imports
from pm.operations.new_generation import decided_on, realise
from pm.operations.resolution import resolve
from pm.operations.run import OperationRun, Result
from pm.operations.verify import found
from pm.places import expanded
from pm.receipts.receipt import Done
from pm.verdict.resolve import Resolver, open_resolver
from pm.verdict.state import Options, State
from pm.verdict.union import Proposal


def initialise(run: OperationRun, options: Options, bundle: Bundle | None = None) -> Result:
    """Judge the core with everything that is enabled, write `pm.core` and `pm.python`, and select the result.

    With a bundle its core is meant unless another one is wished for, and from then on packages come from its wheels
    alone. Raise `PmError` (`hash-mismatch`) if one of them is not what it should be, (`config-unreadable`) if the
    config says that packages come from elsewhere.
    """
    options = options._replace(anew=True)
    environ = run.context.environ
    if bundle is not None:
        _check(run, bundle)
        options = options._replace(core=bundle.core if options.core is None else options.core)
        environ = _of_a_folder(environ, bundle.wheels)
    run.places.home.mkdir(parents=True, exist_ok=True)
    with open_resolver(run.places, environ, options, run.context.index_options) as resolver:
        state = resolver.state
        run.reads(state)
        if bundle is None:
            need_core_choice(run, state)
        changes = (*wanted_settings(state), *_folders(state.settings, bundle))
        is_new = bundle is not None and state.record is not None and not bundle.agrees(state.record.lock)
        if not changes and not is_new and is_made(run, state, state.union):
            run.decides_on(state.union)
            return Done("unchanged")
        verdict = resolve(run, resolver, state.union)
        admitted = isinstance(verdict.decision, Admitted)
        if not changes and not is_new and admitted and is_made(run, state, verdict.proposal):
            return Done("unchanged")
        if isinstance(verdict.decision, Admitted):
            note_members(run, resolver, verdict.proposal.members, verdict.decision.lock)
        edits = Edits({run.places.root: changes}, decided_on=decided_on(state))
        return realise(run, resolver, verdict, edits)


def note_members(run: OperationRun, resolver: Resolver, members: Iterable[Member], lock: Lock) -> None:
    """Say what is odd about the plugins that are admitted, as where each of them is asked for."""
    for member in members:
        for note in member.declaration.notes:
            run.note(note, owner=member.key)
        folder = Path(member.root) if member.root else None
        note_imports(run, resolver, member, folder=folder, lock=lock)


def _check(run: OperationRun, bundle: Bundle) -> None:
    """Raise what speaks against a bundle before anything is changed."""
    settings = read_own_selection(run.places.root).settings
    for name, is_other in (
        ("pm.indexes", bool(settings.indexes)),
        ("pm.find_links", bool(settings.find_links) and not _is_from(settings, bundle)),
    ):
        if is_other:
            file = str(run.places.root / CONFIG)
            message = f"`{name}` is set, and a bundle would be the only source of packages"
            raise PmError(
                "config-unreadable",
                message,
                hint="remove the setting first, if that is what you want",
                file=file,
                key=name,
            )
    with run.phase("verify", f"comparing {len(bundle.lock.pins)} wheels"):
        check_wheels(bundle)


def _is_from(settings: Settings, bundle: Bundle) -> bool:
    return [expanded(folder).absolute() for folder in settings.find_links] == [bundle.wheels]


def _of_a_folder(environ: Mapping[str, str], folder: Path) -> Mapping[str, str]:
    """Return surroundings in which whatever the config leaves open comes from a folder: told as pip is told."""
    told = {
        "UV_NO_CONFIG": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": folder.as_uri(),  # a path with blanks would be several
    }
    return {name: value for name, value in environ.items() if not name.startswith("UV_")} | told


def _folders(settings: Settings, bundle: Bundle | None) -> Iterator[ConfigChange]:
    """Yield what says that packages come from a bundle, and that no index is asked."""
    if bundle is not None and settings.indexes != ():
        yield Set("pm.indexes", ())
    if bundle is not None and not _is_from(settings, bundle):
        yield Set("pm.find_links", (str(bundle.wheels),))


def wanted_settings(state: State) -> tuple[ConfigChange, ...]:
    """Return what the config says otherwise of core and Python once the operator has chosen."""
    options, settings = state.options, state.settings
    wanted = (("pm.core", options.core, settings.core), ("pm.python", options.python, settings.python))
    return tuple(Set(name, wish) for name, wish, is_set in wanted if wish is not None and wish != is_set)


def is_made(run: OperationRun, state: State, proposal: Proposal) -> bool:
    """Say whether the selected generation is what was asked for, and all of its files are what they were."""
    record = state.record
    return (
        record is not None
        and (record.python, record.interpreter) == (state.python, str(state.interpreter.path))
        and record.fingerprint == proposal.fingerprint
        and environment_damage(state.places, record) is None
        and not found(run, record)
    )
