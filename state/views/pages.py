"""Pages as pure functions of the state: written by the vault and compared by `verify`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memtape.schemas.events import SPEAKING
from memtape.schemas.ids import ID_CHARS
from memtape.schemas.places import (
    ARCHIVE,
    CONFLICTS_PATH,
    ESSENTIALS,
    INDEX_PATH,
    NOTE,
    NOTE_OF_GLOBAL,
    RECENT,
    THREADS,
)
from memtape.schemas.rows import Change, ScopeMark, VaultPage
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.settings import Settings
from memtape.state.core.partition import Partition
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import captures_of, memories_of, unit_of
from memtape.state.text.markdown import new_zone
from memtape.state.views import standing_pages as standing
from memtape.state.views.page_markdown import page_lines, page_zone
from memtape.state.views.page_texts import (
    conflict_lines,
    day_lines,
    index_lines,
    memory_lines,
    summary_lines,
    summary_path,
)
from memtape.state.views.tree_pages import PAGES, page_of, page_row, path_of

_PAGE_OF = {"conflicts": CONFLICTS_PATH, "archive": ARCHIVE, "threads": THREADS}
_INTRODUCING = (ESSENTIALS, THREADS, RECENT)


def pages_of(partition: Partition, changes: Iterable[Change]) -> list[VaultPage]:
    """Return the changed pages as they are now, each once."""
    return pages_at(partition, places_of(partition, changes))


def places_of(partition: Partition, changes: Iterable[Change]) -> dict[tuple[str, str], None]:
    """Return scope and path of each page that changes have touched."""
    scopes = partition.scopes
    return {(it.scope, path): None for it in changes for path in _paths(scopes[it.scope], it)}


def pages_at(partition: Partition, places: Iterable[tuple[str, str]]) -> list[VaultPage]:
    """Return the pages of some scopes and paths as they are now."""
    return [page(partition.scopes[scope], path, partition.settings) for scope, path in places]


def mark_of(partition: Partition, scope: Scope) -> ScopeMark:
    """Return the offset up to which the pages of a scope are valid, and the state of their zones."""
    zones = {path: standing.zone_captures(scope, path) for path in sorted(scope.captures.zones)}
    held = {path: tuple(capture.id for capture in its) for path, its in zones.items() if its}
    return ScopeMark(scope.name, partition.number, scope.changed + 1, held)


def page(scope: Scope, path: str, settings: Settings) -> VaultPage:
    """Return the page of a path that `_paths` has named."""
    folder, _, name = path.removesuffix(".md").partition("/")
    if folder == PAGES:
        tree = scope.pages.at(name)
        row = None if tree is None else page_row(scope, tree.id)
        if tree is None or row is None:
            return VaultPage(scope.name, path, "")
        return VaultPage(
            scope.name, path, _written(page_lines(scope, tree, row)), page_zone(scope, tree, row)
        )
    zone = None
    texts = [scope.captures.body(capture).text for capture in standing.zone_captures(scope, path)]
    if texts or path == INDEX_PATH:
        zone = new_zone(texts, NOTE_OF_GLOBAL if scope.name == GLOBAL else NOTE)
    if path in standing.STANDING:
        return VaultPage(scope.name, path, standing.STANDING[path](scope), zone)
    match folder:
        case "memories":
            lines = memory_lines(scope, int(name))
        case "logs":
            lines = day_lines(scope, name)
        case "summaries":
            lines = summary_lines(scope, name[-ID_CHARS:])
        case _:
            lines = conflict_lines(scope) if path == CONFLICTS_PATH else index_lines(scope, settings)
    return VaultPage(scope.name, path, _written(lines), zone)


def _written(lines: list[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _paths(scope: Scope, change: Change) -> Iterator[str]:
    """Yield the paths of the pages that have or had a row."""
    match change.table:
        case "edges":
            yield from _named_paths(scope, change.id.split("~"))
        case "conflicts" | "archive" | "threads" as table:
            yield from (INDEX_PATH, _PAGE_OF[table])
        case "summaries":
            yield from (INDEX_PATH, summary_path(scope.lifecycle.summaries[change.id]))
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
