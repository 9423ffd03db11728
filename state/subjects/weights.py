"""The worth of a memory: its importance, reduced by the days since its last capture.

A session's start and the vault's pages sort by it. The choice of memories to show is made elsewhere.
"""

from __future__ import annotations

from decimal import Context as Arithmetic
from decimal import Decimal
from functools import cache

from memtape.schemas.times import DAY_US

FULL_AGE_DAYS, OLDEST_WORTH = 180, 500
"""Recency falls by days of 180, from a thousand to no less than half of it."""
MOST_CONFIRMATIONS = 9
"""Ten times said is the most that confirmations are worth."""
_ARITHMETIC = Arithmetic(prec=18)


@cache
def importance_confirmed(confirmations: int) -> int:
    """Return the importance of a memory in thousandths: 500, and up to 250 by the logarithm of its confirmations."""
    said = Decimal(1 + min(confirmations, MOST_CONFIRMATIONS))
    ratio = _ARITHMETIC.divide(_ARITHMETIC.ln(said), _ARITHMETIC.ln(Decimal(1 + MOST_CONFIRMATIONS)))
    return 500 + int(_ARITHMETIC.multiply(Decimal(250), ratio))


def importance(given: int | None, confirmations: int) -> int:
    """Return the importance of a memory in thousandths: the given importance, else by its confirmations."""
    return importance_confirmed(confirmations) if given is None else given * 10


def worth(importance: int, last_at: int, now: int) -> int:
    """Return the worth of a memory, in millionths, at a time in microseconds: it falls with age."""
    days = max(0, now - last_at) // DAY_US
    return importance * max(OLDEST_WORTH, 1_000 - days * 1_000 // FULL_AGE_DAYS)
