"""`link`, `unlink` and `uninstall`: the front door, and leaving."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pm.cli.console import ask
from pm.cli.invocation import Call

if TYPE_CHECKING:
    from pm.operations.link import Linked


def make_door(arguments: Namespace, words: Sequence[str]) -> int:
    """Make the front door."""
    from pm.operations.link import link

    done = link(arguments.bin, os.environ, force=arguments.force, dry_run=arguments.dry_run)
    return _shown(Call(arguments, words), done)


def unmake_door(arguments: Namespace, words: Sequence[str]) -> int:
    """Take the front door away."""
    from pm.operations.link import unlink

    return _shown(Call(arguments, words), unlink(arguments.bin, os.environ, dry_run=arguments.dry_run))


def leave(arguments: Namespace, words: Sequence[str]) -> int:
    """Delete the manager's state, front doors and drop-ins; the receipt goes with it, and is only shown."""
    from pm.operations.run import trying
    from pm.operations.uninstall import uninstall

    call = Call(arguments, words)

    def agrees(question: str) -> bool:
        call.talk.clear()
        return arguments.yes or bool(ask(question))

    run = call.begin("uninstall")
    return call.show(trying(run, lambda: uninstall(run, purge=arguments.purge, agrees=agrees)))


def _shown(call: Call, done: Linked) -> int:
    dry_run = call.arguments.dry_run
    value = {**done._asdict(), "notes": list(done.notes), "dry_run": dry_run}
    return call.print(value, lambda _: "\n".join(_lines(done, dry_run=dry_run)))


def _lines(done: Linked, *, dry_run: bool) -> list[str]:
    would = "would be " if dry_run else ""
    lines = {
        "linked": [f"`{done.path}` {would or 'is now '}the front door: it starts `{done.program}`"],
        "unlinked": [f"the front door `{done.path}` {would or 'is '}taken away"],
        "unchanged": [f"`{done.path}` is the front door already"] if done.program else [],
    }[done.state]
    if done.kept and done.state == "unlinked":
        lines.append(f"what stood there before {would or 'is '}back")
    elif done.kept:
        lines.append(f"what stood there before {would or 'is '}kept as `{done.kept}`; `hermes-pm unlink` puts it back")
    return [*lines, *done.notes]
