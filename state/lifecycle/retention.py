"""When the retention of a text falls to a limit, and the importance of a text.

The weights and limits are those of capability L2. `state/subjects/lifecycle.py` decides the moves of texts.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from memtape.schemas.times import DAY_US
from memtape.state.subjects.weights import EXACT, rounded_share
from memtape.state.text.reading import Reading

RECENCY, ACCESS, IMPORTANCE, MEDIA, PINNED = 350_000, 300_000, 250_000, 100_000, 300_000
"""The weight of each part, in millionths."""
RECENT_US = 180 * DAY_US
"""What has not been said or used for so long is not recent at all; until then recency falls in a line."""
WITH_MEDIA, WITHOUT_MEDIA = 70, 25
"""What a text with media, and one without, has of the part for media, in hundredths."""
MOST_ACCESSES = 9
KEYWORDS_FOR_ALL = 4
"""So many different keywords are worth as much as the greatest importance that can be given."""

_KEYWORDS = re.compile(
    r"(?<!\w)(deadline|todo|urgent|risk|decision|blocker|meeting|action item|milestone|bug|incident"
    r"|follow[ -]up)s?(?!\w)",
    re.IGNORECASE,
)

_SHARES = (EXACT.divide(EXACT.ln(Decimal(1 + n)), EXACT.ln(Decimal(10))) for n in range(MOST_ACCESSES + 1))
ACCESSES = tuple(rounded_share(ACCESS, share) for share in _SHARES)
"""What access counts, 0.30 ln(1 + n) / ln 10, by how often a text was used or said again."""


class RetentionInputs(NamedTuple):
    """The inputs of retention.

    `last` is the time of the last capture or use, in microseconds, from which recency is counted. `accesses`
    counts uses and confirmations. `importance` is in hundredths.
    """

    last: int
    accesses: int
    importance: int
    has_media: bool
    is_pinned: bool


def falls_at(kept: RetentionInputs, limit: int) -> int | None:
    """Return from when on retention is at most a limit, in microseconds; None if time alone does not do it.

    `limit` is in millionths. Retention is the sum of recency and of parts that time does not change.
    """
    others = (
        ACCESSES[min(kept.accesses, MOST_ACCESSES)]
        + IMPORTANCE * kept.importance // 100
        + MEDIA * (WITH_MEDIA if kept.has_media else WITHOUT_MEDIA) // 100
        + PINNED * kept.is_pinned
    )
    if others > limit:
        return None
    return kept.last + max(0, -(-RECENT_US * (RECENCY - limit + others) // RECENCY))


def importance_of(given: int | None, reading: Reading) -> int:
    """Return the importance of a text, in hundredths: as given, or by its keywords if higher."""
    named = {found.lower().replace("-", " ") for found in _KEYWORDS.findall(reading.text)}
    return max(given or 0, 100 * min(len(named), KEYWORDS_FOR_ALL) // KEYWORDS_FOR_ALL)
