"""Projecting a home as its owner: the lifelong lock, repairs at the start, requests of other processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from memtape.flows.workers.worker import OnNote
from memtape.schemas.errors import Locked, MemtapeError, StillHeld
from memtape.schemas.log import Log
from memtape.sinks.home.folders import Home
from memtape.sinks.home.locks import FileLock, all_of
from memtape.sinks.home.requests import Reply, Requests
from memtape.sinks.page_files import kept, kept_beside
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.operations import failure, operation, steps_of
from memtape.tools.keep.projector import FlowOptions, OnProgress, Projector
from memtape.tools.keep.rebuild import (
    OnPhase,
    Rebuilt,
    adopt_pages,
    check_views,
    damaged_views,
    discard_old_builds,
    mend_vault,
    reason_to_rebuild,
    rebuild,
)
from memtape.tools.keep.scrubbing import scrub
from memtape.tools.keep.workers import WORKERS, WorkerKind

LOCK_WAIT_S = 0.5
STOP_S = 10.0
"""The wait at the end for texts that are being embedded; later vectors are lost and made again."""
ASK_POLL_S = 0.1
ALL_PARTITIONS = -1
"""The partition number in reports about several partitions."""
REPLY_EVERY_S = 0.2


class Owner:
    """The only process that writes a home's views. A context manager: the lock is held inside.

    `on_note` gets a sentence about each discarded or rebuilt view. `kinds` are the workers beside the views. With
    several `workers`, other processes run the flow; the owner itself does the rest.
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
        self._home = home
        self._log = log
        self._on_note = on_note
        self._workers = workers
        self._lock_wait_s = lock_wait_s
        self._lock: FileLock = home.lock("projector")
        self._requests = Requests(home.requests)
        self._projector: Projector | None = None
        self._seen: BuildViews | None = None
        self._kinds = kinds
        self._beside = {name: kind.make(home, log, on_note) for name, kind in kinds.items()}
        for name, worker in self._beside.items():
            worker.on_failure = partial(failure, home, "worker_failed", worker=name)
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
        _note_kept(self._home, self._kept, self._on_note)

    def check(self) -> bool:
        """Read all views once; mark unreadable ones for a rebuild by `project` or `serve`. Return if any is.

        Takes a second for some hundred thousand rows; only for callers with time.
        """
        return check_views(self._look())

    def project(self, on_progress: OnProgress | None = None, on_phase: OnPhase = lambda *_: None) -> int:
        """Project to the end of the log and return the number of events read.

        `on_phase` gets the progress of earlier repairs, as after an upgrade.
        """
        self._log.check_briefly()
        self._mend(on_phase)
        for worker in [self._beside[name] for name, kind in self._kinds.items() if kind.once == "before"]:
            worker.once()
        events = self._run_or_mend(once=True, on_progress=on_progress)
        while self._projector is not None and self._projector.stopped and not self._stopped:
            self._scrub_or_note()  # The flow stopped by itself, at an erasure.
            more = self._run(once=True, on_progress=on_progress)
            if not more and self._projector.stopped and not self._stopped:
                self._log.check()  # The erasure is on the log, and the log does not name it.
                raise MemtapeError(
                    "The views cannot be brought beyond an erasure.", "`memtape rebuild` makes them anew from the log."
                )
            events += more
        return events

    def work(self, on_progress: OnProgress = lambda done: None, *, without: Collection[str] = ()) -> dict[str, int]:
        """Run the workers of a single run, then project; return each worker's count.

        A worker's unfinished work is noted, and still waits. `without` are the names of workers to skip.
        """
        before = self._done
        workers = {name: self._beside[name] for name, kind in self._kinds.items() if kind.once == "after"}
        for name, worker in workers.items():
            if name in without:
                continue
            # In a thread, so that `stop` need not wait for an endpoint that says to come again in a minute.
            thread = threading.Thread(target=worker.once, daemon=True)
            thread.start()
            while thread.is_alive() and not self._stopped:
                thread.join(ASK_POLL_S)
                on_progress(self._done - before)
            thread.join(STOP_S)
        if any(worker.changed for worker in self._beside.values()) and not self._stopped:
            self._run(once=True, on_progress=None)
        return {name: worker.done for name, worker in workers.items()}

    @property
    def _done(self) -> int:
        return sum(worker.done for worker in self._beside.values())

    @property
    def refused(self) -> bool:
        """Whether a worker waits for a person to follow its note."""
        return any(worker.refused for worker in self._beside.values())

    def serve(self, *, without: Collection[str] = ()) -> int:
        """Keep the views up to date and answer requests until `stop`; return the number of events read.

        The workers run beside the views, except those named in `without`.
        """
        self._log.check_briefly()
        self._mend()
        threads = [
            threading.Thread(target=worker.serve, name=name, daemon=True)
            for name, worker in self._beside.items()
            if name not in without
        ]
        for thread in threads:
            thread.start()
        try:
            return self._serve()
        finally:
            self._stop_workers()
            for thread in threads:
                thread.join(STOP_S)

    def _stop_workers(self) -> None:
        for worker in self._beside.values():
            worker.stopping.set()

    def _serve(self) -> int:
        events = 0
        while not self._stopped:
            events += self._run_or_mend(once=False, on_progress=lambda _: self._pause_for_requests())
            if not self._stopped and damaged_views(self._home, self._log):
                self._mend()  # A reader has met them.
            elif not self._stopped:
                self._scrub_or_note()
            for id in [] if self._stopped else self._requests.waiting():
                self._answer(id)
        return events

    def rebuild(self, on_phase: OnPhase) -> Rebuilt:
        """Rebuild all views."""
        self._log.check()
        self._hear_people()
        with self._timed_rebuild():
            return rebuild(self._home, self._log, on_phase, self._workers)

    @contextmanager
    def _timed_rebuild(self) -> Iterator[None]:
        began = time.perf_counter_ns()
        yield
        steps_of(self._home)("rebuild", ALL_PARTITIONS, time.perf_counter_ns() - began)

    def scrub(self, on_phase: OnPhase = lambda *_: None) -> tuple[list[int], int]:
        """Take the bytes of everything that is erased out of views, caches and log; return what `scrub` does.

        Raises `StillHeld`.
        """
        scrubbed = scrub(self._look(), on_phase, self._workers)
        if any(scrubbed):
            operation("erased")
        return scrubbed

    def stop(self) -> None:
        """Ask `serve` or `project` to end soon; may be called from a signal handler."""
        self._stopped = True
        self._stop_workers()
        if self._projector is not None:
            self._projector.stop()

    def _run(self, once: bool, on_progress: OnProgress | None) -> int:
        self._projector = Projector(self._look(), once=once, options=FlowOptions(self._workers))
        if self._stopped:  # A signal may have come before there was anything to stop.
            return 0
        try:
            return self._projector.run(on_progress)
        finally:
            self._seen = None
            for doubt in self._projector.doubts:
                self._on_note(doubt)

    def _look(self) -> BuildViews:
        """Return the views that are served, read anew if they were written or another build has taken over."""
        if self._seen is None or self._seen.build.number != self._home.current().number:
            self._seen = BuildViews(self._home, self._log)
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
            self._mend()
            return self._run(once, on_progress)

    def _mend(self, on_phase: OnPhase = lambda *_: None) -> None:
        """Repair the remains of an upgrade, a crash or a deleted folder, before anything is added."""
        self._hear_people()
        views = self._look()
        adopt_pages(views)
        astray = {number: why for number in views.numbers if (why := views.strayed(number))}
        if astray:
            more = f", and {len(astray) - 1} more partitions likewise" if len(astray) > 1 else ""
            first = next(iter(astray.values()))
            self._on_note(f"The log is not as it was when the views were made, so they are made anew: {first}{more}.")
        reason = reason_to_rebuild(views)
        if reason is not None:
            self._on_note(f"The views are made anew: {reason}.")
        damaged = damaged_views(self._home, self._log)
        if damaged:
            named = ", ".join(map(str, damaged))
            self._on_note(f"Views could not be read and are made anew from the log (partition {named}).")
        if astray or damaged:
            self._log.check()  # What has harmed the one may have harmed the other.
        if reason is not None or astray or damaged:
            with self._timed_rebuild():
                only = None if reason is not None else sorted({*astray, *damaged})
                rebuild(self._home, self._log, on_phase, self._workers, only)
        discard_old_builds(self._home)
        self._home.remove_unfinished()
        self._scrub_or_note(on_phase)
        views = self._look()
        for number, offset in views.uncovered():
            mend_vault(self._home, self._log, views.build, number, offset)
        for doubt in views.take_doubts():
            self._on_note(doubt)

    def _hear_people(self) -> None:
        """Append the edits of people in pages, before pages are written again."""
        for worker in (self._beside[name] for name, kind in self._kinds.items() if kind.once == "first"):
            worker.once()

    def _scrub_or_note(self, on_phase: OnPhase = lambda *_: None) -> None:
        try:
            self.scrub(on_phase)
        except StillHeld as held:  # Nothing else need wait for it; the next run tries again.
            self._on_note(str(held))

    def _pause_for_requests(self) -> None:
        if (self._requests.waiting() or damaged_views(self._home, self._log)) and self._projector is not None:
            self._projector.stop()

    def _answer(self, id: str) -> None:
        verb = self._requests.read(id)
        last = 0.0

        def on_phase(phase: str, done: int, total: int) -> None:
            nonlocal last
            if time.monotonic() - last >= REPLY_EVERY_S:
                last = time.monotonic()
                self._requests.reply(id, Reply(phase=phase, done=done, total=total))

        try:
            result = self._do(verb, on_phase)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # A panic of LanceDB or Bytewax is no Exception.
            said = _failure(error)
            failure(self._home, "request_failed", error)
            self._on_note(f"A request ({verb}) failed: {said.error}")
        else:
            said = Reply(phase="done", done=1, total=1, finished=True, result=result)
        try:
            self._requests.reply(id, said)
        except OSError as error:  # Nobody does it again.
            self._on_note(f"A request could not be answered: {error}.")
            self._requests.forget(id)

    def _do(self, verb: str, on_phase: OnPhase) -> str:
        self._seen = None  # What is asked may follow from what has come onto the log just now.
        match verb:
            case "rebuild":
                made = self.rebuild(on_phase)
                return f"{made.build} {made.events} {made.state_hash}"
            case "scrub":
                self._mend(on_phase)  # An erasure that was cut short may have left more than its own.
                self.scrub(on_phase)
                return ""
            case _:
                raise MemtapeError(f"The projector does not know what is asked ({verb}).")


def _failure(error: BaseException) -> Reply:
    """Return the answer with the error of a request; a file name in it may be invalid Unicode."""
    known = isinstance(error, MemtapeError)
    said = str(error) if known else f"{type(error).__name__}: {error}."
    hint = error.hint if isinstance(error, MemtapeError) else "`memtape verify` says whether the views are right."
    text = said.encode(errors="replace").decode()
    return Reply(phase="", done=0, total=0, finished=True, error=text, hint=hint.encode(errors="replace").decode())


def rebuild_or_ask(home: Home, log: Log, on_phase: OnPhase, on_note: OnNote) -> Rebuilt:
    """Rebuild as the owner of the home, or have its living projector do it; progress is told either way."""
    build, events, state_hash = _as_owner_or_ask(home, log, "rebuild", on_phase, on_note).split()
    return Rebuilt(int(build), int(events), state_hash)


def scrub_or_ask(home: Home, log: Log, on_phase: OnPhase, on_note: OnNote) -> None:
    """Scrub as the home's owner, or ask its running projector. Raises the errors of `scrub`."""
    _as_owner_or_ask(home, log, "scrub", on_phase, on_note)


def _as_owner_or_ask(home: Home, log: Log, verb: str, on_phase: OnPhase, on_note: OnNote) -> str:
    requests, before = Requests(home.requests), kept(home)
    id: str | None = None
    try:
        while True:
            try:
                with Owner(home, log, on_note) as owner:
                    return owner._do(verb, on_phase)
            except Locked as refusal:
                if id is None:
                    on_note(f"The projector with pid {refusal.pid} is asked to do it.")
                    id = requests.ask(verb)
            result = _await(home, requests, id, on_phase)
            if result is not None:
                _note_kept(home, before, on_note)
                return result
    finally:
        if id is not None:
            requests.forget(id)


def _note_kept(home: Home, before: list[str], on_note: OnNote) -> None:
    """Report the people's files kept beside the pages since `before`."""
    new = [name for name in kept(home) if name not in before]
    if new:
        on_note(kept_beside(new))


def _await(home: Home, requests: Requests, id: str, on_phase: OnPhase) -> str | None:
    """Return the projector's answer, None if the projector ended without answering."""
    while True:
        reply = requests.answer(id)
        if reply is not None and reply.finished:
            if reply.result is None:
                raise MemtapeError(reply.error or "The projector could not do it.", reply.hint or "")
            return reply.result
        if reply is not None:
            on_phase(reply.phase, reply.done, reply.total)
        if id not in requests.waiting() and ((last := requests.answer(id)) is None or not last.finished):
            raise MemtapeError("The projector took the request and could not answer.", "Give the same command again.")
        if home.lock("projector").holder() is None:
            return None
        time.sleep(ASK_POLL_S)
