"""Take what plugins a `config.yaml` selects, and the section `pm:`, out of its text, with the place of every fault."""

from __future__ import annotations

import re

from admission import EVERY_PLUGIN, Problem, canonical_name
from pm.config.settings import IndexSetting, Selection, Settings, unreadable
from pm.documents.nodes import (
    MERGE,
    ListNode,
    MappingNode,
    Node,
    ScalarNode,
    described,
    given,
    misread,
    named_kind,
    truth,
)
from pm.errors import PmError
from pm.names import canonical_key, shown
from pm.redaction import HOW_TO_WRITE_PASSWORDS, is_readable

BUILT_IN = frozenset({"", "default", "builtin", "built-in", "none"})
"""What `memory.provider` and `context.engine` say when no plugin is meant."""
BUILT_IN_ENGINE = "compressor"


def read_config(text: str, file: str) -> Selection:
    """Return what a config's text selects; raise `PmError` (`config-unreadable`) as `config_root` does."""
    return _Config(config_root(text, file), file).selection()


# Where two values of one key would leave open what is selected.
_DECISIVE = (
    r"plugins(?:\.(?:enabled|disabled|entries))?|(?:memory|context|security)"
    r"|memory\.provider|context\.engine|security\.allow_lazy_installs|pm(?:\..*)?"
)


def config_root(text: str, file: str) -> MappingNode:
    """Return the keys of a config's text; an empty text has none.

    Raise `PmError` (`config-unreadable`) if it is not YAML, or leaves open what it selects.
    """
    from pm.documents.yaml_nodes import read_yaml

    document = read_yaml(text, file)
    for problem in document.problems:
        if problem not in document.duplicates or re.fullmatch(_DECISIVE, problem.key):
            raise unreadable(problem)
    if document.root is None:
        return MappingNode((), 0, 0)
    if not isinstance(document.root, MappingNode):
        message = f"the file holds {named_kind(document.root)}, not keys with values"
        raise unreadable(Problem("", message, file, document.root.line))
    return document.root


class _Config:
    """Takes a selection out of a config."""

    def __init__(self, root: MappingNode, file: str) -> None:
        self._root = root
        self._file = file
        self._notes: list[Problem] = []

    def selection(self) -> Selection:
        plugins = self._section("plugins")
        settings = _Section(self._section("pm"), self._file)
        section = settings.settings()
        engine = self._choice("context", "engine")
        return Selection(
            enabled=self._keys(plugins, "enabled"),
            disabled=self._keys(plugins, "disabled"),
            entries=self._entry_keys(plugins),
            memory_provider=self._choice("memory", "provider"),
            context_engine="" if engine.lower() == BUILT_IN_ENGINE else engine,
            allow_lazy_installs=self._lazy_installs(),
            section=section,
            section_line=next((key.line for key, _ in self._root.entries if key.text == "pm"), 0),
            section_problems=tuple(sorted(settings.problems, key=lambda problem: (problem.line, problem.column))),
            notes=(*self._notes, *settings.notes),
        )

    def _section(self, name: str) -> MappingNode:
        node = given(self._root, name)
        if node is None:
            return MappingNode((), 0, 0)
        if isinstance(node, MappingNode):
            return node
        raise self._wrong(node, name, "must have keys with values")

    def _optional_section(self, name: str) -> MappingNode:
        """Return a section of the host's in which we need one key: a plain value there selects nothing."""
        node = given(self._root, name)
        return node if isinstance(node, MappingNode) else MappingNode((), 0, 0)

    def _keys(self, plugins: MappingNode, name: str) -> tuple[str, ...]:
        node = given(plugins, name)
        path = f"plugins.{name}"
        if node is None:
            return ()
        if not isinstance(node, ListNode):
            raise self._wrong(node, path, "must be a list of names")
        keys = []
        for position, item in enumerate(node.items):
            if not isinstance(item, ScalarNode):
                raise self._wrong(item, f"{path}[{position}]", "must be the name of a plugin")
            self._note_misread(item, f"{path}[{position}]")
            if item.kind == "null" or not item.text.strip():
                message = f"`{path}[{position}]` is empty and names no plugin"
                self._notes.append(Problem("config-unreadable", message, self._file, item.line, item.column, path))
            else:
                keys.append(item.text.strip())
        return tuple(keys)

    def _entry_keys(self, plugins: MappingNode) -> tuple[str, ...]:
        node = given(plugins, "entries")
        keys = [key for key, _ in node.entries] if isinstance(node, MappingNode) else []
        for key in keys:
            self._note_misread(key, f"plugins.entries.{key.text}")
        return tuple(key.text for key in keys)

    def _choice(self, section: str, name: str) -> str:
        node = given(self._optional_section(section), name)
        if node is None:
            return ""
        if not isinstance(node, ScalarNode):
            raise self._wrong(node, f"{section}.{name}", "must be a name")
        text = node.text.strip()
        if text.lower() in BUILT_IN or truth(node) is False:
            return ""
        self._note_misread(node, f"{section}.{name}")
        return text

    def _note_misread(self, node: ScalarNode, path: str) -> None:
        from pm.documents.yaml_nodes import as_hosts_read

        read = as_hosts_read(node)
        self._notes += [misread(self._file, path, node, read)] if read else []

    def _lazy_installs(self) -> bool:
        node = given(self._optional_section("security"), "allow_lazy_installs")
        if node is None:
            return True
        allowed = truth(node)
        if allowed is None:
            message = "`security.allow_lazy_installs` must be true or false, and counts as false"
            key = "security.allow_lazy_installs"
            self._notes.append(Problem("config-unreadable", message, self._file, node.line, node.column, key))
        return allowed is True

    def _wrong(self, node: Node, key: str, rule: str) -> PmError:
        message = f"`{key}` {rule}, not {described(node)}"
        return unreadable(Problem("", message, self._file, node.line, node.column, key))


_SPAN = r"[0-9]{1,6} *(?:second|minute|hour|day|week|month|year)s?"
_INSTANT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)? ?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?"
)


_PATTERN = re.compile(r"[A-Za-z0-9._*?-]{1,200}")


class _Section:
    """Takes the settings out of the section `pm:`; a wrong one is a problem and stays at its default."""

    def __init__(self, section: MappingNode, file: str) -> None:
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
        self._section = section
        self._file = file

    def settings(self) -> Settings:
        unset = Settings()
        self._note_unknown(self._section, Settings._fields, "pm")
        return Settings(
            core=self._text("core"),
            python=self._text("python"),
            exclude_newer=self._exclude_newer(),
            allow_build=self._packages("allow_build"),
            allow_prerelease=self._packages("allow_prerelease"),
            allow_collision=self._packages("allow_collision"),
            allow_direct_urls=self._plugins("allow_direct_urls"),
            keep_generations=self._count("keep_generations", unset.keep_generations),
            audit=self._one_of("audit", ("off", "warn", "refuse"), unset.audit),
            on_unadmitted=self._one_of("on_unadmitted", ("warn", "stop"), unset.on_unadmitted),
            indexes=self._indexes(),
            find_links=self._texts(self._section, "find_links", "pm"),
            catalog=self._text("catalog"),
        )

    def _text(self, name: str) -> str:
        return self._text_in(self._section, name, "pm")

    def _text_in(self, section: MappingNode, name: str, path: str) -> str:
        node = given(section, name)
        if node is None or (isinstance(node, ScalarNode) and truth(node) is None):
            return node.text.strip() if isinstance(node, ScalarNode) else ""
        self._refuse(node, f"{path}.{name}", "must be a text")
        return ""

    def _exclude_newer(self) -> str:
        node = given(self._section, "exclude_newer")
        if node is None or truth(node) is False:
            return ""
        text = node.text.strip() if isinstance(node, ScalarNode) else ""
        if text == "off":
            return ""
        if re.fullmatch(_SPAN, text) or re.fullmatch(_INSTANT, text):
            return text
        self._refuse(node, "pm.exclude_newer", "must be `off`, a span such as `14 days`, or an instant")
        return ""

    def _packages(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(canonical_name(text) for text in self._texts(self._section, name, "pm")))

    def _plugins(self, name: str) -> tuple[str, ...]:
        """Return the keys of plugins that something is allowed to; `true` allows it to all of them."""
        node = given(self._section, name)
        allowed = truth(node) if node is not None else False
        if node is None or allowed is not None:
            return (EVERY_PLUGIN,) if allowed else ()
        rule = "must be true, false, or a list of plugins"
        if not isinstance(node, ListNode):
            self._refuse(node, f"pm.{name}", rule)
            return ()
        return tuple(sorted({canonical_key(key) for key in self._texts(self._section, name, "pm", rule)}))

    def _texts(
        self, section: MappingNode, name: str, path: str, rule: str = "must be a list of texts"
    ) -> tuple[str, ...]:
        """Return a list of texts; one text alone is a list of one."""
        node = given(section, name)
        if node is None:
            return ()
        items = node.items if isinstance(node, ListNode) else (node,)
        texts = []
        for item in items:
            if isinstance(item, ScalarNode) and item.kind not in {"null", "boolean"} and item.text.strip():
                texts.append(item.text.strip())
            else:
                self._refuse(item, f"{path}.{name}", rule)
        return tuple(texts)

    def _switch(self, section: MappingNode, name: str, path: str) -> bool:
        node = given(section, name)
        if node is None:
            return False
        switched = truth(node)
        if switched is None:
            self._refuse(node, f"{path}.{name}", "must be true or false")
        return switched is True

    def _count(self, name: str, default: int) -> int:
        node = given(self._section, name)
        if node is None:
            return default
        if isinstance(node, ScalarNode) and node.kind == "integer" and re.fullmatch(r"[1-9][0-9]{0,5}", node.text):
            return int(node.text)
        self._refuse(node, f"pm.{name}", "must be a number from 1 upwards")
        return default

    def _one_of(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        node = given(self._section, name)
        if node is None:
            return default
        text = "off" if truth(node) is False else node.text.strip() if isinstance(node, ScalarNode) else ""
        if text in allowed:
            return text
        self._refuse(node, f"pm.{name}", f"must be one of {', '.join(f'`{word}`' for word in allowed)}")
        return default

    def _indexes(self) -> tuple[IndexSetting, ...] | None:
        node = given(self._section, "indexes")
        if node is None:
            return None
        if not isinstance(node, ListNode):
            self._refuse(node, "pm.indexes", "must be a list")
            return None
        return tuple(self._index(item, f"pm.indexes[{position}]") for position, item in enumerate(node.items))

    def _index(self, item: Node, path: str) -> IndexSetting:
        if not isinstance(item, MappingNode):
            self._refuse(item, path, "must have `url`, and may have `name`, `packages` and `default`")
            return IndexSetting("")
        self._note_unknown(item, IndexSetting._fields, path)
        url = self._text_in(item, "url", path)
        if not url:
            self._refuse(item, f"{path}.url", "must be an address")
        elif not is_readable(url):
            self._refuse(given(item, "url") or item, f"{path}.url", "must be an address", HOW_TO_WRITE_PASSWORDS)
        return IndexSetting(
            url=url,
            name=self._text_in(item, "name", path),
            packages=self._patterns(item, path),
            default=self._switch(item, "default", path),
        )

    def _patterns(self, index: MappingNode, path: str) -> tuple[str, ...]:
        """Return the patterns of an index; one that can never match would leave its names to the other indexes."""
        rule = "must be a list of names of packages, with `*` and `?` for any characters"
        node = given(index, "packages")
        items = node.items if isinstance(node, ListNode) else () if node is None else (node,)
        if isinstance(node, ListNode) and not items:
            self._refuse(node, f"{path}.packages", rule, "leave `packages` out for an index of all names")
        for item in items:
            if isinstance(item, ScalarNode) and item.text.strip() and not _PATTERN.fullmatch(item.text.strip()):
                self._refuse(item, f"{path}.packages", rule)
        return self._texts(index, "packages", path, rule)

    def _note_unknown(self, section: MappingNode, known: tuple[str, ...], path: str) -> None:
        for key, _ in section.entries:
            if key.text not in known and key.kind != MERGE:
                message = f"{shown(f'{path}.{key.text}')} is not a setting of the manager, and is ignored"
                self.notes.append(
                    Problem("settings-ignored", message, self._file, key.line, key.column, f"{path}.{key.text}")
                )

    def _refuse(self, node: Node, key: str, rule: str, hint: str = "") -> None:
        message = f"`{key}` {rule}, not {described(node)}"
        self.problems.append(Problem("config-unreadable", message, self._file, node.line, node.column, key, hint))
