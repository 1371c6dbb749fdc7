"""Talk with a person: one line of progress, questions, and listings as text."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from pm.system.terminal import columns, obeys, terminal_columns

if TYPE_CHECKING:
    from pm.errors import PmError


USAGE = 2
"""The exit status of a command that was not understood."""


class Talk:
    """Where talk goes: standard error, and progress only on a terminal."""

    def __init__(self, *, quiet: bool, verbose: bool, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        self._quiet = quiet
        self._verbose = verbose
        self._line = ""
        self._lively = not quiet and obeys(self._stream)

    def tell(self, text: str) -> None:
        """Say what is being done now; it goes away when something else is said."""
        self._line = text
        self._show(text)

    def progress(self, done: int, open_questions: int) -> None:
        """Say how far the fetching is."""
        if open_questions:
            self._show(f"{self._line or 'asking the index'}: {done} answers, {open_questions} to come")

    def say(self, text: str) -> None:
        """Say something that stays."""
        self.clear()
        if not self._quiet:
            print(text, file=self._stream)

    def warn(self, text: str) -> None:
        """Say something that stays even when quiet was asked for."""
        self.clear()
        print(text, file=self._stream)

    def clear(self) -> None:
        """Take the line of progress away."""
        if self._lively:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _show(self, text: str) -> None:
        if self._lively:
            # a longer line would be broken by the terminal, and only its last part taken away again
            width = terminal_columns(self._stream) or columns(self._stream)
            self._stream.write(f"\r\x1b[K{text[: width - 1]}")
            self._stream.flush()
        elif self._verbose:
            print(text, file=self._stream)


def complain(error: PmError) -> int:
    """Say on standard error what went wrong, and return the exit status that it means."""
    from pm.receipts.codes import code_of, exit_status
    from pm.redaction import redact

    place = f"{error.file}:{error.line}: " if error.line else f"{error.file}: " if error.file else ""
    print(redact(f"hermes: {place}{error.message} ({error.code})"), file=sys.stderr)
    if error.hint:
        print(redact(f"        {error.hint}"), file=sys.stderr)
    return exit_status(code_of(error.code).outcome, [error.code])


def misused(verb: str, fault: str) -> SystemExit:
    """Say what is wrong with the words where the parser cannot know it, and return what ends the command."""
    from pm.redaction import redact

    print(redact(f"hermes {verb}: error: {fault}"), file=sys.stderr)
    return SystemExit(USAGE)


def tell(text: str) -> None:
    """Say what a person should know besides."""
    print(f"hermes: {text}", file=sys.stderr)


def ask(question: str) -> bool | None:
    """Ask a person for yes or no; `None` where nobody can be asked."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Return rows as text in columns, each as wide as its longest cell."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    lines = [list(columns), *cells]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cell(value: object) -> str:
    return "-" if value in (None, "") else str(value)
