"""The page of the exit statuses, written from the codes and outcomes of receipts."""

from pm.cli.verb_table import LATER_VERBS
from pm.receipts.codes import CODES, OUTCOMES, exit_status
from scripts.reference.markdown import table

__all__ = ["exit_codes_page"]


def exit_codes_page() -> str:
    """Return the page."""
    by_status: dict[int, list[str]] = {}
    for code in CODES.values():
        by_status.setdefault(exit_status(code.outcome, [code.name]), []).append(f"`{code.name}`")
    codes = ((f"`{status}`", ", ".join(by_status[status])) for status in sorted(by_status))
    outcomes: dict[int, list[str]] = {}
    for outcome in OUTCOMES.values():
        outcomes.setdefault(outcome.exit_status, []).append(f"`{outcome.name}`")
    meanings = (
        (f"`{status}`", meaning, ", ".join(outcomes.get(status, ())) or where) for status, meaning, where in _STATUSES
    )
    return _PAGE.format(
        statuses=table(("status", "means", "outcome of the receipt"), meanings),
        codes=table(("status", "if it ends with one of these codes alone"), codes),
        later=", ".join(f"`hermes {' '.join(words)}`" for words in sorted(LATER_VERBS)),
    )


_STATUSES = (
    (0, "done, ready, or nothing to do", ""),
    (1, "no: it was refused, or something is not ready or not as recorded", ""),
    (2, "the command was not understood, or names a plugin or source that does not exist", "`failed`, or no receipt"),
    (
        3,
        "it failed, for example at the network, the disk or a tool: nothing follows about any plugin; also *undecided*",
        "",
    ),
    (4, "busy: another operation holds the install lock", "`failed`"),
    (5, "ready, but only after a restart (`hermes plugins check --strict`)", "`ready`"),
)

_PAGE = """\
# Exit statuses

This page is written by `python -m scripts.reference docs/reference`; a test compares it with the code.

{statuses}

For a script: `0` is yes, `1` is no, with the reason in the receipt, and everything else is no answer. A fault of the
network or of a tool never looks like a refusal.

{codes}

A receipt says the same in `exit_status`, and what each outcome and code means is in [codes.md](codes.md).

Where there is no receipt:

* 2 for unknown words or options, for {later}, for a package that is not in the
  generation (`hermes pm why`, `hermes pm tree --invert`), for a receipt that is not stored (`hermes pm receipts show`),
  for a folder that is not empty (`hermes pm bundle`) or is no bundle (`hermes pm init --bundle`), and for `hermes run`
  without a command.
* 3 for Ctrl-C, SIGTERM and SIGHUP outside of an operation, for output that cannot be written, and for a fault in the
  manager itself, whose traceback is written to standard error.
* `hermes run -- CMD`, and everything that is handed to the core, ends with the status of the command. The statuses
  above mean that it was not started.
* 0 if the reader of standard output stops reading early.
"""
