"""`hermes pm receipts`: list what is stored, show one, or show the example of a code."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from pm.cli.invocation import Call
from pm.errors import PmError
from pm.names import shown


def look_at_receipts(arguments: Namespace, words: Sequence[str]) -> int:
    """List receipts, show one, or show the example of a code."""
    call = Call(arguments, words)
    return {"list": _list, "show": _show, "example": _show_example}[arguments.action](call)


def _list(call: Call) -> int:
    from pm.cli.listings_text import receipts_text
    from pm.receipts.store import list_receipts

    rows = [
        {"id": stored.id, "time": stored.stamp, "operation": stored.operation, **_outcome(stored.path)}
        for stored in list_receipts(call.places.receipts)
    ]
    return call.print({"receipts": rows}, receipts_text)


def _outcome(path: Path) -> dict[str, str]:
    from pm.receipts.receipt import InvalidReceipt
    from pm.receipts.store import load

    try:
        receipt = load(path)
    except (InvalidReceipt, PmError) as error:
        return {"outcome": "unreadable", "summary": str(error)}
    return {"outcome": receipt.outcome, "summary": receipt.summary}


def _show(call: Call) -> int:
    from pm.receipts.receipt import InvalidReceipt
    from pm.receipts.store import UnknownReceipt, find, load

    try:
        receipt = load(find(call.places.receipts, call.arguments.id or "latest"))
    except UnknownReceipt as error:
        raise PmError("unknown-receipt", str(error), hint="`hermes pm receipts` lists them") from error
    except InvalidReceipt as error:
        raise PmError(
            "unknown-receipt", f"the receipt {error}", hint="`hermes pm receipts` lists the others"
        ) from error
    call.show(receipt)
    return 0


def _show_example(call: Call) -> int:
    from pm.receipts.examples import NAMES, example

    if call.arguments.id not in NAMES:
        from pm.cli.wrong_words import near

        named = call.arguments.id
        message = f"there is no code or outcome {shown(named)}" if named else "no code and no outcome is named"
        meant = near(named or "", NAMES)
        hint = f"did you mean `{meant[0]}`?" if meant else f"there are {', '.join(NAMES)}"
        raise PmError("unknown-receipt", message, hint=hint)
    call.show(example(call.arguments.id))
    return 0
