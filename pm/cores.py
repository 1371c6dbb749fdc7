"""Find the core that plugins must fit: the embedded one, or a release of an index."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from admission import Candidate, Core, Declaration, Need, Origin, Owner, Requirement, Target, canonical_name
from lockfiles import Artifact, Edge, Pin, sidecar
from lockfiles.graph import requirement_of
from pm.errors import PmError
from pm.index import Index
from pm.index.folders import place_in_state, sha256_of
from pm.places import Places
from pm.reading.stored import Rules, declaration_from_json, declaration_to_json

HOST_NAME = "hermes-agent"
_SHAPE = 1


class HostedCore(NamedTuple):
    """The core together with what it brings."""

    core: Core
    kind: str
    """`embedded` or `release`."""
    setting: str
    """`pm.core` as it was written; empty for the embedded core."""
    bundled: Mapping[str, Declaration]
    """The plugins inside of its wheel by key."""

    @property
    def names(self) -> frozenset[str]:
        """Distribution names that mean the core: demands on them are gates."""
        return frozenset({HOST_NAME, self.core.name})


def core_names(setting: str) -> frozenset[str]:
    """Return the names that mean the core before it is read."""
    from admission import InvalidRequirementText, parse_requirement

    if not setting or is_project(setting):
        return frozenset({HOST_NAME, "hermes-embedded-core"})
    try:
        return frozenset({HOST_NAME, parse_requirement(setting, Origin(Owner("core", ""))).name})
    except InvalidRequirementText as error:
        raise PmError(
            "invalid-declaration", f"`pm.core` is not a requirement: {error.message}", key="pm.core"
        ) from error


def is_project(setting: str) -> bool:
    """Say whether a setting of the core names a folder and not a release."""
    return setting.startswith(("/", ".", "~")) or Path(setting).expanduser().is_dir()


def find_core(setting: str, places: Places, target: Target, index: Index, *, recorded: Mapping[str, Any]) -> HostedCore:
    """Return the core of a setting. A release range stays at the recorded version: only an update moves the core.

    Raise `PmError` (`not-found-on-index`, `no-matching-version`, `index-unreachable`, `invalid-declaration` …).
    """
    if _still_holds(recorded, setting, target):
        return core_from_json(recorded)
    if not setting:
        return _embedded(places, target)
    if is_project(setting):
        text = f"a project's folder (`{setting}`) cannot be the core yet"
        raise PmError("invalid-declaration", text, hint="name a release such as `hermes-agent==0.19.0`", key="pm.core")
    return _release(setting, places, target, index)


def core_to_json(hosted: HostedCore, target: Target) -> dict[str, Any]:
    """Return a core as JSON values, for the record of a generation."""
    core = hosted.core
    return {
        "shape": _SHAPE,
        "target": target.name,
        "kind": hosted.kind,
        "setting": hosted.setting,
        "bundled": {key: declaration_to_json(declaration) for key, declaration in hosted.bundled.items()},
        "name": core.name,
        "version": core.version,
        "requires_python": core.requires_python,
        "requirements": [list(requirement) for requirement in core.requirements],
        "preferences": dict(core.preferences),
        "speaks": core.speaks,
        "extras": list(core.extras),
        "pin": sidecar.pin_to_json(core.pin) if core.pin is not None else None,
    }


def core_from_json(value: Mapping[str, Any]) -> HostedCore:
    """Return the core that `core_to_json` was given."""
    requirements = []
    for row in value["requirements"]:
        fields = dict(zip(Requirement._fields, row, strict=True))
        owner, *place = fields["origin"]
        fields["origin"] = Origin(Owner(*owner), *place)
        fields["extras"] = tuple(fields["extras"])
        requirements.append(Requirement(**fields))
    core = Core(
        name=value["name"],
        version=value["version"],
        requirements=tuple(requirements),
        requires_python=value["requires_python"],
        preferences=value["preferences"],
        speaks=value["speaks"],
        pin=sidecar.pin_from_json(value["pin"]) if value["pin"] is not None else None,
        extras=tuple(value["extras"]),
    )
    bundled = {key: declaration_from_json(row) for key, row in value["bundled"].items()}
    return HostedCore(core, value["kind"], value["setting"], bundled)


# -- the embedded core


def _still_holds(recorded: Mapping[str, Any], setting: str, target: Target) -> bool:
    """Return whether a recorded core answers for a setting."""
    same = (recorded.get("shape"), recorded.get("setting"), recorded.get("target")) == (_SHAPE, setting, target.name)
    return same and (recorded.get("kind") == "release" or _is_current(recorded))


def _is_current(recorded: Mapping[str, Any]) -> bool:
    """Return whether the recorded embedded core is the one that this manager carries."""
    from pm.embedded import embedded_core_wheel

    pin = sidecar.pin_from_json(recorded["pin"])
    return pin.artifact.sha256 == sha256_of(embedded_core_wheel())


def _embedded(places: Places, target: Target) -> HostedCore:
    from pm.embedded import embedded_core_wheel, spoken_version
    from pm.index.wheels import metadata_of_wheel
    from pm.reading.bundled import read_bundled

    wheel = embedded_core_wheel()
    sha256 = sha256_of(wheel)
    place = place_in_state(sha256, wheel.name)
    _copy_to_state(wheel, places.wheels.joinpath(*PurePosixPath(place).parts[-2:]))
    artifact = Artifact(wheel.name, sha256, path=place, size=wheel.stat().st_size)
    name = wheel.name.split("-")[0].replace("_", "-")
    candidate = _read_candidate(metadata_of_wheel(wheel, name), artifact, target)
    bundled = read_bundled(wheel, Rules(frozenset({HOST_NAME, candidate.name}), cache_directory=places.cache / "read"))
    core = _core_of(candidate, (), speaks=spoken_version(wheel))
    return HostedCore(core, "embedded", "", bundled)


def _copy_to_state(wheel: Path, kept: Path) -> None:
    """Keep the wheel in the state: a newer manager carries another one, and `repair` still needs this."""
    from pm.atomic import write_bytes

    if not kept.exists():
        write_bytes(kept, wheel.read_bytes(), durable=True)


# -- a release


def _release(setting: str, places: Places, target: Target, index: Index) -> HostedCore:
    from admission import parse_requirement
    from pm.reading.bundled import read_bundled

    wanted = parse_requirement(setting, Origin(Owner("core", "")))
    if wanted.url or wanted.marker:
        raise PmError("invalid-declaration", f"`pm.core` must name a release, not `{setting}`", key="pm.core")
    version = _newest(wanted, target, index)
    candidate = _known_candidate(wanted.name, version, index)
    if candidate.invalid:
        raise PmError(
            "invalid-declaration", f"the metadata of {wanted.name} {version} cannot be read: {candidate.invalid}"
        )
    unknown = sorted(set(wanted.extras) - set(candidate.extras))
    if unknown:
        text = f"{wanted.name} {version} has no extra `{unknown[0]}`"
        raise PmError("unknown-extra", text, hint=f"it has {', '.join(candidate.extras)}", key="pm.core")
    rules = Rules(frozenset({HOST_NAME, candidate.name}), cache_directory=places.cache / "read")
    bundled = read_bundled(index.download(wanted.name, version), rules)
    return HostedCore(_core_of(candidate, wanted.extras), "release", setting, bundled)


def _newest(wanted: Requirement, target: Target, index: Index) -> str:
    from admission.universe import PackageSets
    from admission.versions import VersionSets, newest

    if wanted.name not in index.facts.pages:
        index.fetch(Need(pages=(wanted.name,)))
    page = index.facts.pages[wanted.name]
    if not page.versions:
        raise PmError("not-found-on-index", f"no index knows the core `{wanted.name}`", key="pm.core")
    sets = VersionSets(page.versions)
    mask = sets.select(wanted.specifier)
    package = PackageSets(page, sets, opted_in=False, not_after="")
    usable = mask & package.free or mask & package.conditional
    if not usable:
        newest_known = page.versions[-1]
        why = [page.excluded[i] for i in range(len(page.versions)) if mask >> i & 1 and i in page.excluded]
        if why:
            text = f"`{wanted.canonical}` cannot be used with {target.name}: {why[-1].detail or why[-1].code}"
            raise PmError(why[-1].code, text, key="pm.core")
        text = f"no release of `{wanted.name}` satisfies `{wanted.canonical}`; the newest is {newest_known}"
        raise PmError("no-matching-version", text, key="pm.core")
    return page.versions[newest(usable)]


def _known_candidate(name: str, version: str, index: Index) -> Candidate:
    candidate = index.facts.candidate(name, version)
    if candidate is None:
        candidate = index.fetch(Need(candidates=((name, version),))).candidate(name, version)
    if candidate is None:
        raise PmError("index-unreachable", f"the metadata of {name} {version} could not be read")
    return candidate


# -- from metadata


def _read_candidate(metadata: bytes, artifact: Artifact, target: Target) -> Candidate:
    from pm.index.metadata import Judge, read_core_metadata

    named = read_core_metadata(metadata)
    name = canonical_name(named.name)
    return Judge(target).candidate(metadata, name=name, version=named.version, artifact=artifact, index="")


def _core_of(candidate: Candidate, extras: tuple[str, ...], *, speaks: str = "") -> Core:
    chosen = {"", *extras}
    return Core(
        name=candidate.name,
        version=candidate.version,
        requirements=tuple(_requirement(edge, candidate.name) for edge in candidate.requires if edge.extra in chosen),
        requires_python=candidate.requires_python,
        preferences=_preferences(candidate.requires),
        speaks=speaks,
        pin=Pin(
            candidate.name,
            candidate.version,
            candidate.artifact,
            index=candidate.index,
            requires_python=candidate.requires_python,
            extras=tuple(sorted(extras)),
            owners=(Owner("core", candidate.name),),
        ),
        extras=tuple(sorted(extras)),
    )


def _requirement(edge: Edge, name: str) -> Requirement:
    owner = Owner("core-extra", edge.extra) if edge.extra else Owner("core", name)
    key = f"Requires-Dist; extra == '{edge.extra}'" if edge.extra else "Requires-Dist"
    # the edge was judged for the target, so no marker is carried on
    return Requirement(
        name=edge.name,
        origin=Origin(owner, "METADATA", 0, key),
        specifier=edge.specifier,
        extras=edge.extras,
        text=requirement_of(edge),
    )


def _preferences(edges: tuple[Edge, ...]) -> dict[str, str]:
    """Return the exact pins that extras give: preferred for everybody, never binding."""
    pins: dict[str, str] = {}
    for edge in edges:
        if edge.extra and edge.specifier.startswith("==") and "*" not in edge.specifier and "," not in edge.specifier:
            pins.setdefault(edge.name, edge.specifier)
    return dict(sorted(pins.items()))
