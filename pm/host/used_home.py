"""Tell from files whether a home is used, and which core its owner has: nothing is run, nothing is made.

What the host makes by being looked at is no sign (`--version`, `doctor` and listings leave folders, `SOUL.md` and a
`state.db` without sessions), nor is what the manager itself writes: plugins, profiles and their keys in the config.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pm.dist_info import ENDING, distribution_of, is_info
from pm.documents.files import PROJECT_FILE, text_of
from pm.documents.json_nodes import read_json
from pm.documents.nodes import MappingNode, ScalarNode
from pm.documents.toml_text import read_toml
from pm.documents.yaml_nodes import read_yaml
from pm.errors import PmError
from pm.limits import DATABASE_STEPS, DECLARATION_BYTES, FOLDER_ENTRIES
from pm.names import HOST_NAME, shown
from pm.places import Places, user_home
from pm.system.files import read_regular

_NO_SIGN = frozenset({"_config_version", "pm", "plugins", "memory", "context"})
"""Keys of a config that the host or the manager writes unasked."""
_VALUE = re.compile(r"^[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*[ \t]*=[ \t]*[^\s#]", re.MULTILINE)
_PROGRAM = re.compile(r"(/[^\s\"':]*)/bin/(?:python[0-9.]*|hermes)\b")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.!+]{0,63}")
_EXTRA = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_EXTRAS_OF = re.compile(r"[Hh]ermes[-_.][Aa]gent\[([^\]]*)\]")


class Installation(NamedTuple):
    """A core that is installed outside of the manager."""

    version: str
    extras: tuple[str, ...]
    checkout: str = ""
    """The folder of its sources, if it runs from there: skills and scripts lie in it that no wheel of it brings."""

    @property
    def setting(self) -> str:
        """What names the same core as `pm.core`."""
        if self.checkout:
            return self.checkout
        listed = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{HOST_NAME}{listed}=={self.version}"


def check_core_is_chosen(places: Places, environ: Mapping[str, str]) -> None:
    """Raise `PmError` (`core-not-chosen`) for a used home: its owner has a core, and the embedded one is another."""
    homes = dict.fromkeys((places.root, places.home))
    signs = list(dict.fromkeys(sign for home in homes for sign in _signs(home)))
    if not signs and not environ.get("HERMES_HOME"):
        signs = list(_started_without_a_home(places.root, environ))
    if signs:
        message = f"{shown(str(places.root))} is used ({', '.join(signs)}), and no core is chosen for it"
        raise PmError("core-not-chosen", message, hint=_hint(_installed(places.root, environ)), key="pm.core")


def _hint(installation: Installation | None) -> str:
    own = "`hermes pm init --embedded-core` takes the one that comes with the manager"
    if installation is not None:
        wanted = shlex.quote(installation.setting)
        what = f"checkout of {installation.version}" if installation.checkout else "version"
        return f"`hermes pm init --core {wanted}` takes the {what} that is installed, {own}"
    line = "`hermes pm init --core 'hermes-agent==VERSION'` takes yours"
    return f"{line}: the name of the folder `hermes_agent-VERSION{ENDING}` in its environment says it; {own}"


def _started_without_a_home(root: Path, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield that a host is found on the PATH, which works in the usual home where none is named."""
    if root == (user_home(environ) or root) / ".hermes":
        found = next((program for program, prefix in _on_the_path(environ) if _version(prefix)), None)
        if found is not None:
            yield f"by {shown(str(found))} on the PATH"


# -- signs


def _signs(home: Path) -> Iterator[str]:
    """Yield the signs of use of one home, as a sentence lists them."""
    yield from (f"`{name}`" for name, is_used in _SIGNS.items() if is_used(home / name))
    yield from (f"{shown(key)} in `config.yaml`" for key in islice(_keys(home / "config.yaml"), 1))


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - false for what may not be looked at, on each Python


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - as above


def _has_files(path: Path) -> bool:
    return any(_is_file(path / name) for name in _names(path) if not name.startswith("."))


def _has_notes(path: Path) -> bool:
    return any(name.endswith(".md") for name in _names(path))


def _has_values(path: Path) -> bool:
    return _VALUE.search(_text(path)) is not None


def _has_sessions(path: Path) -> bool:
    """Say whether a database has sessions; as it lies there, since opening it as usual would make files beside it."""
    import sqlite3

    if not _is_file(path):
        return False
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as database:
            database.set_progress_handler(lambda: 1, DATABASE_STEPS.value)
            tables = database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sessions'")
            return tables.fetchone() is not None and _has_row(database.execute("SELECT 1 FROM sessions LIMIT 1"))
    except sqlite3.Error:
        return False


def _has_row(rows: Iterator[object]) -> bool:
    return next(rows, None) is not None


_SIGNS: Mapping[str, Callable[[Path], bool]] = {
    ".env": _has_values,
    "auth.json": _is_file,
    "state.db": _has_sessions,
    "sessions": _has_files,
    "memories": _has_notes,
    "cron/jobs.json": _is_file,
    "gateway_state.json": _is_file,
    "gateway.pid": _is_file,
    "hermes-agent": _is_folder,
    "bin/uv": _is_file,
    "mem0.json": _is_file,
    "honcho.json": _is_file,
    "hindsight": _has_files,
}


def _keys(config: Path) -> Iterator[str]:
    root = read_yaml(_text(config), config.name).root
    if isinstance(root, MappingNode):
        yield from (key.text for key, _ in root.entries if key.text not in _NO_SIGN)


# -- the installation


def _installed(root: Path, environ: Mapping[str, str]) -> Installation | None:
    """Return the first installation whose version can be told; a checkout in the home wins."""
    for prefix in _prefixes(root, environ):
        version = _version(prefix)
        if _VERSION.fullmatch(version):
            extras = {extra.strip() for extra in (*_of_uv(prefix), *_of_pipx(prefix))}
            checkout = str(prefix.parent) if _is_checkout(prefix) else ""
            return Installation(version, tuple(sorted(filter(_EXTRA.fullmatch, extras))), checkout)
    return None


def _prefixes(root: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    yield root / "hermes-agent" / "venv"
    yield from (prefix for _, prefix in _on_the_path(environ))
    yield Path("/usr/local/lib/hermes-agent/venv")
    home = user_home(environ) or root
    shares = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield Path(environ.get("UV_TOOL_DIR") or shares / "uv" / "tools") / HOST_NAME
    pipx = (environ.get("PIPX_HOME") or shares / "pipx", home / ".local" / "pipx")
    yield from (Path(folder) / "venvs" / HOST_NAME for folder in pipx)


def _on_the_path(environ: Mapping[str, str]) -> Iterator[tuple[Path, Path]]:
    """Yield each program called `hermes` with an environment of it: where it lies, and those that its text names."""
    for folder in filter(os.path.isabs, environ.get("PATH", "").split(os.pathsep)):
        program = Path(folder, "hermes")
        if _is_file(program):
            yield program, Path(os.path.realpath(program)).parent.parent
            yield from ((program, Path(prefix)) for prefix in _PROGRAM.findall(_text(program)))


def _version(prefix: Path) -> str:
    """Return the version of the host in an environment, that of the checkout around it first; empty if there is none.

    What is installed from a checkout says the version that was current then.
    """
    if _is_checkout(prefix):
        return str(_project(prefix)["version"])
    libraries = (prefix / "lib" / name for name in _names(prefix / "lib") if name.startswith("python3"))
    sites = (*(library / "site-packages" for library in libraries), prefix / "Lib" / "site-packages")
    infos = (distribution_of(name) for site in sites for name in _names(site) if is_info(name))
    return next((version for name, version in infos if name == HOST_NAME), "")


def _is_checkout(prefix: Path) -> bool:
    """Say whether an environment lies in a checkout of the host, as its installer makes it."""
    project = _project(prefix)
    return (
        prefix.name in ("venv", ".venv")
        and project.get("name") == HOST_NAME
        and isinstance(project.get("version"), str)
    )


def _project(prefix: Path) -> dict[str, object]:
    return _table(_toml(prefix.parent / PROJECT_FILE), "project")


def _of_uv(prefix: Path) -> Iterator[str]:
    """Yield the extras that `uv tool install` was asked for."""
    rows = _table(_toml(prefix / "uv-receipt.toml"), "tool").get("requirements")
    for row in rows if isinstance(rows, list) else ():
        extras = row.get("extras") if isinstance(row, dict) and row.get("name") == HOST_NAME else None
        yield from (str(extra) for extra in extras or () if isinstance(extras, list))


def _of_pipx(prefix: Path) -> Iterator[str]:
    """Yield the extras that `pipx install` was asked for."""
    file = prefix / "pipx_metadata.json"
    root = read_json(_text(file), file.name).root
    package = root.get("main_package") if isinstance(root, MappingNode) else None
    asked = package.get("package_or_url") if isinstance(package, MappingNode) else None
    match = _EXTRAS_OF.match(asked.text) if isinstance(asked, ScalarNode) else None
    yield from match[1].split(",") if match else ()


# -- files of others


def _toml(file: Path) -> dict[str, object]:
    return read_toml(_text(file), file.name).values or {}


def _table(values: dict[str, object], name: str) -> dict[str, object]:
    return table if isinstance(table := values.get(name), dict) else {}


def _text(file: Path) -> str:
    """Return the text of a file; empty for what is no text within the limit, or cannot be read."""
    try:
        text = text_of(read_regular(file, DECLARATION_BYTES), file.name)
    except (OSError, ValueError):
        return ""
    return text if isinstance(text, str) else ""


def _names(folder: Path) -> list[str]:
    """Return the first names in a folder; none for what is no folder, or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, FOLDER_ENTRIES.value))
    except OSError:
        return []
