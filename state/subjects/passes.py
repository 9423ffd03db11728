"""The state of consolidation in a scope: memories since the last pass, and the clusters to try again.

A pass starts by these counts. Decisions are stored in `covers`.
"""

from __future__ import annotations

from itertools import combinations, takewhile

import msgspec

from memtape.schemas.events import MAX_ATTEMPTS, OPPOSING, Captured, Decided, Event, Input
from memtape.schemas.rows import Change, Context, PassMark, made_from
from memtape.state.subjects.memories import HasMemories, Memory, is_as_seen, memories_of

CONSOLIDATED = "fact"  # The family that is consolidated.
MOST_JUDGED = 10_000  # Judged pairs that are known: the last ones.

TextPair = tuple[bytes, bytes]
"""The digests of the normalised canonical texts of two memories, the one said first first."""

Queue = dict[tuple[str, ...], tuple[int, int]]
Seen = tuple[tuple[str, int], ...]
"""A cluster: the ids of its memories, each with the seq of its canonical capture."""


class Passes(msgspec.Struct, array_like=True):
    """`until` is the watermark of consolidation: captures with a smaller seq were read, at the time `at`.

    `queued` has the ids of clusters to try again, each with its number of failures, and the seq of the event
    that queued it. `aside` are the clusters that failed too often, as they were: the end of a pass drops
    those with a changed memory, since they are no longer the same clusters. `applied` counts decisions by
    operation. `judged` are the pairs that a decision left apart or opposed, and that no judge is asked about
    again.
    """

    until: int = 0
    at: int = 0
    new: int = 0
    confirmed: int = 0
    oldest: int = 0
    queued: Queue = {}
    aside: dict[Seen, None] = {}
    applied: dict[str, int] = {}
    dropped: int = 0
    failed: int = 0
    judged: dict[TextPair, None] = {}

    def mark(self) -> PassMark:
        """Return the counts of the next pass and of all earlier passes."""
        queued, aside, applied = len(self.queued), len(self.aside), dict(self.applied)
        return made_from(PassMark, self, queued=queued, aside=aside, applied=applied)


def evolve(state: Passes, event: Event, context: Context[HasMemories]) -> list[Change]:
    """Count captures and decisions; only the counts of the next pass change, no row."""
    of = context.of
    match event.body:
        case Captured():
            _count(state, context.seq, event.sent, context)
        case Decided(until=int(until), reason=reason):
            state.until = max(state.until, until)
            # Memories that the ended pass has not read count again: new ones, or left over by a spent budget.
            state.new = state.confirmed = state.oldest = 0
            for seq in takewhile(lambda seq: seq >= state.until, reversed(of.captures.ordinals)):
                _count(state, seq, event.sent, context)
            state.aside = {
                cluster: None
                for cluster in state.aside
                if all(is_as_seen(of, Input(id=id, seq=seq)) for id, seq in cluster)
            }
            if reason is None:
                state.at = context.at
                state.queued = {ids: (n, seq) for ids, (n, seq) in state.queued.items() if seq >= until}
        case Decided(inputs=inputs, operations=operations, attempt=attempt, reason=reason):
            cluster = tuple(input.id for input in inputs)
            state.queued.pop(cluster, None)
            for operation in () if context.dropped else operations:
                state.applied[operation.op] = state.applied.get(operation.op, 0) + 1
            if reason is None and all(it.op in OPPOSING for it in operations):
                _know_judged(state, inputs, of)
            state.failed += reason is not None
            if reason is not None and attempt < MAX_ATTEMPTS:
                state.queued[cluster] = attempt, context.seq
            elif reason is not None:
                state.aside[tuple((input.id, input.seq) for input in inputs)] = None
    for cluster in context.dropped:
        state.dropped += 1
        state.queued.setdefault(cluster, (0, context.seq))
    return []


def _count(state: Passes, seq: int, sent: int, context: Context[HasMemories]) -> None:
    """Count a capture of the consolidated family: a new memory, or a confirmation of an earlier one."""
    memory = context.of.memories.of(seq)
    if memory is None or memory.made or context.of.captures.by_seq[seq].family != CONSOLIDATED:
        return
    if memory.birth == seq:
        state.new += 1
        state.oldest = state.oldest or sent
    else:
        state.confirmed += 1


def _know_judged(state: Passes, inputs: tuple[Input, ...], of: HasMemories) -> None:
    """Know the pairs of unchanged inputs as judged; beyond a number the pairs judged first are forgotten."""
    memories = memories_of(of, (input.id for input in inputs if is_as_seen(of, input)))
    for pair in combinations(memories, 2):
        state.judged[text_pair(of, *pair)] = None
    while len(state.judged) > MOST_JUDGED:
        del state.judged[next(iter(state.judged))]


def text_pair(of: HasMemories, one: Memory, other: Memory) -> TextPair:
    """Return what two living memories say, by which a pair stays known as judged."""
    said = [of.captures.by_seq[memory.canonical] for memory in (one, other)]
    first, second = sorted(said, key=lambda capture: (capture.at, capture.seq))
    return first.normal, second.normal
