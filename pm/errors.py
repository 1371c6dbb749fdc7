"""`PmError`: a world that does not cooperate. A conflict or a refusal is a value, never this."""

from __future__ import annotations

import zlib


class PmError(Exception):
    """Something outside of the manager failed; carries a stable code (docs/reference/codes.md)."""

    def __init__(  # noqa: PLR0913 - what a reason in a receipt says, and where
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        file: str = "",
        line: int = 0,
        key: str = "",
        step: tuple[str, str] = ("", ""),
        when: str = "",
        word: tuple[str, str] = ("", ""),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.file = file
        self.line = line
        self.key = key
        self.step = step
        """Action and value of the one step that helps, as `admission.Step` has them; empty where `code` says enough."""
        self.when = when
        """What has to change before that step can help."""
        self.word = word
        """What was typed, and what is meant by it: then the one step is the same command with the right word."""


class OutOfTime(PmError):
    """The time that was set is over, and what was waited for has not come."""

    def __init__(self, package: str, what: str) -> None:
        super().__init__("resolution-budget", f"the time was over before {what} was known")
        self.package = package


PARSING_TROUBLE = (
    ArithmeticError,
    AssertionError,
    EOFError,
    LookupError,
    MemoryError,
    RecursionError,
    StopIteration,
    ValueError,
    zlib.error,
)
"""What parsers raise over bytes that they were not made for, their own kinds (`ValueError`s all) among them.

Not what is a fault of the manager itself: a name that is not there, a type that was not meant.
"""
