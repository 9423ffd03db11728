"""The views of a home as one reader has them: brought up to date where that is quick, or as they were."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from memtape.schemas.errors import DamagedViews, Locked, MemtapeError
from memtape.schemas.log import Log
from memtape.schemas.rows import Watermark
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.state.views.tail import PENDING_TYPES
from memtape.tools.capture.profiles import check_kept
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.starting import start_detached
from memtape.tools.query.recorded_vectors import RecordedVectors
from memtape.tools.query.retrieval import Retriever

if TYPE_CHECKING:
    from memtape.flows.workers.worker import Worker

ReadT = TypeVar("ReadT")

WORK_AGAIN_S = 60
"""So long after work was done or tried no projector is started for it: a model may not answer."""
AGAIN_S = 10
"""A small reader starts no projector sooner after another: each takes half a second of processor time."""
WAKE_S = 5.0
"""The wait of a question for a woken project's rows; afterwards it is answered from the existing rows."""
POSITION_WAIT_S = 30.0
"""The wait of a question for the views of a named position."""
LOOK_AGAIN_S = 0.05
"""Poll interval of a small reader (s)."""
INLINE_EVENTS = 2_000
"""While the whole log is shorter than this, a search projects the pending events by itself."""


class Reader(Retriever):
    """Reads the views of one home, brought up to date. `notes` has messages of projectors until shown.

    A `small` reader leaves all projecting to child processes: their memory is freed at their end.
    """

    def __init__(self, home: Home, log: Log) -> None:
        super().__init__(home, log, dense=RecordedVectors(home))
        self.small = False
        self.notes: dict[str, None] = {}
        self._works_at = 0.0
        self._written_s: float | None = None
        """When the pending events were last projected, None before that."""

    def read(self, action: Callable[[Retriever], ReadT], scope: str, as_of: str | None = None) -> ReadT:
        """Return the result of an action on the views, brought up to date where quick, or as they were."""
        if as_of is None:
            self.catch_up(scope)
            return self.reading(action)
        check_kept(self._home, "A view of the past")
        from memtape.tools.query.as_of import PastViews, parse_position, time_asked

        now = now_us()
        positions = parse_position(as_of, self.log, now)
        past = PastViews(self._home, self.log, positions, time_asked(as_of, now))
        views = Retriever(self._home, self.log, past)
        return views.reading(action)

    @cached_property
    def _statements(self) -> Worker:
        """The worker that captures the statements of turns."""
        from memtape.tools.keep.workers import WORKERS

        return WORKERS["extract"].make(self._home, self.log, lambda note: self.notes.update({note: None}))

    def project(self) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
        if self._home.shared is not None:  # Their owners do that, on whatever machine.
            time.sleep(LOOK_AGAIN_S)
            raise Locked("The views are written by the owners of their partitions.", None)
        from memtape.tools.keep.owner import Owner

        with Owner(self._home, self.log, lambda note: self.notes.update({note: None})) as owner:
            events, self._written_s = owner.project(), time.monotonic()
            return events

    def reach(self, revision: int, scopes: Iterable[str]) -> None:
        """Project, or wait for another projector, up to a revision of the settings.

        Only these scopes are waited for: a projector need not write a watermark where no row has changed.
        """
        partitions = dict.fromkeys(partition_of(scope, self.log.partitions) for scope in scopes)
        while True:
            try:
                self.project()
                return
            except Locked:  # It has waited for the lock half a second.
                marks = [self.watermark(number) for number in partitions]
                if all(mark.revision >= revision for mark in marks):
                    return

    def await_position(self, position: str) -> None:
        """Wait until the views have the events at a position, as `3/120,7/45`, whoever writes them.

        Raises `MemtapeError` for no position of the log, and after `POSITION_WAIT_S`.
        """
        from memtape.tools.query.as_of import offsets_of

        until = time.monotonic() + POSITION_WAIT_S
        for number, offset in offsets_of(position, self.log).items():
            while self._lacks(number, offset):
                if time.monotonic() > until:
                    told = f"The views do not have {number}/{offset} after {POSITION_WAIT_S:.0f} s."
                    raise MemtapeError(
                        told, "`memtape status` says how far they are; `memtape run` writes them."
                    )
                try:
                    self.project()
                except Locked:  # It has waited for the lock half a second.
                    continue

    def _lacks(self, number: int, offset: int) -> bool:
        """Whether an event that changes rows, up to an offset, is not in the views."""
        mark = self.watermark(number).offset
        pending = self.log.read(number, mark, 1, types=PENDING_TYPES) if mark <= offset else ()
        return any(slot.offset <= offset for slot in pending)

    def is_asleep(self, scope: str) -> bool:
        """Whether the rows of a whole project have left the views, so far as these can be read."""
        with suppress(DamagedViews):
            return self.life(scope).is_purged
        return False

    def awaken(self, scope: str) -> None:
        """Project until the rows of a project are back, or wait for another projector."""
        until = time.monotonic() + WAKE_S
        while self.is_asleep(scope) and time.monotonic() < until:
            if not self.small:
                with suppress(Locked):  # It has waited for the lock half a second.
                    self.project()
                continue
            if not self._is_projected():
                start_detached(self._home, self.log)
            time.sleep(LOOK_AGAIN_S)

    def catch_up(self, scope: str, *, is_written: bool = False) -> None:
        """Project the pending events of a scope if quick and no other process does; else start a projector.

        Unless `is_written`, a process that has projected folds them in memory instead, where that is quicker.
        A process that keeps nothing has no views: its captures are read from its log. A read-only home is
        read as it is.
        """
        if self._home.is_nowhere or self._home.is_read_only:
            return
        log, ends = self.log, self.log.ends()
        numbers = {name: partition_of(name, log.partitions) for name in scopes_read(scope)}
        try:
            with self.question():
                is_fit = not self.warnings(numbers.values())  # Those of another log are to be made anew.
                due = [
                    number
                    for name, number in numbers.items()
                    if self._has_pending(name, number) or (is_written and self.unwritten(number))
                ]
        except DamagedViews as error:
            self.note_damage(error.partition)
            is_fit, due = False, [error.partition]
        short, is_due = sum(ends) < INLINE_EVENTS, bool(due) or not is_fit
        if is_due and short and not self.small:
            if is_written or not (is_fit and self._go_ahead(due)):
                # Whoever holds the lock is projecting; the tail covers what is not there yet.
                if self._home.lock("projector").holder() is not None:
                    return
                with suppress(Locked):
                    self.project()
            is_due = False
        if not is_due:
            self._work_later()
        elif (short or local_settings(self._home).catch_up) and not self._is_projected():
            start_detached(self._home, log)

    def _has_pending(self, scope: str, number: int) -> bool:
        """Return whether events of a scope, or other settings, stand past the views of its partition.

        A change of settings may require a refold; the first event of a log is always settings and changes
        nothing.
        """
        log, offset = self.log, self.watermark(number).offset
        return offset < log.ends()[number] and bool(
            log.read(number, offset, 1, scope=scope, types=PENDING_TYPES)
            or (offset and log.read(number, offset, 1, types=("configured",)))
        )

    def _go_ahead(self, partitions: Iterable[int]) -> bool:
        """Fold the pending events in memory, return False where they are to be projected instead.

        The first are projected, so that the views of a process that asks once are written, and all later ones
        now and then.
        """
        if self._written_s is None:
            return False
        if time.monotonic() - self._written_s > AGAIN_S:
            self._written_s = time.monotonic()
            if not (local_settings(self._home).catch_up and start_detached(self._home, self.log)):
                return False
        self._statements.once()
        return all(self.go_ahead(number) for number in partitions)

    def close(self) -> None:
        """Write the views that were folded in memory, if no other process does."""
        if any(self.unwritten(number) for number in range(self.log.partitions)):
            with suppress(MemtapeError):  # The log has all, and the next question tells what is wrong.
                self.project()

    def _is_projected(self) -> bool:
        lock = self._home.lock("projector")
        if lock.holder() is not None or self._home.shared is not None:
            return True
        with suppress(FileNotFoundError):  # A projector writes into its lock when it begins.
            return self.small and time.time() - lock.path.stat().st_mtime < AGAIN_S
        return False

    def marks(self) -> Iterator[Watermark]:
        """Yield the watermarks of the partitions with readable views."""
        for number in range(self.log.partitions):
            with suppress(DamagedViews):
                yield self.watermark(number)

    def projected(self) -> int:
        """Return how many slots of the log the views are made from, so far as those can be read."""
        return sum(mark.offset for mark in self.marks())

    def unread(self) -> int:
        """Return how many slots of the log stand behind the views' watermarks."""
        return sum(self.log.ends()) - self.projected()

    def _work_later(self) -> None:
        """Start a projector where texts wait for vectors, or a model for talk; each once a minute."""
        from memtape.flows.models import is_configured

        settings, now = local_settings(self._home), time.monotonic()
        if not settings.catch_up or now < self._works_at or self._home.shared is not None:
            return
        self._works_at = now + WORK_AGAIN_S
        # Each is written whenever something was done, and touched when it is tried.
        waiting = [self._home.embedding_path] if any(mark.waiting for mark in self.marks()) else []
        waiting += [self._home.windows_path] if is_configured(settings.model) else []
        last = time.time() - WORK_AGAIN_S
        due = [path for path in waiting if not path.exists() or path.stat().st_mtime <= last]
        if due and self._home.lock("projector").holder() is None:
            for path in due:
                path.touch()
            start_detached(self._home, self.log)
