"""Which cases of a test are for `make soak`, which `make test` runs too, and how many examples a law gets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def soaked(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return the cases of a test as parameters, of which all but those kept are left to `make soak`."""
    listed = list(cases)
    assert kept and all(case in listed for case in kept), kept
    rest = (case if isinstance(case, tuple) else (case,) for case in listed if case not in kept)
    return [*kept, *(pytest.param(*case, marks=[pytest.mark.slow, pytest.mark.soak]) for case in rest)]


def examples(short: int) -> settings:
    """Give a law so many examples in `make test`; where a soak gives all laws more, this one has them too."""
    drawn, fixed = settings().max_examples, settings.get_profile("fixed").max_examples
    return settings(max_examples=short if drawn == fixed else max(short, drawn))
