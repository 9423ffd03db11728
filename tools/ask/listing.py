"""Lists for people: stale, pinned and hidden memories, orders about memory, waiting rules.

Nothing is ranked or changed here.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.codec import event_of
from memtape.schemas.events import Kind, Pinned
from memtape.schemas.log import Log, backwards
from memtape.schemas.rows import Category, MemoryRow, PageRow, TurnRow
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.state.text.instructions import same_instruction
from memtape.state.views.effects import PENDING_TYPES
from memtape.state.views.proposals import Proposal
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.proposals import Answered, answers_of
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.ask.standing import Order, is_row_stale, orders_among


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """A stale memory: the times of its last statement and use, in microseconds, and its number of uses."""

    id: str
    scope: str
    kind: Kind
    category: Category
    text: str
    last_at: int
    used_at: int | None
    uses: int


def stale_of(retriever: Retriever, scope: str, limit: int) -> list[Stale]:
    """Return the stale memories of a scope and of `global`, the most used first, then the oldest."""
    read = [retriever.found(name) for name in scopes_read(scope)]
    now = retriever.now([view for _, view in read])
    listed = [row for found, _ in read for row in _stale_in(found, now)]
    listed.sort(key=lambda row: (-row.uses, max(row.last_at, row.used_at or row.last_at), row.id))
    return [Stale(**{name: getattr(row, name) for name in Stale.__struct_fields__}) for row in listed[:limit]]


def _stale_in(found: ScopeTexts, now: int) -> list[MemoryRow]:
    def make() -> list[MemoryRow]:
        rows = [row for row in found.known() if isinstance(row, MemoryRow)]
        return [row for row in rows if row.into is None and is_row_stale(row, now)]

    return found.once_rows.of("stale", now, make)


def pinned_of(retriever: Retriever, log: Log, scope: str) -> list[MemoryRow | TurnRow]:
    """Return the visible pinned units of a scope and `global`, latest first; the log names candidates."""
    rows: dict[str, MemoryRow | TurnRow] = {}
    for name in scopes_read(scope):
        opened = retriever.opened(name)
        slots = backwards(log, partition_of(name, log.partitions), name, ("pinned",))
        events = (event_of(slot.payload) for slot in slots)
        ids = dict.fromkeys(id for it in events if it is not None and isinstance(it.body, Pinned) for id in it.body.ids)
        found = (row for id in ids for row in opened.rows_called(id))
        rows |= {
            row.id: row for row in found if isinstance(row, (MemoryRow, TurnRow)) and row.pinned and not row.hidden
        }
    return sorted(rows.values(), key=lambda row: (-row.at, row.id))


def hidden_of(retriever: Retriever, scope: str, limit: int) -> list[MemoryRow | TurnRow]:
    """Return the forgotten and withdrawn units of a scope that can be restored, at most `limit`, by id."""
    rows: list[MemoryRow | TurnRow] = []
    for name in scopes_read(scope):
        opened = retriever.opened(name)
        for id in opened.hidden(limit - len(rows)):
            row = opened.row("memories", id) or opened.row("turns", id)
            rows += [row] if isinstance(row, (MemoryRow, TurnRow)) else []
    return rows


def pages_of(retriever: Retriever, scope: str) -> list[PageRow]:
    """Return the rows of a scope's pages, by slug."""
    rows = (row for row in retriever.opened(scope).rows("pages") if isinstance(row, PageRow))
    return sorted(rows, key=lambda row: (row.slug, row.id))


def fresh_pages_of(retriever: Retriever, log: Log, scope: str) -> list[PageRow] | None:
    """Return the rows of a scope's pages, None where something was said in it that the views do not have."""
    number = partition_of(scope, log.partitions)
    mark = retriever.watermark(number)
    behind = log.read(number, 0 if mark is None else mark.offset, 1, scope=scope, types=PENDING_TYPES)
    return None if behind else pages_of(retriever, scope)


def orders_of(retriever: Retriever, scope: str) -> list[Order]:
    """Return the orders of people in a scope and in `global`, the latest first, each once."""
    first: dict[tuple[str, str], Order] = {}
    for name in scopes_read(scope):
        for order in orders_among(retriever.found(name)[0]):
            known = first.get((name, same_instruction(order.text)))
            ids = order.ids if known is None else tuple(dict.fromkeys((*known.ids, *order.ids)))
            first[name, same_instruction(order.text)] = msgspec.structs.replace(known or order, ids=ids)
    return sorted(first.values(), key=lambda order: (-order.at, order.ids))


def proposals_of(retriever: Retriever, scope: str) -> list[tuple[Proposal, Answered]]:
    """Return the rules of a scope that people are asked about, the latest first, with how each stands."""
    return answers_of(retriever, scope)
