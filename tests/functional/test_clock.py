"""A clock that goes backwards puts nothing out of order: what happened last is last."""

from __future__ import annotations

import json
import re

from fixtures.homes import Home
from pm.receipts.store import KEPT


def stamped_ahead(home: Home, number: int) -> None:
    """Make copies of the latest receipt as they would be called if the clock had been years ahead."""
    folder = home.state / "receipts"
    latest = json.loads((folder / "latest.json").read_text())
    for count in range(number):
        receipt = latest | {"id": f"{count:010x}", "started_at": f"2999-01-01T00:00:00.{count:03}Z"}
        (folder / f"29990101T000000.{count:03}Z-verify-{receipt['id']}.json").write_text(json.dumps(receipt))


def ids(home: Home) -> list[str]:
    return [row["id"] for row in home.say("pm", "receipts", "--json").value["receipts"]]


def test_receipts_of_a_clock_that_was_ahead_are_no_news(home: Home) -> None:
    home.install(home.plugin("ash", "demo-colors"))
    home.ask("pm", "verify")
    stamped_ahead(home, KEPT)
    answer = home.ask("plugins", "disable", "ash")
    assert (ids(home)[0], len(ids(home))) == (answer.value["id"], KEPT)
    assert home.say("pm", "receipts", "show", "latest", "--json").value["id"] == answer.value["id"]
    another = home.ask("plugins", "enable", "ash")
    assert ids(home)[:2] == [another.value["id"], answer.value["id"]]
    assert another.value["sequence"] == answer.value["sequence"] + 1


def test_generations_are_told_apart_by_number_and_not_by_time(home: Home) -> None:
    for name in ("ash", "birch", "cedar", "elm"):
        home.install(home.plugin(name, "demo-colors" if name == "ash" else "demo-transport"))
    for path in (home.state / "generations").glob("*.json"):
        year = 2999 - int(path.stem)
        path.write_text(re.sub(r'"created_at":"[0-9]{4}', f'"created_at":"{year}', path.read_text()))
    assert home.ask("pm", "rollback").value["generation"]["after"] == 3
    assert home.ask("pm", "gc").gist == "0 collected"
    kept = sorted(path.name for path in (home.state / "generations").glob("*.json"))
    assert kept == ["2.json", "3.json", "4.json"]
