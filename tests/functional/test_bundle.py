"""`hermes pm bundle` and `pm init --bundle`: what one home runs, another one runs without a network, byte for byte."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from uv import find_uv_bin

from fixtures.homes import PLUGINS as SAMPLES
from fixtures.homes import Answer, Home, new_home, snapshot
from fixtures.hosts import host, new_hosted_home
from fixtures.sampling import ALL, Sample
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, Distribution, build_wheels, read_recipe

CORE = "hermes_embedded_core-0.1.0-py3-none-any.whl"
WHEELS = [
    "demo_colors-2.0-py3-none-any.whl",
    "demo_socket-2.4-py3-none-any.whl",
    "demo_transport-1.3.0-py3-none-any.whl",
    CORE,
    "pyyaml-6.0.3-py3-none-any.whl",
]
FETCHED = [name for name in WHEELS if name != CORE]
"""What a home that gets everything from an index has no wheels of."""
LISTS = ["README.txt", "SHA256SUMS", "pylock.toml", "requirements.txt"]
COUNTS = [pytest.param(4, id="some"), pytest.param(ALL, id="all", marks=pytest.mark.slow)]
PLUGINS = ["plugins/ash/__init__.py", "plugins/ash/plugin.yaml"]


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


BUNDLE = sorted([*LISTS, *PLUGINS, *(f"wheels/{name}" for name in WHEELS)])


def locked(home: Home) -> list[tuple[str, str, str]]:
    """Return name, version and digest of everything in the selected generation's lock."""
    packages = tomllib.loads((home.generation / "pylock.toml").read_text())["packages"]
    return [(package["name"], package["version"], package["wheels"][0]["hashes"]["sha256"]) for package in packages]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Home:
    """Return a home without a config on a machine without a network: an index there would be asked in vain."""
    path = tmp_path / "other machine"
    return Home(path / "home", surroundings=path, environ={"UV_INDEX": "http://127.0.0.1:9/simple"})


@pytest.fixture
def full(served: Home) -> Home:
    """Return a home with a plugin that got everything from an index."""
    served.install(served.plugin("ash", "demo-colors", "demo-transport"))
    return served


# -- there and back again


def test_what_one_home_runs_another_one_runs_from_the_bundle_alone(tmp_path: Path, out: Path, elsewhere: Home) -> None:
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", "demo-colors"))
        home.install(home.plugin("birch", "demo-transport"))
        bundled = home.ask("pm", "bundle", "--output", out)
    moved = elsewhere.work / "stick" / "bundle ü"
    shutil.copytree(out, moved)
    shutil.rmtree(out)
    begun = elsewhere.ask("pm", "init", "--bundle", moved)
    installed = [elsewhere.install(moved / "plugins" / name, "--offline") for name in ("ash", "birch")]
    assert [bundled.gist, begun.gist, *(answer.gist for answer in installed)] == [
        "0 exported",
        "0 admitted",
        "0 admitted",
        "0 admitted",
    ]
    assert (locked(elsewhere), elsewhere.pins, elsewhere.admitted) == (locked(home), home.pins, home.admitted)
    assert [elsewhere.ask(*words.split()).gist for words in ("plugins check", "pm verify")] == ["0 ready", "0 verified"]


def test_the_config_of_the_other_home_says_where_packages_come_from(full: Home, out: Path, elsewhere: Home) -> None:
    full.ask("pm", "bundle", "--output", out)
    elsewhere.config.write_text("# mine\ndisplay:\n  color: blue\n")
    elsewhere.ask("pm", "init", "--bundle", out)
    settings = f'pm:\n  indexes: []\n  find_links:\n    - "{out}/wheels"\n'
    assert elsewhere.config.read_text() == f"# mine\ndisplay:\n  color: blue\n{settings}"
    assert elsewhere.ask("pm", "init", "--bundle", out).gist == "0 unchanged"


def test_a_released_core_comes_along_and_is_chosen(tmp_path: Path, out: Path, elsewhere: Home) -> None:
    distributions = [host("1.0", "demo-colors==1.2", extras={"chat": ["demo-socket==2.4"]}), host("2.0")]
    home = new_hosted_home(tmp_path, "hermes-agent[chat]<2", *distributions)
    home.install(home.plugin("ash", "demo-transport"))
    home.ask("pm", "bundle", "--output", out)
    shutil.rmtree(tmp_path / "wheels")
    elsewhere.ask("pm", "init", "--bundle", out)
    elsewhere.install(out / "plugins" / "ash")
    assert (elsewhere.ask("plugins", "check").gist, locked(elsewhere)) == ("0 ready", locked(home))
    assert '  core: "hermes-agent[chat]==1.0"\n' in elsewhere.config.read_text()


def test_a_core_that_is_a_project_is_carried_by_hand(home: Home, out: Path, elsewhere: Home) -> None:
    project = home.work / "core"
    project.mkdir()
    text = '[project]\nname = "hermes-agent"\nversion = "0.19.0"\ndependencies = ["demo-transport"]\n'
    (project / "pyproject.toml").write_text(text)
    home.ask("pm", "init", "--core", project)
    home.ask("pm", "bundle", "--output", out)
    unnamed = elsewhere.ask("pm", "init", "--bundle", out)
    named = elsewhere.ask("pm", "init", "--bundle", out, "--core", project)
    assert (unnamed.status, unnamed.value["error"]["code"], named.gist) == (2, "usage", "0 admitted")
    assert f"the core of `{out}` is a project's folder: name it with `--core`" in unnamed.stderr
    assert (files(out), locked(elsewhere)) == (
        sorted([*LISTS, "wheels/demo_socket-2.4-py3-none-any.whl", "wheels/demo_transport-1.3.0-py3-none-any.whl"]),
        locked(home),
    )
    readme = (out / "README.txt").read_text()
    assert "    hermes pm init --bundle . --core FOLDER\n" in readme
    assert "* The core hermes-agent, which is a project's folder: carry it over" in readme


def test_a_generation_of_no_package_is_a_bundle_too(home: Home, out: Path) -> None:
    project = home.work / "core"
    project.mkdir()
    (project / "pyproject.toml").write_text('[project]\nname = "hermes-agent"\nversion = "0.19.0"\n')
    home.ask("pm", "init", "--core", project)
    assert (home.ask("pm", "bundle", "--output", out).gist, files(out)) == ("0 exported", LISTS)
    assert (out / "wheels").is_dir()


def test_plugins_of_profiles_and_those_that_are_not_kept_are_told_apart(home: Home, out: Path) -> None:
    work = home.profile("work")
    work.install(work.plugin("ash", "demo-colors"))
    project = home.work / ".hermes" / "plugins" / "cedar"
    project.mkdir(parents=True)
    shutil.copytree(home.plugin("cedar", "demo-socket"), project, dirs_exist_ok=True)
    switch = {"HERMES_ENABLE_PROJECT_PLUGINS": "1"}
    home.ask("plugins", "enable", "cedar", **switch)
    home.ask("pm", "bundle", "--output", out)
    readme = (out / "README.txt").read_text()
    assert [name for name in files(out) if name.startswith("p") and "/" in name] == [
        "profiles/work/plugins/ash/__init__.py",
        "profiles/work/plugins/ash/plugin.yaml",
    ]
    assert (
        "3. Install and enable the plugins. HOME is the folder of the home, ~/.hermes if no other is named:\n\n"
        "    mkdir -p HOME/profiles/work\n"
        "    hermes plugins install profiles/work/plugins/ash --enable --home HOME/profiles/work\n"
    ) in readme
    assert "* The folder of the plugin cedar: carry it over" in readme


def test_what_was_consented_to_is_in_the_bundle_and_needs_no_consent_again(
    served: Home, server: IndexServer, out: Path, elsewhere: Home
) -> None:
    server.offer(Distribution("demo-colors", "3.0rc1"))
    server.offer(Distribution("sourcery", "1.0", tags=(), sdist=True))
    consents = ("--allow-prerelease", "demo-colors", "--allow-build", "sourcery")
    served.install(served.plugin("ash", "demo-colors>2", "sourcery"), *consents)
    served.ask("pm", "bundle", "--output", out)
    elsewhere.ask("pm", "init", "--bundle", out)
    assert (elsewhere.install(out / "plugins" / "ash").gist, locked(elsewhere)) == ("0 admitted", locked(served))


def test_a_memory_provider_is_one_there_too(home: Home, out: Path, elsewhere: Home) -> None:
    home.install(SAMPLES / "memory-provider")
    home.ask("pm", "bundle", "--output", out)
    elsewhere.ask("pm", "init", "--bundle", out)
    (key,) = (member["key"] for member in (home.pointer or {})["admitted"])
    elsewhere.install(out / "plugins" / key)
    assert (elsewhere.admitted, locked(elsewhere)) == (home.admitted, locked(home))


# -- what is in it


def test_everybody_s_tools_read_the_bundle(full: Home, out: Path, tmp_path: Path) -> None:
    full.ask("pm", "bundle", "--output", out)
    environ = {"PATH": os.environ["PATH"], "HOME": str(full.user), "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1"}

    def run(*command: str | Path) -> None:
        subprocess.run(command, cwd=out, env=environ, check=True, capture_output=True)

    run("sha256sum", "--check", "--strict", "SHA256SUMS")
    uv, cache = find_uv_bin(), tmp_path / "cache"
    run(uv, "venv", "--offline", "--no-project", "--cache-dir", cache, "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(uv, "pip", "sync", "--offline", "--cache-dir", cache, "--python", python, "pylock.toml")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", "wheels", "--target")
    run(*pip, tmp_path / "target", "--require-hashes", "-r", "requirements.txt")
    by_uv = sorted(path.name for path in tmp_path.glob("venv/lib/python3*/site-packages/*.dist-info"))
    by_pip = sorted(path.name for path in tmp_path.glob("target/*.dist-info"))
    assert by_uv == by_pip == ["-".join(name.split("-")[:2]) + ".dist-info" for name in WHEELS]


def test_the_same_generation_makes_the_same_bytes_and_the_second_time_without_a_network(
    full: Home, out: Path, server: IndexServer
) -> None:
    full.ask("pm", "bundle", "--output", out)
    server.asked.clear()
    again = out.with_name("again")
    assert full.ask("pm", "bundle", "--output", again, "--offline").gist == "0 exported"
    assert (snapshot(again), server.asked) == (snapshot(out), [])


def test_a_dry_run_says_what_would_be_fetched_and_writes_nothing(full: Home, out: Path, server: IndexServer) -> None:
    before = full.snapshot()
    server.asked.clear()
    answer = full.ask("pm", "bundle", "--output", out, "--dry-run")
    [warning] = answer.value["warnings"]
    said = f"`{out}` can be written; this was a dry run, nothing was changed"
    assert (answer.gist, answer.value["summary"], warning["code"], warning["message"]) == (
        "0 exported",
        said,
        "bundled",
        f"`{out}` would hold 5 wheels, 4 of which would be fetched",
    )
    assert (full.snapshot(), out.exists(), server.asked) == (before, False, [])


def test_an_administrator_s_home_is_bundled_too_and_one_without_a_generation_is_not(full: Home, out: Path) -> None:
    managed = full.ask("pm", "bundle", "--output", out, HERMES_MANAGED="nix")
    empty = new_home(full.path.with_name("empty")).ask("pm", "bundle", "--output", out, "--force")
    assert (managed.gist, empty.gist, files(out)) == ("0 exported", "1 not-ready no-generation", BUNDLE)


def test_no_secret_of_an_index_is_in_a_bundle(tmp_path: Path, out: Path) -> None:
    shape = Shape(userinfo="anna:s3cr3t-w0rd")
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE), shape) as server:
        home = new_home(tmp_path / "home", indexes=[server.url.replace("://", "://anna:s3cr3t-w0rd@")])
        home.install(home.plugin("ash", "demo-colors", "demo-transport"))
        answer = home.ask("pm", "bundle", "--output", out, "-v")
        host_name = server.host
    holders = [path.name for path in out.rglob("*") if path.is_file() and b"s3cr3t" in path.read_bytes()]
    addressed = [name for name in LISTS if host_name in (out / name).read_text()]
    assert (answer.gist, holders, addressed) == ("0 exported", [], [])
    assert "s3cr3t" not in answer.stdout + answer.stderr
    assert files(out) == BUNDLE


# -- what cannot be had


def test_offline_every_wheel_that_is_missing_is_named_and_nothing_is_written(full: Home, out: Path) -> None:
    answers = [full.ask("pm", "bundle", "--output", out, "--offline", *more) for more in ((), ("--dry-run",))]
    names = ", ".join(f"`{name}`" for name in FETCHED)
    message = f"`--offline` is given, and the cache lacks 4 wheels: {names}"
    assert [answer.gist for answer in answers] == ["3 failed offline", "3 failed offline"]
    assert [answer.value["reasons"][0]["message"] for answer in answers] == [message, message]
    assert sorted(path.name for path in out.parent.iterdir()) == ["files", "home", "user", "work"]


def test_where_no_index_may_be_asked_any_more_none_is(full: Home, out: Path, server: IndexServer) -> None:
    server.asked.clear()
    answer = full.ask("pm", "bundle", "--output", out, PIP_NO_INDEX="1")
    assert (answer.gist, out.exists(), server.asked) == ("3 failed offline", False, [])


def test_a_wheel_that_is_served_with_other_bytes_is_not_put_there(full: Home, out: Path, server: IndexServer) -> None:
    server.faults = [Fault("*demo_socket*.whl", "garbage", times=-1)]
    assert full.ask("pm", "bundle", "--output", out).gist == "3 failed hash-mismatch"
    assert sorted(path.name for path in out.parent.iterdir()) == ["files", "home", "user", "work"]
    server.faults = []
    server.asked.clear()
    assert (full.ask("pm", "bundle", "--output", out).gist, files(out)) == ("0 exported", BUNDLE)
    assert {path.rpartition("/")[2] for path in server.paths("*.whl")} <= set(FETCHED)


def test_a_damaged_wheel_of_the_cache_is_fetched_again(full: Home, out: Path, server: IndexServer) -> None:
    full.ask("pm", "bundle", "--output", out)
    kept = next(full.state.glob("cache/wheels/*/demo_socket*.whl"))
    kept.write_bytes(b"damaged")
    server.asked.clear()
    again = out.with_name("again")
    assert full.ask("pm", "bundle", "--output", again).gist == "0 exported"
    assert ([path.rpartition("/")[2] for path in server.paths()], snapshot(again)) == (
        ["demo_socket-2.4-py3-none-any.whl"],
        snapshot(out),
    )


def test_a_damaged_wheel_of_the_state_is_taken_from_its_folder_or_named(tmp_path: Path, out: Path) -> None:
    wheels = tmp_path / "wheels"
    build_wheels(wheels, Distribution("demo-colors", "1.0"))
    build_wheels(wheels, Distribution("PyYAML", "6.0.3"))
    home = new_home(tmp_path / "home", wheels=wheels)
    home.install(home.plugin("ash", "demo-colors"))
    next(home.state.glob("wheels/*/demo_colors*.whl")).write_bytes(b"damaged")
    assert home.ask("pm", "bundle", "--output", out).gist == "0 exported"
    shutil.rmtree(out)
    (wheels / "demo_colors-1.0-py3-none-any.whl").write_bytes(b"damaged as well")
    answer = home.ask("pm", "bundle", "--output", out)
    message = "the locked wheels are no longer on this machine: `demo_colors-1.0-py3-none-any.whl`"
    assert (answer.gist, answer.value["reasons"][0]["message"]) == ("3 failed hash-mismatch", message)
    assert not out.exists()


# -- where it is put


def test_a_folder_in_use_is_never_overwritten(full: Home, out: Path) -> None:
    full.ask("pm", "bundle", "--output", out)
    file = out.with_name("file")
    file.write_text("mine")
    used = out.with_name("used")
    used.mkdir()
    (used / "mine").write_text("mine")
    shared = out.with_name("shared")
    shutil.copytree(out, shared)
    (shared / "mine").write_text("mine")
    before = snapshot(out.parent, ["home"])
    more = "is not empty, and is not just an earlier bundle"
    inside = full.generation / "bundle"
    for words, said in (
        ([inside], f"`{inside}` is inside of `{full.state}`, which belongs to the manager"),
        ([full.state, "--force"], f"`{full.state}` is inside of `{full.state}`, which belongs to the manager"),
        ([out], f"`{out}` is an earlier bundle; `--force` replaces it"),
        ([file, "--force"], f"`{file}` is not a folder"),
        ([used, "--force"], f"`{used}` {more}"),
        ([shared, "--force"], f"`{shared}` {more}"),
        (
            ["/proc", "--force"],
            "`/proc` is a mount point; name a folder inside of it",
        ),
    ):
        answer = full.ask("pm", "bundle", "--output", *words)
        assert (answer.status, answer.value["error"]["code"]) == (2, "usage")
        assert answer.stderr == f"hermes pm bundle: error: {said}\n"
    assert snapshot(out.parent, ["home"]) == before


def test_an_empty_folder_is_filled_and_a_link_followed(full: Home, out: Path) -> None:
    out.mkdir()
    link = out.with_name("link")
    link.symlink_to(out)
    assert full.ask("pm", "bundle", "--output", link).gist == "0 exported"
    assert (link.is_symlink(), files(out)) == (True, BUNDLE)


def test_an_earlier_bundle_is_replaced_on_demand_and_only_what_is_new_is_fetched(
    full: Home, out: Path, server: IndexServer
) -> None:
    full.ask("pm", "bundle", "--output", out)
    full.install(full.plugin("ash", "demo-transport[fast]"), "--force")
    shutil.rmtree(full.state / "cache" / "wheels")
    server.asked.clear()
    assert full.ask("pm", "bundle", "--output", out, "--force").gist == "0 exported"
    assert [path.rpartition("/")[2] for path in server.paths("*.whl")] == ["demo_speedups-1.1-py3-none-any.whl"]
    expected = {*BUNDLE, "wheels/demo_speedups-1.1-py3-none-any.whl"} - {f"wheels/{WHEELS[0]}"}
    assert (set(files(out)), sorted(path.name for path in out.parent.iterdir())) == (
        expected,
        ["files", "home", "out", "user", "work"],
    )


def test_odd_names_of_a_plugin_s_files_are_listed_as_sha256sum_reads_them(home: Home, out: Path) -> None:
    home.install(home.plugin("ash", files={"a\\b": "1", "c\nd": "2", " e ü": "3"}))
    home.ask("pm", "bundle", "--output", out)
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"],
        cwd=out,
        check=False,
        capture_output=True,
    )
    assert (checked.returncode, checked.stderr) == (0, b"")
    assert home.ask("pm", "bundle", "--output", out, "--force").gist == "0 exported"


# -- the world at its worst


def test_a_disk_without_modes_holds_the_plugins_too(home: Home, out: Path, require_tool: Callable[[str], Path]) -> None:
    plugin = home.plugin("ash", files={"run.sh": "#!/bin/sh\n"})
    (plugin / "run.sh").chmod(0o755)
    home.install(plugin)
    ignored = "inject=chmod,fchmod,fchmodat:retval=0"
    under: list[str | Path] = [require_tool("strace"), "-f", "-qq", "-o", os.devnull, "-e", ignored]
    process = home.start("pm", "bundle", "--output", out, "--json", under=under)
    process.communicate(timeout=60)
    mode = (out / "plugins" / "ash" / "run.sh").stat().st_mode & 0o777
    assert (process.returncode, files(out / "plugins" / "ash"), mode) == (
        0,
        ["__init__.py", "plugin.yaml", "run.sh"],
        0o644,
    )


class Watched(NamedTuple):
    """A command that was watched once, with the calls that it makes around its output, in their order."""

    home: Home
    words: tuple[str | Path, ...]
    strace: Path
    calls: tuple[tuple[str, int], ...]
    """Name, and which of that name it is."""

    def meddle(self, call: str, number: int, what: str) -> Answer:
        """Run it, and let something happen at a call."""
        inject = f"inject={call}:{what}:when={number}"
        return self.home.say_traced(*self.words, tracer=[self.strace, "-o", os.devnull, "-e", inject])

    def first(self, call: str) -> int:
        return next(number for name, number in self.calls if name == call)


def watched(home: Home, output: Path, strace: Path, *more: str) -> Watched:
    words: tuple[str | Path, ...] = ("pm", "bundle", "--output", output, *more, "--json")
    log = home.work.parent / "calls"
    trace = "trace=mkdir,fsync,sync,/^rename,/^unlink,rmdir"
    assert home.say_traced(*words, tracer=[strace, "-y", "-o", log, "-e", trace]).stderr == ""
    counts: Counter[str] = Counter()
    calls = []
    for line in log.read_text().splitlines():
        call = line.partition("(")[0]
        counts[call] += 1
        if f"/.{output.name}." in line or call == "sync":
            calls.append((call, counts[call]))
    log.unlink()
    return Watched(home, words, strace, tuple(calls))


@pytest.mark.parametrize(
    ("call", "error", "gist"),
    [
        ("mkdir", "EACCES", "3 failed not-writable"),
        ("fsync", "ENOSPC", "3 failed no-space"),
        ("rename", "EROFS", "3 failed not-writable"),
    ],
)
def test_a_disk_that_refuses_leaves_nothing(
    full: Home, out: Path, require_tool: Callable[[str], Path], call: str, error: str, gist: str
) -> None:
    command = watched(full, out, require_tool("strace"))
    shutil.rmtree(out)
    answer = command.meddle(call, command.first(call), f"error={error}")
    assert (answer.gist, str(out) in answer.value["reasons"][0]["message"]) == (gist, True)
    assert [path.name for path in out.parent.iterdir() if "out" in path.name] == []


def test_a_file_that_may_not_become_so_large_leaves_nothing(
    full: Home, out: Path, require_tool: Callable[[str], Path]
) -> None:
    process = full.start("pm", "bundle", "--output", out, "--json", under=[require_tool("prlimit"), "--fsize=6000"])
    stdout, stderr = process.communicate(timeout=60)
    assert Answer(process.returncode, stdout, stderr).gist == "3 failed not-writable"
    assert [path.name for path in out.parent.iterdir() if "out" in path.name] == []


@pytest.mark.parametrize("count", COUNTS)
def test_killed_at_any_call_there_is_a_whole_bundle_or_none(
    full: Home, out: Path, require_tool: Callable[[str], Path], count: int, sample: Sample
) -> None:
    command = watched(full, out, require_tool("strace"))
    complete = snapshot(out)
    for call, number in sample(command.calls, count):
        shutil.rmtree(out)
        assert command.meddle(call, number, "signal=SIGKILL").status == -signal.SIGKILL
        assert not out.exists() or snapshot(out) == complete
        shutil.rmtree(out, ignore_errors=True)
        assert full.ask(*command.words[:-1]).gist == "0 exported"
        assert (snapshot(out), [path.name for path in out.parent.iterdir() if "out" in path.name]) == (
            complete,
            ["out"],
        )


@pytest.mark.parametrize("count", COUNTS)
def test_killed_while_it_is_replaced_an_earlier_bundle_is_there_or_comes_back(
    full: Home, out: Path, require_tool: Callable[[str], Path], count: int, sample: Sample
) -> None:
    full.ask("pm", "bundle", "--output", out)
    earlier = snapshot(out)
    kept = out.with_name("kept")
    shutil.copytree(out, kept)
    full.install(full.plugin("ash", "demo-transport"), "--force")
    command = watched(full, out, require_tool("strace"), "--force")
    complete = snapshot(out)
    for call, number in sample(command.calls, count):
        shutil.rmtree(out)
        shutil.copytree(kept, out)
        assert command.meddle(call, number, "signal=SIGKILL").status == -signal.SIGKILL
        refused = full.ask("pm", "bundle", "--output", out)
        assert (refused.status, snapshot(out) in (earlier, complete)) == (2, True)
        assert full.ask("pm", "bundle", "--output", out, "--force").gist == "0 exported"
        assert (snapshot(out), [path.name for path in out.parent.iterdir() if "out" in path.name]) == (
            complete,
            ["out"],
        )


# -- a home from a bundle


def test_a_bundle_that_did_not_arrive_whole_changes_nothing(full: Home, out: Path, elsewhere: Home) -> None:
    full.ask("pm", "bundle", "--output", out)
    (out / "wheels" / WHEELS[0]).unlink()
    (out / "wheels" / WHEELS[1]).write_bytes(b"cut")
    answer = elsewhere.ask("pm", "init", "--bundle", out)
    message = f"2 of 5 wheels in `{out}/wheels` are missing or damaged: `{WHEELS[0]}`, `{WHEELS[1]}`"
    assert (answer.gist, answer.value["reasons"][0]["message"]) == ("3 failed hash-mismatch", message)
    assert (elsewhere.config.exists(), elsewhere.pointer) == (False, None)


def test_a_dry_run_of_it_changes_nothing(full: Home, out: Path, elsewhere: Home) -> None:
    full.ask("pm", "bundle", "--output", out)
    answer = elsewhere.ask("pm", "init", "--bundle", out, "--dry-run")
    assert (answer.gist, answer.changes) == ("0 admitted", ["+hermes-embedded-core 0.1.0", "+pyyaml 6.0.3"])
    assert elsewhere.snapshot(["pm/cache"]) == {"pm": "755 folder"}


def test_a_wheel_that_the_disk_does_not_give_is_damaged(
    home: Home, out: Path, elsewhere: Home, require_tool: Callable[[str], Path]
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("pm", "bundle", "--output", out)
    wheel = out / "wheels" / "demo_colors-2.0-py3-none-any.whl"
    strace: list[str | Path] = [require_tool("strace"), "-qq", "-o", os.devnull]
    under = [*strace, "-P", wheel, "-e", "inject=read:error=EIO"]
    process = elsewhere.start("pm", "init", "--bundle", out, "--json", under=under)
    stdout, stderr = process.communicate(timeout=60)
    answer = Answer(process.returncode, stdout, stderr)
    message = f"1 of 3 wheels in `{out}/wheels` are missing or damaged: `{wheel.name}`"
    assert (answer.gist, answer.value["reasons"][0]["message"]) == ("3 failed hash-mismatch", message)


def test_what_is_no_bundle_is_a_usage_error(home: Home, elsewhere: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    broken = elsewhere.work / "broken"
    broken.mkdir()
    (broken / "pylock.toml").write_text("packages = ]")
    missing = elsewhere.work / "missing"
    fault = "`pylock.toml`: line 1, column 12: invalid value"
    other = "it names `demo-colors` elsewhere"
    answers = [elsewhere.ask("pm", "init", "--bundle", folder) for folder in (missing, broken, home.generation)]
    assert [(answer.status, answer.stderr) for answer in answers] == [
        (2, f"hermes pm init: error: `{missing}` is no bundle: there is no `pylock.toml` in it\n"),
        (
            2,
            f"hermes pm init: error: `{broken}` is no bundle that can be read: {fault}\n",
        ),
        (
            2,
            f"hermes pm init: error: `{home.generation}/pylock.toml` is not the lock of a bundle: {other}\n",
        ),
    ]


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ("pm:\n  indexes: [{url: 'http://127.0.0.1:9/simple'}]\n", "pm.indexes"),
        ("pm:\n  find_links: [/somewhere]\n", "pm.find_links"),
    ],
)
def test_a_home_that_takes_packages_from_elsewhere_is_left_alone(
    full: Home, out: Path, elsewhere: Home, settings: str, key: str
) -> None:
    full.ask("pm", "bundle", "--output", out)
    elsewhere.config.write_text(settings)
    answer = elsewhere.ask("pm", "init", "--bundle", out)
    message = f"`{key}` is set, and a bundle would be the only source of packages"
    assert (answer.gist, answer.value["reasons"][0]["message"]) == ("3 failed config-unreadable", message)
    assert elsewhere.config.read_text() == settings


def test_a_bundle_with_newer_packages_in_the_same_place_moves_the_home_to_them(
    tmp_path: Path, home: Home, wheels: Path, out: Path, elsewhere: Home
) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("pm", "bundle", "--output", out)
    elsewhere.ask("pm", "init", "--bundle", out)
    elsewhere.install(out / "plugins" / "ash")
    newer = shutil.copytree(wheels, tmp_path / "newer")
    build_wheels(newer, Distribution("demo-colors", "2.1"))
    other = new_home(tmp_path / "third", wheels=newer)
    other.install(home.work / "ash")
    other.ask("pm", "bundle", "--output", out, "--force")
    assert elsewhere.ask("pm", "init", "--bundle", out).changes == ["demo-colors 2.0 → 2.1"]
    assert (elsewhere.ask("pm", "init", "--bundle", out).gist, locked(elsewhere)) == ("0 unchanged", locked(other))


def test_a_newer_plugin_of_a_newer_bundle_brings_its_packages(full: Home, out: Path, elsewhere: Home) -> None:
    full.ask("pm", "bundle", "--output", out)
    elsewhere.ask("pm", "init", "--bundle", out)
    elsewhere.install(out / "plugins" / "ash")
    full.install(full.plugin("ash", "demo-colors==1.2", "demo-transport"), "--force")
    full.ask("pm", "bundle", "--output", out, "--force")
    assert elsewhere.ask("plugins", "check").gist == "0 ready"
    assert elsewhere.install(out / "plugins" / "ash", "--force").changes == ["demo-colors 2.0 → 1.2"]
