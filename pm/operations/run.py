"""`OperationRun`: one operation under way, from its first step to its receipt, whatever happens in between."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

from admission import Admitted, Notice, Problem, Refused, Undecided
from pm import __version__
from pm.errors import PmError
from pm.generations.records import Member, Record
from pm.index import IndexOptions
from pm.names import canonical_key, leaf
from pm.places import Places
from pm.plugins.discovery import Found
from pm.receipts.build import build, noted
from pm.receipts.receipt import (
    Consent,
    Copy,
    Done,
    FactsFile,
    Operation,
    Plugin,
    Receipt,
    Shadowed,
    SourceRow,
    Transition,
    WarningRow,
    begin,
)
from pm.system.files import disk_error, read_stored, write_json
from pm.verdict.state import State

Result = Admitted | Refused | Undecided | Done


class Context(NamedTuple):
    """Where an operation happens, and how it may talk."""

    places: Places
    environ: Mapping[str, str]
    tell: Callable[[str], None] = lambda _: None
    """Hears what is being done, for a person who waits."""
    index_options: IndexOptions | None = None
    """How an index is asked, and who hears of it."""


class OperationRun:
    """One operation under way."""

    def __init__(self, context: Context, name: str, command: tuple[str, ...], *, dry_run: bool = False) -> None:
        self.context = context
        self.operation: Operation = begin(name, command, now=datetime.now(UTC), dry_run=dry_run)
        self.evidence = ""
        """What the verdict rests on, to be kept beside the receipt; empty where nothing was decided or is kept."""
        self._timings: dict[str, int] = {}

    @property
    def places(self) -> Places:
        return self.context.places

    @property
    def mark(self) -> tuple[str, str]:
        """Name and id, as the record of a generation keeps them."""
        return self.operation.name, self.operation.id

    def know(self, **values: Any) -> None:  # noqa: ANN401 - the fields of `Operation`, each with its own type
        """Fill in more of what the receipt will say."""
        self.operation = self.operation._replace(**values)

    def learn(self, state: State) -> None:
        """Take over what the receipt says of the situation."""
        record = state.record
        core = state.hosted.core
        self.know(
            core=f"{core.name}=={core.version}",
            target=state.interpreter.target.name,
            before=record.lock if record is not None else None,
            generation=standing(record),
            exclude_newer=state.policy.not_after,
            consents=_consents(state),
            shadowed=tuple(shadowed(state.here.found)),
            tools=tools(),
        )
        for note in state.notes:
            self.note(note)

    def judged(self, state: State, members: Iterable[Member]) -> None:
        """Say whom the verdict is about, and on which inputs."""
        members = tuple(members)
        self.know(
            plugins=tuple(plugin_of(member) for member in members),
            inputs_fingerprint=state.constraints(members).fingerprint,
        )

    def note(self, problem: Problem, *, owner: str = "") -> None:
        """Warn of something; the same is said once."""
        self._warn(noted(problem, owner=owner))

    def notice(self, notice: Notice) -> None:
        """Warn of something that the index or the sources said."""
        self._warn(WarningRow(notice.code, notice.message, notice.package, notice.owner))

    def _warn(self, warning: WarningRow) -> None:
        if warning not in self.operation.warnings:
            self.know(warnings=(*self.operation.warnings, warning))

    @contextmanager
    def phase(self, name: str, said: str = "") -> Iterator[None]:
        """Time a part of the work, and say that it has begun."""
        if said:
            self.context.tell(said)
        started = time.perf_counter()
        try:
            yield
        finally:
            passed = round((time.perf_counter() - started) * 1000)
            self._timings[name] = self._timings.get(name, 0) + passed
            self.know(timings=dict(self._timings))


def changing(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes something: under the install lock, after what an interrupted operation left is mended."""
    from pm.generations.install_lock import install_lock
    from pm.generations.transaction import recover
    from pm.operations.leftovers import sweep

    def locked() -> Result:
        _refuse_managed(run)
        with install_lock(run.places, run.operation.name, tell=run.context.tell):
            recovered = recover(run.places)
            if recovered.outcome != "nothing":
                run.note(_recovered(recovered.outcome, recovered.operation, recovered.details))
            sweep(run.places)
            return _numbered(run, work)

    return _stored(run, _ended(run, locked))


def trying(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do the dry run of what changes something: it is refused where the change would be."""

    def allowed() -> Result:
        _refuse_managed(run)
        return work()

    return looking(run, allowed)


def looking(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes nothing and stores no receipt."""
    result = _ended(run, work)
    return _to_be_said(build(run.operation, result, finished_at=datetime.now(UTC)))


def inspecting(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes nothing, waits for nobody, and whose receipt is kept."""
    return _stored(run, _ended(run, work))


def _ended(run: OperationRun, work: Callable[[], Result]) -> Result | PmError:
    from pm.system.signals import hear_again, too_late

    hear_again()
    try:
        try:
            return work()
        finally:
            # however it ended, that is what will be told
            too_late()
    except PmError as error:
        return error
    except OSError as error:
        # a disk can fail at any call: whoever knows a better word for it has said it already
        return disk_error(error, run.places.state)
    except KeyboardInterrupt as stopped:
        return _stopped(run, str(stopped))


def _stopped(run: OperationRun, signal: str) -> PmError:
    if run.places.journal.exists():
        consequence = "the next command that changes something undoes what it had begun"
    elif run.operation.name == "gc":
        consequence = "what it had deleted by then is gone, and nobody needs it"
    else:
        consequence = "nothing was changed"
    by = f" by {signal}" if signal else ""
    return PmError("interrupted", f"`{run.operation.name}` was stopped{by}; {consequence}")


def _stored(run: OperationRun, result: Result | PmError) -> Receipt:
    from lockfiles.pylock import text_digest
    from pm.generations.build import numbers
    from pm.receipts.store import facts_name, store

    if run.evidence:
        run.know(facts=FactsFile(facts_name(run.operation.id), text_digest(run.evidence)))
    receipt = build(run.operation, result, finished_at=datetime.now(UTC))
    try:
        kept = tuple(numbers(run.places))
        store(receipt, run.places.receipts, facts=run.evidence, kept_generations=kept)
    except (PmError, OSError) as error:
        told = error if isinstance(error, PmError) else disk_error(error, run.places.receipts, verb="used")
        warning = WarningRow("receipt-not-stored", f"this receipt is stored nowhere: {told.message}")
        receipt = receipt._replace(warnings=(*receipt.warnings, warning))
    return _to_be_said(receipt)


def _to_be_said(receipt: Receipt) -> Receipt:
    from pm.system.signals import only_to_be_said

    only_to_be_said()
    return receipt


# -- what receipts say


def plugin_of(member: Member) -> Plugin:
    """Return a member of the union as receipts name it."""
    declaration = member.declaration
    files = [requirement.origin.file for requirement in declaration.requirements]
    return Plugin(
        key=member.key,
        name=declaration.name or member.key,
        version=declaration.version,
        source=SourceRow({"user": "folder"}.get(member.source, member.source), member.root),
        profile=", ".join(member.profiles),
        declared_in=next((file for file in files if file), ""),
        digest=member.digest,
    )


def shadowed(found: Iterable[Found]) -> Iterator[Shadowed]:
    """Yield the copies of plugins that another copy hides."""
    copies = tuple(found)
    for hidden in copies:
        if not hidden.hidden_by:
            continue
        used = next((other for other in copies if not other.hidden_by and _same_plugin(other, hidden)), None)
        if used is not None:
            yield Shadowed(hidden.key, _copy(hidden), _copy(used))


def standing(record: Record | None) -> Transition:
    """Return that the selected generation stays."""
    if record is None:
        return Transition()
    return Transition(record.generation, record.generation, record.lock_digest)


def tools() -> dict[str, str]:
    """Return the versions of what does the work."""
    import packaging

    beside = _versions_beside(packaging.__file__, ("resolvelib", "uv"))
    return {"hermes-pm": __version__, "packaging": packaging.__version__, **beside}


def _versions_beside(module: str, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of distributions by their folders' names: `importlib.metadata` takes 20 ms to import."""
    folders = os.listdir(os.path.dirname(os.path.dirname(module)))  # noqa: PTH120, PTH208 - a dry run pays for each path
    infos = sorted(folder.removesuffix(".dist-info") for folder in folders if folder.endswith(".dist-info"))
    versions = dict(info.rpartition("-")[::2] for info in infos)
    return {name: versions.get(name, "unknown") for name in names}


def _same_plugin(one: Found, other: Found) -> bool:
    if one.memory_provider and other.memory_provider:
        return canonical_key(leaf(one.key)) == canonical_key(leaf(other.key))
    return canonical_key(one.key) == canonical_key(other.key)


def _copy(found: Found) -> Copy:
    location = str(found.folder) if found.folder is not None else f"plugins/{found.key}"
    return Copy(found.source, location, found.declaration.version)


def _consents(state: State) -> tuple[Consent, ...]:
    policy = state.policy
    direct = (Consent("allow-direct-url", "every plugin"),) if policy.allow_direct_urls else ()
    return (
        *(Consent("allow-build", name) for name in policy.allow_build),
        *(Consent("allow-prerelease", name) for name in policy.allow_prerelease),
        *direct,
    )


# -- housekeeping


def _numbered(run: OperationRun, work: Callable[[], Result]) -> Result:
    """Do work under the next number; on a full disk, what makes room gets its number afterwards."""
    try:
        run.know(sequence=_next_sequence(run.places))
    except PmError as error:
        if error.code != "no-space" or run.operation.name not in _MAKING_ROOM:
            raise
        result = work()
        with suppress(PmError):  # whatever went is gone, and is told
            run.know(sequence=_next_sequence(run.places))
        return result
    return work()


_MAKING_ROOM = ("gc",)


def _next_sequence(places: Places) -> int:
    file = places.locks / "sequence.json"
    last = read_stored(file)
    number = last + 1 if isinstance(last, int) else 1
    write_json(file, number)
    return number


def _recovered(outcome: str, operation: str, details: tuple[str, ...]) -> Problem:
    said = {
        "finished": f"an interrupted `{operation}` had already committed and was finished",
        "undone": f"an interrupted `{operation}` was undone: everything is as before it",
        "parked": f"an interrupted `{operation}` can neither be finished nor undone, because others changed the files",
    }[outcome]
    more = f": {', '.join(details)}" if details else ""
    return Problem("interrupted", said + more)


def _refuse_managed(run: OperationRun) -> None:
    """Refuse to change an environment that belongs to Nix, a container or an administrator."""
    places = run.places
    owner = run.context.environ.get("HERMES_MANAGED", "").strip()
    marker = next((home / ".managed" for home in (places.root, places.home) if (home / ".managed").exists()), None)
    if owner.lower() in {"", "0", "false", "no"}:
        owner = ""
    if not owner and marker is None:
        return
    said = f"`HERMES_MANAGED` is set to `{owner}`" if owner else f"`{marker}` says so"
    raise PmError(
        "managed-environment",
        f"this environment is managed from outside: {said}",
        hint="declare the plugin where the environment is declared; `hermes plugins check` still answers here",
    )
