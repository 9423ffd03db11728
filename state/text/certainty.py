"""The certainty of a learned rule: its sum of whole numbers as a probability, equal on every machine."""

from __future__ import annotations

from decimal import Context, Decimal

CERTAIN = 10_000
_EXACT = Context(prec=12)


def certainty_of(margin: int) -> int:
    """Return the logistic function of a margin, both in ten-thousandths."""
    odds = _EXACT.exp(Decimal(-margin).scaleb(-4))
    return int(_EXACT.divide(Decimal(CERTAIN), 1 + odds))
