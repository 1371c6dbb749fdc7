"""Where everything lies: the home of a profile, the root that its profiles share, and the manager's state below it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NewType

from pm.errors import PmError

DEFAULT_PROFILE = "default"
ACTIVE_PROFILE = "active_profile"
"""In the root: the name of the profile that is meant where none is named."""
_LONGEST_NAME = 255

GenerationNumber = NewType("GenerationNumber", int)
"""Of a generation, and so of its record: what the pointer selects and a receipt names."""
EnvironmentNumber = NewType("EnvironmentNumber", int)
"""Of an environment, and so of its folder, its lease and its bytecode; several generations can share one."""


class Places(NamedTuple):
    """The paths of one installation, seen from one profile."""

    home: Path
    """Absolute; of the profile that was asked for."""
    root: Path
    """The home itself, or for `<root>/profiles/<name>` that `<root>`: the state below it serves all profiles."""

    @property
    def profile(self) -> str:
        return DEFAULT_PROFILE if self.home == self.root else profile_name(self.home)

    @property
    def state(self) -> Path:
        return self.root / "pm"

    @property
    def pointer(self) -> Path:
        return self.state / "pointer.json"

    @property
    def journal(self) -> Path:
        return self.state / "journal.json"

    @property
    def generations(self) -> Path:
        return self.state / "generations"

    @property
    def trees(self) -> Path:
        return self.state / "trees"

    @property
    def wheels(self) -> Path:
        return self.state / "wheels"

    @property
    def receipts(self) -> Path:
        return self.state / "receipts"

    @property
    def locks(self) -> Path:
        return self.state / "locks"

    @property
    def front(self) -> Path:
        """The folder of the front door, and of nothing else."""
        return self.state / "front"

    @property
    def cache(self) -> Path:
        return self.state / "cache"

    def tree(self, digest: str) -> Path:
        """Return where the tree of a digest is kept: the files of a plugin."""
        return self.trees / digest.removeprefix("sha256:")

    @property
    def bytecodes(self) -> Path:
        """Where processes of all generations keep their bytecode."""
        return self.state / "pycache"

    def record(self, number: GenerationNumber) -> Path:
        """Return the file that says what a generation consists of."""
        return self.generations / f"{number}.json"

    def environment(self, number: EnvironmentNumber) -> Path:
        """Return the folder of an environment."""
        return self.generations / str(number)

    def bytecode(self, number: EnvironmentNumber) -> Path:
        """Return where processes in an environment keep their bytecode: never in the environment itself."""
        return self.bytecodes / str(number)

    def home_of(self, profile: str) -> Path:
        """Return the home of a profile by its name."""
        return self.root if profile == DEFAULT_PROFILE else self.root / "profiles" / profile.removeprefix("profiles/")


def own_environment(number: GenerationNumber) -> EnvironmentNumber:
    """Return the number of the environment that is built for a generation: the same."""
    return EnvironmentNumber(number)


def profile_name(home: Path) -> str:
    """Return the name of a profile below `profiles`; one that is called as the root is told from it."""
    return f"profiles/{home.name}" if home.name == DEFAULT_PROFILE else home.name


def find_places(home: str | None, environ: Mapping[str, str]) -> Places:
    """Return the places for `--home`, else `HERMES_HOME`, else `~/.hermes`; nothing is created.

    Where none is named, or the root by the variable, the profile that the host calls active is meant. Raise `PmError`
    (`no-home`) if it cannot be told, (`not-writable`) if it is a file, (`unknown-profile`).
    """
    text = home or environ.get("HERMES_HOME", "").strip() or "~/.hermes"
    path = Path(os.path.abspath(expanded(text)))  # noqa: PTH100 - a symlinked home keeps the name it was given
    if path.exists() and not path.is_dir():
        raise PmError("not-writable", f"the home `{path}` is not a folder", file=str(path))
    if path.parent.name == "profiles":
        return Places(path, path.parent.parent)
    return Places(path if home else _active(path, environ), path)


def _active(root: Path, environ: Mapping[str, str]) -> Path:
    """Return the home of the profile that `hermes profile use` chose, else the root (`hermes_cli.main` of 0.19.0)."""
    file = root / ACTIVE_PROFILE
    if environ.get("HERMES_S6_SUPERVISED_CHILD") or not file.is_file():
        return root
    try:
        name = file.read_text(encoding="utf-8").strip()[:_LONGEST_NAME]
    except (OSError, ValueError):  # the host goes on without it too
        return root
    try:
        return home_of_profile(name or DEFAULT_PROFILE, root)
    except PmError as error:
        error.file, error.hint = str(file), "`hermes profile use default` goes back to the root, and `--home` names one"
        raise


def home_of_profile(name: str, root: Path) -> Path:
    """Return the home of a profile as the host names it; raise `PmError` (`unknown-profile`) if there is none."""
    if name == DEFAULT_PROFILE:
        return root
    home = root / "profiles" / name
    if name in ("", ".", "..") or "/" in name or not home.is_dir():
        hint = f"`hermes profile create {name}` makes it" if name.replace("-", "").replace("_", "").isalnum() else ""
        raise PmError("unknown-profile", f"there is no profile `{name}` in `{home.parent}`", hint=hint)
    return home


def expanded(text: str | Path) -> Path:
    """Return a path with the folder of a user in the place of `~`; raise `PmError` (`no-home`) if there is none."""
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        user = str(text).partition("/")[0].removeprefix("~")
        who = f"there is no user `{user}`" if user else "this user has no entry in the system and `HOME` is not set"
        hint = "name the folder itself, for the home with `--home` or `HERMES_HOME`"
        raise PmError("no-home", f"`{text}` is not known: {who}", hint=hint) from error


def user_home(environ: Mapping[str, str]) -> Path | None:
    """Return the folder in which programs keep what is this user's; `None` for a user that has none."""
    try:
        return Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    except RuntimeError:
        return None


def working_folder() -> Path | None:
    """Return the folder that the operator works in, which may hold plugins of a project; `None` if it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None
