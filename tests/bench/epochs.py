"""Epochs as a projector writes them that stays: what each takes is measured here, and read by `scale` and `year`."""

from __future__ import annotations

import time

from memtape.flows.projection import Projection, open_projection
from memtape.schemas.events import Event
from memtape.schemas.log import Log
from memtape.sinks.epochs import BuildTarget

MOST_SLOTS = 100
"""No measured epoch has more."""


def standing(log: Log, target: BuildTarget, number: int) -> Projection:
    """Return the projection of a partition whose views are up to date, as a projector has it that stays."""
    basis, erased = target.basis(number), target.erased(number)
    end, written, snapshots = log.ends()[number], target.written(number), target.snapshots(number)
    return open_projection(log, number, end, written, snapshots, basis, erased)


def epoch_s(log: Log, projection: Projection, target: BuildTarget, number: int, event: Event) -> float:
    """Append an event, fold it and write what it changed; return the processor seconds of folding and writing."""
    log.append([event])
    start = time.process_time()
    delta = projection.advance(log.read(number, projection.state.offset, MOST_SLOTS))
    if delta is not None:
        target.views(number).apply(delta)
    return time.process_time() - start
