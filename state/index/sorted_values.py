"""Distinct values of arrays: `numpy.unique` and `numpy.isin` import masked arrays, which costs a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return each value once, ascending."""
    ordered = np.sort(values)
    return ordered[firsts(ordered)]


def firsts(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which of some values in ascending order are the first of their kind."""
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return first


def numbered(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return each value once, ascending, and the place of each of the values there."""
    known = distinct(values)
    return known, np.searchsorted(known, values)


def run_of(ordered: NDArray[Any], value: int) -> slice:
    """Return the places of a number among numbers in ascending order."""
    number = ordered.dtype.type(value)
    start = int(ordered.searchsorted(number))
    if start == len(ordered) or ordered[start] != number:
        return slice(start, start)
    return slice(start, int(ordered.searchsorted(number, "right")))


def is_one_of(values: NDArray[Any], known: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the `values` found in `known`."""
    return stands(np.sort(known), values)


def stands(ordered: NDArray[Any], values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the values found among values in ascending order."""
    if not len(ordered):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    found: NDArray[np.bool_] = ordered[places] == values
    return found
