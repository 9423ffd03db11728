"""A process that writes the views of a bulk load, while its parent folds the next events.

Such a process is this file run as a program (`starting`). It holds the lease of each partition that it
writes: the next owner begins only when every lease is free. Behind its orders, stdin has frames: a partition,
a length, and a delta, or nothing where the views of the partition are closed.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.metrics import OnStep
from memtape.schemas.rows import Delta
from memtape.sinks.epochs import PartitionViews
from memtape.sinks.home.folders import Home
from memtape.sinks.tables import Shard
from memtape.tools.keep.starting import failure_of, reporter, reports_of, started

if TYPE_CHECKING:
    from memtape.tools.keep.build_views import BuildViews

MODULE = "memtape.tools.keep.views_writer"
LEAST_EVENTS = 5_000
"""Fewer events are projected before a second process is of use: it needs half a second to start."""
MOST_AHEAD = 2
"""Deltas that wait for the writer at most: each has the rows of 2,000 events."""
LEASE_WAIT_S = 30.0
_FRAME = struct.Struct("<IQ")


class WriterOrders(msgspec.Struct, frozen=True, kw_only=True):
    """The build that a process writes, and whether it has a vault."""

    home: str
    build: int
    vault: bool


class WriterReport(msgspec.Struct, frozen=True, kw_only=True):
    """A frame that was written, and for how long; or the error of a process, with a hint."""

    partition: int = 0
    took_ns: int = 0
    failure: tuple[str, str] | None = None


class ViewsWriter:
    """The target of a flow (`flows.views.Target`) with views that another process writes."""

    def __init__(self, views: BuildViews, on_step: OnStep) -> None:
        self._on_step, self._unwritten = on_step, 0
        self.written, self.projection = views.written, views.projection
        home = os.path.abspath(views.home.path)
        self._process = started(MODULE, WriterOrders(home=home, build=views.build.number, vault=views.vault))
        self._reports = reports_of(self._process, WriterReport)

    def views(self, partition: int) -> SentViews:
        """Return the views of a partition, which the process writes."""
        return SentViews(self, partition)

    def send(self, partition: int, data: bytes) -> None:
        """Send a frame, and wait until few are unwritten. Raises the error of the process."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # The end of its reports says why.
            self._process.stdin.write(_FRAME.pack(partition, len(data)) + data)
            self._process.stdin.flush()
        self._unwritten += 1
        self._wait_for(MOST_AHEAD)

    def close(self) -> None:
        """Let the process end, once it has written all that was sent. Raises its error."""
        with suppress(BrokenPipeError), self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._wait_for(0)

    def _wait_for(self, unwritten: int) -> None:
        told = f"Process {self._process.pid}, which writes the views, ended."
        ended = WriterReport(failure=(told, "Start it again: it goes on from the last epoch."))
        while self._unwritten > unwritten:
            report = next(self._reports, ended)
            if report.failure is not None:
                self._unwritten = 0  # Nothing more comes.
                raise MemtapeError(*report.failure)
            if report.took_ns:
                self._on_step("write", report.partition, report.took_ns)
            self._unwritten -= 1


class SentViews(NamedTuple):
    """The views of one partition (`flows.views.Views`), sent to the process that writes them."""

    writer: ViewsWriter
    partition: int

    def apply(self, delta: Delta) -> bool:
        """Send a delta; the process says how long its write took."""
        self.writer.send(self.partition, pickle.dumps(delta, 5))
        return False

    def close(self) -> None:
        """Let the watermark of deltas without changes be written."""
        self.writer.send(self.partition, b"")


def main() -> None:
    """Write the deltas of stdin until its end, and report each."""
    send, source = reporter(), sys.stdin.buffer
    orders = msgspec.json.decode(source.readline(), type=WriterOrders)
    home = Home(Path(orders.home))
    build, opened = home.build(orders.build), dict[int, PartitionViews]()
    try:
        with ExitStack() as leases:
            for partition, data in _frames(source):
                began = time.perf_counter_ns()
                if partition not in opened:
                    leases.enter_context(home.lease(partition).held(LEASE_WAIT_S))
                    shard = Shard(build.shard(partition), partition)
                    opened[partition] = PartitionViews(home, build, shard, vault=orders.vault)
                has_written = bool(data) and opened[partition].apply(pickle.loads(data))
                if not data:
                    opened[partition].close()
                took_ns = time.perf_counter_ns() - began if has_written else 0
                send(WriterReport(partition=partition, took_ns=took_ns))
    except BaseException as error:
        send(WriterReport(failure=failure_of(error)))
        sys.stderr.flush()
        os._exit(1)  # A panic of a library can leave threads that never end.


def _frames(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield each whole frame; the parent may be killed in the middle of one."""
    while len(head := source.read(_FRAME.size)) == _FRAME.size:
        partition, length = _FRAME.unpack(head)
        data = source.read(length)
        if len(data) < length:
            return
        yield partition, data


if __name__ == "__main__":
    main()
