"""A process that projects leased partitions of a home: `python -m memtape.tools.keep.lessee`, started by `leases`."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.sinks.home.folders import Home, all_of
from memtape.sinks.logs.opening import open_log
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.child import obey, reporter
from memtape.tools.keep.leases import Orders, Report
from memtape.tools.keep.projector import Projector

LEASE_WAIT_S = 30.0


def main() -> None:
    """Carry out the orders of stdin, and report until the end."""
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
    home, numbers = Home(Path(orders.home)), orders.partitions
    with closing(open_log(home)) as log, all_of([home.lease(number) for number in numbers], LEASE_WAIT_S):
        views = BuildViews(home, log, home.build(orders.build), vault=orders.vault)
        views.go_by(orders.bases)
        projector = Projector(views, once=orders.once, partitions=numbers)
        obey(lambda line: projector.stop())
        read = projector.run(lambda done: send(Report(read=done, stopping=projector.stopped)))
        return Report(read=read, stopping=projector.stopped, doubts=tuple(projector.doubts))


if __name__ == "__main__":
    main()
