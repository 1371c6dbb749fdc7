"""What a `config.yaml` says: which plugins it selects, and the manager's own settings."""

from typing import NamedTuple

from admission import Problem
from pm.errors import PmError


class IndexSetting(NamedTuple):
    """One entry of `pm.indexes`."""

    url: str
    """As written, so it may hold a credential: show it through `redact` only."""
    name: str = ""
    packages: tuple[str, ...] = ()
    """Patterns of the names that come from this index and no other."""
    default: bool = False


class Settings(NamedTuple):
    """The section `pm:` of the root's config."""

    core: str = ""
    """A requirement or a project's folder; empty for the embedded core."""
    python: str = ""
    exclude_newer: str = ""
    """A span or an instant as written; empty when quarantine is off."""
    allow_build: tuple[str, ...] = ()
    allow_prerelease: tuple[str, ...] = ()
    allow_collision: tuple[str, ...] = ()
    allow_direct_urls: tuple[str, ...] = ()
    """Keys of plugins, or `EVERY_PLUGIN`."""
    keep_generations: int = 3
    audit: str = "off"
    on_unadmitted: str = "warn"
    indexes: tuple[IndexSetting, ...] | None = None
    """`None` when the section does not say, which is not the same as an empty list: that means folders only."""
    find_links: tuple[str, ...] = ()
    catalog: str = ""
    """A folder, or an address; empty for no catalog."""


class Selection(NamedTuple):
    """What one `config.yaml` selects."""

    enabled: tuple[str, ...] = ()
    """Keys as written, in the order of the file."""
    disabled: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    """Keys that have settings of their own under `plugins.entries`."""
    memory_provider: str = ""
    """Empty for the built-in memory."""
    context_engine: str = ""
    """Empty for the built-in engine."""
    allow_lazy_installs: bool = True
    section: Settings = Settings()
    """The settings as far as they could be read; ask for `settings`, which is sure."""
    section_line: int = 0
    """Where `pm:` stands; 0 when there is no such section."""
    section_problems: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()
    decided: tuple[str, ...] = ()
    """What the administrator decides for every home, such as `plugins.enabled`: the home's own config has no say."""
    decided_in: str = ""
    """The administrator's file."""

    @property
    def settings(self) -> Settings:
        """The manager's settings.

        Raise `PmError` (`config-unreadable`), with all their faults, when one of them cannot be read.
        """
        if not self.section_problems:
            return self.section
        first, *others = self.section_problems
        more = "".join(f"; line {problem.line}: {problem.message}" for problem in others)
        raise PmError(
            "config-unreadable", first.message + more, hint=first.hint, file=first.file, line=first.line, key=first.key
        )


def unreadable(problem: Problem) -> PmError:
    """Return what to raise for a config that cannot be read."""
    return PmError(
        "config-unreadable",
        problem.message,
        hint=problem.hint,
        file=problem.file,
        line=problem.line,
        key=problem.key,
    )
