"""Which tree the manager has put into which folder, and where it came from: an installed plugin needs its own."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from pm.places import Places
from pm.plugins.discovery import Found
from pm.plugins.tree import link_target
from pm.receipts.receipt import SourceRow
from pm.system.files import path_text, read_stored

INSTALLED = "installed.json"


class InstalledTree(NamedTuple):
    """What lies in the folder of a plugin."""

    digest: str
    """Of the tree, which is kept by it."""
    origin: SourceRow = SourceRow("")
    """Where its files came from; of no kind if that is not known."""


def installed_trees(places: Places) -> dict[str, InstalledTree]:
    """Return the trees that the manager has put into folders, by the folders; a row that is damaged is left out."""
    value = read_stored(places.trees / INSTALLED)
    trees: dict[str, InstalledTree] = {}
    for folder, row in value.items() if isinstance(value, dict) else ():
        with suppress(ValueError):  # what no folder can be called
            trees[spelled(Path(path_text(folder)))] = _tree(row)
    return trees


def installed_tree(places: Places, folder: Path) -> InstalledTree | None:
    """Return the tree that the manager has put into a folder; `None` if it has put none there."""
    return installed_trees(places).get(spelled(folder))


def origin_of(places: Places, found: Found) -> SourceRow:
    """Return where the files of a plugin came from; of no kind where the manager has not put them there."""
    if found.source != "user" or found.folder is None or link_target(found.folder):
        return SourceRow("")
    installed = installed_tree(places, found.folder)
    return installed.origin if installed is not None else SourceRow("")


def installed_bytes(trees: Mapping[str, InstalledTree]) -> bytes:
    """Return trees by their folders as the file holds them that says which lies where."""
    from json import dumps

    rows = {folder: {"tree": tree.digest, "source": tree.origin._asdict()} for folder, tree in trees.items()}
    return dumps(rows, indent=2, sort_keys=True).encode() + b"\n"


def _tree(row: Any) -> InstalledTree:  # noqa: ANN401 - a value of JSON
    if not isinstance(row, dict):  # older versions wrote the digest alone
        return InstalledTree(str(row))
    return InstalledTree(str(row.get("tree", "")), origin_from_json(row.get("source")))


def origin_from_json(value: object) -> SourceRow:
    """Return where files came from as a state file has it; of no kind for anything else."""
    fields = value if isinstance(value, dict) else {}
    return SourceRow(*(str(fields.get(name, "")) for name in SourceRow._fields))


def spelled(folder: Path) -> str:
    """Return the one spelling of a plugin's folder: the way to it may lead over links, and it may be one itself."""
    return os.path.join(os.path.realpath(folder.parent), folder.name)  # noqa: PTH118 - `realpath` gives a text
