"""Answering of a question: rows of a scope, events past their watermark, one ranking, and pages of results.

A project's search reads its scope and `global`, each scored from its own texts alone, then merged. A page is
the same search, less the results already given. A cursor is the short text that requests the next page, with
digests of the question and the results, the page's time and the question's time limits: it has no word of any
text. Captures without rows in the views are read from the log.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.schemas.codec import canonical, event_of
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import DamagedViews, MemtapeError, NotFound
from memtape.schemas.events import Captured, Event, Mark
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    LifeMark,
    MemoryRow,
    ScopeHeld,
    SummaryRow,
    TombstoneRow,
    TurnRow,
    UseRow,
    Watermark,
    archived_on,
    project_told,
)
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import HOUR_US
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.search_index import NOTHING, OpenIndex
from memtape.sinks.tables import Shard, foreign
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.index.parts import AT_HAND, EVERY_TEXT, SUMMARIES, Choice
from memtape.state.ranking.lexical import Weighed
from memtape.state.ranking.ranker import Corpus
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.text.orders import is_about, named_by
from memtape.tools.capture.writing import now_us
from memtape.tools.query.found import (
    Dense,
    PreparedTexts,
    ScopeTexts,
    ScopeView,
    found_of,
    tail_of,
    text_at,
    uses_at,
)
from memtape.tools.query.naming import erased_for_good, nowhere
from memtape.tools.query.ordering import SearchQuery, answered, given_id, holding
from memtape.tools.query.results import Answer, Result
from memtape.tools.query.standing import orders_among

if TYPE_CHECKING:
    from memtape.tools.query.as_of import PastViews

ReadT = TypeVar("ReadT")

FEW_RESULTS, MOST_SUMMARIES = 3, 3
"""Where fewer texts than that are found, so many summaries at most are told beside them."""
OFFERED_FROM = 20
"""The number of best results among which the sure ones for a prompt are searched."""
Choose = Callable[[Sequence[Result], Sequence[Weighed], int], list[Result]]
"""Selects the sure results for a prompt, at most so many, each weighed against it (`ranking.sure`)."""
ReadyTexts = dict[tuple[str, Choice], PreparedTexts]
"""The loaded texts of scopes, by scope and choice."""
QueryVector = Callable[[str], NDArray[np.int16] | None]


class Retriever:
    """Answers from the views of one home, current or at a past position.

    The prepared texts are kept while the views do not change. The past has no tail: it is complete. Without
    `dense` searches go by words alone.
    """

    def __init__(
        self,
        home: Home,
        log: Log,
        past: PastViews | None = None,
        dense: Dense | None = None,
    ) -> None:
        self._home = home
        self.log = log
        self.past = past
        self.dense = dense
        self._ready: ReadyTexts = {}
        self._shards: dict[int, Shard] = {}
        self._past_forgotten = False
        self._unfit: dict[Path, tuple[Watermark | None, str]] = {}
        self._serving: Build | None = None

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition, of the past or of the build that is being served."""
        if self.past is not None:
            shard = self._shards[partition] = self._shards.get(partition) or self.past.shard(partition)
            return shard
        shard = self._served(partition)
        return shard if not self._why_unfit(shard) else Shard(self._home.path / "no-views", partition)

    def _served(self, partition: int) -> Shard:
        shard = self._shards.get(partition)
        path = (self._serving or self._home.current()).shard(partition)
        if shard is None or shard.path != path:
            shard = self._shards[partition] = Shard(path, partition)
        return shard

    def _why_unfit(self, shard: Shard) -> str:
        """Return why tables are not of this log as it is now, looked up once a question."""
        mark = shard.watermark() if shard.exists() else None
        known = self._unfit.get(shard.path)
        if known is None or known[0] != mark:
            why = "" if mark is None else foreign(self.log, mark)
            known = self._unfit[shard.path] = mark, why
        return known[1]

    def warning(self, partition: int) -> str:
        """Return why the views of a partition cannot be served, as a sentence; empty where they can."""
        if self.past is not None:
            return ""
        shard = self._served(partition)
        if (self._serving or self._home.current()).damage_path(partition).exists():
            return f"The views of partition {partition} are damaged. `memtape run --once` makes them anew."
        told = "What the log holds is found by words, and `memtape run --once` makes the views anew."
        why = self._why_unfit(shard)
        return f"The views are not of the log as it is: {why}. {told}" if why else ""

    def warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        """Return the warnings of some partitions, as they are looked up anew."""
        self._unfit.clear()
        return tuple(filter(None, map(self.warning, dict.fromkeys(partitions))))

    def reading(self, action: Callable[[], ReadT]) -> ReadT:
        """Return the result of an action on the views; it is repeated where they were switched under it.

        Raises `DamagedViews` for unreadable views, and records the damage for the next projector.
        """
        served = self._serving = self._home.current()
        self._unfit.clear()
        try:
            return action()
        except Exception as error:  # Also where rows can be read and make no sense.
            if isinstance(error, MemtapeError) and not isinstance(error, DamagedViews):
                raise
            if self._is_other(served):
                return self.reading(action)
            if isinstance(error, DamagedViews):
                self.note_damage(error.partition)
                raise
            damaged = sorted(self._shards)
            self.note_damage(*damaged)
            raise DamagedViews(
                "The views cannot be read.",
                "`memtape run --once` makes them anew from the log; `memtape verify` says what is damaged.",
                damaged[0] if damaged else 0,
            ) from error
        finally:
            self._serving = None

    def note_damage(self, *partitions: int) -> None:
        """Note unreadable views for the next projector; those of the past are made again anyway."""
        for number in partitions if self.past is None else ():
            self._home.current().note_damage(number)
        self._shards.clear()

    def _is_other(self, served: Build) -> bool:
        """Whether the tables read are outdated: another build is served, or the past is made again, once."""
        if self._home.current().path == served.path:
            if self.past is None or self._past_forgotten:
                return False
            self.past.discard()
            self._past_forgotten = True
        self._shards.clear()
        return True

    def tail(self, scope: str, offset: int) -> Iterator[Event]:
        """Yield a scope's events after the watermark with an effect on visible rows."""
        if self.past is None:
            yield from tail_of(self.log, partition_of(scope, self.log.partitions), offset, scope)

    def standing_pages(self, scope: str) -> dict[str, str]:
        """Return the standing pages of the vault by path, as they lie there; none where the past is asked."""
        from memtape.sinks.vault import Vault  # A prompt's search must not wait for this.

        return {} if self.past is not None else Vault(self._home).standing(scope)

    def watermark(self, partition: int) -> Watermark | None:
        """Return how far the views of a partition are."""
        shard = self.shard(partition)
        return shard.watermark() if shard.exists() else None

    def held(self, scope: str) -> ScopeHeld:
        """Return how much a scope shows."""
        shard = self.shard(partition_of(scope, self.log.partitions))
        return shard.held().get(scope, ScopeHeld()) if shard.exists() else ScopeHeld()

    def life(self, scope: str) -> LifeMark:
        """Return how a scope as a whole stands, as its views know."""
        return _life_of(self.watermark(partition_of(scope, self.log.partitions)), scope)

    def offset(self, partition: int) -> int:
        """Return the offset up to which (exclusive) the views of a partition are true."""
        watermark = self.watermark(partition)
        return watermark.offset if watermark else 0

    def now(self, views: Collection[ScopeView]) -> int:
        """Return the time for decaying weights: the hour of the question, or of the named past time.

        For a past position it is the time of the last event sent in these scopes, whatever others have sent.
        """
        if self.past is not None and self.past.time is None:
            return max(view.sent for view in views)
        asked = now_us() if self.past is None else self.past.time or 0
        return asked - asked % HOUR_US

    def answer(self, scope: str, asked: SearchQuery) -> Answer:
        """Return the best results of a scope, and of `global` where the scope is a project.

        Where little is found, summaries of further texts follow the results of a first page, unless `repeats`
        or a time of validity is asked for. A `deep` search looks up to three times.
        """
        answer = self._ranked(scope, asked, EVERY_TEXT if asked.archived else AT_HAND)
        if asked.repeats or asked.given or len(answer.results) >= min(asked.limit, FEW_RESULTS):
            return answer
        if not asked.archived:
            answer = msgspec.structs.replace(answer, aside=self._aside(scope, bool(answer.results)))
        return answer if asked.valid_at is not None else self._with_summaries(answer, scope, asked)

    def _with_summaries(self, answer: Answer, scope: str, asked: SearchQuery) -> Answer:
        """Return an answer with the best summaries below its results."""
        if not any(self.opened(name).has_any(SummaryRow) for name in scopes_read(scope)):
            return answer
        most = min(MOST_SUMMARIES, asked.limit - len(answer.results))
        plain = SearchQuery(asked.query, asked.filters, asked.lanes, limit=most, quotas=asked.quotas)
        other = self._ranked(scope, plain._replace(now=answer.now), SUMMARIES)
        least = min((result.score for result in answer.results), default=1.0)
        below = [msgspec.structs.replace(result, score=min(result.score, least)) for result in other.results]
        sources = {**answer.sources, "summaries": other.sources["summaries"]}
        return msgspec.structs.replace(answer, results=[*answer.results, *below], sources=sources)

    def _aside(self, scope: str, is_found: bool) -> str:
        """Return a note about unsearched texts, where few or no results were found."""
        life = self._ready[scope, AT_HAND].view.life
        if life.state == "finished" or life.is_purged:
            return project_told(life)
        kept = 0 if is_found else life.archived - life.purged
        told = many(kept, "text is", "texts are")
        return f"{told} archived; `memtape search --archived` finds them." if kept else ""

    def _ranked(self, scope: str, asked: SearchQuery, choice: Choice = AT_HAND) -> Answer:
        """Return the best of the chosen texts."""
        readies, now = [self._get_ready(name, choice) for name in scopes_read(scope)], asked.now
        if now is None:
            # Never before any text: texts within the hour are ordered by time.
            now = max(self.now([it.view for it in readies]), *(it.corpus.texts.latest for it in readies))
        answer = answered([self._used_at(ready, now) for ready in readies], asked, now, self.dense)
        warnings = map(self.warning, dict.fromkeys(ready.view.mark.partition for ready in readies))
        return msgspec.structs.replace(answer, warnings=tuple(filter(None, warnings)))

    def offer(self, scope: str, prompt: str, limit: int, sure: Choose) -> Answer:
        """Return the `sure` ones of the best results for a prompt, at most `limit`.

        Orders about memory, and texts that people want left out by an order, are excluded. So are replaced
        memories and turns that repeat them: their replacement counts as equally sure.
        """
        answer = self._ranked(scope, SearchQuery(prompt, limit=OFFERED_FROM))
        results, readies = answer.results, [self._ready[name, AT_HAND] for name in scopes_read(scope)]
        orders = (order for ready in readies if results for order in orders_among(ready.found))
        if left_out := [named_by(order.text) for order in orders]:
            results = [it for it in results if not (it.polarity == "meta" or is_about(it.text, left_out))]
        weighed: dict[str, Weighed] = {}
        for ready in readies:
            own = {it.id: ready.found.place_of(it) for it in results if it.scope == ready.scope}
            if places := [place for place in own.values() if place is not None]:
                weighed |= zip(own, ready.corpus.words.weighed(prompt, places), strict=True)
        results, heirs = holding(results)
        for id, heir in heirs.items():
            if heir in weighed:
                weighed[heir] = weighed[heir]._replace(share=max(weighed[heir].share, weighed[id].share))
        chosen = sure(results, [weighed[result.id] for result in results], limit)
        return msgspec.structs.replace(answer, results=chosen)

    def plain(self, scope: str) -> tuple[list[Result], NDArray[np.int16] | None, QueryVector]:
        """Return all texts read by a search in a scope, `global` included, for other rankings.

        With them come a row of vectors for each text (None without any), and the vectors of questions.
        """
        readies, dense = [self._get_ready(name) for name in scopes_read(scope)], self.dense
        places, own = [ready.found.places() for ready in readies], readies[0]
        pairs = list(zip(readies, places, strict=True))
        documents = [ready.found.result(place) for ready, its in pairs for place in its]
        if own.vectors is None or dense is None:
            return documents, None, lambda query: None
        rows = [
            ready.vectors.taken(np.array(its, np.int64))
            if ready.vectors is not None and ready.embedder == own.embedder
            else np.zeros((len(its), own.vectors.dimensions), np.int16)
            for ready, its in pairs
        ]

        def of_query(query: str) -> NDArray[np.int16] | None:
            encoded = own.corpus.to_encode(query)
            return None if encoded is None else dense.of_query(encoded, own.embedder)

        return documents, np.concatenate(rows), of_query

    def found(self, scope: str, choice: Choice = AT_HAND) -> tuple[ScopeTexts, ScopeView]:
        """Return the searchable texts of a scope, and the position of its views."""
        ready = self._get_ready(scope, choice)
        return ready.found, ready.view

    def opened(self, scope: str) -> OpenIndex:
        """Return the written search index of a scope, whose rows are read without any table."""
        return self._index(self.shard(partition_of(scope, self.log.partitions)), scope, AT_HAND)

    def _index(self, shard: Shard, scope: str, choice: Choice) -> OpenIndex:
        ready = self._ready.get((scope, choice))
        opened = shard.index(scope, None if ready is None else ready.found.opened) if shard.exists() else None
        return opened or NOTHING

    def find(self, scope: str, id: str) -> MemoryRow | TurnRow | Event:
        """Return the memory or turn of an id, hidden ones included, or a capture without a row in the views.

        Such a capture is in the tail, or its rows have left the views. Raises `NotFound`.
        """
        for name in scopes_read(scope):
            partition = partition_of(name, self.log.partitions)
            rows = self.opened(name).rows_called(id)
            erased = erasures_of(self.log.erased(partition)).named.get(name, {})
            if id in erased:
                raise erased_for_good(id)
            if any(known in erased for row in rows if isinstance(row, MemoryRow) for known in row.ids):
                raise NotFound(f"Some of what {id} is one with is being erased.", "Ask again in a moment.")
            if rows:
                return rows[0]
            for event in self.tail(name, self.offset(partition)):
                if event.id == id and isinstance(event.body, Captured):
                    return event
            life = self.life(name)
            gone = captures_of(self.log, name, [id]).get(id) if life.purged or life.is_purged else None
            if gone is not None and not _is_banned(self.opened(name), gone):
                return gone
        raise nowhere(scope, id)

    def summary(self, scope: str, id: str) -> SummaryRow | None:
        """Return the summary of an id, or None. Raises `NotFound` while it is to be made anew."""
        for name in scopes_read(scope):
            row = self.opened(name).row(SummaryRow, id)
            if row is not None:
                if self.found(name, SUMMARIES)[0].texts.called(id) is None:
                    told = f"Some of what {id} sums up has just been hidden."
                    raise NotFound(told, "Ask again in a moment.")
                return row
        return None

    def prepare(self, scope: str) -> None:
        """Read all that a search in a scope reads."""
        for name in scopes_read(scope):
            self._get_ready(name)

    def take_over(self, ready: ReadyTexts) -> None:
        """Share the loaded texts of another retriever of the same home; neither changes them."""
        self._ready |= ready

    def let_go(self) -> ReadyTexts:
        """Return the loaded texts, and hold none."""
        ready, self._ready = self._ready, {}
        return ready

    def _get_ready(self, scope: str, choice: Choice = AT_HAND) -> PreparedTexts:
        """Return a scope's texts. The watermark is read first: the index may only be newer than it."""
        partition = partition_of(scope, self.log.partitions)
        shard, watermark = self.shard(partition), self.watermark(partition)
        life = _life_of(watermark, scope)
        if choice == EVERY_TEXT and not life.archived and life.state != "finished":
            choice = AT_HAND  # It is the same, and may be ready.
        offset = watermark.offset if watermark else 0
        tail, ready = list(self.tail(scope, offset)), self._ready.get((scope, choice))
        opened = self._index(shard, scope, choice)
        ids = tuple(event.id for event in tail)
        key = (shard.path, watermark, opened.manifest.number, ids)
        if ready is not None and ready.key == key:
            return ready
        shown = choice._replace(past=life.since if life.state == "finished" else None)
        at = partial(text_at, self.log, partition)
        found = found_of(opened, tail, at, None if ready is None else ready.found, shown)
        embedder = watermark.embedder if watermark is not None else FLOOR
        vectors = self.dense.of_texts(found, embedder) if self.dense is not None else None
        mark = Mark(offset=offset, partition=partition)
        sent = max(0, watermark.sent.get(scope, 0) if watermark else 0, *(event.sent for event in tail))
        view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, sent, life)
        uses = {row.id: row for row in opened.rows(UseRow)}
        use = partial(uses_at, uses, found) if uses else None
        corpus = Corpus(found.texts, found.text, vectors)
        ready = PreparedTexts(scope, key, choice, view, found, corpus, embedder, vectors, use)
        self._ready[scope, choice] = ready
        return ready

    def _used_at(self, ready: PreparedTexts, now: int) -> PreparedTexts:
        """Return a scope's texts with uses and edges as of the hour of `now`; its changes are small."""
        hour = now - now % HOUR_US
        if ready.use is None or ready.use_at == hour:
            return ready
        ready = ready._replace(corpus=ready.corpus.with_use(ready.use(hour)), use_at=hour)
        self._ready[ready.scope, ready.choice] = ready
        return ready


def _life_of(watermark: Watermark | None, scope: str) -> LifeMark:
    """Return how a project stood when its views were written."""
    return watermark.lives.get(scope, LifeMark()) if watermark is not None else LifeMark()


DIGEST_BYTES, CHECK_BYTES, ID_BYTES = 8, 4, len(given_id(""))
SLACK_US = 60_000_000
"""An age asked again is later by the time between, and by up to this."""
AGAIN = "Ask without a cursor for the first page."

Bounds = tuple[int | None, int | None, int | None]


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The state of a paged search: digests of its `question` in a scope and home, and of the `given` results.

    `at` is the time of the first page, `now` its time for ranking, in microseconds. `bounds` are the
    question's time limits: since, until, and the time of validity.
    """

    question: bytes
    at: int
    now: int
    bounds: Bounds
    given: bytes


def page_of(views: Retriever, log: Log, scope: str, asked: SearchQuery, cursor: str | None) -> Answer:
    """Return the first page of a search, or the page of a cursor, with the cursor of a possible next page.

    The past and a deep search have one page. Raises `MemtapeError` for a cursor that is damaged or of
    another question, scope or home.
    """
    has_pages = views.past is None and asked.deep is None
    question, before = _question(log, scope, asked), None
    if cursor is not None:
        if not has_pages:
            told = "A deep search has one page."
            told = told if views.past is None else "The past is not asked page by page."
            raise MemtapeError(told, "Ask with a greater limit.")
        before = read(cursor)
        if before.question != question or not _are_same(before, _bounds(asked)):
            raise MemtapeError("The cursor is of another question, filter, scope or home.", AGAIN)
        since, until, valid_at = before.bounds
        filters = msgspec.structs.replace(asked.filters, since=since, until=until)
        given = frozenset(before.given[n : n + ID_BYTES] for n in range(0, len(before.given), ID_BYTES))
        asked = asked._replace(filters=filters, valid_at=valid_at, now=before.now, given=given)
    answer = views.answer(scope, asked)
    returned = b"".join(given_id(result.id) for result in answer.results if not result.sums)
    if not (has_pages and returned and answer.has_more):
        return answer
    before = before or Cursor(question, now_us(), answer.now, _bounds(asked), b"")
    after = msgspec.structs.replace(before, given=before.given + returned)
    return msgspec.structs.replace(answer, next=written(after))


def written(cursor: Cursor) -> str:
    """Return a cursor as a text of letters, digits, `-` and `_`."""
    data = msgspec.msgpack.encode(cursor)
    return urlsafe_b64encode(data + _check(data)).decode().rstrip("=")


def read(text: str) -> Cursor:
    """Return the cursor in a text. Raises `MemtapeError` for a damaged cursor."""
    try:
        raw = text.strip().encode("ascii")
        whole = urlsafe_b64decode(raw + b"=" * (-len(raw) % 4))
        data, mark = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
        if mark == _check(data) and urlsafe_b64encode(whole).rstrip(b"=") == raw:
            return msgspec.msgpack.decode(data, type=Cursor)
    except (Error, ValueError):
        pass
    raise MemtapeError("The cursor is damaged, or was never one.", AGAIN)


def _are_same(cursor: Cursor, bounds: Bounds) -> bool:
    """Return whether the time limits of a question are those of a cursor, later where they are ages."""
    between = max(0, now_us() - cursor.at) + SLACK_US
    return all(
        was is now is None or (was is not None and now is not None and -SLACK_US <= now - was <= between)
        for was, now in zip(cursor.bounds, bounds, strict=True)
    )


def _question(log: Log, scope: str, asked: SearchQuery) -> bytes:
    """Return the digest of a question of a scope and its options, without its times and page length."""
    filters = msgspec.to_builtins(msgspec.structs.replace(asked.filters, since=None, until=None))
    told = [log.log_id, scope, asked.query, filters, sorted(asked.lanes), asked.archived, dict(asked.quotas)]
    return blake2b(canonical(told), digest_size=DIGEST_BYTES).digest()


def _bounds(asked: SearchQuery) -> Bounds:
    return asked.filters.since, asked.filters.until, asked.valid_at


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK_BYTES, person=b"memtape cursor").digest()


PURGED = "archived, and gone from the views; `memtape archive --undo` brings it back"
"""The mark of a capture that only the log has."""


class SummarySource(msgspec.Struct, frozen=True, kw_only=True):
    """A source of a summary, by its capture; the text is None if no longer on the log.

    `marks` say that the source is archived, or has left the views.
    """

    id: str
    at: int
    text: str | None
    marks: tuple[str, ...] = ()


def captures_of(log: Log, scope: str, ids: Sequence[str]) -> dict[str, Event]:
    """Return captures of a scope from the log, without erased ones."""
    partition = partition_of(scope, log.partitions)
    erasures = erasures_of(log.erased(partition))
    offsets = log.known(scope, ids) if ids else {}
    events = {id: capture_at(log, partition, offset, erasures) for id, offset in offsets.items()}
    return {id: event for id, event in events.items() if event is not None}


def capture_at(log: Log, partition: int, offset: int, erasures: Erasures) -> Event | None:
    """Return the capture at an offset of the log, None where none is or where it is erased."""
    slots = log.read(partition, offset, 1)
    event = event_of(slots[0].payload) if slots else None
    if event is None or not isinstance(event.body, Captured) or erasures.covers(event):
        return None
    return event


def _is_banned(opened: OpenIndex, event: Event) -> bool:
    """Return whether the views say that a capture is forgotten, by its id or by its text."""
    body, keys = event.body, [f"id:{event.id}"]
    assert isinstance(body, Captured)
    keys += [text_row_id(normal_digest(body.text))] if body.kind in FAMILIES else []
    return any(opened.row(TombstoneRow, key) is not None for key in keys)


def is_hidden(log: Log, found: ScopeTexts, scope: str, id: str) -> bool:
    """Whether a capture is hidden: by a ban of the views, or by one of the tail."""
    event = captures_of(log, scope, [id]).get(id)
    if event is None or not isinstance(event.body, Captured):
        return False
    if rows := found.opened.rows_called(id):
        is_shown = rows[0].archived_at is not None or found.texts.called(rows[0].id) is not None
        return rows[0].hidden or not is_shown or _is_banned(found.opened, event)
    if event.body.kind not in FAMILIES:
        return _is_banned(found.opened, event)
    return all(shown.id != id for shown in found.captured)


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
