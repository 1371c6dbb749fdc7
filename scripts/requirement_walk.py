"""Follow one requirement from a plugin's file to the receipt of its installation, and count the modules it passes.

    python -m scripts.requirement_walk          the two numbers
    python -m scripts.requirement_walk --path   and the modules in the order in which it comes to them

A plugin that asks for one package is installed and enabled in a temporary home, with packages from a folder. A profile
hook looks at every call and return of a function of `pm`, `admission` and `lockfiles`: the requirement is there if an
argument or the result holds its text, in whatever depth of lists and mappings. It changes the module when the next such
function lies in another file. Nothing in the product knows of it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import groupby
from pathlib import Path
from types import FrameType

from fixtures.homes import Home, new_home
from fixtures.wheels import DEFAULT_RECIPE, build_recipe, read_recipe

ROOT = Path(__file__).resolve().parents[1]
TEXT = "demo-socket<3"


class Walk:
    """Hears every call and return, and notes the modules that hold the requirement."""

    def __init__(self) -> None:
        self.modules: list[str] = []

    def hear(self, frame: FrameType, event: str, result: object) -> None:
        """Be a profile hook (`sys.setprofile`)."""
        module = _module(frame)
        if not module or event not in ("call", "return"):
            return
        values = tuple(frame.f_locals.values()) if event == "call" else (result,)
        if any(map(holds, values)):
            self.modules.append(module)

    def path(self) -> list[str]:
        """Return the modules in the order in which the requirement comes to them."""
        return [module for module, _ in groupby(self.modules)]


def _module(frame: FrameType) -> str:
    """Return the module of a frame, by its path; empty for one that is none of ours."""
    try:
        path = Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()
    except ValueError:
        return ""
    return path if path.startswith(("pm/", "admission/", "lockfiles/")) else ""


def holds(value: object) -> bool:
    """Say whether a value is the requirement, or holds it somewhere."""
    if isinstance(value, str):
        return TEXT in value
    if isinstance(value, bytes):
        return TEXT.encode() in value
    if isinstance(value, dict):
        return any(map(holds, (*value.keys(), *value.values())))
    return isinstance(value, list | tuple | set | frozenset) and any(map(holds, value))


def walk(home: Home) -> Walk:
    """Install and enable a plugin in this process, and return where its requirement went."""
    from pm.cli.main import main

    plugin = home.plugin("walker", TEXT)
    walked = Walk()
    os.environ.clear()
    os.environ.update(home.environ)
    os.chdir(home.work)
    sys.setprofile(walked.hear)
    try:
        with redirect_stdout(StringIO()):
            status = main(["plugins", "install", str(plugin), "--enable", "--json"])
    finally:
        sys.setprofile(None)
    if status != 0:
        message = f"the installation ended with status {status}"
        raise SystemExit(message)
    return walked


def prepared_home(folder: Path) -> Home:
    """Return a home with a generation, and a folder of small wheels as its only source of packages."""
    wheels = folder / "wheels"
    wheels.mkdir()
    build_recipe(wheels, read_recipe(DEFAULT_RECIPE))
    home = new_home(folder / "home", wheels=wheels)
    home.ask("pm", "init")
    return home


def lines(path: list[str], *, whole: bool) -> Iterator[str]:
    """Yield what is told of a walk."""
    yield f"modules {len(set(path))}, changes from one to another {max(len(path) - 1, 0)}"
    if whole:
        yield from path


def told(arguments: Mapping[str, bool]) -> str:
    """Walk in a temporary folder, and return what is told of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = walk(prepared_home(Path(folder))).path()
        os.chdir(ROOT)
    return "\n".join(lines(path, whole=arguments["path"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="requirement_walk", description="count the modules of one requirement's way")
    parser.add_argument("--path", action="store_true", help="list the modules in their order")
    print(told(vars(parser.parse_args())))
