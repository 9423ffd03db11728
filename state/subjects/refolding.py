"""Refolding: every capture of a scope is judged again, as if all had been said under the settings in force.

People's decisions stay: captures set apart never fold together again. An echo stays an echo in its new
memory, and a consolidation's text stands alone. A hidden text is compared only with its own text, as always.
`memories` judges a single text.
"""

from __future__ import annotations

from typing import Any

from memtape.schemas.rows import Change
from memtape.schemas.settings import Settings
from memtape.state.core.context import Context
from memtape.state.fold.candidates import WAITING, Verdict
from memtape.state.subjects import memories
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import Memories, MemoryInputs


def refold(state: Memories, context: Context[MemoryInputs]) -> list[Change]:
    """Judge all captures of a scope again, in the order of the log, and return the memory rows that differ."""
    of, settings, names = context.of, context.settings, list[str]()
    before, waited = _standing(state, of), dict(state.waiting)
    ties = (join for memory in state.by_birth.values() for join in memory.joins)
    echoes = {join.seq: None for join in ties if join.how == "echo"}
    births = dict.fromkeys(state.by_birth)
    moved = state.moved | births
    state.clear()
    state.moved |= moved
    captures = [of.captures.by_seq[seq] for seq in of.captures.ordinals]
    for capture in captures:
        if capture.made:
            memories.stand_alone(state, capture, of, names)
        else:
            verdict = _judge(state, capture, of, settings)
            shown, echoed = waited.get(capture.seq, ()), capture.seq in echoes
            memories.place(state, capture, verdict, shown, of, names, echoed=echoed)
    after = _standing(state, of)
    context.gone, state.gone = [birth for birth in births if birth not in state.by_birth], []
    context.touched = [name for name in before | after if before.get(name) != after.get(name)]
    return [Change("memories", context.scope, name) for name in context.touched]


def _judge(state: Memories, capture: Capture, of: MemoryInputs, settings: Settings) -> Verdict:
    """Judge a capture without a memory, by its vector if the vector exists."""
    barred = memories.set_apart(state, (capture.seq,))
    verdict = memories.judge(state, capture, of, settings, barred)
    vector = of.embeddings.of_text(settings.embedder, capture)
    if verdict == WAITING and vector is not None:
        return memories.judge_by_vector(state, capture, vector, of, settings, barred)
    return verdict


def _standing(state: Memories, of: MemoryInputs) -> dict[str, tuple[Any, ...]]:
    """Return by memory name the inputs of the memory's row: members, echoes and canonical text."""
    by_seq = of.captures.by_seq
    standing: dict[str, tuple[Any, ...]] = {}
    for memory in state.by_birth.values():
        standing[by_seq[memory.name].id] = tuple(memory.members), tuple(memory.echoes), memory.canonical
    return standing
