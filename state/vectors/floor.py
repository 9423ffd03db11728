"""The lexical floor: a vector of hashed terms without a model, in exact integers.

The vector is a pure function of the text.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from math import isqrt

DIMENSIONS = 384
SCALE = 4_000
SIMILARITY_ONE = 10_000


def floor_sums(tokens: tuple[str, ...]) -> Counter[int]:
    """Return the sum of signs at each dimension that a token has; some may be 0."""
    sums: Counter[int] = Counter()
    for token in tokens:
        dim, sign = _place(token)
        sums[dim] += sign
    return sums


def similarity(dot: int, square_a: int, square_b: int) -> int:
    """Return the cosine in ten-thousandths, rounded down; 0 if not positive."""
    if dot <= 0:
        return 0
    return min(SIMILARITY_ONE, isqrt(dot * dot * SIMILARITY_ONE**2 // (square_a * square_b)))


@lru_cache(maxsize=65_536)
def _place(token: str) -> tuple[int, int]:
    hashed = int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return hashed % DIMENSIONS, 1 if hashed >> 63 else -1


def round_ratio(numerator: int, square: int) -> int:
    """Return `numerator / sqrt(square)`, rounded half to even."""
    doubled_square = 4 * numerator * numerator
    doubled = isqrt(doubled_square // square)
    rounded = (doubled + 1) // 2
    if doubled % 2 and doubled * doubled * square == doubled_square and rounded % 2:
        rounded -= 1
    return rounded if numerator > 0 else -rounded
