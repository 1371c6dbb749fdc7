"""Read the section `pm:` of a config: the manager's own settings, with the place of everything that is wrong in it."""

import re
from typing import NamedTuple

from admission import Problem, canonical_name
from pm.names import shown
from pm.reading.nodes import ListNode, MappingNode, Node, ScalarNode, described, given, truth


class Index(NamedTuple):
    """One entry of `pm.indexes`."""

    url: str
    """As written, so it may hold a credential: show it through `redact` only."""
    name: str = ""
    packages: tuple[str, ...] = ()
    """Patterns of the names that come from this index and no other."""
    default: bool = False


class Settings(NamedTuple):
    """The section `pm:` of the root's config."""

    core: str = ""
    """A requirement or a project's folder; empty for the embedded core."""
    python: str = ""
    exclude_newer: str = ""
    """A span or an instant as written; empty when quarantine is off."""
    allow_build: tuple[str, ...] = ()
    allow_prerelease: tuple[str, ...] = ()
    allow_direct_urls: bool = False
    keep_generations: int = 3
    audit: str = "off"
    on_unadmitted: str = "warn"
    indexes: tuple[Index, ...] | None = None
    """`None` when the section does not say, which is not the same as an empty list: that means folders only."""
    find_links: tuple[str, ...] = ()


_SPAN = r"[0-9]{1,6} *(?:second|minute|hour|day|week|month|year)s?"
_INSTANT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)? ?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?"
)


class SettingsSection:
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
            allow_direct_urls=self._switch(self._section, "allow_direct_urls", "pm"),
            keep_generations=self._count("keep_generations", unset.keep_generations),
            audit=self._one_of("audit", ("off", "warn", "refuse"), unset.audit),
            on_unadmitted=self._one_of("on_unadmitted", ("warn", "stop"), unset.on_unadmitted),
            indexes=self._indexes(),
            find_links=self._texts(self._section, "find_links", "pm"),
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

    def _texts(self, section: MappingNode, name: str, path: str) -> tuple[str, ...]:
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
                self._refuse(item, f"{path}.{name}", "must be a list of texts")
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

    def _indexes(self) -> tuple[Index, ...] | None:
        node = given(self._section, "indexes")
        if node is None:
            return None
        if not isinstance(node, ListNode):
            self._refuse(node, "pm.indexes", "must be a list")
            return None
        return tuple(self._index(item, f"pm.indexes[{position}]") for position, item in enumerate(node.items))

    def _index(self, item: Node, path: str) -> Index:
        if not isinstance(item, MappingNode):
            self._refuse(item, path, "must have `url`, and may have `name`, `packages` and `default`")
            return Index("")
        self._note_unknown(item, Index._fields, path)
        url = self._text_in(item, "url", path)
        if not url:
            self._refuse(item, f"{path}.url", "must be an address")
        return Index(
            url=url,
            name=self._text_in(item, "name", path),
            packages=self._texts(item, "packages", path),
            default=self._switch(item, "default", path),
        )

    def _note_unknown(self, section: MappingNode, known: tuple[str, ...], path: str) -> None:
        for key, _ in section.entries:
            if key.text not in known and key.text != "<<":
                message = f"{shown(f'{path}.{key.text}')} is no setting of the manager and is not read"
                self.notes.append(
                    Problem("settings-ignored", message, self._file, key.line, key.column, f"{path}.{key.text}")
                )

    def _refuse(self, node: Node, key: str, rule: str) -> None:
        message = f"`{key}` {rule}, not {described(node)}"
        self.problems.append(Problem("config-unreadable", message, self._file, node.line, node.column, key))
