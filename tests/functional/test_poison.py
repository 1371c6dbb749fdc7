"""One thing out of order stops nothing but itself: every verb works in a home with every kind of poison."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from fixtures.homes import Answer, Home, write_plugin
from fixtures.running import as_somebody
from pm.system.folders import make_folders, remove_tree

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


@contextmanager
def poisoned(home: Home, poison: str) -> Iterator[None]:
    """Put one among the plugins; afterwards any program can delete the home, as the next runs of the tests do."""
    folder = home.path / "plugins" / "poison"
    POISONS[poison](folder)
    try:
        yield
    finally:
        opened(folder)
        remove_tree(folder / "d")  # deeper than other programs remove


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
    "digits of base 60": manifest(f"name: 1{':1' * 500_000}\n"),
    "strings without an end": manifest("#" + "." * 64 + "\n" + '\\"""\n' * 200_000, "pyproject.toml"),
    "a long address": manifest(f"python_dependencies: ['http://{'a:' * 400_000}/x-1-py3-none-any.whl']\n"),
    "folders in each other": lambda folder: make_folders(folder.joinpath(*["d"] * 1500)),
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
    "digits of base 16": text(f"plugins:\n  enabled: [0x{'F' * 5000}]\n"),
    "digits of base 60": text(f"memory:\n  provider: 1{':1' * 1_000_000}\n"),
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
    home.config.write_text(home.config.read_text().replace("- ash", "- ash\n    - poison"))
    with poisoned(home, poison):
        statuses = {" ".join(words): asked(home, require_tool, *words).status for words in LOOKING}
        ran = home.say("run", "--", "python", "-c", "print('ran')")
        changed = [asked(home, require_tool, *words) for words in CHANGING]
    assert statuses | {"plugins check": 0} == dict.fromkeys(map(" ".join, LOOKING), 0)
    assert (ran.status, ran.stdout, "Traceback" in ran.stderr) == (0, "ran\n", False)
    assert [answer.status for answer in changed] == [0, 0, 0, 0], [answer.stdout for answer in changed]


def test_a_plugin_whose_folders_lie_deep_in_each_other_comes_and_goes(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    folder = home.path / "plugins" / "ash"
    make_folders(folder.joinpath(*["d"] * 1500))
    # what a plugin wrote stays when it goes
    (folder.joinpath(*["d"] * 1100) / "own.txt").touch()
    words = [("plugins", "check", "ash"), *CHANGING[:2], ("pm", "verify"), ("plugins", "remove", "ash"), ("pm", "gc")]
    with ExitStack() as stack:
        stack.callback(remove_tree, folder)
        assert [home.ask(*one).status for one in words] == [0] * 6
        assert (folder.joinpath(*["d"] * 1100) / "own.txt").exists()


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


def test_a_damaged_environment_is_repaired_though_the_config_cannot_be_read(home: Home) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    home.ask("plugins", "enable", "ash")
    config = home.config.read_text()
    for is_cached in (True, False):
        [module] = home.generation.glob("lib/python3*/site-packages/demo_colors.py")
        module.parent.chmod(0o755)
        module.unlink()
        home.config.write_text("plugins: [\n")
        assert home.ask("pm", "verify").steps == ["repair hermes-embedded-core==0.1.0"]
        if is_cached:
            assert home.ask("pm", "repair").gist == "0 repaired"
        else:
            shutil.rmtree(home.state / "cache")
            shutil.rmtree(home.state / "wheels")
            assert home.ask("pm", "repair").gist == "3 failed config-unreadable"
            home.config.write_text(config)
            assert home.ask("pm", "repair").gist == "0 repaired"
        assert home.ask("pm", "verify").gist == "0 verified"


# -- homes in which no generation can be read


def _fresh(_: Home) -> None:
    """Leave a home in which the manager never was."""


def _used(home: Home) -> None:
    home.ask("plugins", "enable", "ash")


def _without_state(home: Home) -> None:
    _used(home)
    home.state.rename(home.work / "pm")


def _without_pointer(home: Home) -> None:
    _used(home)
    (home.state / "pointer.json").unlink()


def _with_damaged_pointer(home: Home) -> None:
    _used(home)
    (home.state / "pointer.json").write_text("damaged")


def _without_records(home: Home) -> None:
    _used(home)
    for record in home.state.glob("generations/*.json"):
        record.unlink()


def _with_damaged_records(home: Home) -> None:
    _used(home)
    for record in home.state.glob("generations/*.json"):
        record.chmod(0o600)
        record.write_text("damaged")


STATES: dict[str, Callable[[Home], None]] = {
    "never used": _fresh,
    "without state": _without_state,
    "without pointer": _without_pointer,
    "damaged pointer": _with_damaged_pointer,
    "without records": _without_records,
    "damaged records": _with_damaged_records,
}
POINTED = ("without records", "damaged records")
"""Where the pointer still tells what was admitted, and which environment can be started."""
DAMAGED = ("damaged pointer", *POINTED)
EDITING = (("plugins", "disable", "ash"), ("plugins", "remove", "ash"), ("pm", "gc"), ("pm", "init"))


WITHOUT_GENERATION = list(
    dict.fromkeys([*((state, "no YAML") for state in STATES), *(("never used", config) for config in CONFIGS)])
)
"""Each kind of config, and each kind of home."""


@pytest.mark.parametrize(("state", "config"), WITHOUT_GENERATION)
def test_a_config_that_cannot_be_read_is_named_where_there_is_no_generation(
    home: Home, require_tool: Callable[[str], Path], state: str, config: str
) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    STATES[state](home)
    home.config.unlink()
    CONFIGS[config](home.config)
    before = _contents(home)
    listed, shown, status = (
        asked(home, require_tool, *words)
        for words in (("plugins", "list"), ("plugins", "show", "ash"), ("pm", "status"))
    )
    assert [answer.status for answer in (listed, shown, status)] == [0, 0, 0], [listed, shown, status]
    assert {answer.value["config_problem"]["code"] for answer in (listed, shown, status)} == {"config-unreadable"}
    enabled = "enabled" if state in POINTED else "disabled"
    assert [(row["key"], row["state"]) for row in listed.value["plugins"]] == [("ash", enabled)]
    assert [row["key"] for row in status.value["plugins"]] == ["ash"] * (enabled == "enabled")
    assert ("damage" in status.value, status.value["generation"]) == (state in DAMAGED, None)
    refused = [asked(home, require_tool, *words) for words in EDITING]
    assert {answer.gist for answer in refused} == {"3 failed config-unreadable"}
    assert {answer.value["reasons"][0]["declared_at"]["file"] for answer in refused} == {str(home.config)}
    assert _contents(home) == before


def _contents(home: Home) -> list[object]:
    """Return what no verb may change that cannot read the config: the config itself, and the plugins."""
    status = home.config.lstat()
    files = [(path.name, path.read_bytes()) for path in sorted((home.path / "plugins" / "ash").iterdir())]
    return [status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, files]


@pytest.mark.parametrize("state", STATES)
def test_what_makes_a_generation_is_named_with_the_config_that_is_in_its_way(home: Home, state: str) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    STATES[state](home)
    config = home.config.read_text()
    home.config.write_text("plugins: [\n")
    hint = (
        f"`hermes pm init` makes {'a new generation' if state in DAMAGED else 'one'} once `{home.config}`:2 can be read"
    )
    for words in (("pm", "verify"), ("pm", "repair"), ("pm", "rollback"), ("pm", "bundle", "--output", "bundle")):
        answer = home.ask(*words)
        (reason,) = answer.value["reasons"]
        assert (answer.status, reason["code"]) == (1, "drift" if state in DAMAGED else "no-generation")
        assert reason["hint"].startswith(f"{hint}: this is not YAML")
        for step in answer.value["steps"]:
            assert (step["action"], step["when"]) in (
                ("set-up", f"`{home.config}`:2 can be read"),
                ("retry", "there is a generation"),
            )
    for question in (("pm", "tree"), ("pm", "why", "demo-colors")):
        answer = home.ask(*question)
        assert (answer.status, answer.value["error"]["hint"].startswith(hint)) == (1, True)
    ran = home.say("run", "--", "python", "-c", "print('ran')")
    if state in POINTED:
        assert (ran.status, ran.stdout) == (0, "ran\n")
    else:
        assert (ran.status, ran.stdout, hint in " ".join(ran.stderr.split())) == (1, "", True)
    said = home.say("pm", "status")
    assert "`hermes pm init`" in said.stdout.replace("`hermes pm init --home", "`hermes pm init`")
    home.config.write_text(config)
    assert (home.ask("pm", "init").status, home.ask("pm", "verify").status) == (0, 0)


@pytest.mark.parametrize("poison", POISONS)
def test_every_verb_works_beside_a_plugin_that_cannot_be_read_where_there_is_no_generation(
    home: Home, require_tool: Callable[[str], Path], poison: str
) -> None:
    write_plugin(home.path / "plugins" / "ash", "demo-colors")
    config = home.config.read_text() + "plugins:\n  enabled: [ash, poison]\n"
    with poisoned(home, poison):
        home.config.write_text("plugins: [\n")
        unread = [asked(home, require_tool, *words).status for words in (("plugins", "list"), ("pm", "status"))]
        unedited = [asked(home, require_tool, *words).gist for words in EDITING]
        home.config.write_text(config)
        statuses = {" ".join(words): asked(home, require_tool, *words).status for words in LOOKING}
        ran = home.say("run", "--", "python", "-c", "print('ran')")
        changed = [asked(home, require_tool, *words) for words in CHANGING]
        again = [asked(home, require_tool, *words).status for words in (("plugins", "list"), ("pm", "status"))]
    assert (unread, set(unedited)) == ([0, 0], {"3 failed config-unreadable"})
    assert statuses == dict.fromkeys(map(" ".join, LOOKING), 0) | NOTHING_SELECTED
    assert (ran.status, "no generation was made yet" in ran.stderr, "Traceback" in ran.stderr) == (1, True, False)
    assert [answer.status for answer in changed] == [0, 0, 0, 0], [answer.stdout for answer in changed]
    assert again == [0, 0]


NOTHING_SELECTED = {"pm verify": 1, "pm tree": 1, "plugins check": 1}


def test_the_union_does_not_shrink_by_a_profile_that_cannot_be_read_where_the_pointer_is_gone(home: Home) -> None:
    work = home.profile("work")
    write_plugin(work.path / "plugins" / "birch", "demo-colors")
    work.ask("plugins", "enable", "birch")
    (home.state / "pointer.json").unlink()
    config = work.config.read_text()
    work.config.write_text("plugins: [\n")
    answer = home.ask("pm", "init")
    (reason,) = answer.value["reasons"]
    assert (answer.gist, reason["declared_at"]["file"]) == ("3 failed config-unreadable", str(work.config))
    assert f"once `{work.config}`:2 can be read" in home.ask("pm", "verify").value["reasons"][0]["hint"]
    work.config.write_text(config)
    assert (home.ask("pm", "init").status, home.admitted) == (0, ["birch in work"])


def test_a_setting_that_cannot_be_read_is_in_the_way_of_the_first_generation_too(home: Home) -> None:
    home.config.write_text("pm:\n  keep_generations: many\n")
    (reason,) = home.ask("pm", "verify").value["reasons"]
    assert reason["hint"] == (
        f"`hermes pm init` makes one once `{home.config}`:2 can be read: "
        "`pm.keep_generations` must be a number from 1 upwards, not `many`"
    )
    assert home.ask("pm", "init").gist == "3 failed config-unreadable"


def test_a_profile_of_which_nothing_was_admitted_is_said_to_count_for_nothing(home: Home) -> None:
    work = home.profile("work")
    work.config.write_text("plugins: [\n")
    answer = home.ask("pm", "init")
    (warning,) = (row for row in answer.value["warnings"] if row["code"] == "profile-unreadable")
    assert (answer.status, "so none of its plugins counts: this is not YAML" in warning["message"]) == (0, True)


# -- links


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
