"""The operator's catalog as verbs use it: names as sources, plugins that were withdrawn, names that mislead."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from admission import Problem, Reason, Refused
from pm.config.profiles import read_own_selection
from pm.errors import PmError
from pm.names import leaf, shown
from pm.operations.candidate import CandidatePlugin
from pm.operations.installed_trees import origin_of
from pm.operations.run import OperationRun
from pm.places import Places, expanded
from pm.plugins.discovery import Found
from pm.receipts.receipt import SourceRow
from pm.sources.spelling import CATALOG_NAME, Source, read_source
from pm.verdict.state import State, sources_of

if TYPE_CHECKING:
    from pm.sources.catalog import Catalog
    from pm.sources.catalog_entries import CatalogEntry, Withdrawn


class Asked(NamedTuple):
    """What a word means as a source."""

    source: Source
    name: str = ""
    """Of the entry of a catalog; empty for every other source."""


def catalog_of(places: Places, environ: Mapping[str, str], *, offline: bool) -> "Catalog | None":
    """Return the catalog that the root's config names; `None` without one.

    Raise `PmError` (`config-unreadable`, `invalid-source`, `offline`, and what an index raises).
    """
    settings = read_own_selection(places.root, places.cache / "read").settings
    if not settings.catalog:
        return None
    from pm.sources.catalog import read_catalog  # which needs readers and HTTP

    sources = sources_of(settings, places, environ)
    return read_catalog(settings.catalog, places.root, places.cache, sources, offline=offline)


def kept_catalog(places: Places, environ: Mapping[str, str]) -> "Catalog | None":
    """Return the catalog as it can be had without a network, for a look; `None` if it cannot."""
    try:
        return catalog_of(places, environ, offline=True)
    except PmError:  # what needs the catalog tells it
        return None


def known_catalog(run: OperationRun, *, offline: bool) -> "Catalog | None":
    """Return the catalog as far as it can be had; what is wrong with it is a warning."""
    try:
        catalog = catalog_of(run.places, run.context.environ, offline=offline)
    except PmError as error:
        run.note(Problem("catalog-unreachable", f"what the catalog withdrew is not known: {error.message}"))
        return None
    if catalog is not None and catalog.stale:
        run.note(Problem("catalog-unreachable", f"a kept copy of the catalog is used; {catalog.stale}"))
    return catalog


def asked_source(run: OperationRun, word: str, commit: str, *, offline: bool) -> Asked:
    """Return what a word means: a name of the catalog where nothing of that name lies here, else as it is spelled.

    Raise `PmError` (`invalid-source`).
    """
    if not is_name(word):
        return Asked(read_source(word, commit))
    catalog = catalog_of(run.places, run.context.environ, offline=offline)
    if catalog is None:
        return Asked(read_source(word, commit))
    entry = catalog.entry(word)
    if entry is None:
        raise _unknown(catalog, word)
    if commit:
        hint = f"`{entry.repo}` with `--ref` installs another commit, which the catalog does not know"
        raise PmError("invalid-source", f"the catalog decides the commit of `{word}`", hint=hint)
    return Asked(entry.source, entry.name)


def is_name(word: str) -> bool:
    """Say whether a word may be a name of a catalog: nothing here is called so."""
    return CATALOG_NAME.fullmatch(word) is not None and not expanded(word).exists()


def _unknown(catalog: "Catalog", word: str) -> PmError:
    from difflib import get_close_matches

    near = get_close_matches(word, catalog.names, n=3)
    listed = ", ".join(f"`{name}`" for name in near)
    hint = f"did you mean {listed}?" if near else "`hermes plugins search` lists it"
    meant = (word, near[0]) if len(near) == 1 else ("", "")
    message = f"no folder or archive {shown(word)} is here, and the catalog has no plugin of this name"
    return PmError("invalid-source", message, hint=hint, word=meant)


def check_candidate(
    run: OperationRun, state: State, catalog: "Catalog | None", candidate: CandidatePlugin
) -> Refused | None:
    """Refuse a plugin that the catalog has withdrawn, and warn of one whose name is nearly that of another."""
    declaration, source = candidate.found.declaration, candidate.staged.source
    if source.kind != "catalog":
        note_likeness(run, state, catalog, candidate.key)
    if catalog is None:
        return None
    names = {candidate.key, leaf(candidate.key), declaration.name, source.ref if source.kind == "catalog" else ""}
    return refuse_withdrawn(catalog, candidate.key, names, source)


def refuse_withdrawn(catalog: "Catalog", key: str, names: set[str], source: SourceRow) -> Refused | None:
    """Refuse a plugin that the catalog has withdrawn."""
    from pm.sources.catalog_entries import withdrawn_by

    row = withdrawn_by(catalog.withdrawn, names, source.location if source.kind in ("git", "catalog") else "")
    return Refused((Reason("denylisted", withdrawn_message(key, row)),)) if row is not None else None


def withdrawn_message(key: str, row: "Withdrawn") -> str:
    """Return that a plugin was withdrawn, when and why."""
    when = f" on {row.date}" if row.date else ""
    why = f": {row.reason}" if row.reason else ""
    return f"the catalog has withdrawn `{key}`{when}{why}"


def note_withdrawn(run: OperationRun, plugins: Iterable[Found]) -> None:
    """Warn of installed plugins that the catalog has withdrawn, as far as that is known without a network."""
    for found, row in withdrawn_plugins(run.places, run.context.environ, plugins):
        hint = f"`hermes plugins disable {found.key}` disables it; it stays as it is unless you do"
        run.note(Problem("withdrawn-installed", withdrawn_message(found.key, row), hint=hint))


def withdrawn_plugins(
    places: Places, environ: Mapping[str, str], plugins: Iterable[Found]
) -> list[tuple[Found, "Withdrawn"]]:
    """Return the plugins that the catalog has withdrawn, as far as that is known without a network."""
    catalog = kept_catalog(places, environ)
    if catalog is None or not catalog.withdrawn:
        return []
    from pm.sources.catalog_entries import withdrawn_by

    rows = ((found, withdrawn_by(catalog.withdrawn, *_known_as(places, found))) for found in plugins)
    return [(found, row) for found, row in rows if row is not None]


def _known_as(places: Places, found: Found) -> tuple[set[str], str]:
    """Return the names of a plugin, and the repository that it came from."""
    origin = origin_of(places, found) if found.source == "user" else SourceRow("")
    is_repository = origin.kind in ("git", "catalog")
    return {*found.names, origin.ref if origin.kind == "catalog" else ""}, origin.location if is_repository else ""


def note_likeness(run: OperationRun, state: State, catalog: "Catalog | None", key: str) -> None:
    """Warn of a name that is nearly that of a plugin of the catalog or of the core."""
    from pm.sources.lookalikes import looks_like

    bundled = (leaf(found.key) for found in state.here.found if found.source == "bundled")
    other = looks_like(leaf(key), (*(catalog.names if catalog is not None else ()), *bundled))
    if other:
        message = f"`{key}` is spelled nearly as `{other}`, which is another plugin"
        run.note(
            Problem(
                "looks-like", message, hint=f"check that you meant it; `hermes plugins show {other}` shows the other"
            )
        )


def entry_of(catalog: "Catalog | None", origin: SourceRow, key: str) -> "CatalogEntry":
    """Return the entry that a plugin of the catalog came from; raise `PmError` (`not-updatable`) if it is gone."""
    entry = catalog.entry(origin.ref) if catalog is not None else None
    if entry is None:
        why = f"the catalog has no `{origin.ref}` any more" if catalog is not None else "`pm.catalog` is not set"
        raise PmError("not-updatable", f"`{key}` came from the catalog, and {why}")
    return entry
