"""The projector: runs the dataflow that brings the views of a build up to date, and steers it from outside."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home, make_folder
from memtape.sinks.home.locks import FileLock
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.cluster_process import cause_of, told_panic
from memtape.tools.keep.operations import steps_of

if TYPE_CHECKING:
    from memtape.sinks.epochs import BuildTarget

PROGRESS_S = 0.1

OnProgress = Callable[[int], None]


class FlowOptions(NamedTuple):
    """The way a flow runs: in `workers` threads of this process, or of each of the `processes` it starts.

    The processes inherit the projector's `lock` and hold it until the last has ended. `epoch` and
    `batch_events` are by default those of `flows.views`.
    """

    workers: int = 1
    processes: int = 1
    lock: FileLock | None = None
    epoch: timedelta | None = None
    batch_events: int | None = None


ONE_THREAD = FlowOptions()


class Projector:
    """One run of the flow over a build; the caller holds the projector's lock. `stop` is safe in any thread.

    `views` are the build's views, by default of the served build. `doubts` has the discarded work of an
    earlier run.
    """

    def __init__(
        self,
        home: Home,
        log: Log,
        *,
        once: bool,
        views: BuildViews | None = None,
        options: FlowOptions = ONE_THREAD,
    ) -> None:
        # Bytewax and the flows are for who projects; whoever captures never pays for their import.
        from memtape.flows.views import BATCH_EVENTS, EPOCH, Control

        self._home = home
        self._log = log
        self._views = views or BuildViews(home, log)
        self._build = self._views.build
        self._options = options
        self._epoch = EPOCH if options.epoch is None else options.epoch
        self._control = Control(once=once, batch_events=options.batch_events or BATCH_EVENTS, on_step=steps_of(home))
        self.doubts: list[str] = []

    def run(self, on_progress: OnProgress | None = None) -> int:
        """Project until the end (once) or until `stop`, and return how many events were read.

        `on_progress` gets the count of events read, some ten times a second.
        """
        target = self._views.target
        try:
            self._run(target, on_progress)
        finally:
            self.doubts += target.take_doubts()
        return self._control.events_read

    def stop(self) -> None:
        """Ask the flow to end after its current batch."""
        self._control.stopping.set()

    @property
    def stopped(self) -> bool:
        """Whether the flow ended, or is to end, before the end of the log."""
        return self._control.stopping.is_set()

    def _run(self, target: BuildTarget, on_progress: OnProgress | None) -> None:
        failures: list[BaseException] = []

        def flow() -> None:
            try:
                self._run_recovering(target)
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
            raise told_panic(cause_of(failures[0]))

    def _run_recovering(self, target: BuildTarget) -> None:
        """Run the flow on its recovery store; a store that Bytewax cannot use is discarded and made anew."""
        from memtape.flows.views import is_about_recovery, prepare_recovery
        from memtape.tools.keep.cluster import UnusableRecovery

        folder = self._build.recovery
        make_folder(folder.parent)
        try:
            if not folder.is_dir():
                prepare_recovery(folder)
            self._run_flow(target)
        except Exception as error:
            if not isinstance(error, UnusableRecovery) and not is_about_recovery(error):
                raise
            self.doubts.append(f"The recovery store was discarded, since Bytewax cannot use it: {folder}.")
            shutil.rmtree(folder, ignore_errors=True)
            prepare_recovery(folder)
            self._run_flow(target)

    def _run_flow(self, target: BuildTarget) -> None:
        from memtape.flows.views import run_flow, views

        if self._options.processes == 1:
            run_flow(views(self._log, target, self._control), self._options.workers, self._epoch, self._build.recovery)
        else:
            self._run_cluster(target)

    def _run_cluster(self, target: BuildTarget) -> None:
        from memtape.tools.keep.cluster import log_of, run_cluster
        from memtape.tools.keep.cluster_process import Orders

        numbers = range(self._log.partitions)
        orders = Orders(
            home=os.path.abspath(self._home.path),
            build=self._build.number,
            vault=self._views.vault,
            log=log_of(self._log),
            once=self._control.once,
            batch_events=self._control.batch_events,
            epoch_s=self._epoch.total_seconds(),
            workers=self._options.workers,
            addresses=(),
            process=0,
            bases=tuple(target.basis(number) for number in numbers),
            written=tuple(target.written(number) for number in numbers),
        )
        lock = self._options.lock
        held = [] if lock is None or lock.fd is None else [lock.fd]
        self.doubts += run_cluster(orders, self._options.processes, self._control, held)
