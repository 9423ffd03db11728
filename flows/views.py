"""The dataflow `views`: log -> key by partition -> fold -> sinks.

Its source is throttled by construction: it hands out one small batch at a time, and with epochs of length
zero Bytewax does not ask for the next before the one before has been written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Protocol

from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import StatefulBatchLogic
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition

from memtape.flows.projection import Projection
from memtape.schemas.errors import OffsetOutOfRange
from memtape.schemas.log import Log, Slot
from memtape.schemas.metrics import OnStep
from memtape.schemas.rows import Delta

BATCH_EVENTS = 2_000
POLL = timedelta(milliseconds=100)
EPOCH = timedelta(0)

Slots = list[Slot]


class Views(Protocol):
    """The writer of the deltas of one partition, such as `sinks.epochs.PartitionViews`."""

    def apply(self, delta: Delta) -> bool: ...

    def close(self) -> None: ...


class Target(Protocol):
    """The target of a flow, by partition: its views, the offset below which they are written, and its projection."""

    def views(self, partition: int) -> Views: ...

    def written(self, partition: int) -> int: ...

    def projection(self, partition: int, offset: int) -> Projection: ...


class Control:
    """The caller's control of a running flow: stop it, and read its progress.

    `once` ends the flow at the ends that the log had at the start. The flow stops by itself at erased events
    that a projector must handle: views that hold their texts, or slots to be blanked. `on_step` is called with
    the duration of each folded batch and each written epoch.
    """

    def __init__(
        self, *, once: bool, batch_events: int = BATCH_EVENTS, on_step: OnStep = lambda step, partition, took_ns: None
    ) -> None:
        self.on_step = on_step
        self.once = once
        self.batch_events = batch_events
        self.stopping = threading.Event()
        self.read: dict[int, int] = {}

    @property
    def events_read(self) -> int:
        """The number of slots folded beyond the watermarks.

        A partition without an event of a scope has no watermark, so that each run reads its settings and
        ticks anew. These slots are not counted.
        """
        return sum(self.read.values())


def views(log: Log, target: Target, control: Control, partitions: Sequence[int] | None = None) -> Dataflow:
    """Return the dataflow that brings the views of `target` up to date with `log`, by default of all partitions."""
    numbers = range(log.partitions) if partitions is None else sorted(partitions)
    flow = Dataflow("views")
    slots = op.input("log", flow, _LogSource(log, target, control, numbers))
    deltas = op.stateful_batch("fold", slots, lambda _: _Fold(target, control))
    op.output("views", deltas, _ViewsSink(numbers, target, control))
    return flow


class _LogSource(FixedPartitionedSource[tuple[str, Slots], int]):
    def __init__(self, log: Log, target: Target, control: Control, numbers: Sequence[int]) -> None:
        self._log = log
        self._target = target
        self._control = control
        self._numbers = numbers
        self._ends = log.ends()

    def list_parts(self) -> list[str]:
        return [_key(number) for number in self._numbers]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> _LogReader:
        number = int(for_part)
        start, end = self._target.written(number), self._ends[number]
        if start > end:
            raise OffsetOutOfRange(
                f"The views of partition {number} are true up to offset {start}, but the log ends at {end}.",
                "The log has lost events. Start again: the views are then made anew from what is left.",
            )
        return _LogReader(self._log, self._control, number, start, end)


class _LogReader(StatefulSourcePartition[tuple[str, Slots], int]):
    def __init__(self, log: Log, control: Control, partition: int, start: int, end: int) -> None:
        self._log = log
        self._control = control
        self._partition = partition
        self._end = end
        self._offset = start
        self._idle = False

    def next_batch(self) -> Iterable[tuple[str, Slots]]:
        once = self._control.once
        if self._control.stopping.is_set() or (once and self._offset >= self._end):
            raise StopIteration
        limit = min(self._control.batch_events, self._end - self._offset) if once else self._control.batch_events
        slots = self._log.read(self._partition, self._offset, limit)
        self._idle = not slots
        if not slots:
            return []
        self._offset = slots[-1].offset + 1
        return [(_key(self._partition), slots)]

    def next_awake(self) -> datetime | None:
        return datetime.now(timezone.utc) + POLL if self._idle else None

    def snapshot(self) -> int:
        return self._offset


class _Fold(StatefulBatchLogic[Slots, Delta, None]):
    """One partition's projection, created at its first slots, which tell the partition and the offset.

    The log is the journal: the watermark says where to go on, and the state comes from the newest snapshot and
    the log. Bytewax stores nothing.
    """

    def __init__(self, target: Target, control: Control) -> None:
        self._target = target
        self._control = control
        self._projection: Projection | None = None

    def on_batch(self, values: list[Slots]) -> tuple[Iterable[Delta], bool]:
        projection = self._projection
        if projection is None:
            projection = self._target.projection(values[0][0].partition, values[0][0].offset)
            self._projection = projection
        deltas = []
        for slots in values:  # Each batch is its own delta: several may come at once where epochs are long.
            began = time.perf_counter_ns()
            delta = projection.advance(slots)
            if delta is not None:
                self._control.on_step("fold", slots[0].partition, time.perf_counter_ns() - began)
            self._keep(projection)
            if delta is not None:
                deltas.append(delta)
                self._count(slots, delta)
        if projection.state.stale or (projection.state.met_erased and not self._control.once):
            self._control.stopping.set()
        return deltas, StatefulBatchLogic.RETAIN

    def on_eof(self) -> tuple[Iterable[Delta], bool]:
        if self._projection is not None:
            self._keep(self._projection, last=True)
        return [], StatefulBatchLogic.RETAIN

    def _keep(self, projection: Projection, *, last: bool = False) -> None:
        began = time.perf_counter_ns()
        if projection.keep(last=last):
            self._control.on_step("snapshot", projection.state.number, time.perf_counter_ns() - began)

    def snapshot(self) -> None:
        return None

    def _count(self, slots: Slots, delta: Delta) -> None:
        if not delta.empty or delta.watermark.sent:
            number = slots[0].partition
            self._control.read[number] = self._control.read.get(number, 0) + len(slots)


class _ViewsSink(FixedPartitionedSink[Delta, None]):
    def __init__(self, numbers: Sequence[int], target: Target, control: Control) -> None:
        self._numbers = numbers
        self._target = target
        self._control = control

    def list_parts(self) -> list[str]:
        return [_key(number) for number in self._numbers]

    def part_fn(self, item_key: str) -> int:
        return self._numbers.index(int(item_key))

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> _ViewsWriter:
        return _ViewsWriter(self._target.views(int(for_part)), self._control)


class _ViewsWriter(StatefulSinkPartition[Delta, None]):
    def __init__(self, views: Views, control: Control) -> None:
        self._views = views
        self._control = control

    def write_batch(self, items: list[Delta]) -> None:
        for delta in items:
            began = time.perf_counter_ns()
            if self._views.apply(delta):
                self._control.on_step("write", delta.watermark.partition, time.perf_counter_ns() - began)

    def snapshot(self) -> None:
        return None

    def close(self) -> None:
        self._views.close()


def _key(partition: int) -> str:
    """Return the key of a partition, padded since Bytewax counts a sink's parts in the order of their names."""
    return f"{partition:04}"


def run_flow(flow: Dataflow, epoch: timedelta) -> None:
    """Run a dataflow to the end, in the calling thread."""
    from bytewax._bytewax import cluster_main

    try:
        cluster_main(flow, addresses=[], proc_id=0, worker_count_per_proc=1, epoch_interval=epoch)  # type: ignore[no-untyped-call]
    finally:
        flow.substeps.clear()  # A flow is in a circle with itself, in which all that its steps hold would outlive it.
