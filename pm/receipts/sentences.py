"""What a receipt says in sentences, made of its values: how an operation ended, and what a step would change."""

from typing import NamedTuple

from admission import Step
from pm.receipts.codes import code_of
from pm.receipts.receipt import ChangesRow, Operation, PlaceRow, ReasonRow, Transition, place_of

__all__ = ["explanation", "line_text", "summary"]


class _Words(NamedTuple):
    """How an operation is spoken of when it was done, was not done, could be done (dry run), cannot be done."""

    done: str
    undone: str
    possible: str
    impossible: str


_OPERATIONS = {
    "install": _Words("is installed", "was not installed", "can be installed", "cannot be installed"),
    "enable": _Words("is switched on", "was not switched on", "can be switched on", "cannot be switched on"),
    "disable": _Words("is switched off", "was not switched off", "can be switched off", "cannot be switched off"),
    "remove": _Words("is removed", "was not removed", "can be removed", "cannot be removed"),
    "check": _Words("fits", "does not fit", "fits", "does not fit"),
    "validate": _Words("is valid", "is not valid", "is valid", "is not valid"),
    "init": _Words("is set up", "was not set up", "can be set up", "cannot be set up"),
    "rollback": _Words("went back", "did not go back", "can go back", "cannot go back"),
    "why": _Words("is there", "cannot be had", "can be had", "cannot be had"),
    "gc": _Words("is tidied up", "was not tidied up", "can be tidied up", "cannot be tidied up"),
    "bundle": _Words("is written", "was not written", "can be written", "cannot be written"),
    "repair": _Words("is repaired", "was not repaired", "can be repaired", "cannot be repaired"),
}
_ANY = _Words("is done", "was not done", "can be done", "cannot be done")


_WHOLE = {
    "verified": "what is installed is exactly what was recorded",
    "drift": "what is installed is not what was recorded",
}
_NOT_DONE = {"refused", "failed", "undecided", "interrupted"}


def summary(operation: Operation, outcome: str, reasons: tuple[ReasonRow, ...], changes: ChangesRow) -> str:
    """Return the sentence: lower case at its start unless a name begins it, no full stop."""
    said = _WHOLE.get(outcome) or f"{_subject(operation)} {_said(operation, outcome)}"
    because = f": {_because(operation, reasons)}" if outcome in _NOT_DONE or outcome == "not-ready" else ""
    return "".join([said, because, _consequence(operation, outcome), _moved(changes), _restart(operation.generation)])


def _said(operation: Operation, outcome: str) -> str:
    words = _OPERATIONS.get(operation.name, _ANY)
    dry = operation.dry_run
    said = {
        "ready": "is ready",
        "not-ready": "is not ready",
        "unchanged": f"{words.done} already, nothing was to do",
        "refused": words.impossible if dry else words.undone,
        "failed": "could not be checked" if dry else words.undone,
        "undecided": "could not be checked" if dry else words.undone,
        "interrupted": words.undone,
        "rolled-back": f"{words.possible if dry else words.done} to generation {operation.generation.after}",
    }
    return said.get(outcome, words.possible if dry else words.done)


def _subject(operation: Operation) -> str:
    plugin = operation.plugin
    # A source that could not be read has no name yet; what the operator called it is known.
    named = plugin.name or plugin.key if plugin else operation.argument
    return f"`{named}`" if named else "Hermes"


def _because(operation: Operation, reasons: tuple[ReasonRow, ...]) -> str:
    if not reasons:
        return "the reason is not known"
    first = reasons[0]
    package = f"`{first.package}`" if first.package else "a package"
    code = code_of(first.code)
    it = "it" if operation.plugin or operation.argument else "a plugin"
    owners = {demand.owner.name for demand in first.demands}
    if first.code == "conflict" and len(owners) == 1:
        alone = it if operation.plugin and owners == {operation.plugin.key} else f"`{owners.pop()}`"
        said = f"no version of {package} suits all that {alone} needs by itself"
    else:
        said = code.because.format(it=it, package=package)
    more = len(reasons) - 1
    return said + (f" ({more} more reason{'s' if more > 1 else ''} below)" if more else "")


_ALWAYS_DRY = {"check", "validate", "why"}


def _consequence(operation: Operation, outcome: str) -> str:
    if operation.dry_run:
        return "" if operation.name in _ALWAYS_DRY else "; this was a dry run, nothing was changed"
    return "; Hermes goes on as before" if outcome in _NOT_DONE else ""


def _moved(changes: ChangesRow) -> str:
    moved = len([change for change in changes.moved if change.from_ != change.to])
    return f"; {moved} package{'s' if moved > 1 else ''} moved to another version" if moved else ""


def _restart(generation: Transition) -> str:
    return "; a Hermes that runs must be restarted" if generation.restart_required else ""


# --- steps ---


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
    "allow-newer": "take files that are younger than the quarantine allows",
    "allow-build": "allow to build `{subject}` from its source, which runs its code",
    "leave-out": "go on without `{subject}`",
    "repair": "build the environment again as it was recorded",
    "re-enable": "switch it on again",
    "retry": "try the same again",
}


def _wider(step: Step) -> str:
    said = f"write `{step.after}` instead of" if step.after else "accept other versions than"
    place = line_text(place_of(step.origin)) if step.origin else ""
    return f"{said} `{step.before}`" + (f" in {place}" if place else "")
