"""Say before a build whether there is room for it, and after a full disk which of our folders lies on that disk.

A build unpacks into uv's cache what is not there yet. From there it links into the environment, and copies where the
cache lies on another file system. Both is known before anything is fetched, as the least that it takes: file systems
need more than files hold, so that a build can still find its disk full. Quotas are seen only then.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from lockfiles import Lock, Pin
from pm.errors import PmError
from pm.index.folders import wheel_in_state
from pm.places import Places
from pm.system.files import disk_error, existing, free_bytes, read_json, size_text, write_json
from pm.system.processes import temporary_folder

_HINT = "free some space and run it again; nothing was changed"


class Volume(NamedTuple):
    """One of our folders, and what a build takes at least on its file system."""

    name: str
    path: Path
    needed: int = 0


@contextmanager
def room_for(places: Places, lock: Lock) -> Iterator[None]:
    """Build the environment of a lock inside of this.

    Raise `PmError` (`no-space`) where that cannot fit, before anything of it is done; one that comes of the build is
    told with the folder that is full, what is free there and what is needed.
    """
    volumes = _volumes(places, lock)
    for volume in volumes:
        _refuse_without_room(volume)
    try:
        yield
    except PmError as error:
        raise _told(error, volumes) from error.__cause__
    except OSError as error:
        raise _told(disk_error(error, places.state), volumes) from error


def full_folder(places: Places, said: str) -> Path | None:
    """Return the folder that a program named last before it gave up on a full disk; `None` if it named none of ours."""
    found = [(said.rfind(str(path)), path) for path in _folders(places).values()]
    position, path = max(found)
    return path if position >= 0 else None


def fetched_again(places: Places, lock: Lock) -> tuple[Pin, ...]:
    """Return the pins of a lock that uv has to fetch, since its cache does not hold them."""
    unpacked = _unpacked(places)
    return tuple(pin for pin in lock.pins if not pin.artifact.path and pin.artifact.sha256 not in unpacked)


def note_unpacked(places: Places, pins: Iterable[Pin], *, compared: float) -> None:
    """Take note that uv has unpacked the wheels of pins into its cache, and until when the files are known as whole.

    `compared` is the time at which they were compared with their RECORDs; they are on the disk by now.
    """
    added = {pin.artifact.sha256: _Unpacked(pin.name, compared) for pin in pins}
    _write_unpacked(places, {**_unpacked(places), **added})


def compared_until(places: Places, lock: Lock) -> dict[str, float]:
    """Return for each distribution of a lock that was compared with its RECORD when that was.

    What was written to one of its files since has not been seen.
    """
    unpacked = _unpacked(places)
    pins = (pin for pin in lock.pins if pin.artifact.sha256 in unpacked)
    return {pin.name: unpacked[pin.artifact.sha256].compared for pin in pins}


def forget_unpacked(places: Places, names: Iterable[str]) -> None:
    """Take note that distributions are gone from uv's cache."""
    gone = set(names)
    _write_unpacked(places, {digest: one for digest, one in _unpacked(places).items() if one.name not in gone})


def note_only(places: Places, locks: Iterable[Lock]) -> None:
    """Take note that uv's cache holds no other wheels than those of locks."""
    digests = {pin.artifact.sha256 for lock in locks for pin in lock.pins}
    _write_unpacked(places, {digest: one for digest, one in _unpacked(places).items() if digest in digests})


# -- before


def _refuse_without_room(volume: Volume) -> None:
    free = free_bytes(volume.path)
    if free < volume.needed:
        missing = size_text(volume.needed - free)
        need = f"the build needs {size_text(volume.needed)} in {volume.name} `{volume.path}`"
        text = f"{need}, {missing} more than are free"
        raise PmError("no-space", text, file=str(volume.path), hint=_HINT)


def _volumes(places: Places, lock: Lock) -> tuple[Volume, ...]:
    """Return our folders with what a build takes there at least; those on one file system need it together."""
    folders = _folders(places)
    sizes = {pin.artifact.sha256: _unpacked_size(places, pin) for pin in lock.pins}
    unpacked = _unpacked(places)
    needed = {
        _CACHE: sum(size for digest, size in sizes.items() if digest not in unpacked),
        _GENERATIONS: 0 if _device(places.cache) == _device(places.generations) else sum(sizes.values()),
        _WHEELS: sum(pin.artifact.size or 0 for pin in lock.pins if not _is_adopted(places, pin)),
    }
    together: Counter[int] = Counter()
    for name, size in needed.items():
        together[_device(folders[name])] += size
    return tuple(
        Volume(name, path, together[_device(path)] if needed.get(name) else 0) for name, path in folders.items()
    )


_CACHE, _GENERATIONS, _WHEELS = "the cache", "the generations", "the wheels"


def _folders(places: Places) -> dict[str, Path]:
    """Return our folders by what they are called, a folder before the one that it lies in."""
    return {
        _CACHE: places.cache,
        _GENERATIONS: places.generations,
        _WHEELS: places.wheels,
        "the state": places.state,
        "the temporary folder": temporary_folder(),
    }


def _device(path: Path) -> int:
    return existing(path).stat().st_dev


def _is_adopted(places: Places, pin: Pin) -> bool:
    """Say whether no copy of a pin's wheel has to be made in the state."""
    return not pin.artifact.path or wheel_in_state(places.wheels, pin.artifact.path).exists()


def _unpacked_size(places: Places, pin: Pin) -> int:
    """Return what the files of a pin hold, or for a wheel that was never looked into, its own size."""
    from pm.index.contents import load_contents

    contents = load_contents(places.cache, pin.artifact.sha256)
    if contents is None:
        return pin.artifact.size or 0 if pin.artifact.is_wheel else 0
    sizes = (identity.rpartition("-")[2] for identity in contents.files.values())
    return sum(int(size) for size in sizes if size.isdecimal())


# -- afterwards


def _told(error: PmError, volumes: Iterable[Volume]) -> PmError:
    """Add to an error of a full disk what is known of the folder that it names."""
    if error.code != "no-space":
        return error
    full = next((volume for volume in volumes if Path(error.file).is_relative_to(volume.path)), None)
    if full is not None:
        needed = f" of at least {size_text(full.needed)} that the build needs" if full.needed else ""
        said = f"{full.name} `{full.path}` is full: {size_text(free_bytes(full.path))} are free{needed}"
        error.hint = f"{said}; {_HINT}"
    return error


# -- what uv has unpacked


class _Unpacked(NamedTuple):
    """A wheel that uv has unpacked into its cache."""

    name: str
    compared: float


def _unpacked(places: Places) -> Mapping[str, _Unpacked]:
    """Return the wheels that uv has unpacked into the cache that is there now, by their digests."""
    value = read_json(_note(places))
    try:
        if isinstance(value, dict) and value["cache"] == _mark(places):
            return {str(digest): _Unpacked(str(name), float(at)) for digest, (name, at) in value["wheels"].items()}
    except (AttributeError, LookupError, TypeError, ValueError):  # of another version, or damaged: found out anew
        return {}
    return {}


def _write_unpacked(places: Places, unpacked: Mapping[str, _Unpacked]) -> None:
    with suppress(PmError):  # without the note the next build is said to need more than it does
        write_json(_note(places), {"cache": _mark(places), "wheels": unpacked})


def _note(places: Places) -> Path:
    return places.cache / "unpacked.json"


def _mark(places: Places) -> str:
    """Return what tells a cache from one that was made after it was deleted."""
    try:
        status = (places.cache / "uv").stat()
    except FileNotFoundError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
