"""Drift: the selected environment is not what was selected, as far as one look at its folder tells.

Nothing of it is opened; `pm.generations.verification` compares every file. A start of a command and the operations
ask the same question here, so this needs little of the standard library.
"""

import os
from pathlib import Path
from typing import Literal, NamedTuple

from pm.errors import PmError
from pm.generations.distributions import foreign_distributions, interpreter_in, stamp
from pm.generations.pointer import Pointer
from pm.places import Places

Kind = Literal["gone", "displaced", "incomplete", "no-interpreter", "changed"]
_SHOWN = 5


class Drift(NamedTuple):
    """One way in which the selected environment is not what was selected."""

    kind: Kind
    pointer: Pointer
    place: Path
    """What is not as it was: the environment's folder or its interpreter."""
    added: tuple[str, ...] = ()
    """Distributions that were added since, as far as the names of folders tell."""
    taken: tuple[str, ...] = ()
    """Those that were taken away."""
    runs: bool = False
    """Whether a command can be started all the same where the pointer says."""

    @property
    def message(self) -> str:
        number = self.pointer.generation
        if self.kind == "gone":
            return f"the environment of generation {number} is gone"
        if self.kind == "displaced":
            built = f"was built in `{self.pointer.folder}` and lies in `{self.place}` now, where it cannot run"
            return f"the environment of generation {number} {built}"
        if self.kind == "incomplete":
            return f"the environment of generation {number} is not complete"
        if self.kind == "no-interpreter":
            return f"the interpreter that generation {number} was built with is gone"
        changes = ((self.added, "added to"), (self.taken, "taken from"))
        said = [f"{_listed(names)} {what}" for names, what in changes if names]
        if not said:
            return f"something was added to generation {number} or taken from it"
        return f"{' and '.join(said)} generation {number}"

    @property
    def hint(self) -> str:
        if self.kind == "no-interpreter":
            return "`hermes pm init` builds it with another one"
        return f"`hermes pm repair` builds it {'here' if self.kind == 'displaced' else 'again'}"


def drift_of(places: Places, pointer: Pointer) -> Drift | None:
    """Return how the selected environment differs from what was selected; `None` if it does not."""
    folder = places.environment(pointer.environment)
    if not folder.is_dir():
        return Drift("gone", pointer, folder)
    if not _is_same(pointer.folder, folder):
        # of a state that was copied, the original is another home's: what is started there is leased in neither
        return Drift("displaced", pointer, folder)
    stamped = _stamp(folder)
    if not stamped:
        return Drift("incomplete", pointer, folder)
    interpreter = interpreter_in(folder)
    if not interpreter.exists():
        # a start would find another `python` on the PATH, without anything that was admitted
        return Drift("no-interpreter", pointer, interpreter)
    if stamped != pointer.site_packages_stamp:
        added, taken = foreign_distributions(folder)
        return Drift("changed", pointer, folder, tuple(added), tuple(taken), runs=True)
    return None


def _stamp(folder: Path) -> str:
    """Return the stamp of an environment; empty if it has none, or no link to an interpreter, not even a dead one."""
    try:
        return stamp(folder) if os.path.lexists(interpreter_in(folder)) else ""
    except PmError:
        return ""


def _is_same(folder: Path, other: Path) -> bool:
    try:
        return folder == other or folder.samefile(other)
    except (OSError, ValueError):  # it is gone, or no system could have it
        return False


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{shown}{more} {'was' if len(names) == 1 else 'were'}"
