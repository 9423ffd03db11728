"""Vectors: dense ones as recorded, their similarity, and the lexical floor, which has no model.

A vector is recorded as its unit vector x 2,000 in little-endian int16. The floor hashes terms. Everything is
exact in integers. Which texts have a vector is decided elsewhere.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from math import isqrt
from typing import TYPE_CHECKING

from memtape.schemas.events import MAX_DIMENSIONS
from memtape.state.text.normal import content_key

if TYPE_CHECKING:  # Whoever folds by words alone has no time for numpy.
    import numpy as np
    from numpy.typing import NDArray

DIMENSIONS = 384  # Of the floor.
SCALE = 2_000
SIMILARITY_ONE = 10_000

# Rounding moves a component by at most 1/2, so a sum of squares is at most (2,000 + sqrt(n) / 2)^2, which is
# below 2^22 up to 9,215 dimensions. By Cauchy and Schwarz no sum of products of two vectors is greater. So
# float32 has all sums exactly. No component reaches 2,048, so float16 has all components exactly.

# Double precision knows a component to about 1e-8 at that many dimensions; a nearer tie is decided exactly.
_TIE_BITS = -16


def vector_fault(vector: NDArray[np.float32], dimensions: int) -> str:
    """Return the reason why this is no vector of `dimensions`, in a few words; empty for a valid one."""
    import numpy as np

    if vector.ndim != 1 or vector.size != dimensions:
        shape = " x ".join(str(length) for length in vector.shape) or "no"
        return f"the vector has {shape} dimensions instead of {dimensions}"
    if not np.isfinite(vector).all():
        return "the vector holds NaN or infinity"
    if not vector.any():
        return "the vector is all zeros"
    return ""


def quantised(vector: NDArray[np.float32]) -> bytes:
    """Return the unit vector of `vector` x 2,000, rounded half to even, as little-endian int16.

    There are 2 bytes a dimension. The rounding is that of real numbers, so no order of summing, CPU or scale
    changes it. Its sum of squares is below 2^22. Raises `ValueError` for a vector without direction (empty,
    all zeros, NaN, infinity) or over 8,192 dimensions.
    """
    import numpy as np

    exact = np.asarray(vector, dtype=np.float32)
    if not 0 < exact.size <= MAX_DIMENSIONS:
        raise ValueError(f"a vector has 1 to {MAX_DIMENSIONS:,} dimensions")
    fault = vector_fault(exact, exact.size)
    if fault:
        raise ValueError(fault)
    # A power of two moves the greatest component near 1 and changes no digit of a component that counts.
    doubles = exact.astype(np.float64)
    doubles = np.ldexp(doubles, -np.frexp(np.abs(doubles).max())[1])
    scaled = doubles * (SCALE / np.sqrt(np.square(doubles).sum()))
    rounded = np.rint(scaled)
    near = np.flatnonzero(np.abs(np.abs(scaled - np.trunc(scaled)) * 2 - 1) < np.ldexp(1, _TIE_BITS))
    if near.size:
        ratios = [number.as_integer_ratio() for number in doubles.tolist()]
        common = max(denominator for _, denominator in ratios)  # Integers in exactly the same ratios.
        numerators = [numerator * (common // denominator) for numerator, denominator in ratios]
        square = sum(numerator * numerator for numerator in numerators)
        for dim in near.tolist():
            rounded[dim] = _round_ratio(SCALE * numerators[dim], square)
    data: bytes = rounded.astype("<i2").tobytes()
    return data


def recorded(vector: bytes) -> NDArray[np.float32]:
    """Return the components of a recorded vector, whole numbers in float32, shape (dimensions,)."""
    import numpy as np

    return np.frombuffer(vector, dtype="<i2").astype(np.float32)


def _round_ratio(numerator: int, square: int) -> int:
    """Return `numerator / sqrt(square)`, rounded half to even."""
    doubled_square = 4 * numerator * numerator
    doubled = isqrt(doubled_square // square)
    rounded = (doubled + 1) // 2
    if doubled % 2 and doubled * doubled * square == doubled_square and rounded % 2:
        rounded -= 1
    return rounded if numerator > 0 else -rounded


def similarity(dot: int, square_a: int, square_b: int) -> int:
    """Return the cosine in ten-thousandths, rounded down; 0 if not positive."""
    if dot <= 0:
        return 0
    return min(SIMILARITY_ONE, isqrt(dot * dot * SIMILARITY_ONE**2 // (square_a * square_b)))


def floor_vector(text: str) -> NDArray[np.float32]:
    """Return the sum of a text's tokens' signs at each dimension, shape (384,); all may be 0."""
    import numpy as np

    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    for dim, sign in map(_place, content_key(text)):
        vector[dim] += sign
    return vector


@lru_cache(maxsize=65_536)
def _place(token: str) -> tuple[int, int]:
    hashed = int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return hashed % DIMENSIONS, 1 if hashed >> 63 else -1
