"""Read YAML as nodes with places, from the parser's events: nothing is constructed, no tag obeyed, no alias copied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

import yaml

from admission import Problem
from pm.documents.boundary import parsed
from pm.documents.nodes import (
    MERGE,
    Document,
    ListNode,
    MappingNode,
    Node,
    NodeSize,
    ScalarNode,
    described,
    duplicate_key,
    long_number,
    member,
    named_kind,
    too_deep,
    too_many_digits,
    too_many_values,
)
from pm.limits import DOCUMENT_DEPTH, DOCUMENT_VALUES, MERGED_VALUES, NUMBER_DIGITS
from pm.names import shown

if TYPE_CHECKING:
    from yaml.events import Event, MappingStartEvent, ScalarEvent, SequenceStartEvent

# libyaml where PyYAML was built with it: the same events and marks, ten times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Collection = TypeVar("_Collection", ListNode, MappingNode)
_STANDARD = "tag:yaml.org,2002:"
_KINDS = {
    "null": "null", "bool": "boolean", "int": "integer", "float": "number", "timestamp": "date",
    "str": "text", "merge": MERGE, "value": "text",
}  # fmt: skip
_NO_NUMBERS = frozenset({"null", "boolean", "text"})
# YAML 1.1 says boolean, PyYAML says text. Readers disagree, so it cannot be written to mean one of the two.
_ONE_LETTER_BOOLEANS = frozenset("yYnN")


def read_yaml(text: str, file: str) -> Document:
    """Return the only document of a YAML text.

    Every fault of form is a problem with its line and column; after a fault of syntax there is no root.
    """
    digits = too_many_digits(text, file)
    if digits is not None:
        return Document(None, (digits,))
    return parsed(lambda: _read(text, file), lambda why: Document(None, (_no_yaml(why, file),)))


def _read(text: str, file: str) -> Document:
    reader = _Reader(file)
    try:
        root = reader.document(iter(yaml.parse(text, Loader=_LOADER)))
        return Document(root, tuple(reader.problems), tuple(reader.duplicates))
    except _Refused as refused:
        return Document(None, (*reader.problems, refused.problem))
    except yaml.YAMLError as error:
        return Document(None, (*reader.problems, _explained(error, text, file)))


class _Refused(ValueError):
    """The rest of the document is not read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Reader:
    """Builds nodes from events; a problem that leaves the rest readable is noted, any other ends it."""

    def __init__(self, file: str) -> None:
        self.problems: list[Problem] = []
        self.duplicates: list[Problem] = []
        self._file = file
        self._anchors: dict[str, Node | None] = {}
        """`None` while the anchored value is still being read."""
        self._values = 0
        self._sizes: dict[int, NodeSize] = {}
        """Of lists and mappings, by identity: those behind an alias count wherever it stands."""

    def document(self, events: Iterator[Event]) -> Node | None:
        root: Node | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self._refused(event, "", "there is more than one document in the file", "keep one document")
                root = self._node(next(events), events, "", 0)
        return None if isinstance(root, ScalarNode) and root.kind == "null" else root

    def _node(self, event: Event, events: Iterator[Event], path: str, depth: int) -> Node:
        self._values += 1
        if self._values > DOCUMENT_VALUES.value:
            raise _Refused(too_many_values(self._file, *_place(event)))
        if depth > DOCUMENT_DEPTH.value:
            raise _Refused(too_deep(self._file, *_place(event), path))
        if isinstance(event, yaml.AliasEvent):
            node = self._aliased(event, path)
            if depth + self._size(node).height > DOCUMENT_DEPTH.value:
                raise _Refused(too_deep(self._file, *_place(event), path))
            return node
        anchor: str | None = getattr(event, "anchor", None)
        if anchor is not None:
            self._anchors[anchor] = None
        node = self._value(event, events, path, depth)
        if anchor is not None:
            self._anchors[anchor] = node
        return node

    def _value(self, event: Event, events: Iterator[Event], path: str, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(event, events, path, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(event, events, path, depth)
        raise self._refused(event, path, "a value is missing")

    def _aliased(self, event: yaml.AliasEvent, path: str) -> Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:
            known = event.anchor in self._anchors
            message = f"`*{event.anchor}` refers to itself" if known else f"`*{event.anchor}` refers to nothing"
            raise self._refused(event, path, message)
        return node

    def _scalar(self, event: ScalarEvent, path: str) -> ScalarNode:
        quote = 1 if event.style in {"'", '"'} else 0
        line, column = _place(event)
        kind = self._kind(event, path)
        if kind not in _NO_NUMBERS and len(event.value) > NUMBER_DIGITS.value:  # in base 16 or 60, as `1:59:59`
            raise _Refused(long_number(self._file, line, column + quote))
        return ScalarNode(event.value, kind, line, column + quote)

    def _kind(self, event: ScalarEvent, path: str) -> str:
        tag = event.tag
        if tag is None or tag == "!":
            return plain_kind(event.value) if event.implicit[0] else "text"
        kind = _KINDS.get(tag.removeprefix(_STANDARD)) if tag.startswith(_STANDARD) else None
        if kind is None:
            self._refuse_tag(event, tag, path)
        return kind or "text"

    def _list(self, event: SequenceStartEvent, events: Iterator[Event], path: str, depth: int) -> ListNode:
        self._check_collection_tag(event, path, "seq")
        items: list[Node] = []
        for following in events:
            if isinstance(following, yaml.SequenceEndEvent):
                break
            items.append(self._node(following, events, f"{path}[{len(items)}]", depth + 1))
        return self._sized(ListNode(tuple(items), *_place(event)), items, NodeSize(), event)

    def _mapping(self, event: MappingStartEvent, events: Iterator[Event], path: str, depth: int) -> MappingNode:
        self._check_collection_tag(event, path, "map")
        entries: list[tuple[ScalarNode, Node]] = []
        first_lines: dict[str, int] = {}
        for following in events:
            if isinstance(following, yaml.MappingEndEvent):
                break
            key = self._node(following, events, path, depth + 1)
            if not isinstance(key, ScalarNode):
                raise self._refused(following, path, f"a key must be a single text, not {named_kind(key)}")
            inner = member(path, key.text)
            if key.text in first_lines:
                self.duplicates.append(duplicate_key(self._file, inner, first=first_lines[key.text], second=key.line))
                self.problems.append(self.duplicates[-1])
            first_lines.setdefault(key.text, key.line)
            entries.append((key, self._node(next(events), events, inner, depth + 1)))
        node = MappingNode(tuple(entries), *_place(event))
        return self._sized(node, (value for _, value in entries), self._merges(node), event)

    def _merges(self, node: MappingNode) -> NodeSize:
        """Return how many keys the merges of a mapping come to, each merge counting as one, and how deep they go."""
        sources = node.merged
        self._check_merged(sources)
        sizes = [self._size(source) for source in sources if isinstance(source, MappingNode)]
        keys = sum(len(source.entries) + 1 for source in sources if isinstance(source, MappingNode))
        depth = 1 + max((size.merge_depth for size in sizes), default=-1)
        return NodeSize(merged=keys + sum(size.merged for size in sizes), merge_depth=depth)

    def _check_merged(self, sources: Iterable[Node]) -> None:
        for source in sources:
            if not isinstance(source, MappingNode):
                message = f"`<<` merges keys with values, not {described(source)}"
                place = (self._file, source.line, source.column)
                hint = "name a mapping, or quote `<<`"
                self.problems.append(Problem("invalid-declaration", message, *place, "<<", hint))

    def _sized(self, node: _Collection, parts: Iterable[Node], merges: NodeSize, event: Event) -> _Collection:
        """Note the size of a list or mapping, and refuse what merges more than the limit."""
        if merges.merged > MERGED_VALUES.value or merges.merge_depth > DOCUMENT_DEPTH.value:
            message = f"the merges (`<<`) come to more than {MERGED_VALUES.value:,} {MERGED_VALUES.unit}"
            raise self._refused(event, "<<", message, "write out what is meant")
        height = 1 + max((self._size(part).height for part in parts), default=0)
        self._sizes[id(node)] = merges._replace(height=height)
        return node

    def _size(self, node: Node) -> NodeSize:
        return self._sizes.get(id(node), NodeSize())

    def _check_collection_tag(self, event: SequenceStartEvent | MappingStartEvent, path: str, standard: str) -> None:
        if event.tag is not None and event.tag not in {"!", _STANDARD + standard}:
            self._refuse_tag(event, event.tag, path)

    def _refuse_tag(self, event: Event, tag: str, path: str) -> None:
        named = tag.replace(_STANDARD, "!!", 1)
        hint = "quote the value" if named.startswith("!=") else "write the plain value"
        self.problems.append(self._problem(event, path, f"the tag {shown(named)} is not obeyed: no tag is", hint))

    def _problem(self, event: Event, path: str, message: str, hint: str = "") -> Problem:
        return Problem("invalid-declaration", message, self._file, *_place(event), path, hint)

    def _refused(self, event: Event, path: str, message: str, hint: str = "") -> _Refused:
        return _Refused(self._problem(event, path, message, hint))


def _place(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark is not None else (0, 0)


def plain_kind(value: str) -> str:
    """Return what a loader would make of an unquoted value."""
    if value in _ONE_LETTER_BOOLEANS:
        return "boolean"
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers.get(value[:1], ())
    tag = next((tag for tag, pattern in resolvers if pattern.match(value)), f"{_STANDARD}str")
    return _KINDS.get(tag.removeprefix(_STANDARD), "text")


def _no_yaml(why: str, file: str) -> Problem:
    return Problem("invalid-declaration", f"this is not YAML: {why}", file)


def as_hosts_read(node: Node | None) -> str:
    """Return what hosts read where a value stands that they take for something else than its text; else empty.

    They read YAML 1.1 with PyYAML: `off` is false, `010` is 8, `1:30` is 90 and `1.10` is 1.1.
    """
    if not isinstance(node, ScalarNode) or node.kind in {"text", "null"}:
        return ""
    try:
        value = yaml.load(node.text, Loader=_LOADER)  # noqa: S506 - the safe one, with libyaml or without
    except (ArithmeticError, ValueError, yaml.YAMLError):  # 2026-99-99
        return "nothing, as they cannot read the file"
    if isinstance(value, bool):
        return str(value).lower()
    return "" if str(value) == node.text else str(value)


_INDENTATION = re.compile(r"[ \t]*")
_LOOKS_LIKE_A_REQUIREMENT = re.compile(r"[<>=!~]=|[<>]|\]\s*[<>=!~]|[\w.-]\[")
_QUOTE = 'quote the value, for example `"name>=1"`'


def _explained(error: yaml.YAMLError, text: str, file: str) -> Problem:
    """Return the problem of a syntax fault, in words that say what to write."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return _explained_at(error, (error.problem_mark.line, error.problem_mark.column), text, file)
    position = getattr(error, "position", 0)
    line = text.encode(errors="replace")[:position].count(b"\n") + 1
    character = getattr(error, "character", "")
    named = shown(chr(character) if isinstance(character, int) else str(character))
    return Problem("invalid-declaration", f"the character {named} is not allowed in YAML", file, line)


def _explained_at(error: yaml.MarkedYAMLError, at: tuple[int, int], text: str, file: str) -> Problem:
    line, column = at
    lines = text.split("\n")
    written = lines[line] if line < len(lines) else ""
    indentation = _INDENTATION.match(written)
    tab = indentation.group().find("\t") if indentation else -1
    if tab >= 0:
        message, hint, column = "tab used for indentation", "indent with spaces", tab
    else:
        message = ", ".join(part for part in (error.context, error.problem) if part)
        hint = _QUOTE if _LOOKS_LIKE_A_REQUIREMENT.search(written) or "mapping values" in message else ""
    return Problem("invalid-declaration", f"this is not YAML: {message}", file, line + 1, column + 1, hint=hint)
