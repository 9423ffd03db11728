"""Asks several retrievers a scope's past queries, and compares their results with those returned and used.

Queries come from the log. They are asked of the current views, each at its own time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.codec import event_of
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event, Filters, Recalled, Used
from memtape.schemas.lanes import LANES, Lane, shadow_of, unasked_by
from memtape.schemas.log import Log, forwards
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of
from memtape.state.ranking.evaluation import OVERLAP_CUTS, mean, overlap, percentile, recall
from memtape.state.views.filters import passes
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.ask.retrievers import MOST, Ask, rivals, without

CUTS = (5, 10, 25, 50)
MARGINAL_CUT = 10
OnPhase = Callable[[str, int, int], None]


class Replayed(NamedTuple):
    """A search of the log: query, filters, results, and the results that a session used (empty without
    feedback).

    `is_whole` means the first page without quotas: the best results.
    """

    query: str
    filters: Filters
    returned: tuple[str, ...]
    used: tuple[str, ...]
    now: int
    session: str | None = None
    is_whole: bool = True


def compare(
    retriever: Retriever, log: Log, scope: str, names: Sequence[str], most: int, on_phase: OnPhase
) -> dict[str, Any]:
    """Ask every retriever the latest `most` recorded searches of a scope; without names, all usable ones.

    Recall is that of the used results, over the searches with known uses, else of the returned results. A
    lane's marginal recall is the loss of the ordinary search at 10 without it. Raises `MemtapeError` without
    a recorded search.
    """
    recalls = [asked for asked in recalls_of(log, scope) if asked.returned and asked.is_whole][-most:]
    if not recalls:
        raise MemtapeError(f"Nothing in {scope} was asked and found yet.", "`memtape search` puts searches on the log.")
    by_use = any(asked.used for asked in recalls)
    has_vectors = retriever.plain(scope).vectors is not None
    names = list(dict.fromkeys(names)) or ["bm25", *(("dense", "rrf") if has_vectors else ()), "memtape"]
    measured = [*dict.fromkeys((*names, "memtape")), *(without(lane) for lane in LANES)]
    makers: dict[Filters, dict[str, Ask]] = {}
    found: dict[str, list[tuple[str, ...]]] = {name: [] for name in measured}
    took: dict[str, list[float]] = {name: [] for name in measured}

    def now_asked() -> Replayed:
        return asked

    for number, asked in enumerate(recalls, start=1):
        if asked.filters not in makers:
            makers[asked.filters] = _made(retriever, scope, asked.filters, measured, now_asked)
        for name, ask in makers[asked.filters].items():
            start = time.perf_counter()
            found[name].append(tuple(ask(asked.query)))
            took[name].append((time.perf_counter() - start) * 1_000)
        on_phase("asking again", number, len(recalls))
    told = {name: _measures(recalls, found[name], took[name], by_use) for name in measured}
    whole = told["memtape"]["recall"][str(MARGINAL_CUT)]
    marginal = {lane: round(whole - told[without(lane)]["recall"][str(MARGINAL_CUT)], 4) for lane in LANES}
    return {
        "recalls": len(recalls),
        "truth": "used" if by_use else "returned",
        "judged": sum(bool(asked.used) for asked in recalls) if by_use else len(recalls),
        "views": "present",
        "retrievers": {name: told[name] for name in names},
        "marginal": marginal,
    }


def recalls_of(log: Log, scope: str) -> Iterator[Replayed]:
    """Yield a scope's searches and prompts in the order of the log, erased ones left out; a start asks nothing."""
    events = list(events_of(log, scope))
    used = uses_by_recall(events)
    for event in events:
        if isinstance(event.body, Recalled) and unasked_by(event.body.lanes) != "start":
            if shadow_of(event.body.lanes) is not None:
                continue
            body = event.body
            yield Replayed(
                body.query,
                body.filters,
                body.results,
                tuple(used.get(event.id, ())),
                body.now,
                event.session,
                not body.after and not body.quotas,
            )


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


def _made(
    retriever: Retriever, scope: str, filters: Filters, names: Sequence[str], asked: Callable[[], Replayed]
) -> dict[str, Ask]:
    """Return the retrievers over the texts left by a search's filters; `asked` gives the replayed search.

    Its results are judged as at its time.
    """

    def search(left_out: Sequence[Lane]) -> Ask:
        lanes = [lane for lane in LANES if lane not in left_out]

        # Every retriever is asked for the same texts, those that say the same included.
        def ask(query: str) -> list[str]:
            then = asked()
            about = SearchQuery(query, filters, lanes, repeats=True, session=then.session, limit=MOST, now=then.now)
            answer = retriever.answer(scope, about)
            return [result.id for result in answer.results]

        return ask

    return asks_of(retriever, scope, filters, names, search)


def asks_of(
    retriever: Retriever, scope: str, filters: Filters, names: Sequence[str], search: Callable[[Sequence[Lane]], Ask]
) -> dict[str, Ask]:
    """Return the named retrievers over the filtered texts; `search` makes the ordinary one.

    Raises `MemtapeError` where a retriever needs vectors and none exist.
    """
    plain = retriever.plain(scope)
    if plain.vectors is None and {"dense", "rrf"}.intersection(names):
        raise MemtapeError("There are no vectors to compare with.", "Leave out the retrievers dense and rrf.")
    places = [place for place, document in enumerate(plain.documents) if passes(document, filters)]
    vectors = None if plain.vectors is None else plain.vectors[places]

    def of_query(query: str) -> NDArray[np.int16] | None:
        return plain.of_query(retriever.encoded(scope, query))

    return dict(rivals([plain.documents[place] for place in places], vectors, of_query, names, search))


def _measures(
    recalls: Sequence[Replayed], found: Sequence[tuple[str, ...]], took: Sequence[float], by_use: bool
) -> dict[str, Any]:
    pairs = list(zip(recalls, found, strict=True))
    judged = [(asked.used if by_use else asked.returned, its) for asked, its in pairs if asked.used or not by_use]
    return {
        "overlap": {
            str(cut): mean([overlap(asked.returned, its, cut) for asked, its in pairs]) for cut in OVERLAP_CUTS
        },
        "recall": {str(cut): mean([recall(wanted, its[:cut]) for wanted, its in judged]) for cut in CUTS},
        "latency_ms": {f"p{percent}": round(percentile(took, percent), 3) for percent in (50, 95)},
    }
