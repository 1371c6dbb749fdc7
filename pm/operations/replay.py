"""Repeat the verdict of a receipt from the facts beside it: without an index, on any machine, by the same engine."""

from __future__ import annotations

from pathlib import Path

from admission import Admitted, Need, Problem, Refused, Step
from pm.errors import PmError
from pm.generations.fault_reasons import FILE_CODES
from pm.operations.receipt_rows import Start
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import InvalidReceipt, Receipt
from pm.receipts.store import UnknownReceipt, facts_digest, find, load
from pm.system.files import read_regular
from pm.verdict.evidence import decided_again


def replay(run: OperationRun, word: str) -> Result:
    """Decide again what a receipt tells of; `word` is its file, its id, or the beginning of one.

    Raise `PmError` (`unknown-receipt`, `invalid-evidence`) if there is nothing to decide again.
    """
    path, receipt = _receipt(run, word)
    if receipt.facts is None:
        raise PmError("invalid-evidence", f"the receipt `{receipt.id}` has no facts: it decided nothing")
    text = _text(path.with_name(receipt.facts.name))
    if facts_digest(text) != receipt.facts.digest:
        raise PmError("invalid-evidence", f"`{receipt.facts.name}` is not the file that the receipt names")
    question, decision = decided_again(text)
    run.starts_from(
        Start(core=receipt.core, target=receipt.target, exclude_newer=receipt.exclude_newer, consents=receipt.consents)
    )
    run.is_about(receipt.plugin)
    run.decides_on_inputs(receipt.plugins, question.constraints.fingerprint)
    if isinstance(decision, Need):
        raise PmError("invalid-evidence", f"the facts beside `{receipt.id}` are not enough to decide again")
    if isinstance(decision, Admitted) and _is_about_files(receipt):
        message = f"the refusal of `{receipt.id}` rests on files that only the build showed, not on facts"
        raise PmError("invalid-evidence", message)
    _compare(run, receipt, decision)
    return decision._replace(steps=(_AGAIN,)) if isinstance(decision, Refused) else decision


_AGAIN = Step("retry", "", when="another version of the manager is installed")


def _receipt(run: OperationRun, word: str) -> tuple[Path, Receipt]:
    path = Path(word)
    try:
        if not path.is_file():
            path = find(run.places.receipts, word)
        return path, load(path)
    except (UnknownReceipt, InvalidReceipt) as error:
        raise PmError("unknown-receipt", str(error), hint="name the file of a receipt, or its id") from error


def _text(path: Path) -> str:
    try:
        return read_regular(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise PmError("invalid-evidence", f"`{path}` cannot be read: {error}", file=str(path)) from error


def _is_about_files(receipt: Receipt) -> bool:
    return any(reason.code in FILE_CODES for reason in receipt.reasons)


def _compare(run: OperationRun, receipt: Receipt, decision: Result) -> None:
    """Say whether this engine comes to the same verdict as the one that wrote the receipt."""
    before = "refused" if receipt.outcome == "refused" else "admitted"
    now = {Admitted: "admitted", Refused: "refused"}.get(type(decision), "undecided")
    codes = tuple(reason.code for reason in receipt.reasons)
    again = tuple(reason.code for reason in decision.reasons) if isinstance(decision, Refused) else ()
    if isinstance(decision, Refused) and not FILE_CODES.intersection(again):
        # files that would be refused after a consent was given are told along, and no facts of them are kept
        codes = tuple(code for code in codes if code not in FILE_CODES)
    if (before, codes) != (now, again):
        told = f"the receipt says {before} {', '.join(codes)}".strip()
        message = f"{told}, and this version of the manager says {now} {', '.join(again)}".strip()
        run.note(Problem("replay-differs", message))
