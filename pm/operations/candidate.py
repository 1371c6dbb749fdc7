"""The plugin of a source as it would be found in its place: read, described, and refused where it could not be put."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from admission import Reason, Refused
from pm.documents.files import SOURCE_FILE
from pm.errors import PmError
from pm.generations.records import Member
from pm.names import is_key, same_key, shown
from pm.operations.receipt_rows import plugin_of
from pm.operations.run import OperationRun
from pm.plugins.declaration_cache import read_declaration_cached
from pm.plugins.discovery import Found, ranked
from pm.plugins.providers import is_memory_provider
from pm.sources.stage import Staged
from pm.verdict.state import State
from pm.verdict.union import member_of


class CandidatePlugin(NamedTuple):
    """The plugin that is judged."""

    key: str
    found: Found
    """As it will be found in its place."""
    staged: Staged
    place: Path
    old: Found | None
    """The copy of this key that is installed already."""
    member: Member
    """As a member of the union, for the profile that the operation is about."""
    misplaced: Refused | None = None
    """Why it cannot be put in its place, whatever it requires."""


def announced_source(run: OperationRun, taken: Staged, state: State) -> CandidatePlugin:
    """Read a staged plugin, and say in the receipt which one is judged.

    Raise `PmError` (`invalid-source`) if what was named is no plugin.
    """
    candidate = _candidate(taken, state)
    run.is_about(plugin_of(candidate.member)._replace(source=taken.source))
    for note in candidate.found.declaration.notes:
        run.note(note, owner=candidate.key)
    return candidate


def _candidate(taken: Staged, state: State) -> CandidatePlugin:
    declaration = read_declaration_cached(taken.folder, state.rules)
    if not declaration.declared and declaration.fit and not (taken.folder / SOURCE_FILE).exists():
        text = f"{shown(taken.source.location)} holds no plugin: neither a declaration nor an `{SOURCE_FILE}`"
        raise PmError("invalid-source", text, hint="name the folder that holds its `plugin.yaml`")
    key = declaration.key
    old = next((found for found in state.here.found if in_place_of(found, key)), None)
    place = state.places.home / "plugins" / (key if is_key(key) else taken.folder.name)
    if old is not None and old.folder is not None:
        place = old.folder
    new = Found(key, "user", declaration, place, is_memory_provider(taken.folder, key, declaration.kind))
    others = [found._replace(hidden_by="") for found in state.here.found if not in_place_of(found, key)]
    found = next(copy for copy in tuple(ranked([*others, new])) if copy.folder == place and copy.source == "user")
    member = member_of(found, (state.places.profile,))
    in_the_way = "" if old is not None else _in_the_way(place, state.here.found)
    return CandidatePlugin(key, found, taken, place, old, member, _misplaced(found, in_the_way))


def _misplaced(found: Found, in_the_way: str) -> Refused | None:
    """Refuse a plugin that another copy would always hide, or whose place something has that cannot make room."""
    if found.hidden_by:
        message = (
            f"a memory provider `{found.key}` is among the {found.hidden_by} plugins,"
            " and that copy would always be used instead"
        )
        return Refused((Reason("name-taken", message, hint="give it another `name`"),))
    if not in_the_way:
        return None
    hint = "give it another `name`, or move away what is there"
    return Refused((Reason("name-taken", in_the_way, hint=hint),))


def _in_the_way(place: Path, found: Iterable[Found]) -> str:
    folders = {copy.folder: copy.key for copy in found if copy.folder is not None}
    inside = ", ".join(f"`{key}`" for folder, key in folders.items() if folder.parent == place)
    if inside:
        return f"`{place}` is the folder of {inside}"
    if place.parent in folders:
        return f"`{place}` would lie inside of the plugin `{folders[place.parent]}`"
    return f"`{place}` is a file" if os.path.lexists(place) and not place.is_dir() else ""


def in_place_of(found: Found, key: str) -> bool:
    """Say whether a copy lies where a plugin of this key would be put."""
    return found.source == "user" and same_key(found.key, key)
