"""What a generation consists of, and which one is selected: `Record` and `Pointer` as values and files."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from admission import Declaration
from lockfiles import Lock, sidecar
from pm.documents.boundary import TROUBLE, alike, texts
from pm.errors import PmError
from pm.generations.pointer import read_pointer
from pm.generations.set_up import unreadable_state
from pm.places import EnvironmentNumber, GenerationNumber, Places
from pm.plugins.declaration_cache import declaration_from_json, declaration_to_json
from pm.receipts.receipt import SourceRow
from pm.system.files import disk_error, is_damaged, path_text, read_regular

SCHEMA = 1
_RECORD = ".json"


class Member(NamedTuple):
    """A plugin that was admitted, as it was then."""

    declaration: Declaration
    source: str
    """`bundled`, `user` or `project`."""
    root: str
    """Its folder; empty for a bundled plugin."""
    profiles: tuple[str, ...]
    digest: str
    """Of the canonical declaration."""
    tree_digest: str = ""
    """Of its files; empty for a bundled plugin."""
    enabled_since: str = ""
    link: str = ""
    """Where its folder leads, if that is a link: its files are the operator's, and no copy of them is kept."""
    origin: SourceRow = SourceRow("")
    """Where its files came from; of no kind if that is not known."""

    @property
    def key(self) -> str:
        return self.declaration.key


class Record(NamedTuple):
    """Everything about one generation; written once, before the pointer names it."""

    generation: GenerationNumber
    environment: EnvironmentNumber
    """Its own, or after `disable` an earlier one's."""
    lock: Lock
    lock_digest: str
    fingerprint: str
    core: Mapping[str, Any]
    """As `pm.host.core` wrote it."""
    interpreter: str
    target: str
    members: tuple[Member, ...]
    selections: Mapping[str, Any]
    """Profile → home and the digest of its config."""
    consents: Mapping[str, Any]
    exclude_newer: str
    """The setting as written."""
    operation: str
    receipt: str
    created_at: str
    python: str = ""
    """`pm.python` as it was written; empty where the core's own range chose the interpreter."""


def next_number(places: Places) -> GenerationNumber:
    """Return a number that no generation has or had while its record or its environment is there."""
    return GenerationNumber(max((*recorded(places), *environments(places)), default=0) + 1)


def recorded(places: Places) -> tuple[GenerationNumber, ...]:
    """Return the numbers of all generations that have a record, sorted."""
    stems = (name.removesuffix(_RECORD) for name in _names(places) if name.endswith(_RECORD))
    return tuple(sorted(GenerationNumber(int(stem)) for stem in stems if stem.isdecimal()))


def environments(places: Places) -> tuple[EnvironmentNumber, ...]:
    """Return the numbers of all environments that have a folder, sorted."""
    return tuple(sorted(EnvironmentNumber(int(name)) for name in _names(places) if name.isdecimal()))


def _names(places: Places) -> list[str]:
    return os.listdir(places.generations) if places.generations.is_dir() else []  # noqa: PTH208 - names are enough


def read_selected(places: Places) -> Record | None:
    """Return the selected generation's record; `None` before the first."""
    pointer = read_pointer(places)
    return read_record(places, pointer.generation) if pointer is not None else None


def read_record(places: Places, number: GenerationNumber) -> Record:
    """Return a generation's record; raise `PmError` (`drift`) for a missing or damaged one, (`not-writable`)."""
    path = places.record(number)
    try:
        record = _record(json.loads(read_regular(path)))
    except (FileNotFoundError, TypeError, AttributeError, *TROUBLE) as error:
        raise _unreadable(number, places) from error
    except OSError as error:
        raise (_unreadable(number, places) if is_damaged(error) else disk_error(error, path, verb="read")) from error
    return record._replace(members=tuple(_here(member, record.selections, places) for member in record.members))


def _unreadable(number: GenerationNumber, places: Places) -> PmError:
    message = f"the record of generation {number} cannot be read"
    return unreadable_state(places, message, places.record(number))


def _here(member: Member, selections: Mapping[str, Any], places: Places) -> Member:
    """Return a member with its folder where its home is now: the whole of it may have been moved."""
    for profile in member.profiles:
        before, now = str(selections.get(profile, {}).get("home", "")), str(places.home_of(profile))
        if member.source == "user" and before not in ("", now) and member.root.startswith(f"{before}/"):
            return member._replace(root=now + member.root.removeprefix(before))
    return member


def record_bytes(record: Record) -> bytes:
    """Return a record as its file holds it."""
    text = json.dumps(record_to_json(record), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode(errors="surrogatepass") + b"\n"  # the name of a folder may not be UTF-8


def pointer_bytes(record: Record, *, path: str, stamp: str) -> bytes:
    """Return the pointer to a record as its file holds it."""
    text = json.dumps(pointer_to_json(record, path=path, stamp=stamp), indent=2, sort_keys=True)
    return text.encode() + b"\n"


def record_to_json(record: Record) -> dict[str, Any]:
    """Return a record as JSON values."""
    value: dict[str, Any] = record._asdict()
    value["schema"] = SCHEMA
    value["lock"] = sidecar.to_json(record.lock)
    value["members"] = [
        member._asdict() | {"declaration": declaration_to_json(member.declaration), "origin": member.origin._asdict()}
        for member in record.members
    ]
    return value


def pointer_to_json(record: Record, *, path: str, stamp: str) -> dict[str, Any]:
    """Return the pointer to a record: the published part of it."""
    return {
        "schema": SCHEMA,
        "generation": record.generation,
        "path": path,
        "lock_digest": record.lock_digest,
        "fingerprint": record.fingerprint,
        "core": record.lock.core,
        "core_path": [str(path) for path in _core_path(record)],
        "target": record.target,
        "admitted": [
            {
                "key": member.key,
                "kind": member.declaration.kind,
                "profiles": list(member.profiles),
                "root": member.root,
                "declaration_digest": member.digest,
                "tree_digest": member.tree_digest,
            }
            for member in record.members
        ],
        "site_packages_stamp": stamp,
    }


def _core_path(record: Record) -> tuple[Path, ...]:
    """Return the folders of a core that is a project: it is not installed, so its modules are found there."""
    folder = str(record.core.get("folder", ""))
    if not folder:
        return ()
    return tuple(path for path in (Path(folder), Path(folder) / "src") if path.is_dir())


def _record(value: object) -> Record:
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise TypeError(value)
    fields = {name: value[name] for name in Record._fields}
    fields["lock"] = sidecar.from_json(fields["lock"])
    fields["members"] = tuple(_member(row) for row in fields["members"])
    for consent in fields["consents"].values():
        texts(() if isinstance(consent, bool) else consent)
    for selection in fields["selections"].values():
        texts([path_text(selection.get("home", "")), *(selection.get("chosen") or {}).values()])
    path_text(fields["interpreter"])
    return alike(Record(**fields), _EXAMPLE)


def _member(row: dict[str, Any]) -> Member:
    fields = {"link": "", "origin": {}, **row}  # older records have none
    fields = {name: fields[name] for name in Member._fields}
    fields["declaration"] = declaration_from_json(fields["declaration"])
    fields["profiles"] = texts(fields["profiles"])
    fields["origin"] = alike(SourceRow(**({"kind": ""} | fields["origin"])), SourceRow(""))
    path_text(fields["root"])
    return alike(Member(**fields), _MEMBER)


_MEMBER = Member(Declaration(key="", name=""), source="", root="", profiles=(), digest="")
_EXAMPLE = Record(
    generation=GenerationNumber(0),
    environment=EnvironmentNumber(0),
    lock=Lock(()),
    lock_digest="",
    fingerprint="",
    core={},
    interpreter="",
    target="",
    members=(),
    selections={},
    consents={},
    exclude_newer="",
    operation="",
    receipt="",
    created_at="",
)
"""Of what kind each value is."""
