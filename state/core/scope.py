"""A scope: the sum of its subjects, and the point where duplicate events are dropped.

The fields of `Scope` are its snapshot, and the table of all subjects. A new subject needs one more.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, NamedTuple, get_type_hints

import msgspec

from memtape.schemas.codec import content_digest
from memtape.schemas.events import Erased, Event, Recalled, may_write
from memtape.schemas.ids import id_bytes
from memtape.schemas.lanes import shadow_of
from memtape.schemas.placeholders import placeholders
from memtape.schemas.rows import Change, Context, Counters
from memtape.schemas.texts import texts_of_body
from memtape.state import subjects
from memtape.state.subjects import memories, paraphrases
from memtape.state.subjects.captures import SEEN_BITS, Bodies, Captures, Seen
from memtape.state.subjects.conflicts import Conflicts
from memtape.state.subjects.covers import Covers
from memtape.state.subjects.edges import Edges
from memtape.state.subjects.embeddings import Embeddings
from memtape.state.subjects.instructions import Instructions
from memtape.state.subjects.leading import Leading
from memtape.state.subjects.lifecycle import Lifecycle
from memtape.state.subjects.memories import Memories, Memory
from memtape.state.subjects.pages import Pages
from memtape.state.subjects.paraphrases import Paraphrases
from memtape.state.subjects.passes import Passes
from memtape.state.subjects.pins import Pins
from memtape.state.subjects.recalls import Recalls
from memtape.state.subjects.threads import Threads
from memtape.state.subjects.tombstones import Tombstones
from memtape.state.subjects.usage import Usage
from memtape.state.subjects.validity import Validity


class Scope(msgspec.Struct, dict=True, eq=False, array_like=True):
    """Everything that one scope's events mean: its subjects, in the order in which an event passes them.

    A subject reads only earlier ones.

    `seq` is the count of its events without duplicates; `sent` the greatest `sent` of them; `changed` is
    the offset of the last event that touched a row. `generation` counts the `erased` events folded.

    `seen` has an entry for each event of the scope and grows with the log: an event can come again at any
    time, and counts once.
    """

    name: str
    seq: int = 0
    sent: int = 0
    changed: int = -1
    generation: int = 0
    seen: Seen = {}
    captures: Captures = msgspec.field(default_factory=Captures)
    tombstones: Tombstones = msgspec.field(default_factory=Tombstones)
    pages: Pages = msgspec.field(default_factory=Pages)
    embeddings: Embeddings = msgspec.field(default_factory=Embeddings)
    paraphrases: Paraphrases = msgspec.field(default_factory=Paraphrases)
    recalls: Recalls = msgspec.field(default_factory=Recalls)
    memories: Memories = msgspec.field(default_factory=Memories)
    validity: Validity = msgspec.field(default_factory=Validity)
    covers: Covers = msgspec.field(default_factory=Covers)
    passes: Passes = msgspec.field(default_factory=Passes)
    pins: Pins = msgspec.field(default_factory=Pins)
    usage: Usage = msgspec.field(default_factory=Usage)
    edges: Edges = msgspec.field(default_factory=Edges)
    lifecycle: Lifecycle = msgspec.field(default_factory=Lifecycle)
    conflicts: Conflicts = msgspec.field(default_factory=Conflicts)
    instructions: Instructions = msgspec.field(default_factory=Instructions)
    threads: Threads = msgspec.field(default_factory=Threads)

    def __post_init__(self) -> None:
        self.leading = Leading()
        self.captures.seen = self.seen

    def known(self, event: Event, counters: Counters) -> bool:
        """Return whether an id is known; if not record it, with a digest of the event's content."""
        said = content_digest(msgspec.structs.replace(event, at=0)) % 2**SEEN_BITS
        first = self.seen.setdefault(id_bytes(event.id), self.seq << SEEN_BITS | said)
        if first >> SEEN_BITS == self.seq and len(self.seen) == self.seq + 1:
            return False
        if first % 2**SEEN_BITS == said:
            counters.duplicates += 1
        else:
            counters.divergent += 1
        return True

    def memory_of(self, id: str) -> Memory | None:
        """Return the memory that a captured id resolves to, None for none."""
        return memories.memory_of(self, id)


class Subject(NamedTuple):
    """A subject: its `state`, a struct, and the module of its functions.

    `name` names the subject, its attribute of a scope and its leaf of the state hash. `evolve` of the module
    applies any event and returns the changed rows and entries; it never raises. The fields of the struct are
    its snapshot, and the content of the state hash. `rebuild`, if there is one, makes what follows from them
    and from earlier subjects. Captures have a `digest`, which leaves out their offsets. A subject without
    content has no leaf.
    """

    name: str
    state: type[msgspec.Struct]
    module: Any

    def digest(self, of: Scope) -> list[Any]:
        """Return the content of the state hash."""
        state = getattr(of, self.name)
        if hasattr(self.module, "digest"):
            return list(self.module.digest(state))
        return [] if state == self.state() else [blake2b(msgspec.msgpack.encode(state)).hexdigest()]


SUBJECTS = tuple(
    Subject(name, state, getattr(subjects, name))
    for name, state in get_type_hints(Scope).items()
    if hasattr(subjects, name)
)
"""The subjects, as `Scope` names them."""

_AFTER_MEMORIES = SUBJECTS[[subject.name for subject in SUBJECTS].index("memories") + 1 :]
"""The subjects allowed to read memories."""


def evolve(state: Scope, event: Event, context: Context[Scope]) -> list[Change]:
    """Apply an event of the scope, and return the changed rows."""
    counters = context.counters
    if state.known(event, counters):
        return []
    state.seq += 1
    counters.events += 1
    counters.types = counters.types | {event.type: counters.types.get(event.type, 0) + 1}
    if isinstance(event.body, Recalled) and shadow_of(event.body.lanes) is not None:
        return []  # A shadow's results were shown to no session, so that it is counted and has no effect.
    state.sent = max(state.sent, event.sent)
    if event.body is not None:
        counters.redacted += placeholders(said.text for said in texts_of_body(event.body))
    if not may_write(event, context.settings):
        counters.ignored += 1
        return []
    if event.body is None:  # An erased event is its header: it counts and says nothing.
        return []
    if isinstance(event.body, Erased):  # The named events were blank before they were folded.
        state.generation += 1
        return []
    return _pass(state, event, context, SUBJECTS)


def _pass(state: Scope, event: Event, context: Context[Scope], through: tuple[Subject, ...]) -> list[Change]:
    changes: list[Change] = []
    for name, _, module in through:
        changes += module.evolve(getattr(state, name), event, context)
    return changes


def rebuild(state: Scope, bodies: Bodies) -> None:
    """Make all that follows from the fields of a decoded state; `bodies` has the bodies of its turns."""
    state.captures.bodies = bodies
    for subject in SUBJECTS:
        if hasattr(subject.module, "rebuild"):
            subject.module.rebuild(getattr(state, subject.name), state)


def take_up(state: Scope, embedder: str) -> None:
    """Switch to another embedder; no row changes."""
    memories.take_up(state.memories, state, embedder)
    paraphrases.take_up(state.paraphrases)


def refold(state: Scope, event: Event, context: Context[Scope]) -> list[Change]:
    """Fold all captures anew under the settings of a `configured` event, and return the changed rows."""
    paraphrases.take_up(state.paraphrases)
    return memories.refold(state.memories, context) + _pass(state, event, context, _AFTER_MEMORIES)
