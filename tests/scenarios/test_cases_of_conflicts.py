"""What public bug reports of these kinds ask for is decided as arithmetic on versions says, and each has its test."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from admission import Admitted, Refused, decide
from fixtures.brute_force import solutions
from fixtures.reports import CASES, reports, world_of

CONFLICTS = reports("conflicting-pins", "dependency-cycle", "resolution-blowup", "host-upgrade-breaks-plugins")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not CASES.exists(), reason="the collected bug reports are not part of the repository")


@pytest.mark.parametrize("report", CONFLICTS, ids=lambda report: report["id"])
def test_a_report_is_decided_as_brute_force_says_and_a_refusal_of_it_is_proved(report: dict[str, Any]) -> None:
    small = world_of(report["input"])
    decision = decide(small.question(), small.facts)
    is_possible = next(solutions(small), None) is not None
    proofs = [reason.proof for reason in decision.reasons] if isinstance(decision, Refused) else []
    assert isinstance(decision, Admitted) == is_possible
    assert [proof.minimal and proof.verified for proof in proofs if proof is not None] == [True] * len(proofs)


def test_the_reports_hold_both_verdicts() -> None:
    worlds = [world_of(report["input"]) for report in CONFLICTS]
    kinds = {type(decide(small.question(), small.facts)) for small in worlds if small.roots}
    assert kinds == {Admitted, Refused}


def test_every_report_of_these_kinds_is_named_by_a_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "scenarios").glob("test_*.py"))
    scenarios = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "fixtures" / "scenarios").glob("*.toml"))
    named = set(re.findall(r"(?:[a-z]+-)+\d\d", tests + scenarios))
    # a docstring may name several of one kind: `conflicting-pins-03 and -09`
    for kind, further in re.findall(r"((?:[a-z]+-)+)\d\d((?:,? and -\d\d)+)", tests):
        named |= {f"{kind}{number}" for number in re.findall(r"\d\d", further)}
    assert [report["id"] for report in CONFLICTS if report["id"] not in named] == []
