"""A verdict as part of an operation: timed, and with everything that its receipt says of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pm.judging import Judged, judge, notices
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
    for notice in notices(situation):
        course.notice(notice)
    return judged
