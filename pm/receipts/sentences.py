"""What a receipt says in sentences, made of its values: how an operation ended, and what a step would change."""

from typing import NamedTuple

from admission import Step
from pm.names import shown
from pm.receipts.codes import code_of
from pm.receipts.receipt import ChangesRow, Operation, PlaceRow, ReasonRow, Transition, place_of

__all__ = ["CLOSING", "explanation", "line_text", "summary"]


class _Words(NamedTuple):
    """How an operation is spoken of when it was done, was not done, could be done (dry run), cannot be done."""

    done: str
    undone: str
    possible: str
    impossible: str
    unchanged: str
    """When everything was so already."""


def _passive(done: str) -> _Words:
    return _Words(f"is {done}", f"was not {done}", f"can be {done}", f"cannot be {done}", f"is already {done}")


_ANY = _passive("done")
_OPERATIONS = {
    "install": _passive("installed"),
    "enable": _passive("enabled"),
    "disable": _passive("disabled"),
    "remove": _passive("removed"),
    "check": _Words("fits", "does not fit", "fits", "does not fit", "fits"),
    "validate": _Words("is valid", "is not valid", "is valid", "is not valid", "is valid"),
    "init": _passive("set up"),
    "extras": _Words(
        done="has other extras now",
        undone="keeps its extras",
        possible="can have these extras",
        impossible="cannot have these extras",
        unchanged="already has these extras",
    ),
    "use": _passive("selected"),
    "update-plugins": _passive("updated")._replace(unchanged="is up to date"),
    "update": _passive("updated")._replace(unchanged="is up to date"),
    "rollback": _passive("rolled back"),
    "why": _Words(
        done="can be installed here",
        undone="cannot be installed here",
        possible="can be installed here",
        impossible="cannot be installed here",
        unchanged="is already installed",
    ),
    "bundle": _passive("written"),
    "uninstall": _passive("uninstalled"),
    "repair": _passive("repaired"),
    "verify": _passive("verified"),
}


def summary(
    operation: Operation, outcome: str, reasons: tuple[ReasonRow, ...], changes: ChangesRow, *, freed: str = ""
) -> str:
    """Return the sentence: lower case at its start unless a name begins it, no full stop.

    `freed` is the space that deleted generations took.
    """
    said = (
        _whole(operation, outcome, freed) or f"{_subject(operation)} {_numbered(operation, _said(operation, outcome))}"
    )
    because = f": {_because(operation, reasons)}" if outcome in _NOT_DONE or outcome == "not-ready" else ""
    return "".join(
        [
            said,
            because,
            _consequence(operation, outcome),
            _core_moved(operation, outcome),
            _moved(operation, changes),
            _restart(operation.generation, outcome),
        ]
    )


_NOT_DONE = {"refused", "failed", "undecided", "interrupted"}


def _whole(operation: Operation, outcome: str, freed: str) -> str:
    """Return the sentence of what is not said of a plugin or of Hermes; empty for everything else."""
    if operation.left == "committed":
        return f"{_subject(operation)} {_numbered(operation, _words(operation).done)}, and then it went wrong"
    if operation.name == "gc" and (outcome == "collected" or not operation.dry_run):
        return _collected(operation, outcome, freed)
    generation = operation.generation.after
    unchanged = {"repair": "nothing to repair", "rollback": f"generation {generation} is already selected"}
    whole = {
        "verified": "everything that is installed is as it was recorded",
        "drift": "what is installed differs from what was recorded",
        "unchanged": unchanged.get(operation.name, ""),
    }
    return whole.get(outcome, "")


def _collected(operation: Operation, outcome: str, freed: str) -> str:
    if outcome != "collected":
        return "not everything was deleted" if operation.left == "rest" else "nothing was deleted"
    if not freed:
        return "nothing to delete"
    return f"would free {freed}" if operation.dry_run else f"freed {freed}"


def _said(operation: Operation, outcome: str) -> str:
    words = _words(operation)
    dry = operation.dry_run
    said = {
        "ready": "is ready",
        "not-ready": "is not ready",
        "unchanged": words.unchanged,
        "refused": words.impossible if dry else words.undone,
        "failed": "could not be checked" if dry else words.undone,
        "undecided": "could not be checked" if dry else words.undone,
        "interrupted": words.undone,
        "rolled-back": f"{words.possible if dry else words.done} to generation {operation.generation.after}",
    }
    return said.get(outcome, words.possible if dry else words.done)


def _words(operation: Operation) -> _Words:
    return _OPERATIONS.get("enable" if operation.left == "disabled" else operation.name, _ANY)


def _numbered(operation: Operation, said: str) -> str:
    """Return what is said of one plugin as it is said of as many as the operation is about."""
    verb, blank, rest = said.partition(" ")
    return f"{_OF_SEVERAL.get(verb, verb)}{blank}{rest}" if len(operation.named) > 1 else said


_OF_SEVERAL = {"is": "are", "was": "were", "fits": "fit", "does": "do"}


def _subject(operation: Operation) -> str:
    plugin = operation.plugin
    if len(operation.named) > 1:
        *others, last = map(shown, operation.named)
        return f"{', '.join(others)} and {last}"
    # A source that could not be read has no name yet; what the operator called it is known.
    named = plugin.name or plugin.key if plugin else operation.argument
    return shown(named) if named else "Hermes"


def _because(operation: Operation, reasons: tuple[ReasonRow, ...]) -> str:
    if not reasons:
        return "the reason is not known"
    more = len(reasons) - 1
    return _short(operation, reasons[0]) + (f" ({more} more reason{'s' if more > 1 else ''} below)" if more else "")


def _short(operation: Operation, reason: ReasonRow) -> str:
    """Return the reason for a reader who does not program."""
    judged = operation.plugin or operation.argument
    package = shown(reason.package) if reason.package else "a package"
    it = "one of them" if len(operation.named) > 1 else "it" if judged else "a plugin"
    if reason.declared_at is not None and reason.declared_at.key in ("pm.core", "--core"):
        package, it = "the core", f"`{reason.declared_at.key}`"
    if reason.code != "conflict":
        return code_of(reason.code).because.format(it=it, package=package)
    owners = {demand.owner.name for demand in reason.demands}
    if len(owners) == 1:
        own = operation.plugin is not None and owners == {operation.plugin.key}
        asked = "its requirements" if own else f"requirements of {shown(owners.pop())}"
        return f"no version of {package} satisfies all {asked}"
    if not judged or len(operation.named) > 1:
        return f"no version of {package} satisfies everything that is enabled"
    return code_of(reason.code).because.format(it=it, package=package)


_READING = {"check", "validate", "verify", "why"}
"""Operations that never change anything, so it is not said of them."""


def _consequence(operation: Operation, outcome: str) -> str:
    if operation.name in _READING:
        return ""
    if operation.dry_run:
        return "; this was a dry run, nothing was changed"
    said = _LEFT[operation.left] if outcome in _NOT_DONE and operation.name != "gc" else ""
    return f"; {said}" if said else ""


_LEFT = {
    "": "nothing was changed",
    "committed": "",
    "disabled": "it is installed, and stays disabled",
    "unfinished": "the next command that changes something undoes what was begun",
}


def _core_moved(operation: Operation, outcome: str) -> str:
    """Return from which core to which one it went; empty where the core stays, or there was none."""
    before = operation.before.core if operation.before is not None else ""
    if outcome not in ("admitted", "rolled-back") or not before or before == operation.core:
        return ""
    old, new = before.partition("=="), operation.core.partition("==")
    named = f"{new[0]} {new[2]}" if old[0] != new[0] else new[2]
    return f"; core {old[0]} {old[2]} → {named}"


def _moved(operation: Operation, changes: ChangesRow) -> str:
    """Return how many packages moved beside the core, which is told by name."""
    core = operation.core.partition("==")[0]
    moved = len([change for change in changes.moved if change.from_ != change.to and change.name != core])
    return f"; {moved} package{'s' if moved > 1 else ''} moved to another version" if moved else ""


def _restart(generation: Transition, outcome: str) -> str:
    if not generation.restart_required:
        return ""
    return f"; restart Hermes to {'apply' if outcome in ('removed', 'disabled') else 'use'} this"


# --- steps ---

CLOSING = ("re-enable", "repair", "retry", "reword", "roll-back", "select", "set-up")
"""Actions that close a list of steps: one of them is always possible, whatever else is."""


def explanation(step: Step, own: str = "") -> str:
    """Return what a step would change; a line of another plugin than `own` is said to be of that plugin."""
    if step.explanation:
        return step.explanation
    if step.action == "together":
        *parts, last = (explanation(part, own) for part in step.parts)
        return f"{', '.join(parts)} and {last}"
    if step.action == "widen":
        return _wider(step) + (f" of `{step.subject}`" if step.subject != own else "")
    return _ACTIONS[step.action].format(subject=step.subject, value=step.value)


def line_text(place: PlaceRow) -> str:
    """Return where a requirement is written, `FILE:LINE` where its format has lines."""
    return f"{place.file}:{place.line}" if place.line else place.file or place.key


_ACTIONS = {
    "update-core": "update the core to `{value}`",
    "allow-prerelease": "allow pre-releases of `{subject}`",
    "allow-collision": "let `{subject}` write the same files as another package",
    "allow-direct-url": "allow `{subject}` to name wheels by their addresses",
    "allow-newer": "allow releases that are newer than `pm.exclude_newer`",
    "allow-build": "allow building `{subject}` from source, which runs its code",
    "leave-out": "disable `{subject}`",
    "repair": "rebuild the environment as it was recorded",
    "set-up": "make a new generation",
    "roll-back": "put back the plugins' files as generation {value} has them",
    "re-enable": "enable it",
    "retry": "try again",
    "select": "select it as the memory provider",
    "reword": "write `{value}` instead of `{subject}`",
}


def _wider(step: Step) -> str:
    said = f"write `{step.after}` instead of" if step.after else "accept other versions than"
    place = line_text(place_of(step.origin)) if step.origin else ""
    return f"{said} `{step.before}`" + (f" in {place}" if place else "")
