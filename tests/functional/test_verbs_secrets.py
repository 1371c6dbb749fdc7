"""Credentials of an index open its doors, and stand afterwards in no output and no file but the config."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixtures.homes import Home, new_home
from fixtures.server import Fault, IndexServer, Shape
from fixtures.wheels import DEFAULT_RECIPE, read_recipe

USERINFO = "anna:s3cr3t-w0rd"
SECRETS = (b"s3cr3t-w0rd", base64.b64encode(USERINFO.encode()))


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[IndexServer]:
    """Serve the small index to those who know the word."""
    shape = Shape(userinfo=USERINFO, ranges=False)
    with IndexServer(tmp_path / "files", read_recipe(DEFAULT_RECIPE), shape) as running:
        yield running


@pytest.fixture
def knowing(tmp_path: Path, guarded: IndexServer) -> Home:
    """Return a home whose config holds the word."""
    return new_home(tmp_path / "home", indexes=[guarded.url.replace("://", f"://{USERINFO}@")])


def _holders(home: Home) -> list[str]:
    """Return the files below the home, and beside it, that hold one of the secrets."""
    files = [path for folder in (home.path, home.user, home.work) for path in folder.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if any(secret in path.read_bytes() for secret in SECRETS))


def test_no_secret_of_an_index_reaches_an_output_or_a_file(knowing: Home, guarded: IndexServer) -> None:
    admitted = knowing.install(knowing.plugin("ash", "demo-transport"), "--verbose")
    refused = knowing.install(knowing.plugin("birch", "flintspark>=99"))
    guarded.faults = [Fault("*demo-colors*", "status", times=-1, status=418)]
    unreachable = knowing.install(knowing.plugin("cedar", "demo-colors"))
    guarded.faults = [Fault("*demo_speedups*", "garbage", times=-1)]
    damaged = knowing.install(knowing.plugin("dill", "demo-speedups"))
    listings = [knowing.say(*words.split()) for words in ("pm status", "pm why demo-socket", "pm tree", "pm receipts")]
    answers = [admitted, refused, unreachable, damaged]
    assert [answer.gist for answer in answers] == [
        "0 admitted",
        "1 refused no-matching-version",
        "3 failed index-unreachable",
        "3 failed hash-mismatch",
    ]
    said = "".join(answer.stdout + answer.stderr for answer in (*answers, *listings))
    assert ("s3cr3t" in said, _holders(knowing)) == (False, ["config.yaml"])


def test_a_wrong_word_is_unauthorized_and_not_shown(knowing: Home) -> None:
    knowing.config.write_text(knowing.config.read_text().replace("s3cr3t-w0rd", "wr0ng"))
    answer = knowing.install(knowing.plugin("ash", "demo-colors"))
    assert (answer.gist, "wr0ng" in answer.stdout + answer.stderr) == ("3 failed unauthorized", False)


def test_a_word_in_a_requirement_or_a_source_is_not_shown(home: Home) -> None:
    source = home.plugin("ash", "demo-colors @ https://anna:s3cr3t-w0rd@example.invalid/x.whl")
    refused = home.install(source, "--keep")
    shown = home.say("plugins", "show", "ash")
    fetched = home.say("plugins", "install", "https://anna:s3cr3t-w0rd@example.invalid/x.zip")
    assert (refused.gist, shown.status, fetched.status) == ("1 refused direct-url", 0, 2)
    said = "".join(answer.stdout + answer.stderr for answer in (refused, shown, fetched))
    assert ("s3cr3t" in said, set(_holders(home))) == (False, {"plugin.yaml"})
