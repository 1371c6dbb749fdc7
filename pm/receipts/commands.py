"""A step as the shell command that takes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from admission import Step
from pm.names import same_key
from pm.receipts.receipt import Operation, place_of
from pm.receipts.sentences import line_text
from pm.redaction import redact_value

__all__ = ["command"]


def command(step: Step, operation: Operation, earlier: Iterable[Step] = ()) -> str:
    """Return the command for a step out of an operation, quoted for a POSIX shell.

    Of several bounds of one plugin the one of the first step is written, so after `earlier` steps it is said which.
    """
    import shlex

    taken = {part.subject for other in earlier for part in (other, *other.parts) if part.action == "widen"}
    return " && ".join(shlex.join(map(redact_value, words)) for words in _commands(step, operation, taken))


def _commands(step: Step, operation: Operation, taken: Collection[str] = ()) -> list[tuple[str, ...]]:
    again = operation.command
    match step.action:
        case "widen" if not step.confirmed:  # it needs the time that there was not
            patient = operation._replace(command=_without_options(again, ("--steps-budget",)))
            commands = [_look(step, patient, {}) or again]
        case "widen":
            commands = [_look(step, operation, _places((step,), taken)) or again]
        case "update-core":
            core = step.value or step.subject  # without one it is the core that the config names
            commands = [_init(core, operation), *([again] if core and operation.name not in _OF_A_CORE else ())]
        case "re-enable" | "repair" | "set-up" | "roll-back" | "select":
            commands = [_hermes(operation, *_mending(step))]
        case "leave-out":
            fewer = _without_plugin(operation, step.subject)
            commands = [fewer] if fewer else [_hermes(operation, "plugins", "disable", step.subject), again]
        case "reword":
            commands = [tuple(_reworded(word, step) for word in again)]
        case "together":
            commands = _all_of(step.parts, operation, taken)
        case _:
            commands = [(*again, *_flags(step))]
    return commands


def _mending(step: Step) -> tuple[str, ...]:
    """Return the words of a step that is a command of its own, whatever was asked for."""
    python = ("--python", step.value) if step.value else ()
    return {
        "re-enable": ("plugins", "enable", step.subject),
        "repair": ("pm", "repair"),
        "set-up": ("pm", "init", *python),
        "roll-back": ("pm", "rollback", step.value),
        "select": ("plugins", "use", "memory", step.value),
    }[step.action]


def _reworded(word: str, step: Step) -> str:
    """Return a word of a command, or the value of an option that is written with it, as it is meant."""
    option, equals, value = word.partition("=")
    if option.startswith("--") and equals and value == step.subject:
        return f"{option}={step.value}"
    return step.value if word == step.subject else word


def _without_plugin(operation: Operation, key: str) -> tuple[str, ...]:
    """Return the same command with one plugin less; empty where it neither names that one nor can leave it out."""
    if operation.name == "update":
        return (*operation.command, "--without", key)
    named = next((word for one, word in operation.named.items() if same_key(one, key)), "")
    if named and _EVERYTHING in operation.command:  # which names none of them
        others = [word for word in operation.named.values() if word != named]
        return tuple(each for word in operation.command for each in (others if word == _EVERYTHING else (word,)))
    fewer = tuple(word for word in operation.command if word != named)
    return fewer if named and len(fewer) < len(operation.command) else ()


_EVERYTHING = "--all"
"""Of `plugins update`: every plugin whose source has something newer."""


def _all_of(parts: Sequence[Step], operation: Operation, taken: Collection[str]) -> list[tuple[str, ...]]:
    """Return the commands of several steps, in an order in which each of them is admitted.

    The plugins that are left out go first, and the core comes when no bound of a plugin is in its way any more. A look
    at bounds is one at how it will be, with that core; it ends with status 1 as long as the file is not changed, and
    what comes after it waits for that. Where a bound has to be changed otherwise, nothing is done before it is.
    """
    consents = tuple(word for part in parts for word in _flags(part))
    core = next((part.value for part in parts if part.action == "update-core"), "")
    places = _places(parts, taken)
    looks = [_look(part, operation, places, core) for part in parts if part.action == "widen"]
    if not all(looks):
        return [(*operation.command, *consents)]
    commands = [_commands(part, operation)[0] for part in parts if part.action == "leave-out"]
    commands += [(*look, *consents) for look in looks]
    if core and operation.name not in _OF_A_CORE:
        commands.append((*_init(core, operation), *consents))
    if consents or core or len(commands) > len(looks):
        again = _init(core, operation) if core and operation.name in _OF_A_CORE else operation.command
        commands.append((*again, *consents))
    return list(dict.fromkeys(commands))


def _flags(step: Step) -> tuple[str, ...]:
    """Return what the same command is given to take the step; nothing for what is another command, or a second try."""
    match step.action:
        case "allow-prerelease" | "allow-build" | "allow-collision" | "allow-direct-url":
            return (f"--{step.action}", step.subject)
        case "allow-newer":
            return ("--exclude-newer", step.value or "off")
        case _:
            return ()


_PATCHABLE = ("folder", "project")
"""Kinds of sources whose files the operator can change where they lie."""
_WITH_VALUE = (
    "--allow-build",
    "--allow-collision",
    "--allow-direct-url",
    "--allow-prerelease",
    "--budget",
    "--exclude-newer",
    "--steps-budget",
    "--time-limit",
)
_ALONE = ("--allow-direct-urls", "--offline")


def _places(parts: Iterable[Step], taken: Collection[str]) -> dict[str, list[str]]:
    """Return for each plugin of which an earlier step writes other bounds where those of these steps are written."""
    places: dict[str, list[str]] = {}
    for part in parts:
        if part.action == "widen" and part.subject in taken and part.origin is not None:
            places.setdefault(part.subject, []).append(line_text(place_of(part.origin)))
    return places


def _look(step: Step, operation: Operation, places: Mapping[str, Sequence[str]], core: str = "") -> tuple[str, ...]:
    """Write the wider bound as a patch of the file that holds it, the judged plugin's or another member's.

    It judges what the operation does, with another core if that is named. None where no such file can be changed, or
    where a dry run would judge something else.
    """
    judged, words = operation.plugin, operation.command
    others = (plugin for plugin in operation.plugins if judged is None or plugin.key != judged.key)
    other = next((plugin for plugin in others if plugin.key == step.subject), None)
    owner = other or judged
    if owner is None or owner.source.kind not in _PATCHABLE:
        return ()
    at = (word for place in places.get(step.subject, ()) for word in ("--patch-at", place))
    whose = ("--patch-for", owner.key) if other else ()
    patch = ("--patch", f"{owner.key.replace('/', '-')}.patch", *whose, *at)
    with_core = ("--core", core) if core else _options(words, ("--core",))
    if operation.name == "check":
        return (*_without_options(words, ("--core", "--patch", "--patch-at", "--patch-for")), *patch, *with_core)
    if operation.name in _OF_A_CORE and (not with_core or any(word.startswith(_NOT_OF_A_LOOK) for word in words)):
        return ()
    if operation.name not in _OF_A_CORE and judged is None:
        return ()
    named = (operation.argument or judged.key,) if judged is not None else ()
    return _hermes(operation, "plugins", "check", *named, *patch, *_limits(words), *with_core)


_OF_A_CORE = ("init", "update")
"""Operations that choose a core: their commands name it."""
_NOT_OF_A_LOOK = ("--python", "--bundle", "--without")


def _init(core: str, operation: Operation) -> tuple[str, ...]:
    """Choose a core, with what was allowed; of a refused choice all else stays as it was asked for."""
    chosen = ("--core", core) if core else ()
    if operation.name in _OF_A_CORE:
        return (*_without_options(operation.command, ("--core",)), *chosen)
    return _hermes(operation, "pm", "init", *chosen, *_limits(operation.command))


def _hermes(operation: Operation, *words: str) -> tuple[str, ...]:
    """Return another command that means the same home, as it was given."""
    return ("hermes", *words, *_options(operation.command, ("--home",)))


def _limits(words: Sequence[str]) -> tuple[str, ...]:
    """Return what was allowed, and how long may be searched: a verdict without that can be another one."""
    return _options(words, _WITH_VALUE, _ALONE)


def _options(words: Sequence[str], with_value: Sequence[str], alone: Sequence[str] = ()) -> tuple[str, ...]:
    """Return some options of a command with their values, as they were given."""
    found: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name in with_value:
            found += [word] if equals else [word, next(rest, "")]
        elif name in alone:
            found.append(word)
    return tuple(found)


def _without_options(words: Sequence[str], with_value: Sequence[str]) -> tuple[str, ...]:
    """Return a command without some of its options and their values."""
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, _ = word.partition("=")
        if name not in with_value:
            kept.append(word)
        elif not equals:
            next(rest, "")
    return tuple(kept)
