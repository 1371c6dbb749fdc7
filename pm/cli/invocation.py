"""One call of the command: its arguments, its places, and how it talks."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pm.cli.arguments import words_again
from pm.cli.console import Talk
from pm.index import IndexOptions
from pm.operations.run import Context, OperationRun, Request, Result, changing, inspecting, looking, trying
from pm.places import Places, find_places, working_folder
from pm.verdict.state import Options

if TYPE_CHECKING:
    from pm.cli.listings import View
    from pm.index.fetching import Progress
    from pm.receipts.receipt import Receipt


class Call:
    """What a verb is given, and what it shows things with."""

    def __init__(self, arguments: Namespace, words: Sequence[str]) -> None:
        self.arguments = arguments
        self.places: Places = find_places(arguments.home, os.environ)
        self.talk = Talk(quiet=arguments.quiet or arguments.json, verbose=arguments.verbose)
        self._words = words_again(words)

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

    def options(self) -> Options:
        """Return what the operator says for this one operation."""
        said = vars(self.arguments)
        return Options(
            offline=self.arguments.offline,
            allow_build=tuple(said.get("allow_build", ())),
            allow_prerelease=tuple(said.get("allow_prerelease", ())),
            allow_direct_urls=said.get("allow_direct_urls", False),
            exclude_newer=said.get("exclude_newer"),
            core=_core(said.get("core")),
            python=said.get("python"),
            project=working_folder(),
            budget=said.get("budget", 0),
            steps_seconds=said.get("steps_budget", 10.0),
        )

    def show(self, receipt: Receipt) -> int:
        """Show a receipt, as JSON or as text, and return its exit status."""
        self.talk.clear()
        sys.stdout.write(self.shown(receipt))
        return receipt.exit_status

    def shown(self, receipt: Receipt) -> str:
        """Return what is shown of a receipt; with `--quiet` nothing if it went well."""
        if self.arguments.json:
            from pm.receipts.receipt import receipt_text

            return receipt_text(receipt)
        if self.arguments.quiet and not receipt.exit_status:
            return ""
        if vars(self.arguments).get("summary"):
            return _summary(self, receipt)
        from pm.receipts.render import text_for

        return text_for(receipt, sys.stdout)

    def view(self) -> View:
        """Return what is there now."""
        from pm.cli.listings import look

        return look(self.places, os.environ, working_folder())

    def print(self, value: Mapping[str, object], text: Callable[[], str]) -> int:
        """Show a listing, as JSON or as text."""
        print(json.dumps(value, indent=2) if self.arguments.json else text())
        return 0

    def _run(self, name: str, argument: str, *, dry_run: bool = False) -> OperationRun:
        context = Context(self.places, os.environ, self.talk.tell, IndexOptions(report=self._progress))
        said = vars(self.arguments)
        request = Request(
            name,
            self._words,
            argument=argument,
            dry_run=dry_run or said.get("dry_run", False),
            strict=said.get("strict", False),
        )
        return OperationRun(context, request)

    def _progress(self, progress: Progress) -> None:
        self.talk.progress(progress.pages + progress.candidates, progress.waiting)


def _core(word: str | None) -> str | None:
    """Return a core with a project's folder spelled so that it means the same from everywhere."""
    if not word:
        return word
    from pm.host.core import is_project

    return str(Path(word).absolute()) if is_project(word) and not word.startswith("~") else word


def _summary(call: Call, receipt: Receipt) -> str:
    """Return a line for each plugin that is enabled, and the sentence of the verdict."""
    from pm.cli.listings import plugins, safe

    rows = [safe(row) for row in plugins(call.view()) if row["state"] in ("enabled", "missing")]
    lines = [f"{row['ready']:<13} {row['key']} {row['version']}".rstrip() for row in rows]
    return "\n".join([*lines, *safe({"summary": receipt.summary}).values()]) + "\n"
