"""Several ordinary processes that project one home: each leases some partitions, and projects these alone.

Here is what their owner does; `lessee` is such a process. Its orders are a line of JSON on stdin, its reports lines of
JSON on stdout; nothing of them is code. Any further line means stop. Where stdin ends, the owner has died, and the
process ends at once. A lease is a lock file of a partition: the next owner begins only when every lease is free.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.sinks.logs.opening import environment_for
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.starting import NOWHERE, python_of

if TYPE_CHECKING:
    from memtape.flows.views import Control

MODULE = "memtape.tools.keep.lessee"
POLL_S = 0.05
RESTARTS = 3
"""So often is a killed process replaced, in one run."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a process; `bases` are the owner's findings, since only the owner discards views."""

    home: str
    build: int
    vault: bool
    once: bool
    batch_events: int
    epoch_s: float
    bases: tuple[tuple[str, str, int], ...]
    partitions: tuple[int, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The events that a process has read, whether its flow ends by itself, and the error that ended it, with a hint."""

    read: int
    stopping: bool = False
    doubts: tuple[str, ...] = ()
    failure: tuple[str, str] | None = None


class Lessee:
    """The owner's handle of a process with leased partitions."""

    def __init__(
        self, orders: Orders, environment: dict[str, str], on_report: Callable[[Orders, Report], None]
    ) -> None:
        self.orders = orders
        self.last = Report(read=0)
        self._on_report = on_report
        self.process = subprocess.Popen(
            python_of(MODULE),
            env=environment,
            cwd=NOWHERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # So that Ctrl-C is the owner's alone.
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.tell(msgspec.json.encode(orders))

    def tell(self, line: bytes) -> None:
        """Write a line to the process, which may have ended."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def end(self) -> None:
        """Kill the process if it lives, and wait for its last report."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                with suppress(msgspec.DecodeError):  # The half line of a killed process.
                    self.last = msgspec.json.decode(line, type=Report)
                    self._on_report(self.orders, self.last)


def project_shared(orders: Orders, workers: int, views: BuildViews, control: Control) -> list[str]:
    """Project with several processes until all have ended; return the discarded work, a sentence each.

    A killed process is replaced. Raises the first error that a process reports, and `MemtapeError` for a log that
    no other process can open, and for processes that are killed again and again.
    """
    environment = environment_for(views.home, views.log)
    if environment is None:
        raise MemtapeError("No other process can open this log.", "Project it with one worker.")
    if control.stopping.is_set():
        return []

    def learn(own: Orders, report: Report) -> None:
        control.read[own.partitions[0]] = report.read
        if report.stopping:
            control.stopping.set()

    shares = [tuple(views.numbers[place::workers]) for place in range(min(workers, len(views.numbers)))]
    lessees: list[Lessee] = []
    doubts: list[str] = []
    try:
        for share in shares:
            lessees.append(Lessee(msgspec.structs.replace(orders, partitions=share), environment, learn))
        killed = _steer(lessees, environment, learn, control)
    finally:
        for lessee in lessees:
            lessee.end()
            doubts += lessee.last.doubts
    for failure in (lessee.last.failure for lessee in lessees):
        if failure is not None:
            raise MemtapeError(*failure)
    if killed:
        raise MemtapeError(killed, "Start it again: it goes on from the last epoch.")
    return doubts


def _steer(
    lessees: list[Lessee], environment: dict[str, str], learn: Callable[[Orders, Report], None], control: Control
) -> str:
    """Wait until all processes have ended, and replace killed ones; return a sentence about one not replaced."""
    restarts, told, killed = RESTARTS, False, ""
    while any(lessee.process.poll() is None for lessee in lessees):
        for place, lessee in enumerate(lessees):
            code = lessee.process.poll()
            if not code or control.stopping.is_set():
                continue
            if code < 0 and restarts:
                restarts -= 1
                lessee.end()
                lessees[place] = Lessee(lessee.orders, environment, learn)
            else:
                killed = f"The process with pid {lessee.process.pid}, which projects a share, ended with code {code}."
                control.stopping.set()
        if control.stopping.is_set() and not told:
            told = True
            for lessee in lessees:
                lessee.tell(b"stop")
        time.sleep(POLL_S)
    return killed
