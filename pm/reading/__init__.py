"""Read plugins: what they declare, where they are, what they import. Everything is read as text, nothing is run."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pm.reading.bundled import read_bundled
    from pm.reading.declaration import read_declaration
    from pm.reading.discovery import Found, find_plugins, plugin_folders
    from pm.reading.distribution import read_distribution
    from pm.reading.files import DECLARATION_FILES
    from pm.reading.imports import Imports, UndeclaredImport, undeclared_imports
    from pm.reading.providers import is_memory_provider
    from pm.reading.stored import Rules, declaration_from_json, declaration_to_json, read_declaration_cached

__all__ = [
    "DECLARATION_FILES",
    "Found",
    "Imports",
    "Rules",
    "UndeclaredImport",
    "declaration_from_json",
    "declaration_to_json",
    "find_plugins",
    "is_memory_provider",
    "plugin_folders",
    "read_bundled",
    "read_declaration",
    "read_declaration_cached",
    "read_distribution",
    "undeclared_imports",
]

# Who reads through the cache pays for none of the parsers, so each name is imported when it is first asked for.
_HOMES = {
    "DECLARATION_FILES": "files",
    "Found": "discovery",
    "Imports": "imports",
    "Rules": "stored",
    "UndeclaredImport": "imports",
    "declaration_from_json": "stored",
    "declaration_to_json": "stored",
    "find_plugins": "discovery",
    "is_memory_provider": "providers",
    "plugin_folders": "discovery",
    "read_bundled": "bundled",
    "read_declaration": "declaration",
    "read_declaration_cached": "stored",
    "read_distribution": "distribution",
    "undeclared_imports": "imports",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"pm.reading.{_HOMES[name]}"), name)
