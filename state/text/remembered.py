"""A cache of results by the digest of a text: a long text takes no more memory than a short one.

A result depends on the text alone, so that caching cannot change an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import TypeVar

ResultT = TypeVar("ResultT")

DIGEST_BYTES = 16


def remembered(most: int) -> Callable[[Callable[[str], ResultT]], Callable[[str], ResultT]]:
    """Return a decorator that caches a pure function's results for the last `most` new texts."""

    def of(make: Callable[[str], ResultT]) -> Callable[[str], ResultT]:
        made: dict[bytes, ResultT] = {}

        @wraps(make)
        def again(text: str) -> ResultT:
            key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
            try:
                return made[key]
            except KeyError:
                result = make(text)
            if len(made) >= most:
                made.pop(next(iter(made), key), None)
            made[key] = result
            return result

        return again

    return of
