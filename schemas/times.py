"""Times are integers: microseconds since 1970 in UTC. Here they are read from and written for people.

No clock is read here; "now" is always handed in.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from memtape.schemas.errors import MemtapeError

US_PER_S = 1_000_000
HOUR_US = 3_600 * US_PER_S
DAY_US = 24 * HOUR_US
MIN_TIME_US = -62_135_596_800 * US_PER_S  # 0001-01-01, the first instant that Python's calendar can show.
MAX_TIME_US = 253_402_300_799 * US_PER_S  # 9999-12-31T23:59:59.

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_AGO = re.compile(
    r"(?:(\d{1,6})\s*|an?\s+)(?:([smhdw])|(s)ec(?:ond)?s?|(m)in(?:ute)?s?|(h)(?:ou)?rs?|(d)ays?"
    r"|(w)eeks?)(?:\s+ago)?\Z"
)
_DAYS_AGO = {"today": 0, "yesterday": 1}
_UNIT_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def format_time(time_us: int) -> str:
    """Return ISO 8601 in UTC to the second, as `2026-11-21T09:30:00Z`."""
    return (_EPOCH + timedelta(microseconds=time_us)).isoformat(timespec="seconds")[:19] + "Z"


def format_day(time_us: int) -> str:
    """Return the UTC day, as `2026-11-21`."""
    return format_time(time_us)[:10]


def parse_time(text: str, now_us: int) -> int:
    """Parse a time: ISO 8601 as in `parse_iso`, or an age before `now_us`, in microseconds.

    A relative time is an age, such as `90m`, `3d`, `2 days ago` or `an hour ago`, or `now`, `today` and
    `yesterday`: days in UTC, from their beginning. Raises `MemtapeError`.
    """
    said = text.strip().lower()
    if age := _AGO.match(said):
        count = int(age[1] or 1)
        return now_us - count * _UNIT_S[next(filter(None, age.groups()[1:]))] * US_PER_S
    if said in _DAYS_AGO:
        return (now_us // DAY_US - _DAYS_AGO[said]) * DAY_US
    return now_us if said == "now" else parse_iso(text)


def parse_iso(text: str) -> int:
    """Parse ISO 8601, in UTC without a zone. Raises `MemtapeError`."""
    try:
        # Python 3.10 does not read the suffix Z.
        moment = datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text.strip()))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=timezone.utc)
        return (moment - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        raise MemtapeError(
            f"{text[:60]!r} is not a time.",
            "Give ISO 8601, as 2026-11-21T09:30:00Z, or an age, as 90m, 3d or 2 days ago.",
        ) from None
