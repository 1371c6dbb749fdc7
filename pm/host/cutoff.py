"""Turn the setting of the quarantine, a span or an instant, into the instant that a decision goes by."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pm.errors import PmError

_SPAN = r"(?P<count>[0-9]{1,6}) *(?P<unit>second|minute|hour|day|week|month|year)s?"
_UNITS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
    "year": timedelta(days=365),
}
OFF = "off"


def instant_of(setting: str, now: datetime) -> str:
    """Return the instant (ISO 8601, UTC) after whose uploads nothing is taken; empty without quarantine.

    A span is counted back from now and rounded down to midnight UTC, so that a day has one answer; a month has 30 days
    and a year 365. An instant without a time of day means midnight UTC. Raise `PmError` (`config-unreadable`).
    """
    if not setting or setting.lower() == OFF:
        return ""
    span = re.fullmatch(_SPAN, setting.strip())
    try:
        if span is not None:
            moment = now.astimezone(UTC) - int(span["count"]) * _UNITS[span["unit"]]
            moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        else:
            moment = datetime.fromisoformat(setting.strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise PmError(
            "config-unreadable",
            f"`{setting}` is neither a span such as `14 days` nor an instant such as `2026-01-31`",
            key="pm.exclude_newer",
        ) from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
