"""The one answer to *was this plugin admitted?*, for rows of a record and rows of the pointer alike."""

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from pm.names import same_key
from pm.plugins.discovery import is_same_folder


class _Row(Protocol):
    """A plugin as a record or the pointer names it."""

    @property
    def key(self) -> str: ...
    @property
    def profiles(self) -> Collection[str]: ...
    @property
    def root(self) -> str: ...
    @property
    def digest(self) -> str: ...


_AnyRow = TypeVar("_AnyRow", bound=_Row)


def was_decided_on(rows: Iterable[_Row], key: str, digest: str) -> bool:
    """Say whether the generation was decided with this declaration, in whatever profile and folder.

    A verdict rests on what plugins declare and on nothing else of them.
    """
    return any(_declares(row, key, digest) for row in rows)


def is_admitted(rows: Iterable[_Row], key: str, digest: str, *, root: str, profiles: Collection[str]) -> bool:
    """Say whether the plugin of a folder (empty: of the core) was admitted for these profiles as it declares now.

    Only then may it be imported there: what was admitted for one profile, or as another copy, was not admitted here.
    """
    return any(
        _declares(row, key, digest) and is_same_folder(row.root, root) and set(profiles) <= set(row.profiles)
        for row in rows
    )


def rows_of(rows: Iterable[_AnyRow], key: str, profile: str) -> list[_AnyRow]:
    """Return what was admitted for a profile under a key, whatever it declared."""
    return [row for row in rows if same_key(row.key, key) and profile in row.profiles]


def _declares(row: _Row, key: str, digest: str) -> bool:
    return row.digest == digest and same_key(row.key, key)
