"""The stable codes and outcomes of receipts, with what they mean, what helps, and the exit status."""

from collections.abc import Iterable
from typing import NamedTuple

from pm.receipts.code import Code
from pm.receipts.failure_codes import FAILURES
from pm.receipts.refusal_codes import REFUSALS

__all__ = ["CODES", "OUTCOMES", "Code", "Outcome", "code_of", "exit_status"]


class Outcome(NamedTuple):
    """How an operation can end."""

    name: str
    exit_status: int
    meaning: str


CODES = {code.name: code for code in (*REFUSALS, *FAILURES)}

_OUTCOMES = (
    Outcome("admitted", 0, "the requirements hold together; a generation with them is selected (dry run: could be)"),
    Outcome("refused", 1, "it cannot be done, and the receipt says why; the selected generation stays selected"),
    Outcome("failed", 3, "the network, a tool or the machine failed; this says nothing about the plugin"),
    Outcome("undecided", 3, "neither shown to fit nor shown not to fit; nothing was changed"),
    Outcome("unchanged", 0, "it was already so, and there was nothing to do"),
    Outcome("ready", 0, "everything that was asked about is ready (with `--strict` 5 if only after a restart)"),
    Outcome("not-ready", 1, "something that was asked about is not ready; the reasons name it"),
    Outcome("removed", 0, "the plugin, its settings and what only it needed are removed"),
    Outcome("disabled", 0, "the plugin is disabled and stays installed"),
    Outcome("rolled-back", 0, "an earlier generation is selected again"),
    Outcome("collected", 0, "generations that are no longer needed are deleted"),
    Outcome("verified", 0, "the selected generation is what its lock says, or the audited lock has no finding"),
    Outcome("drift", 1, "the files of the selected generation differ from its lock"),
    Outcome("repaired", 0, "the recorded lock is built again"),
    Outcome("exported", 0, "a lock, a bundle or another format is written"),
    Outcome("interrupted", 3, "it was stopped; the selected generation stays selected"),
)

OUTCOMES = {outcome.name: outcome for outcome in _OUTCOMES}

_USAGE = 2
_BUSY = 4
_RESTART = 5
_MISNAMED = frozenset(
    {"invalid-source", "unknown-generation", "unknown-package", "unknown-plugin", "unknown-profile", "unknown-receipt"}
)


def code_of(name: str) -> Code:
    """Return what is known of a code; for one that is not in the table, words that are true of every failure."""
    unknown = Code(name, "failed", "", "something went wrong", "", "the cause is gone")
    return CODES.get(name, unknown)


def exit_status(outcome: str, codes: Iterable[str] = (), *, restart: bool = False) -> int:
    """Return the exit status of an outcome with the codes of its reasons; `restart` under `--strict` only."""
    codes = set(codes)
    if outcome == "failed" and "busy" in codes:
        return _BUSY
    if outcome == "failed" and codes & _MISNAMED:
        return _USAGE
    if outcome == "ready" and restart:
        return _RESTART
    return OUTCOMES[outcome].exit_status
