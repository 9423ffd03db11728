"""What a verb works on: the log, the views, the clock, and who asks for which scope.

A world writes (`tools.capture.writing`), and reads the views of one home. What is asked and answered is in
`tools/verbs/`. Readers of views are imported only when a verb needs them: a pure writer must not wait for
LanceDB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Captured, Forgotten, ScopeChanged
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, partition_of, scopes_read
from memtape.schemas.visible import many
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.state.core.erasures import erasures_of
from memtape.tools import query
from memtape.tools.capture.profiles import check_kept
from memtape.tools.capture.writing import Writer

if TYPE_CHECKING:
    from memtape.state.core.scope import Scope
    from memtape.tools.keep.erasing import Erasure, ErasurePlan
    from memtape.tools.query.reading import Reader
    from memtape.tools.query.retrieval import Retriever

ReadT = TypeVar("ReadT")
ReadOf = Callable[["Retriever", str, str], ReadT]
StateOf = Callable[[str], "Scope"]


class World(Writer):
    """A writer that also reads the views. For one thread at a time."""

    is_confined = False
    """Whether ids of other scopes than its own and `global` are unknown to it."""
    wakes = True
    """Whether a question to a sleeping project makes the project active again."""
    on_note: Callable[[str], None] = staticmethod(lambda note: None)
    """Gets a sentence about long work."""

    @cached_property
    def reader(self) -> Reader:
        """The reader of the views; its creation loads LanceDB's libraries."""
        return query.reading.Reader(self.home, self.log)

    def read(
        self, action: Callable[[Retriever, str], ReadT], as_of: str | None = None, scope: str | None = None
    ) -> ReadT:
        """Return the result of an action on the views and a scope, by default this, now or in the past."""
        scope = scope or self.scope
        if as_of is None:
            self.wake(scope)
        return self.reader.read(lambda views: action(views, scope), scope, as_of)

    def read_of(self, id: str, action: ReadOf[ReadT], as_of: str | None = None) -> ReadT:
        """Return the result of an action on the views, an id's scope, and the whole id. Raises `NotFound`."""
        return self.within(
            id, lambda scope, id: self.read(lambda views, scope: action(views, scope, id), as_of, scope)
        )

    def within(self, id: str, action: Callable[[str, str], ReadT]) -> ReadT:
        """Return the result of an action on a scope that reads an id, and the whole id. Raises `NotFound`."""
        if query.plan.is_whole(id):
            try:
                return action(self.scope, id)
            except NotFound:
                if self.is_confined:
                    raise
        return action(*self.meant(id, ("captured",)))

    def meant(self, id: str, types: Sequence[str]) -> tuple[str, str]:
        """Return the scope and the whole id of an event, by its id or a part, first from here or `global`.

        An id of another scope is unknown to a confined world. Raises `NotFound`, and `MemtapeError` for a
        part of several ids.
        """
        try:
            return query.plan.meant(self.log, id, tuple(dict.fromkeys((self.scope, GLOBAL))), types)
        except NotFound:
            if self.is_confined:
                raise
            scope, id = query.plan.meant(self.log, id, (), types)
            self.rights.check_reader(scope)
            return scope, id

    def folded(self, id: str, state_of: StateOf | None = None) -> tuple[str, Scope]:
        """Return a whole id and the state of its scope at the end of the log. Raises `NotFound`."""
        state_of, log = state_of or partial(query.plan.state_of, self), self.log

        def found(scope: str, id: str) -> tuple[str, Scope]:
            for name in scopes_read(scope):
                if id in erasures_of(log.erased(partition_of(name, log.partitions))).named.get(name, {}):
                    raise query.plan.erased_for_good(id)
                if log.known(name, [id]) and (state := state_of(name)).captures.get(id) is not None:
                    return id, state
            raise query.plan.nowhere(scope, id)

        return self.within(id, found)

    def wake(self, scope: str) -> None:
        """Append that a sleeping project is active again: searches then read all of its texts.

        Does nothing where nothing is stored now, or where reading must not wake a project.
        """
        if self.wakes and self.reader.is_asleep(scope) and self.stores():
            self.append("scope_changed", ScopeChanged(git_at=None, name=None, state="active"), scope)
            self.reader.awaken(scope)

    def hidden_among(self, scope: str, texts: Mapping[str, str]) -> list[str]:
        """Return which captures of a scope are hidden, by id with their texts, so far as the views tell."""
        with suppress(MemtapeError):  # The captures are on the log, whether or not the views can be read.
            if ids := may_be_hidden(self.log, scope, texts):
                hidden = query.retrieval.is_hidden
                return self.reader.reading(
                    lambda views: [id for id in ids if hidden(self.log, views.found(scope)[0], scope, id)]
                )
        return []

    def erase(self, made: ErasurePlan | Sequence[str]) -> Erasure:
        """Erase a plan (`tools.keep.erasing.plan`), or ids, for good; return the proof.

        Raises `StillHeld`, `NotFound`, and `MemtapeError` where people's corrections would go with ids.
        """
        check_kept(self.home, "An erasure")
        from memtape.tools.keep.erasing import ErasurePlan, erase, plan

        if not isinstance(made, ErasurePlan):
            made = plan(self.home, self.log, self.scope, [self.meant(id, ())[1] for id in made], only=False)
            if made.corrections:
                lost = many(len(made.corrections), "correction")
                raise MemtapeError(f"Nothing was erased: {lost} of people would go too.", "Erase a plan.")
        return erase(made, self, self.on_note)

    def catch_up(self) -> None:
        """Project pending events if quick and no other process does; else start a background projector."""
        self.reader.catch_up(self.scope, is_written=True)


MOST_READ = 200
"""Where more was forgotten than so many captures, reading them all costs more than to ask the views."""


def may_be_hidden(log: Log, scope: str, texts: Mapping[str, str]) -> list[str]:
    """Return which captures of a scope a tombstone may hide; `texts` has the text of each by its id."""
    if not log.matching("", [scope], ["forgotten"], 1):
        return []
    if not isinstance(log, EmbeddedLog):  # A topic would be read from its beginning.
        return list(texts)
    partition = partition_of(scope, log.partitions)
    slots = log.read(partition, 0, MOST_READ, scope=scope, types=("forgotten",))
    bodies = (event.body for slot in slots if (event := event_of(slot.payload)) is not None)
    ids = dict.fromkeys(id for body in bodies if isinstance(body, Forgotten) for id in body.ids)
    if max(len(slots), len(ids)) >= MOST_READ:
        return list(texts)
    from memtape.state.text.normal import normal_text

    said: dict[str, None] = {}
    for offset in log.known(scope, list(ids)).values():
        event = event_of(log.read(partition, offset, 1)[0].payload)
        if event is not None and isinstance(event.body, Captured):
            said[normal_text(event.body.text)] = None
    return [id for id, text in texts.items() if id in ids or normal_text(text) in said]
