"""Find the plugins of a home, and which of them its config enables, by the rules that the manager finds them by."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hermes_cli.config import cfg_get, parse_mapping
from hermes_cli.foreign_text import TROUBLE, read_text

__all__ = ["PluginManifest", "canonical_key", "enabled_plugins", "find_plugins"]

_MANIFESTS = ("plugin.yaml", "plugin.yml", "plugin.json")
_PROJECT, _SOURCE = "pyproject.toml", "__init__.py"
_MARKS = (*_MANIFESTS, _PROJECT, _SOURCE)
_NEVER_PLUGINS = frozenset({"__pycache__", "node_modules"})
_MOST_PARTS = 1000
"""Of a dotted key in a `pyproject.toml`, for which the parser takes time in their square."""
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_KEY = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT})?")
_BUNDLED = Path(__file__).parent.parent / "plugins"
"""The folder of the plugins that the core brings."""
_NULLS = frozenset({"~", "null", "Null", "NULL"})
_BUILT_IN = frozenset({"", "default", "builtin", "built-in", "none"})


class PluginManifest(NamedTuple):
    """What a plugin's folder says about it."""

    name: str
    key: str = ""
    """By which configs and the manager know it: `name`, or `category/name`."""
    version: str = ""
    description: str = ""
    kind: str = "standalone"
    """`exclusive` for every memory provider, whatever is written."""
    source: str = ""
    """`bundled`, `user` or `project`."""
    path: str = ""
    problem: str = ""
    """Why its files cannot be read; such a plugin is not imported."""

    @property
    def names(self) -> frozenset[str]:
        """What configs may call it, in canonical spelling."""
        return frozenset(map(canonical_key, filter(None, (_leaf(self.key), self.name, Path(self.path).name))))


def find_plugins(home: Path) -> tuple[PluginManifest, ...]:
    """Return the plugins that can be used in a home, sorted by key.

    Where several copies have one key, the first source wins for memory providers and the last for all others. Only
    folders are found: an installed distribution with an entry point is none of them.
    """
    groups: dict[tuple[bool, str], list[PluginManifest]] = {}
    for copy in _copies(home):
        exclusive = copy.kind == "exclusive"
        groups.setdefault((exclusive, canonical_key(_leaf(copy.key) if exclusive else copy.key)), []).append(copy)
    winners = (_winner(group, group[0 if exclusive else -1].source) for (exclusive, _), group in groups.items())
    return tuple(sorted(winners, key=lambda plugin: canonical_key(plugin.key)))


def enabled_plugins(config: Mapping[str, Any], found: Iterable[PluginManifest]) -> tuple[PluginManifest, ...]:
    """Return which plugins a config enables, whatever spelling of their names it uses.

    `plugins.disabled` wins over `plugins.enabled`; a selected provider or engine counts as enabled all the same.
    """
    plugins = tuple(found)
    listed = {plugin for name in _listed(config, "enabled") for plugin in _called(plugins, name)}
    unlisted = {plugin for name in _listed(config, "disabled") for plugin in _called(plugins, name)}
    provider, engine = _choice(config, "memory", "provider"), _choice(config, "context", "engine")
    providers = [plugin for plugin in plugins if plugin.kind == "exclusive" and canonical_key(provider) in plugin.names]
    chosen = {*(providers[:1] or _called(plugins, provider)), *_called(plugins, engine)}
    return tuple(plugin for plugin in plugins if plugin in chosen or plugin in listed - unlisted)


def canonical_key(key: str) -> str:
    """Return what all spellings of a key share: neither case matters, nor which of `-`, `_` and `.` is written."""
    return re.sub("[-_.]+", "-", key.strip().lower())


# -- whose folder


def _copies(home: Path) -> Iterator[PluginManifest]:
    # beside the core's plugins lies code of its own, so a plugin of the core has a manifest
    for folder, category in _plugin_folders(_BUNDLED, _MANIFESTS):
        yield from _read(folder, category, "bundled")
    for folder, category in _plugin_folders(home / "plugins", _MARKS):
        yield from _read(folder, category, "user")
    if os.environ.get("HERMES_ENABLE_PROJECT_PLUGINS", "").strip().lower() in {"1", "true", "yes", "on"}:
        with suppress(FileNotFoundError):  # the folder that one works in can be gone
            for folder, category in _plugin_folders(Path.cwd() / ".hermes" / "plugins", _MARKS):
                yield from _read(folder, category, "project")


def _plugin_folders(root: Path, marks: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """Yield the folders that hold one of the marks, with their category: a folder without may be one itself."""
    for folder in _folders(root):
        if _has_any(folder, marks):
            yield folder, ""
        elif _KEY.fullmatch(folder.name):
            yield from ((inner, folder.name) for inner in _folders(folder) if _has_any(inner, marks))


def _folders(root: Path) -> list[Path]:
    try:
        found = sorted(root.iterdir())
    except OSError:
        return []
    return [path for path in found if _may_be_plugin(path.name) and os.path.isdir(path)]  # noqa: PTH112 - never raises


def _may_be_plugin(name: str) -> bool:
    return not name.startswith(".") and name.lower() not in _NEVER_PLUGINS


def _has_any(folder: Path, names: Iterable[str]) -> bool:
    return any(os.path.lexists(folder / name) for name in names)


def _winner(group: list[PluginManifest], source: str) -> PluginManifest:
    return next(copy for copy in group if copy.source == source)


# -- what its files say


def _read(folder: Path, category: str, source: str) -> Iterator[PluginManifest]:
    """Yield what a folder says; nothing if neither its files nor its name give it a key."""
    try:
        values, problem = _manifest(folder), ""
    except (OSError, *TROUBLE) as error:
        values, problem = {}, str(error)
    names = [name for name in (_text(values, "name"), _project_name(folder), folder.name) if name]
    key = _key(folder, category, names)
    if not key:
        return
    kind = _text(values, "kind").lower() or "standalone"
    is_provider = key.lower().startswith("memory/") or _names_provider(folder)
    yield PluginManifest(
        name=names[0],
        key=key,
        version=_text(values, "version"),
        description=_text(values, "description"),
        kind="exclusive" if is_provider else kind,
        source=source,
        path=str(folder),
        problem=problem,
    )


def _manifest(folder: Path) -> Mapping[str, Any]:
    file = next((folder / name for name in _MANIFESTS if os.path.lexists(folder / name)), None)
    if file is None:
        return {}
    text = read_text(file)
    # a tab is blank space in JSON and not in YAML
    value = json.loads(text) if file.suffix == ".json" else parse_mapping(text, file, as_texts=True)
    return value if isinstance(value, dict) else {}


def _project_name(folder: Path) -> str:
    try:
        text = read_text(folder / _PROJECT)
    except (OSError, ValueError):
        return ""
    import tomllib  # most plugins have no project

    if max(line.count(".") for line in text.split("\n")) > _MOST_PARTS:
        return ""
    try:
        name = cfg_get(tomllib.loads(text), "project", "name")
    except TROUBLE:
        return ""
    return name.strip() if isinstance(name, str) else ""


def _key(folder: Path, category: str, names: Iterable[str]) -> str:
    """Return the key by the category and the folder, else by the first name that can be one; empty if none can."""
    spellings = (spelling for name in names for spelling in (name, name.replace(".", "-")))
    own = next(filter(_KEY.fullmatch, spellings), "")
    if not category:
        return own
    keys = (f"{category}/{folder.name}", f"{category}/{_leaf(own)}")
    return next(filter(_KEY.fullmatch, keys), "")


def _names_provider(folder: Path) -> bool:
    try:
        source = read_text(folder / _SOURCE)
    except (OSError, ValueError):
        return False
    return "register_memory_provider" in source or "MemoryProvider" in source


def _text(values: Mapping[str, Any], name: str) -> str:
    text = _plain(values.get(name))
    return "" if text in _NULLS else text


def _plain(value: object) -> str:
    return "" if value is None or value is False or isinstance(value, dict | list) else str(value).strip()


def _leaf(key: str) -> str:
    return key.rpartition("/")[2]


# -- what the config says


def _called(plugins: tuple[PluginManifest, ...], written: str) -> tuple[PluginManifest, ...]:
    """Return the plugin with this key, else those of this name, else the only one with this last segment."""
    wanted = canonical_key(written)
    by_key = tuple(plugin for plugin in plugins if canonical_key(plugin.key) == wanted)
    alike = tuple(plugin for plugin in plugins if canonical_key(_leaf(plugin.key)) == wanted)
    named = tuple(plugin for plugin in plugins if wanted in plugin.names and plugin not in alike)
    return by_key or named or (alike if len(alike) == 1 else ())


def _listed(config: Mapping[str, Any], name: str) -> list[str]:
    value = cfg_get(config, "plugins", name)
    return [str(item) for item in value if item is not None] if isinstance(value, list) else []


def _choice(config: Mapping[str, Any], section: str, name: str) -> str:
    text = _plain(cfg_get(config, section, name))
    return "" if text.lower() in _BUILT_IN or (section == "context" and text.lower() == "compressor") else text
