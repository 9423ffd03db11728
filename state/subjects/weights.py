"""Worths that time reduces, in integers, the same on every machine: of uses by decay, of memories by age.

Amounts are stored with their time, and readers decay them in one step, so that nothing is rounded twice and
no tick or read rewrites anything. The choice of memories to show is made elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache

from memtape.schemas.ids import digest_of
from memtape.schemas.times import DAY_US

ONE = 1_000_000_000  # One use, in billionths, the unit of stored weights.
HALF_LIFE_US = 3 * DAY_US
HOT_WINDOW_US = 18 * DAY_US
"""Uses older than six half-lives no longer count for how hot something is."""
FULL_AGE_DAYS, OLDEST_WORTH = 180, 500
"""Recency falls by days of 180, from a thousand to no less than half of it."""
MOST_CONFIRMATIONS = 9  # Ten times said is the most that confirmations are worth.
EXACT = Context(prec=18, rounding=ROUND_HALF_EVEN)
"""Arithmetic whose `ln` and `exp` round correctly everywhere, unlike those of `math`."""
_LN_2 = Decimal("0.693147180559945309")


def rounded_share(amount: int, share: Decimal) -> int:
    """Return the share of an amount, rounded half to even."""
    return int(EXACT.multiply(Decimal(amount), share).to_integral_value(ROUND_HALF_EVEN, EXACT))


@cache
def importance_confirmed(confirmations: int) -> int:
    """Return the importance of a memory in thousandths: 500, and up to 250 by the log of confirmations."""
    said = Decimal(1 + min(confirmations, MOST_CONFIRMATIONS))
    ratio = EXACT.divide(EXACT.ln(said), EXACT.ln(Decimal(1 + MOST_CONFIRMATIONS)))
    return 500 + int(EXACT.multiply(Decimal(250), ratio))


def importance(given: int | None, confirmations: int) -> int:
    """Return the importance of a memory in thousandths: the given importance, else by its confirmations."""
    return importance_confirmed(confirmations) if given is None else given * 10


def worth(importance: int, last_at: int, now: int) -> int:
    """Return the worth of a memory, in millionths, at a time in microseconds: it falls with age."""
    days = max(0, now - last_at) // DAY_US
    return importance * max(OLDEST_WORTH, 1_000 - days * 1_000 // FULL_AGE_DAYS)


def decayed(amount: int, age_us: int) -> int:
    """Return the worth of `amount` after `age_us`, halved every three days; before its time it is whole."""
    if age_us <= 0 or not amount:
        return amount
    exponent = EXACT.divide(EXACT.multiply(_LN_2, Decimal(age_us)), Decimal(HALF_LIFE_US))
    return rounded_share(amount, EXACT.exp(EXACT.minus(exponent)))


def hot(uses: Sequence[int], now: int) -> int:
    """Return how hot something is that was used at these times, in billionths of one use just now.

    A use counts half after three days and nothing after eighteen. Pass the times of all members of a memory.
    """
    return sum(decayed(ONE, now - at) for at in uses if now - at <= HOT_WINDOW_US)


def times_of(ids: Iterable[str], times_by_row: Mapping[str, Sequence[int]], *, own: bool) -> list[int]:
    """Return the times of use of these captured ids, for `hot`; for a memory pass all its ids.

    `times_by_row` are those of a scope's rows of uses. `own` says that the ids are the scope's, else they are
    of `global`.
    """
    return [at for id in ids for at in times_by_row.get(id if own else other_row_id(id), ())]


def other_row_id(id: str) -> str:
    """Return the row id of an id without a capture in the scope: a digest, which hides the id."""
    return f"other:{digest_of(id.encode())}"
