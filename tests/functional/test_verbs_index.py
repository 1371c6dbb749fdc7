"""What an index does wrong is told as that: never a conflict, never at the cost of a plugin's place."""

from __future__ import annotations

import json
import shutil
import time
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fixtures.homes import UNTOUCHED_BY_REFUSALS, Home, new_home
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, Distribution, read_recipe

CORE = {"hermes-embedded-core": "0.1.0", "pyyaml": "6.0.3"}


@pytest.fixture
def server(tmp_path: Path) -> IndexServer:
    """Return an index that answers while the test says so."""
    return IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE))


def test_everything_comes_from_an_index_and_the_second_time_from_the_cache(served: Home, server: IndexServer) -> None:
    ash = served.plugin("ash", "demo-transport")
    with server:
        assert served.install(ash).gist == "0 admitted"
        asked = len(server.asked)
        assert served.ask("plugins", "disable", "ash").gist == "0 disabled"
        assert served.ask("plugins", "enable", "ash").gist == "0 admitted"
        assert (len(server.asked), served.pins) == (
            asked,
            {"demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE,
        )


def test_without_an_index_what_runs_goes_on_and_what_is_new_stays_out(served: Home, server: IndexServer) -> None:
    """Cases index-outage-01 and -03."""
    with server:
        served.install(served.plugin("ash", "demo-colors"))
    birch = served.plugin("birch", "demo-transport")
    served.ask("plugins", "install", birch, "--no-enable")
    before = served.snapshot(UNTOUCHED_BY_REFUSALS)
    answer = served.ask("plugins", "enable", "birch")
    assert (answer.gist, answer.steps) == ("3 failed index-unreachable", ["retry birch"])
    assert answer.value["reasons"][0]["hint"].endswith("put the wheels into a folder and name it in `pm.find_links`")
    assert served.snapshot(UNTOUCHED_BY_REFUSALS) == before
    assert served.ask("plugins", "check").gist == "0 ready"


def test_offline_by_wish_is_not_an_outage_and_says_what_is_missing(served: Home, server: IndexServer) -> None:
    """Case index-outage-05."""
    with server:
        served.install(served.plugin("ash", "demo-colors"))
        asked = len(server.asked)
        answer = served.install(served.plugin("birch", "demo-transport"), "--offline")
        assert (answer.gist, len(server.asked)) == ("3 failed offline", asked)
        assert "`demo-transport`" in answer.value["reasons"][0]["message"]


def test_a_folder_of_wheels_is_enough_for_an_offline_home(home: Home) -> None:
    answer = home.install(home.plugin("ash", "demo-transport"), "--offline")
    assert (answer.gist, home.pins) == ("0 admitted", {"demo-socket": "2.4", "demo-transport": "1.3.0"} | CORE)


def test_a_transfer_that_breaks_off_is_tried_again(served: Home, server: IndexServer) -> None:
    """Case hash-mismatch-01."""
    server.faults = [Fault("*demo_colors-2.0*", "cut"), Fault("/simple/demo-colors/", "status", status=503)]
    with server:
        assert served.install(served.plugin("ash", "demo-colors")).gist == "0 admitted"
    assert served.pins == {"demo-colors": "2.0"} | CORE


def test_a_file_with_another_digest_than_announced_is_not_installed(tmp_path: Path) -> None:
    """Case hash-mismatch-01, its second half."""
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE), Shape(ranges=False)) as server:
        home = new_home(tmp_path / "home", indexes=[server.url])
        home.install(home.plugin("ash", "demo-socket"))
        before = home.snapshot(UNTOUCHED_BY_REFUSALS)
        server.faults = [Fault("*demo_colors*.whl", "garbage", times=-1)]
        answer = home.install(home.plugin("birch", "demo-colors"))
        assert (answer.gist, home.snapshot(UNTOUCHED_BY_REFUSALS)) == ("3 failed hash-mismatch", before)
        server.faults = []
        assert home.ask("plugins", "install", home.work / "birch", "--enable").gist == "0 admitted"


def test_a_file_that_changed_since_it_was_locked_is_not_installed(served: Home, server: IndexServer) -> None:
    """Case hash-mismatch-05."""
    with server:
        served.install(served.plugin("ash", "demo-colors"))
        before = served.snapshot(UNTOUCHED_BY_REFUSALS)
        server.offer(Distribution("demo-colors", "2.0", files={"demo_colors.py": "evil = True\n"}))
        shutil.rmtree(served.state / "cache" / "uv")
        answer = served.install(served.plugin("birch", "demo-speedups"))
        assert answer.gist == "3 failed hash-mismatch"
        assert "`demo_colors-2.0-py3-none-any.whl`" in answer.value["reasons"][0]["message"]
        assert served.snapshot(UNTOUCHED_BY_REFUSALS) == before
        installed = next(served.generation.glob("lib/python3.*/site-packages/demo_colors.py"))
        assert installed.read_text() == '__version__ = "2.0"\n'


def test_what_is_out_of_order_on_an_index_is_named_and_all_others_are_installed(
    served: Home, server: IndexServer
) -> None:
    """Rows A5, A6, A7 and C5: a file, a version; nothing else."""
    address = "../../files/demo_colors-3.0-py3-none-any.whl"
    server.further["demo-colors"] = [
        {"filename": f"demo_colors-{'9' * 5000}-py3-none-any.whl", "url": address},
        {"filename": "demo_colors-3.0-py3-none-any.whl", "url": address, "requires-python": "garbage!!"},
        {"filename": "demo_colors-4.0-py3-none-any.whl", "url": "http://[::1"},
        17,
    ]
    head = "Metadata-Version: 2.1\nName: demo-colors\nVersion: 5.0\n"
    server.offer(Distribution("demo-colors", "5.0", metadata=head + "Requires-Dist: x\n" * 100_000))
    with server:
        answer = served.install(served.plugin("ash", "demo-colors"))
        assert (answer.gist, served.pins) == ("0 admitted", {"demo-colors": "2.0"} | CORE)
        assert "index-file-unusable" in answer.warnings
        for version, reason in (
            ("3.0", "its `Requires-Python` `garbage!!` cannot be read"),
            ("4.0", "its address `http://…` cannot be read"),
            ("5.0", "its list of requirements has more than 10,000 lines"),
        ):
            refused = served.ask("plugins", "check", served.plugin("birch", f"demo-colors=={version}"))
            assert refused.gist == "1 refused no-matching-version"
            assert reason in refused.value["reasons"][0]["message"]


def test_a_wheel_that_is_not_what_the_index_says_of_it_is_that_also_when_uv_finds_out(
    served: Home, server: IndexServer
) -> None:
    """Row C14: everything that the dry run reads of it is right, and only its whole has another digest."""
    path = next(offer.path for offer in server.offers if offer.path.name == "demo_colors-2.0-py3-none-any.whl")
    content = path.read_bytes()
    place = content.index(b"PK\x01\x02") - 1
    server.shape = Shape(announces_metadata=True)
    served_page = server.page("demo-colors", as_json=True)
    assert served_page is not None
    head = (("Content-Type", "application/vnd.pypi.simple.v1+json"),)
    server.faults = [Fault("/simple/demo-colors/", "status", times=-1, status=200, headers=head, content=served_page)]
    path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with server:
        answer = served.install(served.plugin("ash", "demo-colors"))
        assert answer.gist == "3 failed hash-mismatch"


def test_a_wheel_that_is_not_what_was_locked_is_that_for_a_repair_and_for_a_way_back_too(
    served: Home, server: IndexServer
) -> None:
    """Row C14."""
    path = next(offer.path for offer in server.offers if offer.path.name == "demo_colors-2.0-py3-none-any.whl")
    with server:
        served.install(served.plugin("ash", "demo-colors"))
        served.install(served.plugin("birch", "demo-speedups"))
        content = path.read_bytes()
        place = content.index(b"PK\x01\x02") - 1
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        for folder in (*(served.state / "generations").glob("[12]"), served.state / "cache"):
            shutil.rmtree(folder)
        answers = [served.ask("pm", *words) for words in (("repair",), ("rollback", "1"))]
        assert [answer.gist for answer in answers] == ["3 failed hash-mismatch"] * 2
        path.write_bytes(content)
        assert served.ask("pm", "rollback", "1").gist == "0 rolled-back"
        assert served.ask("pm", "verify").gist == "0 verified"


def test_nothing_of_a_home_is_in_the_cache_of_whoever_runs_it(served: Home, server: IndexServer) -> None:
    with server:
        served.install(served.plugin("ash", "demo-colors"))
    assert [path for path in served.user.rglob("*") if path.name != "no-wheels"] == []


def test_the_configuration_of_uv_and_pip_is_not_asked_where_the_settings_say_everything(home: Home) -> None:
    broken = home.user / ".config"
    (broken / "uv").mkdir(parents=True)
    (broken / "pip").mkdir()
    (broken / "uv" / "uv.toml").write_text("this is broken [")
    (broken / "pip" / "pip.conf").write_text("[global]\nno-index = perhaps\nindex-url = http://127.0.0.1:1/simple\n")
    surroundings = {"UV_INDEX_URL": "http://127.0.0.1:1/simple", "PIP_REQUIRE_VIRTUALENV": "1", "VIRTUAL_ENV": "/tmp"}
    answer = home.install(home.plugin("ash", "demo-colors"), **surroundings)
    assert (answer.gist, home.pins) == ("0 admitted", {"demo-colors": "2.0"} | CORE)


def test_a_refusal_names_the_index_that_answered_and_those_that_were_not_asked(tmp_path: Path) -> None:
    """Case first-index-is-stale-01, row C8: no author has to give way to an old copy."""
    vendor = [Distribution("torchy", "2.1.1"), Distribution("alpha", "1.0")]
    with (
        IndexServer(tmp_path / "vendor", vendor) as first,
        IndexServer(tmp_path / "others", [Distribution("alpha", "2.0"), *read_recipe(DEFAULT_RECIPE)]) as second,
    ):
        home = new_home(tmp_path / "home", indexes=[first.url, second.url])
        answer = home.install(home.plugin("ash", "torchy==2.1.1", "alpha>1"))
        assert answer.gist == "1 refused no-matching-version"
        [reason] = answer.value["reasons"]
        assert reason["message"] == (
            f"no release of `alpha` satisfies `alpha>1`; the index `{first.url}` answered for `alpha`, and "
            f"the index `{second.url}` was not asked: the first index that knows a name has it"
        )
        assert "`pm.indexes`" in reason["hint"]
        assert [step for step in answer.steps if step.startswith("widen")] == []
        turned = home.config.read_text().replace(first.url, "X").replace(second.url, first.url).replace("X", second.url)
        home.config.write_text(turned)
        assert home.install(home.work / "ash").gist == "0 admitted"


def test_a_refusal_by_quarantine_names_its_instant(served: Home, server: IndexServer) -> None:
    """Row C20."""
    server.offer(Distribution("young", "1.0", uploaded="2024-05-01T00:00:00.000000Z"))
    with server:
        answer = served.install(served.plugin("ash", "young"), "--exclude-newer", "2024-02-01")
    assert answer.gist == "1 refused quarantined"
    assert answer.value["reasons"][0]["message"].endswith(
        ": what was uploaded after 2024-02-01T00:00:00Z is too young (`2024-02-01`)"
    )


def test_a_clock_that_is_behind_the_index_is_named_with_what_fails_by_it(served: Home, server: IndexServer) -> None:
    """Case clock-wrong-01: here the files are from the future instead."""
    server.offer(Distribution("young", "1.0", uploaded="2999-05-01T00:00:00.000000Z"))
    with server:
        answer = served.install(served.plugin("ash", "young"), "--exclude-newer", "14 days")
    [reason] = answer.value["reasons"]
    assert (answer.gist, answer.stderr.count("Warning")) == ("1 refused quarantined", 0)
    assert "; the clock of this machine says 2" in reason["message"]
    assert reason["message"].endswith(", and files of the index are from 2999-05-01T00:00:00Z")
    assert reason["hint"] == "set the clock of this machine: a quarantine counts back from what it says"
    assert [step for step in answer.steps if step.startswith("allow-newer")] == []


def test_what_was_published_a_minute_ago_is_found_by_the_next_try(served: Home, server: IndexServer) -> None:
    """Row G6: a refusal asks its pages again, of which the cache says that they are young."""
    ash, birch = served.plugin("ash", "brand-new"), served.plugin("birch", "demo-colors>=9")
    with server:
        assert served.install(ash).gist == "1 refused not-found-on-index"
        assert served.install(birch).gist == "1 refused no-matching-version"
        time.sleep(1)  # pages are dated to the second
        server.offer(Distribution("brand-new", "1.0"))
        server.offer(Distribution("demo-colors", "9.0"))
        assert served.install(ash).gist == "0 admitted"
        assert served.install(birch).gist == "0 admitted"


def test_bounds_that_no_release_can_meet_are_refused_without_asking_again(served: Home, server: IndexServer) -> None:
    ash = served.plugin("ash", "demo-colors>=1.5", "demo-colors<1.5")
    with server:
        assert served.install(ash).gist == "1 refused conflict"
        before = len(server.asked)
        assert served.install(ash).gist == "1 refused conflict"
        assert len(server.asked) == before


def test_every_page_is_asked_again_if_that_is_said(served: Home, server: IndexServer) -> None:
    ash = served.plugin("ash", "demo-colors")
    with server:
        assert served.ask("plugins", "check", ash).gist == "0 admitted"
        time.sleep(1)  # pages are dated to the second
        server.offer(Distribution("demo-colors", "9.0"))
        before = len(server.paths("/simple/demo-colors/"))
        assert served.ask("plugins", "check", served.plugin("elm", "demo-colors>1.5")).gist == "0 admitted"
        assert len(server.paths("/simple/demo-colors/")) == before
        assert served.install(ash, "--refresh").gist == "0 admitted"
        assert served.pins["demo-colors"] == "9.0"


# -- how old the facts are


def _grow_old(home: Home, seconds: int) -> None:
    """Have everything that is cached of indexes be as much older."""
    for path in home.state.glob("cache/facts/*.facts"):
        line, _, rest = path.read_bytes().partition(b"\n")
        magic, _, length, facts_length = line.rsplit(b" ", 3)
        header, rows = json.loads(rest[: int(length)]), rest[int(length) :]
        for place in header["places"].values():
            place[0] -= seconds
        written = json.dumps(header).encode()
        first = b"%s %d %d %s\n" % (magic, zlib.crc32(written), len(written), facts_length)
        path.write_bytes(first + written + rows)


def test_a_receipt_says_how_old_the_pages_are_that_its_verdict_rests_on(served: Home, server: IndexServer) -> None:
    """Row G6."""
    with server:
        installed = served.install(served.plugin("ash", "demo-colors"))
    pages = installed.value["pages"]
    age = datetime.now(UTC) - datetime.fromisoformat(pages["asked_at"])
    assert (pages["number"] >= 2, age < timedelta(minutes=10), installed.warnings) == (True, True, [])
    assert served.ask("plugins", "check").value["pages"] is None


def test_offline_what_an_index_said_long_ago_is_told_with_its_age(served: Home, server: IndexServer) -> None:
    """Row G6."""
    with server:
        served.install(served.plugin("ash", "demo-colors"))
        _grow_old(served, 3 * 86400)
        day = (datetime.now(UTC) - timedelta(days=3)).strftime("%Y-%m-%d")
        plugin = served.plugin("birch", "demo-colors>=1", version="2.0")
        offline = served.ask("plugins", "check", plugin, "--offline")
        shown = served.say("plugins", "check", plugin, "--offline")
        online = served.ask("plugins", "check", plugin)
    [warning] = offline.value["warnings"]
    assert (offline.gist, offline.value["pages"]["asked_at"][:10], warning["code"]) == ("0 admitted", day, "old-pages")
    assert warning["message"].startswith("the verdict rests on what an index said some time ago: of `")
    assert f"on {day} " in " ".join(shown.stdout.split())
    assert (online.gist, online.warnings, online.value["pages"]["asked_at"][:10] > day) == ("0 admitted", [], True)
