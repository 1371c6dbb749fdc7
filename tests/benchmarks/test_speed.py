"""How long a dry run, a refusal and an installation take, as multiples of what uv takes for the same requirements.

The limits are generous: a busy machine must not fail, and a search that has become quadratic must.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fixtures.benchmarks import Furnished, Program, Row, race

pytestmark = [pytest.mark.real_index, pytest.mark.slow]

# one that nobody asks for yet, and one that is there: a plugin brings something and finds something
NEW = ("tabulate>=0.9", "tenacity>=8")
CONFLICT = "websockets>=16"
ROUNDS = 11
Compared = Callable[..., list[Row]]


def dry_runs(home: Furnished) -> dict[str, Callable[[], float]]:
    """Return dry runs of one more plugin, and uv's resolutions of the same, whose cache is warm."""
    new, known = home.writing("new", *NEW), home.writing("known", *NEW)()
    home.compiled(*NEW, offline=False).milliseconds()
    return {
        "uv": home.compiled(*NEW).milliseconds,
        "uv online": home.compiled(*NEW, offline=False).milliseconds,
        "new": home.hermes("plugins", "check", "./new", "--json", before=new).milliseconds,
        "again": home.hermes("plugins", "check", known, "--json").milliseconds,
        "decide": lambda: home.hermes("plugins", "check", known, "--json").reported("decide"),
        "ready": home.hermes("plugins", "check", "--json").milliseconds,
    }


def rows_of(ms: Mapping[str, float], where: str = "") -> list[Row]:
    """Return how dry runs compare with uv's resolutions."""
    return [
        Row(f"{where}check, new pyproject.toml : compile, offline", ms["new"], ms["uv"], 1.4),
        Row(f"{where}check, known plugin : compile, offline", ms["again"], ms["uv"], 1.4),
        Row(f"{where}check, known plugin : compile, online", ms["again"], ms["uv online"], 0.25),
        Row(f"{where}verdict, in process : compile, offline", ms["decide"], ms["uv"], 0.5),
        Row(f"{where}check, no change : compile, offline", ms["ready"], ms["uv"], 0.7),
    ]


def test_a_plugin_that_nobody_has_seen_is_judged_in_little_more_time_than_uv_resolves_the_same(
    furnished: Furnished, compared: Compared
) -> None:
    manifest = furnished.writing("two", *NEW, manifest=True)
    yaml = furnished.hermes("plugins", "check", "./two", "--json", before=manifest)
    ms = race(dry_runs(furnished) | {"yaml": yaml.milliseconds}, ROUNDS)
    yaml_row = Row("check, new plugin.yaml : compile, offline", ms["yaml"], ms["uv"], 1.8)
    assert compared(*rows_of(ms), yaml_row) == []


def test_among_fifty_plugins_one_more_is_judged_in_little_more_time_than_uv_resolves_all_of_them(
    crowded: Furnished, compared: Compared
) -> None:
    ms = race(dry_runs(crowded), ROUNDS)
    assert compared(*rows_of(ms, "+50 plugins: ")) == []


def test_a_start_in_a_generation_costs_little_beside_the_interpreter(furnished: Furnished, compared: Compared) -> None:
    python = furnished.home.generation / "bin" / "python"
    words = ("-c", "pass")
    bare = Program((python, *words), furnished.home.environ, furnished.home.work)
    ms = race({"ours": furnished.hermes("run", "--", "python", *words).milliseconds, "bare": bare.milliseconds}, ROUNDS)
    assert compared(Row("hermes run : the same interpreter alone", ms["ours"], ms["bare"], 4.0)) == []


def test_what_needs_no_build_takes_less_time_than_uv_needs_to_resolve(crowded: Furnished, compared: Compared) -> None:
    def switched(word: str) -> Callable[[], object]:
        return crowded.hermes("plugins", word, "public-00").milliseconds

    same = crowded.home.path / "plugins" / "public-01"
    source = shutil.copytree(same, crowded.home.work / "public-01")
    crowded.hermes("plugins", "disable", "public-02").milliseconds()
    crowded.compiled(*NEW, offline=False).milliseconds()
    ms = race(
        {
            "uv": crowded.compiled(*NEW).milliseconds,
            "disable": crowded.hermes("plugins", "disable", "public-00", before=switched("enable")).milliseconds,
            "rollback": crowded.hermes("pm", "rollback", before=switched("disable")).milliseconds,
            "verify": crowded.hermes("pm", "verify").milliseconds,
            "same": crowded.hermes("plugins", "install", source, "--enable", "--force").milliseconds,
        },
        5,
    )
    missed = compared(
        # both delete a generation that is kept no longer
        Row("+50 plugins: disable : compile, offline", ms["disable"], ms["uv"], 3.0),
        # what is gone back to is compared with its hashes before, and that is nearly all of it
        Row("+50 plugins: rollback : verify", ms["rollback"], ms["verify"], 1.5),
        Row("+50 plugins: install of what is there : compile, offline", ms["same"], ms["uv"], 3.0),
    )
    assert missed == []


def test_a_refusal_with_its_proof_and_steps_takes_a_few_times_as_long_as_that_of_uv(
    furnished: Furnished, compared: Compared
) -> None:
    writing = furnished.writing("refused", CONFLICT)
    words = ("plugins", "check", "./refused", "--json")
    check = furnished.hermes(*words, status=1, before=writing)
    bare = furnished.hermes(*words, "--steps-budget", "0", status=1, before=writing)
    furnished.compiled(CONFLICT, offline=False, status=1).milliseconds()
    ms = race(
        {
            "uv": furnished.compiled(CONFLICT, status=1).milliseconds,
            "whole": check.milliseconds,
            "bare": bare.milliseconds,
            "decide": lambda: check.reported("decide"),
            "both": lambda: check.reported("decide", "steps"),
        },
        ROUNDS,
    )
    missed = compared(
        Row("refusal with proof, in process : uv's", ms["decide"], ms["uv"], 1.8),
        Row("refusal with proof and steps, in process : uv's", ms["both"], ms["uv"], 4.0),
        Row("refusal with proof : uv's", ms["bare"], ms["uv"], 3.0),
        Row("refusal with proof and steps : uv's", ms["whole"], ms["uv"], 4.0),
    )
    assert missed == []


def test_an_installation_takes_less_than_twice_as_long_as_uv_needs_to_fill_an_environment(
    furnished: Furnished, compared: Compared
) -> None:
    writing = furnished.writing("installed", *NEW)

    def prepared() -> None:
        """Take out what the round before has put in, and the environment that uv has made."""
        shutil.rmtree(bare, ignore_errors=True)
        if (furnished.home.path / "plugins" / "installed").exists():
            furnished.hermes("plugins", "remove", "installed").milliseconds()
        furnished.hermes("pm", "gc").milliseconds()
        writing()

    bare, lock = furnished.folder / "bare", furnished.folder / "pylock.toml"
    writing()
    furnished.hermes("plugins", "install", "./installed", "--enable").milliseconds()
    shutil.copy(furnished.home.generation / "pylock.toml", lock)
    cache = furnished.home.state / "cache" / "uv"
    python = furnished.record["interpreter"]
    venv = furnished.uv("venv", "--quiet", "--python", python, bare, cache=cache)
    sync = furnished.uv("pip", "sync", "--quiet", "--python", bare / "bin" / "python", lock, cache=cache)
    install = furnished.hermes("plugins", "install", "./installed", "--enable", "--json", before=prepared)
    ms = race({"ours": install.milliseconds, "uv": lambda: venv.milliseconds() + sync.milliseconds()}, 5)
    assert compared(Row("install : uv venv + uv pip sync", ms["ours"], ms["uv"], 1.4)) == []


def test_a_dry_run_holds_little_more_memory_than_uv(furnished: Furnished, compared: Compared) -> None:
    known = furnished.writing("weighed", *NEW)()
    furnished.compiled(*NEW, offline=False).milliseconds()
    mb = race(
        {
            "uv": furnished.compiled(*NEW).megabytes,
            "ours": furnished.hermes("plugins", "check", known, "--json").megabytes,
        },
        3,
    )
    assert compared(Row("check, peak memory : compile's", mb["ours"], mb["uv"], 1.5, "MB")) == []


def test_without_any_cache_a_dry_run_waits_for_the_index_as_uv_does(
    furnished: Furnished, compared: Compared, tmp_path: Path
) -> None:
    known = furnished.writing("cold", *NEW)()
    kept, cache = tmp_path / "kept", furnished.home.state / "cache"
    cache.rename(kept)

    def emptied() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(tmp_path / "uv", ignore_errors=True)

    compiled = furnished.compiled(*NEW, offline=False, cache=tmp_path / "uv")
    check = furnished.hermes("plugins", "check", known, before=emptied)
    try:
        ms = race({"ours": check.milliseconds, "uv": compiled._replace(before=emptied).milliseconds}, 3)
    finally:
        emptied()
        kept.rename(cache)
    assert compared(Row("check, cold caches : compile, cold", ms["ours"], ms["uv"], 1.5)) == []
