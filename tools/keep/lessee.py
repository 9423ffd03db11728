"""A process that projects leased partitions of a home: `python -m memtape.tools.keep.lessee`, started by `leases`."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import Basis
from memtape.sinks.home.folders import Home
from memtape.sinks.home.locks import all_of
from memtape.sinks.logs.opening import open_log
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.leases import Orders, Report
from memtape.tools.keep.projector import FlowOptions, Projector

LEASE_WAIT_S = 30.0


def main() -> None:
    """Carry out the orders of stdin, and report until the end."""
    for number in (signal.SIGINT, signal.SIGTERM):  # They are the owner's, who tells all of its processes.
        signal.signal(number, signal.SIG_IGN)
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.

    def send(report: Report) -> None:
        with suppress(OSError):  # The owner has died, as stdin tells.
            reports.write(msgspec.json.encode(report) + b"\n")
            reports.flush()

    last = Report(read=0)
    try:
        last = _project(msgspec.json.decode(sys.stdin.buffer.readline(), type=Orders), send)
    except MemtapeError as error:
        last = Report(read=0, failure=(str(error), error.hint))
    except OSError as error:
        last = Report(read=0, failure=(str(error), ""))
    except BaseException as error:
        traceback.print_exception(error)
        last = Report(read=0, failure=(f"{type(error).__name__}: {error}", ""))
    send(last)
    sys.stderr.flush()
    os._exit(1 if last.failure else 0)  # A panic of Bytewax can leave threads that never end.


def _project(orders: Orders, send: Callable[[Report], None]) -> Report:
    home, numbers = Home(Path(orders.home)), orders.partitions
    with closing(open_log(home)) as log, all_of([home.lease(number) for number in numbers], LEASE_WAIT_S):
        views = BuildViews(home, log, home.build(orders.build), vault=orders.vault)
        views.go_by([Basis(*basis) for basis in orders.bases])
        options = FlowOptions(1, timedelta(seconds=orders.epoch_s), orders.batch_events, numbers)
        projector = Projector(views, once=orders.once, options=options)
        threading.Thread(target=_obey, args=[projector.stop], daemon=True).start()
        read = projector.run(lambda done: send(Report(read=done, stopping=projector.stopped)))
        return Report(read=read, stopping=projector.stopped, doubts=tuple(projector.doubts))


def _obey(stop: Callable[[], None]) -> None:
    for _ in sys.stdin.buffer:
        stop()
    os._exit(1)


if __name__ == "__main__":
    main()
