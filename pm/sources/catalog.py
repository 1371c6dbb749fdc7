"""The catalog that an operator has chosen: a folder of entries, or an address that answers with all of them."""

import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from admission import Problem
from pm.documents.files import regular_file, text_of
from pm.documents.json_nodes import read_json
from pm.documents.nodes import Document
from pm.documents.yaml_nodes import read_yaml
from pm.errors import PmError
from pm.index.foreign import TROUBLE
from pm.index.limits import Limits
from pm.index.package_sources import Sources
from pm.index.transport import HttpAnswer, Transport
from pm.limits import CATALOG_BYTES, CATALOG_ENTRIES, CATALOG_SECONDS, DECLARATION_BYTES
from pm.names import shown
from pm.redaction import redact_value
from pm.sources.catalog_entries import (
    CatalogEntry,
    CatalogPage,
    Withdrawn,
    joined,
    read_entry,
    read_page,
    read_withdrawn,
)
from pm.system.files import read_json as read_stored_json
from pm.system.files import write_json

_FRESH = 6 * 3600
_WITHDRAWN = "removed.yaml"
_KEPT = "catalog.json"


class Catalog(NamedTuple):
    """What a catalog says, and how old that is."""

    location: str
    page: CatalogPage
    stale: str = ""
    """Why it is not what the address answers now; empty if it is, or is fresh enough."""

    def entry(self, name: str) -> CatalogEntry | None:
        return self.page.entry(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.page.entries)

    @property
    def withdrawn(self) -> tuple[Withdrawn, ...]:
        return self.page.withdrawn


def is_address(setting: str) -> bool:
    """Say whether a setting of the catalog names an address and no folder."""
    return "://" in setting


def read_catalog(setting: str, root: Path, cache: Path, sources: Sources, *, offline: bool) -> Catalog:
    """Return the catalog of a setting; a folder is relative to the root.

    Raise `PmError` (`invalid-source` for what is no catalog, and what an index raises, if no copy is kept).
    """
    if not is_address(setting):
        return Catalog(setting, _of_folder(root / Path(setting).expanduser()))
    kept = _kept(cache, setting)
    if kept is not None and (offline or time.time() - kept.at < _FRESH):
        return Catalog(redact_value(setting), _parsed(kept.text, setting))
    if offline:
        raise PmError("offline", f"the catalog {shown(redact_value(setting))} would have to be asked")
    try:
        text = _fetched(setting, sources)
    except PmError as error:
        if kept is None:
            raise
        since = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(kept.at))
        return Catalog(redact_value(setting), _parsed(kept.text, setting), f"it is of {since}: {error.message}")
    with suppress(PmError):  # a cache that cannot be written costs time and nothing else
        write_json(cache / _KEPT, {"url": setting, "at": int(time.time()), "text": text}, mode=0o600)
    return Catalog(redact_value(setting), _parsed(text, setting))


# -- a folder


def _of_folder(folder: Path) -> CatalogPage:
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except OSError as error:
        said = f"the catalog {shown(str(folder))} cannot be listed: {(error.strerror or str(error)).lower()}"
        raise PmError("invalid-source", said, file=str(folder), key="pm.catalog") from error
    entries = [path for path in files if path.name != _WITHDRAWN][: CATALOG_ENTRIES.value]
    withdrawn = _document(folder / _WITHDRAWN)
    removed = CatalogPage() if isinstance(withdrawn, str) else CatalogPage(withdrawn=read_withdrawn(withdrawn.root))
    if isinstance(withdrawn, str) and (folder / _WITHDRAWN).exists():
        raise PmError("invalid-source", f"{_WITHDRAWN} of the catalog cannot be read: {withdrawn}", file=str(folder))
    return joined([*map(_entry_of, entries), removed])


def _entry_of(path: Path) -> CatalogPage:
    document = _document(path)
    return (
        CatalogPage(problems=(f"{path.name}: {document}",))
        if isinstance(document, str)
        else read_entry(document.root, path.name)
    )


def _document(path: Path) -> Document | str:
    """Return a file as a document, or why it is none."""
    text = text_of(regular_file(path, path.name, DECLARATION_BYTES), path.name)
    if text is None or isinstance(text, Problem):
        return text.message if isinstance(text, Problem) else "it is not there"
    document = read_yaml(text, path.name)
    return document.problems[0].message if document.problems else document


# -- an address


class _KeptCopy(NamedTuple):
    text: str
    at: int


def _kept(cache: Path, setting: str) -> _KeptCopy | None:
    value = read_stored_json(cache / _KEPT)
    if not isinstance(value, dict) or value.get("url") != setting:
        return None
    text, at = value.get("text"), value.get("at")
    return _KeptCopy(text, at) if isinstance(text, str) and isinstance(at, int) and at <= time.time() else None


def _fetched(setting: str, sources: Sources) -> str:
    if not setting.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        hint = "write a folder, or an https address"
        raise PmError(
            "invalid-source", f"the catalog {shown(redact_value(setting))} is not reached by https", hint=hint
        )
    seconds = float(CATALOG_SECONDS.value)
    limits = Limits(connect=seconds, read=seconds, total=seconds, attempts=2)
    transport = Transport(sources._replace(indexes=(), folders=()), limits)
    try:
        return transport.ask(setting, _read)
    except TROUBLE as error:
        raise PmError("index-unreachable", f"what the catalog answers cannot be read: {error}") from error
    finally:
        transport.close()


def _read(answer: HttpAnswer) -> str:
    if answer.status != _OK:
        raise PmError("index-unreachable", f"the catalog {shown(answer.url)} answers with status {answer.status}")
    text = answer.body(CATALOG_BYTES.value, "the catalog").decode("utf-8")
    if read_json(text, "the catalog").root is None:
        raise PmError("index-unreachable", f"the catalog {shown(answer.url)} answers with no JSON")
    return text


_OK = 200


def _parsed(text: str, setting: str) -> CatalogPage:
    return read_page(read_json(text, redact_value(setting)).root, shown(redact_value(setting)))
