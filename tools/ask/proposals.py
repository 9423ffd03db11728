"""The rules that people have said for all projects, with what was answered, as views and the tail of `global` say.

What a proposal is stands in `state/views/proposals.py`, and how one is answered in `accepting.py`.
"""

from __future__ import annotations

from typing import Literal

from memtape.schemas.events import Captured, Forgotten, Restored
from memtape.schemas.scopes import GLOBAL
from memtape.state.subjects.captures import normal_digest
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.text.polarity import same_instruction
from memtape.state.views.context import Known
from memtape.state.views.proposals import Proposal, proposed
from memtape.tools.ask.known import known_in
from memtape.tools.ask.retrieval import Retriever

Answered = Literal["waits", "accepted", "declined"]


def answers_of(retriever: Retriever, scope: str) -> list[tuple[Proposal, Answered]]:
    """Return the proposals in what is known of a scope, the latest first, with how each stands."""
    own, view = retriever.found(scope)
    known = known_in(own, retriever.now([view]))
    proposals = own.once.of("proposed", None, lambda: proposed(known))
    if not proposals:
        return []
    found, view = retriever.found(GLOBAL)
    held = found.once.of("instructions", None, lambda: _held_by(known_in(found, retriever.now([view]))))
    banned: dict[str, bool] = {}
    for event in retriever.tail(GLOBAL, view.mark.offset):
        if isinstance(event.body, Forgotten | Restored):
            banned |= dict.fromkeys(event.body.ids, isinstance(event.body, Forgotten))
    captured = {
        event.id: None for event in retriever.tail(GLOBAL, view.mark.offset) if isinstance(event.body, Captured)
    }

    def how(it: Proposal) -> Answered:
        if same_instruction(it.text) in held:
            return "accepted"
        rows = (f"id:{it.id}", text_row_id(normal_digest(it.text)))
        is_banned = any(found.opened.row("tombstones", row) is not None for row in rows)
        is_known = bool(found.opened.called(it.id)) or it.id in captured
        return "declined" if banned.get(it.id, is_banned or is_known) else "waits"

    return [(it, how(it)) for it in proposals]


def _held_by(known: list[Known]) -> dict[str, None]:
    """Return what holds in `global`, in the form in which an instruction that is given twice is the same."""
    return {same_instruction(it.text): None for it in known if it.valid_to is None and it.kind != "turn"}


def waiting(retriever: Retriever, scope: str) -> list[Proposal]:
    """Return the proposals that nobody has answered, the latest first."""
    return [it for it, answer in answers_of(retriever, scope) if answer == "waits"]
