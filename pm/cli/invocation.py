"""One call of the command: its arguments, its places, and how it talks."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pm.cli.answer import give, remember
from pm.cli.console import Talk, safe_listing, wrapped
from pm.cli.verb import words_again
from pm.cli.verb_table import verb_of
from pm.index import IndexOptions
from pm.names import without_commands
from pm.operations.run import (
    Context,
    OperationRun,
    Request,
    Result,
    changing,
    hand_over_state,
    inspecting,
    looking,
    trying,
)
from pm.places import Places, find_places, working_folder
from pm.receipts.plain import json_text
from pm.verdict.state import Options

if TYPE_CHECKING:
    from pm.cli.listings import View
    from pm.index.fetching import Progress
    from pm.receipts.receipt import ReasonRow, Receipt


class Call:
    """What a verb is given, and what it shows things with."""

    def __init__(self, arguments: Namespace, words: Sequence[str]) -> None:
        self.arguments = arguments
        self.places: Places = find_places(arguments.home, os.environ)
        self.talk = Talk(quiet=arguments.quiet or arguments.json, verbose=arguments.verbose)
        self._words = words_again(verb_of(arguments), words)

    def change(self, name: str, argument: str, work: Callable[[OperationRun], Result]) -> int:
        """Do what changes something, and show its receipt. A dry run changes nothing, and its receipt is not stored."""
        run = self._run(name, argument)
        carry_out = trying if run.operation.dry_run else changing
        return self.show(carry_out(run, lambda: work(run)))

    def inspect(self, name: str, work: Callable[[OperationRun], Result], *, argument: str = "") -> int:
        """Look at what is selected, keep the receipt, and show it. That of a dry run is not stored."""
        run = self._run(name, argument)
        carry_out = looking if run.operation.dry_run else inspecting
        return self.show(carry_out(run, lambda: work(run)))

    def look(self, name: str, argument: str, work: Callable[[OperationRun], Result]) -> Receipt:
        """Do what never changes anything, and return its receipt."""
        run = self._run(name, argument, dry_run=True)
        return looking(run, lambda: work(run))

    def begin(self, name: str) -> OperationRun:
        """Return an operation whose receipt is shown and not stored."""
        return self._run(name, "")

    def options(self, **instead: str | None) -> Options:
        """Return what the operator says for this one operation; `instead` for what is said several times."""
        said: dict[str, Any] = {name: value for name, value in vars(self.arguments).items() if name in Options._fields}
        said |= instead
        said |= {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
        return Options(**said | {"core": _core(said.get("core")), "project": working_folder()})

    def show(self, receipt: Receipt) -> int:
        """Show a receipt, as JSON or as text, and return its exit status."""
        self.talk.clear()
        remember(receipt)
        give(self.shown(receipt))
        return receipt.exit_status

    def shown(self, receipt: Receipt) -> str:
        """Return what is shown of a receipt; with `--quiet` nothing if it went well."""
        if self.arguments.json:
            from pm.receipts.receipt import receipt_text

            return receipt_text(receipt)
        if self.arguments.quiet and not receipt.exit_status:
            return ""
        if vars(self.arguments).get("summary"):
            return self._summary(receipt)
        from pm.receipts.render import text_for

        return text_for(receipt, sys.stdout)

    def view(self) -> View:
        """Return what is there now."""
        from pm.cli.listings import look

        view = look(self.places, os.environ, working_folder())
        hand_over_state(self.places)
        return view

    def damages(self, view: View) -> dict[str, object]:
        """Return what is damaged as a part of a listing, each with the command that puts it right; else nothing."""
        from pm.cli.listings import damages
        from pm.receipts.commands import command

        operation = self._run("status", "", dry_run=True).operation
        rows = [
            {
                "code": damage.reason.code,
                "message": damage.reason.message,
                "step": command(damage.step, operation) if damage.step.action != "retry" else "",
                "when": damage.step.when,
            }
            for damage in damages(view)
        ]
        return {"damage": rows} if rows else {}

    def print(self, listing: Mapping[str, object], text: Callable[[Mapping[str, Any]], str]) -> int:
        """Show a listing, as JSON or as text."""
        shown = safe_listing(listing)
        give(
            json_text(shown)
            if self.arguments.json
            else wrapped(without_commands(f"{text(shown)}\n"), sys.stdout, indent=12)
        )
        return 0

    def _summary(self, receipt: Receipt) -> str:
        """Return a line for each plugin that is enabled, the sentence of the verdict, and several reasons."""
        from pm.cli.listings import enabled
        from pm.cli.listings_text import summary_text

        several = [_in_a_line(reason) for reason in receipt.reasons] if len(receipt.reasons) > 1 else []
        listing = safe_listing({"plugins": enabled(self.view()), "summary": receipt.summary, "reasons": several})
        return wrapped(without_commands(summary_text(listing)), sys.stdout, indent=4)

    def _run(self, name: str, argument: str, *, dry_run: bool = False) -> OperationRun:
        context = Context(
            self.places, os.environ, self.talk.tell, self.talk.announce, IndexOptions(report=self._progress)
        )
        said = vars(self.arguments)
        request = Request(
            name,
            self._words,
            argument=argument,
            dry_run=dry_run or said.get("dry_run", False),
            strict=said.get("strict", False),
            fails_on_warning=said.get("fail_on_warning", False),
        )
        return OperationRun(context, request)

    def _progress(self, progress: Progress) -> None:
        self.talk.progress(progress.pages + progress.candidates, progress.waiting)


def _in_a_line(reason: ReasonRow) -> str:
    """Return a reason without what stands in further lines of its message."""
    at = reason.declared_at
    place = f" ({at.file}:{at.line})" if at is not None and at.line else ""
    return f"{reason.code}: {reason.message.splitlines()[0]}{place}"


def _core(word: str | None) -> str | None:
    """Return a core with a project's folder spelled so that it means the same from everywhere."""
    if not word:
        return word
    from pm.host.core_setting import is_project

    return str(Path(word).absolute()) if is_project(word) and not word.startswith("~") else word
