"""A scope: the sum of its subjects, and the point where duplicate events are dropped.

`SUBJECTS` is the table of all subjects. A new subject needs a row in the table and an attribute here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import msgspec

from memtape.schemas.codec import content_digest
from memtape.schemas.events import Erased, Event, Recalled, may_write
from memtape.schemas.ids import id_bytes
from memtape.schemas.lanes import shadow_of
from memtape.schemas.placeholders import placeholders
from memtape.schemas.rows import Change, Counters
from memtape.schemas.settings import Settings
from memtape.schemas.texts import texts_of_body
from memtape.state.core.bodies import Bodies, KeptBodies
from memtape.state.core.context import Context
from memtape.state.core.subject import Subject
from memtape.state.subjects import (
    aging,
    captures,
    conflicts,
    covers,
    decisions,
    edges,
    embeddings,
    instructions,
    lifecycle,
    memories,
    pages,
    paraphrases,
    passes,
    people,
    pins,
    recalls,
    refolding,
    threads,
    tombstones,
    usage,
    validity,
    withdrawals,
)
from memtape.state.subjects.captures import SEEN_BITS, Captures, Seen
from memtape.state.subjects.conflicts import Conflicts
from memtape.state.subjects.covers import Covers
from memtape.state.subjects.decisions import Decisions
from memtape.state.subjects.edges import Edges
from memtape.state.subjects.embeddings import Embeddings
from memtape.state.subjects.instructions import Instructions
from memtape.state.subjects.leading import Leading
from memtape.state.subjects.lifecycle import Lifecycle
from memtape.state.subjects.memories import Memories, Memory
from memtape.state.subjects.pages import Pages
from memtape.state.subjects.paraphrases import Paraphrases
from memtape.state.subjects.passes import Passes
from memtape.state.subjects.people import People
from memtape.state.subjects.pins import Pins
from memtape.state.subjects.recalls import Recalls
from memtape.state.subjects.threads import Threads
from memtape.state.subjects.tombstones import Tombstones
from memtape.state.subjects.usage import Usage
from memtape.state.subjects.validity import Validity
from memtape.state.subjects.withdrawals import Withdrawals


def _subject(name: str, version: int, new: Callable[[], Any], module: ModuleType, *, sparse: bool = False) -> Subject:
    return Subject(name, version, new, module.evolve, module.snapshot, module.restore, module.digest, sparse)


SUBJECTS = (
    _subject("decisions", 1, Decisions, decisions, sparse=True),
    _subject("captures", 1, Captures, captures),
    _subject("withdrawals", 1, Withdrawals, withdrawals, sparse=True),
    _subject("tombstones", 1, Tombstones, tombstones),
    _subject("pages", 1, Pages, pages, sparse=True),
    _subject("embeddings", 1, Embeddings, embeddings),
    _subject("paraphrases", 1, Paraphrases, paraphrases, sparse=True),
    _subject("recalls", 1, Recalls, recalls),
    _subject("memories", 1, Memories, memories),
    _subject("validity", 1, Validity, validity, sparse=True),
    _subject("covers", 1, Covers, covers, sparse=True),
    _subject("passes", 1, Passes, passes, sparse=True),
    _subject("pins", 1, Pins, pins, sparse=True),
    _subject("usage", 1, Usage, usage),
    _subject("edges", 1, Edges, edges),
    _subject("lifecycle", 1, Lifecycle, lifecycle, sparse=True),
    _subject("conflicts", 1, Conflicts, conflicts, sparse=True),
    _subject("instructions", 1, Instructions, instructions, sparse=True),
    _subject("threads", 1, Threads, threads, sparse=True),
    _subject("people", 1, People, people, sparse=True),
)
"""Every subject of a scope with its version, in the order in which an event passes them.

A subject reads only earlier ones.
"""

_AFTER_MEMORIES = SUBJECTS[[subject.name for subject in SUBJECTS].index("memories") + 1 :]
"""The subjects allowed to read memories."""

_CONTENT_BITS = 22
_AT_BITS = 10
"""Of what an event says, and of when: by these a repetition is told from another event of the same id, for people."""


class Scope:
    """Everything that one scope's events mean.

    `seq` is the count of its events without duplicates; `sent` the greatest `sent` of them; `changed` is
    the offset of the last event that touched a row. `generation` counts the `erased` events folded.

    `seen` has an entry for each event of the scope and grows with the log: an event can come again at any time, and
    counts once.
    """

    decisions: Decisions
    captures: Captures
    withdrawals: Withdrawals
    tombstones: Tombstones
    pages: Pages
    embeddings: Embeddings
    paraphrases: Paraphrases
    recalls: Recalls
    memories: Memories
    validity: Validity
    covers: Covers
    passes: Passes
    pins: Pins
    usage: Usage
    edges: Edges
    lifecycle: Lifecycle
    conflicts: Conflicts
    instructions: Instructions
    threads: Threads
    people: People

    def __init__(self, name: str, bodies: Bodies | None = None) -> None:
        self.name = name
        self.bodies = bodies or KeptBodies()
        self.seq = 0
        self.sent = 0
        self.changed = -1
        self.generation = 0
        for subject in SUBJECTS:
            setattr(self, subject.name, subject.new())
        self.leading = Leading()
        self.seen: Seen = {}
        self.captures.bodies, self.captures.seen = self.bodies, self.seen

    def known(self, event: Event, counters: Counters) -> bool:
        """Return whether an id is known; if not record it, with 32 bits of the event's content and time."""
        key, at = id_bytes(event.id), _given_time(event)
        said = content_digest(msgspec.structs.replace(event, at=0)) % 2**_CONTENT_BITS
        first = self.seen.setdefault(key, self.seq << SEEN_BITS | said << _AT_BITS | at)
        if first >> SEEN_BITS == self.seq and len(self.seen) == self.seq + 1:
            return False
        first_said, first_at = first >> _AT_BITS & (2**_CONTENT_BITS - 1), first & (2**_AT_BITS - 1)
        if first_said == said and (first_at == at or not first_at or not at):
            counters.duplicates += 1
        else:
            counters.divergent += 1
        return True

    def has_event(self, id: str) -> bool:
        """Return whether an event of the scope has the id; erased events count."""
        return id_bytes(id) in self.seen

    def memory_of(self, id: str) -> Memory | None:
        """Return the memory that a captured id resolves to, None for none."""
        capture = self.captures.get(id)
        return None if capture is None else self.memories.of(capture.seq)


def _given_time(event: Event) -> int:
    """Return some bits of an event's own time, 0 if the event has none and takes the time of sending."""
    return 0 if event.at == event.sent else 1 + event.at % (2**_AT_BITS - 1)


def evolve(
    state: Scope, event: Event, offset: int, at: int, settings: Settings, counters: Counters, clock: int
) -> list[Change]:
    """Apply an event of the scope, at its offset and clamped time, and return the changed rows."""
    seq = state.seq
    if state.known(event, counters):
        return []
    state.seq += 1
    counters.events += 1
    counters.types = counters.types | {event.type: counters.types.get(event.type, 0) + 1}
    if _is_of_shadow(event):  # Its results were shown to no session, so that it is counted and has no effect.
        return []
    state.sent = max(state.sent, event.sent)
    if event.body is not None:
        counters.redacted += placeholders(said.text for said in texts_of_body(event.body))
    if not may_write(event):
        counters.ignored += 1
        return []
    if event.body is None:  # An erased event is its header: it counts and says nothing.
        return []
    if isinstance(event.body, Erased):  # The named events were blank before they were folded.
        state.generation += 1
        return []
    context = Context(state.name, seq, offset, at, settings, counters, state, clock)
    changes = [
        change for subject in SUBJECTS for change in subject.evolve(getattr(state, subject.name), event, context)
    ]
    if changes:
        state.changed = offset
    return changes


def _is_of_shadow(event: Event) -> bool:
    return isinstance(event.body, Recalled) and shadow_of(event.body.lanes) is not None


def snapshot(state: Scope) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    head = (state.name, state.seq, state.sent, state.changed, state.generation)
    parts = {subject.name: subject.snapshot(getattr(state, subject.name)) for subject in SUBJECTS}
    return msgspec.msgpack.encode((head, state.seen, parts))


def restore(data: bytes, bodies: Bodies) -> Scope:
    """Return the state of a snapshot; `bodies` has the bodies of its turns."""
    head, seen, parts = msgspec.msgpack.decode(
        data, type=tuple[tuple[str, int, int, int, int], dict[bytes, int], dict[str, bytes]]
    )
    state = Scope(head[0], bodies)
    _, state.seq, state.sent, state.changed, state.generation = head
    state.seen = seen
    for subject in SUBJECTS:
        setattr(state, subject.name, subject.restore(parts[subject.name], state))
    return state


def take_up(state: Scope, embedder: str) -> None:
    """Switch to another embedder; no row changes."""
    memories.take_up(state.memories, state, embedder)
    paraphrases.take_up(state.paraphrases)


def tick(state: Scope, offset: int, clock: int, settings: Settings, counters: Counters) -> list[Change]:
    """Take in that the clock has moved, by the tick at an offset, and return the rows that it touched."""
    context = Context(state.name, state.seq, offset, clock, settings, counters, state, clock)
    changes = aging.run(state.lifecycle, context)
    if changes:
        state.changed = offset
    return changes


def refold(
    state: Scope, event: Event, offset: int, at: int, settings: Settings, counters: Counters, clock: int
) -> list[Change]:
    """Fold all captures anew under the settings of a `configured` event, and return the changed rows."""
    context = Context(state.name, state.seq, offset, at, settings, counters, state, clock)
    paraphrases.take_up(state.paraphrases)
    changes = refolding.refold(state.memories, context)
    for subject in _AFTER_MEMORIES:
        changes += subject.evolve(getattr(state, subject.name), event, context)
    if changes:
        state.changed = offset
    return changes
