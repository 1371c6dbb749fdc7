"""Published cores from the configured index: their extras, and the way from one to the next with a plugin."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fixtures.homes import Home
from fixtures.hosts import chains, is_proved

pytestmark = [pytest.mark.real_index, pytest.mark.slow]

BEFORE, AFTER = "0.18.2", "0.19.0"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a home that asks what uv and pip of this machine ask."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HERMES_")}
    return Home(tmp_path / "home", surroundings=tmp_path, environ=environ)


def imports(home: Home, module: str) -> bool:
    return home.say("run", "--", "python", "-c", f"import {module}").status == 0


def test_an_extra_stays_through_plugins_and_an_update_and_speaks_in_proofs(home: Home) -> None:
    assert home.ask("pm", "init", "--core", f"hermes-agent=={BEFORE}").gist == "0 admitted"
    assert home.ask("pm", "extras", "add", "edge-tts", "anthropic").gist == "0 admitted"
    assert home.install(home.plugin("ash", "humanize")).gist == "0 admitted"
    assert imports(home, "edge_tts")
    refused = home.install(home.plugin("birch", "anthropic>=1"))
    assert (refused.gist, is_proved(refused.value)) == ("1 refused core-conflict", True)
    assert "anthropic" in {chain.partition(":")[0] for chain in chains(refused.value)}
    assert home.ask("update", "--check").gist == "0 admitted"
    updated = home.ask("update", "--core", f"hermes-agent=={AFTER}")
    assert (updated.gist, home.pins["hermes-agent"], home.admitted) == ("0 admitted", AFTER, ["ash in default"])
    assert imports(home, "edge_tts")
    assert home.ask("pm", "verify").gist == "0 verified"
    assert home.ask("pm", "rollback").gist == "0 rolled-back"
    assert home.pins["hermes-agent"] == BEFORE


def test_extras_that_require_nothing_and_aggregates_are_chosen(home: Home) -> None:
    assert home.ask("pm", "init", "--core", f"hermes-agent=={AFTER}").gist == "0 admitted"
    for extra in ("cron", "pty", "vision"):
        answer = home.ask("pm", "extras", "add", extra)
        assert (answer.gist, answer.changes) == ("0 admitted", [])
    assert home.ask("pm", "extras", "add", "all", "--dry-run").gist == "0 admitted"
    rows = {row["name"]: row for row in home.ask("pm", "extras").value["extras"]}
    assert {name for name, row in rows.items() if row["chosen"]} == {"cron", "pty", "vision"}
