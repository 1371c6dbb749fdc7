"""Whatever was there can be had again, goes when nobody needs it, and is in nobody's way."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from fixtures.faults import leftovers
from fixtures.homes import Home, snapshot, write_plugin
from fixtures.hosts import host, new_hosted_home
from fixtures.running import Running
from pm.generations.distributions import site_packages


def upgraded(home: Home) -> tuple[Path, dict[str, str], str, dict[str, str]]:
    """Install a plugin and then its next version; return folder, files, config and packages of before."""
    home.install(home.plugin("ash", "gear==1", files={"payload.py": "OLD = True\n", "data/one.txt": "1"}))
    folder = home.path / "plugins" / "ash"
    before = snapshot(folder), home.config.read_text(), home.pins
    home.install(
        write_plugin(home.work / "newer" / "ash", "gear==2", version="2", files={"payload.py": "NEW"}), "--force"
    )
    return folder, *before


# -- partial-rollback


def test_going_back_brings_code_packages_and_config_of_one_generation_and_is_verified(stocked: Home) -> None:
    """Case partial-rollback-01: never the record of a plugin without its payload."""
    folder, files, config, pins = upgraded(stocked)
    assert stocked.ask("pm", "rollback").gist == "0 rolled-back"
    assert (snapshot(folder), stocked.config.read_text(), stocked.pins) == (files, config, pins)
    assert (stocked.ask("pm", "verify").gist, stocked.ask("plugins", "check").gist) == ("0 verified", "0 ready")


def test_a_generation_of_which_something_is_gone_is_not_gone_back_to_by_half(stocked: Home) -> None:
    """Case partial-rollback-01: the payload is looked for before anything is changed."""
    upgraded(stocked)
    [old] = [path.parent for path in stocked.state.glob("trees/*/payload.py") if "OLD" in path.read_text()]
    shutil.move(old, stocked.work / "taken")
    before = stocked.snapshot(["pm/receipts", "pm/locks", "pm/cache"])
    answer = stocked.ask("pm", "rollback")
    assert (answer.gist, answer.value["reasons"][0]["message"]) == (
        "1 drift drift",
        "the files that `ash` had then are no longer kept, or damaged",
    )
    assert stocked.snapshot(["pm/receipts", "pm/locks", "pm/cache"]) == before


def test_an_update_that_fails_leaves_nothing_to_go_back_from(stocked: Home) -> None:
    """Case partial-rollback-01, its beginning: a failed update is no update of the code alone."""
    stocked.install(stocked.plugin("ash", "gear==1", files={"payload.py": "OLD = True\n"}))
    before = stocked.snapshot(["pm/receipts", "pm/locks", "pm/cache"])
    newer = write_plugin(stocked.work / "newer" / "ash", "gear==9", version="2", files={"payload.py": "NEW = True\n"})
    assert stocked.install(newer, "--force").gist == "1 refused no-matching-version"
    assert stocked.snapshot(["pm/receipts", "pm/locks", "pm/cache"]) == before


def test_going_back_selects_the_old_environment_as_it_is_and_installs_nothing(stocked: Home, shelf: Path) -> None:
    """Case partial-rollback-03: the old release has its own old dependencies; no index, wheel or cache is needed."""
    _, _, _, pins = upgraded(stocked)
    old = stocked.state / "generations" / "1"
    before = snapshot(old)
    shutil.rmtree(stocked.state / "cache")
    shutil.rmtree(stocked.state / "wheels")
    stocked.config.write_text(stocked.config.read_text().replace(str(shelf), str(stocked.work / "nowhere")))
    answer = stocked.ask("pm", "rollback", "--offline")
    assert (answer.gist, answer.changes) == ("0 rolled-back", ["gear 2 → 1", "kit 3.0 → 1.0"])
    assert (stocked.pins, stocked.generation, snapshot(old)) == (pins, old, before)
    assert [path.name for path in stocked.state.glob("generations/*") if path.is_dir()] != []
    with Running(stocked) as runs:
        assert (runs.imports("gear", "__version__"), runs.imports("kit", "VERSION")) == ("1", "1.0")


# -- unloadable-plugin-stuck


def test_a_plugin_that_was_refused_is_replaced_by_a_version_that_fits(tmp_path: Path) -> None:
    """Case unloadable-plugin-stuck-01: the version that comes is judged, and never the one that goes."""
    home = _with_core(tmp_path)
    kept = home.install(home.plugin("napcat", "demo-colors==1.0"), "--keep")
    assert (kept.gist, home.pointer) == ("1 refused core-conflict", None)
    newer = write_plugin(home.work / "newer" / "napcat", "demo-colors>=1.2", version="2")
    assert home.install(newer, "--force").gist == "0 admitted"
    assert (home.admitted, home.ask("plugins", "check").gist) == (["napcat in default"], "0 ready")


def _with_core(folder: Path) -> Home:
    return new_hosted_home(folder, "hermes-agent==0.19.0", host("0.19.0", "demo-colors==2.0"))


@pytest.mark.parametrize("files", [{}, {"plugin.yaml": "name: [\n"}], ids=["does-not-fit", "cannot-be-read"])
@pytest.mark.parametrize("way", ["remove", "disable", "replace"])
def test_a_plugin_that_the_config_enables_and_that_cannot_run_goes_or_is_replaced(
    tmp_path: Path, files: dict[str, str], way: str
) -> None:
    """Case unloadable-plugin-stuck-01: whatever is wrong with it stands in nobody's way."""
    home = _with_core(tmp_path)
    home.install(home.plugin("ash", "demo-socket"))
    write_plugin(home.path / "plugins" / "napcat", "demo-colors==1.0", files=files)
    home.config.write_text(home.config.read_text().replace("- ash", "- ash\n    - napcat"))
    newer = write_plugin(home.work / "newer" / "napcat", "demo-colors>=1.2", version="2")
    replace = ("plugins", "install", newer, "--enable", "--force")
    words = {"replace": replace}.get(way, ("plugins", way, "napcat"))
    assert home.ask(*words).status == 0
    assert home.admitted == ["ash in default", *(["napcat in default"] if way == "replace" else [])]
    assert home.ask("plugins", "check").gist == "0 ready"


# -- generation-gc


def test_however_often_is_repaired_only_the_last_generations_stay_and_what_is_freed_is_told(stocked: Home) -> None:
    """Case generation-gc-01: the newest three stay, `gc` says how many bytes the others were."""
    stocked.configure("  keep_generations: 9\n")
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    for _ in range(5):
        (site_packages(stocked.generation) / "kit" / "late.py").write_text("damaged\n")
        assert stocked.ask("pm", "repair").gist == "0 repaired"
    stocked.config.write_text(stocked.config.read_text().replace("keep_generations: 9", "keep_generations: 3"))
    answer = stocked.ask("pm", "gc")
    collected = [warning["message"] for warning in answer.value["warnings"]]
    assert [message.partition(",")[0] for message in collected if "generations/" in message] == [
        *(f"`generations/{number}.json`" for number in (1, 2, 3)),
        *(f"`generations/{number}`" for number in (1, 2, 3)),
    ]
    assert re.fullmatch(r"freed [0-9.]+ [kM]B", answer.value["summary"])
    assert [path.name for path in sorted(stocked.state.glob("generations/*")) if path.is_dir()] == ["4", "5", "6"]
    assert stocked.ask("pm", "verify").gist == "0 verified"


@pytest.mark.parametrize("cycles", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_coming_and_going_again_and_again_takes_no_more_room_after_a_collection(stocked: Home, cycles: int) -> None:
    """Case generation-gc-03: generations, trees, bytecode, caches and receipts have a limit each.

    Of the interpreters that uv has queried sixteen stay; all other parts keep their size from collection to collection.
    """
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    birch = stocked.plugin("birch", "gear==1", files={"data.bin": "x" * 50_000})
    sizes = []
    for number in range(cycles):
        (birch / "data.bin").write_text(f"{number:03}" * 20_000)
        assert stocked.install(birch).gist == "0 admitted"
        stocked.say("run", "--", "python", "-c", "import gear, kit.late")
        assert stocked.ask("plugins", "remove", "birch").gist == "0 removed"
        if number % (cycles // 3) == cycles // 3 - 1:
            stocked.ask("pm", "gc")
            sizes.append(sizes_of(stocked))
    _, middle, last = sizes
    # numbers and dates are written with a few digits more
    assert {part: (middle[part], size) for part, size in last.items() if size > middle[part] + 500} == {}
    stocked.ask("pm", "gc")
    assert len(list(stocked.state.glob("cache/uv/interpreter-v*/*/*.msgpack"))) <= 16
    assert len(list(stocked.state.glob("receipts/2*Z-*.json"))) <= 200 + 3
    assert [path.name for path in stocked.state.glob("generations/*") if path.is_dir()] != []
    assert leftovers(stocked) == ()


def sizes_of(home: Home) -> Counter[str]:
    """Return the bytes of each part of the state besides what is few and counted, each file once."""
    sizes: Counter[str] = Counter()
    for path in {path.stat().st_ino: path for path in sorted(home.state.rglob("*")) if path.is_file()}.values():
        first, *more = path.relative_to(home.state).parts
        if first != "receipts" and path.suffix != ".msgpack":
            sizes["/".join((first, *more[:2])) if first == "cache" else first] += path.stat().st_size
    return sizes


# -- safe-mode-recovery


def test_a_start_without_plugins_changes_nothing_and_the_next_one_has_them_again(stocked: Home) -> None:
    """Case safe-mode-recovery-01: what the config says of plugins is valid with them and without."""
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    stocked.configure("  entries:\n    ash: {colour: blue}\n")
    before = stocked.snapshot(["pm/cache", "pm/locks", "pm/pycache", "pm/receipts"])
    inside = "import os; print(os.environ.get('HERMES_SAFE_MODE', 'no'), os.environ['HERMES_HOME'])"
    safe = stocked.say("run", "--safe", "--", "python", "-c", inside)
    assert (safe.status, safe.stdout, safe.stderr) == (0, f"1 {stocked.path}\n", "")
    assert stocked.ask("plugins", "check", HERMES_SAFE_MODE="1").gist == "0 ready"
    usual = stocked.say("run", "--", "python", "-c", inside)
    assert (usual.status, usual.stdout, usual.stderr) == (0, f"no {stocked.path}\n", "")
    assert stocked.snapshot(["pm/cache", "pm/locks", "pm/pycache", "pm/receipts"]) == before


def test_a_plugin_that_will_fail_at_its_import_is_named_with_file_and_line_before_anything_is_switched(
    stocked: Home,
) -> None:
    """Case safe-mode-recovery-03: by reading it, since nothing of a plugin runs before its operator starts it."""
    marks = stocked.work / "was-imported"
    code = f"open({str(marks)!r}, 'w').close()\nimport nowhere_at_all\n\n\ndef register(ctx):\n    pass\n"
    stocked.install(stocked.plugin("ash", "kit==1.0"))
    answer = stocked.install(stocked.plugin("birch", "demo-colors", files={"__init__.py": code}))
    told = [(each["code"], each["owner"], each["message"]) for each in answer.value["warnings"]]
    assert (answer.gist, told) == (
        "0 admitted",
        [("undeclared-import", "birch", "no requirement of core or plugin provides `nowhere_at_all`")],
    )
    assert (answer.value["warnings"][0]["declared_at"]["line"], marks.exists()) == (2, False)
    assert stocked.say("run", "--safe", "--", "python", "-c", "print('up')").stdout == "up\n"
    assert stocked.ask("plugins", "disable", "birch").gist == "0 disabled"


# -- shared-dependency-removal


def test_what_another_plugin_needs_too_stays_when_one_is_removed(stocked: Home) -> None:
    """Case shared-dependency-removal-01."""
    stocked.install(stocked.plugin("ash", "kit<2"))
    stocked.install(stocked.plugin("birch", "kit", "demo-colors"))
    answer = stocked.ask("plugins", "remove", "birch")
    assert (answer.gist, answer.changes, stocked.admitted) == ("0 removed", ["-demo-colors 2.0"], ["ash in default"])
    with Running(stocked) as runs:
        assert runs.imports("kit", "VERSION") == "1.0"


def test_what_the_core_needs_too_stays_when_a_plugin_is_removed(tmp_path: Path) -> None:
    """Case shared-dependency-removal-03: the removal succeeds, and the core's package is not touched."""
    home = _with_core(tmp_path)
    home.install(home.plugin("ash", "demo-colors", "demo-socket"))
    answer = home.ask("plugins", "remove", "ash")
    assert (answer.gist, answer.changes) == ("0 removed", ["-demo-socket 3.0"])
    assert (home.pins, home.ask("pm", "verify").gist) == (
        {"demo-colors": "2.0", "hermes-agent": "0.19.0"},
        "0 verified",
    )
