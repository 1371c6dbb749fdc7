"""`Receipt`: what happened and why, as a value and as the JSON that the published schema describes (schema.json).

A receipt holds texts and numbers only, so that it outlives the types that it was built from. An empty text and line 0
mean *unknown or not applicable*; `null` is used only where the schema says so.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple, cast

from admission import Notice, Origin, Reason, Step
from lockfiles import Lock
from pm.places import GenerationNumber
from pm.receipts.plain import from_plain, json_text, to_plain

__all__ = [
    "Done",
    "InvalidReceipt",
    "Operation",
    "Receipt",
    "begin",
    "from_json",
    "place_of",
    "receipt_text",
    "time_text",
    "to_json",
]

SCHEMA = 1


class InvalidReceipt(ValueError):
    """A JSON value that is not a receipt of this schema."""


class OwnerRow(NamedTuple):
    """The owner of a requirement."""

    kind: str
    name: str


class PlaceRow(NamedTuple):
    """Where something is written."""

    file: str = ""
    line: int = 0
    column: int = 0
    key: str = ""


class SourceRow(NamedTuple):
    """Where a plugin comes from."""

    kind: str
    """`folder`, `archive`, `git`, `catalog`, `pypi`, `bundled`, `project` or `package`."""
    location: str = ""
    """Without a login; of a repository with `#FOLDER` where the plugin is not its root."""
    commit: str = ""
    ref: str = ""
    """Of a repository what was asked for: a full commit, a branch or a tag; empty for its default branch."""


class Plugin(NamedTuple):
    """One plugin that the operation was about, or a member of the union."""

    key: str
    name: str = ""
    version: str = ""
    source: SourceRow = SourceRow("folder")
    profile: str = ""
    declared_in: str = ""
    """The file that holds its requirements."""
    digest: str = ""
    """Of its canonical declaration."""


class DemandRow(NamedTuple):
    """One requirement that takes part in a conflict."""

    owner: OwnerRow
    requirement: str
    declared_at: PlaceRow = PlaceRow()
    chain: tuple[str, ...] = ()
    """From the requirement itself to what is asked of the disputed package."""


class AvailableRow(NamedTuple):
    """A version of the disputed package, or a run of them, and why it is out."""

    versions: str
    reason: str


class CheckedBy(NamedTuple):
    """What each of the two decisions said."""

    search: str
    complete: str


class ProofRow(NamedTuple):
    """How sure a refusal is."""

    minimal: bool
    verified: bool
    checked_by: CheckedBy


class ReasonRow(NamedTuple):
    """Why it was not done."""

    code: str
    message: str
    package: str = ""
    demands: tuple[DemandRow, ...] = ()
    available: tuple[AvailableRow, ...] = ()
    also: tuple[DemandRow, ...] = ()
    """Demands on the same package that are no part of the proof, and that would conflict with the same demands."""
    proof: ProofRow | None = None
    declared_at: PlaceRow | None = None
    hint: str = ""
    """What to write instead, where it is obvious."""
    what_now: str = ""
    """What helps with this code in general."""
    opened_by: tuple[DemandRow, ...] = ()
    """What opens a pre-release or a yanked version that the conflict is about: no part of the contradiction."""


class Part(NamedTuple):
    """One of several changes that help together."""

    action: str
    subject: str
    value: str
    explanation: str
    declared_at: PlaceRow | None = None
    before: str = ""
    after: str = ""


class StepRow(NamedTuple):
    """One step that may help."""

    action: str
    subject: str
    value: str
    """The version, instant, core requirement or text that would be set."""
    command: str
    """For a shell, as it can be pasted."""
    explanation: str
    confirmed: bool
    """A dry run admitted the set with this change."""
    declared_at: PlaceRow | None = None
    """For `widen`: where the requirement is written that would change; `before` and `after` are its texts."""
    before: str = ""
    after: str = ""
    """Empty where it is not known yet which text would do."""
    effect: tuple[str, ...] = ()
    when: str = ""
    """What has to change first, for a step that cannot be confirmed."""
    parts: tuple[Part, ...] = ()
    """For `together`: all that has to be done."""


class ChangeRow(NamedTuple):
    """What happened to one distribution. Equal versions: the same version from another file."""

    name: str
    from_: str | None
    to: str | None
    owners: tuple[OwnerRow, ...] = ()


class ChangesRow(NamedTuple):
    """What an environment gained, lost and moved."""

    added: tuple[ChangeRow, ...] = ()
    removed: tuple[ChangeRow, ...] = ()
    moved: tuple[ChangeRow, ...] = ()


class Transition(NamedTuple):
    """From which generation to which."""

    before: GenerationNumber | None = None
    after: GenerationNumber | None = None
    lock_digest: str = ""
    restart_required: bool = False
    restart_reasons: tuple[str, ...] = ()


class FactsFile(NamedTuple):
    """The file beside the receipt that holds the index facts of the verdict."""

    name: str
    digest: str


class PagesRow(NamedTuple):
    """How old the pages of indexes are that the verdict rests on."""

    number: int
    oldest: str
    """The package whose page was asked for first."""
    asked_at: str
    """When that was: no index was asked for it since."""


class Consent(NamedTuple):
    """What the operator allowed."""

    action: str
    """That of the step which asks for it, `allow-build` for example."""
    subject: str


class WarningRow(NamedTuple):
    """A warning: it stops nothing."""

    code: str
    message: str
    package: str = ""
    owner: str = ""
    declared_at: PlaceRow | None = None
    hint: str = ""
    level: str = "notice"
    """`warning` for what the author of a plugin that is judged can mend, else `notice`."""


class Copy(NamedTuple):
    """One of several copies of a plugin."""

    kind: str
    location: str
    version: str = ""


class Shadowed(NamedTuple):
    """A copy of a plugin that another one hides."""

    key: str
    hidden: Copy
    used: Copy


class Finding(NamedTuple):
    """A known vulnerability of a locked distribution."""

    package: str
    version: str
    id: str
    aliases: tuple[str, ...] = ()
    fixed_in: tuple[str, ...] = ()
    severity: str = ""
    owners: tuple[OwnerRow, ...] = ()
    chain: tuple[str, ...] = ()


class Audit(NamedTuple):
    """What the advisories say of a lock."""

    findings: tuple[Finding, ...] = ()
    not_audited: tuple[str, ...] = ()
    """Names that no advisory service answered for; never counted as clean."""


class Receipt(NamedTuple):
    """What one operation did and why."""

    id: str
    operation: str
    outcome: str
    exit_status: int
    summary: str
    """One sentence for a reader who does not program."""
    started_at: str
    finished_at: str
    duration_ms: int
    trigger: str
    schema: int = SCHEMA
    sequence: int | None = None
    """Counts the changing operations of a root; given under the install lock."""
    dry_run: bool = False
    plugin: Plugin | None = None
    """`None` for an operation on the whole set."""
    plugins: tuple[Plugin, ...] = ()
    """All members of the union."""
    reasons: tuple[ReasonRow, ...] = ()
    steps: tuple[StepRow, ...] = ()
    changes: ChangesRow = ChangesRow()
    generation: Transition = Transition()
    facts: FactsFile | None = None
    pages: PagesRow | None = None
    """`None` where no page of an index was looked at: a lock that was recorded answered, or folders did."""
    core: str = ""
    target: str = ""
    inputs_fingerprint: str = ""
    exclude_newer: str = ""
    consents: tuple[Consent, ...] = ()
    warnings: tuple[WarningRow, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    audit: Audit | None = None
    tools: Mapping[str, str] = {}
    """Name → version of what did the work."""
    timings: Mapping[str, int] = {}
    """Part of the work → milliseconds."""


class Operation(NamedTuple):
    """What an operation knows of itself; filled while it runs (`_replace`) and turned into a receipt by `build`."""

    name: str
    """`install`, `remove`, `enable`, `update`, `check` …: letters and hyphens."""
    id: str
    started_at: datetime
    command: tuple[str, ...]
    """The words that would do the same again, `hermes` first."""
    argument: str = ""
    """The word of `command` that names the judged plugin, a source or a key; empty for the whole set."""
    named: Mapping[str, str] = {}
    """Of an operation on several plugins: the key of each → the word of `command` that names it."""
    trigger: str = "cli"
    """`cli`, `update`, `start`, `dashboard` or `api`."""
    sequence: int | None = None
    dry_run: bool = False
    strict: bool = False
    """Whether *ready only after a restart* has an exit status of its own."""
    fails_on_warning: bool = False
    """Whether a warning about a plugin ends with the status of a refusal."""
    plugin: Plugin | None = None
    plugins: tuple[Plugin, ...] = ()
    before: Lock | None = None
    """The lock of the generation that was selected when it began."""
    left: str = ""
    """What there is after all when it did not succeed: `disabled` (the plugin, installed), `rest` (some of what was to
    be deleted), `unfinished` (a change that the next operation undoes), `committed` (all of it); empty where nothing
    was changed."""
    generation: Transition = Transition()
    facts: FactsFile | None = None
    pages: PagesRow | None = None
    core: str = ""
    target: str = ""
    inputs_fingerprint: str = ""
    exclude_newer: str = ""
    consents: tuple[Consent, ...] = ()
    warnings: tuple[WarningRow, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()
    audit: Audit | None = None
    tools: Mapping[str, str] = {}
    timings: Mapping[str, int] = {}


class Done(NamedTuple):
    """How an operation ended that is no verdict: removed, unchanged, rolled back, verified, not ready."""

    outcome: str
    lock: Lock | None = None
    """What the environment contains afterwards; `None` where no environment changes."""
    reasons: tuple[Reason, ...] = ()
    steps: tuple[Step, ...] = ()
    warnings: tuple[Notice, ...] = ()
    freed: str = ""
    """The space that deleted generations took, or would free; empty if nothing was to be deleted."""


def begin(
    name: str, command: tuple[str, ...], *, now: datetime, trigger: str = "cli", dry_run: bool = False
) -> Operation:
    """Return a new operation with an id of its own."""
    return Operation(name, os.urandom(5).hex(), now, command, trigger=trigger, dry_run=dry_run)


def place_of(origin: Origin) -> PlaceRow:
    """Return where a requirement is written."""
    return PlaceRow(origin.file, origin.line, 0, origin.key)


def time_text(moment: datetime) -> str:
    """Return a time as receipts write it: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_json(receipt: Receipt) -> dict[str, object]:
    """Return the receipt as plain JSON values with every credential taken out.

    Every sink goes through here: file, standard output, terminal text, dashboard.
    """
    return {"schema": receipt.schema} | cast("dict[str, object]", to_plain(receipt))


def receipt_text(receipt: Receipt) -> str:
    """Return the JSON text of a receipt as files and `--json` hold it."""
    return json_text(to_json(receipt))


def from_json(value: object) -> Receipt:
    """Read a receipt; fields that this version does not know are left out.

    Raise `InvalidReceipt` for anything else.
    """
    if not isinstance(value, Mapping) or value.get("schema") != SCHEMA:
        raise InvalidReceipt(f"is not a receipt of schema {SCHEMA}")
    try:
        return from_plain(Receipt, value)
    except (TypeError, ValueError) as error:
        raise InvalidReceipt(f"is not a receipt of schema {SCHEMA}: {error}") from error
