"""Faults that distributions have together: they write one path with different content, or hide each other's modules.

Before a build they are found from what the wheels say they contain, after it from the RECORDs, by the same functions
and in the same words: a dry run and an install come to one verdict.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lockfiles import Lock, Pin
from lockfiles.graph import active_edges
from pm.dist_info import ENDING
from pm.errors import PmError
from pm.index.contents import Oddity, WheelContents, contents_of, counts, top_of
from pm.index.folders import wheel_in_state
from pm.names import shown

if TYPE_CHECKING:
    from pm.host.interpreter import Interpreter
    from pm.index import IndexClient
    from pm.places import Places

_FOLDER = "folder"
_SHOWN = 5


class Fault(NamedTuple):
    """One way in which an environment is not what its lock says."""

    code: str
    """`drift`, `file-collision`, `module-shadowing`, `invalid-wheel`; of harmless ones also `runs-at-start` and
    `invalid-script`."""
    message: str
    package: str = ""
    others: tuple[str, ...] = ()
    """Further distributions that take part: those that write the same paths, or the core where its module is hidden."""
    harmless: bool = False
    """Worth a warning and no refusal."""


class Foreseen(NamedTuple):
    """What can be told of an environment before it is built."""

    clashes: tuple[Fault, ...] = ()
    """Wheels that cannot be installed right, files that cannot lie in one environment, or not without harm."""
    unknown: tuple[str, ...] = ()
    """Pins whose contents are not known, sorted: only the check after the build will judge them."""


def faults_of(
    lock: Lock,
    index: "IndexClient",
    *,
    interpreter: "Interpreter",
    places: "Places",
    allow_collision: Collection[str] = (),
) -> Foreseen:
    """Return the faults that an environment built from a lock will have.

    A wheel that was never looked into is asked for, in part; offline it stays unknown. Raise `PmError` as
    `Index.fetch` does.
    """
    contents = index.contents(lock.pins, partial(_kept, places))
    unknown = tuple(sorted(pin.name for pin in lock.pins if pin.name not in contents))
    clashes = clashes_among(contents, lock, interpreter.standard_modules, allow_collision)
    return Foreseen(clashes, unknown)


def flaws_of(lock: Lock, index: "IndexClient", places: "Places") -> tuple[Fault, ...]:
    """Return why a lock could not be installed, as far as that is the fault of the first such wheel: all of it is read.

    Raise `PmError` (`hash-mismatch` …) where a wheel is not what the lock names.
    """
    examined = index.examined(lock.pins, partial(_kept, places))
    return next(((flaw(name, held.flaw),) for name, held in examined if held.flaw), ())


def telling_files(
    lock: Lock,
    index: "IndexClient",
    *,
    interpreter: "Interpreter",
    places: "Places",
    allow_collision: Collection[str] = (),
) -> tuple[dict[str, WheelContents], frozenset[str]]:
    """Return of the distributions that faults name what tells of these, and the standard modules that count there.

    `clashes_among` finds the same in it. Raise `PmError` as `faults_of` does.
    """
    contents = index.contents(lock.pins, partial(_kept, places))
    clashes = clashes_among(contents, lock, interpreter.standard_modules, allow_collision)
    names = {name for fault in clashes if not fault.harmless for name in (fault.package, *fault.others)}
    taking_part = {name: held for name, held in contents.items() if name in names}
    flaws = {name: held.flaw for name, held in taking_part.items()}
    files = {name: {path: held.files[path] for path in held.tops} for name, held in taking_part.items()}
    for name, differing in _differing(_overlapping(taking_part)).items():
        files[name] |= differing
    modules = top_level_names(path for held in taking_part.values() for path in held.tops)
    return {
        name: contents_of(files[name], flaws[name]) for name in sorted(files)
    }, interpreter.standard_modules & modules


def _differing(contents: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the files that are not the same in all of the contents that have them."""
    identities: dict[str, set[str]] = {}
    for files in contents.values():
        for path, identity in files.items():
            identities.setdefault(path, set()).add(identity)
    return {
        name: {path: identity for path, identity in files.items() if len(identities[path]) > 1}
        for name, files in contents.items()
    }


def clashes_among(
    contents: Mapping[str, WheelContents], lock: Lock, standard: frozenset[str], allow_collision: Collection[str] = ()
) -> tuple[Fault, ...]:
    """Return what is wrong with distributions that have these contents, and with all of them in one environment."""
    core = lock.core.partition("==")[0]
    tops = {name: held.tops for name, held in contents.items()}
    return (
        *_flaws(contents),
        *collisions(_overlapping(contents), core, Sharing(lock, frozenset(allow_collision))),
        *shadowing(tops, standard, core),
        *odd({name: held.oddities for name, held in contents.items()}),
    )


def _kept(places: "Places", pin: Pin) -> Iterator[Path]:
    """Yield the wheels of the manager's own that a pin may name by path."""
    from pm.host.embedded import embedded_core_wheel

    yield wheel_in_state(places.wheels, pin.artifact.path)
    try:
        yield embedded_core_wheel()
    except PmError:  # an installation without one can hold no pin on it either
        return


def _flaws(contents: Mapping[str, WheelContents]) -> Iterator[Fault]:
    for name, held in sorted(contents.items()):
        if held.flaw:
            yield flaw(name, held.flaw)


def flaw(name: str, why: str) -> Fault:
    """Return the fault of a wheel that cannot be installed, or not right."""
    return Fault("invalid-wheel", f"the wheel of `{name}` cannot be installed: {why}", name)


def odd(oddities: Mapping[str, Iterable[Oddity]]) -> Iterator[Fault]:
    """Name distributions whose files run or start otherwise than an operator may expect."""
    for name, found in sorted(oddities.items()):
        for oddity in found:
            yield Fault(oddity.code, f"`{name}` {_ODD[oddity.code]}: {_listed(oddity.paths)}", name, harmless=True)


_ODD = {
    "runs-at-start": "runs code at every start of Python",
    "invalid-script": "has a script that no system starts, because its first line ends with a carriage return",
}


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(map(shown, paths[:_SHOWN])) + more


def _overlapping(contents: Mapping[str, WheelContents]) -> dict[str, dict[str, str]]:
    """Return the files below the top-level names that several wheels share: only these can collide."""
    sharing: dict[str, list[str]] = {}
    for name, held in contents.items():
        for top in map(top_of, held.tops):
            sharing.setdefault(top, []).append(name)
    for name, held in contents.items():
        for folder in {folder for top in held.tops if top.startswith("..") for folder in _folders_of(top)}:
            if folder in sharing:  # outside each path is its own: a file there may be a folder of another
                sharing[folder].append(name)
    shared: dict[str, set[str]] = {}
    for top, names in sharing.items():
        for name in names if len(names) > 1 else ():
            shared.setdefault(name, set()).add(top)
    return {name: _with_folders(contents[name].files, tops) for name, tops in shared.items()}


def _with_folders(files: Mapping[str, str], tops: set[str]) -> dict[str, str]:
    """Return the files below some names, and their folders: where one wheel has a folder, no other can have a file."""
    found: dict[str, str] = {}
    for path, identity in files.items():
        if top_of(path) in tops or (path.startswith("..") and not tops.isdisjoint(_folders_of(path))):
            found[path] = identity
            while (path := path.rpartition("/")[0]) not in found and path:
                found[path] = _FOLDER
    return found


def _folders_of(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


class Sharing(NamedTuple):
    """Which distributions may write one path with different content."""

    lock: Lock = Lock(())
    allowed: frozenset[str] = frozenset()
    """Those that the operator named."""

    def is_meant(self, names: Sequence[str]) -> bool:
        """Say whether the operator wants it so, or the author of a distribution that itself brings all of them."""
        return bool(self.allowed.intersection(names)) or any(
            set(names) <= {pin.name, *(edge.name for edge in active_edges(pin))} for pin in self.lock.pins
        )


_NOT_SHARED = Sharing()


def collisions(contents: Mapping[str, Mapping[str, str]], core: str, sharing: Sharing = _NOT_SHARED) -> Iterator[Fault]:
    """Name distributions that write one path with different content: one wins, the others are broken.

    `contents` says for each distribution what it writes, as path → identity; what has no identity is not compared.
    """
    writers: dict[str, dict[str, str]] = {}
    for name, files in contents.items():
        for path, identity in files.items():
            if identity and counts(path):
                writers.setdefault(path, {})[name] = identity
    paths_of: dict[tuple[str, ...], list[str]] = {}
    for path, by_name in writers.items():
        if len(set(by_name.values())) > 1:
            paths_of.setdefault(tuple(sorted(by_name)), []).append(path)
    for names, paths in sorted(paths_of.items()):
        found = collision(names, sorted(paths), core, sharing)
        # a file of one that is a folder of another lies there in no order of writing
        yield found._replace(harmless=False) if any(_FOLDER in writers[path].values() for path in paths) else found


def collision(names: tuple[str, ...], paths: list[str], core: str, sharing: Sharing = _NOT_SHARED) -> Fault:
    """Return the fault of distributions that write the same paths.

    Outside of the site-packages nothing is imported: a program that two of them call by one name is worth a warning,
    as is what is meant so, as long as nothing is the core's. Then the last one by name wins.
    """
    listed = " and ".join(f"`{name}`" for name in names)
    more = f" and {len(paths) - 1} more files" if len(paths) > 1 else ""
    message = f"{listed} write `{paths[0]}`{more} with different content"
    outside = all(path.startswith("..") for path in paths)
    harmless = core not in names and (outside or sharing.is_meant(names))
    if harmless:
        message += f"; {'those' if more else 'that'} of `{names[-1]}`, the last by name, will be there"
    return Fault("file-collision", message, names[0], names[1:], harmless)


def shadowing(paths: Mapping[str, Iterable[str]], standard: frozenset[str], core: str) -> Iterator[Fault]:
    """Name packages that hide a module of the core, and modules that the standard library hides.

    A package folder or a compiled module wins over a `.py` file beside it, so a distribution's `utils/__init__.py`
    hides the core's `utils.py`. The standard library comes first on the path: a back-port such as `argparse` is never
    imported.
    """
    core_modules = frozenset(path for path in paths.get(core, ()) if "/" not in path)
    for name, written in sorted(paths.items()):
        if name == core:
            continue
        own = set(written)
        for module in sorted(top_level_names(own)):
            if module in standard:
                text = f"`{name}` brings a module `{module}` that is never imported: the standard library has one"
                yield Fault("module-shadowing", text, name, harmless=True)
            elif f"{module}.py" in core_modules and (kind := _stronger_kind(module, own)):
                text = f"`{name}` brings a {kind} `{module}` that hides the core's module of that name"
                yield Fault("module-shadowing", text, name, (core,))


def _stronger_kind(module: str, paths: set[str]) -> str:
    """Return what of these paths Python takes for a module before its `.py` file; empty for nothing."""
    if f"{module}/__init__.py" in paths:
        return "package"
    compiled = any(path.startswith(f"{module}.") and path.endswith((".so", ".pyd")) for path in paths)
    return "compiled module" if compiled else ""


def top_level_names(paths: Iterable[str]) -> set[str]:
    """Return the importable top-level names among installed paths."""
    names: set[str] = set()
    for path in paths:
        first, _, rest = path.partition("/")
        if first.startswith("..") or first.endswith((ENDING, ".data")) or first == "__pycache__":
            continue
        if rest:
            names.add(first)
        elif first.endswith((".py", ".so", ".pyd")):
            names.add(first.split(".")[0])
    return {name for name in names if name.isidentifier()}
