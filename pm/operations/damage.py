"""What of a home is damaged, and the one step that puts it right: the same from whichever verb asks."""

import os
from typing import NamedTuple

from admission import Problem, Reason, Step
from pm.errors import PmError
from pm.generations.drift import Drift, drift_of
from pm.generations.pointer import read_pointer
from pm.generations.records import Record, read_record
from pm.names import same_key
from pm.places import Places
from pm.receipts.receipt import Done


class Damage(NamedTuple):
    """One thing that is not as it was left, and what to do about it."""

    reason: Reason
    step: Step
    shows: bool = True
    """Whether what other programs find is not what was left."""

    @property
    def ending(self) -> Done:
        """How an operation ends that says no more than this."""
        return Done("drift", reasons=(self.reason,), steps=(self.step,))

    @property
    def problem(self) -> Problem:
        """The same as a warning, whose hint names the step."""
        reason = self.reason
        return Problem(reason.code, reason.message, reason.file, hint=reason.hint or self.advice)

    @property
    def advice(self) -> str:
        """The step in words."""
        if self.step.action == "retry":
            return f"nothing can be started until {self.step.when}"
        words = {"repair": "repair", "set-up": "init", "roll-back": f"rollback {self.step.value}"}[self.step.action]
        python = f" --python {self.step.value}" if self.step.action == "set-up" and self.step.value else ""
        return f"`hermes pm {words}{python}` puts it right" + (f" once {self.step.when}" if self.step.when else "")


def damage_of(places: Places, known: Record | None = None) -> Damage | None:
    """Return what is damaged as far as one look tells, the first thing first: it may be the cause of the others.

    A record that is known already is not read again while it is the selected one. Raise `PmError`
    (`not-writable`) for what cannot be read now and may be whole.
    """
    return journal_damage(places) or _of_the_selected(places, known)


def journal_damage(places: Places) -> Damage | None:
    """Return that an operation was interrupted between its beginning and its end, as far as that shows anywhere."""
    if not os.path.lexists(places.journal):  # which is nearly always so, and the protocol takes time to import
        return None
    from pm.generations.transaction import interrupted

    left = interrupted(places)
    if left is None:
        return None
    operation = f"`{left.operation}`" if left.operation else "an operation"
    what = f", and {_listed(left.unsettled)} is between two states" if left.unsettled else ""
    reason = Reason(
        "interrupted",
        f"{operation} was interrupted{what}",
        file=str(places.journal),
        hint="`hermes pm repair` finishes or undoes it",
    )
    return Damage(reason, Step("repair", "", "finish or undo what was interrupted"), shows=bool(left.unsettled))


def _listed(paths: tuple[str, ...]) -> str:
    more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
    return f"`{paths[0]}`{more}"


def _of_the_selected(places: Places, known: Record | None) -> Damage | None:
    try:
        pointer = read_pointer(places)
        if pointer is None:
            return None
        same = known is not None and known.generation == pointer.generation
        record = known if same else read_record(places, pointer.generation)
    except PmError as error:
        if error.code != "drift":
            raise
        return unreadable(error)
    return environment_damage(places, record)


def unreadable(error: PmError) -> Damage:
    """Return that a record or the pointer cannot be read, as the error says."""
    reason = Reason("drift", error.message, file=error.file, hint=error.hint)
    step = Step("set-up", "", "make a new generation of what is enabled", when=error.when)
    return Damage(reason, step)


def environment_damage(places: Places, record: Record | None) -> Damage | None:
    """Return how the selected environment differs from what was selected, as far as one look at its folder tells."""
    try:
        pointer = read_pointer(places) if record is not None else None
    except PmError as error:
        if error.code != "drift":
            raise
        return unreadable(error)
    drift = drift_of(places, pointer) if pointer is not None else None
    if drift is None or record is None:
        return None
    step = drift_step(places, record, drift)
    # what a step `repair` does not say is worth a hint
    hint = drift.hint if drift.kind == "displaced" else ""
    return Damage(Reason("drift", drift.message, file=str(drift.place), hint=hint), step)


def restored_by(places: Places, record: Record | None, written: str) -> Damage | None:
    """Return that a plugin is gone which the config enables, and whose files are kept; `None` for any other one."""
    members = record.members if record is not None else ()
    for member in members:
        if same_key(member.key, written) and member.tree_digest and places.tree(member.tree_digest).is_dir():
            message = f"the folder of `{member.key}` is gone, and a copy of its files is kept"
            number = str(record.generation) if record is not None else ""
            return Damage(Reason("drift", message, file=member.root), Step("roll-back", "", value=number))
    return None


def drift_step(places: Places, record: Record, drift: Drift) -> Step:
    """Return the step that makes the selected environment what it was, or a new one where that cannot be."""
    return interpreter_step(places, record) if drift.kind == "no-interpreter" else Step("repair", record.lock.core)


def interpreter_step(places: Places, record: Record | None) -> Step:
    """Return the step that makes a generation with another interpreter."""
    from pm.generations.another_python import another_python

    python = another_python(places, record)
    if python is None:
        return Step("retry", "", when="a Python that the core supports is installed")
    return Step("set-up", "", "make a new generation with another Python", python)
