"""Disable plugins: always possible, without resolving, without a network, whatever state they are in."""

from collections.abc import Sequence

from pm.config.edit import Disable
from pm.generations.build import Prepared, apply, consents_left
from pm.generations.records import next_number
from pm.operations.leaver import commit_without, disowned, edits_of, fingerprinted, leaver_of, leaving
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done


def disable(run: OperationRun, words: Sequence[str]) -> Result:
    """Disable plugins in this profile; packages stay until the next build, which drops what they alone required."""
    known = {leaver.key: leaver for leaver in (leaver_of(run, word) for word in words)}
    leavers = [leaver for leaver in known.values() if leaver.counts]
    going = leaving(run, leavers or list(known.values()))
    if not leavers:
        return Done("unchanged")
    edits = edits_of(run, leavers, lambda leaver: Disable(leaver.key, leaver.names))
    record = going.record
    if run.operation.dry_run:
        return Done("disabled")
    if record is None or not any(leaver.is_member for leaver in leavers):
        apply(run.places, edits, None, operation="disable")
        return Done("disabled")
    lock = fingerprinted(run, record, going.remaining, disowned(record.lock, going.gone))
    prepared = Prepared(next_number(run.places), record.environment, lock)
    commit_without(run, going, prepared, edits, consents=consents_left(record.consents, lock))
    return Done("disabled")
