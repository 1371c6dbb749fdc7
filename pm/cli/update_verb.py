"""`hermes update`: the core, with its extras and everything that is enabled."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from pm.cli.console import misused
from pm.cli.invocation import Call


def update_core(arguments: Namespace, words: Sequence[str]) -> int:
    """Update the core; with `--check` only say what would happen."""
    from pm.operations.update import UpdateOptions, update

    if arguments.branch:
        hint = "choose it in the checkout with git, then `hermes update` takes its files as they are"
        raise misused("update", "`--branch` is not possible here", hint)
    arguments.dry_run = arguments.dry_run or arguments.check
    call = Call(arguments, words)
    how = UpdateOptions(without=tuple(arguments.without), agreed=arguments.yes)
    return call.change("update", "", lambda run: update(run, how, call.options()))
