"""What a process can ask about the generation that it runs in: its lease, how it stands, whether it must start again.

`hermes-pm` writes this file into the site-packages of every generation. It is no part of any distribution and needs
nothing but the standard library. Importing it does nothing, and no function of it raises for what is found on the disk:
a question that cannot be answered has an answer that says so in `note`.

A process may go on in the selected generation without a new start if no distribution that it has imported from is
another one there, or none. The RECORDs of both say what belongs to a distribution, so a namespace that several
share is told apart by its files, and what no RECORD names (a plugin's folder, a core that is a project) does not count.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Changed", "Lease", "RestartRequired", "Status", "changed", "gone", "lease", "restart_required", "status"]

# Scripts open the descriptors 3 to 9 by their number, which would silently close a lease that lies there.
_LOWEST_DESCRIPTOR = 10
_PYTHON = "python"
_NOT_A_GENERATION = "this process does not run in a generation"


class Changed(NamedTuple):
    """A distribution that is another one in the selected generation, or is not part of it."""

    name: str
    """In its canonical spelling; `python` for the interpreter."""
    before: str
    """Its version where the process runs."""
    after: str
    """Its version in the selected generation; empty where it is gone, the same where only its files are others."""

    def __str__(self) -> str:
        if not self.after:
            return f"{self.name} {self.before} is gone"
        if self.after == self.before:
            return f"{self.name} {self.before}, another file"
        return f"{self.name} {self.before} → {self.after}"


class RestartRequired(NamedTuple):
    """Whether a process must be started again before it may use the selected generation."""

    required: bool
    reasons: tuple[Changed, ...] = ()
    """What it has imported from and would find changed or gone; by name, the interpreter last."""
    note: str = ""
    """Why that cannot be told, or what else is wrong."""


class Lease(NamedTuple):
    """Whether a process keeps its environment from being collected."""

    held: bool
    inherited: bool = False
    """It came with the start, by `hermes run` or from a parent, and was not taken by this process."""
    environment: int | None = None
    note: str = ""
    """Why none is held."""


class Status(NamedTuple):
    """Where a process runs, and what is selected."""

    generation: int | None
    """That it was started in; `None` outside of one."""
    environment: int | None
    """The number of the folder that it runs in: generations can share one."""
    selected: int | None
    """The selected generation; `None` if that cannot be told."""
    selected_environment: int | None
    admitted: tuple[str, ...]
    """The keys of the plugins that the selected generation was made for."""
    restart_required: RestartRequired

    @property
    def behind(self) -> bool:
        """Whether another environment is selected than the one that the process runs in."""
        return self.selected_environment not in (None, self.environment)


def restart_required() -> RestartRequired:
    """Say whether this process may go on in the selected generation, from what it has imported up to now."""
    place = _place()
    return _look(place)[1] if place is not None else RestartRequired(required=False, note=_NOT_A_GENERATION)


def status() -> Status:
    """Say where this process runs, and what is selected."""
    place = _place()
    if place is None:
        return Status(None, None, None, None, (), RestartRequired(required=False, note=_NOT_A_GENERATION))
    pointer, restart = _look(place)
    return Status(
        generation=_generation(place),
        environment=place.environment,
        selected=pointer.generation if pointer is not None else None,
        selected_environment=pointer.environment if pointer is not None else None,
        admitted=pointer.admitted if pointer is not None else (),
        restart_required=restart,
    )


def lease() -> Lease:
    """See to it that this process holds a lease on its environment, and keep it for as long as the process lives.

    One that came with the start is found; else one is taken, and found when this is called again. Children that
    inherit descriptors hold it too. This waits while another process deletes just this environment.
    """
    place = _place()
    if place is None:
        return Lease(held=False, note=_NOT_A_GENERATION)
    try:
        # of one that is gone no lock file is made anew; it can go at any moment, so both are asked
        inherited = os.path.isdir(place.folder) and _held(place)  # noqa: PTH112 - `pathlib` is not imported here
    except (ImportError, OSError) as error:
        return Lease(held=False, environment=place.environment, note=f"no lease can be taken: {error}")
    if not os.path.isdir(place.folder):  # noqa: PTH112 - as above
        return Lease(held=False, environment=place.environment, note=gone(place.environment))
    return Lease(held=True, inherited=inherited, environment=place.environment)


# -- the rule, which the manager shares


def changed(site: str, other: str) -> tuple[Changed, ...]:
    """Return what is another distribution in other site-packages, or is gone there; by name, the interpreter last.

    What is only there is no change. Raise `OSError` if one of the folders cannot be listed.
    """
    return tuple(change for change, _ in _changes(site, other))


def gone(environment: int) -> str:
    """Return how it is said that an environment is not there any more."""
    return f"the environment of generation {environment} is gone"


def _changes(site: str, other: str) -> Iterator[tuple[Changed, str]]:
    """Yield each change with the distribution's folder in the first of the site-packages; empty for the interpreter."""
    there = _distributions(other)
    for name, (version, info) in sorted(_distributions(site).items()):
        new, new_info = there.get(name, ("", ""))
        if version != new or not _same_modules(f"{site}/{info}/RECORD", f"{other}/{new_info}/RECORD"):
            yield Changed(name, version, new), info
    before, after = _python(site), _python(other)
    if before and after and before != after:
        yield Changed(_PYTHON, before, after), ""


def _distributions(site: str) -> dict[str, tuple[str, str]]:
    """Return version and folder of each distribution."""
    found = {}
    for info in sorted(os.listdir(site)):  # noqa: PTH208 - as above
        name, _, version = info.removesuffix(".dist-info").rpartition("-")
        if info.endswith(".dist-info") and name:
            found[_canonical(name)] = version, info
    return found


def _canonical(name: str) -> str:
    parts = name.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(part for part in parts if part)


def _same_modules(record: str, other: str) -> bool:
    """Say whether two RECORDs name the same files with the same digests, as far as they can be imported."""
    one, two = _read(record), _read(other)
    return one == two or (one is not None and two is not None and _importable(one) == _importable(two))


def _importable(record: bytes) -> frozenset[bytes]:
    """Return a RECORD's lines without metadata and scripts, which an installer writes for each environment anew."""
    outside = (b"../", b'"../', b"/", b'"/')
    lines = (line for line in record.splitlines() if not line.startswith(outside))
    return frozenset(line for line in lines if b".dist-info/" not in line and b"__pycache__/" not in line)


def _python(site: str) -> str:
    """Return the version of an environment's interpreter; empty if its `pyvenv.cfg` does not say."""
    text = _read(f"{site.rsplit('/', 3)[0]}/pyvenv.cfg") or b""
    for line in text.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version", "version_info"):
            return value.strip()
    return ""


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return None


# -- where this is


class _Location(NamedTuple):
    """The environment that this file lies in."""

    state: str
    environment: int
    folder: str
    site: str


def _place() -> _Location | None:
    """Return where this file lies; `None` if that is not in a generation."""
    site = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - as above
    state, generations, number, *rest = ["", "", "", *site.rsplit("/", 5)][-6:]
    if generations != "generations" or not number.isdecimal() or rest[-1:] != ["site-packages"]:
        return None
    return _Location(state, int(number), f"{state}/generations/{number}", site)


def _generation(place: _Location) -> int:
    """Return the generation that the process was started in, as `hermes run` says; else that of the environment."""
    number = os.environ.get("HERMES_PM_GENERATION", "")
    # a process that runs in another generation passes on both variables
    if number.isdecimal() and _is_same(os.environ.get("VIRTUAL_ENV", ""), place.folder):
        return int(number)
    return place.environment


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 - as above
    except (OSError, ValueError):
        return False


# -- what is selected


class _Pointer(NamedTuple):
    generation: int
    environment: int
    admitted: tuple[str, ...]


def _look(place: _Location) -> tuple[_Pointer | None, RestartRequired]:
    """Return what is selected, and whether it takes a new start; from one moment, whatever is selected meanwhile."""
    while True:
        content = _read(f"{place.state}/pointer.json")
        pointer = _pointer(content) if content is not None else None
        if pointer is not None:
            answer = _compared(place, pointer)
        else:
            said = "is not there" if content is None else "cannot be read"
            answer = RestartRequired(required=False, note=f"the pointer `{place.state}/pointer.json` {said}")
        if _read(f"{place.state}/pointer.json") == content:
            return pointer, answer


def _pointer(content: bytes) -> _Pointer | None:
    import json

    try:
        value = json.loads(content)
        return _Pointer(
            generation=int(value["generation"]),
            environment=int(value["path"].rpartition("/")[2]),
            admitted=tuple(dict.fromkeys(str(row["key"]) for row in value["admitted"])),
        )
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


def _compared(place: _Location, pointer: _Pointer) -> RestartRequired:
    if pointer.environment == place.environment:
        return RestartRequired(required=False)
    other = _site_packages(f"{place.state}/generations/{pointer.environment}")
    if other is None:  # nothing can be started there either
        return RestartRequired(required=False, note=gone(pointer.environment))
    imported = _imported(place.site)
    try:
        reasons = tuple(change for change, info in _changes(place.site, other) if _is_among(imported, place.site, info))
    except OSError:  # whatever it imports next is not found
        return RestartRequired(required=True, note=gone(place.environment))
    return RestartRequired(required=bool(reasons), reasons=reasons)


def _site_packages(folder: str) -> str | None:
    try:
        names = sorted(os.listdir(f"{folder}/lib"))  # noqa: PTH208 - as above
    except OSError:
        return None
    found = (f"{folder}/lib/{name}/site-packages" for name in names if name.startswith("python3."))
    return next((site for site in found if os.path.isdir(site)), None)  # noqa: PTH112 - as above


# -- what was imported


def _imported(site: str) -> frozenset[str]:
    """Return the files of the site-packages that modules came from, as RECORDs name them."""
    # also by the other names that the folder has on the path: through a link, or `lib64`
    names = {site, *(path for path in map(str, sys.path) if _is_same(path, site))}
    prefixes = tuple(f"{name.rstrip('/')}/" for name in names)
    return frozenset(
        file[len(prefix) :]
        for module in list(sys.modules.values())
        for file in _files(module)
        for prefix in prefixes
        if file.startswith(prefix)
    )


def _files(module: object) -> Iterator[str]:
    """Yield the file that a module came from, as the module and as its spec name it; none for a namespace."""
    try:
        # past its own `__getattribute__`: asking a lazy module for anything imports it
        own = object.__getattribute__(module, "__dict__")
    except AttributeError:
        return
    spec = own.get("__spec__")
    files = [own.get("__file__"), spec.origin if isinstance(spec, type(sys.__spec__)) else None]
    yield from (file for file in files if isinstance(file, str))


def _is_among(imported: Iterable[str], site: str, info: str) -> bool:
    """Say whether something was imported from a distribution: yes if it is not known what belongs to it."""
    record = _read(f"{site}/{info}/RECORD") if info else None
    if record is None:
        return True
    paths = {_path(line) for line in record.decode("utf-8", "replace").splitlines()}
    return not paths.isdisjoint(imported)


def _path(line: str) -> str:
    path = line.rsplit(",", 2)[0]
    return path[1:-1].replace('""', '"') if path.startswith('"') else path


# -- the lease

_taken: list[int] = []
"""The descriptor that this process took itself."""


def _held(place: _Location) -> bool:
    """Return once a descriptor of this process holds a lease; say whether that came with the start.

    Raise `OSError`, and `ImportError` where the system has no such locks.
    """
    path = f"{place.state}/locks/generation-{place.environment}"
    if any(_holds(descriptor, path) for descriptor in _taken):
        return False
    if any(_holds(descriptor, path) for descriptor in _inherited()):
        return True
    _taken[:] = [_take(path)]
    return False


def _inherited() -> Iterator[int]:
    """Yield the open descriptors that can have come through `exec`."""
    folder = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"  # noqa: PTH112 - as above
    for number in sorted(map(int, os.listdir(folder))):  # noqa: PTH208 - as above
        try:
            if os.get_inheritable(number):
                yield number
        except OSError:  # the one that the folder was read by
            continue


def _holds(descriptor: int, path: str) -> bool:
    """Say whether a descriptor is of the lock file that has this name now; then it holds the lock when this returns."""
    import fcntl

    try:
        if not os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116 - as above
            return False
    except OSError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return True


def _take(path: str) -> int:
    """Return a descriptor that holds a shared lock on the file that the path names now, as `hermes run` takes it."""
    import fcntl

    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - as above
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
            if _holds(descriptor, path):  # the process that held it alone meanwhile may have removed the file
                return fcntl.fcntl(descriptor, fcntl.F_DUPFD, _LOWEST_DESCRIPTOR)
        finally:
            os.close(descriptor)


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        if not os.path.exists(path):  # noqa: PTH110 - as above
            raise
        # another user's state: a file that is there can be locked without the right to write to it
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
