"""Prepare a generation from a lock, and select it together with what changes in configs and plugin folders."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from admission import Problem, Refused
from lockfiles import Lock, pylock
from pm.config.edit import ConfigChange, edit_config, locked_config
from pm.config.profiles import read_selection
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.clone import distributions_of, give
from pm.generations.disk_space import compared_until, fetched_again, note_unpacked, room_for
from pm.generations.distributions import stamp
from pm.generations.environment import (
    EnvironmentCheck,
    build_environment,
    check_environment,
    foresee,
    seal,
    settle_collisions,
)
from pm.generations.fault_reasons import refusal_of, warning_of
from pm.generations.file_faults import Fault, flaws_of
from pm.generations.leases import make_leasable
from pm.generations.pointer import Pointer, read_pointer
from pm.generations.records import Member, Record, next_number, pointer_bytes, record_bytes, recorded
from pm.generations.transaction import Replacement, commit, digest
from pm.generations.uv import forget
from pm.generations.uv_cache import damaged_in_cache, require_usable_cache
from pm.host.core import HostedCore, core_to_json, keep_core
from pm.host.interpreter import Interpreter
from pm.index import IndexClient
from pm.index.package_sources import Sources
from pm.names import same_key
from pm.places import EnvironmentNumber, GenerationNumber, Places, own_environment
from pm.receipts.receipt import time_text
from pm.system.folders import remove_tree
from pm.system.meanwhile import meanwhile
from pm.system.owners import hand_over


class Ingredients(NamedTuple):
    """What a lock is built with."""

    hosted: HostedCore
    interpreter: Interpreter
    sources: Sources | None
    """`None`: from uv's cache alone."""
    client: IndexClient | None
    """Gives the wheels that the lock names by path; `None`: they are in the state already."""
    allow_collision: frozenset[str] = frozenset()
    """Distributions that may write the same files as others."""


class Prepared(NamedTuple):
    """An environment that is complete and checked, and not selected yet."""

    number: GenerationNumber
    """Of the generation to come."""
    environment: EnvironmentNumber
    """Its own, or that of an earlier generation with the same files."""
    lock: Lock
    warnings: tuple[Problem, ...] = ()
    compared: float = 0.0
    """When its files were compared with the RECORDs of what uv has unpacked; 0 if uv has unpacked nothing."""

    @property
    def reused(self) -> bool:
        return self.environment != own_environment(self.number)


class Edits(NamedTuple):
    """What is committed together with the pointer."""

    configs: Mapping[Path, tuple[ConfigChange, ...]] = {}
    """Home → how its config is edited."""
    trees: tuple[Replacement, ...] = ()
    decided_on: Mapping[Path, Selection] = {}
    """Home → what its config selected when this was decided; a difference now is `config-changed`."""
    flush: bool = False
    """Whether more was written that the pointer will name: an environment, kept trees."""


class Contents(NamedTuple):
    """What a record says beside its environment."""

    members: tuple[Member, ...]
    fingerprint: str
    core: Mapping[str, object]
    interpreter: str
    target: str
    consents: Mapping[str, object]
    exclude_newer: str
    python: str
    selections: Mapping[str, object]


def prepare(places: Places, lock: Lock, ingredients: Ingredients, selected: Record | None) -> Prepared | Refused:
    """Build and check the environment of a lock, or take the selected one if it holds the same files and is whole.

    Refused where only the finished environment shows that its distributions do not go together. Then, and when
    `PmError` is raised (`install-failed`, `hash-mismatch`, `no-space` …), nothing of it is left.
    """
    number = next_number(places)
    if (
        selected is not None
        and _same_files(selected.lock, lock)
        and is_whole(places, selected, ingredients.interpreter)
    ):
        return Prepared(number, selected.environment, lock)
    require_usable_cache(places)
    environment = own_environment(number)
    folder = places.environment(environment)
    try:
        with room_for(places, lock):
            near = places.environment(selected.environment) if selected is not None else None
            check = _Construction(places, environment, lock, ingredients, near=near).result()
        refused = refusal_of(check.clashes, lock)
        if refused is not None:
            _withdraw(folder)
            return refused
        seal(folder)
        hand_over(folder, places.root)
    except BaseException:
        _withdraw(folder)
        raise
    warnings = tuple(warning_of(fault) for fault in check.clashes if fault.harmless)
    return Prepared(number, environment, lock, warnings, check.compared)


def allowed_collisions(consents: Mapping[str, Any]) -> frozenset[str]:
    """Return which distributions of a record may write the same files as others."""
    return frozenset(consents.get("allow_collision", ()))


def _get_ready(near: Path | None, lock: Lock, interpreter: Interpreter) -> None:
    """Import what the check of an environment and the commit need, and read what that of `near` says already."""
    import csv  # noqa: F401 - of RECORDs with quotes

    import pm.config.yaml_edit
    import pm.documents.yaml_nodes
    import pm.index.metadata  # noqa: F401 - as the two above: only imported

    if near is not None:
        with suppress(PmError, OSError):  # the check itself will say what is wrong with the new one
            foresee(near, lock, interpreter)


def is_whole(places: Places, record: Record, interpreter: Interpreter) -> bool:
    """Say whether an environment is what its lock says: it may be shared by a further generation only then.

    The content of a file is compared if something was written to it since that was done last.
    """
    folder = places.environment(record.environment)
    try:
        check = check_environment(folder, record.lock, interpreter, compared_until(places, record.lock))
    except PmError:  # there is none, or not all of it
        return False
    return not check.drift and not check.unsettled


class _Construction:
    """Makes the environment of a lock, in the first of several ways that leads to one that is whole."""

    def __init__(
        self,
        places: Places,
        number: EnvironmentNumber,
        lock: Lock,
        ingredients: Ingredients,
        *,
        near: Path | None,
    ) -> None:
        self._places, self._number, self._lock, self._ingredients = places, number, lock, ingredients
        self._near = near
        """An environment that most likely has nearly the same distributions."""
        self._build = partial(build_environment, places, number, ingredients.interpreter, pylock.dumps(lock))

    def result(self) -> EnvironmentCheck:
        """Return what is to be said of the environment, which is whole; raise `PmError` if none can be made."""
        self._take_in()
        made = self._with_uv()
        # what was cut or edited in uv's cache is installed like that for ever, unless it is fetched once more
        if isinstance(made, PmError) and self._drop_damaged() and self._ingredients.sources is not None:
            made = self._with_uv()
        if isinstance(made, PmError):
            flaws = self._flaws()
            return EnvironmentCheck(clashes=flaws) if flaws else self._of_other_generations(made)
        return made._replace(compared=time.time())

    def _flaws(self) -> tuple[Fault, ...]:
        """Return which wheel is the reason that the lock cannot be installed, read whole from where it comes from."""
        client = self._ingredients.client
        return flaws_of(self._lock, client, self._places) if client is not None else ()

    def _take_in(self) -> None:
        keep_core(self._ingredients.hosted, self._places)
        if self._ingredients.client is not None:
            self._ingredients.client.adopt(self._lock, self._places.wheels)
        # a number comes again where records and folders were deleted by hand: its bytecode may fit what is built now
        remove_tree(self._places.bytecode(self._number))

    def _with_uv(self) -> EnvironmentCheck | PmError:
        """Let uv install the lock; return why it cannot, or by what the result is not what the lock says."""
        try:
            with meanwhile(partial(_get_ready, self._near, self._lock, self._ingredients.interpreter)):
                self._build(sources=self._ingredients.sources)
            return self._checked(compared_until(self._places, self._lock))
        except PmError as error:
            if error.code != "install-failed":
                raise
            return error

    def _drop_damaged(self) -> bool:
        """Take out of uv's cache what is not whole there, and say whether anything was."""
        damaged = damaged_in_cache(self._places, self._lock)
        forget(self._places, damaged)
        return bool(damaged)

    def _of_other_generations(self, error: PmError) -> EnvironmentCheck:
        there = distributions_of(self._places, self._lock, recorded(self._places))
        if there is None and self._ingredients.sources is None:
            _raise_missing(self._places, self._lock)
        if there is None:
            raise error
        self._build(sources=None, fill=partial(give, there))
        made = self._checked(None)  # all of it was compared before it was linked
        if isinstance(made, PmError):
            raise made
        return made

    @property
    def _folder(self) -> Path:
        return self._places.environment(self._number)

    def _check(self, compared: Mapping[str, float] | None) -> EnvironmentCheck:
        interpreter, allowed = self._ingredients.interpreter, self._ingredients.allow_collision
        return check_environment(self._folder, self._lock, interpreter, compared, allow_collision=allowed)

    def _checked(self, compared: Mapping[str, float] | None) -> EnvironmentCheck | PmError:
        # the flush before the commit has less to do then, and the check writes nothing
        with meanwhile(os.sync):
            check = self._check(compared)
        if not all(fault.harmless for fault in check.clashes):
            return check  # whose file lies where several write is no matter then
        if check.sharing:
            settle_collisions(self._places, self._folder, self._lock, check.sharing, sources=self._ingredients.sources)
            check = self._check(compared)
        drift = (*check.drift, *check.unsettled)
        if not drift:
            return check
        remove_tree(self._folder)
        return _not_as_locked(drift)


def select(
    places: Places, prepared: Prepared, contents: Contents, edits: Edits, *, operation: tuple[str, str]
) -> Record:
    """Write the record, then change configs, plugin folders and the pointer in one transaction.

    `operation` is its name and the id of its receipt. If anything fails, nothing has changed and a newly built
    environment is gone. Raise `PmError` (`config-changed`, `busy`, `no-space`, `not-writable`).
    """
    name, receipt = operation
    record = Record(
        generation=prepared.number,
        environment=prepared.environment,
        lock=prepared.lock,
        lock_digest=pylock.digest(prepared.lock),
        operation=name,
        receipt=receipt,
        created_at=time_text(datetime.now(UTC)),
        **contents._asdict(),
    )
    folder = places.environment(prepared.environment)
    pointer = _next_pointer(places, prepared, record)
    row = Replacement(places.record(record.generation), content=record_bytes(record), mode=0o644)
    try:
        make_leasable(places, prepared.environment)
        # the record comes and goes with the rest: one that was never selected would be gone back to
        edits = edits._replace(trees=(*edits.trees, row), flush=edits.flush or not prepared.reused)
        apply(places, edits, pointer, operation=name)
    except BaseException:
        if not prepared.reused and not _is_selected(places, prepared.environment):
            _withdraw(folder)
        raise
    if prepared.compared:
        note_unpacked(places, prepared.lock.pins, compared=prepared.compared)
    return record


def pointer_to(places: Places, record: Record) -> bytes:
    """Return the content of the pointer that selects a generation whose environment was built or compared just now."""
    folder = places.environment(record.environment)
    return pointer_bytes(record, path=str(folder), stamp=stamp(folder))


def _next_pointer(places: Places, prepared: Prepared, record: Record) -> bytes:
    """Return the content of the pointer that selects a prepared generation.

    Where the environment stays, so does what is known of it: what was added to it since is no part of it now.
    """
    before = _selected_pointer(places) if prepared.reused else None
    if before is None or before.environment != prepared.environment:
        return pointer_to(places, record)
    return pointer_bytes(record, path=str(before.folder), stamp=before.site_packages_stamp)


def _selected_pointer(places: Places) -> Pointer | None:
    try:
        return read_pointer(places)
    except PmError:
        return None


def _withdraw(folder: Path) -> None:
    with suppress(OSError):  # why it is not wanted is what matters, and the next change sweeps what has no record
        remove_tree(folder)


def _is_selected(places: Places, environment: EnvironmentNumber) -> bool:
    try:
        pointer = read_pointer(places)
    except PmError:  # it is not known, so it stays
        return True
    return pointer is not None and pointer.environment == environment


def apply(places: Places, edits: Edits, pointer: bytes | None, *, operation: str) -> None:
    """Change configs, plugin folders and the pointer together.

    A config that another process changed meanwhile is merged as long as it selects the same; else `config-changed`.
    """
    if edits.flush or any(replacement.tree is not None for replacement in edits.trees):
        # everything at once, as one file after the other takes longer; and before the lock of a config is held
        os.sync()
    with ExitStack() as stack:
        replacements = list(edits.trees)
        changed = {home: changes for home, changes in sorted(edits.configs.items()) if changes}
        configs = {home: stack.enter_context(locked_config(home)) for home in changed}
        _unchanged(edits.decided_on)
        for home, config in configs.items():
            content = edit_config(config.path, changed[home])
            if content != config.content:
                expected = digest(config.content) if config.content is not None else ""
                replacements.append(Replacement(config.path, content=content, expected=expected))
        if replacements or pointer is not None:
            commit(places, replacements, pointer, operation=operation)


def consents_left(consents: Mapping[str, Any], lock: Lock, gone: Sequence[str] = ()) -> dict[str, object]:
    """Return what stays consented to for what stays: a consent goes with the package or the plugin that it was for."""
    names = lock.versions()
    lists = {name: value for name, value in consents.items() if isinstance(value, list | tuple)}
    left: dict[str, object] = {name: [one for one in value if one in names] for name, value in lists.items()}
    if "allow_direct_urls" in lists:
        left["allow_direct_urls"] = [
            key for key in lists["allow_direct_urls"] if not any(same_key(key, one) for one in gone)
        ]
    return {**consents, **left}


def contents_after(
    record: Record, members: Sequence[Member], fingerprint: str, **changed: Mapping[str, object]
) -> Contents:
    """Return what a record says after a plugin left: everything else is as it was."""
    values = {name: getattr(record, name) for name in Contents._fields}
    return Contents(**(values | {"members": tuple(members), "fingerprint": fingerprint} | changed))


def core_value(hosted: HostedCore, interpreter: Interpreter) -> Mapping[str, object]:
    """Return the core as a record keeps it."""
    return core_to_json(hosted, interpreter.target)


def _raise_missing(places: Places, lock: Lock) -> None:
    missing = fetched_again(places, lock)
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        name = f"`{missing[0].name}` {missing[0].version}{more}"
        raise PmError("offline", f"{name} is neither in the cache nor intact in a generation, and `--offline` was said")


def _not_as_locked(drift: Sequence[Fault]) -> PmError:
    more = f" (and {len(drift) - 1} more)" if len(drift) > 1 else ""
    return PmError("install-failed", f"what was installed is not what the lock says: {drift[0].message}{more}")


def _same_files(before: Lock, after: Lock) -> bool:
    def files(lock: Lock) -> set[tuple[str, str, str]]:
        return {(pin.name, pin.version, pin.artifact.sha256) for pin in lock.pins}

    return before.target == after.target and files(before) == files(after)


def _unchanged(decided_on: Mapping[Path, Selection]) -> None:
    for home, selection in decided_on.items():
        now = read_selection(home)
        if _decisive(now) != _decisive(selection):
            raise PmError(
                "config-changed",
                "the plugins in the config were changed by another process while this was decided",
                file=str(home / "config.yaml"),
                hint="look at it and run this again; nothing was changed",
            )


def _decisive(selection: Selection) -> tuple[object, ...]:
    """Return what of a config a decision rests on."""
    return (
        selection.enabled,
        selection.disabled,
        selection.memory_provider,
        selection.context_engine,
        selection.section,
    )
