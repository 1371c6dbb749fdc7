"""DECIDES: requirements in, verdict out. Pure: no disk, network, process, clock or log."""

from admission.decision import (
    Admitted,
    Available,
    Decision,
    Demand,
    Need,
    Proof,
    Reason,
    Refused,
    Step,
    Undecided,
    Warning,
)
from admission.declaration import Declaration, ExternalDependency, Problem
from admission.facts import NOTHING_KNOWN, Candidate, Exclusion, Facts, Page
from admission.question import ConstraintSet, Core, Member, Policy, Question, declaration_digest
from admission.requirement import (
    InvalidRequirementText,
    Origin,
    Owner,
    Requirement,
    canonical_name,
    parse_requirement,
    parse_specifier,
)
from admission.target import Target
from admission.verdict import decide

__all__ = [
    "NOTHING_KNOWN",
    "Admitted",
    "Available",
    "Candidate",
    "ConstraintSet",
    "Core",
    "Decision",
    "Declaration",
    "Demand",
    "Exclusion",
    "ExternalDependency",
    "Facts",
    "InvalidRequirementText",
    "Member",
    "Need",
    "Origin",
    "Owner",
    "Page",
    "Policy",
    "Problem",
    "Proof",
    "Question",
    "Reason",
    "Refused",
    "Requirement",
    "Step",
    "Target",
    "Undecided",
    "Warning",
    "canonical_name",
    "decide",
    "declaration_digest",
    "parse_requirement",
    "parse_specifier",
]
