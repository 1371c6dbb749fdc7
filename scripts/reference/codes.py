"""The page of codes, outcomes and warnings."""

from pm.receipts.codes import CODES, OUTCOMES
from pm.receipts.warning_codes import WARNINGS
from scripts.reference.markdown import table

__all__ = ["codes_page"]


def codes_page() -> str:
    """Return the page."""
    codes = table(
        ("code", "outcome", "meaning", "what now", "worth another try when"),
        (
            (f"[`{code.name}`](receipts/{code.name}.txt)", f"`{code.outcome}`", code.meaning, code.what_now, code.when)
            for code in CODES.values()
        ),
    )
    outcomes = table(
        ("outcome", "exit status", "meaning"),
        (
            (f"[`{outcome.name}`](receipts/{outcome.name}.txt)", str(outcome.exit_status), outcome.meaning)
            for outcome in OUTCOMES.values()
        ),
    )
    warnings = table(
        ("code", "meaning", "what now"),
        ((f"`{code.name}`", code.meaning, code.what_now) for code in WARNINGS.values()),
    )
    return _PAGE.format(codes=codes, outcomes=outcomes, warnings=warnings)


_PAGE = """\
# Codes and outcomes

This page is written by `python -m scripts.reference docs/reference`; a test compares it with the code.

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
