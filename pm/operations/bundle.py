"""Write all wheels of the selected generation into a folder, for a machine without a network."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from lockfiles import Pin
from pm import __version__
from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.generations.bundle import README, WHEELS, is_bundle, write_lists
from pm.generations.bundle_readme import Carried, Summary, counted, readme
from pm.generations.records import Member, Record
from pm.host.embedded import embedded_core_wheel
from pm.index import IndexOptions
from pm.index.folders import DIGEST_PART
from pm.index.gathering import Held, copy, fetch, held, kept_file
from pm.index.package_sources import Sources
from pm.names import EMBEDDED_NAME
from pm.operations.leftovers import is_alive
from pm.operations.run import OperationRun, Result
from pm.operations.selected_generation import selected_record
from pm.places import DEFAULT_PROFILE, expanded
from pm.plugins.tree import copy_plugin, tree_digest
from pm.receipts.receipt import Done
from pm.system.files import disk_error, size_text, sync_folder
from pm.verdict.state import sources_of


class Order(NamedTuple):
    """What is to be written where."""

    output: Path
    """Absolute, and no link."""
    force: bool = False
    """Replace an earlier bundle."""
    offline: bool = False


def ordered_output(text: str) -> Path:
    """Return the folder that an operator names, behind a link that it may be."""
    return Path(os.path.realpath(expanded(text)))


def bring_back(output: Path) -> None:
    """Put an earlier bundle in its place again that a killed operation had taken away to replace it.

    Raise `PmError` (`not-writable`).
    """
    if os.path.lexists(output):
        return
    for path in _abandoned(output, "old"):
        try:
            path.rename(output)
        except OSError as error:
            raise disk_error(error, output) from error
        return


def misplaced(output: Path, state: Path) -> str:
    """Say why a bundle must not be put there whatever is there; empty if it may."""
    if not output.is_relative_to(os.path.realpath(state)):
        return ""
    return f"`{output}` is inside of `{state}`, which belongs to the manager"


def unusable(output: Path, *, force: bool) -> str:
    """Say why a bundle cannot be put there; empty if it can. Only an earlier bundle is ever replaced."""
    if not os.path.lexists(output):
        return ""
    if not output.is_dir():
        return f"`{output}` is not a folder"
    if output.is_mount():
        return f"`{output}` is a mount point; name a folder inside of it"
    if _is_empty(output):
        return ""
    if not is_bundle(output):
        return f"`{output}` is not empty, and is not just an earlier bundle"
    return "" if force else f"`{output}` is an earlier bundle; `--force` replaces it"


def _is_empty(folder: Path) -> bool:
    """Say whether nothing is in a folder; one that cannot be read may hold something."""
    try:
        return not any(folder.iterdir())
    except PermissionError:
        return False


def bundle(run: OperationRun, order: Order) -> Result:
    """Gather and verify the wheels, and put everything in its place at once; a dry run says what would be fetched.

    Raise `PmError` (`no-generation`, `offline`, `hash-mismatch`, `index-unreachable`, `no-space`, `not-writable` …);
    then what was there before is there still.
    """
    record = selected_record(run)
    with run.phase("gather", f"gathering {counted(len(record.lock.pins))}"):
        wheels = _gathered(run, record, order)
    if run.operation.dry_run:
        absent = sum(1 for wheel in wheels if wheel.place is None)
        message = f"`{order.output}` would hold {counted(len(wheels))}, {absent} of which would be fetched"
        run.note(Problem("bundled", message))
        return Done("exported")
    with run.phase("write", f"writing {order.output}"), _in_its_place(order) as stage:
        (stage / WHEELS).mkdir()
        copy(wheels, stage / WHEELS)
        plugins = tuple(_carried(run, record, stage))
        size = sum(path.stat().st_size for path in (stage / WHEELS).iterdir())
        summary = Summary(__version__, size, carries_core=record.core["kind"] != "project")
        write_lists(stage, record.lock, readme(record.lock, plugins, summary))
    message = f"`{order.output}` holds {counted(len(wheels))} ({size_text(size)}); its `{README}` says how to use it"
    run.note(Problem("bundled", message))
    for left_out in _left_out(record, plugins):
        run.note(Problem("not-bundled", left_out, hint=f"`{README}` says how to take it to the other machine"))
    return Done("exported")


# -- the wheels


def _gathered(run: OperationRun, record: Record, order: Order) -> tuple[Held, ...]:
    """Return where each wheel lies; what lies nowhere is fetched, but by a dry run."""
    wheels = held(record.lock.pins, lambda pin: _own_places(run, pin, order.output))
    absent = [wheel.pin for wheel in wheels if wheel.place is None]
    if not absent:
        return wheels
    settings = read_own_selection(run.places.root).settings
    sources = sources_of(settings, run.places, run.context.environ)
    for notice in sources.warnings:
        run.notice(notice)
    in_folders = {wheel.pin: wheel for wheel in held(absent, lambda pin: _in(sources.folders, pin))}
    wheels = tuple(in_folders.get(wheel.pin, wheel) for wheel in wheels)
    absent = [wheel.pin for wheel in wheels if wheel.place is None]
    _check_absent(absent, sources, offline=order.offline)
    if run.operation.dry_run:
        return wheels
    cache = run.places.cache
    fetch(absent, cache, sources, run.context.index_options or IndexOptions())
    return tuple(wheel if wheel.place else Held(wheel.pin, kept_file(cache, wheel.pin)) for wheel in wheels)


def _own_places(run: OperationRun, pin: Pin, output: Path) -> Iterator[Path]:
    """Yield where the manager, or an earlier bundle, may keep a wheel."""
    places, artifact = run.places, pin.artifact
    yield places.wheels / artifact.sha256[:DIGEST_PART] / artifact.filename
    yield kept_file(places.cache, pin)
    yield from (places.cache / "built").glob(f"*/{artifact.filename}")
    yield output / WHEELS / artifact.filename
    if pin.name == EMBEDDED_NAME:
        with suppress(PmError):  # an installation without an embedded core keeps no wheel of it
            yield embedded_core_wheel()


def _in(folders: Iterable[Path], pin: Pin) -> Iterator[Path]:
    yield from (folder / pin.artifact.filename for folder in folders)


def _check_absent(pins: Iterable[Pin], sources: Sources, *, offline: bool) -> None:
    """Raise what is wrong if wheels are not on this machine and cannot be fetched."""
    lost = [pin for pin in pins if not pin.artifact.url]
    if lost:
        message = f"the locked wheels are no longer on this machine: {_names(lost)}"
        raise PmError("hash-mismatch", message, hint="put them into a folder of `pm.find_links`")
    remote = [pin for pin in pins if pin.artifact.url]
    if remote and (offline or not sources.indexes):
        why = "`--offline` is given" if offline else "no index is configured"
        message = f"{why}, and the cache lacks {counted(len(remote))}: {_names(remote)}"
        hint = "run it once without `--offline`" if offline else "put them into a folder of `pm.find_links`"
        raise PmError("offline", message, hint=hint)


def _names(pins: Iterable[Pin]) -> str:
    return ", ".join(f"`{pin.artifact.filename}`" for pin in pins)


# -- the plugins


def _carried(run: OperationRun, record: Record, stage: Path) -> Iterator[Carried]:
    """Yield the members of the generation, and copy those whose admitted files are kept, laid out as in a home."""
    for member in record.members:
        for profile in member.profiles:
            named = "" if profile == DEFAULT_PROFILE else profile.removeprefix("profiles/")
            folder = _copied(run, member, named, stage)
            yield Carried(member.key, named, folder, member.source)


def _copied(run: OperationRun, member: Member, profile: str, stage: Path) -> str:
    """Copy a plugin's files as they were admitted, and say where to; empty if they are not kept as they were."""
    tree = run.places.tree(member.tree_digest)
    if member.source != "user" or not member.tree_digest or not tree.is_dir():
        return ""
    # the digest of what is kept and not of the copy: on a stick every file may be a program, or none
    if tree_digest(tree) != member.tree_digest:
        return ""
    below = f"profiles/{profile}/plugins" if profile else "plugins"
    folder = f"{below}/{member.key}"
    copy_plugin(tree, stage / folder)
    return folder


def _left_out(record: Record, plugins: Iterable[Carried]) -> Iterator[str]:
    """Say what of the generation is not in the bundle."""
    if record.core["kind"] == "project":
        yield f"the core is the project in `{record.core['folder']}`, which is not a wheel"
    for plugin in plugins:
        if not plugin.folder and plugin.source != "bundled":
            profile = f" of the profile `{plugin.profile}`" if plugin.profile else ""
            why = "a project's" if plugin.source == "project" else "not kept as they were admitted"
            yield f"the files of `{plugin.key}`{profile} are {why}"


# -- the folder


@contextmanager
def _in_its_place(order: Order) -> Iterator[Path]:
    """Give a folder beside the output that takes its place if all goes well, and vanishes if not."""
    output = order.output
    stage = _beside(output, "part")
    try:
        for path in (*_abandoned(output, "part"), *_abandoned(output, "old")):
            shutil.rmtree(path, ignore_errors=True)
        stage.mkdir(parents=True)
        yield stage
        os.sync()
        _swap(stage, order)
        sync_folder(output.parent)
    except OSError as error:
        if str(error.filename or "").startswith(str(stage)):  # of which an operator knows nothing
            error.filename = str(output)
        raise disk_error(error, output) from error
    except PmError as error:
        if not error.file.startswith(str(stage)):
            raise
        message = error.message.replace(error.file, str(output))
        raise PmError(error.code, message, hint=error.hint, file=str(output)) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _swap(stage: Path, order: Order) -> None:
    output = order.output
    fault = unusable(output, force=order.force)
    if fault:  # it was usable when this began
        raise PmError("not-writable", fault, file=str(output))
    if not output.is_dir() or _is_empty(output):
        stage.rename(output)
        return
    old = _beside(output, "old")
    output.rename(old)
    try:
        stage.rename(output)
    except OSError:
        old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _beside(output: Path, kind: str) -> Path:
    return output.with_name(f".{output.name[:100]}.{os.getpid()}.{os.urandom(4).hex()}.{kind}")


def _abandoned(output: Path, kind: str) -> list[Path]:
    """Return what operations that were killed left beside an output."""
    named = re.compile(rf"\.{re.escape(output.name[:100])}\.(?P<process>[0-9]+)\.[0-9a-f]{{8}}\.{kind}")
    found = ((path, named.fullmatch(path.name)) for path in _inside(output.parent))
    return [path for path, match in found if match is not None and not is_alive(int(match["process"]))]


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # nothing can have been left where nothing can be seen
        return []
