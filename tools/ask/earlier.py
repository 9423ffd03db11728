"""A scope's texts at a recent position, from the current index.

Later texts are left out, and texts hidden or archived since then are counted in: words have their earlier
weights. Results are read from the current views alone: `living` has the current place of an earlier text.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.schemas.events import Event
from memtape.schemas.log import Log
from memtape.schemas.rows import MemoryRow, SummaryRow, TurnRow, UseRow
from memtape.schemas.times import HOUR_US
from memtape.sinks.search_index import OpenIndex
from memtape.state.index.entries import ARCHIVED, HIDDEN, SUMMARY
from memtape.state.index.parts import Choice, MaskedSegment
from memtape.state.index.vectors import TextVectors
from memtape.state.views.indexed import row_at
from memtape.tools.ask.found import Said, ScopeTexts, found_of
from memtape.tools.ask.readied import Dense, PreparedTexts, UsageSource, make_ready, tail_of, text_at

CLOCK_LAG_US = 2 * HOUR_US
"""The clock of archiving advances by ticks, and so is up to an hour and the duration of a tick behind."""


class Moment(NamedTuple):
    """The inputs of an earlier question.

    `end` is the offset (exclusive) up to which its partition was read, `mark` the offset of the views and
    vectors, `at` the time in microseconds, and `now` ranking's now.
    """

    end: int
    mark: int
    at: int
    now: int


def earlier(ready: PreparedTexts, log: Log, moment: Moment, dense: Dense | None) -> PreparedTexts:
    """Return the prepared texts as of a moment, with the uses of that time.

    Rows have their current content: a memory repeated or used since then has its current weight.
    """
    opened, partition, mark = ready.found.opened, ready.view.mark.partition, ready.view.mark.offset
    choice = ready.found.choice
    if choice.past is not None and choice.past > moment.at:
        choice = choice._replace(past=None)
    parts, late = _parts_of(opened, choice, moment)
    if dense is not None and ready.vectors is not None:
        before = ready.vectors.before(moment.mark)
        late |= bool((before.known != ready.vectors.known).any())
        dense = _EarlierVectors(dense, moment.mark)
    if late or ready.key.tail or choice != ready.found.choice:
        tail = [] if moment.end <= mark else list(tail_of(log, partition, mark, ready.scope, moment.end))
        found = found_of(opened, tail, partial(text_at, log, partition), ready.found, choice, parts)
        ready = make_ready(ready.key, partition, ready.scope, found, tail, dense)
    if ready.use is None:
        return ready
    hour = moment.now - moment.now % HOUR_US
    return ready._replace(corpus=ready.corpus.with_use(_use_of(ready.use, moment.at).at(hour)))


class _EarlierVectors(NamedTuple):
    """A `Dense` without the vectors appended at or after an offset of the log."""

    dense: Dense
    offset: int

    @property
    def note(self) -> str:
        return self.dense.note

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        return self.dense.of_query(text, embedder)

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        vectors = self.dense.of_texts(found, embedder)
        before = None if vectors is None else vectors.before(self.offset)
        return None if before is None or not before.known.any() else before


def _parts_of(opened: OpenIndex, choice: Choice, moment: Moment) -> tuple[list[MaskedSegment], bool]:
    """Return the segments with masks of the texts shown then, and whether any row was written since."""
    parts, late = opened.parts(choice), False
    for segment, alive, part in zip(opened.segments, opened.living, parts, strict=True):
        size = segment.size
        written = alive[:size] & (segment.offsets[:size] >= moment.end) & (segment.flags & SUMMARY == 0)
        for place in np.flatnonzero(written & (segment.wordings == 0)).tolist():
            row, own = row_at(segment, place), segment.with_wordings(place)
            late = True
            if not isinstance(row, (MemoryRow, TurnRow)):
                continue
            since = ARCHIVED if row.archived_at is not None and row.archived_at > moment.at - CLOCK_LAG_US else 0
            shown = choice.takes(int(segment.flags[place]) & ~(HIDDEN | since), segment.at[place])
            offsets = _offsets_of(row)
            part.shown[own] = bool(shown) and min(offsets.values()) < moment.end
            for other, wording in zip(own[1:], row.wordings if isinstance(row, MemoryRow) else (), strict=True):
                part.shown[other] &= offsets.get(wording.id, 0) < moment.end
    return parts, late


def _offsets_of(row: MemoryRow | TurnRow) -> dict[str, int]:
    """Return where on the log each capture stands that is a memory or turn."""
    if isinstance(row, TurnRow):
        return {row.id: row.offset_of}
    return {it.id: it.offset for it in (*row.members, *row.echoes)}


def _use_of(use: UsageSource, at: int) -> UsageSource:
    """Return the uses up to a time."""
    rows: dict[str, UseRow] = {}
    for id, row in use.uses.items():
        times = tuple(time for time in row.times if time <= at)
        if used := row.used - (len(row.times) - len(times)):
            rows[id] = msgspec.structs.replace(row, used=used, times=times)
    return use._replace(uses=rows)


def ids_of(said: Said | SummaryRow) -> tuple[str, ...]:
    """Return the ids of all captures of the unit at a place."""
    return said.ids if isinstance(said, MemoryRow) else (said.id,)


def living(then: ScopeTexts, place: int, now: ScopeTexts) -> int | None:
    """Return the place in the current views of the text at an earlier place; None if no longer shown.

    A memory found by a wording has the wording's place as long as the wording lives.
    """
    said = then.shown(place)
    matched = None if isinstance(said, Event) else then.result(place).matched
    head = next((at for id in ids_of(said) if (at := now.texts.called(id)) is not None), None)
    return head if head is None or matched is None else now.place_saying(head, matched)
