"""A disk that is full and a folder that belongs to somebody else are said to be just that, and nothing was changed."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home, snapshot, write_plugin
from fixtures.running import as_somebody, owned_by
from fixtures.volumes import Volume
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_recipe, read_recipe

NOBODY = 65534


@pytest.fixture(scope="module")
def large_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of wheels, one of which is more than a small file system holds."""
    folder = tmp_path_factory.mktemp("large")
    files = {f"large/part{number}.py": f'X = "{os.urandom(1_000_000).hex()}"\n' for number in range(8)}
    build_recipe(folder, [*read_recipe(DEFAULT_RECIPE), Distribution("large", "1.0", files=files)])
    return folder


@pytest.fixture
def crowded(tmp_path: Path, large_shelf: Path) -> Home:
    """Return a home that can have packages that do not fit on a small file system."""
    return new_home(tmp_path / "home", wheels=large_shelf)


NEEDED = r"the build needs \d+\.\d MB in the {name} `HOME/{place}`, \d+\.\d MB more than are free"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("pm", NEEDED.format(name="cache", place="pm/cache")),
        ("pm/cache", NEEDED.format(name="cache", place="pm/cache")),
        # after the download, before the unpacking
        ("pm/generations", NEEDED.format(name="generations", place="pm/generations")),
    ],
    ids=["state", "cache", "generations"],
)
def test_a_set_that_does_not_fit_on_the_disk_is_no_space_with_the_bytes_and_its_candidate_is_gone(
    crowded: Home, require_tool: Callable[[str], Path], place: str, said: str
) -> None:
    """Cases disk-full-01 and -03: full is a class of its own, wherever it happens, and nothing is half installed."""
    with Volume(crowded.path / place, "13m", require_tool) as volume:
        assert volume.ask(crowded, "plugins", "install", crowded.plugin("ash", "demo-colors"), "--enable").status == 0
        before = selected(crowded, volume)
        answer = volume.ask(crowded, "plugins", "install", crowded.plugin("birch", "large"), "--enable")
        [reason] = answer.value["reasons"]
        assert (answer.gist, answer.steps, selected(crowded, volume)) == ("3 failed no-space", ["retry birch"], before)
        assert re.fullmatch(said.replace("HOME", re.escape(str(crowded.path))), reason["message"])
        assert volume.ask(crowded, "pm", "verify").gist == "0 verified"


def selected(home: Home, volume: Volume) -> tuple[dict[str, str], object]:
    """Return configs, plugin folders and generations, and the pointer."""
    left_out = ("pm/cache/", "pm/receipts/", "pm/locks/", "pm/wheels/")
    files = {path: state for path, state in volume.snapshot(home.path).items() if not path.startswith(left_out)}
    return files, volume.json(home.state / "pointer.json")


def test_the_folder_for_temporary_files_may_be_as_small_as_it_likes(
    crowded: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case disk-full-01: nothing is unpacked there."""
    place = crowded.work / "tmp"
    with Volume(place, "64k", require_tool) as volume:
        source = crowded.plugin("birch", "large")
        answer = volume.ask(crowded, "plugins", "install", source, "--enable", TMPDIR=str(place))
    assert (answer.gist, crowded.pins["large"]) == ("0 admitted", "1.0")


def test_what_is_unpacked_incompletely_is_never_selected(stocked: Home) -> None:
    """Case disk-full-03: what lies in the environment is compared with every RECORD before the pointer names it."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    [unpacked] = (stocked.state / "cache" / "uv").glob("archive-*/*/kit/late.py")
    unpacked.unlink()
    answer = stocked.install(stocked.plugin("birch", "demo-colors"))
    assert (answer.gist, stocked.ask("pm", "verify").gist) == ("0 admitted", "0 verified")
    assert next(stocked.generation.glob("lib/*/site-packages/kit/late.py")).exists()


# -- whose files


def test_a_file_of_the_running_environment_that_belongs_to_somebody_else_is_in_nobodys_way(
    stocked: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case read-only-dir-01: an update writes beside the environment that runs, and never into it."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    installer = next(stocked.generation.glob("lib/python3*/site-packages/kit-*/INSTALLER"))
    with owned_by(NOBODY, installer):
        installer.chmod(0o400)
        old, before = stocked.generation, snapshot(stocked.generation)
        newer = write_plugin(stocked.work / "newer" / "ash", "kit==2.0", version="2")
        answer = as_somebody(stocked, require_tool, "plugins", "install", newer, "--enable", "--force")
        assert (answer.gist, answer.changes, snapshot(old)) == ("0 admitted", ["kit 1.0 → 2.0"], before)


@pytest.mark.parametrize("place", ["pm", "pm/locks/install.lock", "pm/generations", "plugins", "config.yaml"])
def test_what_belongs_to_somebody_else_is_named_with_its_owner_and_how_to_get_it_before_anything_is_fetched(
    stocked: Home, require_tool: Callable[[str], Path], place: str
) -> None:
    """Cases read-only-dir-01 and -07: the selected generation stays as it is, byte by byte."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    birch = stocked.plugin("birch", "gear")
    with owned_by(NOBODY, stocked.path / place):
        before = stocked.snapshot()
        answer = as_somebody(stocked, require_tool, "plugins", "install", birch, "--enable")
        [reason] = answer.value["reasons"]
        assert (answer.gist, reason["declared_at"]["file"].startswith(str(stocked.path / place))) == (
            "3 failed not-writable",
            True,
        )
        owner = pwd.getpwuid(NOBODY).pw_name
        mine, closed = pwd.getpwuid(os.geteuid()).pw_name, shlex.quote(reason["declared_at"]["file"])
        assert reason["hint"] == f"it belongs to `{owner}`: `sudo chown -R {mine} {closed}` gives it to you"
        assert changed(before, stocked.snapshot()) == []


@pytest.mark.parametrize(
    "place", [".", "plugins", "pm", "pm/locks", "pm/receipts", "pm/trees", "pm/wheels", "pm/cache", "pm/cache/uv"]
)
def test_all_that_belongs_to_another_user_is_told_at_once_and_what_the_hint_says_is_enough(
    stocked: Home, require_tool: Callable[[str], Path], place: str
) -> None:
    """Case read-only-dir-07: the mismatch is reported before anything is fetched, and the command leads on."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    words = ("plugins", "install", stocked.plugin("birch", "gear"), "--enable")
    strange = (stocked.path / place).resolve()
    with all_owned_by(NOBODY, strange):
        before = stocked.snapshot()
        refused = as_somebody(stocked, require_tool, *words)
        [reason] = refused.value["reasons"]
        assert (refused.gist, changed(before, stocked.snapshot())) == ("3 failed not-writable", [])
        [said] = re.findall(r"`sudo (chown -R \S+ \S+)` gives it to you", reason["hint"])
        assert shlex.split(said)[-1] == str(strange)
        subprocess.run(shlex.split(said), check=True)
        assert as_somebody(stocked, require_tool, *words).gist == "0 admitted"


def test_an_environment_that_belongs_to_another_user_is_left_and_keeps_nothing_else(
    stocked: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case read-only-dir-07: a generation is built beside it; what cannot be deleted is told with how to get it."""
    stocked.config.write_text(stocked.config.read_text().replace("pm:\n", "pm:\n  keep_generations: 1\n"))
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    old, before = stocked.generation, snapshot(stocked.generation)
    with all_owned_by(NOBODY, old):
        answers = [
            as_somebody(stocked, require_tool, "plugins", "install", stocked.plugin(name, needs), "--enable")
            for name, needs in (("birch", "gear"), ("cedar", "demo-colors"))
        ]
        [warning] = [row for row in answers[0].value["warnings"] if row["code"] == "not-collected"]
        assert ([answer.gist for answer in answers], snapshot(old)) == (["0 admitted", "0 admitted"], before)
        mine = pwd.getpwuid(os.geteuid()).pw_name
        assert warning["hint"].endswith(f"`sudo chown -R {mine} {old}` gives it to you; `hermes pm gc` tries it again")
        kept = sorted(path.name for path in stocked.state.glob("generations/[0-9]*"))
        assert kept == sorted([old.name, "3", "3.json"])
        subprocess.run(["chown", "-R", mine, str(old)], check=True)
        assert (as_somebody(stocked, require_tool, "pm", "gc").gist, old.exists()) == ("0 collected", False)


def test_a_bucket_of_the_cache_that_belongs_to_another_user_is_named(
    stocked: Home, require_tool: Callable[[str], Path]
) -> None:
    """Case read-only-dir-07: deep in what uv keeps, where only uv finds it."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    [bucket] = (stocked.state / "cache" / "uv").glob("wheels-v*")
    strange = next(path for path in sorted(bucket.iterdir()) if path.is_dir())
    with all_owned_by(NOBODY, strange):
        answer = as_somebody(stocked, require_tool, "plugins", "install", stocked.plugin("birch", "gear"), "--enable")
        [reason] = answer.value["reasons"]
        mine = pwd.getpwuid(os.geteuid()).pw_name
        assert (answer.gist, f"`sudo chown -R {mine} {strange}` gives it to you" in reason["hint"]) == (
            "3 failed not-writable",
            True,
        )


@contextmanager
def all_owned_by(user: int, path: Path) -> Iterator[None]:
    """Let a path and all that lies in it belong to another user for a while."""
    owner = os.geteuid()
    if owner != 0:
        pytest.skip("only root can give a file to another user")
    subprocess.run(["chown", "-R", "--no-dereference", str(user), path], check=True)
    try:
        yield
    finally:
        if path.exists():
            subprocess.run(["chown", "-R", "--no-dereference", str(owner), path], check=True)


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return the paths that changed, besides receipts, locks, and what was learnt of packages without fetching them."""
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    learnt = ("pm/receipts", "pm/locks", "pm/cache/contents", "pm/cache/facts", "pm/cache/read")
    return [path for path in paths if not path.startswith(learnt)]


def test_several_things_that_cannot_be_prepared_for_one_reason_are_one_answer(
    tmp_path: Path, shelf: Path, require_tool: Callable[[str], Path]
) -> None:
    """Case read-only-dir-03: whose state cannot be written hears so once, with one instruction, and not per feature."""
    home = new_home(tmp_path / "home", wheels=shelf, cold=True)
    for name in ("ash", "birch", "cedar"):
        write_plugin(home.path / "plugins" / name, "kit")
    home.configure("plugins:\n  enabled: [ash, birch, cedar]\n")
    with owned_by(NOBODY, home.path):
        answer = as_somebody(home, require_tool, "pm", "init")
        assert (answer.gist, len(answer.value["reasons"]), answer.steps) == ("3 failed not-writable", 1, ["retry "])
        assert as_somebody(home, require_tool, "plugins", "check").gist == "1 not-ready " + " ".join(
            ["no-generation", *["not-admitted"] * 3]
        )


@pytest.mark.parametrize("active", [{}, {"VIRTUAL_ENV": "/nowhere"}, {"VIRTUAL_ENV": "", "PATH": "/usr/bin:/bin"}])
def test_what_works_is_told_from_the_files_and_not_from_the_environment_that_is_active(
    stocked: Home, active: dict[str, str]
) -> None:
    """Case read-only-dir-05."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    usual = stocked.ask("plugins", "check").gist, stocked.say("pm", "status", "--json").stdout
    assert usual[0] == "0 ready"
    assert (
        stocked.ask("plugins", "check", **active).gist,
        stocked.say("pm", "status", "--json", **active).stdout,
    ) == usual
    assert stocked.ask("pm", "verify", **active).gist == "0 verified"
