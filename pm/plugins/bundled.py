"""Read the plugins that a core brings along, in its folder or inside of its wheel: nothing is unpacked or run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from admission import Declaration
from pm.documents.files import MANIFEST_FILES, wheel_files
from pm.documents.parse_cache import remembered, stamp_of
from pm.errors import PmError
from pm.names import canonical_key, is_key
from pm.plugins.declaration_cache import (
    Rules,
    declaration_from_json,
    declaration_to_json,
    read_declaration_cached,
)

_ROOT = "plugins/"


def read_bundled(core: Path, rules: Rules, keys: Iterable[str] | None = None) -> dict[str, Declaration]:
    """Return the declarations of a core's bundled plugins by key (`disk-cleanup`, `memory/mem0`), sorted.

    `core` is the core's wheel, or the folder of a core that is a project. A bundled plugin is a folder below `plugins/`
    with a manifest, one or two levels deep; its key is its path. With `keys` only those are read, whatever their
    spelling. Raise `PmError` (`unsafe-archive`) for a wheel that is none, (`not-writable`) if it cannot be opened.
    """
    wanted = None if keys is None else {canonical_key(key) for key in keys}
    if core.is_dir():
        return _read_folder(core, wanted, rules)
    try:
        status = core.stat()
        circumstances = (core.name, status.st_size, status.st_mtime_ns, sorted(rules.core_names))
        return remembered(
            rules.cache_directory,
            stamp_of([repr((circumstances, None if wanted is None else sorted(wanted))).encode()]),
            read=lambda: _read_wheel(core, wanted, rules),
            encode=lambda found: {key: declaration_to_json(declaration) for key, declaration in found.items()},
            decode=_decoded,
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise PmError("not-writable", f"the core's wheel cannot be read: {reason}", file=str(core)) from error


def _read_folder(core: Path, wanted: set[str] | None, rules: Rules) -> dict[str, Declaration]:
    from pm.plugins.discovery import plugin_folders

    folders = {
        f"{category}/{folder.name}" if category else folder.name: folder
        for folder, category in plugin_folders(core / "plugins")
        if any((folder / name).exists() for name in MANIFEST_FILES)
    }
    return {
        key: read_declaration_cached(folders[key], rules, key=key)
        for key in sorted(folders)
        if is_key(key) and (wanted is None or canonical_key(key) in wanted)
    }


def _read_wheel(wheel: Path, wanted: set[str] | None, rules: Rules) -> dict[str, Declaration]:
    from zipfile import BadZipFile, ZipFile

    from pm.plugins.declaration import assemble

    try:
        with ZipFile(wheel) as archive:
            return {
                key: assemble(
                    wheel_files(archive, f"{_ROOT}{key}/"),
                    key=key,
                    fallback=key.rpartition("/")[2],
                    core_names=rules.core_names,
                )
                for key in sorted(_keys(archive.namelist()))
                if wanted is None or canonical_key(key) in wanted
            }
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise PmError("unsafe-archive", f"the core's wheel cannot be read: {error}", file=str(wheel)) from error


def _keys(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        folder, _, file = name.rpartition("/")
        key = folder.removeprefix(_ROOT)
        if file in MANIFEST_FILES and folder.startswith(_ROOT) and is_key(key):
            yield key


def _decoded(value: object) -> dict[str, Declaration]:
    if not isinstance(value, Mapping):
        raise TypeError(value)
    return {key: declaration_from_json(row) for key, row in value.items()}
