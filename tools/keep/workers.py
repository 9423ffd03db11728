"""The table of workers: what the owner of a home runs beside the views.

Each reads the log, appends what it found, and keeps its own position. What a worker does stands in its own file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from memtape.flows.workers.clock import Clock
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.embedding import Embedding


class WorkerKind(NamedTuple):
    """How a worker of a home is made, and whether `run --once` has it catch up too."""

    make: Callable[[Home, Log, OnNote], Worker]
    once: bool


WORKERS: dict[str, WorkerKind] = {
    "clock": WorkerKind(lambda home, log, on_note: Clock(log, now_us, on_note), once=False),
    "embed": WorkerKind(Embedding, once=True),
}
