"""Disable a plugin: always possible, without resolving, without a network, whatever state it is in."""

from pm.config.edit import Disable
from pm.generations.build import Prepared, apply, consents_left
from pm.generations.records import next_number
from pm.operations.leaver import commit_without, disowned, edits_of, fingerprinted, leaver_of
from pm.operations.run import OperationRun, Result
from pm.receipts.receipt import Done


def disable(run: OperationRun, word: str) -> Result:
    """Disable a plugin in this profile; its packages stay until the next build, which drops what it alone required."""
    leaver = leaver_of(run, word)
    if not leaver.counts:
        return Done("unchanged")
    edits = edits_of(run, leaver, Disable(leaver.key, leaver.names))
    record = leaver.record
    if run.operation.dry_run:
        return Done("disabled")
    if record is None or not leaver.is_member:
        apply(run.places, edits, None, operation="disable")
        return Done("disabled")
    remaining = leaver.remaining(run.places.profile)
    lock = disowned(record.lock, leaver.key) if leaver.leaves_union(run.places.profile) else record.lock
    lock = fingerprinted(run, record, remaining, lock)
    prepared = Prepared(next_number(run.places), record.environment, lock)
    commit_without(run, leaver, prepared, edits, consents=consents_left(record.consents, lock))
    return Done("disabled")
