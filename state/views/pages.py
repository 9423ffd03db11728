"""Pages as pure functions of the state: written by the vault and compared by `verify`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from itertools import islice

from memtape.schemas import rows as values
from memtape.schemas.events import SPEAKING
from memtape.schemas.ids import ID_CHARS
from memtape.schemas.places import ARCHIVE, ESSENTIALS, RECENT, THREADS
from memtape.schemas.rows import Change, MemoryRow, made_from
from memtape.schemas.settings import Settings
from memtape.schemas.times import format_day
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.covers import has_ended, is_shown
from memtape.state.subjects.edges import PER_ITEM, strongest
from memtape.state.subjects.lifecycle import Summary
from memtape.state.subjects.memories import captures_of, memories_of, memory_of, unit_of
from memtape.state.subjects.validity import successor, valid_from
from memtape.state.views import standing_pages as standing
from memtape.state.views.rows import captions, conflict_row, memory_row, summary_row
from memtape.state.views.tree_pages import PAGES, page_of, path_of, tree_page

SUMMARIES = "summaries"
SUMMARIES_ON_INDEX = 7
INDEX_PATH, CONFLICTS_PATH = "MEMORY.md", "conflicts.md"
_PAGE_OF = {"conflicts": CONFLICTS_PATH, "archive": ARCHIVE, "threads": THREADS}
_INTRODUCING = (ESSENTIALS, THREADS, RECENT)
DAYS_ON_INDEX = 7
MEMORY_PAGES_ON_INDEX = 10
CONFLICTS_ON_PAGE, SETTLED_ON_PAGE = 100, 50
INDEX_LINES_BESIDE_FACTS = 40
"""Headings, goal, plan, notes, links and marks of the zone, which share the page's lines with the facts."""


def pages_of(partition: Partition, changes: Iterable[Change]) -> list[values.Page]:
    """Return the changed pages as they are now, each once."""
    return pages_at(partition, places_of(partition, changes))


def places_of(partition: Partition, changes: Iterable[Change]) -> dict[tuple[str, str], None]:
    """Return scope and path of each page that changes have touched."""
    scopes = partition.scopes
    return {(it.scope, path): None for it in changes for path in _paths(scopes[it.scope], it)}


def pages_at(partition: Partition, places: Iterable[tuple[str, str]]) -> list[values.Page]:
    """Return the pages of some scopes and paths as they are now."""
    return [page(partition.scopes[scope], path, partition.settings) for scope, path in places]


def mark_of(partition: Partition, scope: Scope) -> values.ScopeMark:
    """Return the offset up to which the pages of a scope are valid, and the state of their zones."""
    zones = {path: standing.zone_captures(scope, path) for path in sorted(scope.captures.zones)}
    held = {path: tuple(capture.id for capture in its) for path, its in zones.items() if its}
    return values.ScopeMark(scope.name, partition.number, scope.changed + 1, held)


def page(scope: Scope, path: str, settings: Settings) -> values.Page:
    """Return the page of a path that `_paths` has named."""
    if path == INDEX_PATH:
        return _index_page(scope, settings)
    if path == CONFLICTS_PATH:
        return _conflicts_page(scope)
    if path in standing.STANDING:
        return standing.STANDING[path](scope)
    folder, _, name = path.removesuffix(".md").partition("/")
    if folder == SUMMARIES:
        return _summary_page(scope, path, name[-ID_CHARS:])
    if folder == PAGES:
        return tree_page(scope, path, scope.pages.at(name))
    return _memory_page(scope, path, int(name)) if folder == "memories" else _day_page(scope, path, name)


def _paths(scope: Scope, change: Change) -> Iterator[str]:
    """Yield the paths of the pages that have or had a row."""
    match change.table:
        case "edges":
            yield from _named_paths(scope, change.id.split("~"))
        case "conflicts" | "archive" | "threads" as table:
            yield from (INDEX_PATH, _PAGE_OF[table])
        case "summaries":
            yield from (INDEX_PATH, _summary_path(scope.lifecycle.summaries[change.id]))
        case "scope":
            yield from (INDEX_PATH, *_INTRODUCING)
        case "files":
            yield path_of(change.id)
        case "pages":
            page = page_of(scope, change.id)
            if page is not None and page.slug:  # A page without a slug has no file.
                yield path_of(page.slug)
        case "uses" | "standing" | "memories" | "turns" | "journal":
            for capture in scope.captures.found((change.id,)):
                yield from _paths_of_capture(scope, change, capture)


def _paths_of_capture(scope: Scope, change: Change, capture: Capture) -> Iterator[str]:
    """Yield the paths of the pages that a change of a memory, of an entry or of a use touches."""
    memory = scope.memories.of(capture.seq)
    if change.table in ("uses", "standing"):
        yield from () if memory is None else (INDEX_PATH,)
        return
    yield INDEX_PATH
    if change.table != "memories":
        yield standing.day_path(scope, capture)
        if change.table == "turns":
            yield from _standing_paths(scope, (capture,))
        return
    yield standing.memory_path(capture.ordinal)
    yield ESSENTIALS
    if memory is not None:
        if scope.conflicts.of_memory(scope, memory):
            yield CONFLICTS_PATH
        yield from _standing_paths(scope, captures_of(scope, memory.joins))
    # Pages of memories used together link to it by its name.
    joins = memory.joins if memory is not None and scope.edges.pairs else ()
    ends = (seq for join in joins for seq in scope.edges.of.get(join.seq, ()))
    yield from _named_paths(scope, (scope.captures.by_seq[seq].id for seq in ends))


def _standing_paths(scope: Scope, captures: Sequence[Capture]) -> Iterator[str]:
    """Yield the standing pages that may have a turn or the captures of a memory."""
    seqs = [seq for capture in captures for seq in (capture.seq, capture.turn) if seq >= 0]
    if any(seq in scope.instructions.orders for seq in seqs):
        yield from _INTRODUCING
    if scope.threads.has_any(seqs):
        yield THREADS
    if any(it.turn >= 0 or (it.kind == "turn" and it.actor.origin in SPEAKING) for it in captures):
        yield RECENT
    if unit_of(scope, captures[0]) in scope.lifecycle.archived:
        yield ARCHIVE


def _named_paths(scope: Scope, ids: Iterable[str]) -> Iterator[str]:
    """Yield the pages of the list with the memories of captured ids; turns are on none."""
    for memory in memories_of(scope, ids):
        yield standing.memory_path(scope.captures.by_seq[memory.name].ordinal)


def _links(scope: Scope, row: MemoryRow) -> tuple[tuple[str, str], ...]:
    """Return the living memories that a memory was used with, the strongest edge first."""
    by_seq, edges = scope.captures.by_seq, scope.edges
    found = memory_of(scope, row.id)
    assert found is not None
    ties = []
    for join in found.joins:
        for other in edges.of.get(join.seq, ()):
            memory = scope.memories.of(other)
            if memory is not None and memory is not found and memory.lives:
                edge = edges.pairs[min(join.seq, other), max(join.seq, other)]
                ties.append((memory.name, edge.weight, edge.at))
    names = list(dict.fromkeys(strongest(ties, len(ties))))[:PER_ITEM]
    return tuple((by_seq[seq].id, standing.memory_path(by_seq[seq].ordinal)) for seq in names)


def _index_page(scope: Scope, settings: Settings) -> values.IndexPage:
    """Return goal and plan, then the leading facts and insights, except those in the zone of the page.

    Lines captured from the zone count as lines of the page. An order about memory is no fact, and a subject
    that people ordered to leave out is only in their own zone.
    """
    names, theirs = standing.names_left_out(scope), standing.zone_captures(scope, INDEX_PATH)
    births = dict.fromkeys(scope.memories.birth_of.get(capture.seq) for capture in theirs)
    led = (birth for birth in scope.leading.births(scope) if birth not in births)
    taken = sum(scope.captures.body(capture).text.count("\n") + 1 for capture in theirs)
    lines = settings.memory_page_lines - INDEX_LINES_BESIDE_FACTS - taken
    goal, plan = (standing.current_row(scope, family, names) for family in ("goal", "plan"))
    told = islice(standing.told_rows(scope, led, names), max(0, lines))
    facts = tuple(sorted(told, key=lambda row: row.contradicts is not None))
    rows = (*(row for row in (goal, plan) if row is not None), *facts)
    # Memories that are covered, or a consolidation's text without cover, are not counted.
    covered = (id for cover in scope.covers.holding.values() if cover.op != "add" for id in cover.ids)
    hidden = {it.birth: it for it in memories_of(scope, (*covered, *scope.captures.decided))}
    not_shown = sum(it.lives and not is_shown(scope, scope.covers, it) for it in hidden.values())
    by_seq = scope.captures.by_seq
    days = (day for day, seqs in scope.captures.days.items() if not all(by_seq[seq].hidden for seq in seqs))
    summaries = nlargest(SUMMARIES_ON_INDEX, scope.lifecycle.summaries.values(), key=lambda it: it.group)
    return values.IndexPage(
        **standing.page_at(scope, INDEX_PATH),
        goal=goal,
        plan=plan,
        facts=facts,
        memories=sum(1 for _ in scope.memories.living()) - not_shown,
        memory_pages=tuple(_latest_memory_pages(scope)),
        day_pages=tuple(f"logs/{day}.md" for day in nlargest(DAYS_ON_INDEX, days)),
        conflicts=len(scope.conflicts.pending),
        summary_pages=tuple(map(_summary_path, summaries)),
        project=values.project_told(scope.lifecycle.mark()),
        standing=standing.shown_on_index(scope),
        places={row.id: standing.memory_path(by_seq[row.seq].ordinal) for row in rows},
    )


def _conflicts_page(scope: Scope) -> values.ConflictsPage:
    """Return the page of pending and settled conflicts; expired ones are left out."""
    shown = [it.id for it in scope.conflicts.by_id.values() if it.status != "expired"]
    rows = sorted((row for id in shown if (row := conflict_row(scope, id)) is not None), key=values.by_weight)
    pending = [row for row in rows if row.status == "pending"]
    settled = rows[len(pending) :]
    return values.ConflictsPage(
        **standing.page_at(scope, CONFLICTS_PATH),
        pending=tuple(_listed(scope, row) for row in pending[:CONFLICTS_ON_PAGE]),
        settled=tuple(_listed(scope, row) for row in settled[:SETTLED_ON_PAGE]),
        more=len(pending[CONFLICTS_ON_PAGE:]) + len(settled[SETTLED_ON_PAGE:]),
    )


def _listed(scope: Scope, row: values.ConflictRow) -> values.ListedConflict:
    """Return a conflict for display, with None for a hidden side."""
    sides: list[tuple[MemoryRow, str] | None] = []
    for memory in (memory_of(scope, id) for id in (row.a, row.b)):
        name = None if memory is None or not memory.lives else scope.captures.by_seq[memory.name]
        its = None if name is None else memory_row(scope, name.id)
        sides.append(None if name is None or its is None else (its, standing.memory_path(name.ordinal)))
    return values.ListedConflict(row, sides[0], sides[1])


def _latest_memory_pages(scope: Scope) -> list[str]:
    """Return the paths of the last pages of the list with content, in order."""
    ordinals, paths = scope.captures.ordinals, []
    for number in range((len(ordinals) - 1) // standing.MEMORIES_PER_PAGE, -1, -1):
        seqs = ordinals[number * standing.MEMORIES_PER_PAGE : (number + 1) * standing.MEMORIES_PER_PAGE]
        found = ((seq, memory) for seq in seqs if (memory := scope.memories.of(seq)) is not None)
        named = (memory for seq, memory in found if memory.lives and memory.name == seq)
        if not all(has_ended(scope, scope.covers, memory) for memory in named):
            paths.append(standing.memory_path(number * standing.MEMORIES_PER_PAGE))
        if len(paths) == MEMORY_PAGES_ON_INDEX:
            break
    return paths[::-1]


def _summary_page(scope: Scope, path: str, id: str) -> values.SummaryPage:
    row = summary_row(scope, id)
    sources = scope.captures.found(row.sources if row is not None else ())
    places = dict.fromkeys(standing.place_of(scope, capture) for capture in sources)
    return values.SummaryPage(**standing.page_at(scope, path), row=row, places=tuple(places))


def _summary_path(summary: Summary) -> str:
    """Return the path of the page of a summary, with its day and kind, and the whole id."""
    start, level, kind, _ = summary.group
    return f"{SUMMARIES}/{format_day(start)}-{values.TOLD_LEVELS[level]}-{kind}-{summary.id}.md"


def _memory_page(scope: Scope, path: str, number: int) -> values.MemoryPage:
    first = (number - 1) * standing.MEMORIES_PER_PAGE
    seqs = scope.captures.ordinals[first : first + standing.MEMORIES_PER_PAGE]
    names = (scope.captures.by_seq[seq] for seq in seqs)
    found = (memory_row(scope, capture.id) for capture in names if not capture.hidden)
    rows = tuple(row for row in found if row)
    links = {row.id: linked for row in rows if scope.edges.pairs and (linked := _links(scope, row))}
    return values.MemoryPage(**standing.page_at(scope, path), number=number, rows=rows, links=links)


def _entry_mark(scope: Scope, entry: Capture) -> str:
    """Return the mark of a daily log's entry that was replaced, as a whole or in one of its statements."""
    seqs = (entry.seq,) if entry.family else scope.captures.stated.get(entry.seq, ())
    for seq in (seq for seq in seqs if not scope.captures.by_seq[seq].hidden):
        memory = scope.memories.of(seq)
        after = None if memory is None or not memory.lives else successor(scope, memory)
        if memory is not None and after is not None:
            time = max(valid_from(scope, memory), valid_from(scope, after))
            told = values.replaced(time, scope.captures.by_seq[after.name].id)
            return told if entry.family else f"says what was {told}"
    return ""


def _day_page(scope: Scope, path: str, name: str) -> values.DayPage:
    day, _, part = name.partition(".")
    first = (int(part or 1) - 1) * standing.ENTRIES_PER_PAGE
    seqs = scope.captures.days[day][first : first + standing.ENTRIES_PER_PAGE]
    said = (scope.captures.by_seq[seq] for seq in seqs)
    entries = [
        made_from(values.DayEntry, it, text=body.text, captions=captions(body), mark=_entry_mark(scope, it))
        for it in sorted(said, key=lambda capture: (capture.at, capture.seq))
        if not it.hidden and (body := scope.captures.body(it))
    ]
    return values.DayPage(**standing.page_at(scope, path), day=day, entries=tuple(entries))
