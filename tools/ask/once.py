"""A one-entry memo per name, for results derived from an immutable object.

The memo belongs to the object and dies with it. The memo does not know the object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class Once:
    """The last result under each name, with the arguments of its making besides the immutable object."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Any]] = {}

    def of(self, name: str, asked: object, make: Callable[[], ResultT]) -> ResultT:
        """Return the result of `make`, or its last result if `asked` is equal; callers must not change the
        result.

        `asked` is any value whose equality means the same question; an object with identity equality will do.
        """
        kept = self._kept.get(name)
        if kept is None or kept[0] != asked:
            kept = self._kept[name] = asked, make()
        result: ResultT = kept[1]
        return result
