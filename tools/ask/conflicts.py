"""The conflicts of a scope for people: both texts, their authors and times, and the outcome."""

from __future__ import annotations

from typing import Literal

import msgspec

from memtape.schemas.events import Kind, Origin
from memtape.schemas.rows import ConflictRow, ConflictStatus, ConflictWhy, Severity, by_weight, made_from
from memtape.schemas.scopes import scopes_read
from memtape.sinks.search_index import OpenIndex
from memtape.state.index.parts import EVERY_TEXT
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.retrieval import Retriever

Side = Literal["A", "B"]


class ConflictMember(msgspec.Struct, frozen=True, kw_only=True):
    """A side of a conflict: the captured id that named the memory, the memory's id now, and the ids of its
    evidence.

    All fields of the memory are None if it is no longer shown. `at` is in microseconds.
    """

    captured: str
    evidence: tuple[str, ...]
    id: str | None = None
    text: str | None = None
    kind: Kind | None = None
    at: int | None = None
    actor: str | None = None
    origin: Origin | None = None
    confirmations: int = 0


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A conflict with two sides; `a` was said first. `kept` is the side that people kept, None before a
    decision.
    """

    id: str
    scope: str
    status: ConflictStatus
    severity: Severity
    why: ConflictWhy
    raised_at: int
    settled_at: int | None
    kept: Side | None
    note: str | None
    a: ConflictMember
    b: ConflictMember


class ConflictList(msgspec.Struct, frozen=True, kw_only=True):
    """Conflicts of a scope and of `global`: pending ones first, the gravest first.

    `pending` is their number; `lag` is the number of events that the views lack.
    """

    scope: str
    pending: int
    lag: int
    conflicts: tuple[Conflict, ...]


def conflicts_of(retriever: Retriever, scope: str, every: bool) -> ConflictList:
    """Return the conflicts of a scope and of `global`: those that wait for people, or all if `every`."""
    read = {name: retriever.found(name, EVERY_TEXT) for name in scopes_read(scope)}
    rows = sorted((row for found, _ in read.values() for row in _rows(found.opened)), key=by_weight)
    shown = [row for row in rows if every or row.status == "pending"]
    return ConflictList(
        scope=scope,
        pending=sum(row.status == "pending" for row in rows),
        lag=sum(view.lag for _, view in read.values()),
        conflicts=tuple(_conflict(read[row.scope][0], row) for row in shown),
    )


def waiting(opened: OpenIndex) -> int:
    """Return how many conflicts of a scope wait for people."""
    return sum(row.status == "pending" for row in _rows(opened))


def opposed_pairs(opened: OpenIndex) -> list[tuple[frozenset[str], bool]]:
    """Return the pairs of opposed wishes about which people were asked, each with whether they still are."""
    return [(frozenset((row.a, row.b)), row.status == "pending") for row in _rows(opened) if row.why == "opposed"]


def _rows(opened: OpenIndex) -> list[ConflictRow]:
    return [row for row in opened.rows("conflicts") if isinstance(row, ConflictRow)]


def _conflict(found: ScopeTexts, row: ConflictRow) -> Conflict:
    kept: Side | None = None if row.kept is None else "A" if row.kept == row.a else "B"
    sides = {"a": _told(found, row.a, row.a_evidence), "b": _told(found, row.b, row.b_evidence)}
    return made_from(Conflict, row, kept=kept, **sides)


def _told(found: ScopeTexts, captured: str, evidence: tuple[str, ...]) -> ConflictMember:
    place = found.texts.called(captured)
    if place is None:
        return ConflictMember(captured=captured, evidence=evidence)
    return made_from(ConflictMember, found.result(place), captured=captured, evidence=evidence)
