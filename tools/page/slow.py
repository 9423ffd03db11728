"""Slow answers, as of past views: each is made aside, and requested again until ready.

A request waits a moment, else gets the progress. Answers are made one at a time: the page itself stays quick.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, NamedTuple, TypeVar

from memtape.tools.keep.waiting import told_of_folding

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
