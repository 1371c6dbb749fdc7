"""Leave for good: the manager's state, front doors and drop-ins go, and everything that is the user's stays.

One rename takes the state away from every start, so that whatever is stopped then, there is either all of it or none;
what could not be deleted any more is deleted by the next time.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from admission import Problem
from pm.errors import PmError
from pm.generations.install_lock import install_lock
from pm.generations.leases import exclusively, leased
from pm.generations.records import environments
from pm.launch.front_door import NAME
from pm.operations.link import linked_folders, unlink
from pm.operations.run import OperationRun
from pm.operations.service_units import named_by_units, own_drop_ins
from pm.operations.surplus import freed_by
from pm.places import EnvironmentNumber, Places, user_home
from pm.receipts.receipt import Done
from pm.system.files import disk_error, size_text
from pm.system.folders import remove_if_empty, remove_tree

_GONE = ".pm.uninstalled-"
_DISTRIBUTION = "hermes-plugin-manager"


def uninstall(run: OperationRun, *, purge: bool, agrees: Callable[[str], bool]) -> Done:
    """Remove the manager's state of the root, front doors to it and drop-ins; with `purge` the whole root.

    `agrees` is asked with a sentence that says what would go. Raise `PmError` (`busy` while something runs in a
    generation, `not-agreed`, `not-writable` also for a folder that is no home).
    """
    places, environ = run.places, run.context.environ
    doors = linked_folders(environ)
    paths = list(_paths(places, purge=purge))
    if not paths and not doors:
        _tell_of_the_distribution(run)
        return Done("unchanged")
    if purge:
        _require_a_home(places.root, environ)
    _require_idle(places)
    freed = sum(freed_by(paths).values())
    drop_ins = own_drop_ins(places, environ)
    gone = (*paths, *(door / NAME for door in doors), *drop_ins)
    what = ", ".join(f"`{path}`" for path in gone)
    if not run.operation.dry_run:
        if not agrees(f"delete {what} ({size_text(freed)})?"):
            raise PmError("not-agreed", f"this would delete {what}", hint="give `--yes` to agree")
        # first: without them a service starts by its unit, as long as that generation is there
        for file in drop_ins:
            _remove(file)
        _take_away(places)
        _delete(_paths(places, purge=purge))
        for door in doors:
            unlink(str(door), environ)
    for number in sorted(named_by_units(places, environ)):
        message = f"a service unit or a drop-in names generation {number}, and will not start any more"
        run.note(Problem("service-left", message, hint="install the service again with the host that is used now"))
    for path in gone:
        run.note(Problem("collected", f"`{path}`"))
    _tell_of_the_distribution(run)
    return Done("removed", freed=size_text(freed))


def _paths(places: Places, *, purge: bool) -> Iterator[Path]:
    """Yield what goes, and what an earlier time has left."""
    if purge and places.root.is_dir():
        yield places.root
        return
    if places.state.is_dir():
        yield places.state
    if places.root.is_dir():
        yield from sorted(places.root.glob(f"{_GONE}*"))


def _require_a_home(root: Path, environ: Mapping[str, str]) -> None:
    """Refuse to delete a folder that holds more than a home."""
    real = Path(os.path.realpath(root))
    user = user_home(environ)
    around = {Path(os.path.realpath(path)) for path in (user, Path(sys.prefix)) if path is not None}
    is_home = any((root / name).exists() for name in ("config.yaml", "pm", ".env"))
    if not is_home or any(path == real or real in path.parents for path in around):
        message = f"`{root}` is not only a home of Hermes, so it is not deleted"
        raise PmError(
            "not-writable", message, file=str(root), hint="leave out `--purge`, and delete by hand what may go"
        )


def _require_idle(places: Places) -> None:
    numbers = leased(places.locks) if places.locks.is_dir() else ()
    if numbers:
        raise _in_use(numbers[0])


def _in_use(number: EnvironmentNumber) -> PmError:
    message = f"something runs in generation {number}"
    return PmError("busy", message, hint="stop it, and run this again; nothing was changed")


def _take_away(places: Places) -> None:
    """Take the state away by one rename, while no process can start in any of its environments."""
    if not places.state.is_dir():
        return
    with ExitStack() as held:
        held.enter_context(install_lock(places, "uninstall"))
        for number in environments(places):
            if not held.enter_context(exclusively(places, number)):
                raise _in_use(number)
        try:
            places.state.rename(places.root / f"{_GONE}{os.urandom(4).hex()}")
        except OSError as error:
            raise disk_error(error, places.state, verb="deleted") from error


def _delete(paths: Iterator[Path]) -> None:
    for path in paths:
        try:
            remove_tree(path)
        except OSError as error:
            raise disk_error(error, path, verb="deleted") from error


def _remove(drop_in: Path) -> None:
    """Take a drop-in away, and its folder where nothing else lies in it."""
    try:
        drop_in.unlink(missing_ok=True)
    except OSError as error:
        raise disk_error(error, drop_in, verb="deleted") from error
    remove_if_empty(drop_in.parent)


def _tell_of_the_distribution(run: OperationRun) -> None:
    message = f"the manager itself is still installed: `{_line()}` removes it"
    run.note(Problem("manager-installed", message))


def _line() -> str:
    """Return what removes the distribution, by how it was installed."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool uninstall {_DISTRIBUTION}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx uninstall {_DISTRIBUTION}"
    return f"{prefix / 'bin' / 'python'} -m pip uninstall {_DISTRIBUTION}"
