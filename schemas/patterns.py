"""Regular expressions compiled at their first use.

Python compiles an expression in each process again, a long one for some milliseconds. A hook is a process at
each prompt, and uses few of the expressions of its modules.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Lazy:
    """A stand-in for a compiled expression, which compiles at the first use of a method."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return method


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return an expression that is compiled at its first use; errors in the pattern are raised then."""
    return cast("re.Pattern[str]", _Lazy(pattern, flags))
