"""Where pip and uv keep their configuration, and what pip's says: for a home that names no sources of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pm.errors import PmError
from pm.limits import CONFIG_BYTES
from pm.places import user_home
from pm.system.files import is_damaged, read_regular

PIP_VARIABLES = (
    "PIP_CERT", "PIP_CONFIG_FILE", "PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_INDEX_URL",
    "PIP_NO_INDEX", "PIP_PROXY",
)  # fmt: skip


def pip_options(environ: Mapping[str, str]) -> dict[str, str]:
    """Return pip's options as pip lets them override each other: files, then sections, then variables.

    Raise `PmError` (`config-unreadable`).
    """
    from configparser import Error, RawConfigParser

    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for path in pip_files(environ):
        parser = RawConfigParser()
        try:
            parser.read_string(read_regular(path, CONFIG_BYTES).decode(), str(path))
        except (Error, UnicodeDecodeError) as error:
            raise _unreadable("pip", path, str(error)) from error
        except OSError as error:
            if is_damaged(error):
                raise _unreadable("pip", path, error.strerror or "") from error
            continue  # as pip does
        for name, section in sections.items():
            if parser.has_section(name):
                section.update({key.lstrip("-").replace("_", "-"): value.strip() for key, value in parser.items(name)})
    variables = {name[4:].lower().replace("_", "-"): environ[name] for name in PIP_VARIABLES if environ.get(name)}
    return sections["global"] | sections["install"] | variables


def require_file_of_uv(environ: Mapping[str, str]) -> None:
    """Raise `PmError` (`config-unreadable`) for a configuration of uv that is named and is no file: uv waits for it."""
    named = Path(environ.get("UV_CONFIG_FILE") or os.curdir)
    if named.exists() and not named.is_file() and not named.is_dir():
        raise _unreadable("uv", named, "this is not a regular file")


def _unreadable(program: str, path: Path, why: str) -> PmError:
    return PmError("config-unreadable", f"{program}'s configuration cannot be read: {why}", file=str(path))


def consulted_files(environ: Mapping[str, str]) -> list[Path]:
    """Return the configuration files that can say where distributions come from, whether they are there or not."""
    named = [Path(environ["UV_CONFIG_FILE"])] if environ.get("UV_CONFIG_FILE") else []
    return [*pip_files(environ), *uv_files(environ), *named]


def pip_files(environ: Mapping[str, str]) -> list[Path]:
    """Return where pip looks, the least important first."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    home = user_home(environ)
    shared = [Path(folder) / "pip" / "pip.conf" for folder in _system_folders(environ)]
    own = [] if home is None else [home / ".pip" / "pip.conf"]
    own += [folder / "pip" / "pip.conf" for folder in _config_homes(environ)]
    if sys.platform == "darwin":
        shared.append(Path("/Library/Application Support/pip/pip.conf"))
        own += [] if home is None else [home / "Library" / "Application Support" / "pip" / "pip.conf"]
    return [*shared, Path("/etc/pip.conf"), *own, Path(sys.prefix) / "pip.conf", *([Path(named)] if named else [])]


def uv_files(environ: Mapping[str, str]) -> list[Path]:
    """Return where uv looks for what counts for all projects."""
    folders = [*_config_homes(environ), *(Path(folder) for folder in _system_folders(environ)), Path("/etc")]
    return [folder / "uv" / "uv.toml" for folder in folders]


def _config_homes(environ: Mapping[str, str]) -> list[Path]:
    """Return the folder of this user's configurations; none for a user that has no home."""
    if environ.get("XDG_CONFIG_HOME"):
        return [Path(environ["XDG_CONFIG_HOME"])]
    home = user_home(environ)
    return [] if home is None else [home / ".config"]


def _system_folders(environ: Mapping[str, str]) -> list[str]:
    return (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
