"""Corrections by people that an erasure would take along, since their words came from the erased text.

A correction goes with the text unless a person keeps it: then it is captured again as the person's statement,
and refers to the person's own sentence alone. `erasing` plans the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.events import PEOPLE, STATED_TAG, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.state.core.scope import Scope
from memtape.state.subjects.validity import successor
from memtape.tools.capture.writing import now_us

CORRECTION_TAGS = (STATED_TAG, "correction")


class ErasedCorrection(NamedTuple):
    """A person's correction: the erased capture at its offset, and the sentence `said` that it came from."""

    id: str
    offset: int
    said: str
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
            found.append(ErasedCorrection(id, capture.offset, event.refs[0], body.text))
    return found


def kept_anew(log: Log, scope: str, correction: ErasedCorrection) -> Event:
    """Return the capture that keeps a correction: same words and person, from the person's sentence alone.

    Its id follows from the erased capture: a repeated erasure keeps the correction once.
    """
    event = _event(log, scope, correction.offset)
    id = derived_id("captured", event.scope, "memtape", f"kept:{event.id}")
    return msgspec.structs.replace(event, id=id, refs=event.refs[:1], sent=max(now_us(), event.sent))


def _event(log: Log, scope: str, offset: int) -> Event:
    (slot,) = log.read(partition_of(scope, log.partitions), offset, 1)
    return decode(slot.payload)
