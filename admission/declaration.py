"""`Declaration`: what one plugin asks for, and why it may be unfit before anything is resolved."""

from typing import NamedTuple

from admission.requirement import Requirement


class Problem(NamedTuple):
    """One thing that is wrong with a file of a plugin."""

    code: str
    """A stable code of docs/reference/codes.md."""
    message: str
    file: str = ""
    """Relative to the plugin's folder."""
    line: int = 0
    """1-based; 0 when unknown."""
    column: int = 0
    """1-based; 0 when unknown."""
    key: str = ""
    """The key that holds the fault, for example `pip_dependencies[2]`."""
    hint: str = ""
    """What to write instead, where it is obvious."""


class ExternalDependency(NamedTuple):
    """Something outside of Python that a plugin says it needs: shown, never installed, its check never run."""

    name: str
    install: str = ""
    """The author's words on how to get it."""
    check: str = ""
    """The author's command that would tell whether it is there."""


class Declaration(NamedTuple):
    """What one plugin folder or distribution declares; nothing of it was run to learn this."""

    key: str
    """The plugin's key: one or two segments, `name` or `category/name`."""
    name: str
    """The manifest's name."""
    version: str = ""
    description: str = ""
    kind: str = ""
    """The manifest's `kind`; `exclusive` for a memory provider."""
    requirements: tuple[Requirement, ...] = ()
    """In the order of the file."""
    requires_python: str = ""
    requires_core: str = ""
    """The manifest's `requires_hermes`: a PEP 440 specifier judged against the core's version."""
    requires_core_file: str = ""
    requires_core_line: int = 0
    """1-based; 0 where the format has no lines."""
    gates: tuple[Requirement, ...] = ()
    """Requirements on the core's own distribution: judged against its version, never resolved."""
    external: bool = False
    """`python_runtime: external`: the plugin brings its own environment and is not part of the union."""
    declared: bool = True
    """Whether there is any declaration; without one the plugin is admitted as it is."""
    exempt: tuple[str, ...] = ()
    """Names that `[tool.uv.exclude-newer-package]` exempts from quarantine."""
    external_dependencies: tuple[ExternalDependency, ...] = ()
    requires_env: tuple[str, ...] = ()
    """Names of environment variables that the plugin says it needs."""
    hooks: tuple[str, ...] = ()
    """Names of the hooks that the manifest lists."""
    problems: tuple[Problem, ...] = ()
    """Faults that make it unfit; all of them, not the first."""
    notes: tuple[Problem, ...] = ()
    """Warnings about the declaration that do not make it unfit."""

    @property
    def fit(self) -> bool:
        return not self.problems
