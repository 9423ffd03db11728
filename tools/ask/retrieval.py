"""How a question is answered: the rows of a scope, what stands behind their watermark, and one ranking.

A project's search reads its scope and `global`, each scored from its own texts alone, then merged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.schemas.codec import body_of_capture, event_of
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import DamagedViews, MemtapeError, NotFound
from memtape.schemas.events import Captured, Event, Filters, Mark
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    EdgeRow,
    LifeMark,
    MemoryRow,
    SummaryRow,
    TurnRow,
    UseRow,
    Watermark,
    project_told,
)
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.times import HOUR_US
from memtape.schemas.visible import many
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.search_index import NOTHING, Opened
from memtape.sinks.tables import Shard, foreign
from memtape.sinks.vault import Vault
from memtape.state.core.erasures import erasures_of
from memtape.state.index.parts import AT_HAND, EVERY_TEXT, SUMMARIES, Choice
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import TextVectors
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, Ranking, Used
from memtape.state.ranking.wording import Reading, Weighed
from memtape.state.subjects.decay import ONE
from memtape.state.subjects.edges import Tie, resolved, tie_of, weight_at
from memtape.state.subjects.usage import hot, times_of
from memtape.state.text.orders import is_about, named_by
from memtape.state.views.effects import TAIL_TYPES
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.ask.aged import life_of, purged_of
from memtape.tools.ask.choosing import Told, best, holding, said_of, told_otherwise
from memtape.tools.ask.found import Found, among_of, found_of, holding_at
from memtape.tools.ask.naming import erased_for_good, nowhere
from memtape.tools.ask.results import Read, Result, Why
from memtape.tools.ask.standing import judged, orders_among
from memtape.tools.capture.writing import now_us

if TYPE_CHECKING:
    from memtape.tools.ask.as_of import PastViews

ReadT = TypeVar("ReadT")

PAGE_SLOTS = 5_000
FEW_RESULTS, MOST_SUMMARIES = 3, 3
"""Where fewer texts than that are found, so many summaries at most are told beside them."""
OFFERED_FROM = 20
"""So many of the best results are looked at for what a prompt surely needs."""
_SAID_ONCE = ("forgotten", "restored", "withdrawn")
"""Events that would undo what came between, were a repetition of them taken for another."""

_UNTIL_THEN = "What the log holds is found by words, and `memtape run --once` makes the views anew."


class Dense(Protocol):
    """Where a search has its vectors from, quantised as `state/vectors/recorded.py` does it; all of one embedder."""

    @property
    def note(self) -> str:
        """Why the last question had no vector; nothing where it had one."""

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (dimensions,); None where there is none, and words must do."""

    def of_texts(self, found: Found, embedder: str) -> TextVectors | None:
        """Return the vectors of what can be found in a scope, None where nothing has one under an embedder."""


class Answer(NamedTuple):
    """The results, best first, the position that they are true up to, and how many events the views lack.

    `read` has how each scope read the question, where that was asked for; `held` how many texts the scope itself shows.
    `lanes` says how many texts each lane has found or moved, in all scopes that were read; `note` why vectors were not.
    `warnings` say what is wrong with the views, a sentence each. `aside` is a sentence on what was not searched, where
    little was found: texts that are archived, by themselves or with their project.
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
    aside: str = ""


Choose = Callable[[Sequence[Result], Sequence[Weighed], int], list[Result]]
"""Gives those of results, each weighed against a prompt, that it surely needs, at most so many (`ranking.sure`)."""


class ScopeView(NamedTuple):
    """Where the views of one scope stand, when the last event of the scope itself was sent (0 for none), and how the
    project stands.
    """

    mark: Mark
    lag: int
    revision: int
    sent: int
    life: LifeMark = LifeMark()


class Plain(NamedTuple):
    """What can be found, a row of vectors for each (None where nothing has one), and how a question gets its own."""

    documents: list[Result]
    vectors: NDArray[np.int16] | None
    of_query: Callable[[str], NDArray[np.int16] | None]


class _Key(NamedTuple):
    """What a scope's texts were made from: the tables, how far they were, and the ids of the tail's events."""

    path: Path
    watermark: Watermark | None
    number: int
    tail: tuple[str, ...]


class _Ready(NamedTuple):
    """A scope's visible texts, ready to be ranked for as long as `key` stays what it is."""

    key: _Key
    view: ScopeView
    found: Found
    corpus: Corpus
    embedder: str
    vectors: TextVectors | None
    use: _Use | None
    use_at: int = 0


class _Use(NamedTuple):
    """What a scope's uses and edges are made from, at whatever time they are asked."""

    uses: dict[str, UseRow]
    ties: list[Tie]
    texts: Texts
    name_of: Callable[[int], str]

    def at(self, now: int) -> dict[int, Used]:
        """Return how often and how lately each text that was used was used in the scope, and what it was used with."""
        times = {id: row.times for id, row in self.uses.items()}
        ids_at: dict[int, list[str]] = {}
        for id in self.uses:
            if (place := self.texts.called(id)) is not None:
                ids_at.setdefault(place, []).append(id)
        ends = dict.fromkeys(id for tie in self.ties for id in (tie.source, tie.target))
        place_of = {id: place for id in ends if (place := self.texts.called(id)) is not None}
        name_of = {id: self.name_of(place) for id, place in place_of.items()}
        named = {name: place_of[id] for id, name in name_of.items()}
        neighbours: dict[int, list[tuple[str, float]]] = {}
        for tie in resolved(self.ties, name_of, now):
            weight = min(1.0, weight_at(tie, now) / ONE)
            neighbours.setdefault(named[tie.source], []).append((tie.target, weight))
            neighbours.setdefault(named[tie.target], []).append((tie.source, weight))
        return {
            place: Used(
                sum(self.uses[id].used for id in ids_at.get(place, ())),
                hot(times_of(ids_at.get(place, ()), times, own=True), now) / ONE,
                tuple(neighbours.get(place, ())),
            )
            for place in dict.fromkeys((*ids_at, *neighbours))
        }


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
        self._ready: dict[tuple[str, Choice], _Ready] = {}
        self._past_forgotten = False
        self._unfit: dict[Path, tuple[Watermark | None, str]] = {}
        self._serving: Build | None = None

    def standing_pages(self, scope: str) -> dict[str, str]:
        """Return the standing pages of the vault by path, as they lie there; none where the past is asked."""
        return {} if self.past is not None else Vault(self._home).standing(scope)

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
        path = (self._serving or self._home.current()).shard(partition)
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
        if (self._serving or self._home.current()).damage_path(partition).exists():
            return f"The views of partition {partition} are damaged. `memtape run --once` makes them anew."
        why = self._why_unfit(shard)
        return f"The views are not of the log as it is: {why}. {_UNTIL_THEN}" if why else ""

    def warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        """Return the warnings of some partitions, as they are looked up anew."""
        self._unfit.clear()
        return self._warnings(partitions)

    def _warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        return tuple(filter(None, map(self.warning, dict.fromkeys(partitions))))

    def reading(self, action: Callable[[], ReadT]) -> ReadT:
        """Return what an action reads from the views; it is done again where they were switched under it.

        Raises `DamagedViews` where they cannot be read, and notes that for the next projector.
        """
        served = self._serving = self._home.current()
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
        finally:
            self._serving = None

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
        session: str | None = None,
        valid_at: int | None = None,
        archived: bool = False,
    ) -> Answer:
        """Return the best results of a scope, and of `global` where the scope is a project, by these lanes.

        With `archived` what is archived is found too. Where little is found, summaries tell of what else was said,
        below what was found, unless `repeats` or a time at which it held are asked for. `now` is that of a search which
        is asked again, by default as `Retriever.now` says. With `explain` every result has the parts of its relevance,
        but summaries. Of turns that say the same only the best placed is returned, with the count of the others, unless
        `repeats` are asked for, as who measures by the ids of turns does. `session` is that of who asks: what it has
        just said stands below what answers the same.
        """
        choice = EVERY_TEXT if archived else AT_HAND
        asked = (scope, query, limit, filters, lanes, now, explain, repeats, session, valid_at)
        answer = self._ranked(*asked, choice)
        if repeats or len(answer.results) >= min(limit, FEW_RESULTS):
            return answer
        answer = answer._replace(aside="" if archived else self._aside(scope, bool(answer.results)))
        return answer if valid_at is not None else self._with_summaries(answer, scope, query, limit, filters, lanes)

    def _with_summaries(
        self, answer: Answer, scope: str, query: str, limit: int, filters: Filters, lanes: Collection[Lane]
    ) -> Answer:
        """Return an answer with the best summaries below what was found."""
        if not any(self.opened(name).has_any("summaries") for name in scopes_read(scope)):
            return answer
        most = min(MOST_SUMMARIES, limit - len(answer.results))
        told = self._ranked(scope, query, most, filters, lanes, answer.now, choice=SUMMARIES).results
        least = min((result.score for result in answer.results), default=1.0)
        below = [msgspec.structs.replace(result, score=min(result.score, least)) for result in told]
        return answer._replace(results=[*answer.results, *below])

    def _aside(self, scope: str, is_found: bool) -> str:
        """Return what is told of texts that were not searched, where little was found or nothing."""
        life = self._get_ready(scope).view.life
        if life.state == "finished" or life.is_purged:
            return project_told(life)
        kept = 0 if is_found else life.archived - life.purged
        return f"{many(kept, 'text is', 'texts are')} archived; `memtape search --archived` finds them." if kept else ""

    def _ranked(
        self,
        scope: str,
        query: str,
        limit: int,
        filters: Filters,
        lanes: Collection[Lane] = LANES,
        now: int | None = None,
        explain: bool = False,
        repeats: bool = False,
        session: str | None = None,
        valid_at: int | None = None,
        choice: Choice = AT_HAND,
    ) -> Answer:
        """Return the best of what was chosen, as `search` says."""
        found: list[tuple[Result, int | None]] = []
        counts: dict[Lane, int] = {}
        readies = [self._get_ready(name, choice) for name in scopes_read(scope)]
        views = [ready.view for ready in readies]
        # What was said within the hour is told apart by when it was said; `now` is never before it.
        now = max(self.now(views), *(ready.corpus.latest for ready in readies)) if now is None else now
        names = scopes_read(scope)
        readies = [self._used_at(ready, (name, choice), now) for ready, name in zip(readies, names, strict=True)]
        reads: list[Read] = []
        for name, ready in zip(names, readies, strict=True):
            among = _among(ready, filters, valid_at)
            ranking = self._ranking(ready, query, among, lanes, now, explain, session)
            reading = ready.corpus.told(query)[1] if explain else None
            passage_of = ready.corpus.passages(query)
            if repeats:
                hits = [Told(hit) for hit in islice(ranking.hits, limit)]
            else:
                hits = list(best(ready.found, ready.corpus, ranking, query, limit, among))
            results = [_told(ready, told, passage_of(told.hit.place), reading, now) for told in hits]
            said = said_of(ready.found, np.array([told.hit.place for told in hits], np.int64))
            found += zip(results, said, strict=True)
            counts |= {lane: counts.get(lane, 0) + count for lane, count in ranking.counts.items()}
            if explain and ready.corpus.count:
                reads.append(_read(name, ready, query, ranking))
        if not repeats and len(readies) > 1:
            found = told_otherwise(found)
        found.sort(key=lambda its: (-its[0].score, its[0].kind, its[0].id))
        return Answer(
            ([result for result, _ in found] if repeats else _once(found))[:limit],
            tuple({view.mark.partition: view.mark for view in views}.values()),
            sum(view.lag for view in views),
            views[0].revision,
            now,
            counts,
            self.dense.note if self.dense is not None else "",
            tuple(reads),
            readies[0].corpus.count,
            self._warnings(partition_of(name, self._log.partitions) for name in names),
        )

    def offer(self, scope: str, prompt: str, limit: int, sure: Choose) -> Answer:
        """Return those of the best results for a prompt, at most `limit`, that are `sure`.

        Orders about memory, and what people want left out by one, are not among them. Nor is what was replaced, or a
        turn that says so: what holds instead is as sure as that was.
        """
        answer = self._ranked(scope, prompt, OFFERED_FROM, NO_FILTERS)
        if answer.results and (names := self._left_out(scope)):
            results = [it for it in answer.results if not (it.polarity == "meta" or is_about(it.text, names))]
            answer = answer._replace(results=results)
        weighed: dict[str, Weighed] = {}
        for name in scopes_read(scope):
            if results := [result for result in answer.results if result.scope == name]:
                ready = self._ready[name, AT_HAND]
                places = [place for result in results if (place := ready.found.place_of(result)) is not None]
                weighed |= zip([result.id for result in results], ready.corpus.weighed(prompt, places), strict=True)
        results, heirs = holding(answer.results)
        for id, heir in heirs.items():
            if heir in weighed:
                weighed[heir] = weighed[heir]._replace(share=max(weighed[heir].share, weighed[id].share))
        return answer._replace(results=sure(results, [weighed[result.id] for result in results], limit))

    def _left_out(self, scope: str) -> list[frozenset[str]]:
        """Return the terms of what people want left out, by each of their orders in what a scope reads."""
        read = [self._ready[name, AT_HAND].found for name in scopes_read(scope)]
        return [named_by(order.text) for found in read for order in orders_among(found)]

    def _ranking(
        self,
        ready: _Ready,
        query: str,
        among: Among | None,
        lanes: Collection[Lane],
        now: int,
        explain: bool,
        session: str | None,
    ) -> Ranking:
        """Return what of a scope passes, best first."""
        encoded = ready.corpus.to_encode(query) if self.dense is not None and "dense" in lanes else None
        vector = None
        if self.dense is not None and encoded is not None:
            vector = self.dense.of_query(encoded, ready.embedder)
        return ready.corpus.rank(query, vector, lanes=lanes, among=among, now=now, explain=explain, session=session)

    def plain(self, scope: str) -> Plain:
        """Return everything that a search in a scope reads, `global` included, for who ranks it otherwise."""
        readies = [self._get_ready(name) for name in scopes_read(scope)]
        places = [ready.found.places() for ready in readies]
        documents = [ready.found.result(n) for ready, its in zip(readies, places, strict=True) for n in its]
        own = readies[0].vectors
        if own is None or self.dense is None:
            return Plain(documents, None, lambda text: None)
        rows = [
            ready.vectors.taken(np.array(its, np.int64))
            if ready.vectors is not None and ready.embedder == readies[0].embedder
            else np.zeros((len(its), own.dimensions), np.int16)
            for ready, its in zip(readies, places, strict=True)
        ]
        return Plain(documents, np.concatenate(rows), partial(self.dense.of_query, embedder=readies[0].embedder))

    def found(self, scope: str, choice: Choice = AT_HAND) -> tuple[Found, ScopeView]:
        """Return what can be found in a scope, and where its views stand."""
        ready = self._get_ready(scope, choice)
        return ready.found, ready.view

    def opened(self, scope: str) -> Opened:
        """Return the search index of a scope as it is written now, from which its rows are read without any table."""
        shard, ready = self.shard(partition_of(scope, self._log.partitions)), self._ready.get((scope, AT_HAND))
        opened = shard.index(scope, None if ready is None else ready.found.opened) if shard.exists() else None
        return opened or NOTHING

    def encoded(self, scope: str, query: str) -> str:
        """Return a question as a search in a scope has it encoded."""
        return self._get_ready(scope).corpus.to_encode(query) or query

    def find(self, scope: str, id: str) -> MemoryRow | TurnRow | Event:
        """Return the memory or turn that an id resolves to, hidden ones included, or a capture that no view holds.

        That is one of the tail, or one whose rows have left the views. Raises `NotFound`, also for what is no id.
        """
        for name in scopes_read(scope):
            partition = partition_of(name, self._log.partitions)
            rows = self.opened(name).rows_called(id)
            erased = erasures_of(self._log.erased(partition)).named.get(name, {})
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
            gone = purged_of(self._log, self.opened(name), name, id) if life.purged or life.is_purged else None
            if gone is not None:
                return gone
        raise nowhere(scope, id)

    def summary(self, scope: str, id: str) -> SummaryRow | None:
        """Return the summary of an id, None where there is none. Raises `NotFound` while it is to be made anew."""
        for name in scopes_read(scope):
            row = self.opened(name).row("summaries", id)
            if isinstance(row, SummaryRow):
                if self.found(name, SUMMARIES)[0].texts.called(id) is None:
                    raise NotFound(f"Some of what {id} sums up has just been hidden.", "Ask again in a moment.")
                return row
        return None

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

    def life(self, scope: str) -> LifeMark:
        """Return how a scope as a whole stands, as its views know."""
        mark = self.watermark(partition_of(scope, self._log.partitions))
        return mark.lives.get(scope, LifeMark()) if mark is not None else LifeMark()

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

    def let_go(self) -> None:
        """Hold nothing ready."""
        self._ready.clear()

    def _get_ready(self, scope: str, choice: Choice = AT_HAND) -> _Ready:
        """Return a scope's texts. The watermark is read first: the index may only be newer than it."""
        partition = partition_of(scope, self._log.partitions)
        shard = self.shard(partition)
        watermark = self.watermark(partition)
        life = life_of(watermark, scope)
        if choice == EVERY_TEXT and not life.archived and life.state != "finished":
            choice = AT_HAND  # It is the same, and may be ready.
        tail = list(self.tail(scope, watermark.offset if watermark else 0))
        ready = self._ready.get((scope, choice))
        opened = shard.index(scope, None if ready is None else ready.found.opened) if shard.exists() else None
        number = opened.manifest.number if opened is not None else 0
        key = _Key(shard.path, watermark, number, tuple(event.id for event in tail))
        if ready is None or ready.key != key:
            known = None if ready is None else ready.found.texts
            shown = choice._replace(past=life.since if life.state == "finished" else None)
            found = found_of(opened, tail, partial(text_at, self._log, partition), known, shown)
            ready = self._ready[scope, choice] = _make_ready(key, shard, scope, found, tail, self.dense)
        return ready

    def _used_at(self, ready: _Ready, name: tuple[str, Choice], now: int) -> _Ready:
        """Return what is ready with its uses and edges as of the hour of `now`, by which they hardly change."""
        hour = now - now % HOUR_US
        if ready.use is None or ready.use_at == hour:
            return ready
        ready = ready._replace(corpus=ready.corpus.with_use(ready.use.at(hour)), use_at=hour)
        self._ready[name] = ready
        return ready


def _make_ready(
    key: _Key,
    shard: Shard,
    scope: str,
    found: Found,
    tail: list[Event],
    dense: Dense | None,
) -> _Ready:
    texts, watermark = found.texts, key.watermark
    embedder = watermark.embedder if watermark is not None else FLOOR
    vectors = dense.of_texts(found, embedder) if dense is not None else None
    mark = Mark(offset=watermark.offset if watermark else 0, partition=shard.partition)
    sent, life = last_sent(scope, watermark, tail), life_of(watermark, scope)
    view = ScopeView(mark, len(tail), watermark.revision if watermark else 0, sent, life)
    use = None
    if uses := {row.id: row for row in found.opened.rows("uses") if isinstance(row, UseRow)}:
        ties = [tie_of(row) for row in found.opened.rows("edges") if isinstance(row, EdgeRow)]
        use = _Use(uses, ties, texts, lambda place: found.result(place).id)
    corpus = Corpus(texts, found.text, texts.called, vectors)
    return _Ready(key, view, found, corpus, embedder, vectors, use)


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
        events = [(slot, event) for slot in slots if (event := event_of(slot.payload)) is not None]
        ids = [event.id for _, event in events if event.type in _SAID_ONCE]
        firsts = log.known(scope, ids) if ids else {}
        for slot, event in events:
            repeated = event.id in seen or firsts.get(event.id, slot.offset) < slot.offset
            repeated |= event.type == "erased" and slot.offset not in erasing
            seen.add(event.id)
            if not repeated and not erasures.covers(event):
                yield event
        if len(slots) < PAGE_SLOTS:
            return
        offset = slots[-1].offset + 1


def text_at(log: Log, partition: int, offset: int) -> str | None:
    """Return what was captured at an offset, None where nothing was or where it is erased."""
    body = next((body_of_capture(slot.payload) for slot in log.read(partition, offset, 1)), None)
    return None if body is None else body.text


def _among(ready: _Ready, filters: Filters, valid_at: int | None) -> Among | None:
    """Return what gives those of some places that may be returned; None where all may."""
    if valid_at is None:
        return None if filters == NO_FILTERS else among_of(ready.found, filters)
    passing, holding = among_of(ready.found, filters), holding_at(ready.found, valid_at)
    return lambda places: holding(passing(places))


def _once(found: Iterable[tuple[Result, int | None]]) -> list[Result]:
    """Return results with each turn that another scope has too once, where it is placed best."""
    best: dict[int | str, Result] = {}
    for result, said in found:
        same = result.id if said is None else said
        known = best.get(same)
        best[same] = result if known is None else msgspec.structs.replace(known, again=known.again + result.again + 1)
    return list(best.values())


def _told(ready: _Ready, told: Told, passage: str, reading: Reading | None, now: int) -> Result:
    """Return a result with its passage and why it stands where it stands, and with its terms where they were read.

    `now` is when it is told, by which it may be stale.
    """
    hit = told.hit
    own, around = ready.corpus.held(hit.place, reading) if reading is not None else ((), ())
    why = Why(
        relevance=hit.relevance,
        age=hit.age,
        use=hit.use,
        confidence=hit.confidence,
        yields=hit.yields,
        lanes=hit.lanes,
        parts=hit.parts,
        terms=own,
        around=around,
    )
    document = ready.found.result(hit.place)
    if not document.sums:
        document = judged(document, ready.found.row(hit.place), now)
    lanes = tuple(hit.lanes)
    marks = document.marks
    if told.mark:
        marks = (*marks, told.mark)
    if told.newer is not None and document.valid_to is None:
        marks = (*marks, f"older than {told.newer}")
    return msgspec.structs.replace(
        document,
        score=hit.score,
        passage=passage,
        lanes=lanes,
        why=why,
        again=told.again,
        newer=told.newer,
        marks=marks,
    )


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
