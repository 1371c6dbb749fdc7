"""Read the configuration of the profile that the current context serves."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from hermes_cli.foreign_text import TROUBLE, read_text, read_yaml
from hermes_constants import get_hermes_home

__all__ = ["ConfigUnreadable", "cfg_get", "get_config_path", "load_config", "parse_mapping"]


class ConfigUnreadable(ValueError):
    """The configuration exists and is not a YAML mapping."""


def load_config() -> dict[str, Any]:
    """Return what `config.yaml` of the current home says; empty when there is none.

    Raise `ConfigUnreadable` for a broken file: a reader that went on with an empty one would take what the operator
    forbade for allowed.
    """
    path = get_config_path()
    try:
        status = path.stat()
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        known = _read.get(path)
        if known is None or known[0] != stamp:
            known = _read[path] = stamp, parse_mapping(read_text(path), path)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise ConfigUnreadable(f"`{path}` is a link that leads nowhere") from error
        return {}
    except ConfigUnreadable:
        raise
    except (OSError, ValueError) as error:
        raise ConfigUnreadable(f"`{path}` cannot be read: {error}") from error
    return deepcopy(known[1])


_read: dict[Path, tuple[tuple[int, ...], dict[str, Any]]] = {}
"""Path → what the file was when it was read, and what it said."""


def cfg_get(config: Mapping[str, Any] | None, *keys: str, default: Any = None) -> Any:  # noqa: ANN401 - any YAML value
    """Return the value under nested `keys`, or `default` where the way ends; an explicit null is a value."""
    value: Any = config
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return value


def get_config_path() -> Path:
    """Return where the current home's configuration is, or would be."""
    return get_hermes_home() / "config.yaml"


def parse_mapping(text: str, path: Path, *, as_texts: bool = False) -> dict[str, Any]:
    """Return the keys of a YAML text; an empty one has none. Raise `ConfigUnreadable`, which names `path`.

    With `as_texts` every plain value is the text as it is written: a version `1.10` is not 1.1, nor a name `on` true.
    """
    try:
        document = read_yaml(text, as_texts=as_texts)
    except TROUBLE as error:
        raise ConfigUnreadable(f"`{path}` is not valid YAML: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigUnreadable(f"`{path}` must be a mapping, not a {type(document).__name__}")
    return document
