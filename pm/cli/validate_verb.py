"""`hermes plugins validate`: a plugin for its author, with one core and Python or with each of several."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from pm.cli.answer import give, remember
from pm.cli.invocation import Call
from pm.names import safe_text

if TYPE_CHECKING:
    from pm.receipts.receipt import Receipt


_LOG_COLUMNS = 120
"""Of a log, which has no width of its own."""


def validate_plugin(arguments: Namespace, words: Sequence[str]) -> int:
    """Check a plugin's folder for its author, once for each core and each Python that is named."""
    call = Call(arguments, words)
    asked = list(product(dict.fromkeys(arguments.core) or [None], dict.fromkeys(arguments.python) or [None]))
    receipts = [_validated(call, core, python) for core, python in asked]
    if len(receipts) == 1:
        return _shown(call, receipts[0])
    status = max(receipt.exit_status for receipt in receipts)
    call.talk.clear()
    give(_json(receipts, status) if arguments.json else _text(call, receipts))
    return status


def _validated(call: Call, core: str | None, python: str | None) -> Receipt:
    from pm.operations.validate import validate

    options = call.options(core=core, python=python)
    return call.look("validate", call.arguments.path, lambda run: validate(run, call.arguments.path, options))


def _shown(call: Call, receipt: Receipt) -> int:
    if call.arguments.format == "text" or call.arguments.json:
        return call.show(receipt)
    remember(receipt)
    give(_annotations(call, receipt))
    call.talk.say(receipt.summary)
    return receipt.exit_status


def _annotations(call: Call, receipt: Receipt) -> str:
    """Return the findings as commands, and the whole receipt in a group; the summary of the job gets it as well."""
    from pm.names import without_commands
    from pm.receipts.github import github_lines, grouped, write_summary
    from pm.receipts.receipt import from_json, to_json
    from pm.receipts.render import render

    receipt = from_json(to_json(receipt))  # where credentials are taken out
    whole = without_commands(render(receipt, width=_LOG_COLUMNS))
    told = write_summary(receipt, whole, os.environ)
    if told:
        call.talk.say(told)
    return "".join(f"{line}\n" for line in (*github_lines(receipt, call.arguments.path), *grouped(receipt, whole)))


def _json(receipts: Sequence[Receipt], status: int) -> str:
    from pm.receipts.plain import json_text
    from pm.receipts.receipt import to_json

    return json_text({"exit_status": status, "receipts": list(map(to_json, receipts))})


def _text(call: Call, receipts: Sequence[Receipt]) -> str:
    """Return a line for each core and Python, and before them what is to be said of each of them."""
    if call.arguments.format == "github":
        parts = [_annotations(call, receipt) for receipt in receipts]
    else:
        parts = [f"{call.shown(receipt)}\n" for receipt in receipts]
    rows = [safe_text(f"{receipt.core} · {receipt.target}: {receipt.summary}") for receipt in receipts]
    return "".join([*dict.fromkeys(parts), *(f"{row}\n" for row in rows)])
