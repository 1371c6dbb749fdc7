"""A plugin that is installed: how it stands, and how a refusal of it ends."""

from __future__ import annotations

from admission import Refused, Step
from pm.generations.admitted import rows_of
from pm.generations.records import Member
from pm.operations.damage import environment_damage
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun
from pm.plugins.discovery import Found
from pm.receipts.codes import code_of
from pm.verdict.state import State
from pm.verdict.union import Proposal, member_of


def announced(run: OperationRun, state: State, found: Found) -> Member:
    """Say in the receipt which plugin is judged, and return it as a member of the union."""
    since = next((member.enabled_since for member in state.members if member.key == found.key), "")
    member = member_of(found, (state.places.profile,), since)
    run.is_about(plugin_of(member))
    for note in found.declaration.notes:
        run.note(note, owner=found.key)
    return member


def is_running(state: State, found: Found, proposal: Proposal | None = None) -> bool:
    """Say whether a plugin is enabled, and part of the selected generation as everything is now.

    `proposal` is what holds together, where not everything does that is enabled. In an environment that is damaged
    nothing is.
    """
    if environment_damage(state.places, state.record) is not None:
        return False
    enabled = any(member.key == found.key for member in state.here.enabled.members)
    record = state.record
    return (
        enabled
        and record is not None
        and any(found.lies_at(row.root) for row in rows_of(record.members, found.key, state.places.profile))
        and found.declaration.fit
        and record.fingerprint == (proposal or state.union).fingerprint
    )


def again(key: str, refused: Refused) -> Step:
    """Return the step that closes a refusal of a plugin which stays installed."""
    when = "; ".join(dict.fromkeys(code_of(reason.code).when for reason in refused.reasons))
    return Step("re-enable", key, when=when)
