"""Change what a `config.yaml` selects, and leave every other byte of it as it is.

A change is made in the text, at the marks of the parser: comments, order, quotes and odd spaces of all other lines
stay. Then the result is parsed and compared with what was meant. Forms that this does not reach (a list behind an
alias, a value that goes over lines) go through a round trip of `ruamel.yaml`, which keeps comments and order but not
every space, and are compared in the same way. What neither can do is refused, and nothing is written.
"""

import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pm.config.profiles import CONFIG, config_bytes, config_text
from pm.config.reader import config_root
from pm.documents.boundary import TROUBLE
from pm.documents.nodes import ListNode, MappingNode, Node, ScalarNode, given
from pm.errors import PmError
from pm.names import canonical_key, leaf


class Enable(NamedTuple):
    """List a plugin in `plugins.enabled`, and under no spelling in `plugins.disabled`."""

    key: str
    names: tuple[str, ...] = ()
    """What else the plugin is called (`Found.names`): these, too, are spellings of it."""


class Disable(NamedTuple):
    """List a plugin in `plugins.disabled`, and under no spelling in `plugins.enabled`."""

    key: str
    names: tuple[str, ...] = ()


class Remove(NamedTuple):
    """Take every spelling of a plugin out of the config: both lists, its entries, and a selection that names it."""

    key: str
    names: tuple[str, ...] = ()
    staying: tuple[str, ...] = ()
    """Settings that select another plugin, whatever they are spelled like."""


class Set(NamedTuple):
    """Set one of `SETTINGS` to a text, or to a list of texts; an empty list is written, and not left out."""

    setting: str
    value: str | tuple[str, ...]


ConfigChange = Enable | Disable | Remove | Set
SETTINGS = ("pm.core", "pm.python", "pm.indexes", "pm.find_links", "memory.provider", "context.engine")


class LockedConfig(NamedTuple):
    """A config as it was read under its lock: no other process changes it meanwhile."""

    path: Path
    """Where to write: behind a link, if `config.yaml` is one."""
    content: bytes | None
    """`None` if there is none yet."""


def edit_config(path: Path, changes: Sequence[ConfigChange]) -> bytes:
    """Return the new content of a config; a file that is missing counts as empty. Nothing is written.

    Raise `PmError` (`config-unreadable`) if the config cannot be read, or is written in a way that cannot be changed.
    """
    written = config_text(path)
    text = written or ""
    for change in changes:
        for edit in _edits(change, config_root(text, str(path))):
            text = _applied(text, edit, path)
    return _encoded(text, path if written is not None else None)


@contextmanager
def locked_config(home: Path, *, seconds: float = 10.0) -> Iterator[LockedConfig]:
    """Hold `<home>/config.yaml.lock`, and give what the config is under the lock.

    Raise `PmError` (`busy`) if another process holds it for longer than `seconds`, (`config-unreadable`).
    """
    from filelock import FileLock, Timeout

    home.mkdir(parents=True, exist_ok=True)
    lock = FileLock(home / f"{CONFIG}.lock", timeout=seconds, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        message = f"another program has locked `{CONFIG}` for {seconds:g} seconds"
        raise PmError("busy", message, hint="try again when it is done", file=str(home / CONFIG)) from error
    try:
        content = config_bytes(home / CONFIG)
        yield LockedConfig(Path(os.path.realpath(home / CONFIG)), content)
    finally:
        lock.release()


class _Edit(NamedTuple):
    """One value of the config that gets another value."""

    path: tuple[str, ...]
    value: tuple[str, ...] | str | None
    """A whole list, a text, or `None` to drop the key."""


_LISTS = (("plugins", "enabled"), ("plugins", "disabled"))


def _edits(change: ConfigChange, root: MappingNode) -> Iterator[_Edit]:
    match change:
        case Set(setting, value):
            yield _setting(setting, value)
        case Enable(key, names):
            yield from _without_spellings(root, (key, *names), _LISTS[1:])
            yield from _with_key(root, key, names, _LISTS[0])
        case Disable(key, names):
            yield from _without_spellings(root, (key, *names), _LISTS[:1])
            yield from _with_key(root, key, names, _LISTS[1])
        case Remove(key, names, staying):
            yield from _without_spellings(root, (key, *names), _LISTS)
            yield from _without_entries(root, (key, *names))
            yield from _unselected(root, (key, leaf(key), *names), staying)


def _setting(setting: str, value: str | tuple[str, ...]) -> _Edit:
    if setting not in SETTINGS:
        message = f"`{setting}` is not a setting that is edited"
        raise ValueError(message)
    section, _, name = setting.partition(".")
    return _Edit((section, name), value)


def _without_spellings(root: MappingNode, keys: Sequence[str], paths: Sequence[tuple[str, str]]) -> Iterator[_Edit]:
    canonical = {canonical_key(key) for key in keys}
    for path in paths:
        texts = _texts(_at(root, path))
        kept = tuple(text for text in texts if canonical_key(text) not in canonical)
        if kept != texts:
            yield _Edit(path, kept)


def _with_key(root: MappingNode, key: str, names: Sequence[str], path: tuple[str, str]) -> Iterator[_Edit]:
    texts = _texts(_at(root, path))
    canonical = {canonical_key(name) for name in (key, *names)}
    if not any(canonical_key(text) in canonical for text in texts):
        yield _Edit(path, (*texts, key))


def _without_entries(root: MappingNode, keys: Sequence[str]) -> Iterator[_Edit]:
    canonical = {canonical_key(key) for key in keys}
    entries = _at(root, ("plugins", "entries"))
    if isinstance(entries, MappingNode):
        written = [key.text for key, _ in entries.entries if canonical_key(key.text) in canonical]
        yield from (_Edit(("plugins", "entries", text), None) for text in written)


def _unselected(root: MappingNode, keys: Sequence[str], staying: Sequence[str]) -> Iterator[_Edit]:
    canonical = {canonical_key(key) for key in keys}
    for path in (("memory", "provider"), ("context", "engine")):
        node = None if ".".join(path) in staying else _at(root, path)
        if isinstance(node, ScalarNode) and canonical_key(node.text) in canonical:
            yield _Edit(path, "")


def _at(root: MappingNode, path: tuple[str, ...]) -> Node | None:
    node: Node | None = root
    for part in path:
        node = given(node, part) if isinstance(node, MappingNode) else None
    return node


def _texts(node: Node | None) -> tuple[str, ...]:
    items = node.items if isinstance(node, ListNode) else ()
    return tuple(item.text.strip() if isinstance(item, ScalarNode) else "" for item in items)


def _applied(text: str, edit: _Edit, path: Path) -> str:
    """Return the text with an edit: in place if that gives what is meant, else by a round trip."""
    from pm.config.yaml_edit import Unreachable

    old = _at(config_root(text, str(path)), edit.path)
    possible = not isinstance(edit.value, tuple) or _is_list_of_names(old)
    for way in (_in_place, _round_trip) if possible else ():
        try:
            new = way(text, edit)
        except Unreachable:
            continue
        if _is_meant(text, new, edit, path):
            return new
    message = f"`{'.'.join(edit.path)}` is written in a form that cannot be changed without touching something else"
    raise PmError("config-unreadable", message, hint="change it by hand", file=str(path), key=".".join(edit.path))


def _is_list_of_names(node: Node | None) -> bool:
    """Say whether a value is a list that can gain or lose a name; one that is missing can."""
    if node is None:
        return True
    return isinstance(node, ListNode) and all(isinstance(item, ScalarNode) for item in node.items)


def _in_place(text: str, edit: _Edit) -> str:
    from pm.config.yaml_edit import add_empty, add_item, drop_item, drop_key, set_text

    if edit.value is None:
        return drop_key(text, edit.path)
    if isinstance(edit.value, str):
        return set_text(text, edit.path, edit.value)
    if not edit.value and _at(config_root(text, CONFIG), edit.path) is None:
        return add_empty(text, edit.path)
    dropped, added = _difference(_texts(_at(config_root(text, CONFIG), edit.path)), edit.value)
    for item in added:
        text = add_item(text, edit.path, item)
    for position in reversed(dropped):
        text = drop_item(text, edit.path, position)
    return text


def _difference(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Return the positions of what leaves a list, and what comes to its end."""
    dropped = []
    kept = 0
    for position, item in enumerate(old):
        if kept < len(new) and new[kept] == item:
            kept += 1
        else:
            dropped.append(position)
    return dropped, list(new[kept:])


def _round_trip(text: str, edit: _Edit) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from pm.config.yaml_edit import Unreachable

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 2**20  # no line is broken that was whole
    editor.indent(mapping=2, sequence=4, offset=2)
    try:
        with warnings.catch_warnings(action="ignore"):  # of an anchor that is used twice
            document = editor.load(text)
        _assign(document, edit)
        stream = io.StringIO()
        editor.dump(document, stream)
    except (YAMLError, AttributeError, TypeError, *TROUBLE) as error:
        raise Unreachable from error
    return stream.getvalue()


def _assign(document: Any, edit: _Edit) -> None:  # noqa: ANN401 - what `ruamel.yaml` loads has no type of its own
    *sections, name = edit.path
    section = document
    for part in sections:
        if section.get(part) is None:
            section[part] = {}
        section = section[part]
    if edit.value is None:
        del section[name]
    else:
        section[name] = _scalar(edit.value) if isinstance(edit.value, str) else list(map(_scalar, edit.value))


def _scalar(text: str) -> str:
    """Return a text as `ruamel.yaml` must write it: hosts read YAML 1.1, in which `on` is no text without quotes."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    from pm.config.yaml_edit import Unreachable, quoted

    try:
        is_plain = quoted(text) == text
    except Unreachable:
        is_plain = False
    return text if is_plain else DoubleQuotedScalarString(text)


def _is_meant(old: str, new: str, edit: _Edit, path: Path) -> bool:
    """Say whether a new text has the edited value at its place, and everything else as it was."""
    try:
        before, after = config_root(old, str(path)), config_root(new, str(path))
    except PmError:
        return False
    node = _at(after, edit.path)
    if edit.value is None:
        has_value = node is None
    elif isinstance(edit.value, str):
        has_value = isinstance(node, ScalarNode) and (node.text, node.kind) == (edit.value, "text")
    else:
        has_value = _texts(node) == edit.value and isinstance(node, ListNode)
    shapes = _Shapes()
    return has_value and shapes.besides(before, edit.path) == shapes.besides(after, edit.path)


class _Shapes:
    """What documents say, in their order, without places: equal values have equal numbers, however often aliased."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._seen: dict[int, int] = {}

    def besides(self, node: Node | None, path: tuple[str, ...]) -> tuple[object, ...]:
        """Return the shape of a mapping without a path; a section that holds nothing else counts as nothing."""
        found: list[object] = []
        for key, value in node.entries if isinstance(node, MappingNode) else ():
            if key.text != path[0]:
                found.append((key.text, self._number(value)))
            elif len(path) > 1 and (inner := self.besides(value, path[1:])):
                found.append((key.text, inner))
        return tuple(found)

    def _number(self, node: Node) -> int:
        if id(node) not in self._seen:
            self._seen[id(node)] = self._numbers.setdefault(self._content(node), len(self._numbers))
        return self._seen[id(node)]

    def _content(self, node: Node) -> tuple[object, ...]:
        if isinstance(node, ScalarNode):
            return node.kind, node.text
        if isinstance(node, ListNode):
            return "list", *map(self._number, node.items)
        return "mapping", *((key.text, self._number(value)) for key, value in node.entries)


def _encoded(text: str, path: Path | None) -> bytes:
    """Return the bytes of a text with the byte order mark and the line ends that the file had."""
    old = path.read_bytes() if path is not None else b""
    mark = b"\xef\xbb\xbf" if old.startswith(b"\xef\xbb\xbf") else b""
    lines = old.count(b"\n")
    windows = lines > 0 and old.count(b"\r\n") == lines
    return mark + (text.replace("\n", "\r\n") if windows else text).encode()
