"""How a question is answered: the rows of a scope, what stands behind their watermark, and one ranking.

A project's search reads its scope and `global`, each scored from its own texts alone, then merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.schemas.codec import event_of
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import DamagedViews, MemtapeError, NotFound
from memtape.schemas.events import Captured, Event, Filters, Mark, Origin
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.log import Log, Slot
from memtape.schemas.rows import (
    TABLES,
    Displayed,
    EdgeRow,
    MemoryRow,
    Provenance,
    TombstoneRow,
    TurnRow,
    UseRow,
    Watermark,
    marks,
)
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import HOUR_US
from memtape.sinks.epochs import foreign
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.tables import Shard, any_of, quoted
from memtape.state.core.erasures import erasures_of
from memtape.state.ranking.documents import Document
from memtape.state.ranking.lanes import MODELS_CONFIDENCE, Hit
from memtape.state.ranking.ranker import Corpus, Ranking
from memtape.state.ranking.wording import Reading
from memtape.state.subjects.captures import FAMILIES, normal_digest
from memtape.state.subjects.decay import ONE
from memtape.state.subjects.edges import Tie, resolved, tie_of, weight_at
from memtape.state.subjects.usage import hot, times_of
from memtape.state.views.effects import HIDING_TYPES, TAIL_TYPES
from memtape.state.views.filters import NO_FILTERS, passes
from memtape.state.views.tail import Overlay, overlay
from memtape.tools.ask.naming import erased_for_good, nowhere
from memtape.tools.capture.writing import now_us

if TYPE_CHECKING:
    from memtape.tools.ask.as_of import PastViews

ReadT = TypeVar("ReadT")

ANSWERING: tuple[Origin, ...] = ("agent", "model", "tool")
"""Origins whose turns are taken for an assistant's answers."""
PAGE_SLOTS = 5_000
HELD_FROM = 1_000
"""A scope of so many texts takes longer to read than a hook waits."""

_UNTIL_THEN = "What the log holds is found by words, and `memtape run --once` makes the views anew."


class Why(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a result stands where it stands: its score is relevance (0 to 1) x age x use x confidence.

    `lanes` has the score of each lane that found or moved it: BM25 as a share of the best text's, a cosine, use as a
    share of the hottest text's, youth (1 now, 0 at three days), and the relevance that an edge lent, where that is more
    than its own. Where it was asked for, `parts` adds up to the relevance as the `Reading` of its scope says, `terms`
    are those of the question that the text holds, and `around` those that only the turns around it or its day do.
    """

    relevance: float
    age: float
    use: float
    confidence: float
    lanes: dict[Lane, float]
    parts: Mapping[str, float] = {}
    terms: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """How a question was read in one scope.

    A relevance is (sum of parts - `least`) / (`most` - `least`), from 0 to 1, x `strength`, the share of the question
    that the best text holds. `recipe` is for "people" or for an "assistant". `terms` has the weights of those that
    count, `unheld` what no text has, `names` what is left out since it names who speaks, `common` the words left out.
    """

    scope: str
    recipe: str
    least: float
    most: float
    strength: float
    terms: dict[str, float]
    unheld: tuple[str, ...]
    names: tuple[str, ...]
    common: tuple[str, ...]


class Result(Displayed, frozen=True, kw_only=True):
    """One answer. `text` is whole, `passage` the best 1,200 characters of it; `score` compares within one search only.

    `marks` is what a reader is told beside the text. `canonical` is the capture that speaks for a memory, else the id.
    `provenance` has the origin and session of each capture behind it that lives, each once.
    `projected` is False for a capture that no view holds yet, which therefore is not folded. `last_at` is the time of
    the latest confirmation of what folds, else None. `again` is how many more turns that were found say the same.
    """

    canonical: str
    passage: str = ""
    score: float
    provenance: tuple[Provenance, ...]
    marks: tuple[str, ...] = ()
    confirmations: int
    captions: tuple[str, ...]
    lanes: tuple[Lane, ...] = ()
    why: Why | None = None
    last_at: int | None = None
    again: int = 0
    projected: bool


class Dense(Protocol):
    """Where a search has its vectors from, quantised as `state/vectors/recorded.py` does it; all of one embedder."""

    @property
    def note(self) -> str:
        """Why the last question had no vector; nothing where it had one."""

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (dimensions,); None where there is none, and words must do."""

    def of_results(
        self, results: list[Result], shard: Shard, watermark: Watermark | None, scope: str
    ) -> NDArray[np.int16] | None:
        """Return a row for each text of a scope, of zeros where it has no vector; None where nothing has one."""


class Answer(NamedTuple):
    """The results, best first, the position that they are true up to, and how many events the views lack.

    `read` has how each scope read the question, where that was asked for; `held` how many texts the scope itself shows.
    `lanes` says how many texts each lane has found or moved, in all scopes that were read; `note` why vectors were not.
    `warnings` say what is wrong with the views, a sentence each.
    """

    results: list[Result]
    watermark: tuple[Mark, ...]
    lag: int
    revision: int
    now: int
    lanes: dict[Lane, int]
    note: str = ""
    read: tuple[Read, ...] = ()
    held: int = 0
    warnings: tuple[str, ...] = ()


class ScopeView(NamedTuple):
    """Where the views of one scope stand, and when the last event of the scope itself was sent (0 for none)."""

    mark: Mark
    lag: int
    revision: int
    sent: int


class Plain(NamedTuple):
    """What can be found, a row of vectors for each (None where nothing has one), and how a question gets its own."""

    documents: list[Result]
    vectors: NDArray[np.int16] | None
    of_query: Callable[[str], NDArray[np.int16] | None]


class _Key(NamedTuple):
    """What a scope's documents were made from: the tables, how far they were, and the ids of the tail's events."""

    path: Path
    watermark: Watermark | None
    versions: tuple[int, ...]
    tail: tuple[str, ...]


class _Ready(NamedTuple):
    """A scope's visible documents, ready to be ranked for as long as `key` stays what it is."""

    key: _Key
    view: ScopeView
    documents: list[Result]
    corpus: Corpus
    embedder: str
    vectors: NDArray[np.int16] | None
    use: _Use | None
    said: dict[int, bytes | str]
    use_at: int = 0


class _Use(NamedTuple):
    """What a scope's uses and edges are made from, at whatever time they are asked."""

    documents: list[Document]
    uses: dict[str, UseRow]
    ties: list[Tie]
    ids_of: Mapping[str, tuple[str, ...]]

    def at(self, now: int) -> list[Document]:
        """Return the documents with how often and how lately each was used in the scope, and what it was used with."""
        times = {id: row.times for id, row in self.uses.items()}
        name_of = {id: name for name, ids in self.ids_of.items() for id in ids}
        neighbours: dict[str, list[tuple[str, float]]] = {}
        for tie in resolved(self.ties, name_of, now):
            weight = min(1.0, weight_at(tie, now) / ONE)
            neighbours.setdefault(tie.source, []).append((tie.target, weight))
            neighbours.setdefault(tie.target, []).append((tie.source, weight))

        def used(document: Document) -> Document:
            ids = [id for id in self.ids_of.get(document.id, ()) if id in self.uses]
            if not ids and document.id not in neighbours:
                return document
            return document._replace(
                uses=sum(self.uses[id].used for id in ids),
                hot=hot(times_of(ids, times, own=True), now) / ONE,
                neighbours=tuple(neighbours.get(document.id, ())),
            )

        return list(map(used, self.documents))


class Retriever:
    """Answers from the views of one home, as they are or as they were at a position of the past.

    It keeps what it made ready while the views do not change. The past has no tail: it is complete. Without `dense` it
    finds by words alone.
    """

    def __init__(self, home: Home, log: Log, past: PastViews | None = None, dense: Dense | None = None) -> None:
        self._home = home
        self._log = log
        self.dense = dense
        self.past = past
        self._shards: dict[int, Shard] = {}
        self._ready: dict[str, _Ready] = {}
        self._past_forgotten = False
        self._unfit: dict[Path, tuple[Watermark | None, str]] = {}

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
        shard = self._served(partition)
        return shard if not self._why_unfit(shard) else Shard(self._home.path / "no-views", partition)

    def _served(self, partition: int) -> Shard:
        shard = self._shards.get(partition)
        path = self._home.current().shard(partition)
        if shard is None or shard.path != path:
            shard = self._shards[partition] = Shard(path, partition)
        return shard

    def _why_unfit(self, shard: Shard) -> str:
        """Return why tables are not of this log as it is now, looked up once a question."""
        mark = shard.watermark() if shard.exists() else None
        known = self._unfit.get(shard.path)
        if known is None or known[0] != mark:
            why = "" if mark is None else foreign(self._log, mark)
            known = self._unfit[shard.path] = mark, why
        return known[1]

    def warning(self, partition: int) -> str:
        """Return a sentence where the views of a partition cannot be served, since they are not of this log."""
        if self.past is not None:
            return ""
        shard = self._served(partition)
        self._unfit.pop(shard.path, None)
        if self._home.current().damage_path(partition).exists():
            return f"The views of partition {partition} are damaged. `memtape run --once` makes them anew."
        why = self._why_unfit(shard)
        return f"The views are not of the log as it is: {why}. {_UNTIL_THEN}" if why else ""

    def warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        """Return the warnings of some partitions."""
        return tuple(filter(None, map(self.warning, dict.fromkeys(partitions))))

    def reading(self, action: Callable[[], ReadT]) -> ReadT:
        """Return what an action reads from the views; it is done again where they were switched under it.

        Raises `DamagedViews` where they cannot be read, and notes that for the next projector.
        """
        served = self._home.current()
        self._unfit.clear()
        try:
            return action()
        except DamagedViews as error:
            if self._is_other(served):
                return self.reading(action)
            self.note_damage(error)
            raise
        except MemtapeError:
            raise
        except Exception as error:  # Rows that can be read and make no sense.
            if self._is_other(served):
                return self.reading(action)
            partitions = sorted(self._shards)
            for number in [] if self.past is not None else partitions:
                served.note_damage(number)
            raise DamagedViews(
                "The views cannot be read.",
                "`memtape run --once` makes them anew from the log; `memtape verify` says what is damaged.",
                partitions[0] if partitions else 0,
            ) from error

    def note_damage(self, error: DamagedViews) -> None:
        """Note for the next projector that views could not be read; those of the past are made again anyway."""
        if self.past is None:
            self._home.current().note_damage(error.partition)
        self._shards.clear()

    def _is_other(self, served: Build) -> bool:
        """Whether what was read is no longer what would be: another build is served, or a past is made again."""
        if self._home.current().path == served.path and not self._forget_past():
            return False
        self._shards.clear()
        return True

    def _forget_past(self) -> bool:
        """Discard views of the past that cannot be read, which are made again when asked for; once."""
        if self.past is None or self._past_forgotten:
            return False
        self.past.discard()
        self._past_forgotten = True
        return True

    def now(self, views: Collection[ScopeView]) -> int:
        """Return the time by which weights decay: the hour of asking, or that of the time in the past that was named.

        Of a position in the past it is what was sent last in these scopes. So nothing in another scope moves it, as the
        clock of a partition would.
        """
        if self.past is not None and self.past.time is None:
            return max(view.sent for view in views)
        asked = now_us() if self.past is None else self.past.time or 0
        return asked - asked % HOUR_US

    def search(
        self,
        scope: str,
        query: str,
        limit: int,
        filters: Filters,
        lanes: Collection[Lane] = LANES,
        now: int | None = None,
        explain: bool = False,
        repeats: bool = False,
        held: bool = False,
    ) -> Answer:
        """Return the best results of a scope, and of `global` where the scope is a project, by these lanes.

        `now` is that of a search which is asked again, by default as `Retriever.now` says. With `explain` every result
        has the parts of its relevance. Of turns that say the same only the best placed is returned, with the count of
        the others, unless `repeats` are asked for, as who measures by the ids of turns does. With `held` a large scope
        answers from what was read of it before, if nothing but captures came since.
        """
        found: list[Result] = []
        counts: dict[Lane, int] = {}
        readies = [self._get_ready(name, held) for name in scopes_read(scope)]
        views = [ready.view for ready in readies]
        # What was said within the hour is told apart by when it was said; `now` is never before it.
        now = max(self.now(views), *(ready.corpus.latest for ready in readies)) if now is None else now
        readies = [self._used_at(ready, name, now) for ready, name in zip(readies, scopes_read(scope), strict=True)]
        reads: list[Read] = []
        for name, ready in zip(scopes_read(scope), readies, strict=True):
            ranking = self._ranking(ready, query, filters, lanes, now, explain)
            reading = ready.corpus.told(query)[1] if explain else None
            passage_of = ready.corpus.passages(query)
            hits = ((hit, 0) for hit in islice(ranking.hits, limit)) if repeats else _best(ready, ranking, limit)
            found += [_told(ready, hit, passage_of(hit.place), reading, again) for hit, again in hits]
            counts |= {lane: counts.get(lane, 0) + count for lane, count in ranking.counts.items()}
            if explain and ready.documents:
                reads.append(_read(name, ready, query, ranking))
        found.sort(key=lambda result: (-result.score, result.kind, result.id))
        return Answer(
            (found if repeats else _once(found))[:limit],
            tuple({view.mark.partition: view.mark for view in views}.values()),
            sum(view.lag for view in views),
            views[0].revision,
            now,
            counts,
            self.dense.note if self.dense is not None else "",
            tuple(reads),
            len(readies[0].documents),
            self.warnings(partition_of(name, self._log.partitions) for name in scopes_read(scope)),
        )

    def _ranking(
        self, ready: _Ready, query: str, filters: Filters, lanes: Collection[Lane], now: int, explain: bool
    ) -> Ranking:
        """Return what of a scope passes, best first."""
        encoded = ready.corpus.to_encode(query) if self.dense is not None and "dense" in lanes else None
        vector = None
        if self.dense is not None and encoded is not None:
            vector = self.dense.of_query(encoded, ready.embedder)
        among = None if filters == NO_FILTERS else lambda place: passes(ready.documents[place], filters)
        return ready.corpus.rank(query, vector, lanes=lanes, among=among, now=now, explain=explain)

    def plain(self, scope: str) -> Plain:
        """Return everything that a search in a scope reads, `global` included, for who ranks it otherwise."""
        readies = [self._get_ready(name) for name in scopes_read(scope)]
        documents = [document for ready in readies for document in ready.documents]
        own = readies[0].vectors
        if own is None or self.dense is None:
            return Plain(documents, None, lambda text: None)
        others = (
            ready.vectors
            if ready.vectors is not None and ready.embedder == readies[0].embedder
            else np.zeros((len(ready.documents), own.shape[1]), np.int16)
            for ready in readies[1:]
        )
        return Plain(
            documents, np.concatenate([own, *others]), partial(self.dense.of_query, embedder=readies[0].embedder)
        )

    def encoded(self, scope: str, query: str) -> str:
        """Return a question as a search in a scope has it encoded."""
        return self._get_ready(scope).corpus.to_encode(query) or query

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
                raise erased_for_good(id)
            if any(known in erased for memory in memories for known in memory.ids):
                raise NotFound(f"Some of what {id} is one with is being erased.", "Ask again in a moment.")
            if memories:
                return memories[0]
            if turns:
                return turns[0]
            for event in self.tail(name, self.offset(partition)):
                if event.id == id and isinstance(event.body, Captured):
                    return event
        raise nowhere(scope, id)

    def tail(self, scope: str, offset: int) -> Iterator[Event]:
        """Yield a scope's events behind the watermark that change what is visible."""
        if self.past is None:
            yield from tail_of(self._log, partition_of(scope, self._log.partitions), offset, scope)

    def uses_behind(self, scope: str, offset: int) -> int:
        """Return how many uses of a scope stand behind the watermark, at most a page of them."""
        if self.past is not None:
            return 0
        return len(
            self._log.read(partition_of(scope, self.partitions), offset, PAGE_SLOTS, scope=scope, types=("used",))
        )

    def watermark(self, partition: int) -> Watermark | None:
        """Return how far the views of a partition are."""
        shard = self.shard(partition)
        return shard.watermark() if shard.exists() else None

    def offset(self, partition: int) -> int:
        """Return the offset up to which (exclusive) the views of a partition are true."""
        watermark = self.watermark(partition)
        return watermark.offset if watermark else 0

    def prepare(self, scope: str) -> None:
        """Read all that a search in a scope reads."""
        for name in scopes_read(scope):
            self._get_ready(name)

    def take_over(self, other: Retriever) -> None:
        """Hold what another retriever of the same home has read, which neither changes."""
        self._ready |= other._ready

    def _get_ready(self, scope: str, held: bool = False) -> _Ready:
        """Return a scope's documents. The watermark is read first: rows may only be newer than it."""
        partition = partition_of(scope, self._log.partitions)
        shard = self.shard(partition)
        if held and (last := self._ready.get(scope)) and self._only_grew(scope, last, shard):
            return last
        watermark = self.watermark(partition)
        tail = list(self.tail(scope, watermark.offset if watermark else 0))
        versions = tuple(shard.version(row_type) for row_type in TABLES.values())
        key = _Key(shard.path, watermark, versions, tuple(event.id for event in tail))
        ready = self._ready.get(scope)
        if ready is None or ready.key != key:
            before = ready.corpus if ready is not None else None
            ready = self._ready[scope] = _make_ready(key, shard, scope, watermark, tail, self.dense, before)
        return ready

    def _only_grew(self, scope: str, ready: _Ready, shard: Shard) -> bool:
        """Whether a scope is large, and nothing that was read of it is hidden or gone by now."""
        if len(ready.documents) < HELD_FROM or ready.key.path != shard.path or not shard.exists():
            return False
        mark, known = ready.view.mark, dict.fromkeys(ready.key.tail)
        hiding = self._log.read(mark.partition, mark.offset, PAGE_SLOTS, scope=scope, types=HIDING_TYPES)
        return len(hiding) < PAGE_SLOTS and all(_id_of(slot) in known for slot in hiding)

    def _used_at(self, ready: _Ready, scope: str, now: int) -> _Ready:
        """Return what is ready with its uses and edges as of the hour of `now`, by which they hardly change."""
        hour = now - now % HOUR_US
        if ready.use is None or ready.use_at == hour:
            return ready
        ready = ready._replace(corpus=ready.corpus.with_use(ready.use.at(hour)), use_at=hour)
        self._ready[scope] = ready
        return ready


def _make_ready(
    key: _Key,
    shard: Shard,
    scope: str,
    watermark: Watermark | None,
    tail: list[Event],
    dense: Dense | None,
    before: Corpus | None,
) -> _Ready:
    laid = overlay(shard.rows(MemoryRow, scope), shard.rows(TurnRow, scope), shard.rows(TombstoneRow, scope), tail)
    documents = results_of(laid)
    vectors = dense.of_results(documents, shard, watermark, scope) if dense is not None else None
    mark = Mark(offset=watermark.offset if watermark else 0, partition=shard.partition)
    view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, last_sent(scope, watermark, tail))
    ranked = list(map(_ranked, documents))
    use = None
    if uses := {row.id: row for row in shard.rows(UseRow, scope)}:
        ids_of = {row.id: row.ids for row in laid.memories} | {row.id: (row.id,) for row in laid.turns}
        use = _Use(ranked, uses, list(map(tie_of, shard.rows(EdgeRow, scope))), ids_of)
    corpus = Corpus(ranked, vectors, before)
    return _Ready(key, view, documents, corpus, watermark.embedder if watermark else FLOOR, vectors, use, {})


def last_sent(scope: str, watermark: Watermark | None, tail: Sequence[Event]) -> int:
    """Return when the last event of a scope was sent, 0 for none."""
    return max(0, watermark.sent.get(scope, 0) if watermark else 0, *(event.sent for event in tail))


def tail_of(log: Log, partition: int, offset: int, scope: str) -> Iterator[Event]:
    """Yield a scope's events from `offset` on that change what is visible; erased ones and repetitions are left out."""
    erased = log.erased(partition)
    erasures, erasing = erasures_of(erased), {slot.offset for slot in erased}
    seen: set[str] = set()
    while True:
        slots = log.read(partition, offset, PAGE_SLOTS, scope=scope, types=TAIL_TYPES)
        for slot in slots:
            event = event_of(slot.payload)
            if event is None:
                continue
            repeated = event.id in seen or (event.type == "erased" and slot.offset not in erasing)
            seen.add(event.id)
            if not repeated and not erasures.covers(event):
                yield event
        if len(slots) < PAGE_SLOTS:
            return
        offset = slots[-1].offset + 1


def _id_of(slot: Slot) -> str | None:
    """Return the id of a slot's event, None where it cannot be read."""
    event = event_of(slot.payload)
    return event.id if event is not None else None


def _best(ready: _Ready, ranking: Ranking, limit: int) -> Iterator[tuple[Hit, int]]:
    """Yield the best hits, at most `limit`, each with how many more turns that were found say the same."""
    best: dict[bytes | str, Hit] = {}
    again: Counter[bytes | str] = Counter()
    for hit in ranking.hits:
        said = ready.said.get(hit.place)
        if said is None:
            said = ready.said[hit.place] = _said(ready.documents[hit.place])
        again[said] += 1
        if len(best) < limit:
            best.setdefault(said, hit)
    yield from ((hit, again[said] - 1) for said, hit in best.items())


def _said(result: Result) -> bytes | str:
    """Return what turns that say the same have in common, else an id: memories fold by themselves."""
    if result.kind != "turn":
        return result.id
    return normal_digest("\n".join((result.text, *result.captions)))


def _once(found: Iterable[Result]) -> list[Result]:
    """Return results with each turn that another scope has too once, where it is placed best."""
    best: dict[bytes | str, Result] = {}
    for result in found:
        said = _said(result)
        known = best.get(said)
        best[said] = result if known is None else msgspec.structs.replace(known, again=known.again + result.again + 1)
    return list(best.values())


def _told(ready: _Ready, hit: Hit, passage: str, reading: Reading | None, again: int) -> Result:
    """Return a result with its passage and why it stands where it stands, and with its terms where they were read."""
    own, around = ready.corpus.held(hit.place, reading) if reading is not None else ((), ())
    why = Why(
        relevance=hit.relevance,
        age=hit.age,
        use=hit.use,
        confidence=hit.confidence,
        lanes=hit.lanes,
        parts=hit.parts,
        terms=own,
        around=around,
    )
    document = ready.documents[hit.place]
    lanes = tuple(hit.lanes)
    return msgspec.structs.replace(document, score=hit.score, passage=passage, lanes=lanes, why=why, again=again)


def _read(scope: str, ready: _Ready, query: str, ranking: Ranking) -> Read:
    recipe, reading = ready.corpus.told(query)
    least, most, strength = ranking.scale
    return Read(
        scope=scope,
        recipe=recipe,
        least=least,
        most=most,
        strength=strength,
        terms=reading.used,
        unheld=reading.unheld,
        names=reading.names,
        common=reading.common,
    )


def results_of(laid: Overlay) -> list[Result]:
    """Return everything visible as results that nobody has asked for yet: memories, turns, captures of the tail."""
    return [*map(_from_memory, laid.memories), *map(_from_turn, laid.turns), *map(_from_event, laid.captured)]


def _result(
    row: MemoryRow | TurnRow, confirmations: int, captions: Sequence[str], last_at: int | None = None
) -> Result:
    return Result(
        **{name: getattr(row, name) for name in Displayed.__struct_fields__},
        canonical=row.canonical if isinstance(row, MemoryRow) else row.id,
        score=0.0,
        provenance=(row.provenance if isinstance(row, MemoryRow) else ()) or (Provenance(row.origin, row.session),),
        marks=marks(row),
        confirmations=confirmations,
        captions=tuple(captions),
        last_at=last_at,
        projected=True,
    )


def _ranked(result: Result) -> Document:
    turn = result.kind == "turn"
    text = "\n".join((result.text, *result.captions))
    return Document(
        text,
        result.session,
        result.actor,
        turn,
        turn and result.origin in ANSWERING,
        result.at,
        kind=result.kind,
        id=result.id,
        ages_from=result.last_at,
        confidence=MODELS_CONFIDENCE if result.origin == "model" and not turn else 1,
    )


def _from_memory(row: MemoryRow) -> Result:
    return _result(row, row.confirmations, (), row.last_at if row.kind in FAMILIES else None)


def _from_turn(row: TurnRow) -> Result:
    return _result(row, 0, row.captions)


def _from_event(event: Event) -> Result:
    body = event.body
    assert isinstance(body, Captured) and event.scope is not None
    return Result(
        id=event.id,
        canonical=event.id,
        text=body.text,
        kind=body.kind,
        scope=event.scope,
        score=0.0,
        at=event.at,
        source=body.source,
        origin=event.actor.origin,
        actor=event.actor.name,
        session=event.session,
        provenance=(Provenance(event.actor.origin, event.session),),
        tags=body.tags,
        confirmations=0,
        captions=tuple(media.caption for media in body.media if media.caption),
        last_at=event.at if body.kind in FAMILIES else None,
        projected=False,
    )
