"""Which captures are meant: all that an id, a session, a source or a tag stands for in a scope."""

from __future__ import annotations

from collections.abc import Iterable

from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture


def whole(scope: Scope, ids: Iterable[str]) -> list[Capture]:
    """Return these captures with every member and echo of their memories, and what bans on their texts hide.

    In the order of the log; ids that the scope has not captured are left out.
    """
    found: dict[int, Capture] = {}
    for capture in map(scope.captures.get, ids):
        if capture is None:
            continue
        memory = scope.memories.of(capture.seq)
        ties = (*memory.members, *memory.echoes) if memory else ()
        for other in (capture, *(scope.captures.by_seq[tie.seq] for tie in ties)):
            found[other.seq] = other
            if other.family and other.normal in scope.tombstones.texts:
                same = scope.captures.seqs_of_normal[other.normal]
                found.update((seq, scope.captures.by_seq[seq]) for seq in same)
    return [found[seq] for seq in sorted(found)]


def selected(scope: Scope, *, session: str | None, source: str | None, tag: str | None) -> list[Capture]:
    """Return the captures of a session, of a source and with a tag, as far as these are given."""
    return [
        capture
        for capture in scope.captures.by_seq.values()
        if session in (None, capture.session)
        and source in (None, capture.body.source)
        and (tag is None or tag in capture.body.tags)
    ]
