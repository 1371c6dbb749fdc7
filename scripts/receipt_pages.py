"""Write what docs/reference says of receipts and codes: `python -m scripts.receipt_pages docs/reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from pm.receipts.codes import CODES, OUTCOMES
from pm.receipts.examples import NAMES, example
from pm.receipts.receipt import receipt_text
from pm.receipts.render import render
from pm.receipts.warning_codes import WARNINGS

__all__ = ["documents", "schema_text", "write"]


def documents() -> Mapping[str, str]:
    """Return the generated pages: path below docs/reference → text."""
    examples = {name: example(name) for name in NAMES}
    return {
        "codes.md": _codes_page(),
        "receipt.schema.json": schema_text(),
        **{f"receipts/{name}.json": receipt_text(receipt) for name, receipt in examples.items()},
        **{f"receipts/{name}.txt": render(receipt, width=80) for name, receipt in examples.items()},
    }


def schema_text() -> str:
    """Return the JSON Schema of receipts."""
    return (files("pm.receipts") / "schema.json").read_text(encoding="utf-8")


def write(folder: Path) -> None:
    """Write all pages below a folder."""
    for name, text in documents().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _codes_page() -> str:
    codes = _table(
        ("code", "outcome", "meaning", "what now", "worth another try when"),
        (
            (f"[`{code.name}`](receipts/{code.name}.txt)", f"`{code.outcome}`", code.meaning, code.what_now, code.when)
            for code in CODES.values()
        ),
    )
    outcomes = _table(
        ("outcome", "exit status", "meaning"),
        (
            (f"[`{outcome.name}`](receipts/{outcome.name}.txt)", str(outcome.exit_status), outcome.meaning)
            for outcome in OUTCOMES.values()
        ),
    )
    warnings = _table(
        ("code", "meaning", "what now"),
        ((f"`{code.name}`", code.meaning, code.what_now) for code in WARNINGS.values()),
    )
    return _CODES_PAGE.format(codes=codes, outcomes=outcomes, warnings=warnings)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [titles, ("---" for _ in titles), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


_CODES_PAGE = """\
# Codes and outcomes

This page is written by `python -m scripts.receipt_pages docs/reference`; a test compares it with the code.

A code says why something is not as it was asked for. Codes are stable: new ones are added, none is renamed. Each has
an example: `hermes pm receipts example CODE`, and with `--json` the receipt that a program sees.

{codes}

The outcome in this table is that of an operation which ends with this code alone. Trouble with the network or with a
tool (`failed`) is never reported as a conflict, and never costs a plugin its place.

## Outcomes and exit status

{outcomes}

Besides these, 2 is wrong usage (also `failed` with `invalid-source` or an `unknown-…` code), 4 is `failed` with the
code `busy`, and 5 is `ready` under `--strict` when a running process must be started again first.

## Warnings

A warning stops nothing. Besides these, a warning may carry any code of the first table, where the same fault is not a
refusal.

{warnings}
"""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
