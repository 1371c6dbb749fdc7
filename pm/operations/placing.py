"""Put the files of staged plugins in their places: kept by their digests first, and then moved there together."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pm.generations.transaction import Replacement
from pm.operations.candidate import CandidatePlugin
from pm.operations.installed_trees import InstalledTree
from pm.operations.kept_trees import (
    discard,
    forget_tree,
    keep_tree,
    keep_what_is_lost,
    noted,
    placed,
    recorded_tree,
)
from pm.operations.run import OperationRun
from pm.plugins.tree import link_target
from pm.system.folders import remove_if_empty
from pm.system.owners import hand_over
from pm.verdict.state import State


class Placement(NamedTuple):
    """What puts plugins in their places."""

    trees: dict[str, InstalledTree]
    """Folder of a plugin → what will lie there."""
    replacements: tuple[Replacement, ...]


@contextmanager
def placing(run: OperationRun, state: State, candidates: Sequence[CandidatePlugin]) -> Iterator[Placement]:
    """Give what puts plugins in their places, to be committed; what was not used of it is gone afterwards.

    Raise `PmError` (`unsafe-archive`, `no-space`, `not-writable`).
    """
    missing = list(_missing_folders(candidates))
    trees: dict[Path, InstalledTree] = {}
    replacements: list[Replacement] = []
    try:
        for candidate in candidates:
            tree = InstalledTree(keep_tree(run.places, candidate.staged.folder), candidate.staged.origin)
            trees[candidate.place] = tree
            replacements.append(_placed(run, state, candidate, tree))
        for folder in reversed(missing):
            hand_over(folder, folder.parent)
        together = (*replacements, noted(run.places, trees))
        yield Placement({str(place): tree for place, tree in trees.items()}, together)
    finally:
        discard(run.places, replacements)
        for tree in trees.values():
            forget_tree(run.places, tree.digest)
        for folder in missing:
            remove_if_empty(folder)


def _missing_folders(candidates: Sequence[CandidatePlugin]) -> Iterator[Path]:
    """Yield the folders around the plugins that are not there yet, the inner ones first."""
    around = dict.fromkeys(folder for each in candidates for folder in (each.place.parent, each.place.parent.parent))
    yield from sorted((folder for folder in around if not folder.exists()), key=lambda folder: -len(folder.parts))


def _placed(run: OperationRun, state: State, candidate: CandidatePlugin, tree: InstalledTree) -> Replacement:
    places, place = run.places, candidate.place
    if link_target(place):
        return placed(places, tree, place, recorded="")
    known = next((m.tree_digest for m in state.recorded if m.root == str(place)), "")
    recorded = recorded_tree(places, place, known) or (None if candidate.old is None else "")
    if recorded is not None:
        keep_what_is_lost(run, place, recorded, tree.digest)
    return placed(places, tree, place, recorded=recorded)
