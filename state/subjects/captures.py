"""The captures of a scope, every text once, by seq, id and normalised text.

The store only remembers. `memories` decides which captures are one memory, `tombstones` which are hidden. A
text that an earlier `decided` event named was made by a consolidation: it repeats memories and is compared
with none. `covers` stores which memories.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, Protocol

import msgspec

from memtape.schemas.events import MAKING, SPEAKING, STATED_TAG, Actor, Captured, Decided, Event, Kind
from memtape.schemas.ids import id_bytes
from memtape.schemas.places import zone_path
from memtape.schemas.rows import Change, Context, made_from
from memtape.schemas.times import format_day
from memtape.state.text.normal import normal_text
from memtape.state.text.reading import Reading, kept, read

TRUST = {"operator": 5, "user": 4, "agent": 3, "tool": 2, "web": 1, "model": 0}
"""The trust of each origin; the higher one is believed."""

FAMILIES = {"fact": "fact", "insight": "fact", "journal": "journal", "goal": "goal", "plan": "plan"}
"""Kinds that fold, each with its family. Only texts of the same family are compared."""

REPLACING = ("goal", "plan")  # Families in which a later text replaces the earlier one.

ENTRY_KINDS = ("turn", "journal")  # Kinds of entries in the daily log.

Seen = dict[bytes, int]
"""Every event of a scope by its id: its seq, and in the last `SEEN_BITS` bits a digest of its content."""
SEEN_BITS = 32
Bodies = dict[int, Captured]
"""The captured bodies of a partition by offset. A state stores the offsets of turns, and not their texts."""


class Capture(msgspec.Struct, gc=False, omit_defaults=True):
    """One captured text. `at` is already clamped; `normal` is blake2b-128 of the normalised text.

    `ordinal` counts the scope's captures except turns, for the pages of the vault; a turn has -1.
    `Captures.body` returns the text: `own` is None for a turn, whose body is on the log alone. `made` marks a
    consolidation's text, which is no entry of the daily log. `turn` is the seq of a statement's turn, -1 for
    any other capture. Captures hold no cycles, so that the garbage collector need not walk a million of them.
    """

    id: str
    seq: int
    offset: int
    at: int
    session: str | None
    actor: Actor
    kind: Kind
    own: Captured | None
    normal: bytes
    ordinal: int
    hidden: bool = False
    made: bool = False
    turn: int = -1

    @property
    def family(self) -> str | None:
        """The family of its kind, None where the kind never folds."""
        return FAMILIES.get(self.kind)

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key of the canonical text of a memory: trust, then time, then order."""
        return TRUST[self.actor.origin], self.at, self.seq


class Captures(msgspec.Struct, dict=True, array_like=True):
    """The captures of a scope in log order, with their indexes; `seen` is that of the scope.

    `decided` are the ids under which decisions named texts before they came, in the order of the decisions.
    `zones` has by page path the seqs of captures from its zone, `stated` by the seq of a turn the seqs of its
    statements, and `spoken` the seqs of the turns of people and agents by time.
    """

    by_seq: dict[int, Capture] = {}
    decided: dict[str, None] = {}

    def __post_init__(self) -> None:
        self.seqs_of_normal: dict[bytes, list[int]] = {}
        self.days: dict[str, list[int]] = {}
        self.ordinals: list[int] = []
        self.zones: dict[str, list[int]] = {}
        self.stated: dict[int, list[int]] = {}
        self.spoken: list[int] = []
        self.bodies: Bodies = {}
        self.seen: Seen = {}
        self._once: dict[object, Any] = {}
        for capture in self.by_seq.values():
            self._know(capture)

    def _know(self, capture: Capture) -> None:
        # Memory holds each repeated author and session once.
        capture.actor = self._once.setdefault(capture.actor, capture.actor)
        capture.session = self._once.setdefault(capture.session, capture.session)
        if capture.family:
            self.seqs_of_normal.setdefault(capture.normal, []).append(capture.seq)
        if capture.kind in ENTRY_KINDS and not capture.made:
            self.days.setdefault(format_day(capture.at), []).append(capture.seq)
        if capture.kind == "turn" and capture.actor.origin in SPEAKING and not capture.made:
            if not self.spoken or self.by_seq[self.spoken[-1]].at <= capture.at:  # As most turns come.
                self.spoken.append(capture.seq)
            else:
                insort(self.spoken, capture.seq, key=lambda seq: (self.by_seq[seq].at, seq))
        if capture.turn >= 0:
            self.stated.setdefault(capture.turn, []).append(capture.seq)
        if capture.ordinal >= 0:
            self.ordinals.append(capture.seq)
        source = None if capture.own is None else capture.own.source
        if (path := zone_path(source, capture.actor.origin)) is not None:
            self.zones.setdefault(path, []).append(capture.seq)

    def body(self, capture: Capture) -> Captured:
        """Return the body of a capture."""
        return self.bodies[capture.offset] if capture.own is None else capture.own

    def get(self, id: str) -> Capture | None:
        """Return the capture of this id, None where the scope has none."""
        try:
            known = self.seen.get(id_bytes(id))
        except ValueError:  # What is no id.
            return None
        return None if known is None else self.by_seq.get(known >> SEEN_BITS)

    def found(self, ids: Iterable[str]) -> list[Capture]:
        """Return the captures of ids, in their order; an id without a capture is left out."""
        return [capture for id in ids if (capture := self.get(id)) is not None]

    def has_event(self, id: str) -> bool:
        """Return whether an event of the scope has the id; erased events count."""
        return id_bytes(id) in self.seen

    def seq_of(self, id: str) -> int | None:
        """Return the seq of the capture of this id, None where the scope has none."""
        capture = self.get(id)
        return None if capture is None else capture.seq


def evolve(state: Captures, event: Event, context: Context[object]) -> list[Change]:
    """Take in a `captured` event and return the row or entry that it makes, without the row of a memory."""
    body = event.body
    if isinstance(body, Decided):
        texts = [operation.by for operation in body.operations if operation.op in MAKING]
        state.decided.update((id, None) for id in texts if id_bytes(id) not in state.seen)
    if not isinstance(body, Captured):
        return []
    context.counters.texts += 1
    is_stated = body.tags[:1] == (STATED_TAG,) and bool(event.refs)
    turn = state.get(event.refs[0]) if is_stated else None
    capture = made_from(
        Capture,
        context,
        event,
        body,
        own=None if body.kind == "turn" else body,
        normal=normal_digest(read(body.text)) if body.kind in FAMILIES else b"",
        ordinal=-1 if body.kind == "turn" else len(state.ordinals),
        made=body.kind not in ("turn", "page") and event.id in state.decided,
        turn=turn.seq if turn is not None and turn.kind == "turn" else -1,
    )
    if capture.own is None:
        state.bodies[capture.offset] = body
    state.by_seq[capture.seq] = capture
    state._know(capture)
    return shown_changes(context.scope, capture)


def entries_with(of: HasCaptures, seq: int) -> Iterator[str]:
    """Yield the id of the entry of a daily log with a capture's content: itself, or a statement's turn."""
    capture = of.captures.by_seq[seq]
    if capture.turn >= 0:
        yield of.captures.by_seq[capture.turn].id
    elif capture.kind == "journal" and not capture.made:
        yield capture.id


def shown_changes(scope: str, capture: Capture) -> list[Change]:
    """Return the display of a capture by itself: the row of a turn, or an entry of the journal."""
    match capture.kind:
        case "turn":
            return [Change("turns", scope, capture.id)]
        case "journal" if not capture.made:
            return [Change("journal", scope, capture.id)]
        case _:
            return []


def whole_text(body: Captured) -> str:
    """Return the text by which a capture is found and embedded: its own and the captions of its media."""
    return "\n".join((body.text, *(media.caption for media in body.media if media.caption)))


@kept
def normal_digest(reading: Reading) -> bytes:
    """Return blake2b-128 of the normalised text, equal for equal texts."""
    return blake2b(normal_text(reading.text).encode(), digest_size=16).digest()


def digest(state: Captures) -> Iterator[Any]:
    """Yield the content of the state hash, in the order of the log, and the ids of decided texts."""
    for capture in state.by_seq.values():
        body = state.body(capture)
        yield capture.id, capture.seq, capture.at, capture.session, capture.actor, body, capture.hidden
    yield from state.decided


class HasCaptures(Protocol):
    """A scope seen through its captures."""

    captures: Captures
