"""A person's answer to a proposed rule: the rule becomes a memory of its target scope, or never becomes one.

Accepting captures the rule's words in the target scope, under the id of the proposal. Declining forgets this
id, so that a later capture under the id stays hidden. Neither changes the memories in which the rule was
found.
"""

from __future__ import annotations

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Forgotten, Origin, Restored
from memtape.state.subjects.instructions import INSTRUCTION_TAGS
from memtape.state.text.instructions import same_instruction
from memtape.state.text.statements import IMPORTANCE
from memtape.state.views.proposals import ACCEPTED_SOURCE, Proposal
from memtape.tools.ask.naming import LEAST_CHARS
from memtape.tools.ask.proposals import Answered
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer, check_person


def check_answers(origin: Origin) -> None:
    """Raise `MemtapeError` for an origin that may not answer proposals."""
    then = "The user can run `memtape accept`; who is a person says --origin user."
    check_person(origin, "answer a rule that waits", then)


def meant(proposals: list[tuple[Proposal, Answered]], given: str) -> tuple[Proposal, Answered]:
    """Return the proposal that an id or its beginning means. Raises `NotFound`, and `MemtapeError` where several do."""
    found = [it for it in proposals if len(given) >= LEAST_CHARS and it[0].id.startswith(given)]
    if not found:
        raise NotFound(f"No rule that waits is called {given[:60]}.", "`memtape accept` lists those that wait.")
    if len(found) > 1:
        raise MemtapeError(f"{given} is the beginning of several ids.", "Give more of the one that is meant.")
    return found[0]


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
