"""Decay: the worth of an amount after a time, in integers, the same on every machine.

Amounts are stored with their time, and readers decay them in one step, so that nothing is rounded twice and
no tick or read rewrites anything.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from memtape.schemas.times import DAY_US

ONE = 1_000_000_000
"""One use, in billionths, the unit of stored weights."""
HALF_LIFE_US = 3 * DAY_US

_CONTEXT = Context(prec=18, rounding=ROUND_HALF_EVEN)
_LN_2 = Decimal("0.693147180559945309")


def decayed(amount: int, age_us: int) -> int:
    """Return the worth of `amount` after `age_us`, halved every three days; before its time it is whole.

    `Decimal.exp` rounds correctly everywhere, unlike the exponentials of `math`.
    """
    if age_us <= 0 or not amount:
        return amount
    exponent = _CONTEXT.divide(_CONTEXT.multiply(_LN_2, Decimal(age_us)), Decimal(HALF_LIFE_US))
    factor = _CONTEXT.exp(_CONTEXT.minus(exponent))
    return int(_CONTEXT.multiply(Decimal(amount), factor).to_integral_value(ROUND_HALF_EVEN, _CONTEXT))
