"""DECIDES: requirements in, verdict out. Pure: no disk, network, process, clock or log."""

from admission.decision import (
    Admitted,
    Available,
    Decision,
    Demand,
    Need,
    Notice,
    Proof,
    Reason,
    Refused,
    Step,
    Undecided,
)
from admission.declaration import Declaration, ExternalDependency, Problem
from admission.facts import NOTHING_KNOWN, Candidate, Exclusion, Facts, Page
from admission.question import EVERY_PLUGIN, ConstraintSet, Core, Policy, Question, UnionMember, declaration_digest
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
    "EVERY_PLUGIN",
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
    "Need",
    "Notice",
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
    "UnionMember",
    "canonical_name",
    "decide",
    "declaration_digest",
    "parse_requirement",
    "parse_specifier",
]
