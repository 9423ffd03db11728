"""The places of captures and memories in the vault: paths shared by all pages."""

from __future__ import annotations

from memtape.schemas.rows import MemoryRow
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.covers import is_shown
from memtape.state.subjects.lifecycle import is_archived
from memtape.state.subjects.memories import Memory
from memtape.state.subjects.validity import holds
from memtape.state.views.rows import memory_row

MEMORIES_PER_PAGE = 500
ENTRIES_PER_PAGE = 500


def day_path(scope: Scope, capture: Capture) -> str:
    """Return the path of the daily log of a turn or an entry of the journal."""
    day, place = scope.captures.day_place(capture)
    part = place // ENTRIES_PER_PAGE
    return f"logs/{day}.md" if not part else f"logs/{day}.{part + 1}.md"


def zone_captures(scope: Scope, path: str) -> list[Capture]:
    """Return the living captures from the zone of a page, in the order of the log."""
    captures = map(scope.captures.by_seq.__getitem__, scope.captures.zones.get(path, ()))
    return [capture for capture in captures if not capture.hidden]


def zone_texts(scope: Scope, path: str) -> tuple[str, ...]:
    """Return the living texts from the zone of a page, in the order of the log."""
    return tuple(scope.captures.body(capture).text for capture in zone_captures(scope, path))


def is_told(scope: Scope, memory: Memory) -> bool:
    """Return whether a memory is shown by itself, holds, and is not archived."""
    return is_shown(scope, scope.covers, memory) and holds(scope, memory) and not is_archived(scope, memory.birth)


def place_of(scope: Scope, capture: Capture) -> str:
    """Return the path of the page with a turn, or with the memory of a capture."""
    memory = scope.memories.of(capture.seq)
    return day_path(scope, capture) if memory is None else memory_path(scope.captures.by_seq[memory.name].ordinal)


def memory_path(ordinal: int) -> str:
    """Return the path of the page of the list with the memory of an ordinal."""
    return f"memories/{ordinal // MEMORIES_PER_PAGE + 1:03}.md"


def current_row(scope: Scope, family: str) -> MemoryRow | None:
    """Return the row of the goal or plan that is in force, and not archived."""
    birth = scope.validity.current.get(family)
    if birth is None or is_archived(scope, birth):
        return None
    return memory_row(scope, scope.captures.by_seq[scope.memories.name_of(birth)].id)
