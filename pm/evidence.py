"""What a verdict rested on, as a text that another machine can decide again: the question and the facts it consulted.

Only what deciding looks at is written: no addresses and digests of files, and upload times only under a quarantine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from admission import Candidate, ConstraintSet, Facts, Member, Page, Policy, Question, Target, decide
from lockfiles import Artifact
from pm.cores import HostedCore, core_from_json, core_to_json
from pm.errors import PmError
from pm.index.rows import candidate_row, page_of, read_candidate_row, row_of_page
from pm.reading.stored import declaration_from_json, declaration_to_json

SCHEMA = 1
_Value = TypeVar("_Value")


def evidence_of(question: Question, facts: Facts) -> str:
    """Return the question and what deciding it consults of the facts, as JSON without spaces."""
    pages, candidates = _Consulted(facts.pages), _Consulted(facts.candidates)
    frozen = question._replace(frozen=True)
    decide(frozen, Facts(pages, candidates))
    value = {
        "schema": SCHEMA,
        "question": _question_row(frozen),
        "pages": {
            name: _page_row(facts.pages[name], timed=bool(question.constraints.policy.not_after))
            for name in sorted(pages.seen)
            if name in facts.pages
        },
        "candidates": {
            name: {version: _candidate_row(candidate) for version, candidate in facts.candidates[name].items()}
            for name in sorted(candidates.seen)
            if name in facts.candidates
        },
    }
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def read_evidence(text: str) -> tuple[Question, Facts]:
    """Return the question and the facts of a text, which can be decided.

    Raise `PmError` (`invalid-evidence`) for any other text.
    """
    try:
        value = _of_this_schema(json.loads(text))
        pages = {name: page_of(name, row.encode(), may_build=False) for name, row in value["pages"].items()}
        candidates = {
            name: {version: read_candidate_row(name, version, row.encode()) for version, row in rows.items()}
            for name, rows in value["candidates"].items()
        }
        question, facts = _question(value["question"]), Facts(pages, candidates)
        decide(question, facts)  # a damaged value often shows only where it is used
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, AssertionError) as error:
        message = f"the facts of the receipt cannot be read: {error}"
        hint = "take the receipt and its `.facts.json` as they were written"
        raise PmError("invalid-evidence", message, hint=hint) from error
    return question, facts


def _of_this_schema(value: dict[str, Any]) -> dict[str, Any]:
    if value["schema"] != SCHEMA:
        raise ValueError(f"it has the schema {value['schema']}, this version reads {SCHEMA}")
    return value


class _Consulted(Mapping[str, _Value]):
    """A mapping that notes which names were asked for, whether they were there or not."""

    def __init__(self, inner: Mapping[str, _Value]) -> None:
        self._inner = inner
        self.seen: set[str] = set()

    def __getitem__(self, key: str) -> _Value:
        self.seen.add(key)
        return self._inner[key]

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self.seen.add(key)
        return key in self._inner

    def __iter__(self) -> Iterator[str]:
        return iter(self._inner)

    def __len__(self) -> int:
        return len(self._inner)


# -- rows


def _page_row(page: Page, *, timed: bool) -> str:
    return row_of_page(page if timed else page._replace(uploaded=())).decode()


def _candidate_row(candidate: Candidate) -> str:
    artifact = Artifact(candidate.artifact.filename, "")
    return candidate_row(candidate._replace(artifact=artifact, index="")).decode()


def _question_row(question: Question) -> dict[str, Any]:
    constraints = question.constraints
    return {
        "core": core_to_json(HostedCore(constraints.core, "evidence", "", {}), constraints.target),
        "members": [[declaration_to_json(m.declaration), list(m.profiles), m.digest] for m in constraints.members],
        "target": list(constraints.target),
        "policy": constraints.policy._asdict(),
        "candidate": question.candidate,
        "pins": dict(question.pins),
        "budget": question.budget,
    }


def _question(row: Mapping[str, Any]) -> Question:
    name, python, environment, tags = row["target"]
    policy: dict[str, Any] = {
        key: tuple(item) if isinstance(item, list) else item for key, item in row["policy"].items()
    }
    members = tuple(Member(declaration_from_json(d), tuple(profiles), digest) for d, profiles, digest in row["members"])
    target = Target(name, python, tuple((key, text) for key, text in environment), tuple(tags))
    return Question(
        ConstraintSet(core_from_json(row["core"]).core, members, target, Policy(**policy)),
        candidate=row["candidate"],
        pins=row["pins"],
        budget=row["budget"],
        frozen=True,
    )
