"""Read the configuration of the profile that the current context serves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigUnreadable(f"`{path}` cannot be read: {error}") from error
    return parse_mapping(text, path)


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
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    reader = YAML(typ="base" if as_texts else "safe", pure=True)
    # Existing homes were written for a YAML 1.1 reader: there `yes` and `off` are booleans.
    reader.version = (1, 1)
    try:
        document = reader.load(text)
    # What looks like a date or a number and is none, and what is nested too deeply, the reader lets through as it is.
    except (YAMLError, ValueError, LookupError, RecursionError) as error:
        raise ConfigUnreadable(f"`{path}` is not valid YAML: {error}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigUnreadable(f"`{path}` must be a mapping, not a {type(document).__name__}")
    return document
