"""The lexical floor: a vector of hashed terms without a model, and exact integer search for the nearest.

The vector is a pure function of the text, computed here at once and without an event. `fold` decides the
effect of similarity on folding.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384
SCALE = 4_000
SIMILARITY_ONE = 10_000


class Vector(NamedTuple):
    """A sparse quantised vector: the unit vector x 4,000, rounded half to even, and its sum of squares."""

    dims: NDArray[np.intp]
    values: NDArray[np.int16]
    square: int


def floor_sums(tokens: tuple[str, ...]) -> Counter[int]:
    """Return the sum of signs at each dimension that a token has; some may be 0."""
    sums: Counter[int] = Counter()
    for token in tokens:
        dim, sign = _place(token)
        sums[dim] += sign
    return sums


def floor_vector(tokens: tuple[str, ...]) -> Vector:
    """Return the vector of a sequence of tokens; all zeros for none.

    Each token adds its sign at its dimension (feature hashing, Weinberger et al. 2009). A component is
    `SCALE * sum / norm`, rounded in integers, so that no rounding mode or CPU can change it.
    """
    sums = floor_sums(tokens)
    norm_square = sum(value * value for value in sums.values())
    dims = sorted(dim for dim, value in sums.items() if value)
    values = [round_ratio(SCALE * sums[dim], norm_square) for dim in dims]
    return Vector(
        np.array(dims, dtype=np.intp), np.array(values, dtype=np.int16), sum(value * value for value in values)
    )


def similarity(dot: int, square_a: int, square_b: int) -> int:
    """Return the cosine in ten-thousandths, rounded down; 0 if not positive."""
    if dot <= 0:
        return 0
    return min(SIMILARITY_ONE, isqrt(dot * dot * SIMILARITY_ONE**2 // (square_a * square_b)))


def in_order(
    places: NDArray[np.intp], dots: NDArray[np.int64], squares: NDArray[np.int64], orders: NDArray[np.int64]
) -> NDArray[np.intp]:
    """Return places with the most similar first, and among equals the lowest order; each array is over all places."""
    nearness = dots[places] * dots[places] // squares[places]
    return places[np.lexsort((orders[places], -nearness))]


class Columns:
    """Vectors of named things, searched exactly for all sufficiently similar ones.

    Dots are float32 products of integers whose sums stay below 2^24, hence exact in any order. A query
    touches only its own dimensions, so that 10,000 vectors cost some 100 microseconds.
    """

    def __init__(self) -> None:
        self._names: list[int] = []
        self._orders = np.zeros(64, dtype=np.int64)
        self._column_of: dict[int, int] = {}
        self._free: list[int] = []
        self._matrix = np.zeros((DIMENSIONS, 64), dtype=np.float32)
        self._squares = np.zeros(64, dtype=np.int64)

    def put(self, name: int, vector: Vector, order: int) -> None:
        """Store the vector of `name`, replacing an older one. Among equals the lowest `order` comes first."""
        self.drop(name)
        column = self._free.pop() if self._free else self._grow()
        self._names[column] = name
        self._column_of[name] = column
        self._matrix[vector.dims, column] = vector.values
        self._squares[column] = vector.square
        self._orders[column] = order

    def vector_of(self, name: int) -> Vector:
        """Return the vector of a stored `name`."""
        column = self._column_of[name]
        dims = np.flatnonzero(self._matrix[:, column])
        return Vector(dims, self._matrix[dims, column].astype(np.int16), int(self._squares[column]))

    def reorder(self, name: int, order: int) -> None:
        """Change the order of `name` among equals."""
        self._orders[self._column_of[name]] = order

    def drop(self, name: int) -> None:
        """Remove `name`, if present."""
        column = self._column_of.pop(name, None)
        if column is not None:
            self._matrix[:, column] = 0
            self._squares[column] = 0
            self._free.append(column)

    def nearest(self, vector: Vector, cosine_hundredths: int, most: int) -> list[tuple[int, int]]:
        """Return the `most` names with a cosine from the threshold on, each with the cosine x 10,000.

        Decided in integers: dot > 0 and dot^2 * 10^4 >= T^2 * |a|^2 * |b|^2, which fits 64 bits. The greatest
        dot^2 // |b|^2 comes first, which has 24 bits, and among equals the lowest order.
        """
        count = len(self._names)
        if not count or not vector.square:
            return []
        dots = (vector.values.astype(np.float32) @ self._matrix[vector.dims, :count]).astype(np.int64)
        squares = self._squares[:count]
        reaching = np.flatnonzero(
            (dots > 0) & (dots * dots * 10_000 >= squares * (cosine_hundredths**2 * vector.square))
        )
        first = in_order(reaching, dots, squares, self._orders)[:most].tolist()
        return [
            (self._names[column], similarity(int(dots[column]), vector.square, int(squares[column])))
            for column in first
        ]

    def _grow(self) -> int:
        column = len(self._names)
        if column == self._matrix.shape[1]:
            matrix = np.zeros((DIMENSIONS, 2 * column), dtype=np.float32)
            matrix[:, :column] = self._matrix
            self._matrix = matrix
            self._squares = np.concatenate([self._squares, np.zeros(column, dtype=np.int64)])
            self._orders = np.concatenate([self._orders, np.zeros(column, dtype=np.int64)])
        self._names.append(0)
        return column


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
