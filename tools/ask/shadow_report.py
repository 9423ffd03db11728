"""The results of shadow retrievers beside the answers given, measured by later uses.

Everything is read from the log and the views. No question is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from memtape.flows.workers.shadow import is_search
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Event, Recalled, Used
from memtape.schemas.lanes import FAILURES, ShadowLanes, shadow_of
from memtape.schemas.log import Log
from memtape.schemas.retrievers import ORDINARY
from memtape.schemas.rows import UseRow
from memtape.schemas.scopes import scopes_read
from memtape.state.ranking.evaluation import OVERLAP_CUTS, mean, overlap, percentile, recall
from memtape.state.ranking.shadowing import judged
from memtape.state.subjects.edges import WINDOW_US
from memtape.state.subjects.usage import other_row_id
from memtape.tools.ask.comparing import events_of, uses_by_recall
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.given import answers_of, first_line
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.keep.retriever_states import states_on

CUT = 10
EXAMPLES = 5
SHOWN = ("shadow", "deprecated")


class _Pair(NamedTuple):
    """A search, a shadow's answer, and the found and used memories, by their current names."""

    asked: Event
    told: ShadowLanes
    active: tuple[str, ...]
    shadow: tuple[str, ...]
    used: tuple[str, ...]


class _Names:
    """The visible texts of a scope and `global`: the current ids of folded texts, and uses."""

    def __init__(self, views: Retriever, scope: str) -> None:
        self._found: list[ScopeTexts] = [views.found(name)[0] for name in scopes_read(scope)]
        own = self._found[0]
        self.own = own
        self._uses = {row.id: row for row in own.opened.rows("uses") if isinstance(row, UseRow)}

    def named(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Return current ids, each once; a text no longer shown keeps its own."""
        return tuple(dict.fromkeys(map(self._name, ids)))

    def line(self, id: str) -> str | None:
        """Return the first line of a text, None for a hidden text."""
        for found in self._found:
            if (place := found.texts.called(id)) is not None:
                return first_line(found.text(place))
        return None

    def was_used_at(self, id: str, at: int) -> bool:
        """Whether a text was used in the scope at a time."""
        rows = (self._uses.get(row) for row in (id, other_row_id(id)))
        return any(row is not None and at in row.times for row in rows)

    def _name(self, id: str) -> str:
        for found in self._found:
            if (place := found.texts.called(id)) is not None:
                return found.result(place).id
        return id


def compare_shadows(views: Retriever, log: Log, scope: str, since: int | None) -> dict[str, Any]:
    """Return, for each shadow, its results' difference from the returned ones, and each side's used results.

    `since` is in microseconds. Used are the ids of a `used` event of a search, and, of the results of either
    side, the ids that the session uses within 30 minutes or carries in its next turn. Recall, wins and losses
    are over searches with any use. Raises `MemtapeError` where no shadow has answered.
    """
    states, names = states_on(log), _Names(views, scope)
    events = list(events_of(log, scope))
    searches = {event.id: event for event in events if is_search(event) and (since is None or event.at >= since)}
    pairs = _pairs(events, searches, names)
    pairs = {name: its for name, its in sorted(pairs.items()) if states.retrievers.get(name) in SHOWN}
    if not pairs:
        raise MemtapeError(
            f"No shadow has answered a search of {scope} yet.",
            "`memtape retriever set NAME shadow` has one answer beside, while `memtape run` goes on or with --once.",
        )
    return {
        "searches": len(searches),
        "asked": len({pair.asked.id: None for its in pairs.values() for pair in its}),
        "percent": states.shadow_percent,
        "shadows": {name: {"state": states.retrievers[name], **_measures(its, names)} for name, its in pairs.items()},
    }


def charted(told: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values of a recall chart: each shadow beside the active retriever on the same searches."""
    bars: dict[str, dict[str, Any]] = {}
    for name, its in told["shadows"].items():
        beside = ORDINARY if len(told["shadows"]) == 1 else f"{ORDINARY}, asked beside {name}"
        bars |= {beside: {"turn": its["recall"]["active"]}, name: {"turn": its["recall"]["shadow"]}}
    return bars


def _pairs(events: Sequence[Event], searches: Mapping[str, Event], names: _Names) -> dict[str, list[_Pair]]:
    """Return by retriever its first answer to each search, paired with the answer of the active retriever."""
    pairs: dict[str, list[_Pair]] = {}
    by_recall, by_session = uses_by_recall(events), _uses_by_session(events)
    seen: dict[str, None] = {}
    for event in events:
        told = shadow_of(event.body.lanes) if isinstance(event.body, Recalled) else None
        asked = searches.get(event.refs[0]) if told is not None and event.refs else None
        if told is None or asked is None or event.id in seen:
            continue
        seen[event.id] = None
        assert isinstance(asked.body, Recalled) and isinstance(event.body, Recalled)
        active, shadow = names.named(asked.body.results), names.named(event.body.results)
        later = _used_later(asked, by_session.get(asked.session, ()), (*active, *shadow), names)
        used = names.named((*by_recall.get(asked.id, ()), *later))
        pairs.setdefault(told.retriever, []).append(_Pair(asked, told, active, shadow, used))
    return pairs


def _uses_by_session(events: Iterable[Event]) -> dict[str | None, list[tuple[int, tuple[str, ...]]]]:
    """Return by session the times of its uses, with the used ids."""
    uses: dict[str | None, list[tuple[int, tuple[str, ...]]]] = {}
    for event in events:
        if isinstance(event.body, Used) and event.session is not None:
            uses.setdefault(event.session, []).append((event.at, event.body.ids))
    return uses


def _used_later(
    asked: Event, uses: Iterable[tuple[int, tuple[str, ...]]], found: Iterable[str], names: _Names
) -> list[str]:
    """Return the found ids that the session used within the window after a search, naming no search."""
    later = set(names.named(id for at, ids in uses if 0 <= at - asked.at <= WINDOW_US for id in ids))
    answered = answers_of(names.own, asked.session, asked.at)
    return [id for id in found if id in later or any(names.was_used_at(id, at) for at in answered)]


def _measures(pairs: Sequence[_Pair], names: _Names) -> dict[str, Any]:
    answered = [pair for pair in pairs if not pair.told.failure]
    used = [pair for pair in answered if pair.used]
    wins, losses = _decided(used, names)
    took = [pair.told.took_us / 1_000 for pair in answered]
    return {
        "answers": len(answered),
        "failed": {name: sum(pair.told.failure == name for pair in pairs) for name in FAILURES if name},
        "judged": len(used),
        "overlap": {
            str(cut): mean([overlap(pair.active, pair.shadow, cut) for pair in answered]) for cut in OVERLAP_CUTS
        },
        "recall": {
            "active": {str(cut): mean([recall(it.used, it.active[:cut]) for it in used]) for cut in OVERLAP_CUTS},
            "shadow": {str(cut): mean([recall(it.used, it.shadow[:cut]) for it in used]) for cut in OVERLAP_CUTS},
        },
        "wins": len(wins),
        "losses": len(losses),
        "latency_ms": {f"p{percent}": round(percentile(took, percent), 3) for percent in (50, 95)},
        "examples": {"wins": wins[-EXAMPLES:], "losses": losses[-EXAMPLES:]},
    }


def _decided(pairs: Sequence[_Pair], names: _Names) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the used memories found by the shadow alone, and those found by the active retriever alone."""
    wins, losses = list[dict[str, Any]](), list[dict[str, Any]]()
    for pair in pairs:
        won, lost = judged(pair.used, pair.active, pair.shadow, CUT)
        wins += [_example(pair, id, names) for id in won]
        losses += [_example(pair, id, names) for id in lost]
    return wins, losses


def _example(pair: _Pair, id: str, names: _Names) -> dict[str, Any]:
    """Return a search and a memory with its places, from 1, in both answers; None where it does not stand."""
    assert isinstance(pair.asked.body, Recalled)
    places = {
        who: found.index(id) + 1 if id in found else None
        for who, found in (("active", pair.active), ("shadow", pair.shadow))
    }
    asked = pair.asked
    return {"query": pair.asked.body.query, "recall_id": asked.id, "at": asked.at, "id": id, "line": names.line(id)} | {
        "places": places
    }
