"""Tell memory providers from other plugins, by their key, their declaration or the text of their source."""

from __future__ import annotations

from pathlib import Path

from pm.documents.files import SOURCE_FILE, Fetch, folder_files, text_of
from pm.names import canonical_key


def is_memory_provider(folder: Path | None, key: str, kind: str) -> bool:
    """Say whether a plugin is a memory provider, from its files alone.

    It is one if it lies under `memory/`, if its kind is `exclusive`, or if the text of its `__init__.py` says so. The
    folder may be missing for a bundled plugin, whose declaration was read from inside of the core's wheel.
    """
    if kind == "exclusive" or is_in_memory_category(key):
        return True
    return folder is not None and names_a_provider(folder_files(folder))


def is_in_memory_category(key: str) -> bool:
    """Say whether a key is that of a plugin below `memory/`."""
    return canonical_key(key).startswith("memory/")


def names_a_provider(fetch: Fetch) -> bool:
    """Say whether a plugin's source, as text, is that of a memory provider."""
    source = text_of(fetch(SOURCE_FILE), SOURCE_FILE)
    return isinstance(source, str) and ("register_memory_provider" in source or "MemoryProvider" in source)
