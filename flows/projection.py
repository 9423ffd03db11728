"""The fold of one partition as the dataflow runs it: slots in, deltas out, without Bytewax.

Bodies of turns are read again from the log when a changed row, a page or an answer needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

import msgspec

from memtape.schemas.codec import body_of_capture
from memtape.schemas.errors import NotFound
from memtape.schemas.events import Captured
from memtape.schemas.log import TRAIL_SLOTS, Log, Slot, slots_between, trail_from, trail_of
from memtape.schemas.rows import Basis, Delta, LifeMark, PassMark, Watermark
from memtape.state.core.digests import rules_version
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.views.pages import mark_of, pages_at, places_of
from memtape.state.views.rows import guarded_rows

LEAST_SNAPSHOT_EVENTS, SNAPSHOT_EVENTS = 100, 50_000
SNAPSHOT_SHARE, LAST_SNAPSHOT_SHARE = 8, 100
"""A snapshot is written when an eighth of all events was folded since the last one, where no more wait a
hundredth, within these bounds. So all snapshots of one run together cost a few times the last. A process that
decides about a memory folds the rest, in 0.2 s and more: the first reading of texts compiles patterns. A
snapshot of 22,000 takes 0.05 s.
"""

TOLD_SLOTS = 50
"""Slots folded between two reports to a waiting caller: they take some hundredths of a second."""
OnFold = Callable[[int, int], None]  # Gets how many slots are folded, and how many there are.
HELD, HELD_CHARS = 8_192, 4_000_000
"""Bodies, and their characters, held in memory: the last put or read."""
PAGE_SLOTS, FEW_SLOTS = 256, 8
"""Slots read at once by a sequential reader, and by a random read.

A random read is for example of a recall's old results: a whole page for each would take most of a fold, and
evict the latest bodies.
"""


class SnapshotStore(Protocol):
    """Where a partition's snapshots are kept, as `sinks.snapshots.Snapshots` does."""

    def write(self, offset: int, trail: str, data: bytes) -> None: ...

    def newest(self, at_most: int, trail_at: Callable[[int], str]) -> bytes | None: ...


class Projection:
    """The current state of a partition.

    Changes below `written` are in the views already: the slots are folded for the state, and their changes
    are not written again. `last` are the last slots before the state's offset, by which the log is
    recognized. Pages are made only if it `has_pages`.
    """

    has_pages = True

    def __init__(
        self, state: Partition, written: int, snapshots: SnapshotStore, last: Sequence[Slot] = ()
    ) -> None:
        self.state = state
        self.written = written
        self._snapshots = snapshots
        self._last = list(last)
        self._snapshot_offset = state.offset
        self._touched: dict[str, None] = {}
        self._places: dict[tuple[str, str], None] = {}

    def advance(self, slots: Sequence[Slot], *, more: bool = False) -> Delta | None:
        """Fold slots and return their changes, None while all of them are written already.

        Where `more` slots wait, the pages come with theirs: many events change one page. A state made stale
        by an `erased` event folds nothing more: the views must be rebuilt.
        """
        state = self.state
        if state.stale:
            return None
        try:
            changes = fold(state, slots)
            self._last = [*self._last, *slots][-TRAIL_SLOTS:]
            if state.stale or state.offset <= self.written:
                return None
            changes = {change: offset for change, offset in changes.items() if offset >= self.written}
            if self.has_pages:
                self._touched |= dict.fromkeys(change.scope for change in changes)
                self._places |= places_of(state, changes)
            touched, places = ({}, {}) if more else (self._touched, self._places)
            delta = Delta(
                rows=tuple(guarded_rows(state, changes)),
                pages=tuple(pages_at(state, places)),
                marks=tuple(mark_of(state, state.scopes[scope]) for scope in touched),
                watermark=watermark_of(state, trail_from(self._last)),
                has_pages=not more,
            )
            if not more:
                self._touched, self._places = {}, {}
            return delta
        except NotFound:  # Another home has erased, and the event that says so is still ahead.
            state.stale = True
            return None

    def keep(self, *, more: bool, ends: bool = False) -> bool:
        """Write a snapshot if enough was folded since the last one; return whether one was written.

        Less is enough where no `more` slots wait, or the run `ends`.
        """
        offset = self.state.offset
        share = SNAPSHOT_SHARE if more else LAST_SNAPSHOT_SHARE
        enough = 1 if ends else min(SNAPSHOT_EVENTS, max(LEAST_SNAPSHOT_EVENTS, offset // share))
        due = not self.state.stale and offset - self._snapshot_offset >= enough
        if due:
            self._snapshots.write(offset, trail_from(self._last), snapshot(self.state))
            self._snapshot_offset = offset
        return due


def watermark_of(state: Partition, trail: str) -> Watermark:
    """Return the watermark of views of a whole state; `trail` is that of the log before its offset."""
    return Watermark(
        partition=state.number,
        offset=state.offset,
        log_id=state.log_id,
        rules=rules_version(),
        revision=max(state.revision, 0),
        clock=state.clock or 0,
        sent={name: scope.sent for name, scope in state.scopes.items()},
        counters=msgspec.structs.replace(state.counters),
        erased=state.erasures.count,
        embedder=state.settings.embedder,
        embedder_next=state.settings.embedder_next,
        passes={name: it for name, of in state.scopes.items() if (it := of.passes.mark()) != PassMark()},
        lives={
            name: life for name, of in state.scopes.items() if (life := of.lifecycle.mark()) != LifeMark()
        },
        trail=trail,
    )


def basis_of(log: Log, partition: int, erased: Sequence[Slot] | None = None) -> Basis:
    """Return the basis of views and snapshots of a partition made now; `erased` are its slots of erasures."""
    slots = log.erased(partition) if erased is None else erased
    return Basis(log.log_id, rules_version(), erasures_of(slots).count)


def open_projection(
    log: Log,
    partition: int,
    offset: int,
    written: int,
    snapshots: SnapshotStore,
    basis: Basis,
    erased: Sequence[Slot],
) -> Projection:
    """Return the projection of a partition before `offset`: its newest snapshot, and the log from there.

    `erased` are the slots of its erasures. Its state is stale if more has been erased than `basis` counts.
    """
    state = restored(log, partition, offset, snapshots, basis, erased)
    last = list(slots_between(log, partition, max(0, offset - TRAIL_SLOTS), offset))
    projection = Projection(state, written, snapshots, last)
    fold_until(state, log, offset)
    return projection


def restored(
    log: Log, partition: int, offset: int, snapshots: SnapshotStore, basis: Basis, erased: Sequence[Slot]
) -> Partition:
    """Return the state of the newest snapshot at or below `offset`, else that of the log's start."""
    data = snapshots.newest(offset, partial(trail_of, log, partition))
    bodies = LoggedBodies(log, partition)
    state = Partition(partition, erasures_of(erased)) if data is None else restore(data, bodies)
    state.bodies = bodies
    state.stale = state.erasures.count != basis.erased
    return state


def fold_until(state: Partition, log: Log, offset: int, on_fold: OnFold = lambda done, total: None) -> None:
    """Advance a state to the slots before `offset`."""
    start = state.offset

    def told() -> Iterator[Slot]:
        for slot in slots_between(log, state.number, start, offset):
            yield slot
            if (slot.offset - start) % TOLD_SLOTS == 0 and slot.offset + 1 < offset:
                on_fold(slot.offset - start, offset - start)

    fold(state, told())
    on_fold(offset - start, offset - start)


class LoggedBodies(dict[int, Captured]):
    """The bodies of a partition of a log: those last put or read, and any other by reading the log again.

    Raises `NotFound` for a body erased since the state was made.
    """

    def __init__(self, log: Log, partition: int) -> None:
        self._log = log
        self._partition = partition
        self._chars = 0
        self._read_to = 0

    def __setitem__(self, offset: int, body: Captured) -> None:
        if offset in self:
            return
        super().__setitem__(offset, body)
        self._chars += len(body.text)
        while len(self) > HELD or self._chars > HELD_CHARS:
            self._chars -= len(self.pop(next(iter(self))).text)

    def __missing__(self, offset: int) -> Captured:
        reads_on, wanted = self._read_to <= offset < self._read_to + PAGE_SLOTS, None
        slots = self._log.read(self._partition, offset, PAGE_SLOTS if reads_on else FEW_SLOTS)
        self._read_to = offset + len(slots)
        for slot in slots:
            body = body_of_capture(slot.payload)
            if body is not None:
                self[slot.offset] = body
            if slot.offset == offset:
                wanted = body
        if wanted is None:
            raise NotFound("Something that is asked for has been erased just now.", "Ask again.")
        return wanted
