"""A lock as plain JSON values: what a dry run reads instead of `pylock.toml`, without TOML and without packaging.

It is a copy for speed and never the truth: a file that keeps it keeps the digest of the text beside it.
"""

from __future__ import annotations

from lockfiles.lock import Artifact, Edge, InvalidLock, Lock, Owner, Pin

__all__ = ["from_json", "to_json"]

SCHEMA = 1


def to_json(lock: Lock) -> object:
    """Return the canonical lock as lists, texts and numbers, in the order of the fields."""
    from lockfiles.pylock import canonical  # a dry run reads, and needs nothing of it

    lock = canonical(lock)
    return [SCHEMA, *lock[1:], [_pin_row(pin) for pin in lock.pins]]


def from_json(value: object) -> Lock:
    """Return the lock that `to_json` was given.

    Raise `InvalidLock` if it was not: then the lock is read from its `pylock.toml`.
    """
    schema, *inputs, rows = _row(value, len(Lock._fields) + 1)
    if schema != SCHEMA:
        raise InvalidLock(f"is a side-car of schema {schema}, this version reads {SCHEMA}")
    return Lock(_pins(rows), *_texts(inputs))


def pin_to_json(pin: Pin) -> object:
    """Return one pin as lists, texts and numbers."""
    return _pin_row(pin)


def pin_from_json(value: object) -> Pin:
    """Return the pin that `pin_to_json` was given; raise `InvalidLock` for anything else."""
    return _pin(_row(value, len(Pin._fields)))


def _pin_row(pin: Pin) -> list[object]:
    owners = [list(owner) for owner in pin.owners]
    edges = [[edge.name, edge.specifier, list(edge.extras), edge.marker, edge.extra] for edge in pin.edges]
    return [*pin[:2], list(pin.artifact), *pin[3:5], list(pin.extras), owners, edges]


def _pins(rows: object) -> tuple[Pin, ...]:
    return tuple(_pin(_row(row, len(Pin._fields))) for row in _row(rows))


def _pin(row: list[object]) -> Pin:
    name, version, artifact, index, requires_python, extras, owners, edges = row
    name, version, index, requires_python = _texts([name, version, index, requires_python])
    return Pin(
        name,
        version,
        _artifact(_row(artifact, len(Artifact._fields))),
        index,
        requires_python,
        _texts(extras),
        tuple(Owner(*_texts(owner, len(Owner._fields))) for owner in _row(owners)),
        tuple(_edge(_row(edge, len(Edge._fields))) for edge in _row(edges)),
    )


def _artifact(row: list[object]) -> Artifact:
    filename, sha256, url, path, size, upload_time = row
    if size is not None and type(size) is not int:
        raise InvalidLock(f"is not a side-car of a lock: `{size}` is not a size")
    filename, sha256, url, path, upload_time = _texts([filename, sha256, url, path, upload_time])
    return Artifact(filename, sha256, url, path, size, upload_time)


def _edge(row: list[object]) -> Edge:
    name, specifier, extras, marker, extra = row
    name, specifier, marker, extra = _texts([name, specifier, marker, extra])
    return Edge(name, specifier, _texts(extras), marker, extra)


def _row(value: object, length: int | None = None) -> list[object]:
    if isinstance(value, list) and length in {None, len(value)}:
        return value
    raise InvalidLock("is not a side-car of a lock: a list is missing or of another length")


def _texts(value: object, length: int | None = None) -> tuple[str, ...]:
    row = _row(value, length)
    if all(type(text) is str for text in row):
        return tuple(row)  # type: ignore[arg-type]  # the line above looked at each
    raise InvalidLock("is not a side-car of a lock: a text is missing")
