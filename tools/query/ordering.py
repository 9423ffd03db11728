"""The answer to a question in all scopes read: the order of its results, their sources, counts and quotas.

Each scope is ranked by itself, then merged. Each thing is returned once, the latest and the valid first; a
quota leaves out ranked results. Only prepared texts (`found`) are read, and passages cut for returned results
alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_args

import msgspec
import numpy as np

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import PEOPLE, STATED_TAG, Filters, Kind, Source, Traced
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.rows import MemoryRow, made_from, replaced
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.state.index.entries import KINDS, TAGGED, TURN
from memtape.state.index.parts import Ints
from memtape.state.index.sorted_values import distinct, numbered
from memtape.state.ranking.currency import (
    AMONG,
    CHANGED_NEAR,
    LEAST_NEAR,
    Alike,
    FoundMemory,
    Likeness,
    Placed,
    about_one,
    are_changes,
    latest_first,
    memory,
    nothing_alike,
)
from memtape.state.ranking.lanes import PERHAPS, Hit, is_perhaps
from memtape.state.ranking.lexical import QuestionTerms
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import DIGITS, Corpus, Ranking
from memtape.state.ranking.yielding import LEAST_STEP
from memtape.state.subjects.captures import FAMILIES, TRUST
from memtape.state.text.replacing import replaces
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.query.found import Dense, PreparedTexts, ScopeTexts, among_of, holding_at
from memtape.tools.query.results import Answer, QuestionReading, Result, SourceCount, Why
from memtape.tools.query.standing import judged

if TYPE_CHECKING:
    from memtape.state.ranking.deep import Judge

KeyT = TypeVar("KeyT")

EVERYTHING = 1_000_000
"""A limit out of reach: the lanes' caps are far below."""
MOST_WANTED = 2_000
"""The most texts that a deep search ranks."""


class SearchQuery(NamedTuple):
    """A query with its filters and options.

    With `explain` every result but a summary has the parts of its relevance. Of turns with the same text only
    the best is returned, with the count of the rest, unless `repeats` asks for all, as measurements by turn
    ids do. `session` is the caller's session: its latest turns rank below other results with the same answer.
    `valid_at` is the time of validity in microseconds. `deep` judges the steps of a deep search. With
    `archived` archived texts are found too. No source gets more than its quota of `quotas`. `now` is the time
    of an earlier search that is asked again. Results whose digest (`given_id`) is in `given` are left out.
    """

    query: str
    filters: Filters = NO_FILTERS
    lanes: Collection[Lane] = LANES
    explain: bool = False
    repeats: bool = False
    session: str | None = None
    valid_at: int | None = None
    deep: Judge | None = None
    limit: int = 10
    archived: bool = False
    quotas: Mapping[Source, int] = MappingProxyType({})
    now: int | None = None
    given: frozenset[bytes] = frozenset()


class RankedResult(NamedTuple):
    """A result, the number shared by turns of the same text, and its place in the scope of a number."""

    result: Result
    said: int | None
    scope: int
    place: int


def answered(readies: Sequence[PreparedTexts], asked: SearchQuery, now: int, dense: Dense | None) -> Answer:
    """Return the best results of all readable scopes, each ranked by itself, without `warnings`."""
    # One more than is returned tells whether there is more.
    limit = EVERYTHING if asked.quotas or asked.given else asked.limit + (asked.deep is None)
    amongs = [_among(ready, asked.filters, asked.valid_at) for ready in readies]
    rankings, trace = _rankings(list(zip(readies, amongs, strict=True)), asked, now, limit, dense)
    pairs, views = list(zip(readies, rankings, strict=True)), [it.view for it in readies]
    ordered = _ordered(list(zip(readies, amongs, rankings, strict=True)), asked, now, limit)
    chosen = within(ordered, asked.quotas, asked.limit)
    passages = [it.corpus.passages(asked.query) for it in readies]
    results = [msgspec.structs.replace(it.result, passage=passages[it.scope](it.place)) for it in chosen]
    found = _summed(found_by_source(ready.found, ranking.places) for ready, ranking in pairs)
    returned = Counter(source_of(result) for result in results)
    # A returned text counts as found, also as a cover of another.
    most = {source: max(found.get(source, 0), returned[source]) for source in SOURCES}
    sources = {
        source: SourceCount(found=count, returned=returned[source], limit=asked.quotas.get(source))
        for source, count in most.items()
    }
    read = [_read(*it, asked.query) for it in pairs if asked.explain and it[0].found.texts.count]
    return Answer(
        results=results,
        watermark=tuple({view.mark.partition: view.mark for view in views}.values()),
        lag=sum(view.lag for view in views),
        revision=views[0].revision,
        now=now,
        lanes=_summed(ranking.counts for ranking in rankings),
        note=dense.note if dense is not None else "",
        read=tuple(read),
        held=readies[0].found.texts.count,
        after=len(asked.given),
        quotas=dict(asked.quotas),
        sources=sources,
        has_more=len(chosen) < len(ordered),
        trace=trace,
    )


def _summed(counts: Iterable[Mapping[KeyT, int]]) -> dict[KeyT, int]:
    summed = Counter[KeyT]()
    for its in counts:
        summed.update(its)
    return dict(summed)


def _ordered(
    scopes: Sequence[tuple[PreparedTexts, Among | None, Ranking]], asked: SearchQuery, now: int, limit: int
) -> list[RankedResult]:
    """Return the best results of all scopes, as many as `limit` may need, without passages."""
    found = list[RankedResult]()
    for number, (ready, among, ranking) in enumerate(scopes):
        if asked.repeats:
            hits = [ChosenHit(hit) for hit in islice(ranking.hits, limit)]
        else:
            hits = list(best(ready.found, ready.corpus, ranking, asked.query, limit, among))
        reading = ready.corpus.words.reading(asked.query) if asked.explain else None
        said = said_of(ready.found, np.array([told.hit.place for told in hits], np.int64))
        found += [
            RankedResult(told_result(ready, told, reading, now), same, number, told.hit.place)
            for told, same in zip(hits, said, strict=True)
        ]
    if not asked.repeats and len(scopes) > 1:
        marked = told_otherwise([it.result for it in found])
        found = [it._replace(result=result) for it, result in zip(found, marked, strict=True)]
    found.sort(key=lambda it: (-it.result.score, it.result.kind, it.result.id))
    found = found if asked.repeats else _once(found)
    if not asked.given:
        return found
    rows = [scopes[it.scope][0].found.shown(it.place) for it in found]
    ids = [row.ids if isinstance(row, MemoryRow) else (row.id,) for row in rows]
    # A result was given where any of its captures was.
    return [it for it, its in zip(found, ids, strict=True) if asked.given.isdisjoint(map(given_id, its))]


def given_id(id: str) -> bytes:
    """Return the digest of a result's id for a cursor.

    Of a million questions with 1,000 results given and 1,000 to come, one skips a result for a like digest.
    """
    return blake2b(id.encode(), digest_size=5).digest()


def _rankings(
    scopes: Sequence[tuple[PreparedTexts, Among | None]],
    asked: SearchQuery,
    now: int,
    limit: int,
    dense: Dense | None,
) -> tuple[list[Ranking], tuple[Traced, ...]]:
    """Return the passing texts of each scope, best first, and the steps of a deep search."""

    def rank(ready: PreparedTexts, among: Among | None, query: str) -> Ranking:
        lanes, vector = asked.lanes, None
        if dense is not None and "dense" in lanes and (encoded := ready.corpus.to_encode(query)) is not None:
            vector = dense.of_query(encoded, ready.embedder)
        return ready.corpus.rank(query, vector, lanes=lanes, among=among, now=now, session=asked.session)

    if asked.deep is None:
        return [rank(*scope, asked.query) for scope in scopes], ()

    # Hardly any search is deep, and a hook searches and does nothing else.
    from memtape.state.ranking.deep import deepened
    from memtape.tools.query.deep import field_of

    follows = "edges" in asked.lanes
    fields = [
        field_of(ready, partial(rank, ready, among), among, now, asked.session, follows=follows)
        for ready, among in scopes
    ]
    # Texts that say the same are returned once.
    most = min(2 * limit, MOST_WANTED)
    search = deepened(asked.query, fields, asked.deep, most, lambda: time.perf_counter_ns() // 1_000)
    return search.ordered(), tuple(search.trace)


def _among(ready: PreparedTexts, filters: Filters, valid_at: int | None) -> Among | None:
    """Return a filter of places by filters and validity time; None where all places pass."""
    if valid_at is None:
        return None if filters == NO_FILTERS else among_of(ready.found, filters)
    passing, holding = among_of(ready.found, filters), holding_at(ready.found, valid_at)
    return lambda places: holding(passing(places))


def _once(found: Iterable[RankedResult]) -> list[RankedResult]:
    """Return results without repetitions of a turn in another scope; the best place is kept."""
    best: dict[int | str, RankedResult] = {}
    for it in found:
        same = it.result.id if it.said is None else it.said
        if (known := best.get(same)) is not None:
            again = known.result.again + it.result.again + 1
            it = known._replace(result=msgspec.structs.replace(known.result, again=again))
        best[same] = it
    return list(best.values())


def told_result(ready: PreparedTexts, told: ChosenHit, reading: QuestionTerms | None, now: int) -> Result:
    """Return a result without its passage, with the reasons of its rank, and with its terms if read.

    `now` is the time of the answer; staleness depends on it.
    """
    hit = told.hit
    if reading is None:
        why = made_from(Why, hit, parts={})
    else:
        own, around = ready.corpus.words.held(hit.place, ready.found.text(hit.place), reading)
        why = made_from(Why, hit, terms=own, around=around)
    document = ready.found.result(hit.place)
    if not document.sums:
        document = judged(document, ready.found.row(hit.place), now)
    older = f"older than {told.newer}" if told.newer is not None and document.valid_to is None else ""
    marks = (*document.marks, *filter(None, (told.mark, PERHAPS if is_perhaps(hit) else "", older)))
    changed = {"again": told.again, "newer": told.newer, "marks": marks}
    return msgspec.structs.replace(document, why=why, score=hit.score, lanes=tuple(hit.lanes), **changed)


def _read(ready: PreparedTexts, ranking: Ranking, query: str) -> QuestionReading:
    least, most, strength = ranking.scale
    reading = ready.corpus.words.reading(query)
    recipe = "people" if ready.found.texts.answers is None else "assistant"
    told = {"scope": ready.scope, "recipe": recipe, "least": least, "most": most, "strength": strength}
    return made_from(QuestionReading, reading, terms=reading.used, **told)


SOURCES: tuple[Source, ...] = get_args(Source)
SOURCE_OF: dict[Kind, Source] = {
    "fact": "memories",
    "turn": "turns",
    "document": "documents",
    "insight": "insights",
    "page": "pages",
    "goal": "plans",
    "plan": "plans",
    "journal": "journal",
}
"""The source of a text by its kind, summaries apart."""
MOST_QUOTA = 1_000


def source_of(result: Result) -> Source:
    """Return the source of a result."""
    return "summaries" if result.sums else SOURCE_OF[result.kind]


def quotas_of(given: Iterable[str]) -> dict[Source, int]:
    """Return by source the quotas given as `turns=3`, or several as `turns=3,documents=2`.

    Raises `MemtapeError` for a malformed quota.
    """
    quotas: dict[Source, int] = {}
    for text in (part for each in given for part in each.split(",")):
        name, _, count = text.partition("=")
        source = next((known for known in SOURCES if known == name.strip()), None)
        if source is None:
            told = f"There is no source {name.strip()[:60]!r}."
            raise MemtapeError(told, f"There are {', '.join(SOURCES)}.")
        count = count.strip()
        if not (count.isascii() and count.isdigit() and len(count) <= 4 and int(count) <= MOST_QUOTA):
            told = f"{text.strip()[:60]!r} is no quota from 0 to {MOST_QUOTA:,}."
            raise MemtapeError(told, f"Say how many of a source, as {source}=3.")
        if source in quotas:
            raise MemtapeError(f"The source {source} has two quotas.", "Give one.")
        quotas[source] = int(count)
    return quotas


def within(results: Iterable[RankedResult], quotas: Mapping[Source, int], limit: int) -> list[RankedResult]:
    """Return the best `limit` of results, of no source more than its quota."""
    chosen, counts = list[RankedResult](), Counter[Source]()
    for result in results:
        source = source_of(result.result)
        counts[source] += 1
        if counts[source] <= quotas.get(source, limit):
            chosen.append(result)
    return chosen[:limit]


def found_by_source(found: ScopeTexts, places: Ints) -> dict[Source, int]:
    """Return how many texts of each source a ranking has placed."""
    if found.choice.summaries:
        return {"summaries": len(places)}
    ordered = np.sort(places)
    kinds, turns = found.texts.column("kinds", ordered), found.texts.flags[ordered] & TURN != 0
    counts = np.bincount(kinds[~turns], minlength=len(KINDS)).tolist()
    by_source = dict.fromkeys(SOURCES, 0)
    for kind, source in SOURCE_OF.items():
        by_source[source] += counts[KINDS.index(kind)]
    by_source["turns"] += len(distinct(found.texts.column("said", ordered)[turns]))
    return by_source


TAKEN_FROM = 200
"""Among so many of the best, statements are brought together with their turns."""
AMONG_SCOPES = 10
"""So many results of a project are compared with those of `global`."""


class ChosenHit(NamedTuple):
    """A result: a hit, the number of further turns with the same text, and the id of a newer memory above it.

    The newer memory is about the same subject. `mark` marks a turn that says a replaced value.
    """

    hit: Hit
    again: int = 0
    newer: str | None = None
    mark: str = ""


def best(
    found: ScopeTexts, corpus: Corpus, ranking: Ranking, query: str, limit: int, among: Among | None
) -> Iterator[ChosenHit]:
    """Yield the best hits, at most `limit`.

    Of a turn and a statement taken from it only the better is returned. A memory that covers a found one is
    returned in its place; texts asked for by time or origin are returned themselves. Of memories about the
    same subject the latest comes first, and a valid memory comes right above the first that it replaced,
    whether found or not.
    """
    ordered, back = numbered(ranking.places)
    places, heads = ranking.places.tolist(), found.texts.heads(ordered)[back].tolist()
    said = said_of(found, ranking.places)
    again = Counter(said)
    taken_from = _taken_from(found, ranking.places[:TAKEN_FROM])
    # By thing: its place, its rank or that of the text it replaces, and the place of its heir, if any.
    first: dict[object, tuple[int, Placed, int | None]] = {}
    for placed in _in_order(found, corpus, ranking, query):
        if len(first) >= limit:
            break
        number = placed.number
        same = said[number]
        is_turn = same is not None
        shown = places[number] if is_turn or among is not None else found.standing(places[number])
        as_one = said[taken_from[number]] if number in taken_from else same
        heir = None if is_turn else found.heir(heads[number] if shown == places[number] else shown)
        if heir is not None and (among is None or len(among(np.array([heir])))):
            first.setdefault((heir,), (heir, placed._replace(above=()), None))
        one = heads[number] if shown == places[number] else shown
        first.setdefault((one,) if as_one is None else as_one, (shown, placed, heir))
    memories = (found.result(place) for place in places[:AMONG] if not found.texts.flags[place] & TURN)
    closed = [it for it in memories if it.valid_to is not None]
    scores: dict[int | None, float] = {}
    for place, placed, heir in islice(first.values(), limit):
        own = heads.index(place) if place in heads else None
        own = placed.number if place == places[placed.number] else own
        hit, same = ranking.hit(placed.number if own is None else own), said[placed.number]
        place = place if own is None else places[own]
        score = ranking.hit(placed.place_of).score
        head = place if own is None else heads[own]
        if above := [scores[it] for it in (*(heads[n] for n in placed.above), heir) if it in scores]:
            score = max(0.0, min(score, min(above) - LEAST_STEP))
        scores[head] = score
        newer = found.result(places[placed.above[-1]]).id if placed.above else None
        mark = "" if same is None else mark_of_turn(found.result(place).text, closed)
        value = hit.relevance * hit.age * hit.use * hit.confidence * hit.looked
        if score != hit.score and value:
            hit = hit._replace(score=round(score, DIGITS), yields=score / value)
        yield ChosenHit(hit._replace(place=place), 0 if same is None else again[same] - 1, newer, mark)


def _in_order(found: ScopeTexts, corpus: Corpus, ranking: Ranking, query: str) -> Iterator[Placed]:
    """Yield the results of a ranking, the latest first among those about the same subject."""
    places = ranking.places[:AMONG].tolist()
    shares, asked = corpus.shares(query, places), corpus.weights(query)
    hits = [ranking.hit(number) for number in range(len(places))]
    told = [_memory_at(found, place, held, asked) for place, held in zip(places, shares, strict=True)]
    # What stands below what answers the same stays there, however late it was said.
    lasting = [None if hit.yields < 1 else it for it, hit in zip(told, hits, strict=True)]
    yield from latest_first(lasting, _alike(found, corpus, hits, lasting))
    yield from (Placed(number, number) for number in range(len(places), len(ranking.places)))


def _alike(
    found: ScopeTexts,
    corpus: Corpus,
    hits: Sequence[Hit],
    told: Sequence[FoundMemory | None],
) -> Alike:
    """Return a function of the numbers of two hits: whether both have one subject and similar relevance."""
    cosines = corpus.cosines(np.array([hit.place for hit in hits], np.int64))
    if cosines is None:
        return nothing_alike
    near = [hit.lanes.get("dense", 0.0) for hit in hits]
    texts = ["" if it is None else found.text(hit.place) for hit, it in zip(hits, told, strict=True)]
    alike, changes = about_one(cosines), are_changes(cosines, texts)

    def likeness(one: int, other: int) -> Likeness:
        if changes[one, other] and near[one] >= CHANGED_NEAR * near[other]:
            return Likeness.CHANGE
        return Likeness(alike[one, other] and near[one] >= LEAST_NEAR * near[other])

    return likeness


def _memory_at(found: ScopeTexts, place: int, held: float, asked: Mapping[str, float]) -> FoundMemory | None:
    if found.texts.flags[place] & TURN != 0:
        return None
    it = found.result(place)
    family = FAMILIES.get(it.kind)
    if family is None or it.polarity == "meta" or it.sums:
        return None
    return memory(family, TRUST[it.origin], it.at, found.text(place), held, asked)


def told_otherwise(found: Sequence[Result]) -> list[Result]:
    """Rank and mark global results below later statements of the project with another value.

    The global memory remains valid elsewhere: it is marked, not closed.
    """
    here = [it for it in found if it.scope != GLOBAL and it.kind in FAMILIES and it.origin in PEOPLE]
    here = [it for it in here if it.valid_to is None][:AMONG_SCOPES]
    told = list[Result]()
    for it in found:
        may_differ = it.scope == GLOBAL and it.kind in FAMILIES and it.valid_to is None
        after = (own for own in here if own.at > it.at and FAMILIES[own.kind] == FAMILIES.get(it.kind))
        other = next((own for own in after if replaces(it.text, own.text)), None) if may_differ else None
        if other is not None:
            score, since = max(0.0, min(it.score, other.score - LEAST_STEP)), format_day(other.valid_from)
            marks = (*it.marks, f"{other.scope} tells otherwise since {since}: {other.id}")
            share = score / it.score if it.score else 1.0
            why = None if it.why is None else msgspec.structs.replace(it.why, yields=it.why.yields * share)
            it = msgspec.structs.replace(it, score=score, why=why, newer=other.id, marks=marks)
        told.append(it)
    return told


def holding(found: Sequence[Result]) -> tuple[list[Result], dict[str, str]]:
    """Return the valid results without turns that repeat replaced statements, and each closed id's successor.

    The successor is the last in a chain of replacements.
    """
    closed = {it.id: it for it in found if it.valid_to is not None}
    heirs: dict[str, str] = {}
    for id, it in closed.items():
        heir, met = it.replaced_by, {id: None}
        while heir in closed and heir not in met:
            met[heir] = None
            heir = closed[heir].replaced_by
        if heir is not None:
            heirs[id] = heir
    return [it for it in found if it.id not in closed and not mark_of_turn(it.text, closed.values())], heirs


def mark_of_turn(text: str, closed: Iterable[Result | MemoryRow]) -> str:
    """Return the mark of a turn that repeats a replaced memory word for word, else an empty text."""
    words = " ".join(text.split()).lower()
    for it in closed:
        # Of what was taken from a turn, what stands behind it in brackets is ours.
        said = " ".join(it.text.split()).lower().partition(" (")[0].rstrip(" .!")
        if it.valid_to is not None and said and said in words:
            return f"says what was {replaced(it.valid_to, it.replaced_by)}"
    return ""


def _taken_from(found: ScopeTexts, places: Ints) -> dict[int, int]:
    """Return by number among places: for each statement the number of the turn it was taken from.

    A statement has the time and session of its turn, and words of it.
    """
    ordered, back = numbered(places)
    flags = found.texts.flags[ordered][back]
    if not (stated := np.flatnonzero((flags & TAGGED != 0) & (flags & TURN == 0)).tolist()):
        return {}
    numbers, times = found.texts.sessions.number[places], found.texts.column("at", ordered)[back]
    keys = list(zip(numbers.tolist(), times.tolist(), strict=True))
    turns = {keys[n]: n for n in reversed(np.flatnonzero(flags & TURN != 0).tolist())}
    taken: dict[int, int] = {}
    for n, turn in ((n, turns[keys[n]]) for n in stated if keys[n] in turns):
        statement = found.result(int(places[n]))
        said = " ".join(found.result(int(places[turn])).text.split())
        if STATED_TAG in statement.tags and statement.text.partition(" (")[0] in said:
            taken[n] = turn
    return taken


def said_of(found: ScopeTexts, places: Ints) -> list[int | None]:
    """Return for each text the number shared by turns of the same text; None for other kinds."""
    ordered, back = numbered(places)
    turns = (found.texts.flags[ordered] & TURN != 0)[back].tolist()
    said = found.texts.column("said", ordered)[back].tolist()
    return [number if turn else None for turn, number in zip(turns, said, strict=True)]
