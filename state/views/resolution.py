"""The captures of an id, a session, a source or a tag in a scope, by its folded state."""

from __future__ import annotations

from collections.abc import Iterable

from memtape.schemas.ids import ROOT
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import ids_of, memory_of
from memtape.state.subjects.tombstones import ban_of


def whole(scope: Scope, ids: Iterable[str]) -> list[Capture]:
    """Return these captures with every member and echo of their memories, and captures banned by their texts.

    For a consolidation's text also the covered memories' captures, since it repeats them, and for a version
    of a page all other versions.

    In the order of the log; unknown ids are left out.
    """
    found: dict[int, Capture] = {}
    for capture in scope.captures.found(ids):
        for other in (capture, *map(scope.captures.by_seq.__getitem__, _tied(scope, capture.seq))):
            found[other.seq] = other
            if other.family and ban_of(other) in scope.tombstones.bans:
                same = scope.captures.seqs_of_normal[other.normal]
                found.update((seq, scope.captures.by_seq[seq]) for seq in same)
    return [found[seq] for seq in sorted(found)]


def named_by_decision(scope: Scope, id: str, only: bool) -> tuple[str, ...]:
    """Return the ids named by a decision about a capture: all captures of its memory, or `id` with `only`.

    For a memory that covers others, also their captures, so that the covered content does not come back in
    their words. For a page all its versions; for the root its own id.
    """
    root = scope.pages.at(ROOT)
    if root is not None and id == root.id and not only:
        return _ids(scope, root.versions)
    seq = scope.captures.seq_of(id)
    tied = () if only or seq is None else _tied(scope, seq)
    return _ids(scope, tied) if tied else (id,)


def named_by_unfolding(scope: Scope, id: str, only: bool) -> tuple[str, ...]:
    """Return the ids to unfold a capture from: its fold, or `id` with `only`; empty for an unfolded capture.

    The captures of a memory that covers others, is covered, or was judged to replace another or be replaced,
    are named too. An echo was not folded, so that it cannot be unfolded.
    """
    memory = memory_of(scope, id)
    members = () if memory is None else tuple(ids_of(scope, memory.members))
    judged = memory is not None and any(scope.validity.naming.get(join.seq) for join in memory.members)
    decided = judged or bool(scope.covers.touching(members))
    if (len(members) < 2 and not decided) or (only and id not in members):
        return ()
    return (id,) if only else members


def _tied(scope: Scope, seq: int) -> list[int]:
    """Return the versions of a page, else the captures of a memory and of its sources; none of a turn."""
    page, memory = scope.pages.of(seq), scope.memories.of(seq)
    if page is not None:
        return page.versions
    parts = () if memory is None else scope.covers.parts(scope, memory)
    return [join.seq for part in parts for join in part.joins]


def _ids(scope: Scope, seqs: Iterable[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scope.captures.by_seq[seq].id for seq in seqs))


def selected(
    scope: Scope, *, session: str | None = None, source: str | None = None, tag: str | None = None
) -> list[Capture]:
    """Return the captures of a session, of a source and with a tag, as far as these are given."""
    return [
        capture
        for capture in scope.captures.by_seq.values()
        if session in (None, capture.session)
        and (source is None or source == scope.captures.body(capture).source)
        and (tag is None or tag in scope.captures.body(capture).tags)
    ]
