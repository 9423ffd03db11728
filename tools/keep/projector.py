"""The projector: runs the dataflow that brings the views of a build up to date, and steers it from outside."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

from memtape.schemas.errors import MemtapeError
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.leases import Orders, project_shared
from memtape.tools.keep.operations import steps_of

PROGRESS_S = 0.1
PANIC = "panicked at"
"""The words of libraries in Rust about an unhandled error, whose text names lines of Rust."""

OnProgress = Callable[[int], None]


class Projector:
    """One run of the flow over a build; the caller holds the projector's lock. `stop` is safe in any thread.

    `doubts` has the discarded work of an earlier run. The flow runs in this process, or in several `workers`, over
    all `partitions` or some. `epoch` and `batch_events` are by default those of `flows.views`.
    """

    def __init__(
        self,
        views: BuildViews,
        *,
        once: bool,
        workers: int = 1,
        partitions: Sequence[int] | None = None,
        epoch: timedelta | None = None,
        batch_events: int | None = None,
    ) -> None:
        # Bytewax and the flows are for who projects; whoever captures never pays for their import.
        from memtape.flows.views import BATCH_EVENTS, EPOCH, Control

        self._views, self._workers, self._partitions = views, workers, partitions
        self._epoch = EPOCH if epoch is None else epoch
        self._control = Control(once=once, batch_events=batch_events or BATCH_EVENTS, on_step=steps_of(views.home))
        self.doubts: list[str] = []

    def run(self, on_progress: OnProgress | None = None) -> int:
        """Project until the end (once) or until `stop`, and return how many events were read.

        `on_progress` gets the count of events read, some ten times a second.
        """
        self._views.start()
        try:
            self._run(on_progress)
        finally:
            self.doubts += self._views.take_doubts()
        return self._control.events_read

    def stop(self) -> None:
        """Ask the flow to end after its current batch."""
        self._control.stopping.set()

    @property
    def stopped(self) -> bool:
        """Whether the flow ended, or is to end, before the end of the log."""
        return self._control.stopping.is_set()

    def _run(self, on_progress: OnProgress | None) -> None:
        failures: list[BaseException] = []

        def flow() -> None:
            try:
                self._run_flow()
            except BaseException as error:  # Whatever ends the flow is raised again below, in the caller's thread.
                failures.append(error)

        # The flow has its own thread, so that this one can be interrupted by a signal at any time.
        thread = threading.Thread(target=flow, name="views", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(PROGRESS_S)
            if on_progress is not None:
                on_progress(self._control.events_read)
        if failures:
            raise _cause_of(failures[0])

    def _run_flow(self) -> None:
        from memtape.flows.views import run_flow, views

        if self._workers == 1:
            run_flow(views(self._views.log, self._views, self._control, self._partitions), self._epoch)
            return
        orders = Orders(
            home=os.path.abspath(self._views.home.path),
            build=self._views.build.number,
            vault=self._views.vault,
            once=self._control.once,
            bases=tuple(self._views.bases),
        )
        self.doubts += project_shared(orders, self._workers, self._views, self._control)


def _cause_of(error: BaseException) -> BaseException:
    """Return the error of Memtape or the system that Bytewax has wrapped, and a library's panic as a sentence."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (MemtapeError, OSError)):
            return cause
        cause = cause.__cause__
    if not (PANIC in str(error) or type(error).__name__ == "PanicException"):
        return error
    quoted = re.findall(r'"([^"]{1,200})"', str(error))
    why = f": {quoted[-1]}" if quoted else ""
    return MemtapeError(
        f"The views could not be written{why}.",
        "See that the disk has room, and that no limit on file sizes (`ulimit -f`) is in force.",
    )
