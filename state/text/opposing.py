"""Whether one of two texts denies what the other says, in the same words but for that. English, and no more than that:
what only resembles another text opposes nothing.
"""

from __future__ import annotations

import re

from memtape.schemas.patterns import lazy
from memtape.state.text import slots
from memtape.state.text.terms import terms

LEAST_SHARED = 2
"""So many terms say the same, so that there is a thing of which something is denied."""
_DENIES = lazy(slots.DENIES, re.IGNORECASE)
_DENYING = frozenset(("never", "not", "no", "cannot"))


def oppose(one: str, other: str) -> bool:
    """Whether exactly one of two texts denies, and both say the same besides."""
    if "?" in one or "?" in other or bool(_DENIES.search(one)) is bool(_DENIES.search(other)):
        return False
    first, second = _said(one), _said(other)
    return first == second and len(first) >= LEAST_SHARED


def _said(text: str) -> list[str]:
    return [term for term in terms(text) if term not in _DENYING]
