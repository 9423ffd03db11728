"""Several ordinary processes that project one home: each leases some partitions, and projects these alone.

Here is what their owner does; `lessee` is such a process. A lease is a lock file of a partition: the next owner
begins only when every lease is free. Any further order means stop.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import Basis
from memtape.sinks.logs.opening import environment_for
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.child import reports_of, started, tell

if TYPE_CHECKING:
    from memtape.flows.views import Control

MODULE = "memtape.tools.keep.lessee"
POLL_S = 0.05
RESTARTS = 3
"""So often is a killed process replaced, in one run."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a process with some partitions; `bases` are of the owner, since only the owner discards views."""

    home: str
    build: int
    vault: bool
    once: bool
    bases: tuple[Basis, ...]
    partitions: tuple[int, ...] = ()


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
        self._first = orders.partitions[0]
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
            lessees.append(Lessee(msgspec.structs.replace(orders, partitions=share), environment, control))
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
