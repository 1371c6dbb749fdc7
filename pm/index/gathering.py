"""Gather the wheels of a lock in one folder: from files of this machine, else from their addresses, each verified."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lockfiles import Pin
from pm.errors import PmError
from pm.index.client import IndexOptions
from pm.index.folders import sha256_of
from pm.index.package_sources import Sources

if TYPE_CHECKING:
    from pm.index.retrieval import Retrieval


class Held(NamedTuple):
    """A pin, and where its wheel lies on this machine."""

    pin: Pin
    place: Path | None
    """A file with the pin's digest; `None` if none was found."""


def held(pins: Iterable[Pin], places: Callable[[Pin], Iterable[Path]]) -> tuple[Held, ...]:
    """Say for each pin where its wheel lies. A file of its name with another digest is none of it."""
    return tuple(Held(pin, next((path for path in places(pin) if is_wheel_of(pin, path)), None)) for pin in pins)


def is_wheel_of(pin: Pin, path: Path) -> bool:
    """Say whether a file is the wheel of a pin; one that the disk does not give is not."""
    try:
        return path.name == pin.artifact.filename and path.is_file() and sha256_of(path) == pin.artifact.sha256
    except OSError:
        return False


def kept_file(cache: Path, pin: Pin) -> Path:
    """Return where the cache keeps the whole file of a pin that was fetched."""
    return cache / "wheels" / pin.artifact.sha256 / pin.artifact.filename


def fetch(pins: Iterable[Pin], cache: Path, sources: Sources, index_options: IndexOptions) -> None:
    """Fetch the wheels of pins into the cache, each verified; those that came stay there if one of them fails.

    Raise `PmError` (`index-unreachable`, `tls`, `unauthorized`, `hash-mismatch`, `no-space`, `not-writable`).
    """
    from functools import partial

    from pm.index.contents import side_by_side
    from pm.index.fetching import Progress
    from pm.index.retrieval import Retrieval
    from pm.index.transport import Transport
    from pm.system.files import disk_error

    transport = Transport(sources.complete(), index_options.limits)
    retrieval = Retrieval(transport, cache / "downloads")
    tasks = [partial(_fetch, pin, cache, retrieval) for pin in pins]
    try:
        for done, _ in enumerate(side_by_side(tasks, index_options.limits.workers), 1):
            if index_options.report:
                index_options.report(Progress(0, done, len(tasks) - done))
    except OSError as error:
        raise disk_error(error, cache) from error
    finally:
        # workers whose results are not wanted any more stop at their next bytes, and what they write is the cache's
        transport.cancelled.set()
        transport.close()


def copy(wheels: Iterable[Held], folder: Path) -> None:
    """Copy wheels that were found into a folder, each verified once more. Raise `PmError` (`hash-mismatch`)."""
    from pm.index.adoption import copied

    for pin, place in wheels:
        if place is None or not copied(place, folder / pin.artifact.filename, pin.artifact.sha256):
            raise PmError(
                "hash-mismatch",
                f"`{place}` was changed while it was copied",
                hint="run it again; it looks for the file anew",
                file=str(place),
            )


def _fetch(pin: Pin, cache: Path, retrieval: "Retrieval") -> None:
    from pm.index.listed_files import ListedFile

    artifact = pin.artifact
    file = ListedFile(artifact.filename, artifact.url, artifact.sha256, artifact.size)
    retrieval.download(file, kept_file(cache, pin))
