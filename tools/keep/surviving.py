"""Corrections by people that an erasure would take along, since their words came from the erased text.

A correction goes with the text unless a person keeps it: then it is captured again as the person's statement,
and refers to the person's own sentence alone. `erasing` plans the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.events import PEOPLE, STATED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, events_between
from memtape.schemas.scopes import partition_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.validity import successor
from memtape.state.text.polarity import corrected, correction_of, corrections_in
from memtape.state.text.traces import all_words
from memtape.tools.capture.writing import now_us

CORRECTION_TAGS = (STATED_TAG, "correction")


class ErasedCorrection(NamedTuple):
    """A person's correction: the erased capture at its offset, the sentence `said` that it came from, and the value
    it replaced (empty if unknown).
    """

    id: str
    offset: int
    said: str
    text: str
    older: str


class SurvivingText(NamedTuple):
    """A remaining text with a replaced value: its id, kind and words."""

    id: str
    kind: str
    text: str


def corrections_among(log: Log, scope: Scope, gone: Iterable[str], asked: Iterable[str]) -> list[ErasedCorrection]:
    """Return the valid corrections by people among the erased ids, without the ids asked for themselves.

    A correction goes with an erased sentence of the person.
    """
    left, known = dict.fromkeys(gone), dict.fromkeys(asked)
    found = []
    for id in left:
        capture = scope.captures.get(id)
        if capture is None or id in known or capture.hidden or capture.kind != "fact":
            continue
        if capture.actor.origin not in PEOPLE:
            continue
        body = scope.captures.body(capture)
        memory = scope.memories.of(capture.seq)
        if body.tags[:2] != CORRECTION_TAGS or memory is None or successor(scope, memory) is not None:
            continue
        event = _event(log, scope.name, capture.offset)
        if event.refs and event.refs[0] not in left:
            older = _older(scope, event)
            found.append(ErasedCorrection(id, capture.offset, event.refs[0], body.text, older))
    return found


def kept_anew(log: Log, scope: str, correction: ErasedCorrection) -> Event:
    """Return the capture that keeps a correction: same words and person, from the person's sentence alone.

    Its id follows from the erased capture: a repeated erasure keeps the correction once.
    """
    event = _event(log, scope, correction.offset)
    id = derived_id("captured", event.scope, "memtape", f"kept:{event.id}")
    return msgspec.structs.replace(event, id=id, refs=event.refs[:1], sent=max(now_us(), event.sent))


def still_saying(
    log: Log, scope: str, corrections: Iterable[ErasedCorrection], gone: Iterable[str]
) -> list[SurvivingText]:
    """Return the remaining captures of a scope with a replaced value, in the order of the log.

    A correction marks them as long as the corrected text exists; after the erasure nothing does.
    """
    values = [words for it in corrections if (words := all_words(it.older))]
    left = dict.fromkeys(gone)
    found: dict[str, SurvivingText] = {}
    number = partition_of(scope, log.partitions)
    for _, event in events_between(log, number, 0, log.ends()[number], scope, ("captured",)) if values else ():
        if event.id in left or not isinstance(event.body, Captured):
            continue
        said = dict.fromkeys(all_words(event.body.text))
        if any(all(word in said for word in words) for words in values):
            found.setdefault(event.id, SurvivingText(event.id, event.body.kind, event.body.text))
    return list(found.values())


def _older(scope: Scope, event: Event) -> str:
    """Return the value replaced by a correction, from its sentence and its source texts."""
    assert isinstance(event.body, Captured)
    said, *sources = (
        scope.captures.body(capture).text for id in event.refs if (capture := scope.captures.get(id)) is not None
    )
    found = corrections_in(said)
    correction = correction_of(found[0]) if found else None
    made = (corrected(source, correction, "") for source in sources if correction is not None)
    return next((it.older for it in made if it is not None), "")


def _event(log: Log, scope: str, offset: int) -> Event:
    (slot,) = log.read(partition_of(scope, log.partitions), offset, 1)
    return decode(slot.payload)
