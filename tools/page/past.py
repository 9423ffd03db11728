"""Past views, drawn by a separate process that folds the log: the page itself stays quick.

A request for a past view waits a moment, else gets the progress, and is repeated until the view is ready. A
page has at most one process (`tools/keep/starting.py`), started at its first need; it draws one view after
another, and yields the processor to the page and to agents. Its first order is home and scope, each further
one an address to draw.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.tools.keep.starting import obey, reporter, reports_of, started, tell
from memtape.tools.keep.waiting import told_of_folding
from memtape.tools.page.asked import PageMemory
from memtape.tools.page.drawing import VIEWS, Drawing, DrawnPage

MODULE = "memtape.tools.page.past"
WAIT_S = 0.15
GONE_S = 6.0
"""Browsers ask again each second. A view not requested for this long is dropped, as on a view's change."""
MOST_KEPT = 8
"""The most views in progress or ready; beyond that the oldest is dropped."""
NICE = 5
TELL_S = 0.1

Address = tuple[str, list[tuple[str, str]]]
"""The path of a view, and its parameters."""


class PageReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers of folded slots and of all, or at the end the drawn page; `broken` names our mistake."""

    done: int = 0
    total: int = 0
    page: DrawnPage | None = None
    broken: str = ""


class PastView:
    """A view in progress: slots folded (`done`) of how many, and the time of the last request."""

    def __init__(self) -> None:
        self.future: Future[DrawnPage | None]
        self.done = self.total = 0
        self.asked_s = time.monotonic()

    def is_wanted(self, report: PageReport) -> bool:
        """Take in a report, and return whether the view is still requested."""
        self.done, self.total = report.done, report.total
        return time.monotonic() - self.asked_s <= GONE_S


class Past:
    """The process that draws the past of a home, and the views from their request until they are fetched."""

    def __init__(self, home: Path, scope: str) -> None:
        self._orders = (os.path.abspath(home), scope)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._made: dict[str, PastView] = {}
        self._worker = ThreadPoolExecutor(1, "memtape-past")

    def view(self, address: Address) -> DrawnPage | PastView:
        """Return a view if ready within `WAIT_S`, else the progress. Raises `MemtapeError` at an end."""
        with self._lock:
            making = self._made.get(repr(address))
            if making is None:
                making = self._made[repr(address)] = PastView()
                making.future = self._worker.submit(self._drawn, making, address)
                while len(self._made) > MOST_KEPT:
                    self._made.pop(next(iter(self._made))).future.cancel()
            making.asked_s = time.monotonic()
        wait([making.future], WAIT_S)
        if not making.future.done():
            return making
        with self._lock:
            self._made.pop(repr(address), None)
        # What was given up just now is begun anew when it is asked for again.
        return (None if making.future.cancelled() else making.future.result()) or PastView()

    def close(self) -> None:
        """Kill the process, and start no other."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()
        self._worker.shutdown(wait=True, cancel_futures=True)
        if self._process is not None:
            self._process.wait()

    def _drawn(self, making: PastView, address: Address) -> DrawnPage | None:
        """Return a drawn view, None for one that is no longer requested."""
        if not making.is_wanted(PageReport()):
            return None
        with self._lock:
            if self._closed:
                raise MemtapeError("The page is ending.", "Start it again: memtape page")
            if self._process is None or self._process.poll() is not None:
                self._process = started(MODULE, self._orders)
            process = self._process
        tell(process, address)
        for report in reports_of(process, PageReport):
            if report.page is not None:
                return report.page
            if report.broken:
                raise RuntimeError(f"The process that looks at the past has met {report.broken}.")
            if not making.is_wanted(report):  # The next must not be given this view.
                process.kill()
                process.wait()
                return None
        code = process.wait()
        how = f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"
        raise MemtapeError(
            f"The process that folds the log for this view {how}.",
            "Load this view again: another process goes on from what this one has left.",
        )


def main() -> None:
    """Draw the requested views until stdin closes, and send the progress: this is the other process."""
    send, told_s = reporter(), 0.0
    os.nice(NICE)
    home, scope = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[str, str])
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    obey(asked.put)
    drawing = Drawing(PageMemory(Path(home), scope))

    def told(done: int, total: int) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= TELL_S:
            told_s = time.monotonic()
            send(PageReport(done, total))

    while True:
        path, pairs = msgspec.json.decode(asked.get(), type=Address)
        try:
            with told_of_folding(told):
                drawn = drawing.view(next(view for view in VIEWS if view.path == path), pairs)
            send(PageReport(page=drawn))
        except Exception as error:
            traceback.print_exc()
            send(PageReport(broken=type(error).__name__))


if __name__ == "__main__":
    main()
