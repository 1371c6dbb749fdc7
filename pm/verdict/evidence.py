"""What a verdict rested on, as a text that another machine can decide again: the question and the facts it consulted.

Only what deciding looks at is written: no addresses and digests of files, and upload times only under a quarantine. To
a refusal because of files belong those files of the wheels that tell of it, with their checksums.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from admission import (
    Admitted,
    Candidate,
    ConstraintSet,
    Decision,
    Facts,
    Page,
    Policy,
    Question,
    Target,
    UnionMember,
    decide,
)
from admission.gates import root_requirements
from lockfiles import Artifact
from pm.errors import PmError
from pm.generations.fault_reasons import refusal_of
from pm.generations.file_faults import clashes_among
from pm.host.core import HostedCore, core_from_json, core_to_json
from pm.index.contents import WheelContents, contents_of
from pm.index.rows import candidate_row, page_of, read_candidate_row, row_of_page
from pm.plugins.declaration_cache import declaration_from_json, declaration_to_json
from pm.receipts.plain import with_texts
from pm.redaction import redact
from pm.verdict.state import addressing

SCHEMA = 1


class TellingFiles(NamedTuple):
    """What tells of a set whose requirements hold together that its files do not."""

    contents: Mapping[str, WheelContents]
    """Distribution → those of its files that collide with others or hide them."""
    standard_modules: frozenset[str]


def evidence_of(question: Question, consulted: Facts, telling: TellingFiles | None = None) -> str:
    """Return a question and the facts that its decision rests on (`Deciding`), as JSON without spaces.

    `telling` belongs to a set that is refused because of its files.
    """
    timed = bool(question.constraints.policy.not_after)
    value = {
        "schema": SCHEMA,
        "question": with_texts(_question_row(question), redact),
        "pages": {name: _page_row(page, timed=timed) for name, page in sorted(consulted.pages.items())},
        "candidates": {
            name: {version: _candidate_row(candidate) for version, candidate in versions.items()}
            for name, versions in sorted(consulted.candidates.items())
        },
    }
    if telling is not None:
        files = {name: dict(held.files) for name, held in telling.contents.items()}
        flaws = {name: held.flaw for name, held in telling.contents.items() if held.flaw}
        value["files"] = {
            "distributions": files,
            "standard_modules": sorted(telling.standard_modules),
            **({"flaws": flaws} if flaws else {}),
        }
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def read_evidence(text: str) -> tuple[Question, Facts]:
    """Return the question and the facts of a text, which can be decided.

    Raise `PmError` (`invalid-evidence`) for any other text.
    """
    question, facts, _ = _read(text)
    return question, facts


def decided_again(text: str) -> tuple[Question, Decision]:
    """Return the question of a text and the verdict on it, that on its files too if it holds some.

    Raise `PmError` as `read_evidence` does.
    """
    question, _, decision = _read(text)
    return question, decision


def _read(text: str) -> tuple[Question, Facts, Decision]:
    try:
        value = _of_this_schema(json.loads(text))
        pages = {name: page_of(name, row.encode(), may_build=False) for name, row in value["pages"].items()}
        candidates = {
            name: {version: read_candidate_row(name, version, row.encode()) for version, row in rows.items()}
            for name, rows in value["candidates"].items()
        }
        question, facts = _question(value["question"]), Facts(pages, candidates)
        # a damaged value often shows only where it is used
        decision = _with_files(decide(question, facts), question, value.get("files"))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, AssertionError) as error:
        message = f"the facts of the receipt cannot be read: {error}"
        hint = "take the receipt and its `.facts.json` as they were written"
        raise PmError("invalid-evidence", message, hint=hint) from error
    return question, facts, decision


def _with_files(decision: Decision, question: Question, row: Mapping[str, Any] | None) -> Decision:
    """Return the verdict on the files, where they are known and requirements alone do not refuse it."""
    if row is None or not isinstance(decision, Admitted):
        return decision
    flaws = row.get("flaws", {})
    contents = {name: contents_of(files, flaws.get(name, "")) for name, files in row["distributions"].items()}
    allowed = question.constraints.policy.allow_collision
    clashes = clashes_among(contents, decision.lock, frozenset(row["standard_modules"]), allowed)
    return refusal_of(clashes, decision.lock, root_requirements(question.constraints)) or decision


def _of_this_schema(value: dict[str, Any]) -> dict[str, Any]:
    if value["schema"] != SCHEMA:
        raise ValueError(f"it has the schema {value['schema']}, this version reads {SCHEMA}")
    return value


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
    policy["allow_direct_urls"] = addressing(policy)
    members = tuple(
        UnionMember(declaration_from_json(d), tuple(profiles), digest) for d, profiles, digest in row["members"]
    )
    target = Target(name, python, tuple((key, text) for key, text in environment), tuple(tags))
    return Question(
        ConstraintSet(core_from_json(row["core"]).core, members, target, Policy(**policy)),
        candidate=row["candidate"],
        pins=row["pins"],
        budget=row["budget"],
        frozen=True,
    )
