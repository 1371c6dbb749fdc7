"""Where Hermes keeps its things: the home of the profile that the context serves, and the root of all profiles."""

from __future__ import annotations

import os
import sys
from contextvars import ContextVar, Token
from pathlib import Path

__all__ = [
    "display_hermes_home",
    "get_default_hermes_root",
    "get_hermes_home",
    "get_hermes_home_override",
    "get_process_hermes_home",
    "hermes_home_key",
    "reset_hermes_home_override",
    "set_hermes_home_override",
]

# A context variable and not an environment variable: one process serves several profiles at once, and each of its
# threads and tasks must see its own.
_home_override: ContextVar[str | None] = ContextVar("hermes_home_override", default=None)


def get_hermes_home() -> Path:
    """Return the home of the profile that the current context serves.

    The override of the context comes first, then `HERMES_HOME`, then the platform's own place.
    """
    override = get_hermes_home_override()
    return Path(override) if override else get_process_hermes_home()


def get_process_hermes_home() -> Path:
    """Return the home that the process was started with, whatever the context overrides."""
    configured = os.environ.get("HERMES_HOME", "").strip()
    return Path(configured) if configured else _platform_home()


def get_default_hermes_root() -> Path:
    """Return the root that holds all profiles: of `<root>/profiles/<name>` that `<root>`, else the process's home."""
    home = get_process_hermes_home()
    return home.parent.parent if home.parent.name == "profiles" else home


def set_hermes_home_override(path: str | Path | None) -> Token[str | None]:
    """Let the current context see another home; `None` or an empty text means no override."""
    return _home_override.set(str(path) if path else None)


def reset_hermes_home_override(token: Token[str | None]) -> None:
    """Go back to what held before the call that returned `token`."""
    _home_override.reset(token)


def get_hermes_home_override() -> str | None:
    """Return the home that the current context sees instead of the process's, if it does."""
    return _home_override.get()


def display_hermes_home() -> str:
    """Return the current home as a person would write it, `~/.hermes/profiles/coder`."""
    home = get_hermes_home()
    try:
        user = Path.home()
    except RuntimeError:  # a user without an entry in the system, as in containers
        return str(home)
    return f"~/{home.relative_to(user).as_posix()}" if home.is_relative_to(user) else str(home)


def hermes_home_key(home: str | Path | None = None) -> str:
    """Return one text for every spelling of a home (the current one by default): absolute, without links or `~`."""
    chosen = Path(home) if home else get_hermes_home()
    return os.path.normcase(chosen.expanduser().resolve())


def _platform_home() -> Path:
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "").strip()
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "hermes"
    return Path.home() / ".hermes"
