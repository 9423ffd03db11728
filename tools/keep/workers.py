"""The table of workers: the jobs of a home's owner beside the views.

Each worker reads the log, appends its findings, and keeps its own position. Its work is in its own file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

from memtape.flows.workers.clock import Clock, Commits
from memtape.flows.workers.consolidate import Consolidation
from memtape.flows.workers.distill import Ask, Distillation
from memtape.flows.workers.extract import Extraction
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.log import Log, settings_on
from memtape.schemas.rows import PassMark
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import AskedWindows, DailyMarks, OffsetMarks
from memtape.sinks.home.settings import local_settings
from memtape.tools.capture.profiles import silence_of
from memtape.tools.capture.project import git, repositories_of
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.embedding import Embedding
from memtape.tools.keep.models import is_named
from memtape.tools.keep.zones import Zones


class Delivery(Worker):
    """Appends the captures in a home's spool to the log, with their ids, once the broker answers."""

    failure = "Captures wait in the spool"

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        super().__init__(log, on_note)
        self._home = home

    def catch_up(self) -> None:
        """Append the waiting events."""
        if self._home.spool_path.exists():
            # A home with a log of its own has no use for it.
            from memtape.sinks.logs.spool import SpoolingLog

            self.done += self.log.deliver() if isinstance(self.log, SpoolingLog) else 0


class WorkerKind(NamedTuple):
    """How a worker of a home is made, and when `run --once` has the worker run a pass: *after* projecting.

    A worker of *before* also runs one before few events are projected; it asks no model. A worker of *first*
    comes before any page is written, also where views are only made anew. The others work in the order of the
    table.
    """

    make: Callable[[Home, Log, OnNote], Worker]
    once: Literal["first", "before", "after"]


def _extraction(home: Home, log: Log, on_note: OnNote) -> Worker:
    marks = OffsetMarks(home.statements_path, log)
    return Extraction(log, on_note, marks, now_us, lambda: local_settings(home).extract)


def _distillation(home: Home, log: Log, on_note: OnNote) -> Worker:
    @cache
    def asker() -> Ask:
        # It loads what finds secrets, for which nobody who only projects should wait.
        from memtape.tools.keep.facts import FactAsker

        return FactAsker(home)

    return Distillation(
        log, on_note, AskedWindows(home), lambda *window: asker()(*window), now_us, partial(is_named, home)
    )


def _consolidation(home: Home, log: Log, on_note: OnNote) -> Worker:
    # It loads what folds a state, for which nobody who only asks should wait.
    from memtape.tools.keep.consolidating import alone, marks_of
    from memtape.tools.keep.judging import judge_in_pass
    from memtape.tools.keep.states import partition_now

    def marks() -> dict[str, PassMark]:
        return marks_of(home, log) if local_settings(home).consolidate else {}

    state_of, judge = partial(partition_now, home, log), partial(judge_in_pass, home, log)
    return Consolidation(log, on_note, marks, partial(alone, home), state_of, judge, now_us)


def _clock(home: Home, log: Log, on_note: OnNote) -> Worker:
    def clocks() -> list[int | None]:
        return [None if mark is None else mark.clock for mark in BuildViews(home, log).watermarks]

    return Clock(log, on_note, clocks, lambda: settings_on(log).tick_jump_days, now_us)


def last_commit(folder: str) -> int | None:
    """Return the time of the last commit on any branch, in microseconds; None without commits.

    `folder` is any folder in the repository, its git folder too.
    """
    said = git(Path(folder), "log", "-1", "--branches", "--format=%ct")
    return int(said) * US_PER_S if said and said.isdecimal() else None


def _commits(home: Home, log: Log, on_note: OnNote) -> Worker:
    def folders() -> dict[str, str]:
        """Return by scope a folder of each repository that is known here and not paused."""
        scopes = ((held.scope, folder) for folder, held in repositories_of(home).items())
        return {name: it for name, it in scopes if silence_of(home.path, partial(str, name)) is None}

    return Commits(log, on_note, DailyMarks(home, log.log_id).is_due, folders, last_commit, now_us)


WORKERS: dict[str, WorkerKind] = {
    "deliver": WorkerKind(Delivery, once="before"),
    "clock": WorkerKind(_clock, once="after"),
    "zones": WorkerKind(Zones, once="first"),
    "extract": WorkerKind(_extraction, once="before"),
    "commits": WorkerKind(_commits, once="after"),
    "distill": WorkerKind(_distillation, once="after"),
    "consolidate": WorkerKind(_consolidation, once="after"),
    "embed": WorkerKind(Embedding, once="after"),
}
