"""The dataflow `views`: log -> key by partition -> fold and write.

Its source is throttled by construction: it hands out one small batch at a time, and with epochs of length
zero Bytewax does not ask for the next before the one before has been written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import StatefulBatchLogic

from memtape.flows.projection import Projection
from memtape.schemas.errors import OffsetOutOfRange
from memtape.schemas.log import Log, Slot
from memtape.schemas.metrics import OnStep, Step
from memtape.schemas.rows import Delta
from memtape.state.core.partition import Partition

BATCH_EVENTS = 2_000
POLL_S, LOOK_AGAIN_S = 0.01, 1.0
"""An idle flow asks so often whether the log has changed, and reads anyway so often."""
HANDED_ROUNDS = 4
"""So many rounds of a flow pass without waiting once slots were handed out, which are on their way then."""
EPOCH = timedelta(0)

Slots = list[Slot]


class Views(Protocol):
    """The writer of the deltas of one partition, such as `sinks.epochs.PartitionViews`."""

    def apply(self, delta: Delta) -> bool: ...

    def close(self) -> None: ...


class Target(Protocol):
    """The target of a flow by partition: views, the offset below which they are written, and a projection."""

    def views(self, partition: int) -> Views: ...

    def written(self, partition: int) -> int: ...

    def projection(self, partition: int, offset: int) -> Projection: ...


class Control:
    """The caller's control of a running flow: stop it, and read its progress.

    `once` ends the flow at the ends that the log had at the start. The flow stops by itself at erased events
    that a projector must handle: views that hold their texts, or slots to be blanked. `on_step` gets the
    duration of each folded batch and each written epoch.
    """

    def __init__(self, *, once: bool, batch_events: int, on_step: OnStep) -> None:
        self.on_step = on_step
        self.once = once
        self.batch_events = batch_events
        self.stopping = threading.Event()
        self.read: dict[int, int] = {}
        self.folding: dict[int, tuple[Partition, int]] = {}
        """The state of a partition while a batch is folded and written, and its offset before."""
        self.behind: dict[int, bool] = {}
        """Whether more events of a partition wait behind its last batch, which was full."""
        self.replayed: dict[int, Partition] = {}
        """The states at the end of the partitions that were folded from their first event."""

    @property
    def events_read(self) -> int:
        """The number of slots folded beyond the watermarks.

        A partition without an event of a scope has no watermark, so that each run reads its settings and
        ticks anew. These slots are not counted.
        """
        return sum(self.read.values())

    @property
    def events_folded(self) -> int:
        """The number of slots folded, also of batches that are not written yet."""
        return self.events_read + sum(state.offset - start for state, start in [*self.folding.values()])


def views(log: Log, target: Target, control: Control, partitions: Sequence[int] | None = None) -> Dataflow:
    """Return the dataflow that brings the views of `target` up to date with `log`, by default all of them."""
    numbers = range(log.partitions) if partitions is None else sorted(partitions)
    flow = Dataflow("views")
    slots = op.input("log", flow, _LogSource(log, target, control, numbers))
    ended = op.stateful_batch("views", slots, lambda _: _Fold(target, control))
    op.inspect("end", ended, lambda step, item: None)  # A flow wants an end, to which nothing comes.
    return flow


class _LogSource(FixedPartitionedSource[tuple[str, Slots], int]):
    def __init__(self, log: Log, target: Target, control: Control, numbers: Sequence[int]) -> None:
        self._log = log
        self._target = target
        self._control = control
        self._numbers = numbers
        self._ends = log.ends()
        self._arrivals = _Arrivals(log, control)

    def list_parts(self) -> list[str]:
        return [str(number) for number in self._numbers]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> _LogReader:
        number = int(for_part)
        start, end = self._target.written(number), self._ends[number]
        if start > end:
            raise OffsetOutOfRange(
                f"The views of partition {number} are true up to offset {start}, but the log ends at {end}.",
                "The log has lost events. Start again: the views are then made anew from what is left.",
            )
        reader = _LogReader(self._log, self._control, number, start, end, self._arrivals)
        reader.waits = number == self._numbers[0]
        return reader


class _Arrivals:
    """Waits for slots, for all readers of a log: waking each of them costs more than asking the log."""

    def __init__(self, log: Log, control: Control) -> None:
        self._log, self._control, self._version = log, control, object()
        self.rounds = 0  # Further rounds without waiting.

    def wait(self) -> None:
        """Return once the log has changed since the last call, or may have, or the flow is to stop."""
        if self.rounds:
            self.rounds -= 1
            return
        until, before = time.monotonic() + LOOK_AGAIN_S, self._version
        while self._version == before and time.monotonic() < until:
            if self._control.stopping.wait(POLL_S):
                return
            self._version = self._log.version()


class _LogReader(StatefulSourcePartition[tuple[str, Slots], int]):
    waits = False
    """Whether this reader waits where nothing is to be read; the others are asked after it."""

    def __init__(
        self, log: Log, control: Control, partition: int, start: int, end: int, arrivals: _Arrivals
    ) -> None:
        self._log = log
        self._control = control
        self._partition = partition
        self._end = end
        self._offset = start
        self._arrivals = arrivals
        self._idle = False

    def next_batch(self) -> Iterable[tuple[str, Slots]]:
        once = self._control.once
        if self._control.stopping.is_set() or (once and self._offset >= self._end):
            raise StopIteration
        if self._idle and self.waits:
            self._arrivals.wait()
        most = self._control.batch_events
        limit = min(most, self._end - self._offset) if once else most
        slots = self._log.read(self._partition, self._offset, limit)
        self._idle = not slots
        if not slots:
            return []
        self._offset = slots[-1].offset + 1
        self._arrivals.rounds = HANDED_ROUNDS
        end = self._end if once or len(slots) < most else self._log.ends()[self._partition]
        self._control.behind[self._partition] = len(slots) == most and self._offset < end
        return [(str(self._partition), slots)]

    def snapshot(self) -> int:
        return self._offset


class _Fold(StatefulBatchLogic[Slots, None, None]):
    """The views of one partition, and its projection, opened at its first slots.

    The log is the journal: the watermark says where to go on, and the state comes from the newest snapshot
    and the log. Bytewax stores nothing.
    """

    def __init__(self, target: Target, control: Control) -> None:
        self._target = target
        self._control = control
        self._opened: tuple[Projection, Views] | None = None
        self._start = 0

    def on_batch(self, values: list[Slots]) -> tuple[Iterable[None], bool]:
        if self._opened is None:
            number, target = values[0][0].partition, self._target
            self._start = values[0][0].offset
            self._opened = target.projection(number, self._start), target.views(number)
        projection, views = self._opened
        number = projection.state.number
        for slots in values:  # Each batch is its own delta: several may come at once where epochs are long.
            began, self._control.folding[number] = time.perf_counter_ns(), (projection.state, slots[0].offset)
            delta = projection.advance(slots, more=self._control.behind[number])
            if delta is not None:
                self._note("fold", number, began)
                began = time.perf_counter_ns()
                if is_written := views.apply(delta):
                    self._note("write", number, began)
                if is_written or delta.watermark.sent:
                    self._control.read[number] = self._control.read.get(number, 0) + len(slots)
            del self._control.folding[number]
            self._keep(more=self._control.behind[number])
        if projection.state.stale or (projection.state.met_erased and not self._control.once):
            self._control.stopping.set()
        return [], StatefulBatchLogic.RETAIN

    def on_eof(self) -> tuple[Iterable[None], bool]:
        if self._opened is not None:
            self._keep(more=False, ends=True)
            self._opened[1].close()
            if self._start == 0:
                state = self._opened[0].state
                self._control.replayed[state.number] = state
        return [], StatefulBatchLogic.RETAIN

    def _keep(self, *, more: bool, ends: bool = False) -> None:
        """Write a snapshot if due, and the watermark that it needs: no start reads a snapshot beyond that."""
        assert self._opened is not None
        (projection, views), began = self._opened, time.perf_counter_ns()
        if projection.keep(more=more, ends=ends):
            views.close()
            self._note("snapshot", projection.state.number, began)

    def _note(self, step: Step, number: int, began: int) -> None:
        self._control.on_step(step, number, time.perf_counter_ns() - began)

    def snapshot(self) -> None:
        return None


def run_flow(flow: Dataflow, epoch: timedelta) -> None:
    """Run a dataflow to the end, in the calling thread."""
    from bytewax._bytewax import cluster_main

    try:
        alone: dict[str, Any] = {"addresses": [], "proc_id": 0, "worker_count_per_proc": 1}
        cluster_main(flow, **alone, epoch_interval=epoch)  # type: ignore[no-untyped-call]
    finally:
        flow.substeps.clear()  # A flow is in a circle with itself; what its steps hold would outlive it.
