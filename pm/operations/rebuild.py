"""Build the environment of a recorded lock again: the same packages in a new folder, for `repair` and `rollback`."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from admission import Refused
from lockfiles import pylock
from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.generations.build import Ingredients, Prepared, allowed_collisions, prepare
from pm.generations.fault_reasons import refusal_of
from pm.generations.file_faults import Fault, flaws_of
from pm.generations.inventory import recorded_core
from pm.generations.records import Record
from pm.generations.uv import forget
from pm.host.core import keep_core
from pm.host.interpreter import Interpreter, describe_interpreter
from pm.index import open_index
from pm.index.package_sources import Sources
from pm.operations.run import OperationRun
from pm.verdict.state import Options, sources_of


def built_again(run: OperationRun, record: Record, faults: Iterable[Fault], options: Options) -> Prepared | Refused:
    """Return the environment of a record, built from its lock; nothing is resolved.

    The damaged distributions leave uv's cache first: its files may be the damaged ones, under another name. Raise
    `PmError` (`drift` for a damaged lock, `no-interpreter`, `install-failed`, `offline` …).
    """
    _require_sound(run, record)
    damaged = sorted({fault.package for fault in faults if fault.package})
    forget(run.places, [name for name in damaged if record.lock.pin(name)])
    interpreter = describe_interpreter(Path(record.interpreter), run.places.cache)
    hosted = recorded_core(run.places, record)
    offline = Ingredients(hosted, interpreter, None, None, allowed_collisions(record.consents))
    with run.phase("build", f"building an environment of {len(record.lock.pins)} packages"):
        if options.offline:
            return prepare(run.places, record.lock, offline, None)
        try:
            settings = read_own_selection(run.places.root).settings
        except PmError as unread:
            return _built_of_cache(run, record, offline, unread)
        sources = sources_of(settings, run.places, run.context.environ)
        _bring_wheels(run, record, interpreter, sources)
        try:
            return prepare(run.places, record.lock, offline._replace(sources=sources), None)
        except PmError as error:
            if error.code != "install-failed":
                raise
            refused = _flawed(run, record, interpreter, sources)
            if refused is None:
                raise
            return refused


def _flawed(run: OperationRun, record: Record, interpreter: Interpreter, sources: Sources) -> Refused | None:
    """Return which wheel is the reason that a lock cannot be installed, read whole from where it comes from.

    Raise `PmError` (`hash-mismatch`) where one is not what the lock names; `None` if it is none of them, or not known.
    """
    with open_index(run.places.cache, interpreter.target, sources) as index:
        try:
            flaws = flaws_of(record.lock, index, run.places)
        except PmError as error:
            if error.code == "hash-mismatch":
                raise
            return None
    return refusal_of(flaws, record.lock)


def _built_of_cache(run: OperationRun, record: Record, offline: Ingredients, unread: PmError) -> Prepared | Refused:
    """Build the lock where the config does not tell where packages come from; raise that where more is needed."""
    try:
        return prepare(run.places, record.lock, offline, None)
    except PmError as error:
        if error.code != "install-failed":
            raise
        raise unread from error


def _require_sound(run: OperationRun, record: Record) -> None:
    """Raise for a lock that is not the one that was recorded: what it names was never admitted."""
    if pylock.digest(record.lock) != record.lock_digest:
        message = f"the lock in the record of generation {record.generation} is not what was written there"
        hint = "`hermes pm init` makes a new generation"
        file = str(run.places.record(record.generation))
        raise PmError("drift", message, file=file, hint=hint, step=("set-up", ""))


def _bring_wheels(run: OperationRun, record: Record, interpreter: Interpreter, sources: Sources) -> None:
    """Copy the wheels that the lock names by path and the state lost, if their folders still have them.

    Without them uv's cache may have what it takes.
    """
    if not any(pin.artifact.path for pin in record.lock.pins):
        return
    keep_core(recorded_core(run.places, record), run.places)
    with suppress(PmError), open_index(run.places.cache, interpreter.target, sources) as index:
        index.adopt(record.lock, run.places.wheels)
