"""The values of metrics' labels, the bounds of measured durations, and the callbacks of progress.

The table of metrics is in `tools/measure`. The module is light, since hooks load it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

from memtape.schemas.times import US_PER_S

Door = Literal["cli", "python", "mcp", "prompt", "page"]
DOORS: tuple[Door, ...] = get_args(Door)
"""The doors by which a question came; `prompt` is a hook's, unasked for."""
Outcome = Literal["found", "nothing"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
Step = Literal["fold", "write", "snapshot", "rebuild"]
STEPS: tuple[Step, ...] = get_args(Step)
OnStep = Callable[[Step, int, int], None]
"""Called with a finished step, its partition, and its duration in nanoseconds."""
OnPhase = Callable[[str, int, int], None]
"""Called with the phase of long work (`projecting`, `copying`), the done amount, and the whole."""
FOLDING = "folding the log"
"""The phase of a state that is asked for, often within another phase."""
_ON_PHASE: ContextVar[OnPhase] = ContextVar("on_phase", default=lambda phase, done, total: None)
Fault = Literal["cli", "hook", "mcp", "page", "worker"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

RECALL_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
STEP_BUCKETS_S = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0)
BUCKETS_S = {"recall": RECALL_BUCKETS_S, "step": STEP_BUCKETS_S, "hook": RECALL_BUCKETS_S}
"""The upper bounds of the series of a home that measure a duration; the others are counts."""
BOUNDS_US = {name: tuple(round(bound * US_PER_S) for bound in its) for name, its in BUCKETS_S.items()}


def tell_progress(phase: str, done: int, total: int) -> None:
    """Tell whoever waits in this context how far long work is."""
    _ON_PHASE.get()(phase, done, total)


@contextmanager
def told_of_progress(on_phase: OnPhase) -> Iterator[None]:
    """Call `on_phase` with the progress of all work in this context."""
    token = _ON_PHASE.set(on_phase)
    try:
        yield
    finally:
        _ON_PHASE.reset(token)
