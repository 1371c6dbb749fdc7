"""The command line, parsed by what the table of verbs says."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from pm.cli.console import misused
from pm.cli.verb import CONSENTS, Argument, Kind, Verb
from pm.cli.verb_table import FAMILIES, LATER_VERBS, VERBS, verb_of, verbs_of
from pm.system.program import as_called, called
from pm.system.terminal import columns

if TYPE_CHECKING:
    from argparse import _ActionsContainer, _SubParsersAction

    _Places: TypeAlias = _SubParsersAction["_Parser"]


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments that the words of a command mean; end the command where they are wrong."""
    family, verb = (*words, "", "")[:2]
    if not LATER_VERBS.keys().isdisjoint({(family,), (family, verb)}):
        from pm.cli.wrong_words import later

        raise later(words)
    if not verb and family in FAMILIES and (family, "") not in VERBS:
        parser(family).parse_known_args([family, "--help"])
    if verb and not verb.startswith("-") and (family, "") not in VERBS and (family, verb) not in VERBS:
        from pm.cli.wrong_words import unknown_verb

        raise unknown_verb(family, verb)
    arguments, unknown = parser(family, verb).parse_known_args(words)
    if unknown:
        from pm.cli.wrong_words import unknown_arguments

        raise unknown_arguments(verb_of(arguments), unknown)
    return arguments


def parser(family: str = "", verb: str = "", *, program: str = "") -> argparse.ArgumentParser:
    """Return the parser of everything that the manager answers itself, under the name of a program.

    With a family only that is filled in, with one of its verbs only that verb: all of them together cost a dry run
    three milliseconds.
    """
    top = _Parser(
        prog=program or called(),
        description="The plugin package manager of Hermes: one environment for the core and all plugins.",
        epilog="Every other command is handed to the core's own `hermes` in the selected generation.",
    )
    top.add_argument("--version", action="store_true", help="the manager's version")
    families = top.add_subparsers(dest="family", metavar="COMMAND", prog=top.prog)
    for name in (family,) if family in FAMILIES else FAMILIES:
        _add_family(families, name, verb)
    return top


class _Parser(argparse.ArgumentParser):
    """One whose options cannot be shortened, and whose help is as wide as the terminal."""

    def __init__(self, **keywords: Any) -> None:  # noqa: ANN401 - what `argparse` gives to the parser of a verb
        # argparse makes a formatter for each option, and to find out the width its own imports all compressors
        formatter = partial(argparse.HelpFormatter, width=columns(sys.stdout) - 2)
        super().__init__(**keywords, formatter_class=formatter, allow_abbrev=False)
        self.verb: Verb | None = None

    def format_help(self) -> str:
        """Return the help, and for a verb its examples below: each in a line, whatever the width."""
        if self.verb is None:
            return super().format_help()
        from pm.cli.help_examples import examples_of

        return f"{super().format_help()}\n{as_called(examples_of(self.verb.family, self.verb.name))}\n"

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the words, and end the command."""
        self.print_usage(sys.stderr)
        raise misused(self.prog.removeprefix(called()).lstrip(), message)


def _add_family(families: _Places, name: str, asked: str) -> None:
    family = families.add_parser(name, help=FAMILIES[name])
    if (name, "") in VERBS:
        _add_arguments(family, VERBS[name, ""])
        return
    # with `prog` no usage must be formatted to find it out
    places = family.add_subparsers(dest="verb", metavar="VERB", required=True, prog=family.prog)
    for verb in (VERBS[name, asked],) if (name, asked) in VERBS else verbs_of(name):
        _add_arguments(places.add_parser(verb.name, help=verb.help, description=verb.help), verb)


def _add_arguments(parser: _Parser, verb: Verb) -> None:
    parser.verb = verb
    _add(parser, verb.listed)
    if verb.decides:
        _add(parser.add_argument_group("consents and limits"), CONSENTS)


def _add(place: _ActionsContainer, arguments: Iterable[Argument]) -> None:
    groups = {"": place}
    for argument in arguments:
        if argument.one_of not in groups:
            groups[argument.one_of] = place.add_mutually_exclusive_group(required=argument.is_required)
        groups[argument.one_of].add_argument(*argument.names, **_keywords(argument))


def _keywords(argument: Argument) -> dict[str, Any]:
    """Return what `argparse` is told of an argument; it does not bear what does not apply."""
    keywords = {
        "help": argument.help,
        "metavar": argument.metavar,
        "choices": argument.choices,
        "nargs": argument.how_many,
        "dest": argument.stored_as,
        "required": argument.is_required and not argument.one_of,
        "type": _READERS.get(argument.kind),
    }
    if argument.kind == "switch":
        keywords |= {"action": "store_const", "const": argument.stores}
    elif argument.is_repeatable:
        keywords |= {"action": "append"}
    given = {name: value for name, value in keywords.items() if value or name == "const"}
    default = [] if argument.is_repeatable else argument.default
    return given if default is None else given | {"default": default}


def _count(text: str) -> int:
    if re.fullmatch(r"0*[1-9][0-9]{0,17}", text) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not seconds >= 0:  # which no comparison holds for that is not a number
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of seconds")
    return seconds if seconds < _FOR_EVER else math.inf


_FOR_EVER = 366 * 86_400
"""Seconds from which on a limit is none: no clock of a system waits for 300 years, but it says so with an error."""


def _package(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", text) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not the name of a package")
    return text


def _number(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,18}", text) is None:
        raise argparse.ArgumentTypeError(f"`{text}` is not a whole number")
    return int(text)


def _instant(text: str) -> str:
    from datetime import UTC, datetime

    from pm.errors import PmError
    from pm.host.cutoff import instant_of

    try:
        instant_of(text, datetime.now(UTC))
    except PmError as error:
        raise argparse.ArgumentTypeError(error.message) from error
    return text


_READERS: Mapping[Kind, Callable[[str], object]] = {
    "count": _count,
    "number": _number,
    "seconds": _seconds,
    "package": _package,
    "instant": _instant,
}
