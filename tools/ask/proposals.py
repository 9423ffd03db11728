"""The rules proposed to people, with their answers, from each scope's views and tail.

`state/views/proposals.py` defines proposals; `accepting.py` records answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from memtape.schemas.events import Captured, Forgotten, Restored
from memtape.schemas.scopes import GLOBAL
from memtape.state.subjects.captures import normal_digest
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.text.instructions import same_instruction
from memtape.state.views.context import Known, instructions_of
from memtape.state.views.proposals import Proposal, proposed
from memtape.tools.ask.known import known_in
from memtape.tools.ask.retrieval import Retriever

Answered = Literal["waits", "accepted", "declined"]


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
    held_by = _held_in_all if into == GLOBAL else _instructing
    held = found.once.of("instructions", None, lambda: held_by(known_in(found, retriever.now([view]))))
    banned: dict[str, bool] = {}
    for event in tail:
        if isinstance(event.body, Forgotten | Restored):
            banned |= dict.fromkeys(event.body.ids, isinstance(event.body, Forgotten))
    captured = {event.id: None for event in tail if isinstance(event.body, Captured)}

    def how(it: Proposal) -> Answered:
        if same_instruction(it.text) in held:
            return "accepted"
        rows = (f"id:{it.id}", text_row_id(normal_digest(it.text)))
        is_banned = any(found.opened.row("tombstones", row) is not None for row in rows)
        is_known = bool(found.opened.called(it.id)) or it.id in captured
        return "declined" if banned.get(it.id, is_banned or is_known) else "waits"

    return how


def _held_in_all(known: list[Known]) -> dict[str, None]:
    """Return the valid memories of `global`, in the normal form of instructions."""
    return {same_instruction(it.text): None for it in known if it.valid_to is None and it.kind != "turn"}


def _instructing(known: list[Known]) -> dict[str, None]:
    """Return the instructions of a project, in the same form."""
    told, _ = instructions_of([it for it in known if it.valid_to is None])
    return {same_instruction(it.text): None for it in told}


def waiting(retriever: Retriever, scope: str) -> list[Proposal]:
    """Return the unanswered proposals, the latest first."""
    return [it for it, answer in answers_of(retriever, scope) if answer == "waits"]
