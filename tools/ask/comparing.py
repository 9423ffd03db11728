"""The retrievers of `eval`, `compare` and shadows, and comparisons of them by a scope's past queries.

A retriever answers a question with ids, best first: Memtape's own, with and without lanes, or a plain one. Queries come
from the log. `compare` asks them of the current views, each at its own time; shadows have answered theirs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event, Filters, Recalled, Used
from memtape.schemas.lanes import LANES, shadow_of, unasked_by
from memtape.schemas.log import Log, forwards
from memtape.schemas.retrievers import ORDINARY, Ranks, Recipe, recipe_of
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of
from memtape.state.ranking.baselines import PlainBm25, PlainCosine, reciprocal_rank_fusion
from memtape.state.ranking.evaluation import OVERLAP_CUTS, mean, overlap, percentile, recall
from memtape.state.views.filters import NO_FILTERS, passes
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.ask.results import embedded_text
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.keep.log_settings import states_on

MOST = 50
CUTS = (5, 10, 25, 50)
MARGINAL_CUT = "10"
SHOWN = ("shadow", "deprecated")
LESS = {lane: Recipe(ORDINARY, (lane,)).name for lane in LANES}
"""The name of the ordinary retriever without each lane."""
OnPhase = Callable[[str, int, int], None]
Ask = Callable[[SearchQuery], Sequence[str]]


def asks_of(
    views: Retriever, scope: str, names: Iterable[str], filters: Filters = NO_FILTERS, by: Retriever | None = None
) -> dict[str, Ask]:
    """Return the named retrievers of a scope; each takes a question with the filters.

    `by` has the texts and vectors of the plain retrievers, by default `views`. A name is `bm25`, `dense` (cosine
    alone), `rrf` (the reciprocal ranks of both), or that of an ordinary search, whole or without lanes
    (`schemas.retrievers`). Raises `MemtapeError` where a retriever needs vectors and none exist.
    """
    recipes = {name: recipe_of(name) for name in names}
    ranks = {recipe.ranks for recipe in recipes.values()} - {ORDINARY}
    plain = _plain_ranks(by or views, scope, filters, needs_vectors=bool(ranks - {"bm25"})) if ranks else {}

    def ask_of(recipe: Recipe) -> Ask:
        if recipe.ranks in plain:
            return lambda asked: plain[recipe.ranks](asked.query)[: asked.limit]
        return lambda asked: [it.id for it in views.answer(scope, asked._replace(lanes=recipe.lanes)).results]

    return {name: ask_of(recipe) for name, recipe in recipes.items()}


def _plain_ranks(
    views: Retriever, scope: str, filters: Filters, *, needs_vectors: bool
) -> dict[Ranks, Callable[[str], list[str]]]:
    """Return the plain rankings of the filtered texts of a scope, each from a question to ids."""
    documents, vectors, of_query = views.plain(scope)
    if vectors is None and needs_vectors and documents:
        raise MemtapeError("There are no vectors to compare with.", "Leave out the retrievers dense and rrf.")
    places = [place for place, document in enumerate(documents) if passes(document, filters)]
    bm25 = PlainBm25([embedded_text(documents[place]) for place in places])
    cosine = PlainCosine(vectors[places]) if vectors is not None else None

    def by_words(query: str) -> list[int]:
        return bm25.rank(query, MOST)

    def by_vectors(query: str) -> list[int]:
        return cosine.rank(of_query(query), MOST) if cosine is not None else []

    def by_both(query: str) -> list[int]:
        return reciprocal_rank_fusion([by_words(query), by_vectors(query)], MOST)

    def named(rank: Callable[[str], list[int]]) -> Callable[[str], list[str]]:
        return lambda query: [documents[places[number]].id for number in rank(query)]

    return {"bm25": named(by_words), "dense": named(by_vectors), "rrf": named(by_both)}


class Replayed(NamedTuple):
    """A search of the log, its session, and the results that the session used (empty without feedback)."""

    body: Recalled
    session: str | None
    used: tuple[str, ...]


class Pair(NamedTuple):
    """The results of a search and of another retriever, and the wanted results (empty without feedback)."""

    returned: tuple[str, ...]
    found: tuple[str, ...]
    wanted: tuple[str, ...]
    took_ms: float


def compare(
    retriever: Retriever, log: Log, scope: str, names: Sequence[str], most: int, on_phase: OnPhase
) -> dict[str, Any]:
    """Ask every retriever the latest `most` recorded searches of a scope; without names, all usable ones.

    Recall is that of the used results, over the searches with known uses, else of the returned results. A
    lane's marginal recall is the loss of the ordinary search at 10 without it. Raises `MemtapeError` without
    a recorded search.
    """
    # Only a first page without quotas has the best results.
    wanted = (it for it in recalls_of(log, scope) if it.body.results and not it.body.after and not it.body.quotas)
    recalls = list(wanted)[-most:]
    if not recalls:
        raise MemtapeError(f"Nothing in {scope} was asked and found yet.", "`memtape search` puts searches on the log.")
    by_use = any(asked.used for asked in recalls)
    if not names:
        names = ["bm25", *(("dense", "rrf") if retriever.plain(scope).vectors is not None else ()), ORDINARY]
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
        on_phase("asking again", number, len(recalls))
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
        pair = Pair(asked.results, event.body.results, tuple(used.get(event.refs[0], ())), told.took_us / 1_000)
        answers.setdefault(told.retriever, {}).setdefault(event.id, None if told.failed else pair)
    if not answers:
        raise MemtapeError(
            f"No shadow has answered a search of {scope} yet.",
            "`memtape admin retriever set NAME shadow` has one answer beside, during `memtape run` or with --once.",
        )
    shadows = {name: {"state": states.retrievers[name], **_beside(its.values())} for name, its in answers.items()}
    return {"searches": len(searches), "percent": states.shadow_percent, "shadows": dict(sorted(shadows.items()))}


def recalls_of(log: Log, scope: str) -> Iterator[Replayed]:
    """Yield a scope's searches and prompts in the order of the log, erased ones left out; a start asks nothing."""
    events = list(events_of(log, scope))
    used = uses_by_recall(events)
    for event in events:
        body = event.body
        if isinstance(body, Recalled) and unasked_by(body.lanes) != "start" and shadow_of(body.lanes) is None:
            yield Replayed(body, event.session, tuple(used.get(event.id, ())))


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
    """Yield the recalls and uses of a scope in the order of the log, those of shadows too and erased ones left out."""
    partition = partition_of(scope, log.partitions)
    erasures = erasures_of(log.erased(partition))
    for slot in forwards(log, partition, 0, scope, ("recalled", "used")):
        event = event_of(slot.payload)
        if event is not None and event.body is not None and not erasures.covers(event):
            yield event


def _measures(pairs: Sequence[Pair], cuts: Sequence[int]) -> dict[str, Any]:
    """Return the overlap of all pairs, the recall of the wanted results that are known, and the latency."""
    took = [pair.took_ms for pair in pairs]
    return {
        "overlap": {str(cut): mean([overlap(it.returned, it.found, cut) for it in pairs]) for cut in OVERLAP_CUTS},
        "recall": {str(cut): mean([recall(it.wanted, it.found[:cut]) for it in pairs if it.wanted]) for cut in cuts},
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
