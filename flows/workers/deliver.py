"""The delivery of spooled captures: appends a home's spool to the log once the broker answers."""

from __future__ import annotations

from collections.abc import Callable

from memtape.flows.workers.worker import OnNote, Worker


class Delivery(Worker):
    """Calls `deliver`, which appends the waiting events with their ids and returns their number."""

    def __init__(self, deliver: Callable[[], int], on_note: OnNote) -> None:
        super().__init__(on_note)
        self._deliver = deliver

    def catch_up(self) -> None:
        """Append the waiting events."""
        count = self._deliver()
        self.done += count
        self.changed = self.changed or count > 0

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"Captures wait in the spool: {error} It is tried again."
