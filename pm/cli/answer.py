"""What this command has answered: one text on standard output, and the receipt of the operation that it carried out.

Something may go wrong while an answer is shown. Then it must be known how the operation ended, and whether there is an
answer already, since a program that reads JSON reads one object.
"""

from __future__ import annotations

import sys

from pm.system.program import as_called

TYPE_CHECKING = False  # as in `typing`, whose import would cost the quickest answer a tenth of its time
if TYPE_CHECKING:
    from pm.receipts.receipt import Receipt

__all__ = ["begin", "ended_operation", "give", "give_json", "is_given", "remember"]


class _Answer:
    def __init__(self) -> None:
        self.receipt: Receipt | None = None
        self.is_given = False


_THIS = _Answer()


def begin() -> None:
    """Begin a command, which has answered nothing yet."""
    _THIS.receipt = None
    _THIS.is_given = False


def remember(receipt: Receipt) -> None:
    """Know how the operation ended, before it is shown."""
    _THIS.receipt = receipt


def ended_operation() -> Receipt | None:
    """Return the receipt of the operation; `None` where none has ended."""
    return _THIS.receipt


def is_given() -> bool:
    """Say whether the answer is on standard output."""
    return _THIS.is_given


def give(text: str) -> None:
    """Write the answer to standard output."""
    sys.stdout.write(as_called(text))
    _THIS.is_given = True


def give_json(value: object) -> None:
    """Write the answer as JSON, without credentials."""
    from pm.receipts.plain import json_text, with_texts
    from pm.redaction import redact

    give(json_text(with_texts(value, redact)))
