"""Talk with a person: progress, complaints and questions on standard error, and listings as text.

Whatever is shown was written by others in part, so all of it passes `safe_text` or `safe_lines`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO, cast

from pm.limits import SHOWN_VALUE
from pm.names import cut, safe_lines, safe_text, without_commands
from pm.system.program import as_called, called
from pm.system.terminal import columns, obeys, terminal_columns

if TYPE_CHECKING:
    from pm.errors import PmError

USAGE = 2
"""The exit status of a command that was not understood."""


class Talk:
    """What a verb says while it works; progress only on a terminal, unless more was asked for."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._line = ""
        self._lively = not quiet and obeys(sys.stderr)

    def tell(self, text: str) -> None:
        """Say what is being done now; it goes away when something else is said."""
        self._line = text
        self._show(text)

    def progress(self, done: int, open_questions: int) -> None:
        """Say how far the fetching is."""
        if open_questions:
            self._show(f"{self._line or 'asking the index'}: {done} of {done + open_questions} answers")

    def say(self, text: str) -> None:
        """Say something that stays."""
        self.clear()
        if not self._quiet:
            _write(text)

    def announce(self, text: str) -> None:
        """Say what is known already, where progress is shown; it stays."""
        if self._lively or self._verbose:
            self.say(text)

    def clear(self) -> None:
        """Take the line of progress away."""
        if self._lively:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        if self._lively:
            # a longer line would be broken by the terminal, and only its last part taken away again
            width = terminal_columns(sys.stderr) or columns(sys.stderr)
            sys.stderr.write(f"\r\x1b[K{without_commands(safe_text(text))[: width - 1]}")
            sys.stderr.flush()
        elif self._verbose:
            _write(text)


def tell(text: str) -> None:
    """Say something where no verb talks."""
    _write(f"{called()}: {text}")


def complain(error: PmError) -> int:
    """Say what went wrong, and return the exit status that it means."""
    from pm.receipts.codes import code_of, exit_status

    place = f"{error.file}:{error.line}: " if error.line else f"{error.file}: " if error.file else ""
    tell(f"{place}{error.message} ({error.code})")
    if error.hint:
        _write(f"        {error.hint}")
    return exit_status(code_of(error.code).outcome, [error.code])


class Misuse(SystemExit):
    """The words are wrong: ends the command."""

    def __init__(self, fault: str, hint: str = "") -> None:
        super().__init__(USAGE)
        self.fault = fault
        self.hint = hint


def misused(verb: str, fault: str, hint: str = "") -> Misuse:
    """Say what is wrong with the words, and return what ends the command; without a verb it is said of `hermes`."""
    _write(f"{called()}{verb and f' {verb}'}: error: {safe_text(fault)}")
    if hint:
        _write(f"        {hint}")
    return Misuse(fault, hint)


def ask(question: str) -> bool | None:
    """Ask a person for yes or no; `None` without a terminal."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    print(f"{without_commands(safe_text(question))} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _write(text: str) -> None:
    print(wrapped(without_commands(safe_lines(as_called(text))), sys.stderr, indent=8), file=sys.stderr)


def wrapped(text: str, stream: TextIO | None, *, indent: int) -> str:
    """Return a text whose lines end between two words where the stream is a terminal that they are too long for."""
    width = terminal_columns(stream)
    lines = text.split("\n")
    if not width or all(len(line) <= width for line in lines):
        return text
    from textwrap import TextWrapper

    fitted = TextWrapper(
        max(width, 2 * indent), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join("\n".join(fitted.wrap(line)) if len(line) > width else line for line in lines)


def safe_listing(listing: Mapping[str, object]) -> dict[str, Any]:
    """Return a listing in which every text can be shown in a line."""
    from pm.receipts.plain import with_texts

    return cast("dict[str, Any]", with_texts(listing, safe_text))


def table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Return rows as text in columns, each as wide as its longest cell."""
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    lines = [list(columns), *cells]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cell(value: object) -> str:
    return "-" if value in (None, "") else cut(str(value), SHOWN_VALUE.value)
