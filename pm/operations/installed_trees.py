"""Which tree the manager has put into which folder: an installed plugin needs its own."""

import os
from pathlib import Path

from pm.places import Places
from pm.system.files import read_stored

INSTALLED = "installed.json"


def installed_trees(places: Places) -> dict[str, str]:
    """Return the digests of the trees that the manager has put into folders, by the folders."""
    value = read_stored(places.trees / INSTALLED)
    rows = value.items() if isinstance(value, dict) else ()
    return {spelled(Path(folder)): str(digest) for folder, digest in rows}


def spelled(folder: Path) -> str:
    """Return the one spelling of a plugin's folder: the way to it may lead over links, and it may be one itself."""
    return os.path.join(os.path.realpath(folder.parent), folder.name)  # noqa: PTH118 - `realpath` gives a text
