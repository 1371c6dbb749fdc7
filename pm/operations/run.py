"""`OperationRun`: one operation under way, from its first step to its receipt, whatever happens in between."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import NamedTuple

from admission import Admitted, Notice, Problem, Refused, Undecided
from lockfiles import Lock
from pm.config.profiles import CONFIG
from pm.errors import PmError
from pm.generations.records import Record
from pm.index import IndexOptions
from pm.names import shown
from pm.operations.manager_fault import or_fault, plain_receipt
from pm.operations.receipt_rows import Start, plugin_of, start_of
from pm.places import Places
from pm.receipts.build import build, noted, noticed
from pm.receipts.receipt import Done, Operation, PagesRow, Plugin, Receipt, Transition, WarningRow, begin, time_text
from pm.system.files import disk_error, read_stored, write_json
from pm.verdict.state import State
from pm.verdict.union import Proposal

Result = Admitted | Refused | Undecided | Done


class Context(NamedTuple):
    """Where an operation happens, and how it may talk."""

    places: Places
    environ: Mapping[str, str]
    tell: Callable[[str], None] = lambda _: None
    """Is called with what is being done, for the operator who waits."""
    announce: Callable[[str], None] = lambda _: None
    """Is called with what is known before the end, for the same operator."""
    index_options: IndexOptions | None = None
    """How an index is asked, and what is called with its progress."""


class Request(NamedTuple):
    """What was asked for."""

    name: str
    """Of the operation: `install`, `remove`, `check` …"""
    command: tuple[str, ...]
    """The words that would do the same again, `hermes` first."""
    argument: str = ""
    """The word of the command that names the judged plugin; empty for the whole union."""
    dry_run: bool = False
    strict: bool = False
    """Whether *ready only after a restart* has an exit status of its own."""
    fails_on_warning: bool = False


class OperationRun:
    """One operation under way."""

    def __init__(self, context: Context, request: Request) -> None:
        self.context = context
        asked = begin(request.name, request.command, now=datetime.now(UTC), dry_run=request.dry_run)
        self.operation: Operation = asked._replace(
            argument=request.argument, strict=request.strict, fails_on_warning=request.fails_on_warning
        )
        """What the receipt will say; it grows by the steps below."""
        self.has_recovered = False
        """Whether an interrupted operation was finished or undone before this one began."""
        self.has_committed = False
        """Whether it has changed something, however it ended."""
        self.record: Record | None = None
        """Of the generation that was selected when the state was read."""
        self._evidence = ""
        self._said: set[WarningRow] = set()
        self._timings: dict[str, int] = {}

    @property
    def places(self) -> Places:
        return self.context.places

    @property
    def mark(self) -> tuple[str, str]:
        """Name and id, as the record of a generation keeps them."""
        return self.operation.name, self.operation.id

    @property
    def evidence(self) -> str:
        """What the verdict rests on; empty where nothing was decided, or nothing of it is kept."""
        return self._evidence

    def starts_from(self, start: Start) -> None:
        """Say what there was when the operation began."""
        self.operation = self.operation._replace(
            core=start.core,
            target=start.target,
            before=start.before,
            generation=start.generation,
            exclude_newer=start.exclude_newer,
            consents=start.consents,
            shadowed=start.shadowed,
            tools=start.tools,
        )

    def reads(self, state: State) -> None:
        """Say what there was when the operation began, and what is odd about it."""
        self.starts_from(start_of(state))
        self.record = state.record
        for note in state.notes:
            self.note(note)

    def is_about(self, plugin: Plugin | None) -> None:
        """Say which plugin is judged; `None` where it is about several, or about the whole union."""
        self.operation = self.operation._replace(plugin=plugin)

    def is_about_several(self, words: Mapping[str, str]) -> None:
        """Say which plugins are judged together: the key of each, and the word of the command that names it."""
        self.operation = self.operation._replace(plugin=None, named=dict(words))

    def is_about_core(self, setting: str) -> None:
        """Say which core is judged: the command that does the same again names it, whatever is published then."""
        words = self.operation.command
        if setting and "--core" not in words and not any(word.startswith("--core=") for word in words):
            self.operation = self.operation._replace(command=(*words, "--core", setting))

    def decides_on(self, proposal: Proposal) -> None:
        """Say which union the verdict is about."""
        self.decides_on_inputs(map(plugin_of, proposal.members), proposal.fingerprint)

    def decides_on_inputs(self, plugins: Iterable[Plugin], fingerprint: str) -> None:
        """Say which plugins the outcome is about, and the fingerprint of everything that it rests on."""
        self.operation = self.operation._replace(plugins=tuple(plugins), inputs_fingerprint=fingerprint)

    def goes_back_to(self, plugins: Iterable[Plugin], core: str) -> None:
        """Say which plugins and which core are selected again."""
        self.operation = self.operation._replace(plugins=tuple(plugins), core=core)

    def leaves_out(self, key: str) -> None:
        """Take a member that is no plugin out of those that the verdict is about."""
        plugins = tuple(plugin for plugin in self.operation.plugins if plugin.key != key)
        self.operation = self.operation._replace(plugins=plugins)

    def compares_with(self, lock: Lock | None) -> None:
        """Say against which lock changes are counted."""
        self.operation = self.operation._replace(before=lock)

    def selects(self, transition: Transition) -> None:
        """Say which generation is selected now, and whether what runs must be started again."""
        self.operation = self.operation._replace(generation=transition)

    def must_restart(self, reasons: tuple[str, ...]) -> None:
        """Say that what runs now must be started again to use the selected generation."""
        self.selects(self.operation.generation._replace(restart_required=True, restart_reasons=reasons))

    def keeps_evidence(self, text: str) -> None:
        """Keep beside the receipt what the verdict rests on."""
        from pm.receipts.store import facts_file

        self._evidence = text
        self.operation = self.operation._replace(facts=facts_file(self.operation.id, text))

    def rests_on(self, asked_at: Mapping[str, int]) -> None:
        """Say when an index was asked for the pages that the verdict rests on: for each, in seconds of the clock."""
        if asked_at:
            oldest = min(asked_at, key=lambda name: (asked_at[name], name))
            moment = datetime.fromtimestamp(asked_at[oldest], UTC)
            pages = PagesRow(len(asked_at), oldest, time_text(moment))
            self.operation = self.operation._replace(pages=pages)

    def keeps_verdict(self, refused: Refused) -> None:
        """Say a refusal, and store it as it is known; the receipt is written once more when all has ended.

        Where it cannot be stored that is said at the end, when it is tried again.
        """
        self.context.announce(f"refused: {refused.reasons[0].message}")
        if not self.operation.dry_run:
            with suppress(PmError, OSError):
                _store(self, build(self.operation, refused, finished_at=datetime.now(UTC)))

    def leaves(self, left: str) -> None:
        """Say what there is after all if it does not succeed (`Operation.left`)."""
        self.operation = self.operation._replace(left=left)

    def has_number(self, sequence: int) -> None:
        """Say which of all changes of this home it is."""
        self.operation = self.operation._replace(sequence=sequence)

    def note(self, problem: Problem, *, owner: str = "") -> None:
        """Warn of something; the same is said once."""
        self._warn(noted(problem, owner=owner))

    def notice(self, notice: Notice) -> None:
        """Warn of something that the index or the sources said."""
        self._warn(noticed(notice))

    def _warn(self, warning: WarningRow) -> None:
        if warning not in self._said:
            self._said.add(warning)
            self.operation = self.operation._replace(warnings=(*self.operation.warnings, warning))

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
            self.operation = self.operation._replace(timings=dict(self._timings))


def changing(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes something: under the install lock, after what an interrupted operation left is mended."""
    from pm.generations.install_lock import install_lock
    from pm.generations.transaction import commits_made, recover
    from pm.launch.front_door import front_door
    from pm.operations.leftovers import sweep
    from pm.operations.surplus import collect_surplus

    def locked() -> Result:
        _refuse_managed(run)
        with install_lock(run.places, run.operation.name, tell=run.context.tell):
            recovered = recover(run.places)
            if recovered.outcome != "nothing":
                run.has_recovered = recovered.outcome in ("finished", "undone")
                run.note(_recovered(recovered.outcome, recovered.operation, recovered.details))
            sweep(run.places)
            result = _numbered(run, work)
            if run.operation.generation.before != run.operation.generation.after:
                front_door(run.places)  # which the first start would have to make, where the state can be written then
                said = or_fault(lambda: collect_surplus(run.places, run.context.environ))
                if said is not None:
                    run.note(said if isinstance(said, Problem) else Problem("not-collected", said.message))
            return result

    before = commits_made()
    result = _ended(run, locked, lambda: commits_made() != before)
    # it had its number, so it had the lock: the journal is its own
    if run.operation.sequence is not None and not run.has_committed and _has_begun(run.places):
        run.leaves("unfinished")
    return _stored(run, result)


def _has_begun(places: Places) -> bool:
    """Say whether a change was begun and neither made nor undone, as far as the disk gives that now."""
    try:
        return places.journal.exists()
    except OSError:
        return False


def trying(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do the dry run of what changes something: it is refused where the change would be."""

    def allowed() -> Result:
        _refuse_managed(run)
        return work()

    return looking(run, allowed)


def looking(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes nothing and stores no receipt."""
    result = _ended(run, work)
    return _to_be_said(run, _receipt(run, result))


def inspecting(run: OperationRun, work: Callable[[], Result]) -> Receipt:
    """Do work that changes nothing, takes no lock, and whose receipt is kept."""
    return _stored(run, _ended(run, work))


def _ended(
    run: OperationRun, work: Callable[[], Result], has_committed: Callable[[], bool] = lambda: False
) -> Result | PmError:
    result = _worked(run, work)
    run.has_committed = has_committed()
    if isinstance(result, PmError) and run.has_committed:
        _tell_of_commit(run)
    elif not _says_what_helps(result):
        _note_damage(run)
    return result


def _worked(run: OperationRun, work: Callable[[], Result]) -> Result | PmError:
    from pm.system.signals import hear_again, too_late

    hear_again()
    try:
        try:
            return or_fault(work)
        finally:
            # however it ended, that is what will be told
            too_late()
    except PmError as error:
        return error
    except OSError as error:
        # a disk can fail at any call: code that knows a better word for it has raised that already
        return disk_error(error, run.places.state)
    except KeyboardInterrupt as stopped:
        return _stopped(run, str(stopped))


def _says_what_helps(result: Result | PmError) -> bool:
    """Say whether an ending names the step that puts right what is damaged."""
    if isinstance(result, PmError):
        return bool(result.step[0])
    return isinstance(result, Done) and bool(result.steps) and result.outcome in ("drift", "not-ready")


def _tell_of_commit(run: OperationRun) -> None:
    """Say what is selected since the change was made."""
    from pm.generations.pointer import read_pointer
    from pm.generations.records import read_record

    run.leaves("committed")
    with suppress(PmError, OSError):
        now = or_fault(lambda: read_pointer(run.places))
        if now is None or isinstance(now, PmError):
            return
        run.selects(run.operation.generation._replace(after=now.generation, lock_digest=""))
        record = or_fault(lambda: read_record(run.places, now.generation))
        if not isinstance(record, PmError):
            run.selects(run.operation.generation._replace(lock_digest=record.lock_digest))


def _note_damage(run: OperationRun) -> None:
    """Warn of what is damaged now, with the step that puts it right."""
    from pm.operations.damage import damage_of

    with suppress(PmError, OSError):  # what is done is done, and what cannot be read is told by what needs it
        damage = or_fault(lambda: damage_of(run.places, run.record))
        if isinstance(damage, PmError):
            run.note(Problem(damage.code, f"whether anything is damaged is not known: {damage.message}"))
        elif damage is not None and not _is_told_of(run, damage.reason.file):
            run.note(damage.problem)


def _is_told_of(run: OperationRun, file: str) -> bool:
    """Say whether a warning is about a file already."""
    places = (warning.declared_at for warning in run.operation.warnings)
    return any(place is not None and place.file == file for place in places)


def _stopped(run: OperationRun, signal: str) -> PmError:
    by = f" by {signal}" if signal else ""
    return PmError("interrupted", f"`{run.operation.name}` was stopped{by}")


def _stored(run: OperationRun, result: Result | PmError) -> Receipt:
    receipt = _receipt(run, result)
    try:
        told = or_fault(lambda: _store(run, receipt))
    except PmError as error:
        told = error
    except OSError as error:
        told = disk_error(error, run.places.receipts, verb="used")
    if told is not None:
        warning = WarningRow("receipt-not-stored", f"this receipt was not stored: {told.message}")
        receipt = receipt._replace(warnings=(*receipt.warnings, warning))
    return _to_be_said(run, receipt)


def _receipt(run: OperationRun, result: Result | PmError) -> Receipt:
    """Return the receipt of how it ended; where a fault is in the way, a plain one that says what is sure."""
    receipt = or_fault(lambda: build(run.operation, result, finished_at=datetime.now(UTC)))
    if isinstance(receipt, Receipt):
        return receipt
    if run.has_committed:
        _tell_of_commit(run)
    return plain_receipt(run.operation, receipt, _came_to(run, result))


def _came_to(run: OperationRun, result: Result | PmError) -> str:
    """Return the outcome of what was carried out, or needed not to be; empty for everything else."""
    if isinstance(result, Admitted) and not run.operation.dry_run:
        return "admitted"
    if isinstance(result, Done) and not run.operation.dry_run:
        return result.outcome
    return "committed" if run.has_committed else ""


def _store(run: OperationRun, receipt: Receipt) -> None:
    from pm.generations.records import recorded
    from pm.receipts.store import store

    kept = recorded(run.places)
    store(receipt, run.places.receipts, facts=run.evidence, kept_generations=kept)


def _to_be_said(run: OperationRun, receipt: Receipt) -> Receipt:
    from pm.system.signals import only_to_be_said

    with suppress(OSError):  # the next operation of root hands over what is left
        or_fault(lambda: hand_over_state(run.places))
    only_to_be_said()
    return receipt


# -- housekeeping


def hand_over_state(places: Places) -> None:
    """Give what root has made here to the user whose home it is: the service that runs in it must be able to go on."""
    from pm.system.owners import hand_over

    hand_over(places.state, places.root)
    for home in {places.home, places.root}:
        hand_over(home / f"{CONFIG}.lock", home)


def _numbered(run: OperationRun, work: Callable[[], Result]) -> Result:
    """Do work under the next number; on a full disk, what makes room gets its number afterwards."""
    try:
        run.has_number(_next_sequence(run.places))
    except PmError as error:
        if error.code != "no-space" or run.operation.name not in _MAKING_ROOM:
            raise
        result = work()
        with suppress(PmError):  # whatever went is gone, and is told
            run.has_number(_next_sequence(run.places))
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
        "undone": f"an interrupted `{operation}` was undone",
        "parked": f"an interrupted {f'`{operation}`' if operation else 'operation'} can be neither finished nor undone",
    }[outcome]
    return Problem("interrupted", said + (_why_parked(details) if outcome == "parked" else ""))


def _why_parked(details: tuple[str, ...]) -> str:
    """Return what is not as the journal has it, and where the journal lies now."""
    *changed, journal = details
    listed = ", ".join(shown(path) for path in changed)
    why = f"{listed} {'was' if len(changed) == 1 else 'were'} changed" if changed else "its journal cannot be read"
    return f": {why}; the journal is kept as {shown(journal)}"


def _refuse_managed(run: OperationRun) -> None:
    """Refuse to change an environment that belongs to Nix, a container or an administrator.

    As with the host, any text in the variable says so, `0` and `false` too.
    """
    places = run.places
    owner = run.context.environ.get("HERMES_MANAGED", "").strip()
    marker = next((home / ".managed" for home in (places.root, places.home) if (home / ".managed").exists()), None)
    if not owner and marker is None:
        return
    said = f"`HERMES_MANAGED` is set to `{owner}`" if owner else f"`{marker}` says so"
    raise PmError(
        "managed-environment",
        f"this environment is managed from outside: {said}",
        hint="declare the plugin where the environment is declared; `hermes plugins check` works here",
    )
