"""The answer to a question in all scopes read: the order of its results, their sources and counts.

A project's search reads its scope and `global`, each ranked from its own texts alone, then merged. Each thing
is returned once, the latest and the valid first. Only prepared texts (`found`) are read, and passages cut for
returned results alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import PEOPLE, STATED_TAG, Kind, Source, Traced
from memtape.schemas.lanes import Lane
from memtape.schemas.rows import MemoryRow, SummaryRow, made_from, project_told, replaced
from memtape.schemas.scopes import GLOBAL, scopes_read
from memtape.schemas.times import format_day
from memtape.schemas.visible import many
from memtape.state.index.entries import KINDS, TAGGED, TURN
from memtape.state.index.parts import AT_HAND, EVERY_TEXT, SUMMARIES, Choice, Ints
from memtape.state.index.sorted_values import distinct, numbered
from memtape.state.ranking import currency
from memtape.state.ranking.lanes import PERHAPS, Hit, is_perhaps
from memtape.state.ranking.lexical import QuestionTerms, Weighed
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import DIGITS, Ranking
from memtape.state.ranking.yielding import LEAST_STEP
from memtape.state.subjects.captures import FAMILIES, TRUST
from memtape.state.text.orders import is_about, named_by
from memtape.state.text.reading import read as read_text
from memtape.state.text.replacements import replaces
from memtape.tools.query.found import PreparedTexts, ScopeTexts, among_of, orders_among
from memtape.tools.query.plan import SOURCES, Cursor, SearchQuery, checked, continued, given_id, written
from memtape.tools.query.results import Answer, QuestionReading, Result, SourceCount, Why, judged
from memtape.tools.query.retrieval import Retriever

EVERYTHING = 1_000_000
"""A limit out of reach: the lanes' caps are far below."""
MOST_WANTED = 2_000
"""The most texts that a deep search ranks."""
FEW_RESULTS, MOST_SUMMARIES = 3, 3
"""Where fewer texts than that are found, so many summaries at most are told beside them."""
OFFERED_FROM = 20
"""The number of best results among which the sure ones for a prompt are searched."""
Choose = Callable[[Sequence[Result], Sequence[Weighed], int], list[Result]]
"""Selects the sure results for a prompt, at most so many, each weighed against it (`ranking.sure`)."""


def page_of(views: Retriever, scope: str, asked: SearchQuery, cursor: Cursor) -> Answer:
    """Return the page of a cursor, with the cursor of a possible next page.

    The past and a deep search have one page. Raises `MemtapeError` for a cursor that is damaged or of
    another question, scope or home.
    """
    has_pages = views.past is None and asked.deep is None
    if cursor.given:
        if not has_pages:
            told = "A deep search has one page."
            told = told if views.past is None else "The past is not asked page by page."
            raise MemtapeError(told, "Ask with a greater limit.")
        asked = continued(cursor, views.log, scope, asked)
    answer = answered(views, scope, asked)
    returned = [result.id for result in answer.results if not result.sums]
    if not (has_pages and returned and answer.has_more):
        return answer
    given = cursor.given + b"".join(map(given_id, returned))
    after = checked(replace(cursor, now=answer.now, given=given), views.log, scope, asked)
    return replace(answer, next=written(after))


def answered(views: Retriever, scope: str, asked: SearchQuery) -> Answer:
    """Return the best results of a scope, and of `global` where the scope is a project.

    Where little is found, summaries of further texts follow the results of a first page, unless `repeats`
    or a time of validity is asked for. A `deep` search looks up to three times.
    """
    answer = _ranked(views, scope, asked, EVERY_TEXT if asked.archived else AT_HAND)
    if asked.repeats or asked.given or len(answer.results) >= min(asked.limit, FEW_RESULTS):
        return answer
    if not asked.archived:
        life, aside = views.life(scope), ""
        kept = 0 if answer.results else life.archived - life.purged
        if life.state == "finished" or life.is_purged:
            aside = project_told(life)
        elif kept:
            told = many(kept, "text is", "texts are")
            aside = f"{told} archived; `memtape search --archived` finds them."
        answer = replace(answer, aside=aside)
    has_summaries = any(views.opened(name).has_any(SummaryRow) for name in scopes_read(scope))
    if asked.valid_at is not None or not has_summaries:
        return answer
    most = min(MOST_SUMMARIES, asked.limit - len(answer.results))
    plain = SearchQuery(asked.query, asked.filters, asked.lanes, limit=most, phrases=asked.phrases)
    other = _ranked(views, scope, plain._replace(now=answer.now), SUMMARIES)
    least = min((result.score for result in answer.results), default=1.0)
    below = [replace(result, score=min(result.score, least)) for result in other.results]
    sources = {**answer.sources, "summaries": other.sources["summaries"]}
    return replace(answer, results=[*answer.results, *below], sources=sources)


def offered(views: Retriever, scope: str, prompt: str, limit: int, sure: Choose) -> Answer:
    """Return the `sure` ones of the best results for a prompt, at most `limit`.

    Orders about memory, and texts that people want left out by an order, are excluded. So are replaced
    memories and turns that repeat them: their replacement counts as equally sure.
    """
    answer = _ranked(views, scope, SearchQuery(prompt, limit=OFFERED_FROM))
    results, readies = answer.results, [views.ready(name) for name in scopes_read(scope)]
    orders = (order for ready in readies if results for order in orders_among(ready.found))
    if left_out := [named_by(order.text) for order in orders]:
        results = [
            it for it in results if not (it.polarity == "meta" or is_about(read_text(it.text), left_out))
        ]
    weighed: dict[str, Weighed] = {}
    for ready in readies:
        own = {it.id: ready.found.place_of(it) for it in results if it.scope == ready.scope}
        if places := [place for place in own.values() if place is not None]:
            weighed |= zip(own, ready.corpus.words.weighed(prompt, places), strict=True)
    closed = {it.id: it for it in results if it.valid_to is not None}
    for id, it in closed.items():
        heir, met = it.replaced_by, {id: None}
        while heir in closed and heir not in met:
            met[heir] = None
            heir = closed[heir].replaced_by
        if heir in weighed:
            weighed[heir] = weighed[heir]._replace(share=max(weighed[heir].share, weighed[id].share))
    told = [it for it in results if it.id not in closed and not mark_of_turn(it.text, closed.values())]
    chosen = sure(told, [weighed[result.id] for result in told], limit)
    return replace(answer, results=chosen)


class RankedScope(NamedTuple):
    """The texts of a scope, the filter of a question, and the ranking of what passes."""

    ready: PreparedTexts
    among: Among | None
    ranking: Ranking


class RankedResult(NamedTuple):
    """A result, the number shared by turns of the same text, and its place in its scope."""

    result: Result
    said: int | None
    place: int


def _ranked(views: Retriever, scope: str, asked: SearchQuery, choice: Choice = AT_HAND) -> Answer:
    """Return the best of the chosen texts of all readable scopes, each scope ranked by itself."""
    readies, now = [views.ready(name, choice) for name in scopes_read(scope)], asked.now
    if now is None:
        # Never before any text: texts within the hour are ordered by time.
        now = max(views.now([it.view for it in readies]), *(it.corpus.texts.latest for it in readies))
    readies = [ready.used_at(now) for ready in readies]
    amongs = [among_of(it.found, asked.filters, asked.valid_at, asked.phrases) for it in readies]
    # One more than is returned tells whether there is more.
    limit = EVERYTHING if asked.given else asked.limit + (asked.deep is None)
    rankings, trace = _rankings(views, readies, amongs, asked, now, limit)
    scopes = list(map(RankedScope, readies, amongs, rankings))
    ordered = _ordered(scopes, asked, now, limit)
    chosen, seen = ordered[: asked.limit], [it.view for it in readies]
    passages = {it.scope: it.corpus.passages(asked.query) for it in readies}
    marks, lanes = {view.mark.partition: view.mark for view in seen}, Counter[Lane]()
    for ranking in rankings:
        lanes.update(ranking.counts)
    return Answer(
        results=[replace(it.result, passage=passages[it.result.scope](it.place)) for it in chosen],
        watermark=tuple(marks.values()), lag=sum(view.lag for view in seen), now=now,
        revision=seen[0].revision, lanes=dict(lanes),
        note=views.dense.note if views.dense is not None else "",
        read=tuple(_read(it, asked.query) for it in scopes if asked.explain and it.ready.found.texts.count),
        held=readies[0].found.texts.count, warnings=tuple(filter(None, map(views.warning, marks))),
        after=len(asked.given), has_more=len(chosen) < len(ordered), trace=trace,
        sources=_source_counts(scopes, Counter(source_of(it.result) for it in chosen)),
    )  # fmt: skip


def _rankings(
    views: Retriever, readies: Sequence[PreparedTexts], amongs: Sequence[Among | None], asked: SearchQuery,
    now: int, limit: int,
) -> tuple[list[Ranking], tuple[Traced, ...]]:  # fmt: skip
    """Return the passing texts of each scope, best first, and the steps of a deep search."""

    def rank(ready: PreparedTexts, among: Among | None, query: str) -> Ranking:
        lanes, dense, vector = asked.lanes, views.dense, None
        if dense is not None and "dense" in lanes and (encoded := ready.corpus.to_encode(query)) is not None:
            vector = dense.of_query(encoded, ready.embedder)
        return ready.corpus.rank(query, vector, lanes=lanes, among=among, now=now, session=asked.session)

    if asked.deep is None:
        return [rank(*scope, asked.query) for scope in zip(readies, amongs, strict=True)], ()

    # Hardly any search is deep, and a hook searches and does nothing else.
    from memtape.state.ranking.deep import deepened
    from memtape.tools.query.deep import field_of

    follows = "edges" in asked.lanes
    fields = [
        field_of(ready, partial(rank, ready, among), among, now, follows=follows)
        for ready, among in zip(readies, amongs, strict=True)
    ]
    # Texts that say the same are returned once.
    most = min(2 * limit, MOST_WANTED)
    search = deepened(asked.query, fields, asked.deep, most, lambda: time.perf_counter_ns() // 1_000)
    return search.ordered(), tuple(search.trace)


def _ordered(scopes: Sequence[RankedScope], asked: SearchQuery, now: int, limit: int) -> list[RankedResult]:
    """Return the best results of all scopes, as many as `limit` may need, without passages.

    Of turns with the same text, also in another scope, the best is returned.
    """
    found = list[RankedResult]()
    for of in scopes:
        _fetch(of.ready.found, of.ranking.places, limit)
        every = map(ChosenHit, islice(of.ranking.hits, limit))
        reading = of.ready.corpus.words.reading(asked.query) if asked.explain else None
        found += [
            RankedResult(_told(of, chosen, reading, now), chosen.said, chosen.hit.place)
            for chosen in (every if asked.repeats else _best(of, asked.query, limit))
        ]
    if not asked.repeats:
        marked = told_otherwise([it.result for it in found])
        found = [it._replace(result=result) for it, result in zip(found, marked, strict=True)]
    found.sort(key=lambda it: (-it.result.score, it.result.kind, it.result.id))
    if not asked.repeats:
        first: dict[int | str, RankedResult] = {}
        for it in found:
            same = it.result.id if it.said is None else it.said
            if (known := first.get(same)) is not None:
                again = known.result.again + it.result.again + 1
                it = known._replace(result=replace(known.result, again=again))
            first[same] = it
        found = list(first.values())
    if not asked.given:
        return found
    texts = {of.ready.scope: of.ready.found for of in scopes}
    rows = [texts[it.result.scope].row(it.place) for it in found]
    ids = [row.ids if isinstance(row, MemoryRow) else (row.id,) for row in rows]
    # A result was given where any of its captures was.
    return [it for it, its in zip(found, ids, strict=True) if asked.given.isdisjoint(map(given_id, its))]


def _told(of: RankedScope, told: ChosenHit, reading: QuestionTerms | None, now: int) -> Result:
    """Return a result without its passage, with the reasons of its rank, and with its terms if read.

    `now` is the time of the answer; staleness depends on it.
    """
    ready, hit = of.ready, told.hit
    if reading is None:
        why = made_from(Why, hit, parts={})
    else:
        own, around = ready.corpus.words.held(hit.place, ready.found.text(hit.place), reading)
        # The parts add up to the relevance of the first look alone.
        parts = of.ranking.parts(hit.place) if hit.look == 1 else {}
        why = made_from(Why, hit, terms=own, around=around, parts=parts)
    document = ready.found.result(hit.place)
    if not document.sums:
        document = judged(document, ready.found.row(hit.place), now)
    older = f"older than {told.newer}" if told.newer is not None and document.valid_to is None else ""
    marks = (*document.marks, *filter(None, (told.mark, PERHAPS if is_perhaps(hit) else "", older)))
    changed = {"again": told.again, "newer": told.newer, "marks": marks}
    return replace(document, why=why, score=hit.score, lanes=tuple(hit.lanes), **changed)


def _read(of: RankedScope, query: str) -> QuestionReading:
    ready, (least, most, strength) = of.ready, of.ranking.scale
    reading = ready.corpus.words.reading(query)
    recipe = "people" if ready.found.texts.answers is None else "assistant"
    told = {"scope": ready.scope, "recipe": recipe, "least": least, "most": most, "strength": strength}
    return made_from(QuestionReading, reading, terms=reading.used, **told)


SOURCE_OF: dict[Kind, Source] = {
    "fact": "memories", "turn": "turns", "document": "documents", "insight": "insights",
    "page": "pages", "goal": "plans", "plan": "plans", "journal": "journal",
}  # fmt: skip
"""The source of a text by its kind, summaries apart."""


def source_of(result: Result) -> Source:
    """Return the source of a result."""
    return "summaries" if result.sums else SOURCE_OF[result.kind]


def _source_counts(scopes: Sequence[RankedScope], returned: Counter[Source]) -> dict[Source, SourceCount]:
    """Return how many texts of each source the rankings have placed and an answer returns."""
    placed = Counter[Source]()
    for found, places in ((of.ready.found, of.ranking.places) for of in scopes):
        if found.choice.summaries:
            placed["summaries"] += len(places)
            continue
        ordered = np.sort(places)
        kinds, turns = found.texts.column("kinds", ordered), found.texts.flags[ordered] & TURN != 0
        counts = np.bincount(kinds[~turns], minlength=len(KINDS)).tolist()
        for kind, source in SOURCE_OF.items():
            placed[source] += counts[KINDS.index(kind)]
        placed["turns"] += len(distinct(found.texts.column("said", ordered)[turns]))
    # A returned text counts as found, also as a cover of another.
    return {it: SourceCount(found=max(placed[it], returned[it]), returned=returned[it]) for it in SOURCES}


TAKEN_FROM = 200
"""Among so many of the best, statements are brought together with their turns."""
AMONG_SCOPES = 10
"""So many results of a project are compared with those of `global`."""


class ChosenHit(NamedTuple):
    """A result: a hit, the number of further turns with the same text, and the id of a newer memory above it.

    The newer memory is about the same subject. `mark` marks a turn that says a replaced value. `said` is the
    number shared by turns of the same text.
    """

    hit: Hit
    said: int | None = None
    again: int = 0
    newer: str | None = None
    mark: str = ""


def _best(of: RankedScope, query: str, limit: int) -> Iterator[ChosenHit]:
    """Yield the best hits, at most `limit`.

    Of a turn and a statement taken from it only the better is returned. A memory that covers a found one is
    returned in its place; texts asked for by time or origin are returned themselves. Of memories about the
    same subject the latest comes first, and a valid memory comes right above the first that it replaced,
    whether found or not.
    """
    found, among, ranking = of.ready.found, of.among, of.ranking
    ordered, back = numbered(ranking.places)
    places, heads = ranking.places.tolist(), found.texts.heads(ordered)[back].tolist()
    said = said_of(found, ranking.places)
    again = Counter(said)
    taken_from = _taken_from(found, ranking.places[:TAKEN_FROM])
    # By thing: its place, its rank or that of the text it replaces, and the place of its heir, if any.
    first: dict[object, tuple[int, currency.Placed, int | None]] = {}
    for placed in _in_order(of.ready, ranking, query):
        if len(first) >= limit:
            break
        number, same = placed.number, said[placed.number]
        is_turn = same is not None
        shown = places[number] if is_turn or among is not None else found.standing(places[number])
        as_one = said[taken_from[number]] if number in taken_from else same
        one = heads[number] if shown == places[number] else shown
        heir = None if is_turn else found.heir(one)
        if heir is not None and (among is None or len(among(np.array([heir])))):
            first.setdefault((heir,), (heir, placed._replace(above=()), None))
        first.setdefault((one,) if as_one is None else as_one, (shown, placed, heir))
    memories = [it for it in places[: currency.AMONG] if not found.texts.flags[it] & TURN]
    closed = [it for it in map(found.result, memories) if it.valid_to is not None]
    scores: dict[int | None, float] = {}
    for place, placed, heir in islice(first.values(), limit):
        own = heads.index(place) if place in heads else None
        own = placed.number if place == places[placed.number] else own
        hit, same = ranking.hit(placed.number if own is None else own), said[placed.number]
        place = place if own is None else places[own]
        score = float(ranking.scores[placed.place_of])
        head = place if own is None else heads[own]
        if above := [scores[it] for it in (*(heads[n] for n in placed.above), heir) if it in scores]:
            score = max(0.0, min(score, min(above) - LEAST_STEP))
        scores[head] = score
        later = found.result(places[placed.above[-1]]) if placed.above else None
        newer = later.id if later is not None and later.at > found.result(place).at else None
        mark = "" if same is None else mark_of_turn(found.result(place).text, closed)
        value = hit.relevance * hit.age * hit.use * hit.confidence * hit.looked
        if score != hit.score and value:
            hit = hit._replace(score=round(score, DIGITS), yields=score / value)
        yield ChosenHit(hit._replace(place=place), same, 0 if same is None else again[same] - 1, newer, mark)


def _fetch(found: ScopeTexts, places: Ints, limit: int) -> None:
    """Read at once the rows that the best hits need: their own, and those of what stands for them."""
    first = places[: currency.AMONG]
    memories = first[found.texts.flags[first] & TURN == 0].tolist()
    found.fetch([*places[:limit].tolist(), *memories])
    rows = (row for place in memories if isinstance(row := found.row(place), MemoryRow))
    ids = (id for it in rows for id in (it.into, it.replaced_by, it.outdated_by, it.contradicts))
    linked = (found.texts.called(id) for id in ids if id is not None)
    found.fetch(place for place in linked if place is not None)


def _in_order(ready: PreparedTexts, ranking: Ranking, query: str) -> Iterator[currency.Placed]:
    """Yield the results of a ranking, the latest first among those about the same subject."""
    found, corpus = ready.found, ready.corpus
    places, told = ranking.places[: currency.AMONG], list[currency.FoundMemory | None]()
    asked, own_places = corpus.weights(query), places.tolist()
    # What stands below what answers the same stays there, however late it was said.
    stays = (ranking.yields[: currency.AMONG] < 1) | (found.texts.flags[places] & TURN != 0)
    for place, held, is_set in zip(own_places, corpus.shares(asked, places), stays.tolist(), strict=True):
        if is_set:
            told.append(None)
            continue
        it = found.result(place)
        family = None if it.polarity == "meta" or it.sums else FAMILIES.get(it.kind)
        own = None
        if family is not None:
            own = currency.memory(family, TRUST[it.origin], it.at, read_text(found.text(place)), held, asked)
        told.append(own)
    cosines, alike = corpus.cosines(places), currency.nothing_alike
    if cosines is not None:
        near = [hit.lanes.get("dense", 0.0) for hit in islice(ranking.hits, currency.AMONG)]
        texts = ["" if it is None else found.text(place) for place, it in zip(own_places, told, strict=True)]
        about, changes = currency.about_one(cosines), currency.are_changes(cosines, texts)

        def alike(one: int, other: int) -> currency.Likeness:
            if changes[one, other] and near[one] >= currency.CHANGED_NEAR * near[other]:
                return currency.Likeness.CHANGE
            return currency.Likeness(about[one, other] and near[one] >= currency.LEAST_NEAR * near[other])

    yield from currency.latest_first(told, alike)
    yield from (currency.Placed(number, number) for number in range(len(places), len(ranking.places)))


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
        others = (own for own in after if replaces(read_text(it.text), read_text(own.text)))
        other = next(others, None) if may_differ else None
        if other is not None:
            score, since = max(0.0, min(it.score, other.score - LEAST_STEP)), format_day(other.valid_from)
            marks = (*it.marks, f"{other.scope} tells otherwise since {since}: {other.id}")
            share = score / it.score if it.score else 1.0
            why = None if it.why is None else replace(it.why, yields=it.why.yields * share)
            it = replace(it, score=score, why=why, newer=other.id, marks=marks)
        told.append(it)
    return told


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
    pairs = [(n, turns[keys[n]]) for n in stated if keys[n] in turns]
    found.fetch(int(places[n]) for pair in pairs for n in pair)
    for n, turn in pairs:
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
