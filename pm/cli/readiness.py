"""What the answer about everything that is enabled rests on, and which answers may be kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pm.cli import readiness_cache
from pm.errors import PmError
from pm.places import Places
from pm.system.stamps import Stamp, stamps

if TYPE_CHECKING:
    from pm.cli.invocation import Call
    from pm.receipts.receipt import Receipt

Stamped: TypeAlias = tuple[list[str], list[Stamp]]


def stamped_inputs(places: Places) -> Stamped:
    """Return the paths that an answer will rest on, with their stamps from before it is found out."""
    from pm.index.tool_configuration import consulted_files
    from pm.system.stamps import inputs

    paths = inputs(str(places.home), [*map(str, consulted_files(os.environ)), *_selected_paths(places)])
    return paths, stamps(paths)


def keep_answer(call: Call, words: Sequence[str], before: Stamped, receipt: Receipt) -> None:
    """Keep a good answer of the selected lock; what was resolved rests on an index, which has no stamp."""
    if receipt.outcome != "ready" or receipt.generation.restart_required or not _is_recorded(call.places, receipt):
        return
    facts = {name: str(getattr(receipt, name)) for name in ("id", "started_at", "finished_at", "duration_ms")}
    with suppress(PmError):  # a cache that cannot be written is no fault of the question
        readiness_cache.remember(list(words), before, call.shown(receipt), facts)


def _is_recorded(places: Places, receipt: Receipt) -> bool:
    from pm.generations.records import read_selected

    record = read_selected(places)
    return record is not None and record.fingerprint == receipt.inputs_fingerprint


def _selected_paths(places: Places) -> list[str]:
    """Return the paths by which a change of the selected generation, of its core and its interpreter shows."""
    from pm.generations.distributions import site_packages
    from pm.generations.records import read_selected
    from pm.host.core import paths_of_core
    from pm.system.stamps import plugin_files

    try:
        record = read_selected(places)
        if record is None:
            return []
        folder = places.environment(record.environment)
        paths = [site_packages(folder), places.record(record.generation), Path(record.interpreter)]
        paths += paths_of_core(record.core)
    except PmError:
        return []
    # plugins of a project count wherever the operator works, and a core that is a project can bring some
    projects = {str(Path(member.root).parent) for member in record.members if member.source == "project"}
    projects |= {str(path) for path in paths if path.name == "plugins"}
    return [*map(str, paths), *(file for folder in sorted(projects) for file in plugin_files(folder))]
