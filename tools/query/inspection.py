"""Opening of one memory, of all events behind it, and of a whole document."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Captured, Decided, Event, Forgotten, Restored, Withdrawn
from memtape.schemas.log import Log, Slot, events_between
from memtape.schemas.places import Place, place_in
from memtape.schemas.rows import (
    MemberRow,
    MemoryRow,
    Polarity,
    SummaryRow,
    TurnRow,
    UseRow,
    archived_on,
    made_from,
    summary_told,
)
from memtape.schemas.scopes import partition_of
from memtape.sinks.search_index import OpenIndex
from memtape.state.core.erasures import erasures_of
from memtape.state.index.parts import EVERY_TEXT
from memtape.state.subjects.weights import other_row_id
from memtape.tools.query.results import judged, result_of
from memtape.tools.query.retrieval import Retriever, captures_of

WHY_HIDDEN = "forgotten, withdrawn by its source, or says what was forgotten twice"
"""Why a memory or turn is hidden; the events behind it say which."""
PURGED = "archived, and gone from the views; `memtape archive --undo` brings it back"
"""The mark of a capture that only the log has."""


class SummarySource(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a summary, `marks` if archived or purged; the text is None if off the log."""

    id: str
    at: int
    text: str | None
    marks: tuple[str, ...] = ()


def sources_of(log: Log, opened: OpenIndex, row: SummaryRow) -> tuple[SummarySource, ...]:
    """Return the sources of a summary in its order, from the views, or from the log where they left these."""
    shown = {id: rows[0] for id in row.sources if (rows := opened.rows_called(id))}
    gone = captures_of(log, row.scope, [id for id in row.sources if id not in shown])
    told = []
    for id in row.sources:
        if (found := shown.get(id)) is not None:
            archived = () if found.archived_at is None else (archived_on(found.archived_at),)
            told.append(SummarySource(id=id, at=found.at, text=found.text, marks=archived))
        elif (event := gone.get(id)) is not None and isinstance(event.body, Captured):
            told.append(SummarySource(id=id, at=event.at, text=event.body.text, marks=(PURGED,)))
        else:
            told.append(SummarySource(id=id, at=row.since, text=None))
    return tuple(told)


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A memory, turn, summary, or a capture without a row in the views. `asked` is the id of the question.

    `sources` are the sources of a summary. A capture has no row if not projected yet, or purged (`marks`).
    `used` counts the uses by the asking scope and by its own scope, with the last time. `marks` are the notes
    beside the text, as of the question.
    """

    asked: str
    type: str
    memory: MemoryRow | None = None
    turn: TurnRow | None = None
    captured: Event | None = None
    summary: SummaryRow | None = None
    sources: tuple[SummarySource, ...] = ()
    used: int = 0
    last_used_at: int | None = None
    polarity: Polarity = "fact"
    stale: bool = False
    marks: tuple[str, ...] = ()

    @property
    def hidden(self) -> bool:
        """Whether the memory or turn is forgotten, and `memtape restore` would restore it."""
        row = self.memory or self.turn
        return row is not None and row.hidden


class Behind(msgspec.Struct, frozen=True, kw_only=True):
    """An event behind a memory: its part, how it joined, the similarity (0 to 1), and its place."""

    part: str
    how: str
    similarity: float
    partition: int
    offset: int
    event: Event


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """A memory's name and scope, and every event behind it in the order of the log."""

    id: str
    scope: str
    events: tuple[Behind, ...]


def opened(retriever: Retriever, scope: str, asked: str) -> Opened:
    """Return the memory, turn, summary or capture of an id in a scope. Raises `NotFound`."""
    log = retriever.log
    if (summary := retriever.summary(scope, asked)) is not None:
        sources = sources_of(log, retriever.opened(summary.scope), summary)
        about = (summary_told(summary),)
        return Opened(asked=asked, type="summary", summary=summary, sources=sources, marks=about)
    found = retriever.find(scope, asked)
    if isinstance(found, Event):
        gone = () if _is_waiting(retriever, found) else (PURGED,)
        return Opened(asked=asked, type="captured", captured=found, marks=gone)
    ids = found.ids if isinstance(found, MemoryRow) else (found.id,)
    uses = _uses(retriever, found.scope, ids)
    if found.scope != scope:
        uses += _uses(retriever, scope, map(other_row_id, ids))
    used, last = sum(use.used for use in uses), max((use.last_at for use in uses), default=None)
    now = retriever.now([retriever.found(found.scope)[1]])
    told = judged(result_of(found), found, now)
    kind = "memory" if isinstance(found, MemoryRow) else "turn"
    return made_from(Opened, told, asked=asked, type=kind, **{kind: found}, used=used, last_used_at=last)


def _is_waiting(retriever: Retriever, event: Event) -> bool:
    """Return whether a capture without a row in the views is to be projected; else it was purged."""
    assert event.scope is not None
    offset = retriever.watermark(partition_of(event.scope, retriever.log.partitions)).offset
    return any(waiting.id == event.id for waiting in retriever.tail(event.scope, offset))


def _uses(retriever: Retriever, scope: str, row_ids: Iterable[str]) -> list[UseRow]:
    opened = retriever.opened(scope)
    return [row for id in row_ids if (row := opened.row(UseRow, id)) is not None]


def explained(retriever: Retriever, scope: str, id: str) -> Explained:
    """Return every event behind an id: captures and the way they joined, echoes, tombstones and decisions.

    For a summary these are the captures that it sums up.
    """
    log = retriever.log
    if (summary := retriever.summary(scope, id)) is not None:
        behind = tuple(_captures(log, summary.scope, summary.sources, "source", "summed up"))
        return Explained(id=id, scope=summary.scope, events=behind)
    found = retriever.find(scope, id)
    if isinstance(found, Event):
        assert found.scope is not None
        how = "waiting" if _is_waiting(retriever, found) else "purged"
        behind = tuple(_captures(log, found.scope, (id,), "capture", how))
        return Explained(id=id, scope=found.scope, events=behind)
    partition = partition_of(found.scope, log.partitions)
    if isinstance(found, MemoryRow):
        ids, ties = found.ids, [("member", it) for it in found.members]
        ties += [("echo", it) for it in found.echoes]
    else:
        ids, ties = (found.id,), [("turn", MemberRow(found.id, "said", 0, found.offset_of))]
    events = [*_about(log, partition, found.scope, ids)]
    for part, tie in ties:
        (slot,) = log.read(partition, tie.offset, 1)
        events.append(_behind(slot, part, tie.how, tie.similarity / 10_000))
    events.sort(key=lambda behind: behind.offset)
    return Explained(id=found.id, scope=found.scope, events=tuple(events))


def _behind(slot: Slot, part: str, how: str, similarity: float = 0.0) -> Behind:
    event, partition, offset = decode(slot.payload), slot.partition, slot.offset
    return Behind(part=part, how=how, similarity=similarity, partition=partition, offset=offset, event=event)


def _captures(log: Log, scope: str, ids: Sequence[str], part: str, how: str) -> Iterator[Behind]:
    """Yield captures as the log has them, in its order."""
    partition = partition_of(scope, log.partitions)
    for _, offset in sorted(log.known(scope, ids).items(), key=lambda its: its[1]):
        yield _behind(log.read(partition, offset, 1)[0], part, how)


def _about(log: Log, partition: int, scope: str, ids: tuple[str, ...]) -> Iterator[Behind]:
    """Yield the tombstones of captures, and the decisions that have read one of them."""
    types = ("forgotten", "restored", "withdrawn", "decided")
    for slot, event in events_between(log, partition, 0, sys.maxsize, scope, types):
        match event.body:
            case (Forgotten() | Restored() | Withdrawn()) as body if not set(ids).isdisjoint(body.ids):
                yield _behind(slot, "tombstone", event.type)
            case Decided(reason=None) as body if any(it.id in ids for it in body.inputs):
                ops = dict.fromkeys(operation.op for operation in body.operations)
                yield _behind(slot, "decision", ", ".join(ops) or "apart")


NAMED = 5
"""This many missing parts are named one by one."""
_HIDDEN = "forgotten or withdrawn"


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """A document as captured, without secrets: the id of its first part, path, parts and text."""

    id: str
    scope: str
    path: str | None
    parts: int
    text: str


def whole_document(retriever: Retriever, scope: str, asked: str) -> Whole:
    """Return the document of a part's id, or the whole text of one event.

    Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
    """
    found = retriever.find(scope, asked)
    if isinstance(found, Event):
        assert isinstance(found.body, Captured) and found.scope is not None
        scope, path, text = found.scope, found.body.path, found.body.text
    else:
        scope, path, text = found.scope, found.path, found.text
    place = place_in(path)
    if place is None:
        return Whole(id=found.id, scope=scope, path=path, parts=1, text=text)
    log, shown, ids = retriever.log, retriever.found(scope, EVERY_TEXT)[0], place.ids(scope)
    erased = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
    known = log.known(scope, ids)
    parts, missing = list[tuple[str, Place]](), dict[str, str]()
    for id in ids:
        at = shown.texts.called(id)
        result = None if at is None else shown.result(at)
        if result is not None and (own := place_in(result.path)) is not None:
            parts.append((result.text, own))
        else:
            missing[id] = "erased" if id in erased else _HIDDEN if id in known else "not on the log"
    if missing:
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        hidden = next((id for id, why in missing.items() if why == _HIDDEN), None)
        restore = "" if hidden is None else f"`memtape restore {hidden}` shows a hidden one."
        numbers = {id: number for number, id in enumerate(place.ids(scope), start=1)}
        named = ", ".join(f"part {numbers[id]} ({why})" for id, why in [*missing.items()][:NAMED])
        told = f"Of {place.count:,} parts of this document these are missing: {named}{more}."
        raise MemtapeError(told, restore)
    return Whole(id=place.document, scope=scope, path=place.path, parts=place.count, text=joined(parts))


def joined(parts: Iterable[tuple[str, Place]]) -> str:
    """Return the text of a document, of the texts and places of all its parts in their order."""
    pieces, end = [], 0
    for text, place in parts:
        length = place.end - place.start
        if not place.start <= end < place.end or len(text) < length:
            raise MemtapeError(f"Part {place.number} of the document does not go on where the last ends.")
        pieces.append(text[len(text) - length :][end - place.start :])
        end = place.end
    return "".join(pieces)
