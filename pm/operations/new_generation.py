"""From a verdict to a selected generation: what `install`, `enable`, `init` and `update` have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from admission import Admitted, Policy, Refused, Undecided, canonical_name
from lockfiles import Lock
from pm.config.profiles import selections
from pm.config.settings import Selection
from pm.errors import PmError
from pm.generations.build import (
    Contents,
    Edits,
    Ingredients,
    Prepared,
    core_value,
    prepare,
    select,
)
from pm.generations.records import Member, Record
from pm.generations.verification import digest_in_place
from pm.names import canonical_key
from pm.operations.damage import environment_damage
from pm.operations.installed_trees import InstalledTree, installed_tree
from pm.operations.kept_trees import keep_tree, unkept
from pm.operations.run import OperationRun
from pm.operations.selected_generation import say_selected
from pm.receipts.receipt import Done, time_text
from pm.system.files import require_replaceable, require_writable
from pm.verdict.resolve import Resolver, Verdict
from pm.verdict.state import ProfilePlugins, State, addressing
from pm.verdict.union import Proposal


def realise(
    run: OperationRun,
    resolver: Resolver,
    verdict: Verdict,
    edits: Edits,
    *,
    trees: Mapping[str, InstalledTree] | None = None,
) -> Admitted | Refused | Undecided | Done:
    """Build what was admitted and select it together with the edits; a refusal comes back as it is.

    `trees` are those of the plugin folders that the edits bring.
    """
    decision = verdict.decision
    if not isinstance(decision, Admitted) or run.operation.dry_run:
        return decision
    edited = [home for home, changes in edits.configs.items() if changes]
    require_writable(run.places.generations, *edited, *(home / "config.yaml" for home in edited))
    require_replaceable(*((home / "config.yaml").resolve() for home in edited))
    prepared = build(run, resolver, decision.lock)
    if isinstance(prepared, Refused):
        return prepared
    state = resolver.state
    with run.phase("commit"):
        members = tuple(_completed(member, run, trees or {}) for member in verdict.proposal.members)
        contents = contents_of(state, decision.lock, verdict.proposal._replace(members=members))
        edits = edits._replace(flush=_name_more_trees(members, state.record))
        record = select(run.places, prepared, contents, edits, operation=run.mark)
    say_selected(run, state.record, record)
    return decision


def build(run: OperationRun, resolver: Resolver, lock: Lock) -> Prepared | Refused:
    """Prepare the environment of a lock, and take its warnings into the receipt."""
    state = resolver.state
    ingredients = Ingredients(
        hosted=state.hosted,
        interpreter=state.interpreter,
        sources=None if state.options.offline else state.sources,
        client=resolver.index,
        allow_collision=frozenset(state.policy.allow_collision),
    )
    record = state.record
    # an environment belongs to the interpreter that it was made with
    same = record is not None and record.interpreter == str(state.interpreter.path)
    intact = record if same and environment_damage(run.places, record) is None else None
    with run.phase("build", f"building an environment of {len(lock.pins)} packages"):
        prepared = prepare(run.places, lock, ingredients, intact)
    if isinstance(prepared, Prepared):
        for warning in prepared.warnings:
            run.note(warning)
    return prepared


def contents_of(state: State, lock: Lock, proposal: Proposal) -> Contents:
    """Return what the record of a generation says for a state and the members that were admitted."""
    consents = _consents_of(state.policy, lock, proposal.members)
    return Contents(
        members=proposal.members,
        fingerprint=fingerprint_later(state, proposal, consents),
        core=core_value(state.hosted, state.interpreter),
        interpreter=str(state.interpreter.path),
        target=state.interpreter.target.name,
        consents=consents,
        exclude_newer=state.policy.exclude_newer,
        python=state.python,
        selections={profile.name: _selection_of(profile, state.record) for profile in state.profiles},
    )


def _consents_of(policy: Policy, lock: Lock, members: Iterable[Member]) -> dict[str, object]:
    """Return what was consented to and is used, as a record keeps it: later decisions on this set need it again."""
    names = lock.versions()
    addressed = (member.key for member in members if any(r.url for r in member.declaration.requirements))
    return {
        "allow_build": [name for name in policy.allow_build if name in names],
        "allow_prerelease": [name for name in policy.allow_prerelease if name in names],
        "allow_collision": [name for name in policy.allow_collision if name in names],
        "allow_direct_urls": sorted({canonical_key(key) for key in addressed if policy.may_name_addresses(key)}),
    }


def _selection_of(profile: ProfilePlugins, record: Record | None) -> Mapping[str, object]:
    """Return what a profile selects; of one whose config cannot be read, what it selected last."""
    before: Mapping[str, object] = record.selections.get(profile.name, {}) if record is not None else {}
    selection = profile.profile.selection
    chosen = dict(selections(selection)) if selection is not None else None
    return {**before, "home": str(profile.profile.home), **({"chosen": chosen} if chosen is not None else {})}


def fingerprint_later(state: State, proposal: Proposal, consents: Mapping[str, Any]) -> str:
    """Return the fingerprint that the next operation finds: a consent that nothing needed is not kept."""
    settings, constraints = state.settings, proposal.constraints
    build = {canonical_name(name) for name in (*settings.allow_build, *consents.get("allow_build", ()))}
    prerelease = {canonical_name(name) for name in (*settings.allow_prerelease, *consents.get("allow_prerelease", ()))}
    collision = {canonical_name(name) for name in (*settings.allow_collision, *consents.get("allow_collision", ()))}
    policy = constraints.policy._replace(
        allow_build=tuple(sorted(build)),
        allow_prerelease=tuple(sorted(prerelease)),
        allow_collision=tuple(sorted(collision)),
        allow_direct_urls=tuple(sorted({*settings.allow_direct_urls, *addressing(consents)})),
    )
    if policy == constraints.policy:
        return proposal.fingerprint
    return constraints._replace(policy=policy).fingerprint


def decided_on(state: State) -> dict[Path, Selection]:
    """Return what each config selected when this was decided."""
    return {
        inhabited.profile.home: inhabited.profile.selection
        for inhabited in state.profiles
        if inhabited.profile.selection is not None
    }


def _name_more_trees(members: Iterable[Member], before: Record | None) -> bool:
    """Say whether members name kept trees that the selected generation does not: they may not be on the disk yet."""
    known = {member.tree_digest for member in before.members} if before is not None else set()
    return any(member.tree_digest not in {"", *known} for member in members)


def _completed(member: Member, run: OperationRun, trees: Mapping[str, InstalledTree]) -> Member:
    """Return a member with the time since when it is enabled, where its files came from, and their digest.

    They are kept by that digest.
    """
    since = member.enabled_since or time_text(datetime.now(UTC))
    if member.link and member.root not in trees:
        return member._replace(enabled_since=since, tree_digest=digest_in_place(Path(member.root)))
    member = member._replace(link="", enabled_since=since)
    if not member.root:
        return member._replace(tree_digest="")
    installed = trees.get(member.root) or installed_tree(run.places, Path(member.root))
    if installed is not None:
        return member._replace(tree_digest=installed.digest, origin=installed.origin)
    if member.source == "user" and not member.tree_digest and Path(member.root).is_dir():
        return member._replace(tree_digest=_kept(member, run))
    return member


def _kept(member: Member, run: OperationRun) -> str:
    """Return the digest of a plugin's files, of which a copy is kept; empty for what cannot be copied.

    It lies there already, and the manager did not put it there: that is no reason to refuse it, or others.
    """
    root = Path(member.root)
    try:
        return keep_tree(run.places, root)
    except (PmError, OSError) as error:
        if not _concerns(error, root):
            raise
        hint = "`hermes pm rollback` cannot restore its files"
        run.note(unkept(root, error)._replace(hint=hint))
        return ""


def _concerns(error: PmError | OSError, root: Path) -> bool:
    """Say whether trouble is with a plugin's own files, and not with the copy of them."""
    if isinstance(error, PmError) and error.code == "no-space":  # which can name the file that was read
        return False
    path = Path(error.file if isinstance(error, PmError) else str(error.filename))
    return any(path.is_relative_to(folder) for folder in (root, root.resolve()))
