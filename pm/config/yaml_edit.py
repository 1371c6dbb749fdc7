"""Change one value in the text of a YAML document, at the marks of its parser, so that every other byte stays."""

import json
import re
from typing import NamedTuple

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from pm.documents.yaml_nodes import plain_kind

Path = tuple[str, ...]


class Unreachable(ValueError):
    """The value is written in a form that cannot be changed in place."""


def set_text(text: str, path: Path, value: str) -> str:
    """Return the document with a single text at the path, in the quotes of the one that was there."""
    document = _Document(text)
    entry = document.entry(path)
    if entry is None:
        return document.with_entry(path, quoted(value))
    if not isinstance(entry.value, ScalarNode) or entry.value.style in {"|", ">"}:
        raise Unreachable
    if _is_empty(entry.value):
        return _spliced(text, document.colon(entry), document.colon(entry), f" {quoted(value)}")
    return _spliced(text, *document.span(entry), quoted(value, entry.value.style))


def add_item(text: str, path: Path, value: str) -> str:
    """Return the document with one more item at the end of the list at the path, which may not be there yet."""
    document = _Document(text)
    entry = document.entry(path)
    if entry is None:
        return document.with_entry(path, [quoted(value)])
    if isinstance(entry.value, ScalarNode) and _is_empty(entry.value):
        return document.with_first_item(entry, quoted(value))
    start, end = document.span(entry)
    if isinstance(entry.value, ScalarNode) and plain_kind(entry.value.value) == "null" and not entry.value.style:
        return _spliced(text, start, end, f"[{quoted(value)}]")
    if not isinstance(entry.value, SequenceNode):
        raise Unreachable
    if entry.value.flow_style:
        return _with_flow_part(text, entry.value, end - 1, quoted(value))
    if start != entry.value.start_mark.index:
        raise Unreachable
    indentation = " " * entry.value.start_mark.column
    return document.with_line_after(document.end_of(entry.value), f"{indentation}- {quoted(value)}")


def add_empty(text: str, path: Path) -> str:
    """Return the document with an empty list at the path, where nothing is yet."""
    document = _Document(text)
    entry = document.entry(path)
    if entry is None:
        return document.with_entry(path, "[]")
    if not isinstance(entry.value, ScalarNode):
        raise Unreachable
    if _is_empty(entry.value):
        return _spliced(text, document.colon(entry), document.colon(entry), " []")
    return _spliced(text, *document.span(entry), "[]")


def drop_item(text: str, path: Path, position: int) -> str:
    """Return the document without one item of the list at the path."""
    document = _Document(text)
    entry = document.entry(path)
    if entry is None or not isinstance(entry.value, SequenceNode):
        raise Unreachable
    items = [(item, item) for item in entry.value.value]
    return document.without(entry, items, position, opening="-", empty="[]")


def drop_key(text: str, path: Path) -> str:
    """Return the document without the key at the path and all that it holds."""
    document = _Document(text)
    section = document.entry(path[:-1])
    if section is None or not isinstance(section.value, MappingNode):
        raise Unreachable
    positions = [place for place, (key, _) in enumerate(section.value.value) if key.value == path[-1]]
    if len(positions) != 1:
        raise Unreachable
    return document.without(section, section.value.value, positions[0], opening="", empty="{}")


class _KeyValue(NamedTuple):
    key: Node
    value: Node


class _Document:
    """A text with the marks of everything in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError) as error:
            raise Unreachable from error
        if root is not None and not isinstance(root, MappingNode):
            raise Unreachable
        self._root = root

    def entry(self, path: Path) -> _KeyValue | None:
        """Return a key with its value; `None` if there is no such key."""
        section: Node | None = self._root
        found: _KeyValue | None = None
        for part in path:
            if not isinstance(section, MappingNode):
                return None
            found = next((_KeyValue(key, value) for key, value in section.value if key.value == part), None)
            if found is None:
                return None
            section = found.value
        return found

    def span(self, entry: _KeyValue) -> tuple[int, int]:
        """Return where a value stands. One that stands before its key is an alias of something else."""
        start, end = entry.value.start_mark.index, entry.value.end_mark.index
        if start < entry.key.end_mark.index:
            raise Unreachable
        return start, end

    def colon(self, entry: _KeyValue) -> int:
        """Return the place behind the colon of a key."""
        match = re.compile(r"\s*:").match(self._text, entry.key.end_mark.index)
        if match is None:
            raise Unreachable
        return match.end()

    def end_of(self, node: Node) -> int:
        """Return where the content of a value ends, without the comments and blank lines behind it."""
        if isinstance(node, CollectionNode) and not node.flow_style:
            return max(self._end_of_part(part) for part in node.value)
        return len(self._text[: node.end_mark.index].rstrip())

    def _end_of_part(self, part: Node | tuple[Node, Node]) -> int:
        if isinstance(part, Node):
            return self.end_of(part)
        entry = _KeyValue(*part)
        is_elsewhere = entry.value.start_mark.index < entry.key.end_mark.index
        if is_elsewhere:
            return self._line_end(entry.key.end_mark.index)
        return self.colon(entry) if _is_empty(entry.value) else self.end_of(entry.value)

    def with_entry(self, path: Path, value: str | list[str]) -> str:
        """Return the text with a new key at the end of its section, and with the section if there is none."""
        section = self.entry(path[:-1])
        name = path[-1]
        if section is None:
            return self._with_section(path[0], name, value)
        if isinstance(section.value, ScalarNode) and _is_empty(section.value):
            indentation = " " * (section.key.start_mark.column + 2)
            return self.with_line_after(self.colon(section), self._block(name, value, indentation))
        if not isinstance(section.value, MappingNode):
            raise Unreachable
        start, end = self.span(section)
        if section.value.flow_style:
            return _with_flow_part(self._text, section.value, end - 1, _flow(name, value))
        first, _ = section.value.value[0]
        if start != first.start_mark.index:
            raise Unreachable
        block = self._block(name, value, " " * first.start_mark.column)
        return self.with_line_after(self.end_of(section.value), block)

    def with_first_item(self, entry: _KeyValue, item: str) -> str:
        """Return the text with an item under a key that has no value."""
        section = next((part for part in self._sections() if any(key is entry.key for key, _ in part.value)), None)
        if section is None or section.flow_style:
            raise Unreachable
        indentation = " " * (entry.key.start_mark.column + self._dash_offset())
        return self.with_line_after(self.colon(entry), f"{indentation}- {item}")

    def with_line_after(self, place: int, line: str) -> str:
        """Return the text with whole lines behind the line of a place."""
        end = self._line_end(place)
        return _spliced(self._text, end, end, f"\n{line}")

    def without(
        self, entry: _KeyValue, parts: list[tuple[Node, Node]], position: int, *, opening: str, empty: str
    ) -> str:
        """Return the text without one part of a list or mapping; the last one leaves an empty one behind."""
        start, _ = self.span(entry)
        if isinstance(entry.value, CollectionNode) and entry.value.flow_style:
            return _without_flow_part(self._text, parts, position)
        first, last = parts[position]
        line_start = self._text.rfind("\n", 0, first.start_mark.index) + 1
        before = self._text[line_start : first.start_mark.index]
        if before.strip(" ") != opening or first.start_mark.index < start:
            raise Unreachable
        end = self._line_end(self._end_of_part(last if first is last else (first, last)))
        text = self._text[:line_start] + self._text[end + 1 :]
        if len(parts) > 1:
            return text
        colon = self.colon(entry)
        return _spliced(text, colon, colon, f" {empty}")

    def _with_section(self, name: str, key: str, value: str | list[str]) -> str:
        if self._root is not None and self._root.flow_style:
            inside = f"{name}: {{{_flow(key, value)}}}"
            return _with_flow_part(self._text, self._root, self._root.end_mark.index - 1, inside)
        block = self._block(key, value, "  ")
        separator = "" if not self._text or self._text.endswith("\n") else "\n"
        return f"{self._text}{separator}{name}:\n{block}\n"

    def _block(self, name: str, value: str | list[str], indentation: str) -> str:
        if isinstance(value, str):
            return f"{indentation}{name}: {value}"
        dash = indentation + " " * self._dash_offset()
        return "\n".join([f"{indentation}{name}:", *(f"{dash}- {item}" for item in value)])

    def _dash_offset(self) -> int:
        """Return how far the file itself puts the dashes of a list behind its key."""
        for section in self._sections():
            for key, value in section.value:
                if (
                    isinstance(value, SequenceNode)
                    and not value.flow_style
                    and value.start_mark.line > key.start_mark.line
                ):
                    return max(int(value.start_mark.column - key.start_mark.column), 0)
        return 2

    def _sections(self) -> list[MappingNode]:
        """Return the document's mapping and those directly in it."""
        if self._root is None:
            return []
        return [self._root, *(value for _, value in self._root.value if isinstance(value, MappingNode))]

    def _line_end(self, place: int) -> int:
        end = self._text.find("\n", place)
        return len(self._text) if end < 0 else end


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and not node.value and node.start_mark.index == node.end_mark.index


def _spliced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def _flow(name: str, value: str | list[str]) -> str:
    return f"{name}: {value}" if isinstance(value, str) else f"{name}: [{', '.join(value)}]"


def _with_flow_part(text: str, node: Node, bracket: int, part: str) -> str:
    """Return the text with one more part before a closing bracket."""
    before = text[:bracket].rstrip()
    separator = "" if not node.value or before.endswith(",") else ","
    space = " " if node.value else ""
    return _spliced(text, len(before), len(before), f"{separator}{space}{part}")


def _without_flow_part(text: str, parts: list[tuple[Node, Node]], position: int) -> str:
    first, last = parts[position]
    if position + 1 < len(parts):
        following = parts[position + 1][0].start_mark.index
        between = text[last.end_mark.index : following]
        # A comment in between is about the next part as likely as about this one, and stays.
        end = last.end_mark.index + between.index(",") + 1 if "#" in between else following
        return _spliced(text, first.start_mark.index, end, "")
    start = parts[position - 1][1].end_mark.index if position else first.start_mark.index
    return _spliced(text, start, last.end_mark.index, "")


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
"""What begins with a digit is a number for one reader or another: `1e3`, `010`, `1:30`."""


def quoted(value: str, style: str | None = None) -> str:
    """Return a value as YAML, in the given quotes, else without quotes where that means the same text."""
    if style == "'" and value.isprintable():
        return "'{}'".format(value.replace("'", "''"))
    is_word = _PLAIN.fullmatch(value) and plain_kind(value) == "text" and value.lower() not in ("nan", "inf")
    if style != '"' and is_word:
        return value
    return json.dumps(value, ensure_ascii=False)
