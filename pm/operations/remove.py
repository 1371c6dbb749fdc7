"""Remove plugins: always possible, without resolving, without a network, whatever state they are in."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from admission import ConstraintSet, Owner, Policy, Problem, Refused
from admission.gates import root_requirements
from lockfiles import Lock
from lockfiles.graph import owners as owners_by_name
from lockfiles.subset import NotASubset, subset
from pm.config.edit import Remove
from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.generations.build import (
    Ingredients,
    Prepared,
    allowed_collisions,
    apply,
    consents_left,
    prepare,
)
from pm.generations.records import Member, Record, next_number, read_record, recorded
from pm.generations.transaction import Replacement
from pm.host.core import core_from_json
from pm.host.interpreter import describe_interpreter
from pm.index.package_sources import Sources
from pm.names import is_key, same_key, shown
from pm.operations.kept_trees import discard, emptied, keep_what_is_lost, noted, recorded_tree, unkept
from pm.operations.leaver import (
    Leaver,
    Leaving,
    commit_without,
    disowned,
    edits_of,
    fingerprinted,
    leaver_of,
    leaving,
)
from pm.operations.run import OperationRun, Result
from pm.places import Places
from pm.plugins.discovery import is_plugin
from pm.plugins.tree import link_target
from pm.receipts.receipt import Done, InvalidReceipt, Plugin
from pm.receipts.store import list_receipts, load
from pm.verdict.state import Options, sources_of
from pm.verdict.union import union_of


def remove(run: OperationRun, words: Sequence[str], options: Options) -> Result:
    """Remove plugins from this profile: folders, every mention in the config, and what only they needed."""
    known = {leaver.key: leaver for word in words if (leaver := _leaver(run, word)) is not None}
    leavers = list(known.values())
    if not leavers:
        return Done("unchanged")
    going = leaving(run, leavers)
    edits = edits_of(run, leavers, lambda leaver: Remove(leaver.key, leaver.names, leaver.staying))
    for leaver in leavers:
        _note_what_stays(run, leaver)
    record = going.record
    is_member = any(leaver.is_member for leaver in leavers)
    lock = _without(run, going) if record is not None and (is_member or _holds_leftovers(record)) else None
    if run.operation.dry_run:
        return Done("removed", lock)
    trees = _all_taken_away(run, leavers)
    edits = edits._replace(trees=trees)
    try:
        if record is None or lock is None:
            apply(run.places, edits, None, operation="remove")
            return Done("removed")
        prepared = _rebuilt(run, record, lock, options)
        commit_without(run, going, prepared, edits, consents=consents_left(record.consents, lock, going.gone))
        return Done("removed", prepared.lock)
    finally:
        discard(run.places, trees)


def _leaver(run: OperationRun, word: str) -> Leaver | None:
    """Return what is known of a plugin; `None` for one that was here and is gone already."""
    try:
        return leaver_of(run, word)
    except PmError as error:
        if error.code != "unknown-plugin" or not _was_here(run, word):
            raise
        run.is_about(Plugin(key=word, name=word, profile=run.places.profile))
        return None


def _note_what_stays(run: OperationRun, leaver: Leaver) -> None:
    if leaver.found is not None and leaver.folder is None:
        message = f"`{leaver.key}` comes with the {leaver.found.source} plugins: it is disabled, and its files stay"
        run.note(Problem("stays-there", message))
    if leaver.found is None and (bearing := _of_its_name(run.places, leaver.key)) is not None:
        message = f"{shown(str(bearing))} stays: {_why_it_stays(bearing)}"
        run.note(Problem("stays-there", message, hint="delete it, if it is not needed"))


def _was_here(run: OperationRun, word: str) -> bool:
    """Say whether a plugin of this key was in this profile, as far as records and receipts tell: it is gone already."""
    profile = run.places.profile
    return any(same_key(key, word) and profile in profiles for key, profiles in _once_here(run.places))


def _once_here(places: Places) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the keys and profiles of all plugins that records and receipts tell of, as far as these can be read."""
    for number in recorded(places):
        with suppress(PmError):
            yield from ((member.key, member.profiles) for member in read_record(places, number).members)
    for stored in list_receipts(places.receipts):
        with suppress(PmError, InvalidReceipt):
            receipt = load(stored.path) if stored.operation == "install" else None
            if receipt is not None and receipt.plugin is not None and receipt.outcome == "admitted":
                yield receipt.plugin.key, (receipt.plugin.profile,)


# -- what stays


def _of_its_name(places: Places, key: str) -> Path | None:
    """Return what lies where the files of a plugin would, and is none of this name; `None` if nothing does."""
    path = places.home / "plugins" / key
    return path if is_key(key) and os.path.lexists(path) else None


def _why_it_stays(path: Path) -> str:
    if path.is_dir() and is_plugin(path):
        return "the plugin in it has another name, and was not asked for"
    return "it is not the folder of a plugin"


def _holds_leftovers(record: Record) -> bool:
    """Say whether the environment holds packages without an owner: a plugin was disabled before."""
    return any(not owners for owners in owners_by_name(record.lock).values())


def _without(run: OperationRun, going: Leaving) -> Lock | None:
    """Return the lock of the members that stay; `None` without a record."""
    record = going.record
    if record is None:
        return None
    if not going.gone:
        return fingerprinted(run, record, going.remaining, record.lock)
    try:
        lock = _subset(run, record, going.remaining)
    except (NotASubset, PmError) as error:
        message = f"what only {going.named} needed stays until the next build: {error}"
        run.note(Problem("superset-kept", message))
        lock = disowned(record.lock, going.gone)
    return fingerprinted(run, record, going.remaining, lock, gone=going.gone)


def _subset(run: OperationRun, record: Record, remaining: Sequence[Member]) -> Lock:
    hosted = core_from_json(record.core)
    target = describe_interpreter(Path(record.interpreter), run.places.cache).target
    roots = root_requirements(ConstraintSet(hosted.core, union_of(remaining), target, Policy()))
    owners: dict[str, set[Owner]] = {}
    for root in roots:
        owners.setdefault(root.name, set()).add(root.origin.owner)
    asked: list[tuple[str, Sequence[str]]] = [(root.name, root.extras) for root in roots]
    pin = hosted.core.pin
    if pin is not None:
        asked.append((pin.name, pin.extras))
        owners.setdefault(pin.name, set()).update(pin.owners)
    return subset(record.lock, asked, owners)


# -- the environment and the folder


def _rebuilt(run: OperationRun, record: Record, lock: Lock, options: Options) -> Prepared:
    """Build the environment of the members that stay, from the cache if it has everything.

    Without the wheels, and without a network to get them, the environment stays as it is: a superset.
    """
    try:
        interpreter = describe_interpreter(Path(record.interpreter), run.places.cache)
        hosted = core_from_json(record.core)
        allowed = allowed_collisions(record.consents)
        built: Prepared | Refused | None = None
        with run.phase("build", f"building an environment of {len(lock.pins)} packages"):
            for sources in _ways(run, options):
                built = _tried(run, lock, Ingredients(hosted, interpreter, sources, None, allowed), record)
                if isinstance(built, Prepared):
                    return built
    except PmError as error:
        message = f"packages that are no longer needed stay until the next build: {error.message.splitlines()[0]}"
    else:
        message = "packages that are no longer needed stay until the next build: not every wheel is there for one"
    run.note(Problem("superset-kept", message))
    owned = {pin.name: pin.owners for pin in lock.pins}
    pins = tuple(pin._replace(owners=owned.get(pin.name, ())) for pin in record.lock.pins)
    kept = record.lock._replace(pins=pins, fingerprint=lock.fingerprint)
    return Prepared(next_number(run.places), record.environment, kept)


def _ways(run: OperationRun, options: Options) -> Iterator[Sources | None]:
    yield None
    if not options.offline:
        settings = read_own_selection(run.places.root).settings
        yield sources_of(settings, run.places, run.context.environ)


def _tried(run: OperationRun, lock: Lock, ingredients: Ingredients, record: Record) -> Prepared | Refused | None:
    try:
        return prepare(run.places, lock, ingredients, record)
    except PmError as error:
        if error.code not in ("install-failed", "no-interpreter", "offline"):
            raise
        return None


def _all_taken_away(run: OperationRun, leavers: Iterable[Leaver]) -> tuple[Replacement, ...]:
    folders = {leaver.folder: leaver for leaver in leavers if leaver.folder is not None}
    taken = tuple(_taken_away(run, leaver, folder) for folder, leaver in folders.items())
    return (*taken, noted(run.places, dict.fromkeys(folders))) if taken else ()


def _taken_away(run: OperationRun, leaver: Leaver, folder: Path) -> Replacement:
    places = run.places
    if target := link_target(folder):
        run.note(Problem("files-kept", f"{shown(str(folder))} was a link to {shown(target)}, which stays as it is"))
        return Replacement(folder)
    members = leaver.record.members if leaver.record is not None else ()
    known = next((member.tree_digest for member in members if member.root == str(folder)), "")
    recorded = recorded_tree(places, folder, known)
    try:
        keep_what_is_lost(run, folder, recorded)
    except (PmError, OSError) as error:
        run.note(unkept(folder, error))
    replacement = emptied(places, folder, recorded=recorded)
    if replacement.tree is not None:
        message = f"files that `{leaver.key}` wrote itself stay in `{folder}`"
        run.note(Problem("files-kept", message))
    return replacement
