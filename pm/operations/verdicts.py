"""A verdict as part of an operation: timed, and with everything that its receipt says of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from admission import Refused
from pm.judging import Judged, judge, notices, question_of
from pm.operations.course import Course
from pm.records import Member
from pm.situation import Situation


def verdict(
    course: Course, situation: Situation, members: Sequence[Member], candidate: str = "", *, asked: Collection[str] = ()
) -> Judged:
    """Judge a union, and say in the receipt what was judged; `asked` are the keys if it is about several plugins."""
    with course.phase("decide", "deciding"):
        judged = judge(situation, members, candidate, asked)
    course.judged(situation, judged.members)
    for note in judged.notes:
        course.note(note)
    if isinstance(judged.decision, Refused):
        from pm.operations.ways_out import with_steps

        with course.phase("steps", "trying ways out"):
            refused = with_steps(situation, judged.members, candidate, judged.decision)
        judged = judged._replace(decision=refused)
    for notice in notices(situation):
        course.notice(notice)
    if not course.operation.dry_run:
        from pm.evidence import evidence_of

        with course.phase("evidence"):
            course.evidence = evidence_of(question_of(situation, judged.members, candidate), situation.client.facts)
    return judged
