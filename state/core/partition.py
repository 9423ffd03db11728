"""A partition: its scopes, its clock, its settings, and the step from the log's bytes to changes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Captured, Configured, Erased, Event, Ticked
from memtape.schemas.ids import digest_of
from memtape.schemas.log import Slot
from memtape.schemas.rows import DEAD_LETTERS_KEPT, Change, Context, Counters, DeadLetter
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US, US_PER_S
from memtape.state.core import scope as scope_state
from memtape.state.core.erasures import Erasures
from memtape.state.core.scope import Scope
from memtape.state.subjects import lifecycle
from memtape.state.subjects.captures import Bodies


class Partition(msgspec.Struct, dict=True, eq=False, array_like=True):
    """The folded state of one partition's events.

    `clock` is None until the first `configured`; after that only ticks move it, forward. `offset` is the next
    to be read. `counters` are for people and take no part in any decision or digest.

    `erasures` are those known before the fold. An `erased` event with more ids makes the state `stale`: it no
    longer matches the log, and the log must be folded again. `met_erased` says that an erased event still had
    its body on the log. `bodies` has the bodies of turns. These three are in no snapshot.
    """

    number: int
    erasures: Erasures = msgspec.field(default_factory=Erasures)
    offset: int = 0
    clock: int | None = None
    log_id: str = ""
    partitions: int = 0
    revision: int = -1
    settings: Settings = msgspec.field(default_factory=Settings)
    counters: Counters = msgspec.field(default_factory=Counters)
    scopes: dict[str, Scope] = {}

    def __post_init__(self) -> None:
        self.stale = self.met_erased = False
        self.bodies: Bodies = {}


def fold(state: Partition, slots: Iterable[Slot]) -> dict[Change, int]:
    """Fold slots of this partition, in order; return each changed row with the offset of its last event.

    An undecodable slot becomes a dead letter and stops nothing.
    """
    changes: dict[Change, int] = {}
    for slot in slots:
        try:
            event = decode(slot.payload)
            number, scope = state.number, event.scope
            if scope is not None and state.partitions and partition_of(scope, state.partitions) != number:
                raise InvalidEvent("misplaced", f"{scope} does not belong to partition {number}.", "$.scope")
            if isinstance(event.body, Ticked) and event.body.partition != number:
                said = f"A tick of another partition than {number}."
                raise InvalidEvent("misplaced", said, "$.body.partition")
        except InvalidEvent as error:
            counters = state.counters
            counters.dead_letters += 1
            letter = DeadLetter(slot.partition, slot.offset, error.reason, digest_of(slot.payload))
            counters.latest_dead_letters = [*counters.latest_dead_letters, letter][-DEAD_LETTERS_KEPT:]
        else:
            for change in evolve(state, event, slot.offset):
                changes[change] = slot.offset
                state.scopes[change.scope].changed = slot.offset
        state.offset = slot.offset + 1
    return changes


def evolve(state: Partition, event: Event, offset: int) -> list[Change]:
    """Apply an event at its offset and return the changed rows."""
    match event.body:
        case Configured() as configured:
            return _configure(state, configured, event, offset)
        case Ticked(hour=hour, accepted=accepted):
            time = hour * HOUR_US
            if state.clock is None or time <= state.clock:
                return []
            if time - state.clock > state.settings.tick_jump_days * DAY_US and not accepted:
                state.counters.ignored += 1
                return []
            state.clock = time  # Texts age with the clock.
            contexts = (_context(state, scope, offset, time) for scope in state.scopes.values())
            return [change for it in contexts for change in lifecycle.run(it.of.lifecycle, it)]
    assert event.scope is not None
    name = event.scope
    scope = state.scopes.get(name)
    if scope is None:
        scope = state.scopes[name] = Scope(name)
        scope.captures.bodies = state.bodies
    is_known = scope.captures.has_event(event.id)
    if isinstance(event.body, Erased) and not is_known and state.erasures.learn(event):
        state.stale = True
    # A blank event is asked about too, since further events may derive from it.
    if state.erasures.covers(event) and event.body is not None:
        state.met_erased = True
        event = msgspec.structs.replace(event, body=None)
    return scope_state.evolve(scope, event, _context(state, scope, offset, event.at))


def _context(state: Partition, scope: Scope, offset: int, at: int) -> Context[Scope]:
    """Return the context of a scope at a time, limited to a distance ahead of the clock."""
    clock, settings = state.clock or 0, state.settings
    at = at if state.clock is None else min(at, clock + settings.at_lead_s * US_PER_S)
    return Context(scope.name, scope.seq, offset, at, clock, settings, state.counters, scope)


def snapshot(state: Partition) -> bytes:
    """Return the bytes from which `restore` makes an equal state; bodies on a log are read from there."""
    return msgspec.msgpack.encode((state, state.bodies if type(state.bodies) is dict else {}))


def restore(data: bytes, bodies: Bodies | None = None) -> Partition:
    """Return the state of a snapshot; `bodies` has the turns' bodies, by default the snapshot itself."""
    state, kept = msgspec.msgpack.decode(data, type=tuple[Partition, dict[int, Captured]])
    state.bodies = kept if bodies is None else bodies
    for scope in state.scopes.values():
        scope_state.rebuild(scope, state.bodies)
    return state


def _configure(state: Partition, configured: Configured, event: Event, offset: int) -> list[Change]:
    """Apply settings, and return the rows changed by refolding, if the settings require it."""
    if state.clock is None:
        state.clock = event.sent
        state.log_id, state.partitions = configured.log_id, configured.partitions
    before = state.settings
    if configured.revision > state.revision:
        state.revision, state.settings = configured.revision, configured.settings
    else:
        state.counters.ignored += 1
    settings, scopes = state.settings, state.scopes.values()
    for scope in scopes if settings != before else ():
        scope.lifecycle.forget_due()
    if settings.refolded > before.refolded:
        contexts = (_context(state, scope, offset, event.at) for scope in scopes)
        folded = (scope_state.refold(context.of, event, context) for context in contexts)
        return [change for changes in folded for change in changes]
    if settings.embedder != before.embedder:
        for scope in scopes:
            scope_state.take_up(scope, settings.embedder)
    return []
