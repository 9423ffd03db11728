"""Past views, drawn by a separate process that folds the log: the page itself stays quick.

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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.tools.keep.starting import python_of
from memtape.tools.keep.waiting import told_of_folding, who_waits
from memtape.tools.page.drawing import VIEWS, Drawing, DrawnPage
from memtape.tools.page.memory import PageMemory

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
