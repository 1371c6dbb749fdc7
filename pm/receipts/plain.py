"""Named tuples to plain JSON values and back; on the way out every text is redacted."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pm.redaction import redact, redact_value

__all__ = ["from_plain", "json_text", "to_plain", "with_texts"]

Value = TypeVar("Value", bound="tuple[Any, ...]")


def to_plain(value: object) -> object:
    """Return named tuples as objects, tuples as lists, and every text without credentials."""
    if isinstance(value, str):
        return redact(_writable(value))
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        if fields is None:
            return [to_plain(item) for item in value]
        # a place can be anything that was written where a path or an address belongs
        return {
            _key(name): redact_value(_writable(item)) if name in _PLACES else to_plain(item)
            for name, item in zip(fields, value, strict=True)
        }
    if isinstance(value, Mapping):
        return {key: to_plain(item) for key, item in value.items()}
    return value


_PLACES = ("file", "location")


def _writable(text: str) -> str:
    """Return a text without halves of surrogate pairs (a path in an unknown encoding), which no JSON reader accepts."""
    return text.encode("utf-8", "replace").decode()


def with_texts(
    value: object, changed: Callable[[str], str], otherwise: Mapping[str, Callable[[str], str]] = MappingProxyType({})
) -> object:
    """Return plain JSON with every text in it changed, those of some keys `otherwise`; keys stay."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, Mapping):
        return {key: with_texts(item, otherwise.get(key, changed), otherwise) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [with_texts(item, changed, otherwise) for item in value]
    return value


def json_text(value: object) -> str:
    """Return plain JSON as files and `--json` hold it: ASCII, so that no encoding can spoil it.

    It holds no old form of a workflow command either, which GitHub obeys wherever it stands in a line.
    """
    return json.dumps(value, indent=2).replace("##[", "\\u0023#[") + "\n"


def from_plain(kind: type[Value], value: Mapping[str, object]) -> Value:
    """Return the named tuple that an object describes.

    Raise `TypeError` or `ValueError` where it does not fit.
    """
    hints = _hints(kind)
    known = {
        field: _read(hint, value[_key(field)], _key(field)) for field, hint in hints.items() if _key(field) in value
    }
    return kind(**known)


def _key(field: str) -> str:
    # `from` is a word of the language, so its field is `from_`.
    return field.removesuffix("_")


@cache
def _hints(kind: type) -> dict[str, object]:
    return get_type_hints(kind)


def _read(hint: object, value: object, key: str) -> object:
    hint = getattr(hint, "__supertype__", hint)  # of a `NewType`
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if value is None else _read(arguments[0], value, key)
    if origin is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], item, key) for item in value)
    if origin is Mapping and isinstance(value, Mapping):
        return {name: _read(arguments[1], item, key) for name, item in value.items()}
    if origin is None and hasattr(hint, "_fields") and isinstance(value, Mapping):
        return from_plain(cast("type[tuple[Any, ...]]", hint), value)
    if type(value) is hint:
        return value
    raise ValueError(f"`{key}` does not fit")
