"""The projects of a home and their states, and people's changes of a whole project.

`tools/capture/project.py` decides which folder belongs to which project.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import ScopeChanged
from memtape.schemas.rows import LifeMark, ScopeHeld
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.state.core.scope import Scope
from memtape.state.views.ages import to_be_archived
from memtape.tools.ask.aged import life_of
from memtape.tools.ask.naming import state_of
from memtape.tools.ask.reading import Reader
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.capture.project import folders_known
from memtape.tools.capture.writing import Writer, check_person

MOST_NAME_CHARS = 200
"""The limit of the event."""


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project of the home: its state, the numbers of its rows in the views, its folder (None if unknown).

    `last_at` is the time of its last event on the log, in microseconds.
    """

    scope: str
    mark: LifeMark
    last_at: int
    memories: int
    turns: int
    folder: str | None


class ProjectChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a project and its new state; `texts` counts the texts archived or brought back by the
    change.
    """

    scope: str
    state: str
    name: str
    texts: int = 0


class Projects:
    """The projects of a home, and the changes that a person in a project may make."""

    def __init__(self, writer: Writer, reader: Callable[[], Reader]) -> None:
        self._writer = writer
        self._reader = reader

    def listed(self) -> list[Project]:
        """Return the projects in the views, the last active first."""
        folders = folders_known(self._writer.home)
        return self._reader().held(lambda views: _projects(views, folders))

    def shown(self) -> Project:
        """Return the project of the scope. Raises `NotFound`."""
        self._reader().catch_up(self._writer.scope)
        found = next((it for it in self.listed() if it.scope == self._writer.scope), None)
        if found is None:
            raise _nothing(self._writer.scope)
        return found

    def to_finish(self) -> int:
        """Return how many texts finishing the project would archive. Raises `MemtapeError` where it cannot be."""
        scope = self._stands("finish")
        project = scope.lifecycle.project
        if project.state == "finished":
            raise MemtapeError(
                f"{scope.name} was finished on {format_day(project.since)}.", "`memtape project finish --undo` goes on."
            )
        return to_be_archived(scope)

    def finish(self) -> ProjectChange:
        """Append that the project is finished, with its texts up to now archived. Raises as `to_finish`."""
        texts = self.to_finish()
        return self._say(ScopeChanged(git_at=None, name=None, state="finished"), texts)

    def resume(self) -> ProjectChange:
        """Append that the project is active: the texts archived with it return. Raises `MemtapeError`."""
        scope = self._stands("resume")
        if scope.lifecycle.project.state == "active":
            raise MemtapeError(f"{scope.name} is active.", "`memtape project list` says how each stands.")
        return self._say(ScopeChanged(git_at=None, name=None, state="active"), to_be_archived(scope))

    def rename(self, name: str) -> ProjectChange:
        """Append a new name of the project; its scope stays. Raises `MemtapeError`."""
        name = " ".join(name.split())
        if not 0 < len(name) <= MOST_NAME_CHARS:
            raise MemtapeError(
                f"The name has {len(name):,} characters; it takes 1 to {MOST_NAME_CHARS}.", "Give another."
            )
        self._stands("rename")
        return self._say(ScopeChanged(git_at=None, name=name, state=None), 0)

    def _stands(self, what: str) -> Scope:
        """Return the state of the scope for a writer allowed to change it as a whole."""
        origin, name = self._writer.actor.origin, self._writer.scope
        then = f"The user can run `memtape project {what}`; who is a person says --origin user."
        check_person(origin, f"{what} a project", then)
        if name == GLOBAL:
            raise MemtapeError(f"{GLOBAL} is no project.", "Name one with --scope.")
        scope = state_of(self._writer, name)
        if scope is None:
            raise _nothing(name)
        return scope

    def _say(self, body: ScopeChanged, texts: int) -> ProjectChange:
        scope = self._writer.scope
        self._writer.append("scope_changed", body, scope)
        stands = state_of(self._writer, scope)
        mark = LifeMark() if stands is None else stands.lifecycle.mark()
        return ProjectChange(scope=scope, state=mark.state, name=mark.name, texts=texts)


def _nothing(scope: str) -> NotFound:
    return NotFound(f"{scope} holds nothing yet.", "`memtape project list` names the projects of this home.")


def _projects(views: Retriever, folders: dict[str, str]) -> list[Project]:
    found: list[Project] = []
    for number in range(views.log.partitions):
        mark = views.watermark(number)
        if mark is None:
            continue
        held = views.shard(number).held()
        found += [
            Project(
                scope=name,
                mark=life_of(mark, name),
                last_at=mark.sent.get(name, 0),
                memories=held.get(name, ScopeHeld()).memories,
                turns=held.get(name, ScopeHeld()).turns,
                folder=folders.get(name),
            )
            for name in mark.sent
            if name != GLOBAL
        ]
    return sorted(found, key=lambda it: (-it.last_at, it.scope))
