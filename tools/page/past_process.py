"""The process that draws past views: `python -m memtape.tools.page.past_process`, started by `past`.

It folds the log. Its home and scope come as a line of JSON on stdin, then the addresses to draw, a line each;
progress and drawn pages go out as lines of JSON on stdout. At the end of stdin its page has ended: it ends at
once. It can be killed at any point. It yields the processor to the page and to agents.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import IO

import msgspec

from memtape.tools.keep.waiting import told_of_folding
from memtape.tools.page.drawing import VIEWS, Drawing
from memtape.tools.page.memory import PageMemory

NICE = 5
TELL_S = 0.1


class PageOrders(msgspec.Struct, frozen=True):
    """The home of the page, and the scope where it begins."""

    home: str
    scope: str


class ToDraw(msgspec.Struct, frozen=True):
    """The path of a view, and the parameters of its address."""

    path: str
    pairs: list[tuple[str, str]]


class PageReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The numbers of folded slots and of all, or at the end the drawn page; `broken` names our mistake."""

    done: int = 0
    total: int = 0
    html: str | None = None
    status: int = 200
    error: str = ""
    broken: str = ""


def main() -> None:
    """Draw the requested views until stdin closes."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is no report.
    os.nice(NICE)
    orders = msgspec.json.decode(sys.stdin.buffer.readline(), type=PageOrders)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=[asked], daemon=True).start()
    drawing = Drawing(PageMemory(Path(orders.home), orders.scope))
    while True:
        _send(reports, _drawn(drawing, msgspec.json.decode(asked.get(), type=ToDraw), reports))


def _drawn(drawing: Drawing, wanted: ToDraw, reports: IO[bytes]) -> PageReport:
    """Draw a view and send the progress on the way."""
    told_s = 0.0

    def told(done: int, total: int) -> None:
        nonlocal told_s
        if time.monotonic() - told_s >= TELL_S:
            told_s = time.monotonic()
            _send(reports, PageReport(done, total))

    try:
        view = next(view for view in VIEWS if view.path == wanted.path)
        with told_of_folding(told):
            drawn = drawing.view(view, wanted.pairs)
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
