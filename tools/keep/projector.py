"""The projector: runs the dataflow that brings the views of a build up to date, and steers it from outside.

The flow runs in this process, or in several: each leases some partitions, and projects these alone. A lease
is a lock file of a partition: the next owner begins only when every lease is free. Such a process is this
file run as a program: it gets its orders and reports as lines of JSON (`starting`), and any further order
means stop.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import Basis
from memtape.sinks.home.files import all_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import environment_for, open_log
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import steps_of
from memtape.tools.keep.starting import cause_of, failure_of, obey, reporter, reports_of, started, tell
from memtape.tools.keep.views_writer import LEAST_EVENTS, ViewsWriter

if TYPE_CHECKING:
    from memtape.flows.views import Control

MODULE = "memtape.tools.keep.projector"
PROGRESS_S = 0.1
POLL_S = 0.05
STOP_S = 10.0
"""The wait of an interrupted run for the batch in hand."""
LEASE_WAIT_S = 30.0
FEW_COLLECTIONS = (50_000, 20, 50)
"""Thresholds of garbage collection while a state is folded or held: it has many objects, hardly a circle."""
RESTARTS = 3
"""So often is a killed process replaced, in one run."""

OnProgress = Callable[[int], None]


def control_of(home: Home, *, once: bool) -> Control:
    """Return the control of a run that a home's owner starts: `once` until the end of the log."""
    # Bytewax and the flows are for who projects; whoever captures never pays for their import.
    from memtape.flows import views as flows

    return flows.Control(once=once, batch_events=flows.BATCH_EVENTS, on_step=steps_of(home))


@contextmanager
def few_collections() -> Iterator[None]:
    """Let garbage be collected rarely in a block."""
    before = gc.get_threshold()
    gc.set_threshold(*FEW_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@few_collections()
def project(
    views: BuildViews,
    control: Control,
    on_progress: OnProgress | None = None,
    *,
    workers: int = 1,
    partitions: Sequence[int] | None = None,
) -> int:
    """Run the flow over a build as its control says, and return how many events were read.

    The caller holds the projector's lock. The flow runs in this process, or in several `workers`, over all
    `partitions` or some. `on_progress` gets the count of events folded, some ten times a second.
    """
    from memtape.flows import views as flows

    views.start()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            if workers > 1:
                _project_shared(workers, views, control)
            elif control.once and partitions is None and views.waiting() >= LEAST_EVENTS and cores() > 1:
                with closing(ViewsWriter(views, control.on_step)) as apart:
                    flows.run_flow(flows.views(views.log, apart, control), flows.EPOCH)
            else:
                flows.run_flow(flows.views(views.log, views, control, partitions), flows.EPOCH)
        except BaseException as error:  # Raised again below, in the caller's thread.
            failures.append(error)

    # The flow has its own thread, so that this one can be interrupted by a signal at any time.
    thread = threading.Thread(target=run, name="views", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(PROGRESS_S)
            if on_progress is not None:
                on_progress(control.events_folded)
    except BaseException:  # Python may not end while native code runs.
        control.stopping.set()
        thread.join(STOP_S)
        raise
    if failures:
        raise cause_of(failures[0])
    return control.events_read


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a process with some partitions; `bases` are of the owner, who alone discards views."""

    home: str
    build: int
    vault: bool
    once: bool
    bases: tuple[Basis, ...]
    partitions: tuple[int, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The events that a process has read, whether its flow ends by itself, and its error with a hint."""

    read: int
    stopping: bool = False
    failure: tuple[str, str] | None = None


def _project_shared(workers: int, views: BuildViews, control: Control) -> None:
    """Project with several processes until all have ended.

    Raises the first error that a process reports, and `MemtapeError` for a log that no other process can
    open, and for processes that are killed again and again.
    """
    environment = environment_for(views.home, views.log)
    if environment is None:
        raise MemtapeError("No other process can open this log.", "Project it with one worker.")
    if control.stopping.is_set():
        return
    home, bases = os.path.abspath(views.home.path), tuple(views.bases)
    orders = Orders(home=home, build=views.build.number, vault=views.vault, once=control.once, bases=bases)
    processes, reports = dict[int, subprocess.Popen[bytes]](), dict[int, Report]()
    threads = []
    for place in range(min(workers, len(views.numbers))):
        share = msgspec.structs.replace(orders, partitions=tuple(views.numbers[place::workers]))
        given = share, environment, control, processes, reports
        threads.append(threading.Thread(target=_follow, args=given, daemon=True))
        threads[-1].start()
    for thread in threads:
        while thread.is_alive():
            thread.join(POLL_S)
            for process in [*processes.values()] if control.stopping.is_set() else ():
                tell(process, "stop")
    for report in reports.values():
        if report.failure is not None:
            raise MemtapeError(*report.failure)


def _follow(
    orders: Orders, environment: dict[str, str], control: Control,
    processes: dict[int, subprocess.Popen[bytes]], reports: dict[int, Report],
) -> None:  # fmt: skip
    """Start a process with leased partitions, read its reports to its end, and replace a killed one."""
    name, failure = orders.partitions[0], ("", "")
    try:
        for _ in range(RESTARTS + 1):
            process = processes[name] = started(MODULE, orders, environment)
            with suppress(BrokenPipeError), process:
                for report in reports_of(process, Report):
                    reports[name] = report
                    control.read[name] = report.read
                    if report.stopping:
                        control.stopping.set()
            code = process.returncode
            if not code or control.stopping.is_set():
                return
            told = f"Process {process.pid}, which projects a share, ended with code {code}."
            failure = told, "Start it again: it goes on from the last epoch."
            if code > 0:
                break
    except OSError as error:
        failure = str(error), ""
    control.stopping.set()
    if (last := reports.get(name)) is None or last.failure is None:
        reports[name] = Report(read=0, failure=failure)


def main() -> None:
    """Carry out the orders of stdin for some partitions, and report until the end."""
    send = reporter()
    try:
        last = _project_leased(msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders), send)
    except BaseException as error:
        last = Report(read=0, failure=failure_of(error))
    send(last)
    sys.stderr.flush()
    os._exit(1 if last.failure else 0)  # A panic of Bytewax can leave threads that never end.


def _project_leased(orders: Orders, send: Callable[[object], None]) -> Report:
    home, numbers = Home(Path(orders.home)), orders.partitions
    with closing(open_log(home)) as log, all_of([home.lease(number) for number in numbers], LEASE_WAIT_S):
        views = BuildViews(home, log, home.build(orders.build), vault=orders.vault)
        views.go_by(orders.bases)
        control = control_of(home, once=orders.once)
        obey(lambda line: control.stopping.set())
        stops = control.stopping.is_set
        read = project(
            views, control, lambda done: send(Report(read=done, stopping=stops())), partitions=numbers
        )
        return Report(read=read, stopping=stops())


if __name__ == "__main__":
    main()
