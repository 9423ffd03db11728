"""The talk of the last session: sentences that no rule took, and the facts that somebody makes of them.

Somebody who can read puts a fact in their own words. It is theirs, refers to its turn, and goes with that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import msgspec

from memtape.flows.workers.turns import captures_among, hidden_from, is_turn, text_of
from memtape.flows.workers.worker import append_new
from memtape.schemas.codec import event_of
from memtape.schemas.events import DISTILLED_TAG, PEOPLE, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Log, backwards
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of
from memtape.state.text.reading import read
from memtape.state.text.statements import untaken
from memtape.tools.capture.writing import Line, Writer

MOST_SENTENCES = 12
MOST_SLOTS = 500  # Captures of the scope that are looked at, the latest first.
MOST_CHARS = 300  # Of a fact.


class TalkSentence(NamedTuple):
    """A sentence of a person's turn, which may be worth a fact; `key` names the sentence."""

    turn: Event
    text: str
    worth: int

    @property
    def key(self) -> str:
        """Ten hex digits of the turn's id and the text."""
        return blake2b(f"{self.turn.id} {self.text}".encode(), digest_size=5).hexdigest()

    @property
    def fact_id(self) -> str:
        """The id of the fact that is made of the sentence."""
        return derived_id("captured", self.turn.scope, "memtape", f"tidied:{self.turn.id}:{self.text}")


def last_talk(log: Log, scope: str, session: str | None = None) -> list[TalkSentence]:
    """Return the sentences of the last session but the named one that rules left, the likeliest first."""
    number = partition_of(scope, log.partitions)
    slots = islice(backwards(log, number, scope, ("captured",)), MOST_SLOTS)
    found = [(slot.offset, event) for slot in slots if (event := event_of(slot.payload)) is not None]
    said = [
        it for it in found if is_turn(it[1]) and it[1].actor.origin in PEOPLE and it[1].session != session
    ]
    said = [it for it in said if it[1].session == said[0][1].session]
    if not said:
        return []
    hidden = hidden_from(log, number, said[-1][0])
    erasures = erasures_of(log.erased(number))
    living = [it for _, it in captures_among(log, number, said, erasures, is_turn) if it.id not in hidden]
    left = [TalkSentence(turn, *it) for turn in living for it in untaken(read(text_of(turn)), turn.at)]
    known = log.known(scope, [it.fact_id for it in left])
    left = [it for it in left if it.fact_id not in known]
    return sorted(left, key=lambda it: -it.worth)[:MOST_SENTENCES]


def capture_facts(writer: Writer, given: Mapping[str, str], sentences: Sequence[TalkSentence]) -> int:
    """Capture facts, by the keys of their sentences, and return how many. Raises what a capture raises."""
    made = list[Event]()
    for sentence in sentences:
        if (text := given.get(sentence.key)) is not None:
            turn, tags = sentence.turn, (DISTILLED_TAG, "fact")
            line = Line(text=text, scope=turn.scope, tags=tags, at=turn.at, session=turn.session)
            (event,) = writer.events_of(line, {})
            made.append(msgspec.structs.replace(event, id=sentence.fact_id, refs=(turn.id,)))
    return len(append_new(writer.log, made))
