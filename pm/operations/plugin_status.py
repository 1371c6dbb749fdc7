"""A plugin that is installed: how it stands, and how a refusal of it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admission import Reason, Refused, Step
from pm.errors import PmError
from pm.generations.admitted import rows_of
from pm.generations.distributions import foreign_distributions, stamp
from pm.generations.pointer import Pointer, read_pointer
from pm.generations.records import Member, Record
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun
from pm.places import Places
from pm.plugins.discovery import Found
from pm.receipts.codes import code_of
from pm.verdict.state import Proposal, State, member_of


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

    `proposal` is what holds together, where not everything does that is enabled.
    """
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


def drift_of(places: Places, record: Record | None) -> Reason | None:
    """Return how the selected environment differs from what was selected, as far as one look at its folder tells."""
    if record is None:
        return None
    folder = places.environment(record.environment)
    try:
        pointer = read_pointer(places)
        if pointer is None:
            return None
        same = pointer.site_packages_stamp == stamp(folder)
    except PmError as error:
        return Reason("drift", error.message, file=str(folder))
    return _displaced(pointer, folder) or (
        None if same else Reason("drift", _difference(folder, record), file=str(folder))
    )


def _displaced(pointer: Pointer, folder: Path) -> Reason | None:
    """Return why an environment that is as it was cannot run where it is."""
    if not pointer.folder.exists() or not pointer.folder.samefile(folder):
        text = f"it was built in `{pointer.folder}` and lies in `{folder}` now, where it cannot run"
        return Reason("drift", text, file=str(folder), hint="`hermes pm repair` builds it here")
    if not (folder / "bin" / "python").exists():
        text = f"the interpreter that generation {pointer.generation} was built with is gone"
        return Reason("drift", text, file=str(folder), hint="`hermes pm init` builds it with another one")
    return None


def _difference(folder: Path, record: Record) -> str:
    """Say which distributions were added to an environment or taken from it, as far as the names of folders tell."""
    new, gone = map(_listed, foreign_distributions(folder))
    said = [f"{gone} taken from" if gone else "", f"{new} added to" if new else ""]
    return (
        f"{' and '.join(filter(None, said)) or 'something was added to or taken from'} generation {record.generation}"
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{shown}{more} {'was' if len(names) == 1 else 'were'}" if names else ""


_SHOWN = 5
