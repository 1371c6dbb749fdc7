"""Which generations there are, and what differs between two of them: as values, and as text for a person."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from pm.cli.console import table
from pm.errors import PmError
from pm.generations.leases import leased
from pm.generations.pointer import read_pointer
from pm.generations.records import Member, Record, read_record, recorded
from pm.names import safe_text
from pm.operations.surplus import freed_by
from pm.places import GenerationNumber, Places
from pm.receipts.build import changes_row
from pm.receipts.plain import to_plain
from pm.system.files import size_text

_COLUMNS = ("number", "created", "operation", "core", "packages", "plugins", "own size", "is")


def generations(places: Places) -> dict[str, object]:
    """Return every generation, the newest first; one whose record cannot be read says so.

    `bytes` are those that only its environment takes: files that it shares with the cache or other environments take no
    room of their own. A generation that `disable` made has the environment of an earlier one.
    """
    selected = _selected(places)
    numbers = sorted(recorded(places), reverse=True)
    previous = next((number for number in numbers if selected is not None and number < selected), None)
    running = set(leased(places.locks)) if places.locks.is_dir() else set()
    rows = []
    for number in numbers:
        record = _record(places, number)
        row: dict[str, object] = {"number": number, "selected": number == selected, "previous": number == previous}
        if record is None:
            rows.append({**row, "readable": False})
            continue
        folder = places.environment(record.environment)
        rows.append(
            {
                **row,
                "readable": True,
                "created": record.created_at,
                "operation": record.operation,
                "receipt": record.receipt,
                "core": record.lock.core,
                "python": record.interpreter,
                "packages": len(record.lock.pins),
                "plugins": [member.key for member in record.members],
                "environment": record.environment,
                "path": str(folder),
                "bytes": sum(freed_by([folder]).values()) if folder.is_dir() else 0,
                "in_use": record.environment in running,
            }
        )
    return {"generations": rows}


def generations_text(listing: Mapping[str, Any]) -> str:
    """Return the generations as text."""
    rows = listing["generations"]
    if not rows:
        return "no generation was made yet; `hermes pm init` makes one"
    return table(list(map(_row, rows)), _COLUMNS)


def _row(row: Mapping[str, Any]) -> dict[str, object]:
    marks = [
        word
        for name, word in (("selected", "selected"), ("previous", "previous"), ("in_use", "in use"))
        if row.get(name)
    ]
    if not row["readable"]:
        return {"number": row["number"], "is": ", ".join(["unreadable", *marks])}
    return {
        **{name: row[name] for name in ("number", "operation", "core", "packages")},
        "created": row["created"][:19] + "Z",
        "plugins": len(row["plugins"]),
        "own size": size_text(row["bytes"]),
        "is": ", ".join(marks),
    }


def difference(places: Places, before: int | None, after: int | None) -> dict[str, object]:
    """Return what differs between two generations, by default between the one before the selected one and that.

    With one number it is compared with the selected one. Raise `PmError` (`no-generation`, `unknown-generation`,
    `drift` for a record that cannot be read).
    """
    old, new = (_wanted(places, number) for number in _numbers(places, before, after))
    changes = cast("dict[str, object]", to_plain(changes_row(old.lock, new.lock)))
    return {
        "from": old.generation,
        "to": new.generation,
        "core": {"from": old.lock.core, "to": new.lock.core},
        **changes,
        "plugins": list(_plugins(old.members, new.members)),
    }


def _numbers(places: Places, before: int | None, after: int | None) -> tuple[int, int]:
    selected = _selected(places)
    if selected is None:
        from pm.generations.set_up import no_generation

        raise no_generation(places)
    if before is not None:
        return before, after if after is not None else selected
    earlier = [number for number in recorded(places) if number < selected]
    if not earlier:
        message = f"there is no generation before {selected}"
        raise PmError("unknown-generation", message, hint="name two: `hermes pm generations` lists them")
    return earlier[-1], selected


def _wanted(places: Places, number: int) -> Record:
    if number not in recorded(places):
        message = f"there is no generation {number}"
        raise PmError("unknown-generation", message, hint="`hermes pm generations` lists them")
    return read_record(places, GenerationNumber(number))


def _plugins(before: Iterable[Member], after: Iterable[Member]) -> Iterator[dict[str, object]]:
    """Yield the plugins of which one generation has another form than the other, or none."""
    old, new = ({(member.key, member.profiles): member for member in members} for members in (before, after))
    for key, profiles in sorted(old.keys() | new.keys()):
        one, other = old.get((key, profiles)), new.get((key, profiles))
        if one is None or other is None or (one.digest, one.tree_digest) != (other.digest, other.tree_digest):
            yield {
                "key": key,
                "profiles": list(profiles),
                "from": one.declaration.version if one is not None else None,
                "to": other.declaration.version if other is not None else None,
            }


def difference_text(found: Mapping[str, Any]) -> str:
    """Return what differs as text."""
    core = found["core"]
    lines = [f"generation {found['from']} → {found['to']}"]
    if core["from"] != core["to"]:
        lines.append(f"core {core['from']} → {core['to']}")
    lines += [_moved("plugin ", row["key"], row) for row in found["plugins"]]
    lines += [_moved("", row["name"], row) for name in ("added", "removed", "moved") for row in found[name]]
    return "\n".join(lines if len(lines) > 1 else [*lines, "no difference"])


def _moved(kind: str, name: str, row: Mapping[str, Any]) -> str:
    """Return a line for one name; a plugin may have no version."""
    if row["from"] is None:
        return safe_text(f"+ {kind}{name} {row['to']}".rstrip())
    if row["to"] is None:
        return safe_text(f"- {kind}{name} {row['from']}".rstrip())
    same = row["from"] == row["to"]
    return safe_text(f"~ {kind}{name} {row['from']} → " + ("the same version with other files" if same else row["to"]))


def _selected(places: Places) -> int | None:
    try:
        pointer = read_pointer(places)
    except PmError:  # `status` says what is wrong with it
        return None
    return pointer.generation if pointer is not None else None


def _record(places: Places, number: GenerationNumber) -> Record | None:
    try:
        return read_record(places, number)
    except PmError:
        return None
