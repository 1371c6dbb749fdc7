"""A step as the shell command that takes it."""

from __future__ import annotations

from admission import Step
from pm.receipts.receipt import Operation

__all__ = ["command"]


def command(step: Step, operation: Operation) -> str:
    """Return the command for a step out of an operation, quoted for a POSIX shell."""
    import shlex

    return " && ".join(shlex.join(words) for words in _commands(step, operation))


def _commands(step: Step, operation: Operation) -> list[tuple[str, ...]]:
    again = operation.command
    match step.action:
        case "update-plugin":
            commands = [_updated(step, operation)]
        case "widen" if operation.name != "why":  # there the plugin that it is about fits as it is
            commands = [_widened(step, operation)]
        case "update-core":
            core = step.value or step.subject  # without one it is the core that the config names
            commands = [_hermes(operation, "pm", "init", *(("--core", core) if core else ()))]
        case "re-enable":
            commands = [_hermes(operation, "plugins", "enable", step.subject)]
        case "repair":
            commands = [_hermes(operation, "pm", "repair")]
        case "leave-out" if operation.name != "update":
            commands = [_hermes(operation, "plugins", "disable", step.subject), again]
        case _:
            commands = [(*again, *_flags(step))]
    return commands


def _flags(step: Step) -> tuple[str, ...]:
    """Return what the same command is given to take the step; nothing for a mere second try."""
    match step.action:
        case "allow-prerelease" | "allow-build":
            return (f"--{step.action}", step.subject)
        case "allow-direct-url":
            return ("--allow-direct-urls",)
        case "allow-newer":
            return ("--exclude-newer", step.value or "off")
        case "leave-out":
            return ("--without", step.subject)
        case _:
            return ()


def _updated(step: Step, operation: Operation) -> tuple[str, ...]:
    """Take another version of a plugin: of the one that is judged by the same command, of another one by `update`."""
    plugin = operation.plugin
    if plugin and plugin.key == step.subject and step.value and operation.argument:
        if plugin.source.kind == "git":
            return (*_without_option(operation.command, "--ref"), "--ref", step.value)
        if plugin.source.kind == "pypi":
            other = f"{operation.argument.partition('==')[0]}=={step.value}"
            return tuple(other if word == operation.argument else word for word in operation.command)
    return _hermes(operation, "plugins", "update", step.subject)


def _widened(step: Step, operation: Operation) -> tuple[str, ...]:
    """Write the wider bound as a patch of the file that holds it: the judged plugin's, or another member's."""
    judged = operation.plugin.key if operation.plugin else ""
    other = step.subject != judged and step.subject in {plugin.key for plugin in operation.plugins}
    key = step.subject if other or not judged else judged
    named = key if other else operation.argument or key
    return _hermes(operation, "plugins", "check", named, "--patch", f"{key.replace('/', '-')}.patch")


def _hermes(operation: Operation, *words: str) -> tuple[str, ...]:
    return ("hermes", *words, *_home(operation.command))


def _home(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the option that says which home, as it was given: another command must mean the same one."""
    for at, word in enumerate(words):
        if word == "--home":
            return words[at : at + 2]
        if word.startswith("--home="):
            return (word,)
    return ()


def _without_option(words: tuple[str, ...], option: str) -> tuple[str, ...]:
    at = words.index(option) if option in words else len(words)
    return (*words[:at], *words[at + 2 :])
