"""Rows and pages as pure functions of the state: what the sinks write and what `verify` expects to find."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import islice

from memtape.schemas.rows import (
    Change,
    DayPage,
    EdgeRow,
    Entry,
    GoneRow,
    Guarded,
    IndexPage,
    MemberRow,
    MemoryPage,
    MemoryRow,
    Page,
    PageLink,
    Provenance,
    Row,
    TombstoneRow,
    TurnRow,
    UseRow,
    VectorRow,
)
from memtape.schemas.settings import Settings
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.association import UNLEARNED
from memtape.state.subjects.captures import ENTRY_KINDS, REPLACING, Capture
from memtape.state.subjects.edges import PER_ITEM, Edge, row_id, strongest
from memtape.state.subjects.embeddings import vector_row_id
from memtape.state.subjects.memories import Join, Memory
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.subjects.usage import other_row_id

MEMORIES_PER_PAGE = 500
ENTRIES_PER_PAGE = 500
INDEX_PATH = "MEMORY.md"
DAYS_ON_INDEX = 7
MEMORY_PAGES_ON_INDEX = 10
INDEX_LINES_BESIDE_FACTS = 40
"""Headings, goal, plan, notes and links of `MEMORY.md`, which share its lines with the facts."""


def guarded_rows(partition: Partition, changes: dict[Change, int]) -> list[Guarded]:
    """Return the rows that changes touched as they stand now, each with its guard."""
    rows = []
    for change, offset in changes.items():
        if change.table != "journal":
            scope = partition.scopes[change.scope]
            rows.append(Guarded(change.table, row_of(scope, change), scope.generation, offset))
    return rows


def all_changes(scope: Scope) -> dict[Change, int]:
    """Return every row that the scope has, as if all had changed, for those who compare whole views."""
    changes = {Change("memories", scope.name, scope.captures.by_seq[m.name].id): 0 for m in _memories(scope)}
    for capture in scope.captures.by_seq.values():
        if capture.body.kind == "turn":
            changes[Change("turns", scope.name, capture.id)] = 0
        elif capture.body.kind in ENTRY_KINDS:
            changes[Change("journal", scope.name, capture.id)] = 0
    for normal in scope.tombstones.texts:
        changes[Change("tombstones", scope.name, text_row_id(normal))] = 0
    for id in scope.tombstones.ids:
        changes[Change("tombstones", scope.name, f"id:{id}")] = 0
    for embedder, vectors in scope.embeddings.vectors.items():
        for seq in vectors:
            changes[Change("vectors", scope.name, vector_row_id(scope.captures.by_seq[seq].id, embedder))] = 0
    by_seq = scope.captures.by_seq
    used = [by_seq[seq].id for seq, use in scope.usage.own.items() if use.used]
    used += [other_row_id(id) for id, use in scope.usage.others.items() if use.used]
    changes |= {Change("uses", scope.name, id): 0 for id in used}
    for low, high in scope.edges.pairs | scope.edges.learned.pairs:
        changes[Change("edges", scope.name, row_id(by_seq[low].id, by_seq[high].id))] = 0
    return changes


def row_of(scope: Scope, change: Change) -> Row:
    """Return what a row holds now; a name that was given up or a ban that has ended is gone."""
    row: Row | None
    if change.table == "tombstones":
        row = _tombstone_row(scope, change.id)
    elif change.table == "vectors":
        row = _vector_row(scope, change.id)
    elif change.table == "uses":
        row = _use_row(scope, change.id)
    elif change.table == "edges":
        row = _edge_row(scope, change.id)
    else:
        capture = scope.captures.get(change.id)
        if capture is None:
            row = None
        else:
            row = _turn_row(scope, capture) if change.table == "turns" else _memory_row(scope, capture)
    return row or GoneRow(_key(scope, change.id), change.id, scope.name)


def pages_of(partition: Partition, changes: Iterable[Change]) -> list[Page]:
    """Return the pages that changes touched as they stand now, each once."""
    touched: dict[tuple[str, str], None] = {}
    for change in changes:
        for path in _paths(partition.scopes[change.scope], change):
            touched[change.scope, path] = None
    return [page(partition.scopes[scope], path, partition.settings) for scope, path in touched]


def page(scope: Scope, path: str, settings: Settings) -> Page:
    """Return the page of a path that `_paths` has named."""
    if path == INDEX_PATH:
        return _index_page(scope, settings)
    folder, _, name = path.removesuffix(".md").partition("/")
    return _memory_page(scope, path, int(name)) if folder == "memories" else _day_page(scope, path, name)


def _key(scope: Scope, id: str) -> str:
    return f"{scope.name}/{id}"


def _memories(scope: Scope) -> Iterator[Memory]:
    return iter(scope.memories.by_birth.values())


def _memory_row(scope: Scope, capture: Capture) -> MemoryRow | None:
    memory = scope.memories.of(capture.seq)
    if memory is None or memory.name != capture.seq:
        return None
    by_seq = scope.captures.by_seq
    members = [by_seq[join.seq] for join in memory.members]
    shown = [member for member in members if not member.hidden] or members
    spoken = by_seq[memory.canonical] if memory.canonical >= 0 else capture
    family = capture.family
    return MemoryRow(
        key=_key(scope, capture.id),
        id=capture.id,
        scope=scope.name,
        canonical=spoken.id,
        kind=spoken.body.kind,
        text=spoken.body.text,
        tags=spoken.body.tags,
        source=spoken.body.source,
        branch=spoken.body.branch,
        path=spoken.body.path,
        actor=spoken.actor.name,
        origin=spoken.actor.origin,
        session=spoken.session,
        importance_given=max(
            (m.body.importance_given for m in shown if m.body.importance_given is not None), default=None
        ),
        seq=capture.seq,
        at=spoken.at,
        first_at=min(member.at for member in shown),
        last_at=max(member.at for member in shown),
        confirmations=len(shown) - 1,
        ids=tuple(by_seq[join.seq].id for join in (*memory.members, *memory.echoes)),
        members=_ties(scope, memory.members),
        echoes=_ties(scope, memory.echoes),
        revises=None if memory.revises is None else by_seq[memory.revises.seq].id,
        similarity=0 if memory.revises is None else memory.revises.similarity,
        replaced=family in REPLACING and scope.memories.current.get(family) != memory.birth,
        hidden=memory.canonical < 0,
        provenance=_provenance(scope, memory),
    )


def _provenance(scope: Scope, memory: Memory) -> tuple[Provenance, ...]:
    """Return by whom and in which sessions the living captures of a memory were made, each once, echoes last."""
    captures = [scope.captures.by_seq[join.seq] for join in (*memory.members, *memory.echoes)]
    shown = [capture for capture in captures if not capture.hidden] or captures
    return tuple(dict.fromkeys(Provenance(capture.actor.origin, capture.session) for capture in shown))


def _ties(scope: Scope, joins: list[Join]) -> tuple[MemberRow, ...]:
    captures = (scope.captures.by_seq[join.seq] for join in joins)
    return tuple(
        MemberRow(capture.id, join.how, join.similarity, capture.offset)
        for join, capture in zip(joins, captures, strict=True)
    )


def _turn_row(scope: Scope, capture: Capture) -> TurnRow:
    body = capture.body
    return TurnRow(
        key=_key(scope, capture.id),
        id=capture.id,
        scope=scope.name,
        kind=body.kind,
        text=body.text,
        captions=_captions(capture),
        tags=body.tags,
        source=body.source,
        branch=body.branch,
        path=body.path,
        actor=capture.actor.name,
        origin=capture.actor.origin,
        session=capture.session,
        seq=capture.seq,
        at=capture.at,
        offset_of=capture.offset,
        hidden=capture.hidden,
    )


def _tombstone_row(scope: Scope, row_id: str) -> TombstoneRow | None:
    tombstone = scope.tombstones.get(row_id)
    if tombstone is None:
        return None
    return TombstoneRow(
        key=_key(scope, row_id), id=row_id, scope=scope.name, forgotten_by=tombstone.event_id, at=tombstone.at
    )


def _vector_row(scope: Scope, row_id: str) -> VectorRow | None:
    id, _, embedder = row_id.partition(":")
    capture = scope.captures.get(id)
    vector = None if capture is None else scope.embeddings.vectors.get(embedder, {}).get(capture.seq)
    if vector is None:
        return None
    return VectorRow(key=_key(scope, row_id), id=id, scope=scope.name, embedder=embedder, vector=vector)


def _use_row(scope: Scope, row_id: str) -> UseRow | None:
    seq = scope.captures.seq_of.get(row_id)
    if seq is not None:
        use = scope.usage.own.get(seq)
    else:
        use = next((use for id, use in scope.usage.others.items() if other_row_id(id) == row_id), None)
    if use is None or use.last is None:
        return None
    return UseRow(
        key=_key(scope, row_id), id=row_id, scope=scope.name, used=use.used, last_at=use.last, times=use.times
    )


def _edge_row(scope: Scope, row_id: str) -> EdgeRow | None:
    source, _, target = row_id.partition("~")
    low, high = scope.captures.seq_of.get(source), scope.captures.seq_of.get(target)
    if low is None or high is None:
        return None
    edge, learned = scope.edges.pairs.get((low, high)), scope.edges.learned.pairs.get((low, high))
    if edge is None and learned is None:
        return None
    edge, learned = edge or Edge(0, 0, 0), learned or UNLEARNED
    return EdgeRow(
        key=_key(scope, row_id),
        id=row_id,
        scope=scope.name,
        source=source,
        target=target,
        weight=edge.weight,
        at=edge.at,
        count=edge.count,
        learned=learned.weight,
        learned_windows=learned.windows,
        learned_at=learned.at,
    )


def _captions(capture: Capture) -> tuple[str, ...]:
    return tuple(media.caption for media in capture.body.media if media.caption)


def _paths(scope: Scope, change: Change) -> Iterator[str]:
    """Yield the paths of the pages on which a row stands or stood."""
    if change.table == "edges":
        yield from _named_paths(scope, change.id.split("~"))
        return
    capture = scope.captures.get(change.id)
    if change.table in ("tombstones", "vectors", "uses") or capture is None:
        return
    yield INDEX_PATH
    if change.table == "memories":
        yield _memory_path(capture.ordinal)
        # What was used with it links to it by its name.
        yield from _named_paths(scope, (scope.captures.by_seq[seq].id for seq in _ends(scope, capture.seq)))
    else:
        day, place = scope.captures.day_place(capture)
        part = place // ENTRIES_PER_PAGE
        yield f"logs/{day}.md" if not part else f"logs/{day}.{part + 1}.md"


def _ends(scope: Scope, seq: int) -> Iterator[int]:
    """Yield the captures that are linked with any of the memory of a capture, echoes included."""
    memory = scope.memories.of(seq)
    if memory is not None and scope.edges.pairs:
        for join in (*memory.members, *memory.echoes):
            yield from scope.edges.of.get(join.seq, ())


def _named_paths(scope: Scope, ids: Iterable[str]) -> Iterator[str]:
    """Yield the pages on which the memories of captured ids stand; turns stand on none of the list."""
    for id in ids:
        capture = scope.captures.get(id)
        memory = None if capture is None else scope.memories.of(capture.seq)
        if memory is not None:
            yield _memory_path(scope.captures.by_seq[memory.name].ordinal)


def _links(scope: Scope, row: MemoryRow) -> tuple[PageLink, ...]:
    """Return the living memories that a memory was used with, the strongest edge first."""
    by_seq, edges = scope.captures.by_seq, scope.edges
    found = scope.memories.of(scope.captures.seq_of[row.id])
    assert found is not None
    ties = []
    for join in (*found.members, *found.echoes):
        for other in edges.of.get(join.seq, ()):
            memory = scope.memories.of(other)
            if memory is not None and memory is not found and memory.canonical >= 0:
                edge = edges.pairs[min(join.seq, other), max(join.seq, other)]
                ties.append((memory.name, edge.weight, edge.at))
    names = list(dict.fromkeys(strongest(ties, len(ties))))[:PER_ITEM]
    return tuple(PageLink(by_seq[seq].id, _memory_path(by_seq[seq].ordinal)) for seq in names)


def _index_page(scope: Scope, settings: Settings) -> IndexPage:
    """Goal and plan, then the facts and insights confirmed most, the latest first among equals; models' come last."""
    memories = scope.memories
    best = islice(memories.leading.values(), max(0, settings.memory_page_lines - INDEX_LINES_BESIDE_FACTS))
    names = (scope.captures.by_seq[memories.name_of(birth)] for birth in best)
    return IndexPage(
        scope=scope.name,
        path=INDEX_PATH,
        goal=_current(scope, "goal"),
        plan=_current(scope, "plan"),
        facts=tuple(row for capture in names if (row := _memory_row(scope, capture))),
        memories=memories.alive,
        memory_pages=tuple(_latest_memory_pages(scope)),
        day_pages=tuple(f"logs/{day}.md" for day in _latest_days(scope)),
    )


def _latest_memory_pages(scope: Scope) -> list[str]:
    """Return the paths of the last pages of the list on which something stands, in their order."""
    ordinals, paths = scope.captures.ordinals, []
    for number in range((len(ordinals) - 1) // MEMORIES_PER_PAGE, -1, -1):
        seqs = ordinals[number * MEMORIES_PER_PAGE : (number + 1) * MEMORIES_PER_PAGE]
        if any(_is_named(scope, seq) for seq in seqs):
            paths.append(_memory_path(number * MEMORIES_PER_PAGE))
        if len(paths) == MEMORY_PAGES_ON_INDEX:
            break
    return paths[::-1]


def _is_named(scope: Scope, seq: int) -> bool:
    memory = scope.memories.of(seq)
    return memory is not None and memory.canonical >= 0 and memory.name == seq


def _memory_path(ordinal: int) -> str:
    return f"memories/{ordinal // MEMORIES_PER_PAGE + 1:03}.md"


def _latest_days(scope: Scope) -> list[str]:
    by_seq = scope.captures.by_seq
    days = (day for day, seqs in scope.captures.days.items() if any(not by_seq[seq].hidden for seq in seqs))
    return nlargest(DAYS_ON_INDEX, days)


def _current(scope: Scope, family: str) -> MemoryRow | None:
    birth = scope.memories.current.get(family)
    if birth is None:
        return None
    return _memory_row(scope, scope.captures.by_seq[scope.memories.name_of(birth)])


def _memory_page(scope: Scope, path: str, number: int) -> MemoryPage:
    first = (number - 1) * MEMORIES_PER_PAGE
    names = (scope.captures.by_seq[seq] for seq in scope.captures.ordinals[first : first + MEMORIES_PER_PAGE])
    found = (_memory_row(scope, capture) for capture in names if not capture.hidden)
    rows = tuple(row for row in found if row)
    links = {row.id: linked for row in rows if scope.edges.pairs and (linked := _links(scope, row))}
    return MemoryPage(scope=scope.name, path=path, number=number, rows=rows, links=links)


def _day_page(scope: Scope, path: str, name: str) -> DayPage:
    day, _, part = name.partition(".")
    first = (int(part or 1) - 1) * ENTRIES_PER_PAGE
    seqs = scope.captures.days[day][first : first + ENTRIES_PER_PAGE]
    said = (scope.captures.by_seq[seq] for seq in seqs)
    entries = [
        Entry(
            id=capture.id,
            at=capture.at,
            actor=capture.actor,
            kind=capture.body.kind,
            session=capture.session,
            text=capture.body.text,
            captions=_captions(capture),
        )
        for capture in sorted(said, key=lambda capture: (capture.at, capture.seq))
        if not capture.hidden
    ]
    return DayPage(scope=scope.name, path=path, day=day, entries=tuple(entries))
