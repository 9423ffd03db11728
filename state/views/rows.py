"""Rows as pure functions of the state: written by the sinks and compared by `verify`.

`ROWS` has the functions that make each table's rows. The row types are in `schemas/rows.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from memtape.schemas import rows as values
from memtape.schemas.events import PEOPLE, Captured, Kind
from memtape.schemas.rows import Change, Guarded, MemoryRow, Row, TableName, made_from
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.lifecycle.summing import summed
from memtape.state.subjects import validity
from memtape.state.subjects.captures import REPLACING, Capture, whole_text
from memtape.state.subjects.covers import Cover, has_ended
from memtape.state.subjects.edges import UNLEARNED, Edge
from memtape.state.subjects.embeddings import vector_row_id
from memtape.state.subjects.lifecycle import is_pinned, sources_of, turns_of, uses_of, window_end
from memtape.state.subjects.memories import Join, Memory, captures_of, ids_of, shown_of, unit_of
from memtape.state.subjects.weights import importance_confirmed, other_row_id
from memtape.state.text.categories import category_of
from memtape.state.text.polarity import polarity
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces
from memtape.state.views.tree_pages import page_ids, page_row


def guarded_rows(partition: Partition, changes: dict[Change, int]) -> list[Guarded]:
    """Return the changed rows as they are now, each with its guard."""
    rows = []
    for change, offset in changes.items():
        if change.table in ROWS:
            scope = partition.scopes[change.scope]
            rows.append(Guarded(change.table, row_of(scope, change), scope.generation, offset))
    return rows


def all_changes(scope: Scope) -> dict[Change, int]:
    """Return every row and entry of the scope as a change, for comparing whole views."""
    changes = {Change(table, scope.name, id): 0 for table, made in ROWS.items() for id in made.ids(scope)}
    captures, life = scope.captures.by_seq.values(), scope.lifecycle
    journal = [capture.id for capture in captures if capture.kind == "journal" and not capture.made]
    # The pages of days keep the turns that have left the tables.
    journal += [capture.id for capture in captures if capture.kind == "turn" and life.is_purged(capture.seq)]
    # A text that stands for nothing, and a project that was dormant once, have had `MEMORY.md` written too.
    whole = [Change("scope", scope.name, "")] if captures or life.project.since else []
    whole += [Change("threads", scope.name, "")] if scope.threads.open else []
    return changes | {Change("journal", scope.name, id): 0 for id in journal} | dict.fromkeys(whole, 0)


def row_of(scope: Scope, change: Change) -> Row:
    """Return the present content of a row; a given-up name or an ended ban is gone."""
    assert change.table in ROWS
    return ROWS[change.table].row(scope, change.id) or values.GoneRow(**_named(scope, change.id))


def _named(scope: Scope, id: str) -> dict[str, Any]:
    return {"key": f"{scope.name}/{id}", "id": id, "scope": scope.name}


def memory_row(scope: Scope, id: str) -> MemoryRow | None:
    """Return the row of an id's memory; None without one, or for a consolidation's text without cover."""
    capture = scope.captures.get(id)
    memory = None if capture is None else scope.memories.of(capture.seq)
    if capture is None or memory is None or memory.name != capture.seq:
        return None
    if has_ended(scope, scope.covers, memory) or scope.lifecycle.is_purged(memory.birth):
        return None
    over = scope.covers.over(scope, memory)
    made = scope.covers.of_text(capture.id) if memory.made else None
    by_seq = scope.captures.by_seq
    shown = shown_of(scope, memory.members)
    spoken = by_seq[memory.canonical] if memory.lives else capture
    origins = (values.Provenance(it.actor.origin, it.session) for it in shown_of(scope, memory.joins))
    importances = (scope.captures.body(member).importance_given for member in shown)
    return made_from(
        MemoryRow,
        scope.captures.body(spoken),
        spoken.actor,
        spoken,
        **_named(scope, capture.id),
        importance_given=max((given for given in importances if given is not None), default=None),
        seq=capture.seq,
        first_at=min(member.at for member in shown),
        last_at=max(member.at for member in shown),
        confirmations=len(shown) - 1,
        ids=tuple(ids_of(scope, memory.joins)),
        members=_ties(scope, memory.members),
        echoes=_ties(scope, memory.echoes),
        hidden=not memory.lives,
        provenance=tuple(dict.fromkeys(origins)),
        into=None if over is None else over.by,
        made_of=() if made is None else tuple(dict.fromkeys(_made_of(scope, made))),
        wordings=_wordings(scope, memory),
        canonical=spoken.id,
        actor=spoken.actor.name,
        **_aged(scope, memory.birth),
        **_derived(scope, memory, shown, spoken),
    )


def _derived(scope: Scope, memory: Memory, shown: list[Capture], spoken: Capture) -> dict[str, Any]:
    """Return the columns of a memory's value and status; `shown` are its captures, `spoken` the canonical."""
    by_seq, body = scope.captures.by_seq, scope.captures.body(spoken)
    after, before = validity.successor(scope, memory), validity.predecessors(scope, memory)
    outdated = validity.outdated(scope, memory) if after is None else None
    stronger = validity.contradicted(scope, memory) if after is None else None
    since = validity.valid_from(scope, memory)
    older = scope.captures.body(by_seq[before[0].canonical]).text if before else ""
    # A goal or plan not in force has ended.
    replaced = spoken.family in REPLACING and scope.validity.current.get(spoken.family) != memory.birth
    uses = [use for use in uses_of(scope, memory.birth) if use.used]
    is_stable = len(shown) > 1 or bool(uses) or any(member.actor.origin in PEOPLE for member in shown)
    return {
        "valid_from": since,
        # The replacement may have been said before the memory, which then never held.
        "valid_to": None if after is None else max(since, validity.valid_from(scope, after)),
        "replaced_by": None if after is None else by_seq[after.name].id,
        "replaces": tuple(by_seq[other.name].id for other in before),
        "held": tuple(values.Held(*times) for times in validity.held(scope, memory)),
        "outdated_by": None if outdated is None else by_seq[outdated.name].id,
        "contradicts": None if stronger is None else by_seq[stronger.name].id,
        "before": _value_before(older, body.text) if older else "",
        "replaced": replaced,
        "importance_confirmed": importance_confirmed(len(shown) - 1),
        "status": "deprecated" if after is not None or replaced else "stable" if is_stable else "draft",
        **_told_by(body.kind, body.tags, body.text),
        "uses": sum(use.used for use in uses),
        "used_at": max((use.last for use in uses if use.last is not None), default=None),
    }


# A page has the rows of 500 memories, and is made again when one of them changes.
@lru_cache(maxsize=32_768)
def _told_by(kind: Kind, tags: tuple[str, ...], text: str) -> dict[str, str]:
    reading = read(text)
    return {"category": category_of(kind, tags, reading), "polarity": polarity(reading)}


@lru_cache(maxsize=32_768)
def _value_before(older: str, text: str) -> str:
    """Return the value that a text replaces; empty if it is not separable from the older text."""
    found = replaces(read(older), read(text))
    return "" if found is None else found.older


def _made_of(scope: Scope, cover: Cover) -> Iterator[str]:
    """Yield the inputs of a text, and of each that is itself a text; a text is captured after its inputs."""
    waiting = [*reversed(cover.ids)]
    while waiting:
        yield (id := waiting.pop())
        inner = scope.covers.of_text(id)
        waiting += () if inner is None else reversed(inner.ids)


def _wordings(scope: Scope, memory: Memory) -> tuple[values.Wording, ...]:
    """Return the living texts of a memory except its canonical one; none if it is hidden."""
    if not memory.lives or len(memory.joins) == 1:
        return ()
    spoken = scope.captures.by_seq[memory.canonical]
    best: dict[str, Capture] = {}
    for capture in (spoken, *sorted(shown_of(scope, memory.joins), key=lambda it: it.rank, reverse=True)):
        best.setdefault(" ".join(scope.captures.body(capture).text.split()), capture)
    others = (it for it in best.values() if it is not spoken)
    return tuple(values.Wording(it.id, scope.captures.body(it).text) for it in others)


def _ties(scope: Scope, joins: list[Join]) -> tuple[values.MemberRow, ...]:
    pairs = zip(joins, captures_of(scope, joins), strict=True)
    return tuple(values.MemberRow(it.id, join.how, join.similarity, it.offset) for join, it in pairs)


def _turn_row(scope: Scope, id: str) -> values.TurnRow | None:
    capture = scope.captures.get(id)
    if capture is None or scope.lifecycle.is_purged(capture.seq):
        return None
    body = scope.captures.body(capture)
    return made_from(
        values.TurnRow,
        body,
        capture,
        capture.actor,
        **_named(scope, capture.id),
        captions=captions(body),
        actor=capture.actor.name,
        **_aged(scope, capture.seq),
        offset_of=capture.offset,
        polarity=polarity(read(body.text)) if capture.actor.origin in PEOPLE else "fact",
    )


def _tombstone_row(scope: Scope, row_id: str) -> values.TombstoneRow | None:
    at = scope.tombstones.bans.get(row_id)
    return None if at is None else values.TombstoneRow(**_named(scope, row_id), at=at)


def _vector_row(scope: Scope, row_id: str) -> values.VectorRow | None:
    id, _, embedder = row_id.partition(":")
    capture = scope.captures.get(id)
    vector = None if capture is None else scope.embeddings.vectors.get(embedder, {}).get(capture.seq)
    if vector is None or capture is None or scope.lifecycle.is_purged(unit_of(scope, capture)):
        return None
    return values.VectorRow(**(_named(scope, row_id) | {"id": id}), embedder=embedder, vector=vector)


def _use_row(scope: Scope, row_id: str) -> values.UseRow | None:
    seq = scope.captures.seq_of(row_id)
    if seq is not None:
        use = scope.usage.own.get(seq)
    else:
        use = next((use for id, use in scope.usage.others.items() if other_row_id(id) == row_id), None)
    if use is None or use.last is None:
        return None
    return values.UseRow(**_named(scope, row_id), used=use.used, last_at=use.last, times=use.times)


def _edge_row(scope: Scope, row_id: str) -> values.EdgeRow | None:
    source, _, target = row_id.partition("~")
    low, high = scope.captures.seq_of(source), scope.captures.seq_of(target)
    if low is None or high is None:
        return None
    edge, learned = scope.edges.pairs.get((low, high)), scope.edges.learned.get((low, high))
    if edge is None and learned is None:
        return None
    edge, learned = edge or Edge(0, 0, 0), learned or UNLEARNED
    return values.EdgeRow(
        **_named(scope, row_id),
        source=source,
        target=target,
        **msgspec.structs.asdict(edge),
        learned=learned.weight,
        learned_windows=learned.windows,
        learned_at=learned.at,
    )


def conflict_row(scope: Scope, id: str) -> values.ConflictRow | None:
    """Return the row of a conflict, None where the scope has none of this id."""
    conflict = scope.conflicts.by_id.get(id)
    if conflict is None:
        return None
    return made_from(
        values.ConflictRow,
        conflict,
        **_named(scope, id),
        a=conflict.ids[0],
        b=conflict.ids[1],
        a_evidence=conflict.evidence[0],
        b_evidence=conflict.evidence[1],
    )


def summary_row(scope: Scope, id: str) -> values.SummaryRow | None:
    """Return the row of a summary, None without a visible source."""
    summary = scope.lifecycle.summaries.get(id)
    spoken = sources_of(scope, summary) if summary is not None else []
    if summary is None or not spoken:
        return None
    ordered = sorted(spoken, key=lambda its: (its.at, its.seq))
    made = summed(tuple((whole_text(scope.captures.body(its)), its.actor.name) for its in ordered))
    return made_from(
        values.SummaryRow,
        made,
        summary.group,
        **_named(scope, id),
        since=summary.group.start,
        until=window_end(summary.group),
        first_at=ordered[0].at,
        last_at=ordered[-1].at,
        text="\n".join(made.highlights),
        sources=tuple(capture.id for capture in spoken),
    )


def _archive_row(scope: Scope, id: str) -> values.ArchiveRow | None:
    capture = scope.captures.get(id)
    archiving = None if capture is None else scope.lifecycle.archived.get(capture.seq)
    if capture is None or archiving is None:
        return None
    more: dict[str, Any] = {"archived_at": archiving.at, "offset_of": capture.offset}
    return made_from(values.ArchiveRow, capture, archiving, **_named(scope, id), **more)


def _aged(scope: Scope, unit: int) -> dict[str, Any]:
    """Return the columns of a unit's age."""
    archiving, tier = scope.lifecycle.archived.get(unit), scope.lifecycle.tier(unit)
    at = None if archiving is None else archiving.at
    return {"pinned": is_pinned(scope, unit), "tier": tier, "archived_at": at}


def captions(body: Captured) -> tuple[str, ...]:
    """Return the captions of a capture's media."""
    return tuple(media.caption for media in body.media if media.caption)


def _ids(scope: Scope, seqs: Iterable[int]) -> Iterator[str]:
    return (scope.captures.by_seq[seq].id for seq in seqs)


def _kept_ids(scope: Scope, seqs: Iterable[int]) -> Iterator[str]:
    """Yield the ids of captures whose memory or turn has not left the views."""
    captures = map(scope.captures.by_seq.__getitem__, seqs)
    return (it.id for it in captures if not scope.lifecycle.is_purged(unit_of(scope, it)))


def _memory_ids(scope: Scope) -> Iterator[str]:
    memories = scope.memories.by_birth.values()
    return _kept_ids(scope, (it.name for it in memories if not has_ended(scope, scope.covers, it)))


def _vector_ids(scope: Scope) -> Iterator[str]:
    for embedder, vectors in scope.embeddings.vectors.items():
        yield from (vector_row_id(id, embedder) for id in _kept_ids(scope, vectors))


def _use_ids(scope: Scope) -> Iterator[str]:
    yield from _ids(scope, (seq for seq, use in scope.usage.own.items() if use.used))
    yield from (other_row_id(id) for id, use in scope.usage.others.items() if use.used)


def _edge_ids(scope: Scope) -> Iterator[str]:
    return ("~".join(_ids(scope, pair)) for pair in scope.edges.pairs | scope.edges.learned)


def _summary_ids(scope: Scope) -> Iterator[str]:
    return (id for id, summary in scope.lifecycle.summaries.items() if sources_of(scope, summary))


class Made(NamedTuple):
    """The functions that make the rows of a table: one of an id, None for none, and the ids of all."""

    row: Callable[[Scope, str], Row | None]
    ids: Callable[[Scope], Iterable[str]]


ROWS: dict[TableName, Made] = {
    "memories": Made(memory_row, _memory_ids),
    "turns": Made(_turn_row, lambda scope: _kept_ids(scope, turns_of(scope))),
    "tombstones": Made(_tombstone_row, lambda scope: scope.tombstones.bans),
    "vectors": Made(_vector_row, _vector_ids),
    "uses": Made(_use_row, _use_ids),
    "edges": Made(_edge_row, _edge_ids),
    "conflicts": Made(conflict_row, lambda scope: scope.conflicts.by_id),
    "summaries": Made(summary_row, _summary_ids),
    "archive": Made(_archive_row, lambda scope: _ids(scope, scope.lifecycle.archived)),
    "pages": Made(page_row, page_ids),
}
"""Every table of `schemas.rows.TABLES`, and how its rows are made of a scope's state."""
