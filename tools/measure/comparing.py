"""The retrievers of `eval`, `compare` and shadows, their comparisons by past queries, and shadows at work.

A retriever answers a question with ids, best first: Memtape's own, with and without lanes, or a plain one.
Queries come from the log. `compare` asks them of the current views, each at its own time. The settings of a
log name the shadows and their share of searches. A shadow answers after the search, from the texts that the
search could find, and changes no result. Its results are `recalled` events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from memtape.flows.workers.worker import OnNote, Worker
from memtape.schemas import lanes
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import SYSTEM, Event, Filters, Mark, Recalled, Used, make_event
from memtape.schemas.ids import derived_id
from memtape.schemas.lanes import ORDINARY, SHADOW, ShadowLanes, shadow_lanes, shadow_of, unasked_by
from memtape.schemas.log import Log, Slot, events_between, settings_on
from memtape.schemas.metrics import tell_progress
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import OffsetMarks
from memtape.state.core.erasures import erasures_of
from memtape.state.ranking.evaluation import (
    OVERLAP_CUTS,
    PlainBm25,
    PlainCosine,
    mean,
    overlap,
    percentile,
    recall,
    reciprocal_rank_fusion,
)
from memtape.state.views.filters import NO_FILTERS, passes
from memtape.state.views.tail import PENDING_TYPES
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.log_settings import states_on
from memtape.tools.query.as_of import PastViews, Positions
from memtape.tools.query.ordering import answered
from memtape.tools.query.plan import SearchQuery
from memtape.tools.query.recorded_vectors import RecordedVectors
from memtape.tools.query.results import Result, embedded_text
from memtape.tools.query.retrieval import Retriever

MOST = 50
CUTS = (5, 10, 25, 50)
MARGINAL_CUT = "10"
SHOWN = ("shadow", "deprecated")
LESS = {lane: lanes.Recipe(ORDINARY, (lane,)).name for lane in lanes.LANES}
"""The name of the ordinary retriever without each lane."""
Ask = Callable[[SearchQuery], Sequence[str]]


def asks_of(
    views: Retriever,
    scope: str,
    names: Iterable[str],
    filters: Filters = NO_FILTERS,
    by: Retriever | None = None,
) -> dict[str, Ask]:
    """Return the named retrievers of a scope; each takes a question with the filters.

    `by` has the texts and vectors of the plain retrievers, by default `views`. A name is `bm25`, `dense`
    (cosine alone), `rrf` (the reciprocal ranks of both), or that of an ordinary search, whole or without
    lanes (`schemas.lanes`). Raises `MemtapeError` where a retriever needs vectors and none exist.
    """
    recipes = {name: lanes.recipe_of(name) for name in names}
    ranks = {recipe.ranks for recipe in recipes.values()} - {ORDINARY}
    plain = _plain_ranks(by or views, scope, filters, needs_vectors=bool(ranks - {"bm25"})) if ranks else None

    def ask_of(recipe: lanes.Recipe) -> Ask:
        if plain is not None and recipe.ranks != ORDINARY:
            return lambda asked: plain(recipe.ranks, asked.query)[: asked.limit]
        return lambda asked: [
            it.id for it in answered(views, scope, asked._replace(lanes=recipe.lanes)).results
        ]

    return {name: ask_of(recipe) for name, recipe in recipes.items()}


def _plain_ranks(
    views: Retriever, scope: str, filters: Filters, *, needs_vectors: bool
) -> Callable[[lanes.Ranks, str], list[str]]:
    """Return the plain rankings of the filtered texts of a scope, by name from a question to ids."""
    readies, dense = [views.ready(name) for name in scopes_read(scope)], views.dense
    own, places = readies[0], [ready.found.places() for ready in readies]
    if not has_vectors(views, scope) and needs_vectors and any(places):
        raise MemtapeError("There are no vectors to compare with.", "Leave out the retrievers dense and rrf.")
    documents, cosine = list[Result](), None
    rows = list[NDArray[np.int16]]()
    for ready, its in zip(readies, places, strict=True):
        found = [place for place in its if passes(ready.found.result(place), filters)]
        documents += map(ready.found.result, found)
        if ready.vectors is not None and ready.embedder == own.embedder:
            rows.append(ready.vectors.taken(np.array(found, np.int64)))
        elif own.vectors is not None:
            rows.append(np.zeros((len(found), own.vectors.dimensions), np.int16))
    bm25 = PlainBm25(list(map(embedded_text, documents)))
    if has_vectors(views, scope):
        cosine = PlainCosine(np.concatenate(rows))

    def ranked(ranks: lanes.Ranks, query: str) -> list[int]:
        if ranks == "rrf":
            return reciprocal_rank_fusion([ranked("bm25", query), ranked("dense", query)], MOST)
        if ranks == "bm25":
            return bm25.rank(query, MOST)
        encoded = own.corpus.to_encode(query)
        if cosine is None or dense is None or encoded is None:
            return []
        return cosine.rank(dense.of_query(encoded, own.embedder), MOST)

    return lambda ranks, query: [documents[number].id for number in ranked(ranks, query)]


def has_vectors(views: Retriever, scope: str) -> bool:
    """Return whether the texts of a scope have vectors with which questions can be compared."""
    return views.dense is not None and views.ready(scope).vectors is not None


class Pair(NamedTuple):
    """The results of a search and of another retriever, and the wanted results (empty without feedback)."""

    returned: tuple[str, ...]
    found: tuple[str, ...]
    wanted: tuple[str, ...]
    took_ms: float


def compare(retriever: Retriever, log: Log, scope: str, names: Sequence[str], most: int) -> dict[str, Any]:
    """Ask every retriever the latest `most` recorded searches of a scope; without names, all usable ones.

    Recall is that of the used results, over the searches with known uses, else of the returned results. A
    lane's marginal recall is the loss of the ordinary search at 10 without it. Raises `MemtapeError` without
    a recorded search.
    """
    # Only a first page without quotas has the best results.
    wanted = (it for it in recalls_of(log, scope) if it[0].results and not (it[0].after or it[0].quotas))
    recalls = list(wanted)[-most:]
    if not recalls:
        why = f"Nothing in {scope} was asked and found yet."
        raise MemtapeError(why, "`memtape search` puts searches on the log.")
    by_use = any(used for _, _, used in recalls)
    if not names:
        names = ["bm25", *(("dense", "rrf") if has_vectors(retriever, scope) else ()), ORDINARY]
    measured = dict.fromkeys((*names, ORDINARY, *LESS.values()))
    asks: dict[Filters, dict[str, Ask]] = {}
    pairs: dict[str, list[Pair]] = {name: [] for name in measured}
    for number, (body, session, used) in enumerate(recalls, start=1):
        if body.filters not in asks:
            asks[body.filters] = asks_of(retriever, scope, measured, body.filters)
        # Every retriever is asked for the same texts, those that say the same included.
        about = SearchQuery(body.query, body.filters, repeats=True, session=session, limit=MOST, now=body.now)
        for name, ask in asks[body.filters].items():
            start = time.perf_counter()
            found = tuple(ask(about))
            took_ms = (time.perf_counter() - start) * 1_000
            pairs[name].append(Pair(body.results, found, used if by_use else body.results, took_ms))
        tell_progress("asking again", number, len(recalls))
    told = {name: _measures(its, CUTS) for name, its in pairs.items()}
    at_cut = {name: its["recall"][MARGINAL_CUT] for name, its in told.items()}
    return {
        "recalls": len(recalls),
        "truth": "used" if by_use else "returned",
        "judged": sum(bool(pair.wanted) for pair in pairs[ORDINARY]),
        "views": "present",
        "retrievers": {name: told[name] for name in names},
        "marginal": {lane: round(at_cut[ORDINARY] - at_cut[less], 4) for lane, less in LESS.items()},
    }


def compare_shadows(log: Log, scope: str) -> dict[str, Any]:
    """Return each shadow's results beside the results given, by overlap, and by recall of what was used.

    Raises `MemtapeError` where no shadow has answered.
    """
    states, events = states_on(log), list(events_of(log, scope))
    searches, used = {event.id: event.body for event in events if is_search(event)}, uses_by_recall(events)
    answers = dict[str, dict[str, Pair | None]]()
    """By shadow and event, None for a failure."""
    for event in events:
        told = shadow_of(event.body.lanes) if isinstance(event.body, Recalled) else None
        asked = searches.get(event.refs[0]) if told is not None and event.refs else None
        if told is None or asked is None or states.retrievers.get(told.retriever) not in SHOWN:
            continue
        assert isinstance(asked, Recalled) and isinstance(event.body, Recalled)
        wanted = tuple(used.get(event.refs[0], ()))
        pair = Pair(asked.results, event.body.results, wanted, told.took_us / 1_000)
        answers.setdefault(told.retriever, {}).setdefault(event.id, None if told.failed else pair)
    if not answers:
        raise MemtapeError(
            f"No shadow has answered a search of {scope} yet.",
            "`memtape admin retriever set NAME shadow` has one answer too, in `memtape run` or with --once.",
        )
    by_name = sorted(answers.items())
    shadows = {name: {"state": states.retrievers[name]} | _beside(its.values()) for name, its in by_name}
    return {"searches": len(searches), "percent": states.shadow_percent, "shadows": shadows}


def recalls_of(log: Log, scope: str) -> Iterator[tuple[Recalled, str | None, tuple[str, ...]]]:
    """Yield a scope's searches and prompts in the order of the log, without erased ones and starts.

    Each comes with its session, and with the results that the session used (empty without feedback).
    """
    events = list(events_of(log, scope))
    used = uses_by_recall(events)
    for event in events:
        body = event.body
        if isinstance(body, Recalled) and unasked_by(body.lanes) != "start" and shadow_of(body.lanes) is None:
            yield body, event.session, tuple(used.get(event.id, ()))


def is_search(event: Event) -> bool:
    """Return whether an event is a search: neither a recall unasked for nor a shadow's recall."""
    body = event.body
    return isinstance(body, Recalled) and unasked_by(body.lanes) is None and shadow_of(body.lanes) is None


def uses_by_recall(events: Iterable[Event]) -> dict[str, dict[str, None]]:
    """Return by a search's id the ids that events report as used, each once."""
    used: dict[str, dict[str, None]] = {}
    for event in events:
        if isinstance(event.body, Used) and event.body.recall is not None:
            used.setdefault(event.body.recall, {}).update(dict.fromkeys(event.body.ids))
    return used


def events_of(log: Log, scope: str) -> Iterator[Event]:
    """Yield the recalls and uses of a scope in the order of the log, also of shadows, without erased ones."""
    partition = partition_of(scope, log.partitions)
    erasures = erasures_of(log.erased(partition))
    for _, event in events_between(log, partition, 0, log.ends()[partition], scope, ("recalled", "used")):
        if event.body is not None and not erasures.covers(event):
            yield event


def _measures(pairs: Sequence[Pair], cuts: Sequence[int]) -> dict[str, Any]:
    """Return the overlap of all pairs, the recall of the wanted results that are known, and the latency."""
    took, judged = [pair.took_ms for pair in pairs], [pair for pair in pairs if pair.wanted]
    overlaps = {str(cut): [overlap(it.returned, it.found, cut) for it in pairs] for cut in OVERLAP_CUTS}
    recalls = {str(cut): [recall(it.wanted, it.found[:cut]) for it in judged] for cut in cuts}
    return {
        "overlap": {cut: mean(its) for cut, its in overlaps.items()},
        "recall": {cut: mean(its) for cut, its in recalls.items()},
        "latency_ms": {f"p{percent}": round(percentile(took, percent), 3) for percent in (50, 95)},
    }


def _beside(answers: Collection[Pair | None]) -> dict[str, Any]:
    """Return the measures of a shadow, with the recall of the results that were given beside its own."""
    pairs = [pair for pair in answers if pair is not None]
    shadow = _measures(pairs, OVERLAP_CUTS)
    active = _measures([pair._replace(found=pair.returned) for pair in pairs], OVERLAP_CUTS)
    return {
        "answers": len(pairs),
        "failed": len(answers) - len(pairs),
        "judged": sum(bool(pair.wanted) for pair in pairs),
        **shadow,
        "recall": {"active": active["recall"], "shadow": shadow["recall"]},
    }


NAME = "shadows"
MOVING = (*PENDING_TYPES, "embedded")
"""Events after which a search may find otherwise."""


class Shadows(Worker):
    """Asks a log's shadows the searches since the settings changed; `done` counts answers and failures."""

    poll_s = 60.0  # A search waits for no round, and a round makes texts ready anew.
    failure = "The shadow retrievers could not be asked, and searches answer as ever"

    def __init__(self, home: Home, log: Log, on_note: OnNote) -> None:
        super().__init__(log, on_note)
        self._home = home
        self._marks = OffsetMarks(home.shadows_path, log)
        self._ends: list[int] = []
        self._present: dict[str, Retriever] = {}
        """The retrievers over the current texts, by embedder; in a round they stay ready."""

    def catch_up(self) -> None:
        """Append the shadows' answers to the sampled searches since the last round."""
        ends = self.log.ends()
        if ends == self._ends:
            return
        settings, self._ends = settings_on(self.log), ends
        if not settings.shadows():
            return
        offsets = self._marks.read(NAME) or [0] * self.log.partitions
        try:
            for number, end in enumerate(ends):
                changed = self.log.read(number, 0, end, types=("configured",))[-1].offset
                offsets[number] = self._catch_up_in(max(offsets[number], changed), end, number, settings)
            self._ends = [] if self.unfinished else ends
        finally:
            self._present.clear()
            self._marks.write(NAME, offsets)

    def _catch_up_in(self, start: int, end: int, number: int, settings: Settings) -> int:
        """Answer the sampled searches of a partition from an offset on; return where all are answered up to.

        A repetition of a search has the query of its original, and is not asked.
        """
        erasures = erasures_of(self.log.erased(number))
        for slot, event in events_between(self.log, number, start, end, types=("recalled",)):
            if event.scope is None or not is_search(event) or not is_chosen(event.id, settings):
                continue
            if partition_of(event.scope, self.log.partitions) != number or erasures.covers(event):
                continue
            ids = {shadow_id(event, name): name for name in settings.shadows()}
            known = self.log.known(event.scope, [event.id, *ids])
            if known.get(event.id) != slot.offset:
                continue
            for name in (name for id, name in ids.items() if id not in known):
                if self.is_over():
                    return slot.offset
                self.log.append([self._answer(slot, event, name)])
                self.done += 1
        return max(start, end)

    def _answer(self, slot: Slot, event: Event, name: str) -> Event:
        """Return a retriever's answer to a search, as of its place on the log and at its time.

        Where nothing that a search reads has come since, the current views are asked, else the views of then.
        """
        body, scope = event.body, event.scope
        assert isinstance(body, Recalled) and scope is not None
        numbers = dict.fromkeys(partition_of(read, self.log.partitions) for read in scopes_read(scope))
        positions = {number: self.log.offset_after(number, event.sent) for number in numbers}
        positions |= {slot.partition: slot.offset}
        try:
            recipe = lanes.recipe_of(name)
            with self._views(recipe, scope, positions) as views:
                views.prepare(scope)
                start = time.perf_counter_ns()
                about = SearchQuery(body.query, body.filters, session=event.session)
                about = about._replace(limit=body.limit, now=body.now)
                results = tuple(asks_of(views, scope, [name], body.filters)[name](about))
                took_us = (time.perf_counter_ns() - start) // 1_000
            if recipe.embedder and views.dense is not None and views.dense.note:
                raise MemtapeError(views.dense.note)
        except Exception as error:  # A retriever of whatever kind can fail in whatever way.
            self.note(f"The shadow {name} failed: {error}")
            return shadow_event(event, ShadowLanes(name, failed=True), (), (), now_us())
        marks = tuple(Mark(offset=offset, partition=number) for number, offset in positions.items())
        return shadow_event(event, ShadowLanes(name, took_us), results, marks, now_us())

    @contextmanager
    def _views(self, recipe: lanes.Recipe, scope: str, positions: Positions) -> Iterator[Retriever]:
        dense = RecordedVectors(self._home, recipe.embedder)
        numbers = {name: partition_of(name, self.log.partitions) for name in scopes_read(scope)}
        read = partial(self.log.read, limit=1, types=MOVING)
        if not any(read(number, positions[number], scope=name) for name, number in numbers.items()):
            yield self._present.setdefault(recipe.embedder, Retriever(self._home, self.log, dense=dense))
            return
        past = PastViews(self._home, self.log, positions)
        try:
            yield Retriever(self._home, self.log, past, dense=dense)
        finally:
            past.discard()  # Hardly anybody asks of the same position, and there are many.


def is_chosen(recall_id: str, settings: Settings) -> bool:
    """Return whether a search is in the shadows' share, by its id; a larger share contains a smaller."""
    number = int.from_bytes(blake2b(recall_id.encode(), digest_size=8).digest(), "big")
    return number % 100 < settings.shadow_percent


def shadow_id(asked: Event, name: str) -> str:
    """Return the id of a shadow's answer to a search: the first answer on the log counts."""
    return derived_id("recalled", asked.scope, SHADOW, f"{asked.id}:{name}")


def shadow_event(
    asked: Event, told: ShadowLanes, results: tuple[str, ...], marks: tuple[Mark, ...], now: int
) -> Event:
    """Return the `recalled` event of a shadow's results; it refers to the search and is erased with it.

    Query, filters and session stand on the search event only: no session was shown these results.
    """
    assert isinstance(asked.body, Recalled)
    own = {"results": results, "watermark": marks, "lanes": shadow_lanes(told)}
    body, id = replace(asked.body, filters=NO_FILTERS, query="", **own), shadow_id(asked, told.retriever)
    return make_event("recalled", id, body, asked.scope, SYSTEM, (asked.id,), now)
