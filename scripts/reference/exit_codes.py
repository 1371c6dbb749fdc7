"""The page of the exit statuses, written from the codes and outcomes of receipts."""

from pm.cli.verb_table import LATER
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
        later=", ".join(f"`hermes {word}`" for word in sorted(LATER)),
    )


_STATUSES = (
    (0, "done, ready, or nothing to do", ""),
    (1, "no: it was refused, or something is not ready or not as recorded", ""),
    (2, "the command was not understood, or names a plugin or source that is not there", "`failed`, or no receipt"),
    (3, "it failed: the world did not cooperate, and nothing follows about any plugin; also *undecided*", ""),
    (4, "busy: another operation holds the install lock", "`failed`"),
    (5, "ready, but only after a restart (`hermes plugins check --strict`)", "`ready`"),
)

_PAGE = """\
# Exit statuses

This page is written by `python -m scripts.reference docs/reference`; a test compares it with the code.

{statuses}

A script needs no more than this: `0` is yes, `1` is no with the reason in the receipt, everything else is no answer.
Trouble with the network or with a tool never looks like a refusal.

{codes}

A receipt says the same in `exit_status`, and what each outcome and code means is in [codes.md](codes.md).

Where there is no receipt:

* 2 for words or options that nobody knows, for {later},
  for a package that is not in the generation (`hermes pm why`, `hermes pm tree --invert`), for a receipt that is
  not stored (`hermes pm receipts show`), and for a folder that holds something already (`hermes pm bundle`), or no
  bundle (`hermes pm init --bundle`).
* 3 for Ctrl-C, SIGTERM and SIGHUP outside of an operation, for output that cannot be written, and for a fault of the
  manager itself, which prints where it happened.
* `hermes run -- CMD` and everything that is handed to the core end with the status of what was started. The statuses
  above are those of not starting it.
* 0 if whoever reads standard output stops reading.
"""
