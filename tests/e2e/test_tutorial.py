"""The tutorial works as it is written: its commands are run, its files are made, and its output is compared."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from fixtures.homes import HERMES, PASSED, ROOT
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

TUTORIAL = ROOT / "docs" / "tutorial" / "first-plugin.md"
FENCE = re.compile(
    r"^```(?P<kind>[a-z]+)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
MARK = "--- ended with"
# In place of a package of the real index that the tutorial uses.
HUMANIZE = Distribution(
    name="humanize",
    version="4.12.3",
    files={"humanize/__init__.py": 'def naturalsize(value):\n    return f"{value / 1_000_000:.1f} MB"\n'},
)


class Typed(NamedTuple):
    """One command of the tutorial."""

    command: str
    output: str
    """As it is shown; `…` stands for whatever is there."""


def typed(text: str) -> Iterator[Typed]:
    """Yield the commands of a page in order, and the writing of its files as commands without output."""
    for fence in FENCE.finditer(text):
        if fence["file"]:
            yield Typed(f"cat > {fence['file']} <<'END OF FILE'\n{fence['text']}END OF FILE", "")
        if fence["kind"] == "console":
            for part in re.split(r"^\$ ", fence["text"], flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Typed(command, output.strip())


class Ended(NamedTuple):
    """What a command printed, and its status."""

    output: str
    status: int


def run(page: list[Typed], folder: Path, environ: Mapping[str, str]) -> list[Ended]:
    """Run the commands in one shell, as a reader does."""
    steps = (f'(exit "$status")\n{line.command}\nstatus=$?\necho "{MARK} $status"' for line in page)
    script = "\n".join(["status=0", *steps])
    # from a pipe: `bash -c` would not take a script with here-documents of this form apart line by line
    done = subprocess.run(
        ["bash"],
        input=script,
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=500,
        check=False,
    )
    parts = re.split(rf"^{MARK} ([0-9]+)\n", done.stdout, flags=re.MULTILINE)
    return [Ended(output.strip(), int(status)) for output, status in zip(parts[:-1:2], parts[1::2], strict=True)]


def as_shown(shown: str, output: str) -> str:
    """Return what is shown if the output is that, else the output."""
    lines = (".*(?:\n.*)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) for line in shown.split("\n"))
    return shown if re.fullmatch("\n".join(lines), output) else output


def check(folder: Path, environ: Mapping[str, str]) -> None:
    """Run the tutorial, and compare all that it shows and the commands that end badly on purpose."""
    page = list(typed(TUTORIAL.read_text(encoding="utf-8")))
    ended = run(page, folder, environ)
    expected = [line.output for line in page if line.output]
    shown = [as_shown(line.output, end.output) for line, end in zip(page, ended, strict=True) if line.output]
    assert shown == expected
    refused = [line.command for line, end in zip(page, ended, strict=True) if end.status]
    assert refused == ["hermes plugins install ./first-plugin --enable --force"]


def linked(folder: Path) -> Path:
    """Return a folder of programs with the front door."""
    subprocess.run([HERMES, "link", "--bin", folder / "programs", "--quiet"], check=True)
    return folder / "programs"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return the variables of a reader who knows no index but a folder of wheels."""
    wheels = tmp_path / "wheels"
    build_recipe(wheels, [*read_recipe(DEFAULT_RECIPE), HUMANIZE])
    known = {name: os.environ[name] for name in PASSED if name in os.environ}
    programs = linked(tmp_path)
    return known | {
        "HOME": str(tmp_path),
        "PATH": f"{programs}{os.pathsep}{known['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_FIND_LINKS": str(wheels),
        "PIP_NO_INDEX": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def test_the_tutorial_works_with_a_folder_of_wheels_in_place_of_the_index(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    check(tmp_path, environ)


@pytest.mark.real_index
def test_the_tutorial_works_with_the_index_that_is_configured_here(tmp_path: Path) -> None:
    known = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    programs = linked(tmp_path)
    check(tmp_path, known | {"PATH": f"{programs}{os.pathsep}{known['PATH']}", "PYTHONIOENCODING": "utf-8"})
