"""Find the core that plugins must fit: the embedded one, a release of an index, or a project's folder."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from admission import (
    Candidate,
    Core,
    Declaration,
    Need,
    Origin,
    Owner,
    Problem,
    Requirement,
    Target,
    canonical_name,
)
from lockfiles import Artifact, Edge, Pin, sidecar
from lockfiles.graph import requirement_of
from pm.documents.boundary import alike, texts
from pm.documents.files import PROJECT_FILE, Content, Fetch
from pm.errors import PmError
from pm.host.core_setting import is_project, wanted_release
from pm.index import IndexClient
from pm.index.folders import place_in_state, sha256_of, wheel_in_state
from pm.names import HOST_NAME
from pm.places import Places
from pm.plugins.declaration_cache import (
    Rules,
    declaration_from_json,
    declaration_to_json,
    problem_from_json,
    requirement_from_json,
)

if TYPE_CHECKING:
    from admission.universe import PackageSets

_SHAPE = 2
"""Of a core in a record, which an older manager may have written: one of another shape is found anew."""


class HostedCore(NamedTuple):
    """The core together with what it brings."""

    core: Core
    kind: str
    """`embedded`, `release` or `project`."""
    setting: str
    """`pm.core` as it was written; empty for the embedded core."""
    bundled: Mapping[str, Declaration]
    """The plugins inside of its wheel or folder by key."""
    folder: str = ""
    """Of a project: absolute; `hermes run` puts it on the path."""
    notes: tuple[Problem, ...] = ()
    """What is odd about a project's files and stops nothing."""

    @property
    def names(self) -> frozenset[str]:
        """Distribution names that mean the core: demands on them are gates."""
        return frozenset({HOST_NAME, self.core.name})


class CoreNeedsPython(PmError):
    """A release is there and this target's Python is not one of its own: another interpreter may do."""

    def __init__(self, message: str, requires_python: str) -> None:
        super().__init__("python-version", message, hint="name another one with `pm.python`", key="pm.core")
        self.requires_python = requires_python
        """As the index says it; several, joined by ` or `, where its files differ."""


class LacksExtras(PmError):
    """A release is there and has not every extra that is asked for."""

    def __init__(self, core: Candidate, extras: Sequence[str]) -> None:
        listed = ", ".join(f"`{extra}`" for extra in extras)
        message = f"{core.name} {core.version} has no extra{'s' if len(extras) > 1 else ''} {listed}"
        has = f"it has {', '.join(core.extras)}" if core.extras else "it has none"
        super().__init__("unknown-extra", message, hint=has, key="pm.core")
        self.extras = tuple(extras)


def find_core(
    setting: str,
    places: Places,
    target: Target,
    index: IndexClient,
    *,
    recorded: Mapping[str, Any],
    version: str = "",
) -> HostedCore:
    """Return the core of a setting. A release range stays at the recorded version: only an update moves the core.

    Another range means its newest release, or the one of `version` where that is named.
    A project's files may change, so they are looked at each time. Nothing is written outside of the cache.
    Raise `PmError` (`not-found-on-index`, `no-matching-version`, `index-unreachable`, `invalid-declaration` …).
    """
    if _still_holds(recorded, setting, target) and version in ("", recorded.get("version")):
        return core_from_json(recorded)
    if not setting:
        return _embedded(places, target)
    if is_project(setting):
        return _project(setting, places, target)
    return _release(setting, places, target, index, version=version)


def setting_with(hosted: HostedCore, extras: Iterable[str]) -> str:
    """Return the setting that chooses a core with some more extras; for the embedded core, that of the host."""
    core = hosted.core
    listed = f"[{','.join(sorted({*core.extras, *extras}))}]"
    if hosted.kind == "project":
        return f"{hosted.folder}{listed}"
    return f"{HOST_NAME if hosted.kind == 'embedded' else core.name}{listed}=={core.gate_version}"


def newer_versions(hosted: HostedCore, index: IndexClient) -> tuple[str, ...]:
    """Return the usable releases of a released core that are newer than it, the newest first.

    Raise `PmError` as `find_core` does.
    """
    from admission.universe import PackageSets
    from admission.versions import VersionSets, bits

    name = hosted.core.name
    if name not in index.facts.pages:
        index.fetch(Need(pages=(name,)))
    page = index.facts.pages[name]
    package = PackageSets(page, VersionSets(page.versions), opted_in=False, not_after="")
    newer = package.free & package.sets.select(f">{hosted.core.version}")
    return tuple(page.versions[position] for position in bits(newer))


def newer_cores(hosted: HostedCore, index: IndexClient, count: int, extras: Iterable[str] = ()) -> tuple[Core, ...]:
    """Return the newest releases of a released core that are newer than it and usable, the newest first.

    They have all of its extras, and some more as far as they have such. Raise `PmError` as `find_core` does.
    """
    return tuple(islice(_newer_cores(hosted, index, set(extras)), count))


def _newer_cores(hosted: HostedCore, index: IndexClient, extras: set[str]) -> Iterator[Core]:
    chosen = set(hosted.core.extras)
    for version in newer_versions(hosted, index):
        candidate = _known_candidate(hosted.core.name, version, index)
        if not candidate.invalid and chosen <= set(candidate.extras):
            yield _core_of(candidate, tuple(sorted(chosen | (extras & set(candidate.extras)))))


def keep_core(hosted: HostedCore, places: Places) -> None:
    """Copy the embedded core's wheel into the state, where its lock names it; for another core there is nothing to do.

    A newer manager carries another wheel, and `repair` still needs this one. Called before a build: finding a core
    writes nothing but the cache. Raise `PmError` (`hash-mismatch`) if it is neither kept nor the one of this manager,
    (`not-found-on-index`) if this installation has none, (`no-space`, `not-writable`).
    """
    from pm.host.embedded import embedded_core_wheel
    from pm.system.files import write_bytes

    pin = hosted.core.pin
    if hosted.kind != "embedded" or pin is None:
        return
    kept = wheel_in_state(places.wheels, pin.artifact.path)
    if kept.is_file() and sha256_of(kept) == pin.artifact.sha256:
        return
    content = embedded_core_wheel().read_bytes()
    if hashlib.sha256(content).hexdigest() != pin.artifact.sha256:
        raise PmError(
            "hash-mismatch",
            f"this generation's wheel of the embedded core, `{pin.artifact.filename}`, is not kept in `{kept.parent}`,"
            " and this version of the manager carries another one",
            hint="`hermes pm init` moves to the embedded core of this manager",
            file=str(kept),
        )
    write_bytes(kept, content, durable=True)


def paths_of_core(recorded: Mapping[str, Any]) -> tuple[Path, ...]:
    """Return the files and folders whose change can change a recorded core, there or not; of a release there are none.

    A project can name further files for what is `dynamic` in it.
    """
    from pm.host.embedded import embedded_core_wheel
    from pm.host.project_lock import LOCK_FILES

    if recorded.get("kind") == "embedded":
        return (embedded_core_wheel(),)
    if recorded.get("kind") != "project":
        return ()
    folder = Path(recorded["folder"])
    return tuple(folder / name for name in (PROJECT_FILE, *LOCK_FILES, "plugins"))


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
        "active": list(core.active),
        "offers": list(core.offers),
        "pin": sidecar.pin_to_json(core.pin) if core.pin is not None else None,
        "folder": hosted.folder,
        "notes": [list(note) for note in hosted.notes],
    }


def core_from_json(value: Mapping[str, Any]) -> HostedCore:
    """Return the core that `core_to_json` was given; raise `ValueError` for anything else."""
    try:
        return _from_json(value)
    except (TypeError, LookupError, AttributeError) as error:
        message = "this is not a core"
        raise ValueError(message) from error


def _from_json(value: Mapping[str, Any]) -> HostedCore:
    core = Core(
        name=value["name"],
        version=value["version"],
        requirements=tuple(map(requirement_from_json, value["requirements"])),
        requires_python=value["requires_python"],
        preferences=dict(zip(value["preferences"], texts([*value["preferences"].values()]), strict=True)),
        speaks=value["speaks"],
        pin=sidecar.pin_from_json(value["pin"]) if value["pin"] is not None else None,
        extras=texts(value["extras"]),
        active=texts(value.get("active", value["extras"])),
        offers=texts(value.get("offers", ())),
    )
    alike(core._replace(pin=None), Core("", ""))
    bundled = {key: declaration_from_json(row) for key, row in value["bundled"].items()}
    notes = tuple(map(problem_from_json, value.get("notes", ())))
    kind, setting, folder = texts([value["kind"], value["setting"], value.get("folder", "")])
    return HostedCore(core, kind, setting, bundled, folder, notes)


# -- the embedded core


def _still_holds(recorded: Mapping[str, Any], setting: str, target: Target) -> bool:
    """Return whether a recorded core answers for a setting."""
    same = (recorded.get("shape"), recorded.get("setting"), recorded.get("target")) == (_SHAPE, setting, target.name)
    kind = recorded.get("kind")
    return same and (kind == "release" or (kind == "embedded" and _is_current(recorded)))


def _is_current(recorded: Mapping[str, Any]) -> bool:
    """Return whether the recorded embedded core is the one that this manager carries."""
    from pm.host.embedded import embedded_core_wheel

    pin = sidecar.pin_from_json(recorded["pin"])
    return pin.artifact.sha256 == sha256_of(embedded_core_wheel())


def _embedded(places: Places, target: Target) -> HostedCore:
    from pm.host.embedded import embedded_core_wheel, spoken_version
    from pm.index.wheels import metadata_of_wheel
    from pm.plugins.bundled import read_bundled

    wheel = embedded_core_wheel()
    sha256 = sha256_of(wheel)
    artifact = Artifact(wheel.name, sha256, path=place_in_state(sha256, wheel.name), size=wheel.stat().st_size)
    name = wheel.name.split("-")[0].replace("_", "-")
    candidate = _read_candidate(metadata_of_wheel(wheel, name), artifact, target)
    bundled = read_bundled(wheel, Rules(frozenset({HOST_NAME, candidate.name}), cache_directory=places.cache / "read"))
    core = _core_of(candidate, (), speaks=spoken_version(wheel))
    return HostedCore(core, "embedded", "", bundled)


# -- a release


def _release(setting: str, places: Places, target: Target, index: IndexClient, *, version: str) -> HostedCore:
    from pm.plugins.bundled import read_bundled

    wanted = wanted_release(setting)
    version = _newest(wanted._replace(specifier=f"=={version}") if version else wanted, target, index)
    candidate = _known_candidate(wanted.name, version, index)
    if candidate.invalid:
        text = f"the metadata of {wanted.name} {version} cannot be read: {candidate.invalid}"
        raise PmError("invalid-declaration", text)
    unknown = sorted(set(wanted.extras) - set(candidate.extras))
    if unknown:
        raise LacksExtras(candidate, unknown)
    rules = Rules(frozenset({HOST_NAME, candidate.name}), cache_directory=places.cache / "read")
    bundled = read_bundled(index.download(wanted.name, version), rules)
    return HostedCore(_core_of(candidate, wanted.extras), "release", setting, bundled)


def _newest(wanted: Requirement, target: Target, index: IndexClient) -> str:
    """Return the version that a setting means: the newest, unless it names a pre-release no pre-release."""
    from packaging.specifiers import SpecifierSet

    from admission.universe import PackageSets, is_exact
    from admission.versions import VersionSets, newest

    if wanted.name not in index.facts.pages:
        index.fetch(Need(pages=(wanted.name,)))
    page = index.facts.pages[wanted.name]
    if not page.versions:
        hint = f"for the folder of that name, write `./{wanted.name}`" if Path(wanted.name).is_dir() else ""
        told = f"no index knows the core `{wanted.name}`"
        if not index.has_index_for(wanted.name):
            told = f"no index was asked for the core `{wanted.name}`, because each has `packages` and none has the name"
            hint = "add an index without `packages` to `pm.indexes`"
        raise PmError("not-found-on-index", told, hint=hint, key="pm.core")
    sets = VersionSets(page.versions)
    mask = sets.select(wanted.specifier)
    opted_in = bool(SpecifierSet(wanted.specifier).prereleases)
    package = PackageSets(page, sets, opted_in=opted_in, not_after="")
    usable = mask & package.free or (mask & package.conditional if is_exact(wanted.specifier) else 0)
    if not usable:
        raise _unusable(wanted, target, package, mask)
    return page.versions[newest(usable)]


def _unusable(wanted: Requirement, target: Target, package: "PackageSets", mask: int) -> PmError:
    """Return why none of the versions in a mask can be the core; it is judged by the newest of them."""
    from admission.versions import newest

    page, said = package.page, f"`{wanted.canonical}`"
    if not mask:
        text = f"no release of `{wanted.name}` satisfies {said}; the newest is {page.versions[-1]}"
        return PmError("no-matching-version", text, key="pm.core")
    position = newest(mask & ~package.prereleases or mask)
    version = page.versions[position]
    exclusion = page.excluded.get(position)
    if exclusion is None:
        text = f"what satisfies {said} is a pre-release, and it names none"
        return PmError("prerelease-only", text, hint=f"write `{wanted.name}=={version}`", key="pm.core")
    if exclusion.code == "python-version":
        text = f"{wanted.name} {version} needs Python `{exclusion.detail}`, the target has {target.python}"
        return CoreNeedsPython(text, exclusion.detail)
    hint = f"write `{wanted.name}=={version}` to take it all the same" if exclusion.code == "yanked-only" else ""
    text = f"{wanted.name} {version} cannot be used with {target.name}: {exclusion.detail or exclusion.code}"
    return PmError(exclusion.code, text, hint=hint, key="pm.core")


def _known_candidate(name: str, version: str, index: IndexClient) -> Candidate:
    candidate = index.facts.candidate(name, version)
    if candidate is None:
        candidate = index.fetch(Need(candidates=((name, version),))).candidate(name, version)
    if candidate is None:
        raise PmError("index-unreachable", f"the metadata of {name} {version} could not be read")
    return candidate


# -- a project's folder


def _project(setting: str, places: Places, target: Target) -> HostedCore:
    from pm.documents.parse_cache import remembered, stamp_of
    from pm.host import project_core
    from pm.plugins.bundled import read_bundled

    named = project_core.named_project(setting, places.root)
    fetch = project_core.project_files(named.folder)
    seen: dict[str, str] = {}

    def noting(name: str) -> Content:
        content = fetch(name)
        seen[name] = _content_digest(content)
        return content

    def read() -> HostedCore:
        core, notes = project_core.read_project_core(named.folder, named.extras, target, noting)
        return HostedCore(core, "project", setting, {}, str(named.folder), notes)

    hosted = remembered(
        places.cache / "read",
        stamp_of([repr((named, setting, target)).encode()]),
        read=read,
        encode=lambda hosted: [seen, core_to_json(hosted, target)],
        decode=lambda kept: _if_unchanged(kept, fetch),
    )
    rules = Rules(hosted.names, cache_directory=places.cache / "read")
    return hosted._replace(bundled=read_bundled(named.folder, rules))


def _if_unchanged(kept: object, fetch: Fetch) -> HostedCore:
    """Return a kept core if all files that were looked at for it are as they were; else raise `ValueError`."""
    if not isinstance(kept, list):
        raise TypeError(kept)
    seen, value = kept
    if any(_content_digest(fetch(name)) != digest for name, digest in seen.items()):
        raise ValueError(seen)
    return core_from_json(value)


def _content_digest(content: Content) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else repr(content).encode()).hexdigest()


# -- from metadata


def _read_candidate(metadata: bytes, artifact: Artifact, target: Target) -> Candidate:
    from pm.index.metadata import Judge, read_core_metadata

    named = read_core_metadata(metadata)
    name = canonical_name(named.name)
    return Judge(target).candidate(metadata, name=name, version=named.version, artifact=artifact, index="")


def _core_of(candidate: Candidate, extras: tuple[str, ...], *, speaks: str = "") -> Core:
    from pm.host.project_core import exact_pins, reached_extras

    # an extra may be written as other extras of the same distribution: these are no demands on a package
    own: dict[str, list[str]] = {}
    for edge in candidate.requires:
        if edge.name == candidate.name:
            own.setdefault(edge.extra, []).extend(edge.extras)
    reached = reached_extras(extras, own) & set(candidate.extras)
    edges = [edge for edge in candidate.requires if edge.name != candidate.name]
    return Core(
        name=candidate.name,
        version=candidate.version,
        requirements=tuple(_requirement(edge, candidate.name) for edge in edges if edge.extra in {"", *reached}),
        requires_python=candidate.requires_python,
        preferences=exact_pins((edge.name, edge.specifier) for edge in edges if edge.extra),
        speaks=speaks,
        pin=Pin(
            candidate.name,
            candidate.version,
            candidate.artifact,
            index=candidate.index,
            requires_python=candidate.requires_python,
            extras=tuple(sorted(reached)),
            owners=(Owner("core", candidate.name),),
        ),
        extras=tuple(sorted(extras)),
        active=tuple(sorted(reached)),
        offers=candidate.extras,
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
