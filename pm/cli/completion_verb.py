"""`hermes pm completion`: what a shell needs to complete the words of the command."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from pm.cli.answer import give
from pm.cli.arguments import parser
from pm.system.program import called

_FILES = frozenset({"DIR", "FILE", "PATH", "SOURCE", "NAME|SOURCE", "CORE", "-- CMD"})
"""What a value is called that may be a path."""


def print_completion(arguments: Namespace, words: Sequence[str]) -> int:  # noqa: ARG001 - as every verb
    """Print the script of a shell."""
    import shtab

    whole = parser(program=arguments.program or called())
    for action in _actions(whole):
        if action.metavar in _FILES:
            action.complete = shtab.FILE
    give(shtab.complete(whole, shell=arguments.shell) + "\n")
    return 0


def _actions(place: argparse.ArgumentParser) -> Iterator[Any]:
    """Yield every option and argument of a parser and of those below it."""
    for action in place._actions:  # noqa: SLF001 - there is no other way to them
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for below in action.choices.values():
                yield from _actions(below)
