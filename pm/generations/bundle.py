"""`Bundle`: a folder with all wheels of one lock, in the forms that `hermes`, uv, pip and `sha256sum` understand.

    README.txt          what to do with it, line by line
    SHA256SUMS          of every other file: `sha256sum --check`
    pylock.toml         the lock, each wheel by its path in here: `uv pip sync`
    requirements.txt    the same as pins with hashes: `pip install --require-hashes`
    wheels/             one wheel for each pin: `--find-links`
    plugins/, profiles/ the plugins that were admitted, as a home has them

No address of an index is in any of them, so that none can carry a credential or be asked where there is no network.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lockfiles import InvalidLock, Lock, Pin, pylock
from pm.documents.boundary import TROUBLE
from pm.documents.toml_text import beyond_limits
from pm.errors import PmError
from pm.index.folders import sha256_of
from pm.index.gathering import is_wheel_of
from pm.limits import PROJECT_LOCK_BYTES
from pm.names import EMBEDDED_NAME
from pm.places import expanded
from pm.system.files import read_regular
from pm.system.folders import walk

WHEELS = "wheels"
LOCK = "pylock.toml"
README = "README.txt"
_REQUIREMENTS = "requirements.txt"
_SUMS = "SHA256SUMS"


class NotABundle(ValueError):
    """A folder that is not what `hermes pm bundle` writes."""


class Bundle(NamedTuple):
    """A folder that was read as a bundle; whether its wheels are whole is another question (`check_wheels`)."""

    folder: Path
    """Absolute."""
    lock: Lock

    @property
    def wheels(self) -> Path:
        return self.folder / WHEELS

    @property
    def core(self) -> str | None:
        """The core as `pm.core` names it, empty for the embedded one; `None` for a project's folder, not in here."""
        name, _, version = self.lock.core.partition("==")
        if name == EMBEDDED_NAME:
            return ""
        pin = self.lock.pin(name)
        if pin is None:
            return None
        extras = f"[{','.join(pin.extras)}]" if pin.extras else ""
        return f"{name}{extras}=={version}"

    def agrees(self, lock: Lock) -> bool:
        """Say whether a lock names the same wheels, as far as both name the same packages."""
        digests = {pin.name: pin.artifact.sha256 for pin in self.lock.pins}
        return all(digests.get(pin.name, pin.artifact.sha256) == pin.artifact.sha256 for pin in lock.pins)


# -- writing


def write_lists(folder: Path, lock: Lock, readme: str) -> None:
    """Write everything of a bundle but its wheels and plugins, which are there already.

    Raise `PmError` (`no-space`, `not-writable`).
    """
    from pm.system.files import write_bytes

    write_bytes(folder / LOCK, pylock.dumps(_with_paths(lock)).encode())
    write_bytes(folder / _REQUIREMENTS, _requirements(lock).encode())
    write_bytes(folder / README, readme.encode())
    write_bytes(folder / _SUMS, _sums(folder))


def _with_paths(lock: Lock) -> Lock:
    return lock._replace(pins=tuple(_with_path(pin) for pin in lock.pins))


def _with_path(pin: Pin) -> Pin:
    path = f"{WHEELS}/{pin.artifact.filename}"
    return pin._replace(index="", artifact=pin.artifact._replace(url="", path=path))


def _requirements(lock: Lock) -> str:
    pins = (f"{pin.name}=={pin.version} \\\n    --hash=sha256:{pin.artifact.sha256}\n" for pin in lock.pins)
    return f"# pip install --no-index --find-links {WHEELS} --require-hashes -r {_REQUIREMENTS}\n" + "".join(pins)


def _sums(folder: Path) -> bytes:
    lines = (_sum_line(name, sha256_of(folder / name)) for name in sorted(_files(folder)))
    return b"".join(lines)


def _sum_line(name: str, sha256: str) -> bytes:
    """Return a line as `sha256sum` writes it; a name with a line break or a backslash is escaped, and marked so."""
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    mark = "" if escaped == name else "\\"
    return os.fsencode(f"{mark}{sha256}  {escaped}\n")


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, but for the sums themselves."""
    for directory, _, names in walk(folder):
        for name in names:
            path = Path(directory, name)
            relative = path.relative_to(folder).as_posix()
            if relative != _SUMS and path.is_file():
                yield relative


# -- reading


def is_bundle(folder: Path) -> bool:
    """Say whether a folder holds a bundle and nothing else, so that nothing is lost if it is replaced."""
    try:
        lines = read_regular(folder / _SUMS).splitlines()
        read_bundle(folder)
    except (OSError, NotABundle):
        return False
    listed = {line.removeprefix(b"\\").partition(b"  ")[2] for line in lines}
    return {_sum_line(name, "").partition(b"  ")[2].rstrip(b"\n") for name in _files(folder)} <= listed


def read_bundle(folder: Path) -> Bundle:
    """Read the lock of a bundle. Raise `NotABundle` for anything else."""
    folder = expanded(folder).absolute()
    try:
        lock = _read_lock(folder / LOCK)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotABundle(f"`{folder}` is no bundle: there is no `{LOCK}` in it") from error
    except (OSError, InvalidLock, *TROUBLE) as error:
        raise NotABundle(f"`{folder}` is no bundle that can be read: `{LOCK}`: {error}") from error
    elsewhere = next((pin.name for pin in lock.pins if pin != _with_path(pin)), None)
    if elsewhere is not None or not lock.core:
        named = f"it names `{elsewhere}` elsewhere" if elsewhere else "it names no core"
        raise NotABundle(f"`{folder / LOCK}` is not the lock of a bundle: {named}")
    return Bundle(folder, lock)


def _read_lock(path: Path) -> Lock:
    text = read_regular(path, PROJECT_LOCK_BYTES).decode()
    problem = beyond_limits(text, path.name)
    if problem is not None:
        raise InvalidLock(problem.message)
    return pylock.loads(text)


def check_wheels(bundle: Bundle) -> None:
    """Compare every wheel with the lock; raise `PmError` (`hash-mismatch`) that names those which are not as locked.

    A folder of wheels has no digests beside it: from then on whatever lies there is believed.
    """
    damaged = [
        pin.artifact.filename for pin in bundle.lock.pins if not is_wheel_of(pin, bundle.wheels / pin.artifact.filename)
    ]
    if damaged:
        names = ", ".join(f"`{name}`" for name in damaged)
        message = (
            f"{len(damaged)} of {len(bundle.lock.pins)} wheels in `{bundle.wheels}` are missing or damaged: {names}"
        )
        hint = f"carry the folder over again; `sha256sum --check {_SUMS}` in it tells whether all has arrived"
        raise PmError("hash-mismatch", message, hint=hint, file=str(bundle.wheels))
