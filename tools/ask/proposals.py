"""The rules proposed to people, with their answers, from each scope's views and tail.

`state/views/proposals.py` defines proposals. Accepting captures a rule's words in the target scope, under the id
of the proposal. Declining forgets this id, so that a later capture under the id stays hidden. Neither changes the
memories in which the rule was found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Captured, Forgotten, Restored
from memtape.schemas.scopes import GLOBAL
from memtape.state.subjects.captures import normal_digest
from memtape.state.subjects.instructions import INSTRUCTION_TAGS
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.text.instructions import same_instruction
from memtape.state.text.statements import IMPORTANCE
from memtape.state.views.context import Known, instructions_of
from memtape.state.views.proposals import ACCEPTED_SOURCE, Proposal, proposed
from memtape.tools.ask.naming import begun_by
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.ask.standing import known_in
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer

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
    held = found.once.of("instructions", None, lambda: _held(known_in(found, retriever.now([view])), into))
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


def _held(known: list[Known], into: str) -> dict[str, None]:
    """Return the valid memories of `global`, or the instructions of a project, in the normal form of instructions."""
    valid = [it for it in known if it.valid_to is None]
    told = [it for it in valid if it.kind != "turn"] if into == GLOBAL else instructions_of(valid)[0]
    return {same_instruction(it.text): None for it in told}


def waiting(retriever: Retriever, scope: str) -> list[Proposal]:
    """Return the unanswered proposals, the latest first."""
    return [it for it, answer in answers_of(retriever, scope) if answer == "waits"]


def meant(proposals: list[tuple[Proposal, Answered]], given: str) -> tuple[Proposal, Answered]:
    """Return the proposal that an id or its beginning means. Raises `NotFound`, and `MemtapeError` where several do."""
    number = begun_by(given, ((it[0].id, number) for number, it in enumerate(proposals)))
    if number is None:
        raise NotFound(f"No rule that waits is called {given[:60]}.", "`memtape settle` lists those that wait.")
    return proposals[number]


def accept(writer: Writer, rule: Proposal, before: Answered) -> None:
    """Capture a rule in its target scope, where the writer may write; restore a declined rule."""
    line = Line(
        text=rule.text,
        tags=INSTRUCTION_TAGS if rule.is_doubted else (),
        importance=IMPORTANCE["instruction"] / 100 if rule.is_doubted else None,
        scope=rule.into,
        source=ACCEPTED_SOURCE,
        native_id=same_instruction(rule.text),
    )
    writer.log.append([replace(event, refs=rule.said_in) for event in writer.events_of(line, {})])
    if before == "declined":
        writer.append("restored", Restored(ids=(rule.id,), reason=None), rule.into)


def decline(writer: Writer, rule: Proposal, before: Answered) -> None:
    """Forget a rule's id in its target scope, where the writer may write.

    Raises `MemtapeError` where the rule already holds in the target scope.
    """
    if before == "accepted":
        where = "here" if rule.is_doubted else "in all projects"
        raise MemtapeError(f"This rule holds {where} already.", f"`memtape forget {rule.id}` ends that.")
    if before == "waits":
        reason = "declined as pasted" if rule.is_doubted else "declined for all projects"
        writer.append("forgotten", Forgotten(ids=(rule.id,), reason=reason), rule.into)
