"""Plugins that were refused before and would be admitted with what is enabled now."""

import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from admission import Admitted, Problem
from pm.errors import PmError
from pm.generations.records import Member
from pm.names import canonical_key, same_key
from pm.operations.run import OperationRun
from pm.plugins.declaration_cache import read_declaration_cached
from pm.plugins.discovery import Found, is_plugin
from pm.receipts.receipt import InvalidReceipt, Receipt
from pm.receipts.store import list_receipts, load
from pm.verdict.resolve import Resolver
from pm.verdict.state import State
from pm.verdict.union import Proposal, member_of

_MOST = 20
"""Of refusals that are looked at again."""
_OF_A_PLUGIN = ("install", "enable")


class _Earlier(NamedTuple):
    """A refusal of a plugin that is not enabled today."""

    receipt: Receipt
    member: Member
    """As it lies there now."""


def note_admitted_now(
    run: OperationRun, resolver: Resolver, proposal: Proposal, *, besides: Collection[str] = ()
) -> None:
    """Say which refusals of before would end otherwise beside these members, as far as there is time for that."""
    until = time.monotonic() + resolver.state.options.steps_seconds
    for earlier in _refused_before(run, resolver.state, {canonical_key(key) for key in besides}):
        if time.monotonic() > until:
            return
        with suppress(PmError):  # what cannot be asked now is not told
            union = proposal.with_member(earlier.member)
            if isinstance(resolver.resolve(union, earlier.member.key).decision, Admitted):
                run.note(_told(earlier))


def _told(earlier: _Earlier) -> Problem:
    key, receipt = earlier.member.key, earlier.receipt
    message = f"`{key}`, which was refused on {receipt.started_at[:10]}, would be admitted now"
    return Problem("admitted-now", message, hint=f"`{_command(earlier)}` enables it")


def _command(earlier: _Earlier) -> str:
    from shlex import join

    if earlier.receipt.operation == "enable" or earlier.member.source != "question":
        return f"hermes plugins enable {earlier.member.key}"
    return join(["hermes", "plugins", "install", earlier.member.root, "--enable"])


def _refused_before(run: OperationRun, state: State, besides: Collection[str]) -> Iterator[_Earlier]:
    """Yield the last refusal of each plugin that is not enabled and still there, the newest first."""
    seen = {canonical_key(member.key) for member in state.members} | set(besides)
    for receipt in _receipts(run):
        key = receipt.plugin.key if receipt.plugin is not None else ""
        if not key or canonical_key(key) in seen:
            continue
        seen.add(canonical_key(key))
        member = _as_it_is(state, receipt, key) if receipt.outcome == "refused" else None
        if member is not None:
            yield _Earlier(receipt, member)


def _receipts(run: OperationRun) -> Iterator[Receipt]:
    stored = [one for one in list_receipts(run.places.receipts) if one.operation in _OF_A_PLUGIN]
    for one in stored[:_MOST]:
        with suppress(PmError, InvalidReceipt):
            receipt = load(one.path)
            if receipt.plugin is None or receipt.plugin.profile in ("", run.places.profile):
                yield receipt


def _as_it_is(state: State, receipt: Receipt, key: str) -> Member | None:
    """Return the plugin as it is installed, else as it lies in the folder that it was refused from; else `None`."""
    profiles = (state.places.profile,)
    installed = next((found for found in state.here.found if same_key(found.key, key) and not found.hidden_by), None)
    if installed is not None:
        return member_of(installed, profiles)
    source = receipt.plugin.source if receipt.plugin is not None else None
    folder = Path(source.location) if source is not None and source.kind == "folder" else None
    if folder is None or not folder.is_absolute() or not is_plugin(folder):
        return None
    declaration = read_declaration_cached(folder, state.rules)
    return member_of(Found(declaration.key, "question", declaration, folder), profiles)
