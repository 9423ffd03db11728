"""The base of all workers: what is due is made, appended, and counted, once or until stopped.

A worker works in passes. A pass ends with the first part of its work after `PASS_S`; the next pass goes on
there, and decides the same. The work of each worker, and the list of workers, are elsewhere.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from math import inf
from typing import ClassVar, Protocol

from memtape.schemas.errors import BudgetSpent
from memtape.schemas.events import Event
from memtape.schemas.log import Log, known_among

RETRY_S, SPENT_S = (2.0, 60.0), 3_600.0
"""A worker that failed is asked again after the first, then twice as long, at most after the second; after a
spent budget later.
"""
PASS_S, GIVE_WAY_S = 30.0, 0.1
"""The length of a pass, and the wait between two looks whether the views still need the machine."""
NOTES_KEPT = 256

OnNote = Callable[[str], None]


class OffsetStore(Protocol):
    """The store, by name, of the offsets of each partition below which all was read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


def append_new(log: Log, made: Sequence[Event]) -> list[Event]:
    """Append the events not yet on the log, and return them."""
    known = known_among(log, made)
    new = [event for event in made if (event.scope, event.id) not in known]
    if new:
        log.append(new)
    return new


@dataclass(eq=False)
class Worker:
    """Reads a log, appends its results, and keeps its own position. `on_note` gets a sentence for people.

    Not for several threads at once, except `stopping`, which any thread may set.
    """

    doing: ClassVar = "working"  # The word for people about work that goes on.
    poll_s: ClassVar = 1.0  # Time between two looks of a serving worker.
    failure: ClassVar = ""  # The message for people about an error of `catch_up`, before the error.
    spent: ClassVar = ""  # The message for people after a spent budget: what becomes of the rest.

    log: Log
    on_note: OnNote
    _: KW_ONLY
    stopping: threading.Event = field(default_factory=threading.Event)
    done: int = 0
    """Amount of work done so far, in the worker's own unit, by default appended events."""
    refused: bool = False
    """Whether something was left undone until a person decides or mends something; an outage passes."""
    unfinished: bool = False  # Whether the last pass ended before all was done.
    ends_at_s: float = inf  # The monotonic time after which the pass ends.
    gives_way: Callable[[], bool] = lambda: False
    """Whether no pass may begin now, since many events wait for the views."""
    on_failure: Callable[[Exception], None] = lambda error: None
    """Called with each error of `catch_up`."""
    noted: dict[str, None] = field(default_factory=dict)

    def due(self) -> Iterator[Sequence[Event]]:
        """Make what is due, and yield its events part by part; they are on the log when it goes on."""
        return iter(())

    def catch_up(self) -> None:
        """Append all that is due, unless it is on the log already, and add its amount to `done`."""
        for events in self.due():
            self.done += len(append_new(self.log, events))
            if self.stopping.is_set():
                return

    def is_over(self) -> bool:
        """Return whether the pass ends with the part just done."""
        self.unfinished = time.monotonic() >= self.ends_at_s
        return self.unfinished or self.stopping.is_set()

    def run_pass(self) -> None:
        """Catch up until all is done, or the pass is over."""
        self.unfinished, self.ends_at_s = False, time.monotonic() + PASS_S
        self.catch_up()

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
        """Run a pass, and note an error instead of raising it."""
        try:
            self.run_pass()
        except Exception as error:
            self._tell(error)

    def serve(self) -> None:
        """Run passes until `stopping` is set; after an error, later."""
        wait_s = RETRY_S[0]
        while not self.stopping.is_set():
            if self.gives_way():
                self.stopping.wait(GIVE_WAY_S)
                continue
            try:
                self.run_pass()
            except Exception as error:  # A worker lives as long as its owner, despite any error.
                self._tell(error)
                self.stopping.wait(SPENT_S if isinstance(error, BudgetSpent) else wait_s)
                wait_s = min(2 * wait_s, RETRY_S[1])
            else:
                wait_s = RETRY_S[0]
                self.stopping.wait(0 if self.unfinished else self.poll_s)

    def note(self, note: str) -> None:
        """Tell people a sentence, unless the sentence is among the last `NOTES_KEPT` different ones."""
        if note not in self.noted:
            self.noted[note] = None
            if len(self.noted) > NOTES_KEPT:
                del self.noted[next(iter(self.noted))]
            self.on_note(note)
