"""Words that are no command of the manager, and what was probably meant by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pm.cli.console import misused
from pm.cli.verb import HELP, Verb
from pm.cli.verb_table import FAMILIES, LATER_VERBS, VERBS, verbs_of
from pm.names import shown
from pm.system.program import called

if TYPE_CHECKING:
    from pm.cli.console import Misuse

_OTHERS = {
    "add": "install",
    "delete": "remove",
    "info": "show",
    "ls": "list",
    "rm": "remove",
    "uninstall": "remove",
    "upgrade": "update",
    "clean": "gc",
    "history": "receipts",
    "prune": "gc",
    "undo": "rollback",
}
"""What other package managers call a verb → its name here."""


def later(words: Sequence[str]) -> Misuse:
    """Say that a verb belongs to a later version, and what does the same today."""
    verb = tuple(words[:2]) if tuple(words[:2]) in LATER_VERBS else tuple(words[:1])
    return misused("", f"`{' '.join(verb)}` is not part of this version of the manager", LATER_VERBS[verb])


def unknown_verb(family: str, word: str) -> Misuse:
    """Say that a family has no such verb, and which one was probably meant."""
    names = {verb.name for verb in verbs_of(family)}
    known = f"it has {', '.join(f'`{verb.name}`' for verb in verbs_of(family))}"
    meant = near(_OTHERS.get(word, word), names)
    hint = f"did you mean `hermes {family} {meant[0]}`?" if meant else known
    return misused(family, f"there is no verb {shown(word)}", hint)


def unknown_arguments(verb: Verb, words: Sequence[str]) -> Misuse:
    """Say that a verb has no such option, or takes no further word, and what was probably meant."""
    word, called = words[0].partition("=")[0], " ".join(("hermes", *verb.words))
    if not word.startswith("-"):
        return misused(
            " ".join(verb.words), f"{shown(word)} is one word too many", f"`{called} --help` shows its arguments"
        )
    flags = [flag for argument in (HELP, *verb.arguments) for flag in argument.names if argument.is_option]
    if word in flags:
        return misused(" ".join(verb.words), f"`{word}` is not at its place", f"write it behind `{called}`")
    meant = near(word, [flag for flag in flags if flag.startswith("--")])
    hint = f"did you mean `{meant[0]}`?" if meant else f"`{called} --help` shows its options"
    return misused(" ".join(verb.words), f"there is no option {shown(word)}", hint)


def meant_for_us(words: Sequence[str]) -> Misuse | None:
    """Say which command was meant by words that a core would answer with the list of everything that it has.

    `None` for what may be a command of the core's; by the name `hermes` that is every word but a few of ours.
    """
    word = words[0] if words else ""
    ours = _FIRST | {verb: f"plugins {verb}" for verb in ("install", "enable", "disable", "remove")}
    if called() != "hermes":
        ours |= {name: f"{family} {name}" for family, name in VERBS if name}
    alike = near(_OTHERS.get(word, word), ours, cutoff=0.8)
    if not alike:
        return None
    meant = " ".join(["hermes", ours[alike[0]], *words[1:2]])
    return misused("", f"there is no command {shown(word)}", f"did you mean `{meant}`?")


_FIRST = {"plugins": "plugins", "uninstall": "uninstall", "unlink": "unlink"}
"""First words of ours that are long enough to be told from others when they are misspelt."""


def near_command(word: str) -> str:
    """Return the command of the manager that a first word was probably meant for; empty if there is none."""
    named = _OTHERS.get(word, word)
    verbs = [f"hermes {family} {name}" for family, name in VERBS if name == named]
    return next(iter([*verbs, *(f"hermes {family}" for family in near(word, FAMILIES))]), "")


def near(word: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Return the known words that a word is like, the likest first."""
    from difflib import get_close_matches

    return get_close_matches(word, list(known), n=3, cutoff=cutoff)
