"""What confirmations are worth. How a context or a page weighs that against all else is not here."""

from __future__ import annotations

from decimal import Context as Arithmetic
from decimal import Decimal
from functools import cache

MOST_CONFIRMATIONS = 9
"""Ten times said is the most that confirmations are worth."""
_ARITHMETIC = Arithmetic(prec=18)


@cache
def importance_confirmed(confirmations: int) -> int:
    """Return the importance of a memory in thousandths: 500, and up to 250 by the logarithm of its confirmations."""
    said = Decimal(1 + min(confirmations, MOST_CONFIRMATIONS))
    ratio = _ARITHMETIC.divide(_ARITHMETIC.ln(said), _ARITHMETIC.ln(Decimal(1 + MOST_CONFIRMATIONS)))
    return 500 + int(_ARITHMETIC.multiply(Decimal(250), ratio))
