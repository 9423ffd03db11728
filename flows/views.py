"""The dataflow `views`: log -> key by partition -> fold -> sinks, on one worker or several.

Its source is throttled by construction: it hands out one small batch at a time, and with epochs of length
zero Bytewax does not ask for the next before the one before has been written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone
from typing import Any, Protocol

from bytewax import operators as op
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.operators import StatefulBatchLogic
from bytewax.outputs import FixedPartitionedSink, StatefulSinkPartition

from recollect.flows.projection import Projection
from recollect.schemas.log import Log, Slot
from recollect.schemas.rows import Delta
from recollect.state.digests import rules_version

BATCH_EVENTS = 2_000
POLL = timedelta(milliseconds=100)

Slots = list[Slot]


class Views(Protocol):
    """What takes the deltas of one partition, as `sinks.views.PartitionViews` does."""

    def start(self, log_id: str, rules: str) -> int: ...

    def apply(self, delta: Delta) -> None: ...

    def close(self) -> None: ...


class Control:
    """How the caller and the running flow speak: stop it, and see how far it is.

    `once` ends the flow when the ends that the log had at the start are reached.
    """

    def __init__(self, *, once: bool, batch_events: int = BATCH_EVENTS) -> None:
        self.once = once
        self.batch_events = batch_events
        self.stopping = threading.Event()
        self.reached: dict[int, int] = {}

    @property
    def events_read(self) -> int:
        """How many slots the sources have handed out."""
        return sum(self.reached.values())


def views(log: Log, views_of: Callable[[int], Views], control: Control) -> Dataflow:
    """Return the dataflow that keeps the views of every partition of `log` up to date."""
    flow = Dataflow("views")
    slots = op.input("log", flow, _LogSource(log, control))
    # Step ids and keys are what a recovery store is found by: renaming one orphans it.
    opened: dict[int, Views] = {}
    lock = threading.Lock()

    def open_views(number: int) -> Views:
        with lock:
            if number not in opened:
                opened[number] = views_of(number)
            return opened[number]

    deltas = op.stateful_batch("fold", slots, lambda _: _Fold(log.log_id, open_views))
    op.output("views", deltas, _ViewsSink(log.partitions, open_views))
    return flow


class _LogSource(FixedPartitionedSource[tuple[str, Slots], int]):
    def __init__(self, log: Log, control: Control) -> None:
        self._log = log
        self._control = control
        self._ends = log.ends()

    def list_parts(self) -> list[str]:
        return [_key(number) for number in range(self._log.partitions)]

    def build_part(self, step_id: str, for_part: str, resume_state: int | None) -> _LogReader:
        number = int(for_part)
        return _LogReader(self._log, self._control, number, self._ends[number])


class _LogReader(StatefulSourcePartition[tuple[str, Slots], int]):
    def __init__(self, log: Log, control: Control, partition: int, end: int) -> None:
        self._log = log
        self._control = control
        self._partition = partition
        self._end = end
        self._offset = 0
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
        self._control.reached[self._partition] = self._offset
        return [(_key(self._partition), slots)]

    def next_awake(self) -> datetime | None:
        return datetime.now(timezone.utc) + POLL if self._idle else None

    def snapshot(self) -> int:
        return self._offset


class _Fold(StatefulBatchLogic[Slots, Delta, int]):
    """One partition's projection, made when its first slots come, since only they carry its number."""

    def __init__(self, log_id: str, open_views: Callable[[int], Views]) -> None:
        self._log_id = log_id
        self._open_views = open_views
        self._projection: Projection | None = None

    def on_batch(self, values: list[Slots]) -> tuple[Iterable[Delta], bool]:
        if self._projection is None:
            number = values[0][0].partition
            written = self._open_views(number).start(self._log_id, rules_version())
            self._projection = Projection(number, written)
        # Each batch is its own delta: several may come at once where epochs are long.
        deltas = (self._projection.advance(slots) for slots in values)
        return [delta for delta in deltas if delta is not None], StatefulBatchLogic.RETAIN

    def snapshot(self) -> int:
        return self._projection.state.offset if self._projection else 0


class _ViewsSink(FixedPartitionedSink[Delta, None]):
    def __init__(self, partitions: int, open_views: Callable[[int], Views]) -> None:
        self._partitions = partitions
        self._open_views = open_views

    def list_parts(self) -> list[str]:
        return [_key(number) for number in range(self._partitions)]

    def part_fn(self, item_key: str) -> int:
        return int(item_key)

    def build_part(self, step_id: str, for_part: str, resume_state: None) -> _ViewsWriter:
        return _ViewsWriter(self._open_views(int(for_part)))


class _ViewsWriter(StatefulSinkPartition[Delta, None]):
    def __init__(self, views: Views) -> None:
        self._views = views

    def write_batch(self, items: list[Delta]) -> None:
        for delta in items:
            self._views.apply(delta)

    def snapshot(self) -> None:
        return None

    def close(self) -> None:
        self._views.close()


def _key(partition: int) -> str:
    """Return the key of a partition, padded since Bytewax counts a sink's parts in the order of their names."""
    return f"{partition:04}"


def run_flow(flow: Dataflow, workers: int, epoch: timedelta) -> None:
    """Run a dataflow in this thread and `workers - 1` others until it ends."""
    from bytewax._bytewax import cluster_main

    kwargs: dict[str, Any] = {"addresses": [], "proc_id": 0, "worker_count_per_proc": workers}
    cluster_main(flow, **kwargs, epoch_interval=epoch)  # type: ignore[no-untyped-call]
