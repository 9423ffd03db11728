"""Pages of a search: the first is the ordinary answer, the next ones follow the order of the first.

A later page ranks the texts of the first page's time, as ranked then, without the results already given and
the texts no longer shown. Its results are read from the current views: no text hidden since then is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Mark, Source
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.tools.ask.choosing import alike
from memtape.tools.ask.cursors import (
    AGAIN,
    VERSION,
    Cursor,
    bounds_of,
    check,
    place_of,
    question_of,
    read,
    told_id,
    written,
)
from memtape.tools.ask.earlier import Moment, earlier, ids_of, living
from memtape.tools.ask.ordering import EVERYTHING, RankedResults, SearchQuery, ordered, told_result
from memtape.tools.ask.readied import PreparedTexts
from memtape.tools.ask.results import Result
from memtape.tools.ask.retrieval import Answer, Retriever
from memtape.tools.ask.sources import counted, within
from memtape.tools.capture.writing import now_us


class Paged(NamedTuple):
    """A paged query: its scope, query, page length, inclusion of archived texts, and quotas."""

    scope: str
    asked: SearchQuery
    limit: int
    archived: bool
    quotas: Mapping[Source, int]


def first_page(views: Retriever, log: Log, paged: Paged) -> Answer:
    """Return the answer of a search, with the cursor of a possible next page; a deep search has one page."""
    asked, at = paged.asked, now_us()
    answer = views.answer(paged.scope, asked, paged.limit, archived=paged.archived, quotas=paged.quotas)
    returned = [result.id for result in answer.results if not result.sums]
    left = sum(its.found for source, its in answer.sources.items() if source != "summaries") > len(returned)
    if views.past is not None or asked.deep is not None or not returned:
        return answer
    if not left or (len(returned) < paged.limit and not paged.quotas):
        return answer
    ends = views.ends(paged.scope, answer, paged.archived)
    behind = {it.partition: ends[it.partition] - it.offset for it in answer.watermark if it.offset < ends[it.partition]}
    cursor = Cursor(
        version=VERSION,
        place=place_of(log.log_id, paged.scope),
        question=question_of(asked, paged.archived, paged.quotas),
        at=at,
        now=answer.now,
        ends=ends,
        behind=behind,
        bounds=bounds_of(asked),
        given=b"",
    )
    return answer._replace(next=written(cursor.with_given(returned)))


def next_page(views: Retriever, log: Log, paged: Paged, text: str) -> Answer:
    """Return the page that a cursor names.

    Raises `MemtapeError` for a damaged cursor, and for one of another question, scope or home.
    """
    if views.past is not None:
        raise MemtapeError("The past is not asked page by page.", "Ask with a greater limit.")
    if paged.asked.deep is not None:
        raise MemtapeError("A deep search has one page.", "Ask with a greater limit.")
    cursor, asked = read(text), paged.asked
    question = question_of(asked, paged.archived, paged.quotas)
    check(cursor, place_of(log.log_id, paged.scope), question, bounds_of(asked), now_us())
    since, until, valid_at = cursor.bounds
    filters = msgspec.structs.replace(asked.filters, since=since, until=until)
    asked = asked._replace(filters=filters, valid_at=valid_at)
    names = scopes_read(paged.scope)
    partitions, ends = [partition_of(name, log.partitions) for name in names], log.ends()
    if any(cursor.ends.get(number, -1) > ends[number] or number not in cursor.ends for number in partitions):
        raise MemtapeError("The cursor is of events that the log does not have.", AGAIN)
    present = [views.readied(name, archived=paged.archived) for name in names]
    marks = {number: end - cursor.behind.get(number, 0) for number, end in cursor.ends.items()}
    moments = [Moment(cursor.ends[number], marks[number], cursor.at, cursor.now) for number in partitions]
    then = [earlier(ready, log, its, views.dense) for ready, its in zip(present, moments, strict=True)]
    order = ordered(then, asked, cursor.now, EVERYTHING, views.dense)
    page = _Page(views, names, present, then, order, cursor)
    results, has_more = within(page.results(asked), paged.quotas, paged.limit)
    answer = views.answered(present, order, results, cursor.now, paged.quotas)
    return answer._replace(
        after=cursor.after,
        watermark=tuple(Mark(offset=end, partition=number) for number, end in cursor.ends.items()),
        sources=counted(order.found(then), results, paged.quotas),
        next=written(cursor.with_given(result.id for result in results)) if has_more and results else None,
    )


class _Page:
    """The rest of an earlier order, told by the current views; texts archived since then are shown too."""

    def __init__(
        self,
        views: Retriever,
        names: Sequence[str],
        present: Sequence[PreparedTexts],
        then: Sequence[PreparedTexts],
        order: RankedResults,
        cursor: Cursor,
    ) -> None:
        self._views, self._names = views, names
        self._present, self._then = present, then
        self._order, self._cursor = order, cursor
        self._given = cursor.ids()
        self._every: dict[int, PreparedTexts] = {}
        self._alike = [alike(ready.found, ranking.places) for ready, ranking in zip(then, order.rankings, strict=True)]

    def results(self, asked: SearchQuery) -> Iterator[Result]:
        """Yield the results not yet given and still shown, in the earlier order, each once."""
        told: dict[str, None] = {}
        said: dict[int, None] = {}
        passages = [ready.corpus.passages(asked.query) for ready in self._present]
        for result, same in self._order.pairs:
            number = self._order.told[result.id][0]
            if same in said:
                continue
            places, was_given = self._meant(result)
            found = None if was_given else self._placed(number, places)
            if same is not None and (was_given or found is not None):
                said[same] = None
            if found is None:
                continue
            ready, place, is_archived = found
            told_then = self._order.told[result.id][1]
            told_now = told_then._replace(hit=told_then.hit._replace(place=place))
            shown = told_result(ready, told_now, None, self._cursor.now)
            if shown.id in told or told_id(shown.id) in self._given:
                continue
            told[shown.id] = None
            passage = ready.corpus.passage(place, asked.query) if is_archived else passages[number](place)
            marks = (*shown.marks, *self._order.marked.get(result.id, ()))
            again = max(shown.again, result.again)
            yield msgspec.structs.replace(
                shown, score=result.score, why=result.why, newer=result.newer, again=again, marks=marks, passage=passage
            )

    def _meant(self, result: Result) -> tuple[dict[int, None], bool]:
        """Return the old places that a result covers, its own first, and whether any of them was already
        given.
        """
        number, told = self._order.told[result.id]
        then = self._then[number].found
        places = dict.fromkeys((told.hit.place, *self._alike[number].get(told.hit.place, ())))
        ids = [id for place in places for id in ids_of(then.shown(place))]
        return places, not self._given.isdisjoint(map(told_id, ids))

    def _placed(self, number: int, places: Iterable[int]) -> tuple[PreparedTexts, int, bool] | None:
        """Return the current text that shows the first of some earlier places, and if it is archived.

        None where none of them is shown any more.
        """
        then, ready = self._then[number].found, self._present[number]
        for place in places:
            if (now := living(then, place, ready.found)) is not None:
                return ready, now, False
        every = self._every.get(number) or self._views.readied(self._names[number], archived=True)
        self._every[number] = every
        for place in places if every.found.choice.archived else ():
            if (now := living(then, place, every.found)) is not None:
                return every, now, True
        return None
