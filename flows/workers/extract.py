"""The worker that captures statements: log -> turns -> statements by rule -> `captured`, at least once.

Ids of appended events derive from the turns, so that two workers, or a killed and restarted worker, add
nothing twice. A statement refers to its turn, is erased with the turn, and has the turn's actor.
`state/text/statements.py` decides which sentences are statements.

A correction in talk, such as "no, it is 5434", becomes a whole statement, linked to the replaced one. It
applies to a memory returned by the session's last recall, to the session's last turn, or to a turn of the
speaker shortly before. In doubt nothing is made. All texts derive from earlier events of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from memtape.flows.workers.turns import (
    PAGE_SLOTS,
    captures_among,
    event_beside,
    hidden_from,
    is_turn,
    statement_event,
    statement_id,
    text_of,
)
from memtape.flows.workers.worker import OffsetStore, Worker
from memtape.schemas.codec import event_of
from memtape.schemas.events import PEOPLE, STATED_TAG, Actor, Captured, Event, Linked, Recalled
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, backwards
from memtape.schemas.metrics import tell_progress
from memtape.state.core.erasures import Erasures, erasures_of
from memtape.state.subjects.captures import FAMILIES
from memtape.state.text.polarity import Corrected, Correction, corrected, typed_correction
from memtape.state.text.reading import read
from memtape.state.text.statements import Statement, dated, statements

_NAME = "statements"
LOOKED_AT = 500  # Captures and recalls of the scope read before a turn.
LAST_TURNS = 4  # Turns of the session after which a recall is no longer the topic.


@dataclass(eq=False)
class Extraction(Worker):
    """Captures the statements of the turns on a log. `is_wanted` says whether that is wanted at all."""

    doing = "finding statements"
    failure = "What turns state could not be captured"

    marks: OffsetStore
    now_us: Callable[[], int]
    is_wanted: Callable[[], bool]
    offsets: list[int] = field(default_factory=list)

    def due(self) -> Iterator[list[Event]]:
        """Read the new turns of the log, and yield their statements."""
        if not self.is_wanted():
            return
        offsets = self.offsets = self.offsets or self.marks.read(_NAME) or [0] * self.log.partitions
        ends = self.log.ends()
        if offsets == ends:
            return
        try:
            for number, end in enumerate(ends):
                hidden = hidden_from(self.log, number, offsets[number]) if offsets[number] < end else {}
                while offsets[number] < end:
                    slots = self.log.read(number, offsets[number], PAGE_SLOTS, types=("captured",))
                    found = ((slot.offset, event_of(slot.payload)) for slot in slots)
                    events = [(offset, event) for offset, event in found if event is not None]
                    yield from self._made(number, events, hidden)
                    offsets[number] = slots[-1].offset + 1 if len(slots) == PAGE_SLOTS else end
                    tell_progress(self.doing, sum(offsets), sum(ends))
                    if slots and offsets != ends and self.is_over():
                        return
        finally:
            self.marks.write(_NAME, offsets)

    def _made(
        self, number: int, events: Sequence[tuple[int, Event]], hidden: dict[str, None]
    ) -> Iterator[list[Event]]:
        """Yield statements and corrections of a partition's turns, and corrections of people's captures."""
        now, made = self.now_us(), list[Event]()
        erasures = erasures_of(self.log.erased(number))
        said = captures_among(self.log, number, events, erasures, lambda it: is_turn(it) or may_correct(it))
        for one in (event for _, event in said if event.id not in hidden):
            reading, by_agent = read(text_of(one)), one.actor.origin == "agent"
            correction, right, wrong = _correction(one), list[Event](), ""
            if correction is not None:
                yield made  # A correction may apply to the text of an earlier correction.
                made, wrong = [], correction.sentence
                right = resolved(self.log, number, one, correction, erasures, now)
            if is_turn(one):
                for place, it in enumerate(statements(reading, one.at, of_agent=by_agent)):
                    # The sentence that a corrected text replaces is left out.
                    if not (right and wrong in reading.text[it.start : it.end + 1]):
                        made.append(statement_event(one, place, it, now))
            made += right
        yield made


class _Resolved(NamedTuple):
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
    log: Log, number: int, said: Event, correction: Correction, erasures: Erasures, now_us: int
) -> list[Event]:
    """Return the events that record the correction by an event of a partition; none in doubt.

    A correction may apply to the result of an earlier one, whose events must be on the log.
    """
    shown, turns = _before(log, number, said, erasures)
    one = _shown_one(shown, turns, correction) or _said_one(shown, turns, said.actor, correction)
    if one is None:
        return []
    statement = Statement(dated(one.made.text, said.at), "correction", 0, 0)
    made = statement_event(said, _place(said), statement, now_us, refs=(said.id, one.source.id))
    events = [made]
    # A capture that only corrects says nothing by itself.
    for id in filter(None, [one.memory] if is_turn(said) else [one.memory, said.id]):
        body = Linked(id=id, on=True, relation="replaced_by", slug=None, to=made.id)
        link = derived_id("linked", said.scope, "memtape", f"corrected:{said.id}:{id}")
        events.append(event_beside(said, "linked", link, body, (said.id, one.source.id), now_us))
    return events


def _place(said: Event) -> int:
    """Return the place of a corrected text, behind the statements of the correcting event."""
    return len(statements(read(text_of(said)), said.at, of_agent=False))


def _correction(event: Event) -> Correction | None:
    """Return the correction that an event may state."""
    return typed_correction(read(text_of(event))) if may_correct(event) else None


def _before(log: Log, number: int, said: Event, erasures: Erasures) -> tuple[tuple[Event, ...], list[Event]]:
    """Return the memories shown and the latest turns of a session, as long as they are the topic.

    The captures and recalls before an event in its session are read, among the last of its scope. The memory
    made by the session's last correction replaces the memory corrected there, so that a correction can be
    taken back.
    """
    offset = log.known(said.scope or "", [said.id]).get(said.id, 0)
    latest = backwards(log, number, said.scope, ("captured", "recalled"), offset)
    events = [event for slot in islice(latest, LOOKED_AT) if (event := event_of(slot.payload)) is not None]
    events = [it for it in reversed(events) if it.session == said.session and it.id != said.id]
    events = [event for event in events if not erasures.covers(event)]
    turns = [place for place, event in enumerate(events) if is_turn(event)][-LAST_TURNS:]
    near = events[turns[0] if len(turns) == LAST_TURNS else 0 :]
    recall = next((event for event in reversed(near) if isinstance(event.body, Recalled)), None)
    shown: tuple[Event, ...] = ()
    if recall is not None and isinstance(recall.body, Recalled):
        shown = _captured(log, number, recall.scope or "", recall.body.results, erasures)
    for event in reversed(near):
        if _correction(event) is not None:
            id = statement_id(event.scope, event.id, _place(event))
            if made := _captured(log, number, event.scope or "", [id], erasures):
                shown = (*made, *(it for it in shown if it.id not in made[0].refs))
                break
    return shown, [events[place] for place in reversed(turns)]


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


def _shown_one(shown: Sequence[Event], turns: Sequence[Event], correction: Correction) -> _Resolved | None:
    """Return the shown memory whose value the correction changes; of several, the one spoken of last."""
    near = text_of(turns[0]) if turns else ""
    made = ((event, corrected(read(text_of(event)), correction, near)) for event in shown)
    found = [_Resolved(its, event, event.id) for event, its in made if its is not None]
    if len({it.made.text for it in found}) > 1:
        spoken = f" {' '.join(near.split())} "
        found = [it for it in found if it.made.older in spoken]
    return found[0] if len({it.made.text for it in found}) == 1 else None


def _said_one(
    shown: Sequence[Event], turns: Sequence[Event], speaker: Actor, correction: Correction
) -> _Resolved | None:
    """Return the sentence that a correction changes: the speaker's, unless the last turn says another.

    Without the wrong value only the speaker's latest turn may be meant, or the last turn of all.
    """
    if not turns or any(corrected(read(text_of(it)), correction, "") for it in shown):
        return None
    own = [turn for turn in turns if turn.actor == speaker][: None if correction.instead_of else 1]
    told = next(filter(None, (_said_in(turn, correction) for turn in own)), None)
    last = _said_in(turns[0], correction)
    return last if told is None or (last is not None and not _repeats(last, told)) else told


def _repeats(last: _Resolved, told: _Resolved) -> bool:
    """Return whether a turn has half of the terms of a corrected sentence: then it tells the same again."""
    terms, its = read(told.made.text).terms(), read(text_of(last.source)).terms()
    return 2 * sum(term in its for term in terms) >= len(terms)


def _said_in(turn: Event, correction: Correction) -> _Resolved | None:
    """Return the only sentence of a turn with the corrected value, and its captured statement."""
    text = text_of(turn)
    tried = ((said, corrected(read(said), correction, "")) for said in read(text).said)
    found = [(said, its) for said, its in tried if its is not None]
    if len({its.text for _, its in found}) != 1:
        return None
    said, made = found[0]
    taken = statements(read(text), turn.at, of_agent=turn.actor.origin == "agent")
    words = said.rstrip(" .!")
    place = next((place for place, it in enumerate(taken) if words in text[it.start : it.end]), None)
    return _Resolved(made, turn, None if place is None else statement_id(turn.scope, turn.id, place))
