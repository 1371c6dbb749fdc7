"""Find uv, and ask it which interpreters are installed."""

from __future__ import annotations

import os
from pathlib import Path

from pm.errors import PmError
from pm.system import processes


def uv_binary() -> Path:
    """Return the uv that came with the manager; raise `PmError` (`not-writable`) if it is gone."""
    from uv import find_uv_bin

    try:
        return Path(find_uv_bin())
    except FileNotFoundError as error:
        raise PmError(
            "not-writable", "the program `uv` is missing", hint="install `hermes-plugin-manager` again"
        ) from error


def own_cache(cache: Path) -> dict[str, str]:
    """Return the variables that keep uv to a cache of ours."""
    # never the user's: a file edited in a generation would be edited in every environment of theirs
    return {"UV_CACHE_DIR": str(cache / "uv"), "UV_NO_PROGRESS": "1"}


def find_python(request: str, cache: Path) -> Path | None:
    """Return the installed interpreter of a request that names one (`python3.12`, `pypy`); nothing is downloaded."""
    if request.startswith("-"):  # uv would take it for an option
        return None
    done = _ask_for_pythons(cache, "find", "--no-project", "--system", request)
    return Path(done.stdout.strip()) if done.status == 0 and done.stdout.strip() else None


def installed_pythons(cache: Path) -> list[tuple[str, Path]]:
    """Return version and path of the installed CPythons that uv knows, in the order of the PATH."""
    import json

    done = _ask_for_pythons(cache, "list", "--only-installed", "--output-format", "json")
    rows = json.loads(done.stdout) if done.status == 0 and done.stdout.strip() else []
    return [
        (row["version"], Path(row["path"]))
        for row in rows
        if row["implementation"] == "cpython" and row["variant"] == "default" and row["path"]
    ]


def _ask_for_pythons(cache: Path, *arguments: str) -> processes.Finished:
    command: list[str | Path] = [uv_binary(), "python", *arguments, "--no-config", "--no-python-downloads"]
    places = {name: os.environ[name] for name in _WHERE_PYTHONS_ARE if name in os.environ}
    # even this question writes into uv's cache
    environment = processes.scrubbed_environment() | places | own_cache(cache)
    return processes.run(command, environment=environment, seconds=60)


_WHERE_PYTHONS_ARE = ("UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME", "PYENV_ROOT")
