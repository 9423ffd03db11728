"""One process of a cluster that projects a home: `python -m memtape.tools.keep.cluster_process`, started by `cluster`.

Its orders come as one line of JSON on stdin, its reports go out as lines of JSON on stdout; nothing of it is code. Any
further line means stop. Where stdin ends, its owner has died: it ends at once, since the home is about to be another's.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import traceback
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.kafka_url import KafkaTarget

if TYPE_CHECKING:
    from memtape.flows.views import Control
    from memtape.sinks.epochs import BuildTarget

REPORT_S = 0.1


PANIC = "panicked at"
"""The words of libraries in Rust about an unhandled error."""


class Orders(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of a process. `log` is the path of an embedded log or a topic; `epoch_s` in seconds.

    `bases` and `written` are the owner's findings for each partition: only the owner looks at the views
    before all processes run, and only it discards any.
    """

    home: str
    build: int
    vault: bool
    log: str | KafkaTarget
    once: bool
    batch_events: int
    epoch_s: float
    workers: int
    addresses: tuple[str, ...]
    process: int
    bases: tuple[tuple[str, str, int], ...]
    written: tuple[int, ...]


class ProcessFailure(msgspec.Struct, frozen=True):
    """The cause of a process's end: an error of Memtape or the system, a mistake, or Bytewax by itself."""

    kind: Literal["memtape", "system", "mistake", "bytewax"]
    message: str
    hint: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a process: slots read by partition, whether its flow ends by itself, its outcome."""

    read: dict[int, int]
    stopping: bool
    doubts: tuple[str, ...] = ()
    finished: bool = False
    failure: ProcessFailure | None = None


def main() -> None:
    """Carry out the orders, and report until the end."""
    for number in (signal.SIGINT, signal.SIGTERM):  # They are the owner's, who tells all of its processes.
        signal.signal(number, signal.SIG_IGN)
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.
    orders = msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders)
    from memtape.flows.views import Control
    from memtape.tools.keep.operations import steps_of

    on_step = steps_of(Home(Path(orders.home)))
    control = Control(once=orders.once, batch_events=orders.batch_events, on_step=on_step)
    threading.Thread(target=_obey, args=[control], daemon=True).start()
    doubts: list[str] = []
    failures: list[ProcessFailure] = []

    def flow() -> None:
        try:
            _project(orders, control, doubts)
        except BaseException as error:
            traceback.print_exception(control.failures[0] if control.failures else error)
            failures.append(_failure(error, control))

    thread = threading.Thread(target=flow, name="views", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(REPORT_S)
        _send(reports, Report(read=dict(control.read), stopping=control.stopping.is_set()))
    failure = failures[0] if failures else None
    stopping = control.stopping.is_set()
    last = Report(read=dict(control.read), stopping=stopping, doubts=tuple(doubts), finished=True, failure=failure)
    _send(reports, last)
    sys.stderr.flush()
    os._exit(1 if failure else 0)  # A panic of Bytewax can leave threads that never end.


def cause_of(error: BaseException) -> BaseException:
    """Return the error of Memtape or the system that Bytewax has wrapped."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (MemtapeError, OSError)):
            return cause
        cause = cause.__cause__
    return error


def told_panic(error: BaseException) -> BaseException:
    """Return a library's panic as a sentence, since its text names lines of Rust; other errors unchanged.

    In a cluster the remaining processes panic after the first death, so there a panic is not the cause.
    """
    if not (PANIC in str(error) or type(error).__name__ == "PanicException"):
        return error
    quoted = re.findall(r'"([^"]{1,200})"', str(error))
    why = f": {quoted[-1]}" if quoted else ""
    return MemtapeError(
        f"The views could not be written{why}.",
        "See that the disk has room, and that no limit on file sizes (`ulimit -f`) is in force.",
    )


def _obey(control: Control) -> None:
    for _ in sys.stdin.buffer:
        control.stopping.set()
    os._exit(1)


def _project(orders: Orders, control: Control, doubts: list[str]) -> None:
    from memtape.flows.views import run_flow, views

    home = Home(Path(orders.home))
    build = home.build(orders.build)
    with closing(_open(home, orders.log)) as log:
        target = _target(home, orders, log)
        try:
            flow, epoch = views(log, target, control), timedelta(seconds=orders.epoch_s)
            run_flow(flow, orders.workers, epoch, build.recovery, orders.addresses, orders.process)
        finally:
            doubts += target.take_doubts()


def _open(home: Home, log: str | KafkaTarget) -> Log:
    if isinstance(log, str):
        from memtape.sinks.logs.embedded import EmbeddedLog

        return EmbeddedLog(Path(log))
    from memtape.sinks.logs.kafka import KafkaLog

    return KafkaLog(log, ids=home.known_ids)


def _target(home: Home, orders: Orders, log: Log) -> BuildTarget:
    from memtape.schemas.rows import Basis
    from memtape.sinks.epochs import BuildTarget
    from memtape.sinks.tables import Shard

    build, bases = home.build(orders.build), [Basis(*basis) for basis in orders.bases]
    shards = [Shard(build.shard(number), number) for number in range(len(bases))]
    return BuildTarget(home, build, shards, bases, log.erased, vault=orders.vault, written=orders.written)


def _failure(error: BaseException, control: Control) -> ProcessFailure:
    cause = control.failures[0] if control.failures else cause_of(error)
    if isinstance(cause, MemtapeError):
        return ProcessFailure("memtape", str(cause), cause.hint)
    if isinstance(cause, OSError):
        return ProcessFailure("system", str(cause))
    mistake = bool(control.failures) or type(error).__name__ != "PanicException"
    return ProcessFailure("mistake" if mistake else "bytewax", f"{type(cause).__name__}: {cause}")


def _send(reports: IO[bytes], report: Report) -> None:
    try:
        reports.write(msgspec.json.encode(report) + b"\n")
        reports.flush()
    except OSError:  # The owner has died.
        os._exit(1)


if __name__ == "__main__":
    main()
