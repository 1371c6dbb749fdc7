"""Delete the generations that are not needed any more, and what only they needed."""

from admission import Problem
from pm.generations.disk_space import note_only
from pm.operations.run import OperationRun, Result
from pm.operations.surplus import cached, delete, freed_by, in_order, needed_of, unneeded
from pm.receipts.receipt import Done
from pm.system.files import disk_error, size_text


def collect(run: OperationRun, *, cache: bool = False, keep: int | None = None) -> Result:
    """Keep what is selected, what something runs in or starts by path, and the newest `keep` generations.

    Without a number they are `pm.keep_generations`.

    The rest goes. With `cache` that goes too which uv's cache and ours hold for none of these. A dry run only says what
    would go. Raise `PmError` (`drift`) if it is not known what is selected.
    """
    places = run.places
    needed = needed_of(places, run.context.environ, keep)
    paths = in_order(unneeded(places, needed))
    if cache:
        paths += dict.fromkeys(path for path in cached(places, needed) if path not in set(paths))
    freed, failed = 0, list[OSError]()
    for path, size in freed_by(paths).items():
        try:
            if not run.operation.dry_run and not delete(places, path):
                continue
        except OSError as error:
            failed.append(error)
            continue
        freed += size
        run.leaves("rest")
        run.note(Problem("collected", f"`{path.relative_to(places.state)}`, {size_text(size)}"))
    if cache and not run.operation.dry_run:
        note_only(places, needed.locks)
    if failed:  # by now everything else is gone
        raise disk_error(failed[0], places.generations, verb="deleted")
    return Done("collected", freed=size_text(freed) if freed else "")
