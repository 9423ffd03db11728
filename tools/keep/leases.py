"""Several ordinary processes that project one home: each leases some partitions, and projects these alone.

`project_shared` is for their owner, `main` is such a process. A lease is a lock file of a partition: the next owner
begins only when every lease is free. Any further order means stop.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import Basis
from memtape.sinks.home.folders import Home
from memtape.sinks.home.locks import all_of
from memtape.sinks.logs.opening import environment_for, open_log
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.child import obey, reporter, reports_of, started, tell
from memtape.tools.keep.projector import FlowOptions, Projector

if TYPE_CHECKING:
    from memtape.flows.views import Control

MODULE = "memtape.tools.keep.leases"
LEASE_WAIT_S = 30.0
POLL_S = 0.05
RESTARTS = 3
"""So often is a killed process replaced, in one run."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a process; `bases` are the owner's findings, since only the owner discards views."""

    home: str
    build: int
    vault: bool
    once: bool
    bases: tuple[Basis, ...]
    options: FlowOptions


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The events that a process has read, whether its flow ends by itself, and the error that ended it, with a hint."""

    read: int
    stopping: bool = False
    doubts: tuple[str, ...] = ()
    failure: tuple[str, str] | None = None


class Lessee(threading.Thread):
    """The owner's thread for a process with leased partitions: it reads the reports, and replaces a killed process."""

    def __init__(self, orders: Orders, environment: dict[str, str], control: Control) -> None:
        super().__init__(daemon=True)
        self.last = Report(read=0)
        self.killed = ""
        self._orders, self._environment, self._control = orders, environment, control
        self._first = (orders.options.partitions or (0,))[0]
        self.process = started(MODULE, orders, environment)
        self.start()

    def run(self) -> None:
        """Follow the process until it ends by itself."""
        for restarts in reversed(range(RESTARTS + 1)):
            with suppress(BrokenPipeError), self.process:
                for report in reports_of(self.process, Report):
                    self.last = report
                    self._control.read[self._first] = report.read
                    if report.stopping:
                        self._control.stopping.set()
            code = self.process.returncode
            if not code or self._control.stopping.is_set():
                return
            if code > 0 or not restarts:
                break
            self.process = started(MODULE, self._orders, self._environment)
        self.killed = f"The process with pid {self.process.pid}, which projects a share, ended with code {code}."
        self._control.stopping.set()


def project_shared(orders: Orders, workers: int, views: BuildViews, control: Control) -> list[str]:
    """Project with several processes until all have ended; return the discarded work, a sentence each.

    Raises the first error that a process reports, and `MemtapeError` for a log that no other process can open, and for
    processes that are killed again and again.
    """
    environment = environment_for(views.home, views.log)
    if environment is None:
        raise MemtapeError("No other process can open this log.", "Project it with one worker.")
    if control.stopping.is_set():
        return []
    shares = [tuple(views.numbers[place::workers]) for place in range(min(workers, len(views.numbers)))]
    lessees: list[Lessee] = []
    try:
        for share in shares:
            options = orders.options._replace(workers=1, partitions=share)
            lessees.append(Lessee(msgspec.structs.replace(orders, options=options), environment, control))
        for lessee in lessees:
            while lessee.is_alive():
                lessee.join(POLL_S)
                for each in lessees if control.stopping.is_set() else ():
                    tell(each.process, "stop")
    finally:
        for lessee in lessees:
            while lessee.is_alive():  # Another could not be started.
                control.stopping.set()
                lessee.process.kill()
                lessee.join(POLL_S)
    for failure in (lessee.last.failure for lessee in lessees):
        if failure is not None:
            raise MemtapeError(*failure)
    if killed := next(filter(None, (lessee.killed for lessee in lessees)), ""):
        raise MemtapeError(killed, "Start it again: it goes on from the last epoch.")
    return [doubt for lessee in lessees for doubt in lessee.last.doubts]


def main() -> None:
    """Carry out the orders of stdin, and report until the end: this is the other process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # They are the owner's, who tells all of its processes.
        signal.signal(number, signal.SIG_IGN)
    send = reporter()
    try:
        last = _project(msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders), send)
    except (MemtapeError, OSError) as error:
        last = Report(read=0, failure=(str(error), getattr(error, "hint", "")))
    except BaseException as error:
        traceback.print_exception(error)
        last = Report(read=0, failure=(f"{type(error).__name__}: {error}", ""))
    send(last)
    sys.stderr.flush()
    os._exit(1 if last.failure else 0)  # A panic of Bytewax can leave threads that never end.


def _project(orders: Orders, send: Callable[[object], None]) -> Report:
    home, numbers = Home(Path(orders.home)), orders.options.partitions or ()
    with closing(open_log(home)) as log, all_of([home.lease(number) for number in numbers], LEASE_WAIT_S):
        views = BuildViews(home, log, home.build(orders.build), vault=orders.vault)
        views.go_by(orders.bases)
        projector = Projector(views, once=orders.once, options=orders.options)
        obey(lambda line: projector.stop())
        read = projector.run(lambda done: send(Report(read=done, stopping=projector.stopped)))
        return Report(read=read, stopping=projector.stopped, doubts=tuple(projector.doubts))


if __name__ == "__main__":
    main()
