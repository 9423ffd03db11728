"""Which cases of a test are for `make soak`, and which of them `make test` runs too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def soaked(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return the cases of a test as parameters, of which all but those kept are left to `make soak`."""
    listed = list(cases)
    assert kept and all(case in listed for case in kept), kept
    rest = (case if isinstance(case, tuple) else (case,) for case in listed if case not in kept)
    return [*kept, *(pytest.param(*case, marks=[pytest.mark.slow, pytest.mark.soak]) for case in rest)]
