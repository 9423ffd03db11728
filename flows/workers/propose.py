"""The worker of proposed pages: a model proposes pages, and writes the waiting ones if configured.

A model's proposal is a decision and the text of a page, hidden until a person applies it. The caller passes
the functions that ask the model and write a page. Ids derive from the proposals and their inputs, so that two
workers, or a killed and restarted worker, propose and write nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from memtape.flows.workers.consolidate import append
from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas.errors import BudgetSpent
from memtape.schemas.events import Actor, Captured, Decided, Event, Input, Operation, make_event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, partition_of
from memtape.schemas.times import HOUR_US
from memtape.state.core.scope import Scope
from memtape.state.tree.proposing import Proposed
from memtape.state.tree.unplaced import Unplaced, taken, unplaced

LOOK_US = HOUR_US
"""How often it is looked whether anything is to be proposed."""
LEAST_NEW = 50
"""New events of a partition after which its scopes are read again."""
LEAST_UNPLACED = 8
"""Memories without a page, new since the last question, for which a model is asked about a scope."""


class Idea(NamedTuple):
    """A page that a model proposes, with its source memories."""

    slug: str
    title: str
    of: tuple[Unplaced, ...]


class Ideas(NamedTuple):
    """The proposals of a model, and the model's actor; `problem` is the reason why an answer was dropped."""

    ideas: Sequence[Idea]
    actor: Actor
    problem: str = ""


Think = Callable[[Sequence[Unplaced], dict[str, None]], Ideas]
"""Asks a model about memories; slugs that are given away are handed in. Raises `BudgetSpent`, and `MemtapeError`."""


class Part(NamedTuple):
    """One half of the work: whether it is wanted, and its function of a scope and an offset to start from.

    `work` returns the number of pages proposed or written.
    """

    name: str
    is_wanted: Callable[[], bool]
    work: Callable[[str, int], int]


class Marks(Protocol):
    """The store, by name, of the offsets below which all events were read."""

    def read(self, name: str) -> list[int] | None: ...

    def write(self, name: str, offsets: list[int]) -> None: ...


class Proposals(Worker):
    """Does each part in every scope with enough new memories; `done` counts pages."""

    def __init__(
        self, log: Log, marks: Marks, scopes: Callable[[], Iterable[str]], parts: Sequence[Part],
        now_us: Callable[[], int], on_note: OnNote,
    ) -> None:  # fmt: skip
        super().__init__(on_note)
        self._log, self._marks, self._scopes, self._parts, self._now_us = log, marks, scopes, parts, now_us
        self._look_at = 0

    def catch_up(self) -> None:
        """Have pages proposed, and then written, where either is wanted."""
        now = self._now_us()
        parts = [part for part in self._parts if part.is_wanted()] if now >= self._look_at else []
        for part in parts:
            self._look_at = now + LOOK_US
            self._do(part)

    def failed(self, error: Exception) -> str:
        """See `Worker.failed`."""
        later = "" if isinstance(error, BudgetSpent) else " It is tried again."
        return f"Pages could not be proposed or written: {error}{later}"

    def _do(self, part: Part) -> None:
        offsets = self._marks.read(part.name) or [-LEAST_NEW] * self._log.partitions
        ends = self._log.ends()
        due = {number: None for number, end in enumerate(ends) if end >= offsets[number] + LEAST_NEW}
        for scope in self._scopes() if due else ():
            number = partition_of(scope, self._log.partitions)
            if self.stopping.is_set():
                return
            if scope != GLOBAL and number in due:
                count = part.work(scope, offsets[number])
                self.done, self.changed = self.done + count, self.changed or count > 0
        if due:
            self._marks.write(part.name, [ends[n] if n in due else max(0, at) for n, at in enumerate(offsets)])


def suggest(log: Log, scope: Scope, since: int, think: Think, now_us: Callable[[], int]) -> tuple[int, str]:
    """Have a model propose pages of a scope, if it has enough new memories without a page since an offset.

    Returns the number of proposals, and the reason if the answer was unusable. Raises as `Think` does.
    """
    of = unplaced(scope)
    if sum(it.offset >= since for it in of) < LEAST_UNPLACED:
        return 0, ""
    known = taken(scope)
    found = think(of, known)
    ideas = [idea for idea in found.ideas if idea.slug not in known]
    for idea in ideas:
        append(log, _events(scope.name, idea, found.actor, now_us()))
    return len(ideas), found.problem


def _events(scope: str, idea: Idea, actor: Actor, now_us: int) -> list[Event]:
    """Return the `decided` event of a proposed page and the capture of its text, with their sources as refs."""
    inputs = tuple(Input(id=it.id, seq=it.seq) for it in idea.of)
    ids = tuple(it.id for it in idea.of)
    key = msgspec.json.encode((inputs, idea.slug, idea.title)).decode()
    decided = derived_id("decided", scope, "memtape", f"page:{key}")
    text = derived_id("captured", scope, "memtape", f"proposed:{decided}")
    drawn = Operation(by=text, ids=ids, op="add")
    body = Decided(attempt=1, inputs=inputs, operations=(drawn,), reason=None, until=None)
    why = f"{len(ids)} memories that {actor.name} put together."
    page = Captured(
        branch=None,
        importance_given=None,
        kind="page",
        media=(),
        part=None,
        path=idea.slug,
        source=None,
        tags=(),
        text=Proposed(idea.slug, idea.title, ids, why).text,
    )
    captures = tuple(dict.fromkeys(id for it in idea.of for id in it.captures))
    return [
        make_event("decided", decided, body, scope, actor, captures, now_us, now_us),
        make_event("captured", text, page, scope, actor, (decided, *captures), now_us, now_us),
    ]
