"""What waits for people: the conflicts of a scope, and the rules proposed to people, with their answers.

`state/views/proposals.py` defines proposals. Accepting captures a rule's words in the target scope, under the
id of the proposal. Declining forgets this id, so that a later capture under the id stays hidden. Neither
changes the memories in which the rule was found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Captured, Forgotten, Kind, Origin, Restored, Withdrawn
from memtape.schemas.ids import short_id
from memtape.schemas.rows import ConflictRow, ConflictStatus, ConflictWhy, Severity, TombstoneRow, made_from
from memtape.schemas.rows import by_weight as weight_of
from memtape.schemas.scopes import GLOBAL, scopes_read
from memtape.sinks.search_index import OpenIndex
from memtape.state.index.parts import EVERY_TEXT
from memtape.state.subjects.instructions import INSTRUCTION_TAGS
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.text.instructions import same_instruction
from memtape.state.text.reading import read
from memtape.state.text.statements import IMPORTANCE
from memtape.state.views.context import instructions_of
from memtape.state.views.proposals import ACCEPTED_SOURCE, Proposal, proposed
from memtape.tools.capture.writing import Line, Writer
from memtape.tools.query.found import ScopeTexts, known_in
from memtape.tools.query.plan import named_by
from memtape.tools.query.retrieval import Retriever

Side = Literal["A", "B"]


class ConflictMember(msgspec.Struct, frozen=True, kw_only=True):
    """A side of a conflict: the captured id that named the memory, its id now, and its evidence.

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
    """A conflict; `a` was said first. `kept` is the side that people kept, None before that."""

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

    `pending` is their number; `lag` is the number of events that the views lack. `rules` wait for people too.
    """

    scope: str
    pending: int
    lag: int
    conflicts: tuple[Conflict, ...]
    rules: tuple[Proposal, ...] = ()


def conflicts_of(retriever: Retriever, scope: str, every: bool) -> ConflictList:
    """Return the conflicts of a scope and of `global`: those that wait for people, or all if `every`."""
    read = {name: retriever.found(name, EVERY_TEXT) for name in scopes_read(scope)}
    rows = [row for found, _ in read.values() for row in found.opened.rows(ConflictRow)]
    rows.sort(key=weight_of)
    shown = [row for row in rows if every or row.status == "pending"]
    return ConflictList(
        scope=scope,
        pending=sum(row.status == "pending" for row in rows),
        lag=sum(view.lag for _, view in read.values()),
        conflicts=tuple(_conflict(read[row.scope][0], row) for row in shown),
    )


def waiting(opened: OpenIndex) -> int:
    """Return how many conflicts of a scope wait for people."""
    return sum(row.status == "pending" for row in opened.rows(ConflictRow))


def opposed_pairs(opened: OpenIndex) -> list[tuple[frozenset[str], bool]]:
    """Return the pairs of opposed wishes about which people were asked, each with whether they still are."""
    rows = (row for row in opened.rows(ConflictRow) if row.why == "opposed")
    return [(frozenset((row.a, row.b)), row.status == "pending") for row in rows]


def _conflict(found: ScopeTexts, row: ConflictRow) -> Conflict:
    kept: Side | None = None if row.kept is None else "A" if row.kept == row.a else "B"
    sides: dict[str, ConflictMember] = {}
    for side, captured, evidence in (("a", row.a, row.a_evidence), ("b", row.b, row.b_evidence)):
        sides[side] = ConflictMember(captured=captured, evidence=evidence)
        if (place := found.texts.called(captured)) is not None:
            told = found.result(place)
            sides[side] = made_from(ConflictMember, told, captured=captured, evidence=evidence)
    return made_from(Conflict, row, kept=kept, **sides)


Answered = Literal["waits", "accepted", "declined"]
Answering = Callable[[Writer, Proposal, Answered], None]
"""Answers a rule in its target scope; the last is the answer so far."""


def answers_of(retriever: Retriever, scope: str) -> list[tuple[Proposal, Answered]]:
    """Return the proposals of a scope's known texts, the latest first, each with its status."""
    own, view = retriever.found(scope)
    known = known_in(own, retriever.now([view]))
    proposals = own.once.of("proposed", None, lambda: proposed(known))
    ways = {into: _answers_in(retriever, into) for into in dict.fromkeys(it.into for it in proposals)}
    return [(it, ways[it.into](it)) for it in proposals]


def _answers_in(retriever: Retriever, into: str) -> Callable[[Proposal], Answered]:
    """Return a function from a proposal into scope `into` to its status."""
    found, view = retriever.found(into)
    tail = retriever.tail(into, view.mark.offset)

    def made() -> dict[str, None]:
        """Return the valid memories of `global`, or a project's instructions, in the normal form of these."""
        valid = [it for it in known_in(found, retriever.now([view])) if it.valid_to is None]
        told = [it for it in valid if it.kind != "turn"] if into == GLOBAL else instructions_of(valid)[0]
        return {same_instruction(read(it.text)): None for it in told}

    held = found.once.of("instructions", None, made)
    banned: dict[str, bool] = {}
    captured: dict[str, None] = {}
    for event in tail:
        if isinstance(event.body, Forgotten | Restored | Withdrawn):
            banned |= dict.fromkeys(event.body.ids, isinstance(event.body, Forgotten))
        elif isinstance(event.body, Captured):
            captured[event.id] = None

    def how(it: Proposal) -> Answered:
        if same_instruction(read(it.text)) in held:
            return "accepted"
        rows = (f"id:{it.id}", text_row_id(it.text))
        is_banned = any(found.opened.row(TombstoneRow, row) is not None for row in rows)
        # What was accepted and withdrawn is hidden without a ban, and waits again.
        is_known = any(not row.hidden for row in found.opened.rows_called(it.id)) or it.id in captured
        return "declined" if banned.get(it.id, is_banned or is_known) else "waits"

    return how


def meant(proposals: list[tuple[Proposal, Answered]], given: str) -> tuple[Proposal, Answered]:
    """Return the proposal of an id or its beginning. Raises `NotFound`, and `MemtapeError` for several."""
    found = named_by(given, ((it[0].id, it) for it in proposals))
    if found is None:
        raise NotFound(f"No rule that waits is called {given[:60]}.", "`memtape settle` lists those.")
    return found


def accept(writer: Writer, rule: Proposal, before: Answered) -> None:
    """Capture a rule in its target scope if the writer may write; restore a rule known to the scope."""
    is_known = before == "declined" or bool(writer.log.known(rule.into, [rule.id]))
    native = same_instruction(read(rule.text))
    line = Line(text=rule.text, scope=rule.into, source=ACCEPTED_SOURCE, native_id=native)
    if rule.is_doubted:
        line = replace(line, tags=INSTRUCTION_TAGS, importance=IMPORTANCE["instruction"] / 100)
    writer.log.append([replace(event, refs=rule.said_in) for event in writer.events_of(line, {})])
    if is_known:
        writer.append("restored", Restored(ids=(rule.id,), reason=None), rule.into)


def decline(writer: Writer, rule: Proposal, before: Answered) -> None:
    """Forget a rule's id in its target scope, where the writer may write.

    Raises `MemtapeError` where the rule already holds in the target scope.
    """
    if before == "accepted":
        where = "here" if rule.is_doubted else "in all projects"
        origin = " --origin operator" if rule.into == GLOBAL else ""
        then = f"`memtape forget {short_id(rule.id)} --scope {rule.into}{origin}` ends that."
        raise MemtapeError(f"This rule holds {where} already.", then)
    if before == "waits":
        reason = "declined as pasted" if rule.is_doubted else "declined for all projects"
        writer.append("forgotten", Forgotten(ids=(rule.id,), reason=reason), rule.into)


def reopen(writer: Writer, rule: Proposal, before: Answered) -> None:
    """Let an answered rule wait again, where the writer may write. Raises `MemtapeError` for others.

    What was accepted is withdrawn, which bans no text.
    """
    if before == "waits":
        raise MemtapeError("This rule was not answered.", "`memtape settle --rules` lists the answers.")
    if before == "accepted":
        writer.append("withdrawn", Withdrawn(ids=(rule.id,), on=True), rule.into)
    else:
        writer.append("restored", Restored(ids=(rule.id,), reason=None), rule.into)
