"""Past views, drawn by a thread that folds the log, one after another: the page itself stays quick.

A request for a past view waits a moment, else gets the progress, and is repeated until the view is ready.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from memtape.schemas.metrics import told_of_progress
from memtape.tools.page.asked import PageMemory
from memtape.tools.page.drawing import VIEWS, Drawing

WAIT_S = 0.15
GONE_S = 6.0
"""Browsers ask again each second. A view not requested for this long is dropped, as on a view's change."""
MOST_KEPT = 8
"""The most views in progress or ready; beyond that the oldest is dropped."""

Address = tuple[str, list[tuple[str, str]]]
"""The path of a view, and its parameters."""


class GivenUp(BaseException):
    """Ends the fold of a view that is no longer requested. Readers take an `Exception` for damage."""


class PastView:
    """A view in progress: slots folded (`done`) of how many, and the time of the last request."""

    def __init__(self) -> None:
        self.future: Future[str | None]
        self.done = self.total = 0
        self.asked_s = time.monotonic()

    def tell(self, phase: str, done: int, total: int) -> None:
        """Take in how far the fold is. Raises `GivenUp` where nobody requests the view any more."""
        self.done, self.total = done, total
        if time.monotonic() - self.asked_s > GONE_S:
            raise GivenUp


class Past:
    """The thread that draws the past of a home, and the views from their request until they are fetched."""

    def __init__(self, home: Path, scope: str) -> None:
        self._held = PageMemory(home, scope)
        self._drawing = Drawing(self._held)
        self._lock = threading.Lock()
        self._made: dict[str, PastView] = {}
        self._worker = ThreadPoolExecutor(1, "memtape-past")

    def view(self, address: Address) -> str | PastView:
        """Return a view if ready within `WAIT_S`, else the progress."""
        with self._lock:
            making = self._made.get(repr(address))
            if making is None:
                making = self._made[repr(address)] = PastView()
                making.future = self._worker.submit(self._drawn, making, address)
                while len(self._made) > MOST_KEPT:
                    self._drop(next(iter(self._made)))
            making.asked_s = time.monotonic()
        wait([making.future], WAIT_S)
        if not making.future.done():
            return making
        with self._lock:
            self._made.pop(repr(address), None)
        # What was given up just now is begun anew when it is asked for again.
        return (None if making.future.cancelled() else making.future.result()) or PastView()

    def close(self) -> None:
        """Give up every view, and end the thread."""
        with self._lock:
            for address in list(self._made):
                self._drop(address)
        self._worker.shutdown(cancel_futures=True)
        self._held.close()

    def _drop(self, address: str) -> None:
        making = self._made.pop(address)
        making.asked_s = -math.inf
        making.future.cancel()

    def _drawn(self, making: PastView, address: Address) -> str | None:
        """Return a drawn view, None for one that is no longer requested."""
        path, pairs = address
        try:
            making.tell("", 0, 0)
            with told_of_progress(making.tell):
                return self._drawing.view(next(view for view in VIEWS if view.path == path), pairs)
        except GivenUp:
            return None
