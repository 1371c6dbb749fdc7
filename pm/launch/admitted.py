"""Compare what is enabled, and what was admitted, with the selected generation as it is now.

Each start of a command asks this, so the answer is kept together with the state of every file that it rests
on. As long as all of them are as they were, the standard library is enough.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pm.errors import PmError
from pm.generations.pointer import AdmittedMember, Pointer
from pm.limits import DECLARATION_BYTES
from pm.places import Places
from pm.system.files import read_json, read_regular, write_json
from pm.system.stamps import code_stamps, inputs, plugin_files, stamps

if TYPE_CHECKING:
    from pm.config.settings import Selection
    from pm.plugins.declaration_cache import Rules
    from pm.plugins.discovery import Found

_SCHEMA = 2
_CONFIG = "config.yaml"
_NOT_FOUND = "not found"
_GONE = "its folder is gone"
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
    standing: Mapping[str, Sequence[str]] | None = None
    """Profile → the folders that declare what was admitted, and keys of the core's own plugins; `None` if not known."""


def unadmitted(places: Places, pointer: Pointer, environ: Mapping[str, str]) -> Unadmitted:
    """Compare the profile's config and its plugins with the selected generation; nothing is resolved or decided."""
    if not _has_working_directory():
        return _read(places, pointer, environ)[0]
    file = places.cache / "starts" / f"{places.profile}.json"
    key = [_SCHEMA, str(places.home), environ.get(_PROJECT_SWITCH, ""), pointer.generation, code_stamps()]
    paths = inputs(str(places.home), [str(places.record(pointer.generation)), *_elsewhere(places, pointer)])
    stamped = stamps(paths)
    kept = read_json(file)
    if isinstance(kept, dict) and (kept.get("key"), kept.get("paths"), kept.get("stamps")) == (key, paths, stamped):
        known = _kept_answer(kept.get("answer"))
        if known is not None:
            return known
    answer, lasting = _read(places, pointer, environ)
    if lasting:
        value = {"key": key, "paths": paths, "stamps": stamped, "answer": answer._asdict()}
        with suppress(PmError):  # a cache that cannot be written costs time and nothing else
            write_json(file, value, mode=0o600)
    return answer


def _kept_answer(value: object) -> Unadmitted | None:
    """Return an answer as it was kept; `None` for one that a hand has damaged: then it is found out anew."""
    if not isinstance(value, dict) or value.keys() != set(Unadmitted._fields):
        return None
    answer = Unadmitted(**value)
    texts = (answer.message, answer.step, answer.note)
    standing = answer.standing is None or isinstance(answer.standing, dict)
    return answer if standing and all(isinstance(text, str) for text in texts) else None


def _elsewhere(places: Places, pointer: Pointer) -> Iterator[str]:
    """Yield the files of admitted plugins that lie outside of every home: those of projects."""
    parents = {os.path.dirname(row.root) for row in pointer.admitted if row.root}  # noqa: PTH120 - `Path` is slower
    for parent in sorted(parents):
        if not parent.startswith(f"{places.root}/"):
            yield from plugin_files(parent)


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
    from pm.config.profiles import Enabled, read_own_selection, read_selection
    from pm.generations.inventory import recorded_surroundings, take_inventory
    from pm.generations.records import read_record
    from pm.redaction import redact

    cache = places.cache / "read"
    try:
        selection = read_selection(places.home, cache)
        settings = read_own_selection(places.root, cache).settings
        if not (_selects(selection) or pointer.admitted):
            return Unadmitted(standing={}), True
        record = read_record(places, pointer.generation)
        project = Path.cwd() if _has_working_directory() else None
        surroundings = recorded_surroundings(places, settings, record, environ=environ, project=project)
        enabled = (
            take_inventory(places.home, selection, surroundings).enabled if _selects(selection) else Enabled((), ())
        )
        standing = _standing(pointer, surroundings.rules)
    except PmError as error:
        unknown = "whether everything enabled was admitted is not known"
        note = "; ".join(part for part in (f"{_place(error)}{error.message}", unknown, error.hint) if part)
        return Unadmitted(note=redact(note)), False
    differing = [*_differing(enabled.members, places, pointer), *_absent(enabled.missing, places, pointer)]
    answer = _answer(differing, places, pointer)
    stops = bool(differing) and settings.on_unadmitted == "stop"
    folders = {*(found.folder for found in enabled.members), *(Path(row.root) for row in pointer.admitted if row.root)}
    return answer._replace(stops=stops, standing=standing), not any(map(_names_further_files, folders))


def _selects(selection: "Selection") -> bool:
    return bool(selection.enabled or selection.memory_provider or selection.context_engine)


def _standing(pointer: Pointer, rules: "Rules") -> dict[str, list[str]]:
    """Return what of that which was admitted declares the same now, by profile.

    What a plugin of the core declares lies inside of the environment, or of the project that the core is.
    """
    standing: dict[str, list[str]] = {}
    for row in pointer.admitted:
        if not row.root or _declares_the_same(row, rules):
            for profile in row.profiles:
                standing.setdefault(profile, []).append(row.root or row.key)
    return standing


def _declares_the_same(row: AdmittedMember, rules: "Rules") -> bool:
    from admission import declaration_digest
    from pm.plugins.declaration_cache import read_declaration_cached

    # without a category a plugin is called by its files, as it was when it was found
    key = row.key if "/" in row.key else None
    return declaration_digest(read_declaration_cached(Path(row.root), rules, key=key)) == row.digest


def _differing(members: "Iterable[Found]", places: Places, pointer: Pointer) -> Iterator[tuple[str, str]]:
    """Yield the plugins that were not admitted as they are now, each with what is odd about it."""
    from admission import declaration_digest
    from pm.generations.admitted import is_admitted, rows_of, was_decided_on

    for found in members:
        key, digest = found.key, declaration_digest(found.declaration)
        rows = rows_of(pointer.admitted, key, places.profile)
        if not was_decided_on(rows, key, digest):
            yield key, "changed since it was admitted" if rows else ""
        elif not is_admitted(rows, key, digest, root=str(found.folder or ""), profiles=(places.profile,)):
            yield key, "another copy than the one that was admitted"


def _absent(missing: Iterable[str], places: Places, pointer: Pointer) -> Iterator[tuple[str, str]]:
    """Yield what was not found, and was not admitted or had a folder: a core may know more sources than the manager."""
    from pm.names import canonical_key, leaf

    here = [row for row in pointer.admitted if places.profile in row.profiles]
    known = {canonical_key(name): row for row in here for name in (row.key, leaf(row.key))}
    for written in missing:
        row = known.get(canonical_key(written))
        if row is None or row.root:
            yield written, _NOT_FOUND if row is None else _GONE


def _names_further_files(folder: Path | None) -> bool:
    """Say whether a project may keep its requirements in files of its own, of whose changes nothing would be seen."""
    if folder is None:
        return False
    try:
        return b"dynamic" in read_regular(folder / "pyproject.toml", DECLARATION_BYTES)
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
    if all(why == _GONE for _, why in differing):
        message = f"enabled in `{places.home / _CONFIG}` and not there: {listed}"
        return Unadmitted(message, f"`hermes pm rollback {pointer.generation}` puts the files back")
    there = [name for name, why in differing if why not in (_NOT_FOUND, _GONE)]
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
