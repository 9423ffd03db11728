"""Past views, drawn by a separate process that folds the log: the page itself stays quick.

A request for a past view waits a moment, else gets the progress, and is repeated until the view is ready.
A page has at most one process, started at its first need; it draws one view after another, and yields the processor
to the page and to agents. Home and scope come as a line of JSON on its stdin, then the addresses to draw, a line each;
progress and drawn pages go out as lines of JSON on stdout. At the end of stdin its page has ended: it ends at once. It
can be killed at any point.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import IO, Generic, NamedTuple, TypeVar

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.tools.keep.starting import python_of
from memtape.tools.keep.waiting import told_of_folding, who_waits
from memtape.tools.page.asked import PageMemory
from memtape.tools.page.drawing import VIEWS, Drawing, DrawnPage

ResultT = TypeVar("ResultT")

WAIT_S = 0.15
GONE_S = 6.0
"""Browsers ask again each second. An answer not requested for this long is dropped, as on a view's change."""
MOST_KEPT = 8
"""The most answers in progress or ready; beyond that the oldest is dropped."""


class Progress(NamedTuple):
    """How far an answer is that is being made: slots folded, of how many, and since when, in seconds."""

    done: int
    total: int
    elapsed_s: float

    @property
    def rate(self) -> int:
        """Slots folded in a second, 0 if not yet known."""
        return int(self.done / self.elapsed_s) if self.done and self.elapsed_s else 0

    @property
    def left_s(self) -> int:
        """How many seconds are left at this rate, at least 1."""
        return max(1, round((self.total - self.done) / self.rate)) if self.rate else 1


class _Gone(Exception):
    """The answer is no longer requested."""


class _SlowAnswer(Generic[ResultT]):
    """An answer in progress: the begin of the current fold, and the time of the last request for it."""

    def __init__(self) -> None:
        self.future: Future[ResultT | None]
        self.done, self.total, self.began_s = 0, 0, time.monotonic()
        self.asked_s = time.monotonic()

    def told(self, done: int, total: int) -> None:
        """Take in how many slots are folded; where they begin anew, another state is. Raises `_Gone`."""
        if time.monotonic() - self.asked_s > GONE_S:
            raise _Gone
        if done < self.done:
            self.began_s = time.monotonic()
        self.done, self.total = done, total


class Slow(Generic[ResultT]):
    """Answers by address, from their request until they are fetched or no longer requested."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, _SlowAnswer[ResultT]] = {}
        self._worker = ThreadPoolExecutor(1, "memtape-past")

    def of(self, address: str, make: Callable[[], ResultT]) -> ResultT | Progress:
        """Return an answer if ready within `WAIT_S` seconds, else the progress. Raises errors of `make`."""
        with self._lock:
            making = self._made.get(address) or self._begun(address, make)
            making.asked_s = time.monotonic()
        wait([making.future], WAIT_S)
        if not making.future.done():
            return Progress(making.done, making.total, time.monotonic() - making.began_s)
        with self._lock:
            self._made.pop(address, None)
        answer = None if making.future.cancelled() else making.future.result()
        # What was given up just now is begun anew when it is asked for again.
        return Progress(0, 0, 0) if answer is None else answer

    def _begun(self, address: str, make: Callable[[], ResultT]) -> _SlowAnswer[ResultT]:
        making = self._made[address] = _SlowAnswer[ResultT]()

        def made() -> ResultT | None:
            making.began_s = time.monotonic()
            try:
                making.told(0, 0)
                with told_of_folding(making.told):
                    return make()
            except _Gone:
                with self._lock:
                    if self._made.get(address) is making:
                        del self._made[address]
                return None

        making.future = self._worker.submit(made)
        while len(self._made) > MOST_KEPT:
            self._made.pop(next(iter(self._made))).future.cancel()
        return making

    def close(self) -> None:
        """Finish the running answer, and cancel the waiting ones."""
        self._worker.shutdown(wait=True, cancel_futures=True)


MODULE = "memtape.tools.page.past"
NICE = 5
TELL_S = 0.1


class PageReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers of folded slots and of all, or at the end the drawn page; `broken` names our mistake."""

    done: int = 0
    total: int = 0
    html: str | None = None
    status: int = 200
    error: str = ""
    broken: str = ""


class Past:
    """The process that draws the past of a home. `drawn` is for one thread, `close` for any."""

    def __init__(self, home: Path, scope: str) -> None:
        self._orders = (str(home), scope)
        self._changing = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def drawn(self, path: str, pairs: list[tuple[str, str]]) -> DrawnPage:
        """Return a view, with progress for the waiting caller. Raises `MemtapeError` at the process's end."""
        process = self._started()
        self._tell(process, (path, pairs))
        try:
            for report in _reports(process):
                if report.broken:
                    raise RuntimeError(f"The process that looks at the past has met {report.broken}.")
                if report.html is not None:
                    return DrawnPage(report.html, report.status, report.error)
                who_waits()(report.done, report.total)
        except BaseException:  # Nobody waits any more: the next must not be given this view.
            process.kill()
            process.wait()
            raise
        raise _ended(process)

    def close(self) -> None:
        """Kill the process, and start no other."""
        with self._changing:
            self._closed = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._changing:
            if self._closed:
                raise MemtapeError("The page is ending.", "Start it again: memtape page")
            if self._process is not None and self._process.poll() is None:
                return self._process
            # In a session of its own, so that Ctrl-C is the page's alone.
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(python_of(MODULE), stdin=pipe, stdout=pipe, start_new_session=True)
            self._tell(self._process, self._orders)
            return self._process

    def _tell(self, process: subprocess.Popen[bytes], told: object) -> None:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # It has ended, which is seen where it is read.
            process.stdin.write(msgspec.json.encode(told) + b"\n")
            process.stdin.flush()


def _reports(process: subprocess.Popen[bytes]) -> Iterator[PageReport]:
    assert process.stdout is not None
    for line in process.stdout:
        if line.endswith(b"\n"):  # Else it is half a line of one that was killed.
            yield msgspec.json.decode(line, type=PageReport)


def _ended(process: subprocess.Popen[bytes]) -> MemtapeError:
    code = process.wait()
    how = f"was ended by signal {-code}" if code < 0 else f"has ended with exit code {code}"
    return MemtapeError(
        f"The process that folds the log for this view {how}.",
        "Load this view again: another process goes on from what this one has left.",
    )


def main() -> None:
    """Draw the requested views until stdin closes: this is the other process."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.
    os.nice(NICE)
    home, scope = msgspec.json.decode(sys.stdin.buffer.readline(), type=tuple[str, str])
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=[asked], daemon=True).start()
    drawing = Drawing(PageMemory(Path(home), scope))
    while True:
        path, pairs = msgspec.json.decode(asked.get(), type=tuple[str, list[tuple[str, str]]])
        _send(reports, _drawn(drawing, path, pairs, reports))


def _drawn(drawing: Drawing, path: str, pairs: list[tuple[str, str]], reports: IO[bytes]) -> PageReport:
    """Draw a view and send the progress on the way."""
    told_s = 0.0

    def told(done: int, total: int) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= TELL_S:
            told_s = time.monotonic()
            _send(reports, PageReport(done, total))

    try:
        view = next(view for view in VIEWS if view.path == path)
        with told_of_folding(told):
            drawn = drawing.view(view, pairs)
    except Exception as error:
        traceback.print_exc()
        return PageReport(html="", broken=type(error).__name__)
    return PageReport(html=drawn.html, status=drawn.status, error=drawn.error)


def _read(asked: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


def _send(reports: IO[bytes], report: PageReport) -> None:
    try:
        reports.write(msgspec.json.encode(report) + b"\n")
        reports.flush()
    except OSError:  # The page has ended.
        os._exit(0)


if __name__ == "__main__":
    main()
