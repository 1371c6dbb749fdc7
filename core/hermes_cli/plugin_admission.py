"""Say what may be imported into this process: what was not admitted to its generation is not.

The manager admits plugins, and a core cannot tell by itself whether one declares what was admitted: the reader of
declarations is the manager's. So `hermes run` compares, and hands over by a variable what stands; the page is
docs/reference/launcher.md.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

from hermes_cli.plugin_sources import PluginManifest, canonical_key

__all__ = ["Admission", "Skipped", "admission"]


class Skipped(NamedTuple):
    """A plugin that is enabled and was not imported."""

    key: str
    path: str
    message: str
    step: str
    """What admits it."""
    code: str = "not-admitted"


class Admission(NamedTuple):
    """What may be imported."""

    standing: frozenset[str] | None
    """Folders, and keys of the core's own plugins; `None`: everything, because no manager takes care of the home."""
    why: str = ""
    step: str = ""
    """`NAME` stands for the plugin's key."""

    def refusal(self, plugin: PluginManifest) -> Skipped | None:
        """Return why a plugin must not be imported, if it must not."""
        own = canonical_key(plugin.key) if plugin.source == "bundled" else os.path.realpath(plugin.path)
        if self.standing is None or own in self.standing:
            return None
        return Skipped(plugin.key, plugin.path, self.why, self.step.replace("NAME", plugin.key))


def admission(home: Path) -> Admission:
    """Return what may be imported for a home: in a process of `hermes run` what the manager handed over.

    In any other process nothing, as soon as the manager has selected a generation for the home. Without one the core
    is used as a library, and everything that is enabled may be imported.
    """
    generation = os.environ.get("HERMES_PM_GENERATION", "")
    if generation:
        return _handed_over(home, generation, os.environ.get("HERMES_PM_ADMITTED", ""))
    if os.path.lexists(_root(home) / "pm" / "pointer.json"):
        step = "`hermes run` starts in the environment that it was admitted to"
        return Admission(frozenset(), "the process was not started by `hermes run`", step)
    return Admission(None)


def _handed_over(home: Path, generation: str, handed: str) -> Admission:
    try:
        rows = json.loads(handed)[_profile(home)] if handed else []
        standing = frozenset(os.path.realpath(row) if row.startswith("/") else canonical_key(row) for row in rows)
    except KeyError:
        standing = frozenset()
    except (ValueError, TypeError, AttributeError):
        standing, handed = frozenset(), ""
    if not handed:
        return Admission(frozenset(), "`hermes run` did not say what was admitted", "`hermes plugins check` says why")
    why = f"in its present form it is not part of generation {generation}"
    return Admission(standing, why, "`hermes plugins enable NAME` admits it")


def _root(home: Path) -> Path:
    return home.parent.parent if home.parent.name == "profiles" else home


def _profile(home: Path) -> str:
    """Return what the manager calls the profile of a home."""
    if _root(home) == home:
        return "default"
    return f"profiles/{home.name}" if home.name == "default" else home.name
