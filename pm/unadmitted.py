"""Say which plugins the config of a profile enables that the selected generation was not made for.

Whoever starts a command asks this each time, so the answer is kept together with the state of every file that it rests
on. As long as all of them are as they were, the standard library is enough.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pm.atomic import read_json, write_json
from pm.errors import PmError
from pm.places import Places
from pm.pointer import Pointer
from pm.quick import inputs, stamps

if TYPE_CHECKING:
    from pm.reading.discovery import Found
    from pm.reading.settings import Selection, Settings
    from pm.selection import Enabled

_SCHEMA = 1
_CONFIG = "config.yaml"
_NOT_FOUND = "not found"
_PROJECT_SWITCH = "HERMES_ENABLE_PROJECT_PLUGINS"


class Unadmitted(NamedTuple):
    """What is enabled and not admitted, in words for the operator."""

    message: str = ""
    """Empty if everything that is enabled was admitted as it is now."""
    step: str = ""
    """What admits it."""
    stops: bool = False
    """Whether `pm.on_unadmitted` says that nothing may start then."""
    note: str = ""
    """Why the question could not be answered; then nothing else is said."""


def unadmitted(places: Places, pointer: Pointer, environ: Mapping[str, str]) -> Unadmitted:
    """Compare the profile's config and its plugins with the selected generation; nothing is resolved or decided."""
    if not _has_working_directory():
        return _read(places, pointer, environ)[0]
    file = places.cache / "starts" / f"{places.profile}.json"
    key = [_SCHEMA, str(places.home), environ.get(_PROJECT_SWITCH, "")]
    paths = inputs(str(places.home), [__file__])
    stamped = stamps(paths)
    kept = read_json(file)
    if isinstance(kept, dict) and (kept.get("key"), kept.get("paths"), kept.get("stamps")) == (key, paths, stamped):
        message, step, stops = kept["answer"]
        return Unadmitted(message, step, stops)
    answer, lasting = _read(places, pointer, environ)
    if lasting:
        value = {"key": key, "paths": paths, "stamps": stamped, "answer": answer[:3]}
        with suppress(PmError):  # a cache that cannot be written costs time and nothing else
            write_json(file, value, mode=0o600)
    return answer


def _has_working_directory() -> bool:
    """Say whether the folder that the operator works in is still there: it may hold plugins of a project."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


# -- by reading


def _read(places: Places, pointer: Pointer, environ: Mapping[str, str]) -> tuple[Unadmitted, bool]:
    """Return the answer, and whether it holds as long as the usual files of plugins stay as they are."""
    from pm.redaction import redact
    from pm.selection import read_selection

    cache = places.cache / "read"
    try:
        selection = read_selection(places.home, cache)
        settings = read_selection(places.root, cache).settings
        enabled = _enabled(selection, settings, _Surroundings(places, pointer, environ))
    except PmError as error:
        note = f"{_place(error)}{error.message}; whether everything enabled was admitted is not known"
        return Unadmitted(note=redact(note)), False
    differing = [*_differing(enabled.members, pointer), *_absent(enabled.missing, places, pointer)]
    answer = _answer(differing, places, pointer)
    stops = bool(differing) and settings.on_unadmitted == "stop"
    return answer._replace(stops=stops), not any(map(_names_further_files, enabled.members))


class _Surroundings(NamedTuple):
    places: Places
    pointer: Pointer
    environ: Mapping[str, str]


def _enabled(selection: "Selection", settings: "Settings", around: _Surroundings) -> "Enabled":
    """Return the plugins that a selection enables, found by the rules that the manager's operations use.

    Raise `PmError` (`drift`) for a record that cannot be read, and whatever finding plugins raises.
    """
    from pm.cores import core_from_json, core_names
    from pm.reading.discovery import find_plugins
    from pm.reading.stored import Rules
    from pm.records import read_record
    from pm.selection import Enabled, enabled_plugins

    if not (selection.enabled or selection.memory_provider or selection.context_engine):
        return Enabled((), ())
    places = around.places
    record = read_record(places, around.pointer.generation)
    try:
        hosted = core_from_json(record.core)
    except (TypeError, ValueError, LookupError) as error:
        text = f"the core of generation {record.generation} cannot be read"
        raise PmError("drift", text, file=str(places.record(record.generation))) from error
    direct_urls = settings.allow_direct_urls or bool(record.consents.get("allow_direct_urls"))
    rules = Rules(core_names(settings.core) | hosted.names, direct_urls, places.cache / "read")
    project = Path.cwd() if _has_working_directory() else None
    found = find_plugins(places.home, hosted.bundled, around.environ, rules, project=project)
    return enabled_plugins(selection, found)


def _differing(members: "Iterable[Found]", pointer: Pointer) -> Iterator[tuple[str, str]]:
    """Yield the plugins that were not admitted as they are now, each with what is odd about it."""
    from admission import declaration_digest
    from pm.names import same_key

    for found in members:
        digests = {row.declaration_digest for row in pointer.admitted if same_key(row.key, found.key)}
        if declaration_digest(found.declaration) not in digests:
            yield found.key, "changed since it was admitted" if digests else ""


def _absent(missing: Iterable[str], places: Places, pointer: Pointer) -> Iterator[tuple[str, str]]:
    """Yield what nobody found and nobody admitted: a core may know more sources of plugins than the manager reads."""
    from pm.names import canonical_key, leaf

    here = [row.key for row in pointer.admitted if places.profile in row.profiles]
    known = {canonical_key(name) for key in here for name in (key, leaf(key))}
    for written in missing:
        if canonical_key(written) not in known:
            yield written, _NOT_FOUND


def _names_further_files(found: "Found") -> bool:
    """Say whether a project may keep its requirements in files of its own, of whose changes nothing would be seen."""
    if found.folder is None:
        return False
    try:
        return b"dynamic" in (found.folder / "pyproject.toml").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _answer(differing: Sequence[tuple[str, str]], places: Places, pointer: Pointer) -> Unadmitted:
    from pm.names import is_key, shown

    if not differing:
        return Unadmitted()
    listed = ", ".join(f"{shown(name)} ({why})" if why else shown(name) for name, why in differing)
    message = f"enabled in `{places.home / _CONFIG}` and not part of generation {pointer.generation}: {listed}"
    there = [name for name, why in differing if why != _NOT_FOUND]
    names = there or [name for name, _ in differing]
    word = names[0] if len(names) == 1 and is_key(names[0]) else "NAME"
    one = "it" if len(names) == 1 else "one of them"
    enable, remove = (
        f"`hermes plugins enable {word}` admits {one}",
        f"put {one} back, or `hermes plugins remove {word}`",
    )
    return Unadmitted(message, enable if there else remove)


def _place(error: PmError) -> str:
    if not error.file:
        return ""
    return f"`{error.file}`:{error.line}: " if error.line else f"`{error.file}`: "
