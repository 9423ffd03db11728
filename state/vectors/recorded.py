"""Dense vectors as recorded: the check of a vector, and its quantised form in bytes and back.

A vector is recorded as its unit vector x 4,000 in little-endian int16. Which texts have one, and the meaning
of similarity, are decided elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.events import MAX_DIMENSIONS
from memtape.state.vectors.floor import SCALE, round_ratio

# Rounding moves a component by at most 1/2, so a sum of squares is at most (4,000 + sqrt(n) / 2)^2, which stays below
# 2^24 up to 36,863 dimensions. By Cauchy and Schwarz no sum of products of two vectors, in part or whole, is greater.

# Double precision knows a component to about 1e-8 at that many dimensions; nearer to a tie it is decided exactly.
_TIE_MARGIN = np.ldexp(1, -16)


def vector_fault(vector: NDArray[np.float32], dimensions: int) -> str:
    """Return the reason why this is no vector of `dimensions`, in a few words; empty for a valid one."""
    if vector.ndim != 1 or vector.size != dimensions:
        shape = " x ".join(str(length) for length in vector.shape) or "no"
        return f"the vector has {shape} dimensions instead of {dimensions}"
    if not np.isfinite(vector).all():
        return "the vector holds NaN or infinity"
    if not vector.any():
        return "the vector is all zeros"
    return ""


def quantised(vector: NDArray[np.float32]) -> bytes:
    """Return the unit vector of `vector` x 4,000, rounded half to even, as little-endian int16.

    There are 2 bytes a dimension. The rounding is that of real numbers, so no order of summing, CPU or scale
    changes it. Its sum of squares is below 2^24. Raises `ValueError` for a vector without direction (empty,
    all zeros, NaN, infinity) or over 32,768 dimensions.
    """
    exact = np.asarray(vector, dtype=np.float32)
    if not 0 < exact.size <= MAX_DIMENSIONS:
        raise ValueError(f"a vector has 1 to {MAX_DIMENSIONS:,} dimensions")
    fault = vector_fault(exact, exact.size)
    if fault:
        raise ValueError(fault)
    # A power of two moves the greatest component near 1 and changes no digit of any that is large enough to count.
    doubles = exact.astype(np.float64)
    doubles = np.ldexp(doubles, -np.frexp(np.abs(doubles).max())[1])
    scaled = doubles * (SCALE / np.sqrt(np.square(doubles).sum()))
    rounded = np.rint(scaled)
    near = np.flatnonzero(np.abs(np.abs(scaled - np.trunc(scaled)) * 2 - 1) < _TIE_MARGIN)
    if near.size:
        numerators = _integers(doubles)
        square = sum(numerator * numerator for numerator in numerators)
        for dim in near.tolist():
            rounded[dim] = round_ratio(SCALE * numerators[dim], square)
    data: bytes = rounded.astype("<i2").tobytes()
    return data


def recorded(vector: bytes) -> NDArray[np.float32]:
    """Return the components of a recorded vector, whole numbers in float32, shape (dimensions,)."""
    return np.frombuffer(vector, dtype="<i2").astype(np.float32)


def _integers(doubles: NDArray[np.float64]) -> list[int]:
    """Return integers in exactly the same ratios as these numbers."""
    ratios = [number.as_integer_ratio() for number in doubles.tolist()]
    common = max(denominator for _, denominator in ratios)
    return [numerator * (common // denominator) for numerator, denominator in ratios]
