"""The projector: holds a home's lock for life and runs the dataflow that keeps its views up to date."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from recollect.flows.clock import ClockWorker
from recollect.schemas.errors import RecollectError
from recollect.schemas.log import Log
from recollect.sinks.home import Home

LOCK_WAIT_S = 0.5
PROGRESS_S = 0.1


class Projector:
    """One run of the views of a home. `run` may be called once; `stop` from any thread or signal handler."""

    def __init__(
        self,
        home: Home,
        log: Log,
        *,
        once: bool,
        workers: int = 1,
        epoch: timedelta = timedelta(0),
        batch_events: int | None = None,
    ) -> None:
        # Bytewax and the flows are for who projects; whoever captures never pays for their import.
        from recollect.flows.views import BATCH_EVENTS, Control

        self._home = home
        self._log = log
        self._workers = workers
        self._epoch = epoch
        self._control = Control(once=once, batch_events=batch_events or BATCH_EVENTS)

    def run(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Project until the end (once) or until `stop`, and return how many events were read.

        `on_progress` gets the count of events read, some ten times a second. Raises `Locked` where
        another process projects this home.
        """
        lock = self._home.projector_lock()
        lock.acquire(LOCK_WAIT_S)
        try:
            self._run(on_progress)
        finally:
            lock.release()
        return self._control.events_read

    def stop(self) -> None:
        """Ask the flow to end after the batch that it is at."""
        self._control.stopping.set()

    def _run(self, on_progress: Callable[[int], None] | None) -> None:
        from recollect.flows.views import run_flow, views
        from recollect.sinks.views import PartitionViews

        flow = views(self._log, lambda partition: PartitionViews(self._home, partition), self._control)
        failures: list[BaseException] = []

        def target() -> None:
            try:
                run_flow(flow, self._workers, self._epoch)
            except BaseException as error:  # Whatever ends the flow is raised again below, in the caller's thread.
                failures.append(error)

        clock = None if self._control.once else ClockWorker(self._log)
        # The flow has its own thread, so that this one can be interrupted by a signal at any time.
        thread = threading.Thread(target=target, name="views", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(PROGRESS_S)
            if clock is not None:
                clock.tick_if_due(time.time_ns() // 1_000)
            if on_progress is not None:
                on_progress(self._control.events_read)
        if failures:
            raise _cause(failures[0])


def _cause(error: BaseException) -> BaseException:
    """Return what Recollect itself raised inside the flow, where Bytewax has wrapped it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, RecollectError):
            return cause
        cause = cause.__cause__
    return error


def start_detached(home: Home) -> None:
    """Start `run --once` in a process of its own, which outlives this one and says nothing."""
    subprocess.Popen(
        [sys.executable, "-m", "recollect", "run", "--once", "--home", str(home.path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=os.path.abspath(os.sep),
    )
