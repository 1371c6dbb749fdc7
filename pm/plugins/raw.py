"""What stands in a plugin's files, before anything of it is judged."""

from typing import NamedTuple

from admission import ExternalDependency, Problem

LEGACY_LISTS = ("pip_dependencies", "python_dependencies")
"""Keys of a manifest that list requirements."""


class Written(NamedTuple):
    """A text as it is written where a requirement belongs."""

    text: str
    file: str
    line: int
    column: int
    """1-based, of the text's first character; 0 when it cannot be told."""
    key: str
    """Of the list, `pip_dependencies`."""
    position: int
    """Place in that list."""
    before: str = ""
    """The item before it, which an unquoted comma may have cut off."""

    @property
    def item(self) -> str:
        return f"{self.key}[{self.position}]"


class Manifest(NamedTuple):
    """What a manifest says."""

    file: str = ""
    """Empty when there is none."""
    name: str = ""
    version: str = ""
    description: str = ""
    kind: str = ""
    requires_core: str = ""
    requires_core_line: int = 0
    external: bool = False
    texts: tuple[Written, ...] = ()
    """Of the two lists of requirements, one after the other."""
    list_problems: tuple[Problem, ...] = ()
    """Faults of those lists, which count only if the lists do."""
    external_dependencies: tuple[ExternalDependency, ...] = ()
    requires_env: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


class Project(NamedTuple):
    """What a `pyproject.toml` says."""

    exists: bool = False
    owns: bool = False
    """Whether it has a `[project]`, and so owns the Python requirements, also when it lists none."""
    name: str = ""
    version: str = ""
    description: str = ""
    requires_python: str = ""
    texts: tuple[Written, ...] = ()
    exempt: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    not_installed: tuple[Problem, ...] = ()
    """A note on the optional dependencies and dependency groups, of which a plugin gets none."""
    notes: tuple[Problem, ...] = ()
