"""Read which plugins a home's `config.yaml` enables, and the manager's own settings in it."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admission import Problem
from pm.config.settings import IndexSetting, Selection, Settings, unreadable
from pm.documents.boundary import alike, texts
from pm.documents.files import regular_file, text_of
from pm.documents.parse_cache import remembered, stamp_of
from pm.errors import PmError
from pm.limits import CONFIG_BYTES
from pm.names import canonical_key, leaf, shown
from pm.places import DEFAULT_PROFILE, profile_name
from pm.plugins.declaration_cache import problem_from_json
from pm.plugins.discovery import Found
from pm.system.files import leads_nowhere, owner_hint
from pm.system.managed_scope import managed_scope

CONFIG = "config.yaml"


class Profile(NamedTuple):
    """One home below a root."""

    name: str
    """`default` for the root itself."""
    home: Path
    selection: Selection | None
    """`None` if its config cannot be read."""
    error: PmError | None = None
    notes: tuple[Problem, ...] = ()


class Enabled(NamedTuple):
    """Which of the plugins that were found a selection enables."""

    members: tuple[Found, ...]
    missing: tuple[str, ...]
    """What the selection names and is not there, as written."""
    warnings: tuple[Problem, ...] = ()


def read_selection(home: Path, cache_directory: Path | None = None) -> Selection:
    """Read `<home>/config.yaml`; a missing or empty one selects nothing.

    What the administrator's config sets takes the place of what the home's own says. Raise `PmError`
    (`config-unreadable`), with the line, if one of them cannot be read, or if what it selects cannot be told.
    """
    return _administered(read_own_selection(home, cache_directory), cache_directory)


def read_own_selection(home: Path, cache_directory: Path | None = None) -> Selection:
    """Read what a home's own config selects, and the settings in it; raise `PmError` as `read_selection` does."""
    path = home / CONFIG
    text = config_text(path)
    if text is None:
        return Selection()
    return remembered(
        cache_directory,
        stamp_of([text.encode(), os.fsencode(path)]),
        read=lambda: _read(text, str(path)),
        encode=lambda selection: selection,
        decode=_decoded,
    )


_ADMINISTERED = {
    "plugins.enabled": "enabled",
    "plugins.disabled": "disabled",
    "memory.provider": "memory_provider",
    "context.engine": "context_engine",
    "security.allow_lazy_installs": "allow_lazy_installs",
}
"""Setting → field of a selection, which the administrator's value takes the place of."""


def _administered(selection: Selection, cache_directory: Path | None) -> Selection:
    path = Path(managed_scope(os.environ)) / CONFIG
    text = config_text(path)
    if text is None:
        return selection
    set_there, theirs = remembered(
        cache_directory,
        stamp_of([text.encode(), os.fsencode(path), b"administrator"]),
        read=lambda: (_set_settings(text, str(path)), _read(text, str(path))),
        encode=list,
        decode=lambda value: (texts(_rows(value)[0]), _decoded(_rows(value)[1])),
    )
    fields = {_ADMINISTERED[name]: getattr(theirs, _ADMINISTERED[name]) for name in set_there}
    notes = (*selection.notes, *theirs.notes)
    return selection._replace(**fields, notes=notes, decided=set_there, decided_in=str(path))


def _set_settings(text: str, file: str) -> tuple[str, ...]:
    """Return which of the settings that an administrator can decide a config sets."""
    from pm.config.reader import config_root
    from pm.documents.nodes import MappingNode, given

    root = config_root(text, file)
    sections = {name: given(root, name.partition(".")[0]) for name in _ADMINISTERED}
    return tuple(
        name
        for name, section in sections.items()
        if isinstance(section, MappingNode) and given(section, name.partition(".")[2]) is not None
    )


def _read(text: str, file: str) -> Selection:
    from pm.config.reader import read_config  # a config that is known needs no parser

    return read_config(text, file)


def config_text(path: Path) -> str | None:
    """Return the text of a config, without byte order mark and with plain line feeds; `None` if there is none.

    Raise `PmError` (`config-unreadable`) if it cannot be read or is not UTF-8.
    """
    text = text_of(config_bytes(path), str(path))
    if isinstance(text, Problem):
        raise unreadable(text)
    return text


def config_bytes(path: Path) -> bytes | None:
    """Return the bytes of a config, which may well be a link: dotfiles are often kept somewhere else.

    Raise `PmError` (`config-unreadable`) if they cannot be had; a link that leads nowhere is no empty config.
    """
    content = regular_file(path, str(path), CONFIG_BYTES)
    if content is None and (target := leads_nowhere(path.parent)):
        message = f"the home is a link that leads nowhere, to {shown(target)}"
        raise PmError("config-unreadable", message, file=str(path.parent), hint="put back what it names")
    if isinstance(content, Problem):
        hint = "put back what it names, or remove the link" if leads_nowhere(path) else owner_hint(path)
        raise unreadable(content._replace(hint=hint))
    return content


def read_profiles(root: Path, cache_directory: Path | None = None) -> tuple[Profile, ...]:
    """Return the profiles of a root: itself first, then `profiles/*` by name. One that cannot be read says why."""
    homes = [(DEFAULT_PROFILE, root), *((profile_name(path), path) for path in _subfolders(root / "profiles"))]
    return tuple(_profile(name, home, cache_directory) for name, home in homes)


def enabled_plugins(selection: Selection, found: Iterable[Found]) -> Enabled:
    """Return which plugins a selection enables, whatever spelling of their names it uses.

    `disabled` wins over `enabled`; a selected memory provider or context engine counts as enabled all the same.
    """
    lookup = _Lookup(plugin for plugin in found if not plugin.hidden_by)
    off = {plugin.key for written in selection.disabled for plugin in lookup.find(written)}
    members: dict[str, Found] = {}
    missing: list[str] = []
    warnings: list[Problem] = []
    for written in selection.enabled:
        plugins = lookup.find(written)
        members |= {plugin.key: plugin for plugin in plugins if plugin.key not in off}
        missing += [] if plugins else [written]
    for setting, written in selections(selection):
        plugins = lookup.selected(setting, written)
        members |= {plugin.key: plugin for plugin in plugins}
        missing += [] if plugins else [written]
        warnings += [_selected_but_disabled(plugin.key, setting) for plugin in plugins if plugin.key in off]
    disabled = {canonical_key(written) for written in selection.disabled}
    gone = tuple(dict.fromkeys(written for written in missing if canonical_key(written) not in disabled))
    return Enabled(tuple(members[key] for key in sorted(members)), gone, tuple(warnings))


def own_names(plugin: Found, found: Iterable[Found]) -> tuple[str, ...]:
    """Return what a plugin is called in a config, without the words by which that means another one."""
    lookup = _Lookup(other for other in found if not other.hidden_by)
    names = lookup.names.get(plugin.key) or plugin.names
    return tuple(name for name in names if all(other.key == plugin.key for other in lookup.find(name)))


def selecting(selection: Selection, plugin: Found, found: Iterable[Found]) -> tuple[str, ...]:
    """Return the settings that select a plugin: `memory.provider`, `context.engine`."""
    lookup = _Lookup(other for other in found if not other.hidden_by)
    return tuple(
        setting
        for setting, written in selections(selection)
        if any(other.key == plugin.key for other in lookup.selected(setting, written))
    )


def _selected_but_disabled(key: str, setting: str) -> Problem:
    message = f"`{key}` is selected by `{setting}` and listed in `plugins.disabled`: it counts as enabled"
    return Problem("selected-but-disabled", message, CONFIG, key=setting)


def allows_lazy_installs(selection: Selection | None, environ: Mapping[str, str]) -> bool:
    """Say whether something may be installed unasked; a config that cannot be read does not allow it."""
    forbidden = environ.get("HERMES_DISABLE_LAZY_INSTALLS", "").strip() == "1"  # no other value, as with the host
    # inside of a generation the launcher has set it, against the host's own installer and not against the manager
    if forbidden and not environ.get("HERMES_PM_GENERATION"):
        return False
    return selection is not None and selection.allow_lazy_installs


class _Lookup:
    """Finds plugins by what a config calls them, whatever the spelling."""

    def __init__(self, found: Iterable[Found]) -> None:
        self._by_key: dict[str, list[Found]] = {}
        self._by_name: dict[str, list[Found]] = {}
        self._by_leaf: dict[str, list[Found]] = {}
        self.names: dict[str, tuple[str, ...]] = {}
        """Key → what the plugin is called."""
        for plugin in found:
            names = self.names[plugin.key] = plugin.names
            self._by_key.setdefault(canonical_key(plugin.key), []).append(plugin)
            self._by_leaf.setdefault(canonical_key(leaf(plugin.key)), []).append(plugin)
            for name in {canonical_key(name) for name in names}:
                self._by_name.setdefault(name, []).append(plugin)

    def find(self, written: str) -> list[Found]:
        """Return the plugin with this key, else those of this name, else the only one with this last segment."""
        wanted = canonical_key(written)
        alike = self._by_leaf.get(wanted, [])
        named = [plugin for plugin in self._by_name.get(wanted, []) if plugin not in alike]
        return self._by_key.get(wanted, []) or named or (alike if len(alike) == 1 else [])

    def selected(self, setting: str, written: str) -> list[Found]:
        """Return what a setting selects: for `memory.provider` a provider of this name, else whatever is called so."""
        if setting != "memory.provider":
            return self.find(written)
        named = [plugin for plugin in self._by_name.get(canonical_key(written), []) if plugin.memory_provider]
        return named[:1] or self.find(written)


def selections(selection: Selection) -> Iterator[tuple[str, str]]:
    """Yield the settings that select one plugin, with what they name."""
    if selection.memory_provider:
        yield "memory.provider", selection.memory_provider
    if selection.context_engine:
        yield "context.engine", selection.context_engine


def _subfolders(folder: Path) -> list[Path]:
    """Return the folders in a folder that are not hidden, and links that lead nowhere: what they name may be back."""
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path for path in paths if path.is_dir() or leads_nowhere(path)]


def _profile(name: str, home: Path, cache_directory: Path | None) -> Profile:
    try:
        selection = read_selection(home, cache_directory)
    except PmError as error:
        return Profile(name, home, None, error)
    notes = selection.notes
    if name != DEFAULT_PROFILE and selection.section_line:
        message = "the section `pm:` of a profile is not read: one generation serves all profiles"
        hint = "move it to the `config.yaml` of the root"
        line = selection.section_line
        notes = (*notes, Problem("settings-ignored", message, str(home / CONFIG), line, key="pm", hint=hint))
    return Profile(name, home, selection, None, notes)


def _decoded(value: object) -> Selection:
    fields: dict[str, Any] = dict(zip(Selection._fields, _rows(value), strict=True))
    settings: dict[str, Any] = dict(zip(Settings._fields, _rows(fields["section"]), strict=True))
    indexes = settings["indexes"]
    settings["indexes"] = None if indexes is None else tuple(_index(row) for row in _rows(indexes))
    for name in ("allow_build", "allow_prerelease", "allow_collision", "allow_direct_urls", "find_links"):
        settings[name] = texts(settings[name])
    fields["section"] = alike(Settings(**settings), Settings(indexes=settings["indexes"]))
    for name in ("enabled", "disabled", "entries", "decided"):
        fields[name] = texts(fields[name])
    for name in ("section_problems", "notes"):
        fields[name] = tuple(map(problem_from_json, _rows(fields[name])))
    return alike(Selection(**fields), Selection())


def _index(row: object) -> IndexSetting:
    url, name, packages, default = _rows(row)
    return alike(IndexSetting(url, name, texts(packages), default), IndexSetting(""))


def _rows(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    raise TypeError(value)
