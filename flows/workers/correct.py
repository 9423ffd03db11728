"""Corrections in talk: a turn such as "no, it is 5434" becomes a whole statement, linked to the replaced one.

A correction applies to a memory returned by the session's last recall, or to the session's last turn. In
doubt nothing is made. All ids derive from the turn, and all texts from earlier events of the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memtape.flows.workers.turns import statement_event, statement_id
from memtape.schemas.codec import event_of
from memtape.schemas.events import PEOPLE, SPEAKING, STATED_TAG, Captured, Event, Linked, Recalled
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, Slot
from memtape.schemas.upcasts import version_of
from memtape.state.core.erasures import Erasures
from memtape.state.subjects.captures import FAMILIES
from memtape.state.text.own_words import sentences
from memtape.state.text.polarity import Corrected, Correction, corrected, correction_of, corrections_in
from memtape.state.text.statements import Statement, dated, statements

LOOKED_AT = 500
"""Captures and recalls of the scope read before a turn."""
LAST_TURNS = 4
"""Turns of the session after which a recall is no longer the topic."""


class CorrectionEvents(NamedTuple):
    """The events that record a correction, and the sentence of the turn that they replace."""

    events: tuple[Event, ...]
    sentence: str


class _CorrectedText(NamedTuple):
    """A corrected text, its event, and the captured id of the memory; None without a memory."""

    made: Corrected
    source: Event
    memory: str | None


def may_correct(event: Event) -> bool:
    """Return whether an event may be a correction: a person's capture in a session, no turn's statement."""
    body = event.body
    return (
        isinstance(body, Captured)
        and body.kind in ("turn", "fact")
        and event.actor.origin in PEOPLE
        and event.session is not None
        and body.tags[:1] != (STATED_TAG,)
    )


def resolved(
    log: Log, number: int, said: Event, erasures: Erasures, now_us: int, memo: dict[str, CorrectionEvents | None]
) -> CorrectionEvents | None:
    """Return the correction by an event of a partition; None in doubt.

    A correction may apply to the result of an earlier correction, and so on. The chain is resolved from its
    first, each once: `memo` has the results by id. No chain is longer than `LOOKED_AT`.
    """
    if _correction(said) is None:
        return None
    events = [*_session_before(log, number, said, erasures), said]
    for place in _chain(events, memo):
        memo[events[place].id] = _resolved(log, number, events[: place + 1], erasures, now_us, memo)
    return memo[said.id]


def _chain(events: Sequence[Event], memo: dict[str, CorrectionEvents | None]) -> list[int]:
    """Return the places of the corrections that the last of a session's events may depend on, and its own."""
    last = len(events) - 1
    found, first = [last], _reach(events[:last])
    for place in range(last - 1, -1, -1):
        if place < first:
            break
        if events[place].id not in memo and _correction(events[place]) is not None:
            found.append(place)
            first = min(first, _reach(events[:place]))
    return found[::-1]


def _reach(events: Sequence[Event]) -> int:
    """Return the place of the first of a session's events that is still talked about after them."""
    turns = [place for place, event in enumerate(events) if _is_spoken(event)]
    return 0 if len(turns) < LAST_TURNS else turns[-LAST_TURNS]


def _resolved(
    log: Log,
    number: int,
    events: Sequence[Event],
    erasures: Erasures,
    now_us: int,
    memo: dict[str, CorrectionEvents | None],
) -> CorrectionEvents | None:
    """Return the correction by the last of a session's events, resolved by the earlier ones."""
    *before, said = events
    correction = _correction(said)
    assert isinstance(said.body, Captured) and correction is not None
    shown, last = _before(log, number, before, erasures, memo)
    one = _shown_that_is_meant(shown, last, correction) or _said_that_is_meant(shown, last, correction)
    if one is None:
        return None
    text = dated(one.made.text, said.at)
    place = len(statements(said.body.text, said.at, of_agent=False))
    statement = statement_event(said, place, Statement(text, "correction", 0, 0), now_us, refs=(said.id, one.source.id))
    # A capture that only corrects says nothing by itself.
    replaced = [one.memory] if said.body.kind == "turn" else [one.memory, said.id]
    links = [_linked(said, id, statement.id, one.source.id, now_us) for id in replaced if id is not None]
    return CorrectionEvents((statement, *links), corrections_in(said.body.text)[0])


def _correction(event: Event) -> Correction | None:
    """Return the correction that an event states; None if the event states none or several."""
    found = corrections_in(_text(event)) if may_correct(event) else ()
    return correction_of(found[0]) if len(found) == 1 else None


def _session_before(log: Log, number: int, said: Event, erasures: Erasures) -> list[Event]:
    """Return the captures and recalls before an event in its session, among the last of its scope."""
    offset = log.known(said.scope or "", [said.id]).get(said.id, 0)
    slots: list[Slot] = []
    start, window = offset, LOOKED_AT
    while start and len(slots) < LOOKED_AT:
        first = max(0, start - window)
        read = log.read(number, first, start - first, scope=said.scope, types=("captured", "recalled"))
        slots = [slot for slot in read if slot.offset < start] + slots
        start, window = first, 4 * window
    events = (event_of(slot.payload) for slot in slots[-LOOKED_AT:])
    of_session = (event for event in events if event is not None and event.session == said.session)
    return [event for event in of_session if event.id != said.id and not erasures.covers(event)]


def _before(
    log: Log, number: int, events: Sequence[Event], erasures: Erasures, memo: dict[str, CorrectionEvents | None]
) -> tuple[tuple[Event, ...], Event | None]:
    """Return the memories shown and the last spoken event before the end of `events`.

    The memory made by the session's last correction replaces the memory corrected there, so that a correction
    can be taken back.
    """
    near = events[_reach(events) :]
    recalls = [event for event in near if isinstance(event.body, Recalled)]
    shown: tuple[Event, ...] = ()
    if recalls and isinstance(recalls[-1].body, Recalled):
        shown = _captured(log, number, recalls[-1].scope or "", recalls[-1].body.results, erasures)
    resolved_near = (memo.get(event.id) for event in reversed(near))
    last = next((it for it in resolved_near if it is not None), None)
    if last is not None:
        made = last.events[0]
        shown = (made, *(event for event in shown if event.id not in made.refs))
    return shown, next(filter(_is_spoken, reversed(events)), None)


def _captured(log: Log, number: int, scope: str, ids: Sequence[str], erasures: Erasures) -> tuple[Event, ...]:
    """Return the memories of a scope among the results of a recall."""
    places = log.known(scope, ids)
    found = []
    for id in ids:
        slots = log.read(number, places[id], 1) if id in places else []
        event = event_of(slots[0].payload) if slots else None
        if event is not None and isinstance(event.body, Captured) and event.body.kind in FAMILIES:
            found += [] if erasures.covers(event) else [event]
    return tuple(found)


def _is_spoken(event: Event) -> bool:
    return isinstance(event.body, Captured) and event.body.kind == "turn" and event.actor.origin in SPEAKING


def _text(event: Event | None) -> str:
    return event.body.text if event is not None and isinstance(event.body, Captured) else ""


def _shown_that_is_meant(shown: Sequence[Event], last: Event | None, correction: Correction) -> _CorrectedText | None:
    """Return the shown memory whose value the correction changes; of several, the one spoken of last."""
    near = _text(last)
    made = ((event, corrected(_text(event), correction, near)) for event in shown)
    found = [_CorrectedText(its, event, event.id) for event, its in made if its is not None]
    if len({it.made.text for it in found}) > 1:
        spoken = f" {' '.join(near.split())} "
        found = [it for it in found if it.made.older in spoken]
    return found[0] if len({it.made.text for it in found}) == 1 else None


def _said_that_is_meant(shown: Sequence[Event], last: Event | None, correction: Correction) -> _CorrectedText | None:
    """Return the only sentence of the last turn with the corrected value, and its captured statement."""
    text = _text(last)
    if last is None or any(corrected(_text(it), correction, "") for it in shown):
        return None
    found = [(said, its) for said in sentences(text) if (its := corrected(said, correction, "")) is not None]
    if len({its.text for _, its in found}) != 1:
        return None
    said, made = found[0]
    taken = statements(text, last.at, of_agent=last.actor.origin == "agent")
    place = next((place for place, it in enumerate(taken) if said.rstrip(" .!") in text[it.start : it.end]), None)
    return _CorrectedText(made, last, None if place is None else statement_id(last.scope, last.id, place))


def _linked(said: Event, id: str, to: str, source: str, now_us: int) -> Event:
    """Return the `linked` event, by the corrector, that a statement replaced a memory."""
    return Event(
        actor=said.actor,
        at=said.at,
        body=Linked(id=id, on=True, relation="replaced_by", slug=None, to=to),
        id=derived_id("linked", said.scope, "memtape", f"corrected:{said.id}:{id}"),
        refs=(said.id, source),
        scope=said.scope,
        sent=max(now_us, said.sent),
        session=said.session,
        type="linked",
        v=version_of("linked"),
    )
