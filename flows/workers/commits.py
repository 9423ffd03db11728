"""The worker that detects work in a repository: the time of its last commit -> one `scope_changed`.

So a project with commits is not dormant, even if no agent captures anything there. An event's id derives from
the time of the commit, so that two workers, or a killed and restarted worker, add nothing twice. The caller
passes the list of repositories and the function that asks one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.events import SYSTEM, ScopeChanged, make_event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US

Mark = tuple[int, int]
"""When a scope's repository was asked last, and the time of a commit put on the log; microseconds."""
UNASKED: Mark = (0, 0)
ASK_US = DAY_US
MOVED_US = DAY_US
"""Minimum distance of a new commit time from the last one: a project becomes dormant by days."""


class CommitMarkStore(Protocol):
    """The store of the marks of repositories, by scope."""

    def read(self) -> dict[str, Mark]: ...

    def write(self, marks: dict[str, Mark]) -> None: ...


class Commits(Worker):
    """Asks each repository of a scope once a day.

    `folders` gives a folder of each that may be asked, and `last_commit` a time.
    """

    poll_s = 3_600.0
    failure = "Repositories could not be asked for their last commits"

    def __init__(
        self,
        log: Log,
        marks: CommitMarkStore,
        folders: Callable[[], Mapping[str, str]],
        last_commit: Callable[[str], int | None],
        now_us: Callable[[], int],
        on_note: OnNote,
    ) -> None:
        super().__init__(log, on_note)
        self._marks = marks
        self._folders = folders
        self._last_commit = last_commit
        self._now_us = now_us

    def catch_up(self) -> None:
        """Ask each repository not asked for a day, and append new commit times; `done` counts them."""
        now, folders = self._now_us(), self._folders()
        if not folders:
            return
        marks = self._marks.read()
        due = [scope for scope in folders if not now - ASK_US < marks.get(scope, UNASKED)[0] <= now]
        for scope in due:
            if not self.stopping.is_set() and self._is_on_log(scope):
                _, before = marks.get(scope, UNASKED)
                marks[scope] = now, self._say(scope, folders[scope], before, now)
                self._marks.write({name: mark for name, mark in marks.items() if name in folders})

    def _say(self, scope: str, folder: str, before: int, now: int) -> int:
        """Append the time of a repository's last commit if it is news; return the time on the log then."""
        at = self._last_commit(folder)
        if at is None or not before + MOVED_US < at <= now:
            return before
        body = ScopeChanged(git_at=at, name=None, state=None)
        id = derived_id("scope_changed", scope, None, f"git:{at}")
        event = make_event("scope_changed", id, body, scope, SYSTEM, (), now)
        if not self.log.known(scope, [event.id]):
            self.log.append([event])
            self.done += 1
        return at

    def _is_on_log(self, scope: str) -> bool:
        """Return whether anything was ever said in a scope: else it is no project yet."""
        return bool(self.log.read(partition_of(scope, self.log.partitions), 0, 1, scope=scope))
