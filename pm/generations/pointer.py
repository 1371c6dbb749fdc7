"""Read which generation is selected, with the standard library alone: every start of a command pays for this."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pm.errors import PmError
from pm.places import EnvironmentNumber, GenerationNumber, Places
from pm.system.files import disk_error, is_damaged, path_text, read_regular


class AdmittedMember(NamedTuple):
    """One plugin that the selected generation was made for."""

    key: str
    profiles: tuple[str, ...]
    root: str
    """Its folder; empty for a bundled plugin."""
    digest: str
    """Of the canonical declaration."""


class Pointer(NamedTuple):
    """The selected generation."""

    generation: GenerationNumber
    folder: Path
    """Of its environment."""
    core: str
    """The core's name and version, `hermes-agent==0.19.0`."""
    admitted: tuple[AdmittedMember, ...]
    site_packages_stamp: str
    core_path: tuple[str, ...] = ()
    """Folders of a core that is a project and not installed: they go on the path."""

    @property
    def environment(self) -> EnvironmentNumber:
        """The generation's own, or an earlier one's."""
        return EnvironmentNumber(int(self.folder.name))

    @property
    def programs(self) -> Path:
        """Where the environment's commands lie."""
        return self.folder / "bin"


def selected(places: Places) -> Pointer:
    """Return the selected generation.

    Raise `PmError` (`no-generation`) before the first, (`drift`) for a pointer that cannot be read.
    """
    pointer = read_pointer(places)
    if pointer is None:
        from pm.generations.set_up import no_generation

        raise no_generation(places, f" for `{places.root}`")
    return pointer


def read_pointer(places: Places) -> Pointer | None:
    """Return what the pointer says; `None` if there is none. Raise `PmError` (`drift`) for a damaged one.

    One that this user may not read is `not-writable`.
    """
    try:
        content = read_regular(places.pointer)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if is_damaged(error):
            raise _unreadable(places) from error
        # what the disk does not give is not damaged: another generation would be no help
        raise disk_error(error, places.pointer, verb="read") from error
    try:
        return _pointer(json.loads(content), places)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise _unreadable(places) from error


def _pointer(value: Mapping[str, Any], places: Places) -> Pointer:
    folder = places.state / path_text(value["path"])
    if folder.parent.name != "generations" or not folder.name.isdecimal():
        raise ValueError(folder)
    int(folder.name)
    return Pointer(
        generation=GenerationNumber(int(value["generation"])),
        folder=folder,
        core=_text(value["core"]),
        core_path=tuple(map(path_text, value.get("core_path", ()))),
        admitted=tuple(map(_member, value["admitted"])),
        site_packages_stamp=_text(value["site_packages_stamp"]),
    )


def _member(row: Mapping[str, Any]) -> AdmittedMember:
    profiles = tuple(map(_text, row["profiles"]))
    root = path_text(row["root"])
    return AdmittedMember(_text(row["key"]), profiles, root, _text(row["declaration_digest"]))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError(value)


def _unreadable(places: Places) -> PmError:
    from pm.generations.set_up import unreadable_state

    return unreadable_state(places, f"the pointer `{places.pointer}` cannot be read", places.pointer)
