"""Write and read a lock as `pylock.toml` (PEP 751), always in the same bytes for the same lock.

The text is the lock's identity: its digest names for years what a generation contains. So it is written here and not by
a library that edits TOML, whose next release may lay out a table differently (and tomlkit needs 250 ms for 90 packages
where this needs 7). What installers need stands in the keys of PEP 751; what only we need (owners, requested extras,
edges with their markers) in `tool.hermes-pm`, which they skip.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from lockfiles.graph import active_edges
from lockfiles.lock import Artifact, Edge, InvalidLock, Lock, Owner, Pin

if TYPE_CHECKING:
    from packaging.markers import Environment
    from packaging.pylock import Package, PackageArchive, PackageSdist, PackageWheel, Pylock

__all__ = ["canonical", "digest", "dumps", "loads"]

TOOL = "hermes-pm"
"""Our name in `created-by` and in the `tool` tables."""
SCHEMA = 1
"""Of the `tool.hermes-pm` tables."""


def dumps(lock: Lock) -> str:
    """Return the text of `pylock.toml`, the same for every order of pins, owners, extras and edges.

    Raise `InvalidLock` for a pin that no installer could find or check: named twice, without an address, a hash.
    """
    lock = canonical(lock)
    names = {pin.name for pin in lock.pins}
    head = [
        'lock-version = "1.0"',
        f"environments = [{_text(lock.environment)}]" if lock.environment else "",
        f"requires-python = {_text(lock.requires_python)}" if lock.requires_python else "",
        f"created-by = {_text(TOOL)}",
        "" if lock.pins else "packages = []",
    ]
    blocks = ["\n".join(filter(None, head)), *(_package(pin, names) for pin in lock.pins), _inputs(lock)]
    text = "\n\n".join(blocks) + "\n"
    if text.isascii() or _is_unicode(text):
        return text
    raise InvalidLock("a text holds half of a surrogate pair, which no file can carry")


def digest(lock: Lock) -> str:
    """Return the digest of the lock's text, `sha256:…`."""
    import hashlib

    return "sha256:" + hashlib.sha256(dumps(lock).encode()).hexdigest()


def canonical(lock: Lock) -> Lock:
    """Return the lock as it is read back from its text: sorted, without duplicates, times spelled as PEP 700 does."""
    pins = sorted(lock.pins, key=lambda pin: pin.name)
    for before, pin in itertools.pairwise(pins):
        if before.name == pin.name:
            raise InvalidLock("is pinned twice", package=pin.name)
    return lock._replace(pins=tuple(_canonical_pin(pin) for pin in pins))


def loads(text: str, *, environment: Mapping[str, str] | None = None, tags: Sequence[str] = ()) -> Lock:
    """Read and validate the text of a `pylock.toml`, ours or another tool's.

    A lock for several targets (a version with several wheels, a name with several versions) needs `environment` and
    `tags` of the target it is read for; markers of packages are judged only then. Raise `InvalidLock` for every fault.
    """
    document = _parsed(text)
    try:
        validated = _validated(document)
        tables = _tables(document, "packages")
        pins = [_read_pin(tables[at], file, f"packages[{at}]") for at, file in _chosen(validated, environment, tags)]
        return canonical(_read_lock(document, tuple(pins)))
    except InvalidLock as error:
        raise _located(error, document, text) from error


# --- writing ---


def _canonical_pin(pin: Pin) -> Pin:
    artifact = pin.artifact
    if not re.fullmatch(_SHA256, artifact.sha256):
        raise InvalidLock(f"`{artifact.filename}` has no sha256, so it could not be checked", package=pin.name)
    if not artifact.url and not artifact.path:
        raise InvalidLock(f"`{artifact.filename}` has neither an address nor a path", package=pin.name)
    artifact = artifact._replace(upload_time=_canonical_time(artifact.upload_time, pin.name))
    return pin._replace(
        artifact=artifact._replace(filename=_last_part(artifact)) if _is_archive(pin) else artifact,
        extras=tuple(sorted(set(pin.extras))),
        owners=tuple(sorted(set(pin.owners))),
        edges=tuple(sorted(set(pin.edges))),
    )


_SHA256 = r"[0-9a-f]{64}"


def _canonical_time(text: str, package: str) -> str:
    try:
        return _time(datetime.fromisoformat(text)) if text else ""
    except (ValueError, OverflowError) as error:
        raise InvalidLock(f"`{text}` is not a time in ISO 8601", package=package, key="upload-time") from error


def _time(moment: datetime) -> str:
    # Always with six digits: such times can be compared as texts, and indexes spell them so.
    in_utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return in_utc.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _is_archive(pin: Pin) -> bool:
    """Whether it comes from an address of its own: no index has it, or its name says nothing of name and version."""
    if pin.artifact.is_wheel or pin.index:
        return pin.artifact.is_wheel and bool(pin.artifact.url) and not pin.index
    stem = re.sub(r"\.(?:tar\.gz|zip)$", "", pin.artifact.filename)
    return stem == pin.artifact.filename or _flat(stem) != _flat(f"{pin.name}-{pin.version}")


def _flat(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def _last_part(artifact: Artifact) -> str:
    from urllib.parse import unquote, urlsplit

    return artifact.path.rpartition("/")[2] or unquote(urlsplit(artifact.url).path.rpartition("/")[2])


def _package(pin: Pin, names: AbstractSet[str]) -> str:
    needed = sorted({edge.name for edge in active_edges(pin)} & names)
    lines = [
        "[[packages]]",
        f"name = {_text(pin.name)}",
        f"version = {_text(pin.version)}",
        f"requires-python = {_text(pin.requires_python)}" if pin.requires_python else "",
        f"dependencies = {_array(_inline(name=_text(name)) for name in needed)}" if needed else "",
        f"index = {_text(pin.index)}" if pin.index else "",
        _source(pin),
    ]
    return "\n".join(filter(None, lines)) + _extension(pin)


def _source(pin: Pin) -> str:
    if _is_archive(pin):  # in this table of PEP 751 a file name has no place
        return f"archive = {_file(pin.artifact, named=False)}"
    return f"wheels = [{_file(pin.artifact)}]" if pin.artifact.is_wheel else f"sdist = {_file(pin.artifact)}"


def _file(artifact: Artifact, *, named: bool = True) -> str:
    pairs = {
        "name": _text(artifact.filename) if named else "",
        "upload-time": artifact.upload_time,
        "url": _said(artifact.url),
        "path": _said(artifact.path),
        "size": "" if artifact.size is None else str(artifact.size),
        "hashes": _inline(sha256=_text(artifact.sha256)),
    }
    return _inline(**pairs)


def _extension(pin: Pin) -> str:
    owners = (_inline(kind=_text(kind), name=_text(name)) for kind, name in pin.owners)
    lines = [
        f"extras = {_array(map(_text, pin.extras))}" if pin.extras else "",
        f"owners = {_array(owners)}" if pin.owners else "",
        f"edges = {_array(map(_edge, pin.edges))}" if pin.edges else "",
    ]
    return "\n".join(["", "", f"[packages.tool.{TOOL}]", *filter(None, lines)]) if any(lines) else ""


def _edge(edge: Edge) -> str:
    extras = f"[{', '.join(map(_text, edge.extras))}]" if edge.extras else ""
    return _inline(
        name=_text(edge.name),
        specifier=_said(edge.specifier),
        extras=extras,
        marker=_said(edge.marker),
        extra=_said(edge.extra),
    )


def _inputs(lock: Lock) -> str:
    values = {
        "core": lock.core,
        "target": lock.target,
        "fingerprint": lock.fingerprint,
        "exclude-newer": lock.exclude_newer,
    }
    said = [f"{key} = {_text(value)}" for key, value in values.items() if value]
    return "\n".join([f"[tool.{TOOL}]", f"schema = {SCHEMA}", *said])


def _array(items: Iterable[str]) -> str:
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _inline(**pairs: str) -> str:
    return "{ " + ", ".join(f"{key} = {value}" for key, value in pairs.items() if value) + " }"


def _said(value: str) -> str:
    return _text(value) if value else ""


def _text(value: str) -> str:
    # A JSON string is a basic string of TOML, but for one character that TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# --- reading ---

_Table = Mapping[str, object]


def _parsed(text: str) -> _Table:
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        message = re.sub(r" \(at .*\)$", "", str(error))
        place = re.search(r"\(at line ([0-9]+), column ([0-9]+)\)$", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        raise InvalidLock(_sentence(message), line=line, column=column) from error


def _validated(document: _Table) -> Pylock:
    from packaging.pylock import Pylock, PylockValidationError

    # packaging writes a line into the log for a newer minor version, which PEP 751 makes readable by definition.
    newer = re.fullmatch(r"1\.[0-9]+", str(document.get("lock-version")))
    try:
        return Pylock.from_dict({**document, "lock-version": "1.0"} if newer else document)
    except PylockValidationError as error:
        raise InvalidLock(_sentence(error.message), key=error.context or "") from error


def _sentence(message: str) -> str:
    return (message[:1].lower() + message[1:]).replace("'", "`")


def _chosen(
    lock: Pylock, environment: Mapping[str, str] | None, tags: Sequence[str]
) -> Iterator[tuple[int, PackageWheel | PackageSdist | PackageArchive]]:
    """Yield the position of each package that the target needs, and the one file of it."""
    from packaging.pylock import PackageDirectory, PackageVcs, PylockSelectError
    from packaging.tags import Tag

    if environment is None:
        yield from ((at, _only_file(package, f"packages[{at}]")) for at, package in enumerate(lock.packages))
        return
    places = {id(package): at for at, package in enumerate(lock.packages)}
    try:
        for package, file in lock.select(
            environment=cast("Environment", environment), tags=[Tag(*tag.split("-")) for tag in tags]
        ):
            if isinstance(file, PackageVcs | PackageDirectory):
                raise _without_hash(f"packages[{places[id(package)]}]")
            yield places[id(package)], file
    except PylockSelectError as error:
        raise InvalidLock(_sentence(str(error))) from error


def _only_file(package: Package, key: str) -> PackageWheel | PackageSdist | PackageArchive:
    others = [file for file in (package.sdist, package.archive) if file]
    files: Sequence[PackageWheel | PackageSdist | PackageArchive] = package.wheels or others
    if not files:
        raise _without_hash(key)
    if len(files) > 1:
        raise InvalidLock(
            f"lists {len(files)} wheels, so it must be said for which target the lock is read", key=f"{key}.wheels"
        )
    return files[0]


def _without_hash(key: str) -> InvalidLock:
    return InvalidLock("comes from a folder or a repository, which no hash can pin; build a wheel of it", key=key)


def _read_pin(table: _Table, file: PackageWheel | PackageSdist | PackageArchive, at: str) -> Pin:
    tool = _tool(table, at)
    inside = f"{at}.tool.{TOOL}"
    edges = _tables(tool, "edges", inside) if "edges" in tool else _tables(table, "dependencies", at)
    return Pin(
        name=_string(table, "name", at),
        version=_required(table, "version", at),
        artifact=_read_artifact(file, at),
        index=_string(table, "index", at),
        requires_python=_string(table, "requires-python", at),
        extras=_strings(tool, "extras", inside),
        owners=tuple(
            Owner(_required(owner, "kind", f"{inside}.owners[{n}]"), _required(owner, "name", f"{inside}.owners[{n}]"))
            for n, owner in enumerate(_tables(tool, "owners", inside))
        ),
        edges=tuple(_read_edge(edge, f"{inside}.edges[{n}]") for n, edge in enumerate(edges)),
    )


def _read_edge(table: _Table, at: str) -> Edge:
    return Edge(
        name=_required(table, "name", at),
        specifier=_string(table, "specifier", at),
        extras=_strings(table, "extras", at),
        marker=_string(table, "marker", at),
        extra=_string(table, "extra", at),
    )


def _read_artifact(file: PackageWheel | PackageSdist | PackageArchive, at: str) -> Artifact:
    sha256 = file.hashes.get("sha256", "").lower()
    if not re.fullmatch(_SHA256, sha256):
        raise InvalidLock("has no sha256 of 64 hexadecimal digits", key=f"{at}.hashes")
    if file.size is not None and file.size < 0:
        raise InvalidLock(f"a file of {file.size} bytes cannot be", key=f"{at}.size")
    artifact = Artifact("", sha256, url=file.url or "", path=file.path or "", size=file.size)
    try:
        moment = _time(file.upload_time) if file.upload_time else ""
    except OverflowError as error:
        raise InvalidLock(f"`{file.upload_time}` has no counterpart in UTC", key=f"{at}.upload-time") from error
    return artifact._replace(filename=getattr(file, "filename", "") or _last_part(artifact), upload_time=moment)


def _read_lock(document: _Table, pins: tuple[Pin, ...]) -> Lock:
    tool = _tool(document, "")
    inside = f"tool.{TOOL}"
    if tool.get("schema", SCHEMA) != SCHEMA:
        raise InvalidLock(
            f"is written by a newer version: schema {tool['schema']}, this one reads {SCHEMA}", key=f"{inside}.schema"
        )
    markers = _strings(document, "environments", "")
    return Lock(
        pins=pins,
        requires_python=_string(document, "requires-python", ""),
        target=_string(tool, "target", inside),
        core=_string(tool, "core", inside),
        fingerprint=_string(tool, "fingerprint", inside),
        exclude_newer=_string(tool, "exclude-newer", inside),
        environment=markers[0] if len(markers) == 1 else " or ".join(f"({marker})" for marker in markers),
    )


def _tool(table: _Table, at: str) -> _Table:
    tools = table.get("tool", {})
    ours = tools.get(TOOL, {}) if isinstance(tools, Mapping) else tools
    if isinstance(ours, Mapping):
        return ours
    raise InvalidLock("is not a table", key=f"{at}.tool.{TOOL}".removeprefix("."))


def _tables(table: _Table, key: str, at: str = "") -> Sequence[_Table]:
    return cast("Sequence[_Table]", _sequence(table, key, at, kind=Mapping))


def _strings(table: _Table, key: str, at: str) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", _sequence(table, key, at, kind=str)))


def _sequence(table: _Table, key: str, at: str, *, kind: type) -> Sequence[object]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, kind) for item in value):
        return value
    raise InvalidLock(f"is not a list of {'texts' if kind is str else 'tables'}", key=f"{at}.{key}".removeprefix("."))


def _required(table: _Table, key: str, at: str) -> str:
    if value := _string(table, key, at):
        return value
    raise InvalidLock(f"has no `{key}`", key=at)


def _string(table: _Table, key: str, at: str) -> str:
    value = table.get(key, "")
    if isinstance(value, str):
        return value
    raise InvalidLock("is not a text", key=f"{at}.{key}".removeprefix("."))


def _located(error: InvalidLock, document: _Table, text: str) -> InvalidLock:
    """Return the fault with the package's name and the line of its table, as far as its key tells the package."""
    inside = re.match(r"packages\[([0-9]+)\]", error.key)
    packages = document.get("packages")
    if not inside or not isinstance(packages, list) or int(inside[1]) >= len(packages):
        return error
    at = int(inside[1])
    headers = [
        number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*packages\s*\]\]", line)
    ]
    table = packages[at]
    return InvalidLock(
        error.message,
        # Without one header for each package they are written in another form, and no line is better than a wrong one.
        line=headers[at] if len(headers) == len(packages) else 0,
        package=str(table.get("name", "")) if isinstance(table, Mapping) else "",
        key=error.key,
    )
