"""Quantised vectors are exact: the rounding of real numbers, within the bound that keeps float32 products exact."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memtape.schemas.events import MAX_DIMENSIONS
from memtape.state.vectors.recorded import quantised

COMPONENTS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-9, 9).map(float), st.just(0.0)
)
VECTORS = (
    st.lists(COMPONENTS, min_size=1, max_size=40).filter(any).map(lambda values: np.array(values, dtype=np.float32))
)
SEEDS = st.integers(0, 2**32 - 1)


def integers(data: bytes) -> list[int]:
    return [int(value) for value in np.frombuffer(data, dtype="<i2")]


def rounded_in_fractions(vector: NDArray[np.float32]) -> list[int]:
    """Round 4,000 x / |v| half to even in rational numbers alone: the slow definition of what is tested."""
    exact = [Fraction(float(value)) for value in vector]
    square = sum(value * value for value in exact)
    result = []
    for value in exact:
        target = 16_000_000 * value * value / square
        low = isqrt(int(target))
        half = Fraction(2 * low + 1, 2) ** 2
        size = low + (target > half or (target == half and low % 2 == 1))
        result.append(int(size) if value > 0 else -int(size))
    return result


def test_a_tie_goes_to_the_even_neighbour() -> None:
    # The length is 64 and 4,000 / 64 = 62.5, so every component is a tie.
    vector = np.zeros(4096, dtype=np.float32)
    vector[:] = [1, -1] * 2048
    assert set(integers(quantised(vector))) == {62, -62}


@given(VECTORS, st.integers(-6, 6), SEEDS)
def test_quantising_is_the_rounding_of_real_numbers_of_the_direction_alone(
    vector: NDArray[np.float32], power: int, seed: int
) -> None:
    whole = np.array(vector, dtype=np.float64)
    scaled = np.ldexp(whole, power).astype(np.float32)
    values = integers(quantised(vector))
    assert values == rounded_in_fractions(vector)
    if (np.ldexp(scaled.astype(np.float64), -power) == whole).all():
        assert integers(quantised(scaled)) == values
    assert integers(quantised(-vector)) == [-value for value in values]
    order = np.random.default_rng(seed).permutation(vector.size)
    assert integers(quantised(vector[order])) == [values[place] for place in order]


@pytest.mark.parametrize("dimensions", [1, 384, 1536, 3072, MAX_DIMENSIONS])
@given(seed=SEEDS)
def test_sums_of_squares_and_float32_products_stay_exact(dimensions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (random.choice([-1.0, 1.0], dimensions) + random.normal(size=dimensions) / 99 for _ in range(2))
    data = [quantised(vector.astype(np.float32)) for vector in (a, b)]
    whole = [np.frombuffer(part, dtype="<i2").astype(np.int64) for part in data]
    assert all(int(np.square(values).sum()) < 2**24 for values in whole) and isqrt(MAX_DIMENSIONS) + 1 < 192
    assert int(np.abs(whole[0] * whole[1]).sum()) < 2**24, "some order of summing would leave the integers of float32"
    assert int(whole[0].astype(np.float32) @ whole[1].astype(np.float32)) == int(whole[0] @ whole[1])


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=384).filter(any))
def test_equal_directions_have_equal_bytes(values: list[int]) -> None:
    assert quantised(np.array(values, dtype=np.float32)) == quantised(3 * np.array(values, dtype=np.float32))


@pytest.mark.parametrize(
    "vector", [[], [0.0, -0.0], [float("nan"), 1.0], [float("inf")], [[1.0, 2.0]], [1.0] * (MAX_DIMENSIONS + 1)]
)
def test_what_has_no_direction_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError):
        quantised(np.array(vector, dtype=np.float32))
