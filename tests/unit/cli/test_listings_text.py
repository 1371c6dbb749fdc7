"""Listings as text: what a person reads is written as elsewhere."""

from __future__ import annotations

from pm.cli.listings_text import receipts_text


def test_the_time_of_a_receipt_is_written_as_in_the_receipt() -> None:
    row = {
        "id": "0a1b",
        "time": "20260131T101530.123Z",
        "operation": "init",
        "outcome": "admitted",
        "summary": "set up",
    }
    assert receipts_text({"receipts": [row]}).splitlines() == [
        "id    time                  operation  outcome   summary",
        "0a1b  2026-01-31T10:15:30Z  init       admitted  set up",
    ]
