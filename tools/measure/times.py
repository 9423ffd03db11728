"""Reads when something was said as corpora write it; what they mean else is in `eval_corpus`."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, US_PER_S, parse_iso

MOST_SECONDS, MOST_MILLISECONDS = 10**11, 10**14
"""A number below the first is seconds, below the second milliseconds, else microseconds: each of them then lies between
1973 and the year 5138, and what lies before 1973 is taken for a smaller unit."""
FORMS = (
    "%I:%M %p on %d %B, %Y",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    "%d %B %Y",
    "%d %B, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%d.%m.%Y",
)
"""Beside ISO 8601: LoCoMo's own form, LongMemEval's, and days as people write them. None can be read in two ways."""
_NUMBER = re.compile(r"^-?\d+(?:\.\d+)?\Z")
_YEAR = re.compile(r"\d{4}")


def read_time(said: str | float | None) -> int | None:
    """Return a time in microseconds UTC, None where none is given; raise `ValueError` for what is no time.

    Without a zone it is UTC. An age such as 3d is no time, since a corpus has no now.
    """
    if said is None or (isinstance(said, str) and not said.strip()):
        return None
    if isinstance(said, str) and _NUMBER.match(said.strip()):
        said = float(said) if "." in said else int(said)
    at = _of_text(said.strip()) if isinstance(said, str) else _of_number(said)
    if not MIN_TIME_US <= at <= MAX_TIME_US:
        raise ValueError(said)
    return at


def _of_number(said: float) -> int:
    if abs(said) < MOST_SECONDS:
        return round(said * US_PER_S)
    return round(said * 1_000) if abs(said) < MOST_MILLISECONDS else round(said)


def _of_text(said: str) -> int:
    if _YEAR.search(said) is None:
        raise ValueError(said)
    for form in FORMS:
        try:
            moment = datetime.strptime(said, form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
        return round(moment.timestamp()) * US_PER_S
    try:
        return parse_iso(said)
    except MemtapeError:
        raise ValueError(said) from None
