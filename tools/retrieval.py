"""How a question is answered: the rows of a scope, what stands behind their watermark, and one ranking.

A project's search reads its scope and `global`, each scored from its own texts alone, then merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from recollect.schemas.codec import decode
from recollect.schemas.errors import InvalidEvent, NotFound, RecollectError
from recollect.schemas.events import Captured, Event, Filters, Kind, Mark, Origin
from recollect.schemas.log import Log
from recollect.schemas.rows import MemoryRow, TombstoneRow, TurnRow, Watermark
from recollect.schemas.scopes import GLOBAL, partition_of
from recollect.sinks.home import Home
from recollect.sinks.lance import ROW_TYPES, Shard, any_of, quoted
from recollect.state.erasures import erasures_of
from recollect.state.ranking import Corpus, Document
from recollect.state.tail import overlay

if TYPE_CHECKING:
    from recollect.tools.as_of import PastViews

ReadT = TypeVar("ReadT")

ANSWERING: tuple[Origin, ...] = ("agent", "model", "tool")
"""Origins whose turns are taken for an assistant's answers."""
PAGE_SLOTS = 5_000
TAIL_TYPES = ("captured", "used", "forgotten", "restored", "erased", "unfolded")
"""Events that change what is visible, or how it is ranked; a recall or a tick alone leaves nothing pending."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. `score` compares within one search only; `lanes` say what found it.

    `projected` is False for a capture that no view holds yet, which therefore is not folded.
    """

    id: str
    text: str
    kind: Kind
    scope: str
    score: float
    at: int
    source: str | None
    origin: Origin
    actor: str
    session: str | None
    tags: tuple[str, ...]
    confirmations: int
    captions: tuple[str, ...]
    lanes: tuple[str, ...]
    projected: bool


class Answer(NamedTuple):
    """The results, best first, the position that they are true up to, and how many events the views lack."""

    results: list[Result]
    watermark: tuple[Mark, ...]
    lag: int
    revision: int
    now: int


class ScopeView(NamedTuple):
    """Where the views of one scope stand; `now` is the later of the partition's clock and the scope's last `sent`."""

    mark: Mark
    lag: int
    revision: int
    now: int


class _Ready(NamedTuple):
    """A scope's visible documents, ready to be ranked for as long as `key` stays what it is."""

    key: object
    view: ScopeView
    documents: list[Result]
    corpus: Corpus


class Retriever:
    """Answers from the views of one home, as they are or as they were at a position of the past.

    It keeps what it made ready while the views do not change. The past has no tail: it is complete.
    """

    def __init__(self, home: Home, log: Log, past: PastViews | None = None) -> None:
        self._home = home
        self._log = log
        self.past = past
        self._shards: dict[int, Shard] = {}
        self._ready: dict[str, _Ready] = {}
        self._own: dict[Path, None] = {}

    @property
    def partitions(self) -> int:
        """How many partitions the log has."""
        return self._log.partitions

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition, those of the build that is being served unless the past is asked."""
        if self.past is not None:
            if partition not in self._shards:
                self._shards[partition] = self.past.shard(partition)
            return self._shards[partition]
        shard = self._shards.get(partition)
        path = self._home.current().shard(partition)
        if shard is None or shard.path != path:
            shard = self._shards[partition] = Shard(path, partition)
        return shard if self._is_of_this_log(shard) else Shard(self._home.path / "no-views", partition)

    def _is_of_this_log(self, shard: Shard) -> bool:
        """Whether tables are not of another log that the home had before; a projector makes those anew."""
        if shard.path not in self._own:
            mark = shard.watermark() if shard.exists() else None
            if mark is not None and mark.log_id != self._log.log_id:
                return False
            if mark is not None:
                self._own[shard.path] = None
        return True

    def reading(self, action: Callable[[], ReadT]) -> ReadT:
        """Return what an action reads from the views; it is done again where they were switched under it.

        Raises `RecollectError` where they cannot be read.
        """
        served = self._home.current().path
        try:
            return action()
        except RecollectError:
            raise
        except Exception as error:  # LanceDB names no class for a table that is damaged or gone.
            if self._home.current().path != served:
                self._shards.clear()
                return self.reading(action)
            raise RecollectError(
                "The views cannot be read.", "`recollect verify` says what is damaged, `recollect rebuild` mends it."
            ) from error

    def search(self, scope: str, query: str, limit: int, filters: Filters) -> Answer:
        """Return the best results of a scope, and of `global` where the scope is a project."""
        found: list[Result] = []
        views = []
        for name in scopes_read(scope):
            ready = self._get_ready(name)
            views.append(ready.view)
            found += _best(ready, query, limit, filters)
        found.sort(key=lambda result: (-result.score, result.kind, result.id))
        return Answer(
            found[:limit],
            tuple({view.mark.partition: view.mark for view in views}.values()),
            sum(view.lag for view in views),
            views[0].revision,
            max(view.now for view in views),
        )

    def find(self, scope: str, id: str) -> MemoryRow | TurnRow | Event:
        """Return the memory or turn that an id resolves to, hidden ones included, or a capture of the tail.

        Raises `NotFound`, also for what is no id.
        """
        for name in scopes_read(scope):
            partition = partition_of(name, self._log.partitions)
            shard = self.shard(partition)
            memories = shard.rows(MemoryRow, name, f"array_has(ids, {quoted(id)})")
            turns = shard.rows(TurnRow, name, any_of("id", [id]))
            erased = erasures_of(self._log.erased(partition)).named.get(name, {})
            if id in erased:
                raise NotFound(f"{id} was erased.", "Nothing brings it back.")
            if any(known in erased for memory in memories for known in memory.ids):
                raise NotFound(f"Some of what {id} is one with is being erased.", "Ask again in a moment.")
            if memories:
                return memories[0]
            if turns:
                return turns[0]
            for event in self.tail(name, self.offset(partition)):
                if event.id == id and isinstance(event.body, Captured):
                    return event
        raise NotFound(
            f"{scope} has no memory or turn {id[:60]}.", "`recollect search` shows ids; another --scope may have it."
        )

    def tail(self, scope: str, offset: int) -> Iterator[Event]:
        """Yield a scope's events behind the watermark that change what is visible."""
        if self.past is None:
            yield from tail_of(self._log, partition_of(scope, self._log.partitions), offset, scope)

    def watermark(self, partition: int) -> Watermark | None:
        """Return how far the views of a partition are."""
        shard = self.shard(partition)
        return shard.watermark() if shard.exists() else None

    def offset(self, partition: int) -> int:
        """Return the offset up to which (exclusive) the views of a partition are true."""
        watermark = self.watermark(partition)
        return watermark.offset if watermark else 0

    def _get_ready(self, scope: str) -> _Ready:
        """Return a scope's documents. The watermark is read first: rows may only be newer than it."""
        partition = partition_of(scope, self._log.partitions)
        shard = self.shard(partition)
        watermark = self.watermark(partition)
        tail = list(self.tail(scope, watermark.offset if watermark else 0))
        versions = tuple(shard.version(row_type) for row_type in ROW_TYPES.values())
        key = (shard.path, watermark, versions, tuple(event.id for event in tail))
        ready = self._ready.get(scope)
        if ready is None or ready.key != key:
            ready = self._ready[scope] = _make_ready(key, shard, scope, watermark, tail)
        return ready


def _make_ready(key: object, shard: Shard, scope: str, watermark: Watermark | None, tail: list[Event]) -> _Ready:
    laid = overlay(shard.rows(MemoryRow, scope), shard.rows(TurnRow, scope), shard.rows(TombstoneRow, scope), tail)
    documents = [*map(_from_memory, laid.memories), *map(_from_turn, laid.turns), *map(_from_event, laid.captured)]
    corpus = Corpus(list(map(_ranked, documents)))
    mark = Mark(offset=watermark.offset if watermark else 0, partition=shard.partition)
    then = (watermark.clock, watermark.sent.get(scope, 0)) if watermark else (0,)
    now = max(*then, 0, *(event.sent for event in tail))
    view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, now)
    return _Ready(key, view, documents, corpus)


def scopes_read(scope: str) -> tuple[str, ...]:
    """Return the scopes that a search in `scope` reads."""
    return (scope,) if scope == GLOBAL else (scope, GLOBAL)


def tail_of(log: Log, partition: int, offset: int, scope: str) -> Iterator[Event]:
    """Yield a scope's events from `offset` on that change what is visible, erased ones left out."""
    erasures = erasures_of(log.erased(partition))
    while True:
        slots = log.read(partition, offset, PAGE_SLOTS, scope=scope, types=TAIL_TYPES)
        for slot in slots:
            try:
                event = decode(slot.payload)
            except InvalidEvent:  # The projector will make it a dead letter.
                continue
            if not erasures.covers(event):
                yield event
        if len(slots) < PAGE_SLOTS:
            return
        offset = slots[-1].offset + 1


def _best(ready: _Ready, query: str, limit: int, filters: Filters) -> list[Result]:
    """Return the best results of a scope that pass, and more than `limit` only where the last ones are equal."""
    found: list[Result] = []
    for hit in ready.corpus.rank(query):
        if len(found) >= limit and hit.score < found[-1].score:
            break
        document = ready.documents[hit.place]
        if _passes(document, filters):
            found.append(msgspec.structs.replace(document, score=hit.score))
    return found


def _passes(result: Result, filters: Filters) -> bool:
    return (
        (not filters.kinds or result.kind in filters.kinds)
        and all(tag in result.tags for tag in filters.tags)
        and (filters.since is None or result.at >= filters.since)
        and (filters.until is None or result.at < filters.until)
    )


def _result(row: MemoryRow | TurnRow, confirmations: int, captions: Sequence[str]) -> Result:
    return Result(
        id=row.id,
        text=row.text,
        kind=row.kind,
        scope=row.scope,
        score=0.0,
        at=row.at,
        source=row.source,
        origin=row.origin,
        actor=row.actor,
        session=row.session,
        tags=row.tags,
        confirmations=confirmations,
        captions=tuple(captions),
        lanes=("sparse",),
        projected=True,
    )


def _ranked(result: Result) -> Document:
    turn = result.kind == "turn"
    text = "\n".join((result.text, *result.captions))
    return Document(text, result.session, result.actor, turn, turn and result.origin in ANSWERING, result.at)


def _from_memory(row: MemoryRow) -> Result:
    return _result(row, row.confirmations, ())


def _from_turn(row: TurnRow) -> Result:
    return _result(row, 0, row.captions)


def _from_event(event: Event) -> Result:
    body = event.body
    assert isinstance(body, Captured) and event.scope is not None
    return Result(
        id=event.id,
        text=body.text,
        kind=body.kind,
        scope=event.scope,
        score=0.0,
        at=event.at,
        source=body.source,
        origin=event.actor.origin,
        actor=event.actor.name,
        session=event.session,
        tags=body.tags,
        confirmations=0,
        captions=tuple(media.caption for media in body.media if media.caption),
        lanes=("sparse",),
        projected=False,
    )
