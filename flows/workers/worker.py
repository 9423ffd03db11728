"""The base of all workers: how the owner of a home runs a worker, once or until stopped, and how it ends.

The work of each worker, and the list of workers, are elsewhere.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Protocol

from memtape.schemas.errors import BudgetSpent
from memtape.schemas.log import Log

RETRY_S, SPENT_S = (2.0, 60.0), 3_600.0
"""A worker that failed is asked again after the first, then twice as long, at most after the second; after a
spent budget later.
"""
NOTES_KEPT = 256

OnNote = Callable[[str], None]
OnProgress = Callable[[int, int], None]
"""Gets how many parts of a work are done, and how many there are."""


class OffsetStore(Protocol):
    """The store, by name, of the offsets of each partition below which all was read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


class Worker(ABC):
    """Reads a log, appends its results, and keeps its own position. `on_note` gets a sentence for people.

    Not for several threads at once, except `stopping`, which any thread may set.
    """

    poll_s: ClassVar = 1.0
    """Time between two looks of a serving worker."""
    failure: ClassVar = ""
    """The message for people about an error of `catch_up`, before the error."""
    spent: ClassVar = ""
    """The message for people after a spent budget: what becomes of the rest."""

    def __init__(self, log: Log, on_note: OnNote) -> None:
        self.log = log
        self.stopping = threading.Event()
        self.done = 0
        """Amount of work done so far, in the worker's own unit."""
        self.refused = False
        """Whether something was left undone until a person decides or mends something; an outage passes."""
        self.on_failure: Callable[[Exception], None] = lambda error: None
        """Called with each error of `catch_up`."""
        self._on_note = on_note
        self._noted: dict[str, None] = {}

    @abstractmethod
    def catch_up(self) -> None:
        """Do all due work, and add its amount to `done`."""

    def failed(self, error: Exception) -> str:
        """Return the message for people about an error of `catch_up`; empty if reported elsewhere."""
        if isinstance(error, BudgetSpent):
            return f"{error} {error.hint} {self.spent}"
        return f"{self.failure}: {str(error).rstrip('.')}. It is tried again."

    def _tell(self, error: Exception) -> None:
        self.on_failure(error)
        if told := self.failed(error):
            self.note(told)

    def once(self) -> None:
        """Catch up, and note an error instead of raising it."""
        try:
            self.catch_up()
        except Exception as error:
            self._tell(error)

    def serve(self) -> None:
        """Catch up again and again until `stopping` is set; after an error, later."""
        wait_s = RETRY_S[0]
        while not self.stopping.is_set():
            try:
                self.catch_up()
            except Exception as error:  # A worker lives as long as its owner, despite any error.
                self._tell(error)
                self.stopping.wait(SPENT_S if isinstance(error, BudgetSpent) else wait_s)
                wait_s = min(2 * wait_s, RETRY_S[1])
            else:
                wait_s = RETRY_S[0]
                self.stopping.wait(self.poll_s)

    def note(self, note: str) -> None:
        """Tell people a sentence, unless the sentence is among the last `NOTES_KEPT` different ones."""
        if note not in self._noted:
            self._noted[note] = None
            if len(self._noted) > NOTES_KEPT:
                del self._noted[next(iter(self._noted))]
            self._on_note(note)
