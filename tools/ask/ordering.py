"""The order of a question's results in all scopes read: each scope ranked by itself, then merged.

`readied` prepares the texts; only prepared texts are read here. Passages are cut only for returned results.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from memtape.schemas.events import Filters, Source, Traced
from memtape.schemas.lanes import LANES, Lane
from memtape.state.ranking.lanes import PERHAPS, is_perhaps
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Ranking
from memtape.state.ranking.wording import QuestionTerms
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.ask.choosing import ChosenHit, best, said_of, told_otherwise
from memtape.tools.ask.found import among_of, holding_at
from memtape.tools.ask.readied import Dense, PreparedTexts
from memtape.tools.ask.results import QuestionReading, Result, Why
from memtape.tools.ask.sources import found_by_source
from memtape.tools.ask.standing import judged

if TYPE_CHECKING:
    from memtape.tools.ask.deep import Deepening

EVERYTHING = 1_000_000
"""A limit out of reach: the lanes' caps are far below."""


class SearchQuery(NamedTuple):
    """A query with its filters and options.

    With `explain` every result but a summary has the parts of its relevance. Of turns with the same text only
    the best is returned, with the count of the rest, unless `repeats` asks for all, as measurements by turn
    ids do. `session` is the caller's session: its latest turns rank below other results with the same answer.
    `valid_at` is the time of validity in microseconds.
    """

    query: str
    filters: Filters = NO_FILTERS
    lanes: Collection[Lane] = LANES
    explain: bool = False
    repeats: bool = False
    session: str | None = None
    valid_at: int | None = None
    deep: Deepening | None = None


class RankedResults(NamedTuple):
    """The results, best first, without passages; each with the number shared by turns of the same text.

    `told` has, by id, the number of a result's scope among the scopes read, and its hit. `marked` has the
    marks added by the merge. `rankings` are the scopes' rankings, `trace` the steps of a deep search.
    """

    pairs: list[tuple[Result, int | None]]
    told: dict[str, tuple[int, ChosenHit]]
    marked: dict[str, tuple[str, ...]]
    rankings: list[Ranking]
    reads: tuple[QuestionReading, ...]
    repeats: bool
    trace: tuple[Traced, ...] = ()

    @property
    def results(self) -> list[Result]:
        """The results, turns that say the same once, unless repeats were asked for."""
        return [result for result, _ in self.pairs] if self.repeats else _once(self.pairs)

    @property
    def lanes(self) -> dict[Lane, int]:
        """How many texts each lane has found or moved, in all scopes."""
        counts: dict[Lane, int] = {}
        for ranking in self.rankings:
            counts |= {lane: counts.get(lane, 0) + count for lane, count in ranking.counts.items()}
        return counts

    def found(self, readies: Sequence[PreparedTexts]) -> dict[Source, int]:
        """Return how many texts of each source were found, in all scopes."""
        counts: dict[Source, int] = {}
        for ready, ranking in zip(readies, self.rankings, strict=True):
            for source, count in found_by_source(ready.found, ranking.places).items():
                counts[source] = counts.get(source, 0) + count
        return counts


def ordered(
    readies: Sequence[PreparedTexts], asked: SearchQuery, now: int, limit: int, dense: Dense | None
) -> RankedResults:
    """Return the best results of all readable scopes, as many as `limit` may need."""
    found: list[tuple[Result, int | None]] = []
    told_of: dict[str, tuple[int, ChosenHit]] = {}
    reads = list[QuestionReading]()
    amongs = [_among(ready, asked.filters, asked.valid_at) for ready in readies]
    rankings, trace = _rankings(readies, asked, amongs, now, limit, dense)
    for number, (ready, among, ranking) in enumerate(zip(readies, amongs, rankings, strict=True)):
        if asked.repeats:
            hits = [ChosenHit(hit) for hit in islice(ranking.hits, limit)]
        else:
            hits = list(best(ready.found, ready.corpus, ranking, asked.query, limit, among))
        reading = ready.corpus.told(asked.query)[1] if asked.explain else None
        results = [told_result(ready, told, reading, now) for told in hits]
        for result, told in zip(results, hits, strict=True):
            told_of.setdefault(result.id, (number, told))
        said = said_of(ready.found, np.array([told.hit.place for told in hits], np.int64))
        found += zip(results, said, strict=True)
        if asked.explain and ready.corpus.count:
            reads.append(_read(ready, asked.query, ranking))
    marked: dict[str, tuple[str, ...]] = {}
    if not asked.repeats and len(readies) > 1:
        before, found = found, told_otherwise(found)
        for (was, _), (result, _) in zip(before, found, strict=True):
            if len(result.marks) > len(was.marks):
                marked[result.id] = result.marks[len(was.marks) :]
    found.sort(key=lambda its: (-its[0].score, its[0].kind, its[0].id))
    return RankedResults(found, told_of, marked, rankings, tuple(reads), asked.repeats, trace)


def with_passages(
    order: RankedResults, readies: Sequence[PreparedTexts], query: str, results: Sequence[Result]
) -> list[Result]:
    """Return results of an order, each with the passage of its text that best matches the query."""
    passages = [ready.corpus.passages(query) for ready in readies]
    placed = [(result, *order.told[result.id]) for result in results]
    return [msgspec.structs.replace(it, passage=passages[number](told.hit.place)) for it, number, told in placed]


def _rankings(
    readies: Sequence[PreparedTexts],
    asked: SearchQuery,
    amongs: Sequence[Among | None],
    now: int,
    limit: int,
    dense: Dense | None,
) -> tuple[list[Ranking], tuple[Traced, ...]]:
    """Return the passing texts of each scope, best first, and the steps of a deep search."""
    scopes = list(zip(readies, amongs, strict=True))
    if asked.deep is None:
        return [_ranking(ready, asked, among, now, dense) for ready, among in scopes], ()

    # Hardly any search is deep, and a hook searches and does nothing else.
    from memtape.tools.ask.deep import field_of, looked

    def rank(ready: PreparedTexts, among: Among | None, query: str) -> Ranking:
        return _ranking(ready, asked._replace(query=query), among, now, dense)

    fields = [
        field_of(ready, partial(rank, ready, among), among, now, asked.session, follows="edges" in asked.lanes)
        for ready, among in scopes
    ]
    return looked(asked.query, fields, asked.deep, limit)


def _ranking(ready: PreparedTexts, asked: SearchQuery, among: Among | None, now: int, dense: Dense | None) -> Ranking:
    """Return the passing texts of a scope, best first."""
    query, lanes = asked.query, asked.lanes
    encoded = ready.corpus.to_encode(query) if dense is not None and "dense" in lanes else None
    vector = dense.of_query(encoded, ready.embedder) if dense is not None and encoded is not None else None
    return ready.corpus.rank(
        query, vector, lanes=lanes, among=among, now=now, explain=asked.explain, session=asked.session
    )


def _among(ready: PreparedTexts, filters: Filters, valid_at: int | None) -> Among | None:
    """Return a filter of places by filters and validity time; None where all places pass."""
    if valid_at is None:
        return None if filters == NO_FILTERS else among_of(ready.found, filters)
    passing, holding = among_of(ready.found, filters), holding_at(ready.found, valid_at)
    return lambda places: holding(passing(places))


def _once(found: Iterable[tuple[Result, int | None]]) -> list[Result]:
    """Return results without repetitions of a turn in another scope; the best place is kept."""
    best: dict[int | str, Result] = {}
    for result, said in found:
        same = result.id if said is None else said
        known = best.get(same)
        best[same] = result if known is None else msgspec.structs.replace(known, again=known.again + result.again + 1)
    return list(best.values())


def told_result(ready: PreparedTexts, told: ChosenHit, reading: QuestionTerms | None, now: int) -> Result:
    """Return a result without its passage, with the reasons of its rank, and with its terms if read.

    `now` is the time of the answer; staleness depends on it.
    """
    hit = told.hit
    own, around = ready.corpus.held(hit.place, reading) if reading is not None else ((), ())
    why = Why(
        relevance=hit.relevance,
        age=hit.age,
        use=hit.use,
        confidence=hit.confidence,
        yields=hit.yields,
        looked=hit.looked,
        look=hit.look,
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
    if is_perhaps(hit):
        marks = (*marks, PERHAPS)
    if told.newer is not None and document.valid_to is None:
        marks = (*marks, f"older than {told.newer}")
    return msgspec.structs.replace(
        document,
        score=hit.score,
        lanes=lanes,
        why=why,
        again=told.again,
        newer=told.newer,
        marks=marks,
    )


def _read(ready: PreparedTexts, query: str, ranking: Ranking) -> QuestionReading:
    recipe, reading = ready.corpus.told(query)
    least, most, strength = ranking.scale
    return QuestionReading(
        scope=ready.scope,
        recipe=recipe,
        least=least,
        most=most,
        strength=strength,
        terms=reading.used,
        unheld=reading.unheld,
        names=reading.names,
        common=reading.common,
    )
