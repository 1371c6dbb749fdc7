"""Read what a decision is about: the profiles and what they enable, the core, the target, the sources, the policy."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from admission import EVERY_PLUGIN, Policy, Problem, canonical_name, declaration_digest
from pm.config.profiles import CONFIG, Enabled, Profile, read_profiles
from pm.config.settings import Settings
from pm.errors import PmError
from pm.generations.inventory import Surroundings, reading_rules, take_inventory
from pm.generations.records import Member, Record, read_selected, recorded
from pm.host.core import CoreNeedsPython, HostedCore, find_core
from pm.host.core_setting import core_names
from pm.host.cutoff import instant_of
from pm.host.interpreter import Interpreter, default_interpreter, describe_interpreter, find_interpreter
from pm.index import IndexClient, IndexOptions, open_index
from pm.index.folders import wheel_in_state
from pm.index.package_sources import Sources, find_sources, index_address
from pm.names import canonical_key, same_key
from pm.places import Places
from pm.plugins.declaration_cache import Rules, read_declaration_cached
from pm.plugins.discovery import Found
from pm.verdict.union import Proposal, joined, member_of, proposal

NOTHING: Mapping[str, Any] = {}


class Options(NamedTuple):
    """What the operator says for one operation, beside what the settings say."""

    offline: bool = False
    refresh: bool = False
    """Whether pages are asked for again that were asked for minutes ago."""
    allow_build: tuple[str, ...] = ()
    allow_prerelease: tuple[str, ...] = ()
    allow_collision: tuple[str, ...] = ()
    allow_direct_urls: bool = False
    """Whether every plugin may name wheels by their addresses."""
    allow_direct_url: tuple[str, ...] = ()
    """Plugins that may."""
    exclude_newer: str | None = None
    core: str | None = None
    """Another core than `pm.core`; an empty text is the embedded one."""
    core_version: str = ""
    """Of a core that is a range of versions: the one that it means, in place of the newest."""
    python: str | None = None
    admits: bool = True
    """Whether what is found to hold together may run: then every setting about that must be one that is enforced."""
    anew: bool = False
    """Go on where the selected generation's record is lost: a new one is to be made."""
    project: Path | None = None
    """The folder that the operator works in: it may hold plugins of a project."""
    budget: int = 0
    """Rounds for the verdict; 0 for the usual number."""
    time_limit: float = 120.0
    """Seconds for the verdict, fetching included."""
    steps_seconds: float = 10.0
    """How long ways out of a refusal are tried."""


class ProfilePlugins(NamedTuple):
    """One profile with the plugins that are there for it."""

    profile: Profile
    found: tuple[Found, ...]
    """Empty for a profile whose config cannot be read."""
    enabled: Enabled

    @property
    def name(self) -> str:
        return self.profile.name


class Unfit(NamedTuple):
    """A plugin that is enabled and contributes nothing, because what it declares cannot be read."""

    found: Found
    profile: str


class State(NamedTuple):
    """Everything that an operation starts from; nothing in it changes while the operation runs."""

    places: Places
    options: Options
    settings: Settings
    record: Record | None
    profiles: tuple[ProfilePlugins, ...]
    hosted: HostedCore
    interpreter: Interpreter
    sources: Sources
    rules: Rules
    policy: Policy
    union: Proposal
    """Every enabled plugin of every profile."""
    unfit: tuple[Unfit, ...]
    unavailable: tuple[Problem, ...]
    """One for each enabled plugin that is not there, or cannot be read as it is now; what was admitted of it counts."""
    notes: tuple[Problem, ...]
    """What is odd about configs and profiles, and stops nothing; what is unavailable is among it."""

    @property
    def here(self) -> ProfilePlugins:
        """The profile that the operation is about."""
        return next(profile for profile in self.profiles if profile.name == self.places.profile)

    @property
    def pins(self) -> dict[str, str]:
        """The versions of the selected lock, kept wherever they fit."""
        return self.record.lock.versions() if self.record is not None else {}

    @property
    def recorded(self) -> tuple[Member, ...]:
        """The members of the selected generation."""
        return self.record.members if self.record is not None else ()

    @property
    def members(self) -> tuple[Member, ...]:
        """The members of the union: once for each folder, sorted by key."""
        return self.union.members

    @property
    def python(self) -> str:
        """`pm.python`, as the operator says it for this operation or as it is set."""
        return self.settings.python if self.options.python is None else self.options.python


@contextmanager
def read_state(
    places: Places, environ: Mapping[str, str], options: Options, index_options: IndexOptions | None = None
) -> Iterator[tuple[State, IndexClient]]:
    """Read what an operation starts from, and open the index; it is closed afterwards.

    Raise `PmError` for a config of this profile or of the root that cannot be read, a core that is not found, an
    interpreter that is missing, a setting that nothing enforces, and for everything that can go wrong with an index.
    """
    record, lost = _selected(places, options)
    read_cache = places.cache / "read"
    profiles = read_profiles(places.root, read_cache)
    if lost or (record is None and recorded(places)):
        _all_readable(profiles)
    settings = _settings(profiles)
    if options.admits:
        _enforced(settings, places)
    _readable(profiles, places)
    sources = sources_of(settings, places, environ)
    core_setting = settings.core if options.core is None else options.core
    python = settings.python if options.python is None else options.python
    index_options = (index_options or IndexOptions())._replace(
        offline=options.offline,
        refresh=options.refresh,
        allow_build=_consented(settings, record, options).build,
        own_builds=own_builds(places, record),
    )
    try:
        interpreter, hosted, index = _host(
            places, core_setting, python, _Means(sources, index_options, record, options.core_version)
        )
    except PmError as error:
        if error.key == "pm.core" and options.core is not None:
            error.key = "--core"
        else:  # no word of the command is wrong
            error.word = ("", "")
        raise
    try:
        policy = _policy(settings, record, options, sources)
        rules = reading_rules(places, core_names(core_setting) | hosted.names)
        surroundings = Surroundings(hosted.bundled, rules, environ, options.project)
        inhabited = tuple(_inhabited(profile, surroundings) for profile in profiles)
        enabled = _union(inhabited, record, rules)
        state = State(
            places=places,
            options=options,
            settings=settings,
            record=record,
            profiles=inhabited,
            hosted=hosted,
            interpreter=interpreter,
            sources=sources,
            rules=rules,
            policy=policy,
            union=proposal(enabled.members, hosted, interpreter, policy),
            unfit=enabled.unfit,
            unavailable=enabled.unavailable,
            notes=(*lost, *(note for profile in profiles for note in profile.notes), *enabled.notes),
        )
        yield state, index
    finally:
        index.close()


# -- the record, settings, consents, sources


def _selected(places: Places, options: Options) -> tuple[Record | None, tuple[Problem, ...]]:
    """Return the selected generation's record, else where it may be missing what is wrong with it."""
    try:
        return read_selected(places), ()
    except PmError as error:
        if not options.anew or error.code != "drift":  # what another user keeps unreadable is not lost
            raise
        message = f"what was admitted before is not known, so everything is checked again: {error.message}"
        return None, (Problem("record-lost", message, error.file),)


def _all_readable(profiles: Iterable[Profile]) -> None:
    """Raise what is wrong with a profile's config: without a record its last plugins are not known."""
    for profile in profiles:
        if profile.error is not None:
            raise profile.error


def own_builds(places: Places, record: Record | None) -> dict[tuple[str, str], Path]:
    """Return the wheels of the selected lock that were built here with consent, by name and version."""
    if record is None:
        return {}
    consented = record.consents.get("allow_build", ())
    pins = (pin for pin in record.lock.pins if pin.artifact.path and pin.name in consented)
    return {(pin.name, pin.version): wheel_in_state(places.wheels, pin.artifact.path) for pin in pins}


class _Consents(NamedTuple):
    build: frozenset[str]
    prerelease: frozenset[str]
    collision: frozenset[str]
    direct_urls: frozenset[str]


def _settings(profiles: Iterable[Profile]) -> Settings:
    """Return the settings of the root's config, which serves all profiles."""
    root = next(iter(profiles))
    if root.selection is None:
        raise root.error or PmError("config-unreadable", "the root's config cannot be read")
    return root.selection.settings


def _enforced(settings: Settings, places: Places) -> None:
    """Raise for a setting that this version reads and does not act on: what it should prevent would be admitted."""
    if settings.audit != "off":
        what = f"`pm.audit: {settings.audit}` has no effect in this version, so nothing is admitted while it is set"
        hint = "set `pm.audit: off`, or remove the line, and look for advisories with another tool"
        raise PmError("setting-not-enforced", what, file=str(places.root / CONFIG), key="pm.audit", hint=hint)


def _readable(profiles: Iterable[Profile], places: Places) -> None:
    """Raise what is wrong with the config of the profile that was asked for, and for a profile that is not there."""
    for profile in profiles:
        if profile.name == places.profile:
            if profile.error is not None:
                raise profile.error
            return
    text = f"there is no profile `{places.profile}`: `{places.home}` does not exist"
    raise PmError("not-writable", text, file=str(places.home), hint="make the folder first")


def _consented(settings: Settings, record: Record | None, options: Options) -> _Consents:
    """Return what the operator allows: by the settings, when what runs now was admitted, and for this operation."""
    kept: Mapping[str, Any] = record.consents if record is not None else NOTHING
    return _Consents(
        build=_names(settings.allow_build, kept.get("allow_build", ()), options.allow_build),
        prerelease=_names(settings.allow_prerelease, kept.get("allow_prerelease", ()), options.allow_prerelease),
        collision=_names(settings.allow_collision, kept.get("allow_collision", ()), options.allow_collision),
        direct_urls=frozenset(
            (
                *settings.allow_direct_urls,
                *addressing(kept),
                *map(canonical_key, options.allow_direct_url),
                *((EVERY_PLUGIN,) if options.allow_direct_urls else ()),
            )
        ),
    )


def addressing(consents: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the plugins that may name addresses, as a record keeps it: once it was one yes for all of them."""
    allowed = consents.get("allow_direct_urls", ())
    if isinstance(allowed, bool):
        return (EVERY_PLUGIN,) if allowed else ()
    return tuple(allowed)


def _names(*lists: Iterable[str]) -> frozenset[str]:
    return frozenset(canonical_name(name) for names in lists for name in names)


def _policy(settings: Settings, record: Record | None, options: Options, sources: Sources) -> Policy:
    consents = _consented(settings, record, options)
    exclude_newer = settings.exclude_newer if options.exclude_newer is None else options.exclude_newer
    not_after = instant_of(exclude_newer, datetime.now(UTC))
    return Policy(
        allow_prerelease=tuple(sorted(consents.prerelease)),
        allow_build=tuple(sorted(consents.build)),
        allow_collision=tuple(sorted(consents.collision)),
        allow_direct_urls=tuple(sorted(consents.direct_urls)),
        exclude_newer=exclude_newer if not_after else "",
        not_after=not_after,
        indexes=sources.addresses,
    )


def sources_of(settings: Settings, places: Places, environ: Mapping[str, str]) -> Sources:
    """Return where distributions come from: the settings of the root, else what uv or pip know."""
    indexes = None
    if settings.indexes is not None:
        # the default one answers for what no other knows, so it comes last
        ordered = sorted(settings.indexes, key=lambda index: index.default)
        indexes = [index_address(index.url, index.name, index.packages) for index in ordered]
    return find_sources(places.cache, environ, indexes=indexes, find_links=settings.find_links or None)


# -- the core and the interpreter, each of which has a say about the other


class _Means(NamedTuple):
    sources: Sources
    index_options: IndexOptions
    record: Record | None
    core_version: str


def _host(places: Places, core_setting: str, python: str, means: _Means) -> tuple[Interpreter, HostedCore, IndexClient]:
    """Find the core for an interpreter; where it does not admit that one, find another and the core again."""
    interpreter = _first_interpreter(places, core_setting, python, means.record)
    recorded = means.record.core if means.record is not None else NOTHING
    while True:
        index_options = means.index_options._replace(interpreter=interpreter.path)
        index = open_index(places.cache, interpreter.target, means.sources, index_options)
        try:
            hosted = find_core(
                core_setting, places, interpreter.target, index, recorded=recorded, version=means.core_version
            )
            other = None if python or _admits(hosted, interpreter) else _another(hosted.core.requires_python, places)
        except CoreNeedsPython as error:
            index.close()
            if python:
                raise
            other = _another(error.requires_python, places)
            if other.path == interpreter.path:
                raise
        except BaseException:
            index.close()
            raise
        else:
            if other is None or other.path == interpreter.path:
                return interpreter, hosted, index
            index.close()
        interpreter = other


def _another(requires_python: str, places: Places) -> Interpreter:
    """Return the newest installed interpreter that the core admits."""
    return find_interpreter("", requires_python, places.cache)


def _first_interpreter(places: Places, core_setting: str, python: str, record: Record | None) -> Interpreter:
    same = record is not None and (record.core.get("setting"), record.python) == (core_setting, python)
    if record is not None and same and Path(record.interpreter).exists():
        return describe_interpreter(Path(record.interpreter), places.cache)
    if python:
        return find_interpreter(python, "", places.cache)
    return describe_interpreter(default_interpreter(), places.cache)


def _admits(hosted: HostedCore, interpreter: Interpreter) -> bool:
    from packaging.specifiers import SpecifierSet

    asked = hosted.core.requires_python
    return not asked or SpecifierSet(asked).contains(interpreter.target.python, prereleases=True)


# -- the union


def _inhabited(profile: Profile, surroundings: Surroundings) -> ProfilePlugins:
    if profile.selection is None:
        return ProfilePlugins(profile, (), Enabled((), ()))
    return ProfilePlugins(profile, *take_inventory(profile.home, profile.selection, surroundings))


class _Union(NamedTuple):
    """What the profiles enable; each field as `State` has it."""

    members: tuple[Member, ...]
    unfit: tuple[Unfit, ...]
    unavailable: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def _union(profiles: Sequence[ProfilePlugins], record: Record | None, rules: Rules) -> _Union:
    members: list[Member] = []
    unfit: list[Unfit] = []
    unavailable: list[Problem] = []
    notes: list[Problem] = []
    for inhabited in profiles:
        if inhabited.profile.selection is None:
            members += _last_selection(inhabited.name, record)
            notes.append(_unreadable(inhabited, record))
            continue
        notes += inhabited.enabled.warnings
        for found in inhabited.enabled.members:
            last = _last_admitted(found.key, inhabited.name, record, folder=str(found.folder or ""))
            if found.declaration.fit:
                members.append(member_of(found, (inhabited.name,), last.enabled_since if last else ""))
            elif last is not None:
                members.append(last._replace(profiles=(inhabited.name,)))
                unavailable.append(_became_invalid(found))
                notes.append(unavailable[-1])
            else:
                unfit.append(Unfit(found, inhabited.name))
        absent, missing = _absent(inhabited, record, rules)
        members += absent
        unavailable += missing
        notes += missing
    notes += _gone(profiles, record)
    return _Union(joined(members), tuple(unfit), tuple(unavailable), tuple(notes))


def _last_admitted(key: str, profile: str, record: Record | None, *, folder: str = "") -> Member | None:
    """Return a member as it was admitted: by its key, or by its folder, whose broken manifest may tell no name now."""
    recorded = record.members if record is not None else ()
    alike = [member for member in recorded if same_key(member.key, key)]
    alike = alike or [member for member in recorded if folder and member.root == folder]
    return next((member for member in alike if profile in member.profiles), alike[0] if alike else None)


def _last_selection(profile: str, record: Record | None) -> list[Member]:
    recorded = record.members if record is not None else ()
    return [member._replace(profiles=(profile,)) for member in recorded if profile in member.profiles]


def _absent(inhabited: ProfilePlugins, record: Record | None, rules: Rules) -> tuple[list[Member], list[Problem]]:
    """Return what the config enables and is not there, as it was last admitted."""
    members: list[Member] = []
    notes: list[Problem] = []
    for written in inhabited.enabled.missing:
        last = _last_admitted(written, inhabited.name, record)
        if last is not None and inhabited.name in last.profiles:
            members.append(_elsewhere(last, rules)._replace(profiles=(inhabited.name,)))
            if last.source == "project" and Path(last.root).is_dir():
                continue
        where = f" (it was in `{last.root}`)" if last is not None and last.root else ""
        message = f"`{written}` is enabled in the profile `{inhabited.name}` and does not exist{where}"
        hint = f"put it back, or `hermes plugins remove {written}`"
        if record is not None and last is not None and last.tree_digest and inhabited.name in last.profiles:
            hint = (
                f"`hermes pm rollback {record.generation}` puts it back, `hermes plugins remove {written}` removes it"
            )
        notes.append(Problem("plugin-missing", message, "config.yaml", key="plugins.enabled", hint=hint))
    return members, notes


def _elsewhere(last: Member, rules: Rules) -> Member:
    """Read a project's plugin where it was recorded: the operator may work in another folder now."""
    if last.source != "project" or not Path(last.root).is_dir():
        return last
    declaration = read_declaration_cached(Path(last.root), rules, key=last.key)
    if not declaration.fit:
        return last
    return last._replace(declaration=declaration, digest=declaration_digest(declaration))


def _unreadable(inhabited: ProfilePlugins, record: Record | None) -> Problem:
    error = inhabited.profile.error
    said = error.message if error is not None else "it cannot be read"
    counting = "its last admitted plugins count" if record is not None else "none of its plugins counts"
    message = f"the config of the profile `{inhabited.name}` cannot be read, so {counting}: {said}"
    line = error.line if error is not None else 0
    return Problem("profile-unreadable", message, str(inhabited.profile.home / "config.yaml"), line)


def _became_invalid(found: Found) -> Problem:
    problem = found.declaration.problems[0]
    message = f"`{found.key}` cannot be read any more, so its last admitted declaration counts: {problem.message}"
    return Problem("declaration-invalid", message, problem.file, problem.line, problem.column, problem.key)


def _gone(profiles: Iterable[ProfilePlugins], record: Record | None) -> Iterator[Problem]:
    """Name the profiles whose folders are gone: they leave the union."""
    here = {inhabited.name for inhabited in profiles}
    leaving: dict[str, list[str]] = {}
    for member in record.members if record is not None else ():
        for name in member.profiles:
            if name not in here:
                leaving.setdefault(name, []).append(f"`{member.key}`")
    for name, keys in sorted(leaving.items()):
        message = f"the profile `{name}` is gone, and with it {', '.join(keys)}"
        yield Problem("profile-gone", message)
