"""The worker that writes the pages which are proposed by rule, where somebody has asked for that.

What is proposed, and how a page is written, is handed in. A page's id follows from its slug, so that two workers, or
one that was killed, write none twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import HOUR_US

LOOK_US = HOUR_US
"""How often it is looked whether anything is to be proposed."""
LEAST_NEW = 50
"""So many events of a partition are new before its scopes are looked at again."""


class Proposals(Worker):
    """Has the proposals of each scope applied; `apply` returns how many pages it wrote."""

    def __init__(
        self,
        log: Log,
        scopes: Callable[[], Iterable[str]],
        apply: Callable[[str], int],
        now_us: Callable[[], int],
        is_wanted: Callable[[], bool],
        on_note: OnNote,
    ) -> None:
        super().__init__(on_note)
        self._log, self._scopes, self._apply, self._now_us, self._is_wanted = log, scopes, apply, now_us, is_wanted
        self._look_at = 0
        self._ends: dict[str, int] = {}

    def catch_up(self) -> None:
        """Write what is proposed in scopes of which enough is new; `done` counts pages."""
        now = self._now_us()
        if now < self._look_at or not self._is_wanted():
            return
        self._look_at = now + LOOK_US
        ends = self._log.ends()
        for scope in self._scopes():
            end = ends[partition_of(scope, self._log.partitions)]
            if scope == GLOBAL or self.stopping.is_set() or end < self._ends.get(scope, -LEAST_NEW) + LEAST_NEW:
                continue
            written = self._apply(scope)
            self.done, self.changed = self.done + written, self.changed or written > 0
            self._ends[scope] = end

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        return f"Pages that are proposed could not be written: {error}. It is tried again."
