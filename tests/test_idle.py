"""An idle tick looks at nothing of a scope, however much the scope holds."""

from __future__ import annotations

from typing import Any

import pytest
from builders import START, captured, configured, pinned, slots
from soaked import soaked

from memtape.schemas.events import Event, make_tick
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.subjects import lifecycle

TEXTS = 6_000
FEW = 2_000
"""Of so many texts some are memories, since folding twenty thousand of them takes minutes."""


def said(count: int, kinds: tuple[str, ...]) -> list[Event]:
    """Texts of a year: some that move on in groups, some that wait for others, and some that are pinned."""
    events: list[Event] = []
    for number in range(count):
        at = START - number // 50 * 365 // (count // 50) * DAY_US
        session = f"alone {number}" if number % 7 == 0 else "s1"
        kind = kinds[number % len(kinds)]
        events.append(captured(f"Watch {number} saw boat {number}.", number, kind, at=at, session=session))
    return [*events, pinned(list(range(0, count, 50)), "pins")]


def ticks(partition: Partition, hours: int) -> list[int]:
    """Return how many rows each of so many hours touched."""
    start = partition.clock
    assert start is not None
    hour = (start // HOUR_US + 1) * HOUR_US
    return [
        len(fold(partition, slots([make_tick(0, hour + n * HOUR_US)], start=partition.offset)).changes)
        for n in range(hours)
    ]


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note the units at which a pass looks from now on."""
    units: list[int] = []
    step_of = lifecycle.step_of

    def noted(state: Any, unit: int, context: Any) -> Any:
        units.append(unit)
        return step_of(state, unit, context)

    monkeypatch.setattr(lifecycle, "step_of", noted)
    return units


HOW = ("after a pass", "after a restore")
LIVES = [
    (count, kinds, how) for count, kinds in ((TEXTS, ("turn",)), (FEW, ("turn", "fact", "journal"))) for how in HOW
]


@pytest.mark.parametrize(("count", "kinds", "how"), soaked(LIVES, LIVES[2], LIVES[3]))
def test_an_idle_tick_looks_at_nothing(
    count: int, kinds: tuple[str, ...], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = Partition(0)
    fold(partition, slots([configured(), *said(count, kinds)]))
    while any(touched := ticks(partition, 1)):
        assert touched[0] < count
    mark = partition.scopes["project:test"].lifecycle.mark()
    assert min(mark.mid, mark.long, mark.summaries) > 0 and mark.mid + mark.long < count
    if how == "after a restore":
        partition = restore(snapshot(partition))
        assert ticks(partition, 1) == [0]
    units = looked_at(monkeypatch)
    assert ticks(partition, 3) == [0, 0, 0]
    assert units == []
