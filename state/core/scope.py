"""A scope: the sum of its subjects, and the door at which duplicates of its events stop."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.codec import content_digest
from memtape.schemas.events import (
    Captured,
    Embedded,
    Erased,
    Event,
    Forgotten,
    Recalled,
    Restored,
    Unfolded,
    Used,
    may_write,
)
from memtape.schemas.ids import id_bytes
from memtape.schemas.placeholders import placeholders
from memtape.schemas.rows import Change, Counters
from memtape.schemas.texts import texts_of_body
from memtape.state.core.moment import Moment
from memtape.state.subjects import captures, edges, embeddings, memories, recalls, tombstones, usage
from memtape.state.subjects.captures import Captures
from memtape.state.subjects.edges import Edges
from memtape.state.subjects.embeddings import Embeddings
from memtape.state.subjects.memories import Memories
from memtape.state.subjects.recalls import Recalls
from memtape.state.subjects.tombstones import Tombstones
from memtape.state.subjects.usage import Usage

_CONTENT_BITS = 22
_AT_BITS = 10
"""Of what an event says, and of when: by these a repetition is told from another event of the same id, for people."""


class Scope:
    """Everything that one scope's events mean.

    `seq` is the count of its events without duplicates; `sent` the greatest `sent` of them; `changed` is
    the offset of the last event that touched a row. `generation` counts the `erased` events folded.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.seq = 0
        self.sent = 0
        self.changed = -1
        self.generation = 0
        self.captures = Captures()
        self.tombstones = Tombstones()
        self.embeddings = Embeddings()
        self.memories = Memories(self.embeddings)
        self.recalls = Recalls()
        self.usage = Usage()
        self.edges = Edges()
        self._seen: dict[bytes, int] = {}

    def known(self, event: Event, counters: Counters) -> bool:
        """Whether the id stood before; if not it is now known, with 32 bits of what the event said and when."""
        key, at = id_bytes(event.id), _given_time(event)
        said = content_digest(msgspec.structs.replace(event, at=0)) % 2**_CONTENT_BITS
        first = self._seen.setdefault(key, self.seq << 32 | said << _AT_BITS | at)
        if first >> 32 == self.seq and len(self._seen) == self.seq + 1:
            return False
        first_said, first_at = first >> _AT_BITS & (2**_CONTENT_BITS - 1), first & (2**_AT_BITS - 1)
        if first_said == said and (first_at == at or not first_at or not at):
            counters.duplicates += 1
        else:
            counters.divergent += 1
        return True

    def has_event(self, id: str) -> bool:
        """Whether an event of this scope has this id, an erased one included."""
        return id_bytes(id) in self._seen


def _given_time(event: Event) -> int:
    """Return some bits of when an event happened, 0 where nobody said so: then that is when it was sent."""
    return 0 if event.at == event.sent else 1 + event.at % (2**_AT_BITS - 1)


def evolve(state: Scope, event: Event, moment: Moment, counters: Counters) -> list[Change]:
    """Take in an event of this scope and return the rows that it touched."""
    if state.known(event, counters):
        return []
    state.seq += 1
    state.sent = max(state.sent, event.sent)
    counters.events += 1
    if event.body is not None:
        counters.redacted += placeholders(said.text for said in texts_of_body(event.body))
    if not may_write(event):
        counters.ignored += 1
        return []
    changes: list[Change] = []
    match event.body:
        case Recalled():
            recalls.evolve(state.recalls, event, state.captures, moment)
            usage.evolve(state.usage, event, state.captures, state.has_event, moment)
        case Used(ids=ids):
            used = usage.evolve(state.usage, event, state.captures, state.has_event, moment)
            others = (id for id in dict.fromkeys(ids) if id in state.usage.others)
            changes += [Change("uses", state.name, usage.other_row_id(id)) for id in others]
            changes += _link(state, event.session, used, moment.at)
        case Captured():
            counters.texts += 1
            capture = captures.evolve(state.captures, event, moment)
            if capture.body.kind == "journal":
                changes.append(Change("journal", state.name, capture.id))
            changes += _hide_and_fold(state, event, moment)
            if capture.body.kind == "turn":
                changes.append(Change("turns", state.name, capture.id))
                used = usage.judge(state.usage, capture, state.captures, state.memories)
                changes += _link(state, capture.session, used, moment.at)
        case Forgotten() | Restored():
            changes += _hide_and_fold(state, event, moment)
        case Embedded(embedder=embedder):
            found = embeddings.evolve(state.embeddings, event, state.captures, counters)
            if found is not None:
                changes.append(vector_change(state, found.id, embedder))
                if embedder == moment.settings.embedder:
                    names = memories.embedded(state.memories, found, state.captures, moment)
                    changes += [Change("memories", state.name, id) for id in names]
        case Unfolded(ids=ids):
            names = memories.unfold(state.memories, ids, state.captures)
            changes += [Change("memories", state.name, id) for id in names]
        case Erased():  # What it names was blank before it was folded.
            state.generation += 1
        case _:  # An erased event is its header: it counts and says nothing.
            pass
    if changes:
        state.changed = moment.offset
    return changes


def snapshot(state: Scope) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    return msgspec.msgpack.encode(
        (
            (state.name, state.seq, state.sent, state.changed, state.generation),
            state._seen,
            captures.snapshot(state.captures),
            tombstones.snapshot(state.tombstones),
            embeddings.snapshot(state.embeddings),
            memories.snapshot(state.memories),
            recalls.snapshot(state.recalls),
            usage.snapshot(state.usage),
            edges.snapshot(state.edges),
        )
    )


def restore(data: bytes) -> Scope:
    """Return the state of a snapshot."""
    head, seen, said, banned, vectors, folded, recalled, counted, linked = msgspec.msgpack.decode(
        data,
        type=tuple[tuple[str, int, int, int, int], dict[bytes, int], bytes, bytes, bytes, bytes, bytes, bytes, bytes],
    )
    state = Scope(head[0])
    _, state.seq, state.sent, state.changed, state.generation = head
    state._seen = seen
    state.captures = captures.restore(said)
    state.tombstones = tombstones.restore(banned)
    state.embeddings = embeddings.restore(vectors, state.captures)
    state.memories = memories.restore(folded, state.captures, state.embeddings)
    state.recalls = recalls.restore(recalled)
    state.usage = usage.restore(counted)
    state.edges = edges.restore(linked)
    return state


def vector_change(state: Scope, id: str, embedder: str) -> Change:
    """Return the row of a capture's vector under an embedder."""
    return Change("vectors", state.name, f"{id}:{embedder}")


def expect(state: Scope, events: Iterable[Event], embedder: str) -> None:
    """Get ready for `embedded` events that are about to be folded, many at once; it changes no state."""
    vectors: dict[str, list[bytes]] = {}
    for event in events:
        body = event.body
        capture = state.captures.get(event.refs[0]) if event.refs else None
        if isinstance(body, Embedded) and body.embedder == embedder and capture is not None and body.vector is not None:
            vectors.setdefault(capture.family or "", []).append(body.vector)
    for family, expected in vectors.items():
        memories.expect(state.memories, family, expected, embedder)


def _link(state: Scope, session: str | None, used: list[int], at: int) -> list[Change]:
    """Link what was used together and return the rows that this touched."""
    by_seq = state.captures.by_seq
    changes = [Change("uses", state.name, by_seq[seq].id) for seq in used]
    for low, high in edges.evolve(state.edges, session, used, at):
        changes.append(Change("edges", state.name, edges.row_id(by_seq[low].id, by_seq[high].id)))
    return changes


def _hide_and_fold(state: Scope, event: Event, moment: Moment) -> list[Change]:
    effect = tombstones.evolve(state.tombstones, event, state.captures, moment.at)
    names = memories.evolve(state.memories, event, state.captures, state.recalls, effect.flipped, moment)
    changes = [Change("tombstones", state.name, id) for id in effect.rows]
    changes += [Change("memories", state.name, id) for id in names]
    for capture in effect.flipped:
        if capture.body.kind == "turn":
            changes.append(Change("turns", state.name, capture.id))
        elif capture.body.kind == "journal":
            changes.append(Change("journal", state.name, capture.id))
    return changes
