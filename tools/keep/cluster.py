"""Several processes that project one home together: how their owner starts them, steers them and learns how they end.

They form one cluster of Bytewax on loopback ports. What they exchange there are pickles, which nobody authenticates.

Bytewax 0.21.1 runs one process of a cluster (`cluster_main`, `python -m bytewax.run -i -a`), and starts several for
tests alone (`python -m bytewax.testing -p`): on ports from 2101 whether they are free or not, with no file handed down
and no progress. An `OSError` in a source comes out of that as a `PanicException` and "did not exit cleanly", without
its text. Where the starter is killed, its processes go on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.visible import visible
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.kafka_url import KafkaTarget
from memtape.tools.keep.cluster_process import Orders, ProcessFailure, Report
from memtape.tools.keep.starting import NOWHERE, python_of

if TYPE_CHECKING:
    from memtape.flows.views import Control

POLL_S = 0.05
LAST_WORDS_S = 2.0
"""The time for the remaining processes to report after one has failed, before they are killed."""
SHOWN_CHARS = 4_000
LOOPBACK = "127.0.0.1"


class UnusableRecovery(MemtapeError):
    """Bytewax ended all processes without a reason; only an unusable recovery store has this effect."""


class Ended(NamedTuple):
    """The end of a process: the exit code (below 0 a signal), the last report, and the end of the output."""

    pid: int
    code: int
    last: Report | None
    printed: str

    @property
    def failure(self) -> ProcessFailure | None:
        """The reported failure; None after an orderly end or without a report."""
        return self.last.failure if self.last is not None else None


class ClusterMember:
    """A process of the cluster, seen from its owner."""

    def __init__(self, orders: Orders, held: Sequence[int], on_report: Callable[[Report], None]) -> None:
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        self._last: Report | None = None
        self._on_report = on_report
        self.process = subprocess.Popen(
            python_of("memtape.tools.keep.cluster_process"),
            cwd=NOWHERE,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            pass_fds=held,
            start_new_session=True,  # So that Ctrl-C is the owner's alone.
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._tell(msgspec.json.encode(orders))

    def stop(self) -> None:
        """Ask the process to end after its current batch."""
        self._tell(b"stop")

    def ended(self) -> Ended:
        """Wait for the end of the process; return its exit code, last report and output."""
        code = self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(BrokenPipeError):
                _open(pipe).close()
        with self._printed as printed:
            printed.seek(0)
            text = printed.read().decode(errors="replace")
        return Ended(self.process.pid, code, self._last, text[-SHOWN_CHARS:])

    def _tell(self, line: bytes) -> None:
        with suppress(BrokenPipeError):  # It has ended, which is seen elsewhere.
            pipe = _open(self.process.stdin)
            pipe.write(line + b"\n")
            pipe.flush()

    def _read(self) -> None:
        for line in _open(self.process.stdout):
            with suppress(msgspec.DecodeError):  # The half line of one that was killed.
                self._last = msgspec.json.decode(line, type=Report)
                self._on_report(self._last)


def run_cluster(orders: Orders, processes: int, control: Control, held: Sequence[int]) -> list[str]:
    """Run the flow in `processes` processes until all have ended; return the discarded work, a sentence each.

    `control` is used as by a flow of this process. The open files `held` are inherited: a lock on one of them
    outlives its owner until the last process has ended. Raises the error that ended a process, `MemtapeError`
    for a killed one, and `UnusableRecovery`.
    """

    def learn(report: Report) -> None:
        control.read.update(report.read)
        if report.stopping:
            control.stopping.set()

    if control.stopping.is_set():
        return []
    with _addresses(processes) as addresses:
        own = [msgspec.structs.replace(orders, addresses=addresses, process=number) for number in range(processes)]
    members: list[ClusterMember] = []
    try:
        members += (ClusterMember(each, held, learn) for each in own)
        _steer(members, control)
    finally:
        failed = [member.process.pid for member in members if member.process.poll()]
        for member in members:
            member.process.kill()  # Nothing happens to one that has ended.
        ends = [member.ended() for member in members]
    _raise_first(ends, failed)
    return [doubt for end in ends if end.last is not None for doubt in end.last.doubts]


def log_of(log: Log) -> str | KafkaTarget:
    """Return the path or target by which another process opens a log. Raises `MemtapeError` for a log in
    memory.
    """
    target = getattr(log, "target", None)
    if isinstance(target, KafkaTarget):
        return target
    if isinstance(log, EmbeddedLog):
        return os.path.abspath(log.path)
    raise MemtapeError("A log in memory cannot be projected by several processes.", "Use --workers.")


def _steer(members: Sequence[ClusterMember], control: Control) -> None:
    """Wait until all have ended, or some time after one has failed; hand on when they are to stop."""
    told = False
    deadline: float | None = None
    while any(member.process.poll() is None for member in members):
        if control.stopping.is_set() and not told:
            told = True
            for member in members:
                member.stop()
        if deadline is None and any(member.process.poll() for member in members):
            deadline = time.monotonic() + LAST_WORDS_S
        if deadline is not None and time.monotonic() > deadline:
            return
        time.sleep(POLL_S)


def _raise_first(ends: Sequence[Ended], failed: Sequence[int]) -> None:
    """Raise the error that ended the cluster: after one process dies, the others' errors are consequences.

    `failed` are the pids with a failed end before the others were killed.
    """
    for end in ends:
        match end.failure:
            case ProcessFailure(kind="memtape", message=message, hint=hint):
                raise MemtapeError(message, hint)
            case ProcessFailure(kind="system", message=message):
                raise OSError(message)
            case ProcessFailure(kind="mistake"):
                sys.stderr.write(visible(end.printed))
                raise _ended(end, f"ended: {end.failure.message}")
    for end in ends:
        if end.pid in failed and end.failure is None:
            how = f"was ended by signal {-end.code}" if end.code < 0 else f"ended with exit code {end.code}"
            raise _ended(end, f"{how}; the others were ended as well.")
    if failed:
        said = ", ".join(end.failure.message for end in ends if end.failure is not None)
        raise UnusableRecovery(f"Bytewax has ended all processes that project together ({said}).", "Use --workers.")


def _ended(end: Ended, how: str) -> MemtapeError:
    hint = "Start it again: it goes on from the last epoch."
    return MemtapeError(f"The process with pid {end.pid}, one of several that project together, {how}", hint)


@contextmanager
def _addresses(count: int) -> Iterator[tuple[str, ...]]:
    """Yield addresses on loopback with free ports, reserved during the block."""
    sockets = [socket.create_server((LOOPBACK, 0)) for _ in range(count)]
    try:
        yield tuple(f"{LOOPBACK}:{server.getsockname()[1]}" for server in sockets)
    finally:
        for server in sockets:
            server.close()


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
