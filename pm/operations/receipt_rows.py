"""What an operation starts from and is about, as its receipt says it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from admission import EVERY_PLUGIN, Policy
from lockfiles import Lock
from pm import __version__
from pm.dist_info import distribution_of, is_info
from pm.generations.records import Member, Record
from pm.names import canonical_key, leaf
from pm.plugins.discovery import Found
from pm.receipts.receipt import Consent, Copy, Plugin, Shadowed, SourceRow, Transition
from pm.verdict.state import State


class Start(NamedTuple):
    """What there was when an operation began."""

    core: str = ""
    """Name and version, `hermes-agent==0.19.0`."""
    target: str = ""
    before: Lock | None = None
    """The selected generation's lock."""
    generation: Transition = Transition()
    exclude_newer: str = ""
    """The instant after which files are too young; empty without quarantine."""
    consents: tuple[Consent, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    tools: Mapping[str, str] = {}


def start_of(state: State) -> Start:
    """Return what a state says of itself."""
    core, record = state.hosted.core, state.record
    return Start(
        core=f"{core.name}=={core.version}",
        target=state.interpreter.target.name,
        before=record.lock if record is not None else None,
        generation=stays(record),
        exclude_newer=state.policy.not_after,
        consents=_consents(state.policy),
        shadowed=tuple(shadowed(state.here.found)),
        tools=tools(),
    )


def plugin_of(member: Member) -> Plugin:
    """Return a member of the union as receipts name it."""
    declaration = member.declaration
    files = [requirement.origin.file for requirement in declaration.requirements]
    return Plugin(
        key=declaration.key,
        name=declaration.name or declaration.key,
        version=declaration.version,
        source=SourceRow({"user": "folder"}.get(member.source, member.source), member.root),
        profile=", ".join(member.profiles),
        declared_in=next((file for file in files if file), ""),
        digest=member.digest,
    )


def shadowed(found: Iterable[Found]) -> Iterator[Shadowed]:
    """Yield the copies of plugins that another copy hides."""
    copies = tuple(found)
    for hidden in copies:
        if not hidden.hidden_by:
            continue
        used = next((other for other in copies if not other.hidden_by and _same_plugin(other, hidden)), None)
        if used is not None:
            yield Shadowed(hidden.key, _copy(hidden), _copy(used))


def stays(record: Record | None) -> Transition:
    """Return that the selected generation stays selected."""
    if record is None:
        return Transition()
    return Transition(record.generation, record.generation, record.lock_digest)


def tools() -> dict[str, str]:
    """Return the versions of what does the work."""
    import packaging

    beside = _versions_beside(packaging.__file__, ("resolvelib", "uv"))
    return {"hermes-pm": __version__, "packaging": packaging.__version__, **beside}


def _versions_beside(module: str, names: Iterable[str]) -> dict[str, str]:
    """Return the versions of distributions by their folders' names: `importlib.metadata` takes 20 ms to import."""
    folders = os.listdir(os.path.dirname(os.path.dirname(module)))  # noqa: PTH120, PTH208 - a dry run pays for each path
    versions = dict(distribution_of(folder) for folder in sorted(folders) if is_info(folder))
    return {name: versions.get(name, "unknown") for name in names}


def _same_plugin(one: Found, other: Found) -> bool:
    if one.memory_provider and other.memory_provider:
        return canonical_key(leaf(one.key)) == canonical_key(leaf(other.key))
    return canonical_key(one.key) == canonical_key(other.key)


def _copy(found: Found) -> Copy:
    location = str(found.folder) if found.folder is not None else f"plugins/{found.key}"
    return Copy(found.source, location, found.declaration.version)


def _consents(policy: Policy) -> tuple[Consent, ...]:
    every = {EVERY_PLUGIN: "every plugin"}
    return (
        *(Consent("allow-build", name) for name in policy.allow_build),
        *(Consent("allow-prerelease", name) for name in policy.allow_prerelease),
        *(Consent("allow-collision", name) for name in policy.allow_collision),
        *(Consent("allow-direct-url", every.get(key, key)) for key in policy.allow_direct_urls),
    )
