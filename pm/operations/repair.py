"""Build the recorded lock again: what runs afterwards is what was admitted, whatever happened to the files."""

from pathlib import Path

from admission import Refused
from pm.config.profiles import read_selection
from pm.errors import PmError
from pm.generations.build import Edits, Ingredients, Prepared, allowed_collisions, contents_after, prepare, select
from pm.generations.inventory import recorded_core
from pm.generations.records import Record
from pm.generations.uv import forget
from pm.host.interpreter import describe_interpreter
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import say_selected, selected_record
from pm.operations.verify import found
from pm.receipts.receipt import Done
from pm.verdict.state import Options, sources_of


def repair(run: OperationRun, options: Options) -> Result:
    """Build a new generation from the selected one's lock; nothing is resolved, and the core never goes alone.

    The damaged distributions leave uv's cache first: its files may be the damaged ones, under another name. Raise
    `PmError` (`no-generation`, `install-failed`, `offline`, `no-interpreter` …); then what is selected stays.
    """
    record = selected_record(run)
    faults = found(run, record)
    if not faults:
        return Done("unchanged")
    if run.operation.dry_run:
        return Done("repaired")
    damaged = sorted({fault.package for fault in faults if fault.package})
    forget(run.places, [name for name in damaged if record.lock.pin(name)])
    prepared = _built(run, record, options)
    if isinstance(prepared, Refused):
        return prepared
    contents = contents_after(record, record.members, record.fingerprint)
    after = select(run.places, prepared, contents, Edits(), operation=run.mark)
    say_selected(run, record, after)
    return Done("repaired", record.lock)


def _built(run: OperationRun, record: Record, options: Options) -> Prepared | Refused:
    interpreter = describe_interpreter(Path(record.interpreter), run.places.cache)
    hosted = recorded_core(run.places, record)
    allowed = allowed_collisions(record.consents)
    with run.phase("build", f"building an environment of {len(record.lock.pins)} packages"):
        if options.offline:
            return prepare(run.places, record.lock, Ingredients(hosted, interpreter, None, None, allowed), None)
        settings = read_selection(run.places.root).settings
        sources = sources_of(settings, run.places, run.context.environ)
        try:
            return prepare(run.places, record.lock, Ingredients(hosted, interpreter, sources, None, allowed), None)
        except PmError as error:
            if error.code == "install-failed":
                error.hint = error.hint or "the wheels may be gone from the index; `hermes pm init` resolves again"
            raise
