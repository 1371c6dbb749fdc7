"""One thing out of order stops nothing but itself: every verb works in a home with every kind of poison."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from fixtures.homes import Answer, Home, write_plugin
from fixtures.running import as_somebody

DIGITS = "9" * 5000


def manifest(text: str, file: str = "plugin.yaml") -> Callable[[Path], None]:
    """Return what puts a plugin with one file somewhere."""

    def put(folder: Path) -> None:
        folder.mkdir()
        (folder / file).write_text(text)

    return put


def merged() -> str:
    lines = [f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}, *m{n - 1}]}}" for n in range(1, 40)]
    return "\n".join(["m0: &m0 {k0: 1}", *lines, "<<: *m39", "name: poison", ""])


def pipe(name: str) -> Callable[[Path], None]:
    def put(folder: Path) -> None:
        folder.mkdir()
        os.mkfifo(folder / name)

    return put


def dynamic(folder: Path) -> None:
    """Make a project that names one file a hundred thousand times."""
    folder.mkdir()
    (folder / "r.txt").write_text("demo-colors\n" * 1000)
    files = ", ".join(['"r.txt"'] * 90_000)
    dynamic = f'dynamic = ["dependencies"]\n[tool.setuptools.dynamic.dependencies]\nfile = [{files}]\n'
    text = f'[project]\nname = "poison"\n{dynamic}'
    (folder / "pyproject.toml").write_text(text)


def socketed(folder: Path) -> None:
    folder.mkdir()
    here = Path.cwd()
    os.chdir(folder)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("plugin.yaml")
    finally:
        os.chdir(here)


def holed(folder: Path) -> None:
    folder.mkdir()
    for name in ("plugin.yaml", "__init__.py"):
        with (folder / name).open("wb") as stream:
            stream.truncate(1 << 40)


def device(folder: Path) -> None:
    folder.mkdir()
    (folder / "plugin.yaml").symlink_to("/dev/zero")


def closed(folder: Path) -> None:
    folder.mkdir()
    (folder / "plugin.yaml").write_text("name: poison\n")
    folder.chmod(0)


def closed_within(folder: Path) -> None:
    manifest("name: poison\n")(folder)
    (folder / "data").mkdir()
    (folder / "data").chmod(0)


def not_entered(folder: Path) -> None:
    """Make a folder whose files have names and nothing else."""
    manifest("name: poison\n")(folder)
    folder.chmod(0o644)


def beyond_all_paths(folder: Path) -> None:
    """Make a folder with a path that is longer than the system takes."""
    manifest("name: poison\n")(folder)
    here = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(20):
            Path("d" * 250).mkdir()
            os.chdir("d" * 250)
    finally:
        os.chdir(here)


def opened(folder: Path) -> None:
    """Give back what a test needs to delete a folder."""
    if folder.is_dir():
        folder.chmod(0o700)
        for inner in folder.glob("data"):
            inner.chmod(0o700)


POISONS: dict[str, Callable[[Path], None]] = {
    "digits in YAML": manifest(f"name: poison\nmanifest_version: {DIGITS}\n"),
    "digits in JSON": manifest(f'{{"name": "poison", "manifest_version": {DIGITS}}}', "plugin.json"),
    "digits in TOML": manifest(f'[project]\nname = "poison"\n[tool.x]\nn = {DIGITS}\n', "pyproject.toml"),
    "digits in a version": manifest(f'name: poison\npython_dependencies: ["demo-colors>=1.{DIGITS}"]\n'),
    "digits in bounds": manifest(f'name: poison\nrequires_hermes: ">={DIGITS}"\n'),
    "merges": manifest(merged()),
    "a key of many parts": manifest("[project]\nname = 'poison'\nx" + ".a" * 200_000 + "=1\n", "pyproject.toml"),
    "one file many times": dynamic,
    "depth of a marker": manifest(
        f"name: poison\npython_dependencies: [\"demo-colors; {'(' * 900}os_name=='a'{')' * 900}\"]\n"
    ),
    "values": manifest("name: poison\nx: [" + "1, " * 300_000 + "]\n"),
    "text of no kind": manifest("\0\xff{[\x07"),
    "a manifest that is a pipe": pipe("plugin.yaml"),
    "a source that is a pipe": pipe("__init__.py"),
    "a project that is a pipe": pipe("pyproject.toml"),
    "a manifest that is a socket": socketed,
    "a manifest that is a folder": lambda folder: (folder / "plugin.yaml").mkdir(parents=True),
    "a manifest that is a device": device,
    "files of a terabyte": holed,
    "a link to itself": lambda folder: folder.symlink_to(folder.name),
    "a link that leads nowhere": lambda folder: folder.symlink_to("/nonexistent/poison"),
    "a link to a device": lambda folder: folder.symlink_to("/dev/full"),
    "a folder that is closed": closed,
    "a folder in it that is closed": closed_within,
    "a folder that cannot be entered": not_entered,
    "paths that are too long": beyond_all_paths,
    "a name that is not UTF-8": lambda folder: manifest("name: poison\n")(
        Path(os.fsdecode(os.fsencode(folder) + b"-\xff"))
    ),
    "a long name": lambda folder: manifest("name: poison\n")(folder.with_name("p" * 255)),
    "a name that is reserved": manifest("name: node_modules\n"),
}


def text(content: str) -> Callable[[Path], None]:
    def put(file: Path) -> None:
        file.write_text(content)

    return put


def hole(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(1 << 40)


CONFIGS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link that leads nowhere": lambda file: file.symlink_to("/nonexistent/config.yaml"),
    "a link to itself": lambda file: file.symlink_to(file.name),
    "a link to a device": lambda file: file.symlink_to("/dev/zero"),
    "a terabyte": hole,
    "merges": text(merged()),
    "digits": text(f"pm:\n  keep_generations: {DIGITS}\n"),
    "no YAML": text("plugins: [\n"),
    "bytes": lambda file: (file.write_bytes(b"\xff\xfe\x00"), None)[1],
}

LOOKING = (
    ("plugins", "list"),
    ("pm", "status"),
    ("pm", "receipts"),
    ("pm", "verify"),
    ("plugins", "check"),
    ("pm", "tree"),
)
CHANGING = (("plugins", "disable", "ash"), ("plugins", "enable", "ash"), ("pm", "gc"), ("plugins", "remove", "ash"))
"""In this order, each succeeds."""


def asked(home: Home, require_tool: Callable[[str], Path], *words: str) -> Answer:
    """Run a verb as a user whom modes of files concern, and check that it fails in no way of its own."""
    answer = as_somebody(home, require_tool, *words)
    assert isinstance(answer.value, dict)
    assert "Traceback" not in answer.stderr, answer.stderr
    return answer


@pytest.mark.parametrize("poison", POISONS)
def test_every_verb_works_for_the_others_beside_a_plugin_that_cannot_be_read(
    home: Home, require_tool: Callable[[str], Path], poison: str
) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    home.ask("plugins", "enable", "ash")
    POISONS[poison](home.path / "plugins" / "poison")
    home.config.write_text(home.config.read_text().replace("- ash", "- ash\n    - poison"))
    with ExitStack() as stack:
        stack.callback(opened, home.path / "plugins" / "poison")
        statuses = {" ".join(words): asked(home, require_tool, *words).status for words in LOOKING}
        ran = home.say("run", "--", "python", "-c", "print('ran')")
        changed = [asked(home, require_tool, *words) for words in CHANGING]
    assert statuses | {"plugins check": 0} == dict.fromkeys(map(" ".join, LOOKING), 0)
    assert (ran.status, ran.stdout, "Traceback" in ran.stderr) == (0, "ran\n", False)
    assert [answer.status for answer in changed] == [0, 0, 0, 0], [answer.stdout for answer in changed]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_config_that_cannot_be_read_is_named_and_what_was_admitted_stays(
    home: Home, require_tool: Callable[[str], Path], config: str
) -> None:
    """Case link-leads-nowhere-01 (b): nothing is created through a link, and the union does not shrink."""
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    home.ask("plugins", "enable", "ash")
    before = home.pointer
    home.config.unlink()
    CONFIGS[config](home.config)
    status, listed = (asked(home, require_tool, *words) for words in (("pm", "status"), ("plugins", "list")))
    refused = [asked(home, require_tool, *words) for words in (("plugins", "check"), *CHANGING)]
    fine = [asked(home, require_tool, *words).status for words in (("pm", "receipts"), ("pm", "verify"))]
    ran = home.say("run", "--", "python", "-c", "print('ran')")
    assert (status.value["config_problem"]["code"], [row["ready"] for row in status.value["plugins"]]) == (
        "config-unreadable",
        ["ready"],
    )
    assert [(row["key"], row["state"]) for row in listed.value["plugins"]] == [("ash", "enabled")]
    assert {answer.gist for answer in refused} == {"3 failed config-unreadable"}
    assert (fine, ran.status, ran.stdout, home.pointer) == ([0, 0], 0, "ran\n", before)
    assert "config.yaml" in ran.stderr


def test_a_link_that_leads_nowhere_is_named_with_its_target(home: Home) -> None:
    """Case link-leads-nowhere-01, both of its inputs."""
    home.ask("pm", "init")
    config = home.config.read_text()
    home.config.unlink()
    home.config.symlink_to("/nonexistent/dotfiles/config.yaml")
    (reason,) = home.ask("plugins", "check").value["reasons"]
    assert (reason["message"], reason["hint"]) == (
        "the file is a link that leads nowhere, to `/nonexistent/dotfiles/config.yaml`",
        "put back what it names, or remove the link",
    )
    home.config.unlink()
    home.config.write_text(config)
    (home.path / "plugins").symlink_to("/nonexistent/dotfiles/plugins")
    (reason,) = home.install(home.plugin("ash")).value["reasons"]
    assert (reason["code"], reason["message"]) == (
        "not-writable",
        f"`{home.path / 'plugins'}` is a link that leads nowhere, to `/nonexistent/dotfiles/plugins`",
    )


def test_a_profile_behind_a_link_that_leads_nowhere_stays_part_of_the_union(home: Home) -> None:
    work = home.profile("work")
    write_plugin(work.path / "plugins" / "birch", "demo-colors")
    work.ask("plugins", "enable", "birch")
    work.path.rename(home.work / "elsewhere")
    work.path.symlink_to("/nonexistent/work")
    answer = home.install(home.plugin("ash", "demo-socket"))
    assert (answer.gist, "profile-unreadable" in answer.warnings) == ("0 admitted", True)
    assert home.admitted == ["ash in default", "birch in work"]


@pytest.mark.parametrize("poison", ["a folder in it that is closed", "a folder that cannot be entered"])
def test_a_plugin_with_closed_folders_is_found_and_goes_as_a_whole(
    home: Home, require_tool: Callable[[str], Path], poison: str
) -> None:
    write_plugin(home.path / "plugins" / "ash")
    POISONS[poison](home.path / "plugins" / "poison")
    listed = asked(home, require_tool, "plugins", "list").value["plugins"]
    removed = asked(home, require_tool, "plugins", "remove", "poison")
    assert ([row["key"] for row in listed], removed.status) == (["ash", "poison"], 0)
    assert (removed.warnings, "[Errno" in removed.stdout) == (["tree-not-kept"], False)
    assert [path.name for path in (home.path / "plugins").iterdir()] == ["ash"]


def test_a_copy_of_a_plugin_that_cannot_be_made_is_named_where_others_are_admitted(
    home: Home, require_tool: Callable[[str], Path]
) -> None:
    write_plugin(home.path / "plugins" / "ash")
    closed_within(home.path / "plugins" / "poison")
    home.configure("plugins:\n  enabled: [poison]\n")
    answer = asked(home, require_tool, "plugins", "enable", "ash")
    opened(home.path / "plugins" / "poison")
    (warning,) = [row for row in answer.value["warnings"] if row["code"] == "tree-not-kept"]
    place = home.path / "plugins" / "poison"
    message = f"no copy of `{place}` is kept: `{place / 'data'}` cannot be read: permission denied"
    assert (answer.gist, warning["message"]) == ("0 admitted", message)
