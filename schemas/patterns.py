"""Regular expressions compiled at their first use.

Python compiles an expression in each process again, a long one for some milliseconds. A hook is a process at
each prompt, and uses few of the expressions of its modules.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast


class _Lazy:
    """A stand-in for a compiled expression, which compiles at the first use of a method."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return method


lazy = cast("Callable[..., re.Pattern[str]]", _Lazy)
"""Makes an expression of a pattern and flags; errors in the pattern are raised at the first use."""
