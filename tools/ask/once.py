"""What was worked out of something that stays as it is, kept so that nobody works it out again.

It goes with what it was worked out of. Nothing here knows what that is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class Once:
    """The last result under each name, with all that it was asked with beside what this stands by."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[object, Any]] = {}

    def of(self, name: str, asked: object, make: Callable[[], ResultT]) -> ResultT:
        """Return what `make` makes, or what it made when it was asked the same the last time; nobody changes it.

        `asked` are values that are equal where they mean the same; an object that only equals itself is one.
        """
        kept = self._kept.get(name)
        if kept is None or kept[0] != asked:
            kept = self._kept[name] = asked, make()
        result: ResultT = kept[1]
        return result
