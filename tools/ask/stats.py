"""Daily counts of a memory: captures, searches with and without results, uses, and folds.

The counts come from the times of appending on the log, and from the memories of the views. They hold no text.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.events import Captured, Event, Recalled
from memtape.schemas.lanes import shadow_of, unasked_by
from memtape.schemas.log import Log
from memtape.schemas.rows import MemoryRow
from memtape.schemas.times import DAY_US, format_day
from memtape.state.subjects.captures import FAMILIES
from memtape.tools.ask.retrieval import Retriever

TYPES = ("captured", "recalled", "used")
PAGE_SLOTS = 2_000
JOINED = ("same", "similar", "echo", "decided")
"""How a capture became part of a memory that was there."""


class DayStats(msgspec.Struct, kw_only=True):
    """A day of UTC, by the times of appending.

    `turns`, `documents` (pages too) and `long_term` are captures by kind, of which `folded` joined an
    existing memory. `searches` are requested searches, of which `empty` found nothing; `given` are starts and
    prompts with unasked context. `used` counts reported and observed uses of results.
    """

    day: str
    turns: int = 0
    documents: int = 0
    long_term: int = 0
    folded: int = 0
    searches: int = 0
    empty: int = 0
    given: int = 0
    used: int = 0


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The days from the first to the last, each there; `before` is how many events of all kinds stood before them."""

    scope: str | None
    before: int
    days: tuple[DayStats, ...]


def stats_of(
    log: Log,
    views: Retriever,
    scope: str | None,
    since_us: int,
    now_us: int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Stats:
    """Return daily counts from a time on, in one scope or all; `on_progress` gets slots, done and all."""
    first, last = since_us // DAY_US, now_us // DAY_US
    days = {number: DayStats(day=format_day(number * DAY_US)) for number in range(first, last + 1)}
    ends = log.ends()
    starts = [log.offset_after(number, first * DAY_US - 1) for number in range(log.partitions)]
    total, done = sum(ends) - sum(starts), 0
    captured: dict[str, int] = {}
    for number, (offset, end) in enumerate(zip(starts, ends, strict=True)):
        while slots := log.read(number, offset, PAGE_SLOTS, scope=scope, types=TYPES):
            for slot in slots:
                event = event_of(slot.payload)
                if event is not None and event.body is not None and slot.offset < end:
                    _count(event, days[min(max(event.sent // DAY_US, first), last)], captured)
            on_progress(done + slots[-1].offset - starts[number], total)
            offset = slots[-1].offset + 1
        done += end - starts[number]
        on_progress(done, total)
        for name, opened in views.shard(number).indexes().items() if views.watermark(number) else ():
            if scope in (None, name):
                for row in opened.rows("memories"):
                    if isinstance(row, MemoryRow):
                        _count_folded(row, days, captured)
    return Stats(scope=scope, before=sum(starts), days=tuple(days.values()))


def _count(event: Event, day: DayStats, captured: dict[str, int]) -> None:
    match event.body:
        case Captured(kind="turn"):
            day.turns += 1
        case Captured(kind=kind) if kind in FAMILIES:
            day.long_term += 1
            captured.setdefault(event.id, event.sent // DAY_US)
        case Captured():
            day.documents += 1
        case Recalled(lanes=lanes, results=results):
            if shadow_of(lanes) is not None:
                return
            if unasked_by(lanes) is not None:
                day.given += 1
            else:
                day.searches += 1
                day.empty += not results
        case _:
            day.used += 1


def _count_folded(row: MemoryRow, days: dict[int, DayStats], captured: dict[str, int]) -> None:
    for member in (*row.members, *row.echoes):
        day = captured.pop(member.id, None)
        if day in days and member.how in JOINED:
            days[day].folded += 1
