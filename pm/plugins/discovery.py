"""Find the plugins of a home: whose folder wins when one key exists more than once, and which copies it hides."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from admission import Declaration
from pm.documents.files import DECLARATION_FILES, SOURCE_FILE
from pm.errors import PmError
from pm.names import canonical_key, is_key, leaf, may_be_plugin, shown
from pm.plugins.declaration_cache import Rules, read_declaration_cached
from pm.plugins.providers import is_memory_provider
from pm.system.files import leads_nowhere

PROJECT_SWITCH = "HERMES_ENABLE_PROJECT_PLUGINS"
_PLUGIN_FILES = (*DECLARATION_FILES, SOURCE_FILE)
# The first source wins among memory providers; among other plugins a later one overrides.
_SOURCES = ("bundled", "user", "project")


class Found(NamedTuple):
    """One copy of a plugin."""

    key: str
    source: str
    """`bundled`, `user` or `project`."""
    declaration: Declaration
    folder: Path | None = None
    """`None` for a bundled plugin, which lies inside of the core's wheel."""
    memory_provider: bool = False
    hidden_by: str = ""
    """Source of the copy that is used instead of this one; empty when this is the one."""

    @property
    def names(self) -> tuple[str, ...]:
        """What people call it: its key, the key's last segment, its manifest's name, its folder's name."""
        folder = self.folder.name if self.folder is not None else ""
        names = (self.key, leaf(self.key), self.declaration.name, folder)
        return tuple(dict.fromkeys(name for name in names if name))

    def lies_at(self, root: str) -> bool:
        """Say whether this is the copy in a folder; empty means inside of the core."""
        return is_same_folder(str(self.folder or ""), root)


def find_plugins(
    home: Path,
    bundled: Mapping[str, Declaration],
    environ: Mapping[str, str],
    rules: Rules,
    *,
    project: Path | None = None,
) -> tuple[Found, ...]:
    """Return every copy of every plugin, sorted by key; of each key one copy is not hidden.

    `bundled` are the core's own (`read_bundled`). Plugins of the folder `project` (`.hermes/plugins` in it) count only
    with `HERMES_ENABLE_PROJECT_PLUGINS=1`. A folder whose name cannot be a key is found under its manifest's name.
    """
    copies = [
        Found(key, "bundled", declaration, None, is_memory_provider(None, declaration.key, declaration.kind))
        for key, declaration in bundled.items()
    ]
    roots = [("user", home / "plugins")]
    if project is not None and environ.get(PROJECT_SWITCH, "").strip().lower() in {"1", "true", "yes", "on"}:
        roots.append(("project", project / ".hermes" / "plugins"))
    for source, root in roots:
        for folder, category in plugin_folders(root):
            declaration = read_declaration_cached(folder, rules, key=_key(folder, category, rules))
            provides = is_memory_provider(folder, declaration.key, declaration.kind)
            copies.append(Found(declaration.key, source, declaration, folder, provides))
    return tuple(sorted(ranked(copies), key=lambda found: (canonical_key(found.key), _SOURCES.index(found.source))))


def _key(folder: Path, category: str, rules: Rules) -> str | None:
    """Return the key that a category gives; `None` leaves it to the declaration."""
    if not category:
        return None
    by_folder = f"{category}/{folder.name}"
    if is_key(by_folder):
        return by_folder
    by_manifest = f"{category}/{leaf(read_declaration_cached(folder, rules).key)}"
    return by_manifest if is_key(by_manifest) else by_folder


def plugin_folders(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the plugin folders below a root with their category, in the order of their names.

    A folder is a plugin's if it has a declaration or an `__init__.py`; else its folders may be, and it is a category. A
    link that leads nowhere, and a folder that cannot be listed, counts as a plugin, of which nothing can be read.
    """
    for folder in _folders(root):
        if is_plugin(folder):
            yield folder, ""
        elif is_key(folder.name):
            yield from _in_category(folder)


def _in_category(folder: Path) -> Iterator[tuple[Path, str]]:
    try:
        inner = _folders(folder)
    except PmError:
        yield folder, ""
    else:
        yield from ((path, folder.name) for path in inner if is_plugin(path))


def _folders(root: Path) -> list[Path]:
    """Return the folders in a folder, and the links that could lead to some, sorted by name."""
    try:
        with os.scandir(root) as entries:
            names = sorted(entry.name for entry in entries if may_be_plugin(entry.name) and _may_be_folder(entry))
    except (FileNotFoundError, NotADirectoryError) as error:
        if target := leads_nowhere(root):
            message = f"`{root}` is a link that leads nowhere, to {shown(target)}"
            raise PmError("not-writable", message, file=str(root), hint="put back what it names") from error
        return []
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PmError("not-writable", f"the folder cannot be listed: {reason}", file=str(root)) from error
    return [root / name for name in names]


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))  # noqa: PTH110 - of a circle
    except OSError:  # a link that leads round in circles, or through what cannot be looked into
        return True


def is_same_folder(one: str, other: str) -> bool:
    """Say whether two roots of plugins are one, by whatever links one gets there; the core's have none."""
    return one == other or bool(one and other and os.path.realpath(one) == os.path.realpath(other))


def is_plugin(folder: Path) -> bool:
    """Say whether a folder has a declaration or an `__init__.py`, or whether none can be told."""
    return any(map(_may_be_there, (folder / name for name in _PLUGIN_FILES))) or bool(leads_nowhere(folder))


def _may_be_there(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # the folder cannot be entered: its files have names, and nothing else is known of them
        return True
    return True


def ranked(copies: Iterable[Found]) -> Iterator[Found]:
    """Yield the copies, each with the source that hides it, if one does."""
    groups: dict[tuple[bool, str], list[Found]] = {}
    for found in copies:
        # A memory provider is selected by its bare name, so `mem0` of a user hides behind a bundled `memory/mem0`.
        name = leaf(found.key) if found.memory_provider else found.key
        groups.setdefault((found.memory_provider, canonical_key(name)), []).append(found)
    for (memory_provider, _), group in groups.items():
        sources = sorted({found.source for found in group}, key=_SOURCES.index)
        winning = sources[0] if memory_provider else sources[-1]
        winner = next(found for found in group if found.source == winning)
        yield from (found if found is winner else found._replace(hidden_by=winning) for found in group)
