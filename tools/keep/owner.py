"""Projecting a home as its owner: the lifelong lock, repairs at the start, and the turn of another process.

An owner that serves gives way to a process that holds the lock `turn`, and owns the home again after that.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from contextvars import copy_context
from functools import partial

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.errors import Locked, MemtapeError, StillHeld
from memtape.schemas.log import Log
from memtape.schemas.metrics import tell_progress
from memtape.sinks.home.files import all_of
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept, kept_beside
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import failure, operation
from memtape.tools.keep.projector import OnProgress, control_of, project
from memtape.tools.keep.rebuild import (
    Rebuilt,
    adopt_pages,
    damaged_views,
    discard_old_builds,
    mend_vault,
    reason_to_rebuild,
    rebuild,
    scrub,
)
from memtape.tools.keep.states import state_at
from memtape.tools.keep.workers import WORKERS, WorkerKind

LOCK_WAIT_S = 0.5
STOP_S = 10.0
"""The wait at the end for texts that are being embedded; later vectors are lost and made again."""
ASK_POLL_S = 0.1
FEW_EVENTS = 2_000
"""Where more wait for the views, the views come before the workers."""


class Owner:
    """The only process that writes a home's views. A context manager: the lock is held inside.

    `on_note` gets a sentence about each discarded or rebuilt view. `kinds` are the workers beside the views.
    With several `workers`, other processes run the flow; the owner itself does the rest.
    """

    def __init__(
        self,
        home: Home,
        log: Log,
        on_note: OnNote = lambda note: None,
        workers: int = 1,
        *,
        lock_wait_s: float = LOCK_WAIT_S,
        kinds: Mapping[str, WorkerKind] = WORKERS,
    ) -> None:
        self._home, self._log, self._on_note, self._workers = home, log, on_note, workers
        self._lock, self._lock_wait_s = home.lock("projector"), lock_wait_s
        self._ends = threading.Event()
        """Set where the flow is to end, or ends by itself."""
        self._seen: BuildViews | None = None
        self._kinds = kinds
        self._beside = {name: kind.make(home, log, on_note) for name, kind in kinds.items()}
        for name, worker in self._beside.items():
            worker.on_failure = partial(failure, home, "worker_failed", worker=name)
        self._behind: dict[int, bool] = {}
        self._stopped = False
        self._kept: list[str] = []

    def __enter__(self) -> Owner:
        try:
            self._lock.acquire(self._lock_wait_s)
            with all_of(self._home.leases(), self._lock_wait_s):
                pass  # No process of a killed owner is left.
        except Locked as refusal:
            self._lock.release()
            operation("locked", pid=refusal.pid or 0)
            raise
        self._kept = kept(self._home)
        operation("started", workers=self._workers)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        operation("stopped")
        if new := [name for name in kept(self._home) if name not in self._kept]:
            self._on_note(kept_beside(new))

    def check(self) -> bool:
        """Read all views once; mark unreadable ones for a rebuild by `project` or `serve`. Return if any is.

        Takes a second for some hundred thousand rows; only for callers with time.
        """
        for number in self._look().unreadable():
            self._home.current().note_damage(number)
        return bool(damaged_views(self._home, self._log))

    def project(self) -> int:
        """Project to the end of the log and return the number of events read."""
        self._log.check_briefly()
        self.mend()
        waiting = self._look().waiting()
        if waiting <= FEW_EVENTS:
            self._catch_up("before")

        def on_progress(done: int) -> None:
            tell_progress("projecting", done, waiting)

        events = self._run_or_mend(True, on_progress)
        while self._ends.is_set() and not self._stopped:
            self._scrub_or_note()  # The flow stopped by itself, at an erasure.
            more = self._run(True, on_progress)
            if not more and self._ends.is_set() and not self._stopped:
                self._log.check()  # The erasure is on the log, and the log does not name it.
                raise MemtapeError(
                    "The views cannot be brought beyond an erasure.", "`memtape rebuild` makes them anew."
                )
            events += more
        return events

    def work(self) -> dict[str, int]:
        """Run one pass of each worker of a single run, and project what comes meanwhile; return their counts.

        A worker's unfinished work is noted, and still waits.
        """
        ends, workers = self._log.ends(), self._of("before", "after")
        # In a thread, so that `stop` need not wait for an endpoint that says to come again in a minute.
        working = partial(copy_context().run, self._catch_up, "before", "after")
        thread = threading.Thread(target=working, daemon=True)
        thread.start()
        thread.join(ASK_POLL_S)

        def look(_: int) -> None:
            if not thread.is_alive():
                self._ends.set()

        while thread.is_alive() and not self._stopped:
            self._run(False, look)
            self._scrub_or_note()
        thread.join(STOP_S)
        if self._log.ends() != ends and not self._stopped:
            self._run(True)
        return {name: worker.done for name, worker in workers.items()}

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The names of the workers whose last pass ended before all was done."""
        return tuple(name for name, worker in self._beside.items() if worker.unfinished)

    @property
    def refused(self) -> bool:
        """Whether a worker waits for a person to follow its note."""
        return any(worker.refused for worker in self._beside.values())

    def serve(self) -> int:
        """Keep the views up to date until `stop`, and give way to others; return the number of events read.

        The workers run beside the views.
        """
        self._log.check_briefly()
        self.mend()
        beside = self._beside.items()
        for worker in self._of("before", "after").values():
            worker.gives_way = lambda: any([*self._behind.values()])
        threads = [threading.Thread(target=it.serve, name=name, daemon=True) for name, it in beside]
        for thread in threads:
            thread.start()
        events = 0
        try:
            while not self._stopped:
                events += self._run_or_mend(False, lambda _: self._pause())
                if not self._stopped and damaged_views(self._home, self._log):
                    self.mend()  # A reader has met them.
                elif not self._stopped:
                    self._scrub_or_note()
                if self._is_wanted():
                    self._give_way()
        finally:
            self._stop_workers()
            for thread in threads:
                thread.join(STOP_S)
        return events

    def _pause(self) -> None:
        if self._is_wanted() or damaged_views(self._home, self._log):
            self._ends.set()

    def _is_wanted(self) -> bool:
        return self._home.lock("turn").holder() is not None

    def _give_way(self) -> None:
        self._lock.release()
        while not self._stopped:
            with suppress(Locked):
                with self._home.lock("turn").held(ASK_POLL_S):
                    pass
                self._lock.acquire(ASK_POLL_S)
                break
        self._seen = None

    def _stop_workers(self) -> None:
        for worker in self._beside.values():
            worker.stopping.set()

    def rebuild(self) -> Rebuilt:
        """Rebuild all views."""
        self._log.check()
        self._catch_up("first")
        return rebuild(self._home, self._log, self._workers)

    def scrub(self) -> tuple[list[int], int]:
        """Take the bytes of everything that is erased out of views, caches and log; return what `scrub` does.

        Raises `StillHeld`.
        """
        scrubbed = scrub(self._look(), self._workers)
        if any(scrubbed):
            operation("erased")
        return scrubbed

    def stop(self) -> None:
        """Ask `serve` or `project` to end soon; may be called from a signal handler."""
        self._stopped = True
        self._stop_workers()
        self._ends.set()

    def _run(self, once: bool, on_progress: OnProgress | None = None) -> int:
        known, views = None, self._look()
        while views.unscrubbed and known != views.bases:  # Else a flow would leave pages without a row.
            known = views.bases
            self._scrub_or_note()
            views = self._look()
        control = control_of(self._home, once=once)
        control.stopping, self._behind = self._ends, control.behind
        self._ends.clear()
        if self._stopped:  # A signal may have come before there was anything to stop.
            return 0
        try:
            return project(views, control, on_progress, workers=self._workers)
        finally:
            self._seen = None

    def _look(self) -> BuildViews:
        """Return the served views, read anew if they were written or another build has taken over."""
        if self._seen is None or self._seen.build.number != self._home.current().number:
            self._seen = BuildViews(self._home, self._log)
            self._seen.on_doubt = self._on_note
        return self._seen

    def _run_or_mend(self, once: bool, on_progress: OnProgress | None) -> int:
        """Run the flow; after an error with unreadable views, rebuild those and run the flow again.

        Raises `DamagedLog` where the log's damage is the cause.
        """
        try:
            return self._run(once, on_progress)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # LanceDB names no class for damage, and a panic is no Exception.
            failure(self._home, "flow_failed", error)
            self._log.check()
            if not self.check():
                raise
            self.mend()
            return self._run(once, on_progress)

    def mend(self) -> None:
        """Repair the remains of an upgrade, a crash or a deleted folder, before anything is added."""
        self._catch_up("first")  # The edits of people in pages, before pages are written again.
        views = self._look()
        adopt_pages(views)
        astray = {number: why for number, why in enumerate(views.strayed) if why}
        if astray:
            first, *others = astray.values()
            more = f", and {len(others)} more partitions likewise" if others else ""
            said = "The log is not as it was when the views were made, so they are made anew"
            self._on_note(f"{said}: {first}{more}.")
        if reason := reason_to_rebuild(views):
            self._on_note(f"The views are made anew: {reason}.")
        if damaged := damaged_views(self._home, self._log):
            named = ", ".join(map(str, damaged))
            self._on_note(f"Views could not be read and are made anew from the log (partition {named}).")
        if astray or damaged:
            self._log.check()  # What has harmed the one may have harmed the other.
        if reason or astray or damaged:
            only = None if reason else sorted({*astray, *damaged})
            rebuild(self._home, self._log, self._workers, only)
        discard_old_builds(self._home)
        self._home.remove_unfinished()
        self._scrub_or_note()
        views = self._look()
        for number, offset in views.uncovered():
            mend_vault(self._home, self._log, state_at(self._log, views.build, number, offset))

    def _catch_up(self, *once: str) -> None:
        for worker in self._of(*once).values():
            if once == ("first",) or not self._stopped:  # People are heard in any case.
                worker.once()

    def _of(self, *once: str) -> dict[str, Worker]:
        """Return the workers that catch up at some times of a single run, by name."""
        return {name: self._beside[name] for name, kind in self._kinds.items() if kind.once in once}

    def _scrub_or_note(self) -> None:
        try:
            self.scrub()
        except StillHeld as held:  # Nothing else need wait for it; the next run tries again.
            self._on_note(str(held))
