"""Say of a refusal what only the indexes know: which of them answered, and what the clock has to do with it."""

from datetime import UTC, datetime

from admission import Reason, Refused, Step, parse_requirement
from pm.index.assignment import asked_for
from pm.index.package_sources import IndexAddress
from pm.redaction import redact
from pm.verdict.resolve import Resolver, Verdict

_LACKING = frozenset(
    {
        "build-needs-consent",
        "conflict",
        "core-conflict",
        "no-matching-version",
        "no-wheel",
        "prerelease-only",
        "python-version",
        "quarantined",
        "yanked-only",
    }
)
"""Codes of refusals that another index's page could answer otherwise."""


def with_indexes(refused: Refused, verdict: Verdict, resolver: Resolver) -> Refused:
    """Return a refusal whose reasons say what rests on an index that answered first, or on the clock."""
    reasons = (_with_clock(reason, verdict, resolver) for reason in refused.reasons)
    return refused._replace(reasons=tuple(_with_index(reason, resolver) for reason in reasons))


def without_detours(refused: Refused, resolver: Resolver) -> Refused:
    """Leave out steps that would have an author give way to an index that lacks a version, or to a wrong clock."""
    hidden = {reason.package for reason in refused.reasons if _not_asked(reason, resolver)}
    behind = {reason.package for reason in refused.reasons if _is_behind(reason, resolver)}

    def leads_on(step: Step) -> bool:
        parts = (step, *step.parts)
        return not any(_widened(part) in hidden or (part.action == "allow-newer" and behind) for part in parts)

    return refused._replace(steps=tuple(filter(leads_on, refused.steps)))


def _widened(step: Step) -> str:
    if step.action != "widen" or step.origin is None or not step.before:
        return ""
    return parse_requirement(step.before, step.origin).name


# -- the index that answered


def _with_index(reason: Reason, resolver: Resolver) -> Reason:
    others = _not_asked(reason, resolver)
    if reason.code == "not-found-on-index":
        return _with_asked(reason, resolver)
    if not others:
        return reason
    answered = resolver.index.answered_by(reason.package)
    known = {index.url: index for index in resolver.state.sources.indexes}
    named = ", ".join(map(_named, others))
    said = f"{_named(known[answered])} answered for `{reason.package}`, and {named} was not asked"
    hint = "put the index that has the version first in `pm.indexes`, or its wheel into a folder of `pm.find_links`"
    return reason._replace(
        message=f"{reason.message}; {said}: the first index that knows a name has it", hint=reason.hint or hint
    )


def _not_asked(reason: Reason, resolver: Resolver) -> tuple[IndexAddress, ...]:
    """Return the indexes that were not asked for a reason's package, because one before them knows the name."""
    indexes = asked_for(reason.package, resolver.state.sources.indexes)
    if reason.code not in _LACKING or not reason.package or len(indexes) < 2:  # noqa: PLR2004 - one hides no other
        return ()
    addresses = [index.url for index in indexes]
    answered = resolver.index.answered_by(reason.package)
    return indexes[addresses.index(answered) + 1 :] if answered in addresses else ()


def _with_asked(reason: Reason, resolver: Resolver) -> Reason:
    """Say which of several indexes were asked for a name that none of them has."""
    configured = resolver.state.sources.indexes
    asked = asked_for(reason.package, configured) if reason.package else configured
    if len(asked) == len(configured) < 2:  # noqa: PLR2004 - of one it is clear which
        return reason
    if not asked:
        hint = "add an index without `packages` to `pm.indexes`, or the name to `packages` of the index that has it"
        said = f"{reason.message}: no index was asked, because each has `packages` and none has the name"
        return reason._replace(message=said, hint=hint)
    were = "was" if len(asked) == 1 else "were"
    said = f"{reason.message}: {', '.join(map(_named, asked))} {were} asked"
    if not asked[0].packages:
        return reason._replace(message=said)
    hint = "publish it there, or change `packages` of that index in `pm.indexes`; no other index may have the name"
    return reason._replace(message=f"{said}, and no other, because `packages` has the name", hint=hint)


def _named(index: IndexAddress) -> str:
    return f"the index `{index.name}` (`{redact(index.url)}`)" if index.name else f"the index `{redact(index.url)}`"


# -- the clock


def _with_clock(reason: Reason, verdict: Verdict, resolver: Resolver) -> Reason:
    policy = verdict.question.constraints.policy
    if reason.code != "quarantined":
        return reason
    said = f"{reason.message}: what was uploaded after {policy.not_after} is too young (`{policy.exclude_newer}`)"
    if not _is_behind(reason, resolver):
        return reason._replace(message=said)
    now, newest = _now(), resolver.index.newest_upload(reason.package)
    return reason._replace(
        message=f"{said}; the clock of this machine says {now}, and files of the index are from {newest}",
        hint="set the clock of this machine: a quarantine counts back from what it says",
    )


def _is_behind(reason: Reason, resolver: Resolver) -> bool:
    """Say whether the clock is behind what an index has: then a quarantine keeps nearly everything out."""
    return reason.code == "quarantined" and resolver.index.newest_upload(reason.package) > _now()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
