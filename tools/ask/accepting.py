"""How a person answers a rule that was said for all projects: it becomes a memory of `global`, or never one.

Accepting captures the person's words there, under the id of the proposal. Declining forgets this id, which waits for a
capture that then never shows. Neither touches the project, whose own rule stays.
"""

from __future__ import annotations

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Forgotten, Origin, Restored
from memtape.schemas.scopes import GLOBAL
from memtape.state.text.polarity import same_instruction
from memtape.state.views.proposals import ACCEPTED_SOURCE, Proposal
from memtape.tools.ask.naming import LEAST_CHARS
from memtape.tools.ask.proposals import Answered
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import Writer, check_person


def check_answers(origin: Origin) -> None:
    """Raise `MemtapeError` for whoever may answer no proposal."""
    then = "The user can run `memtape accept`; who is a person says --origin user."
    check_person(origin, "answer a rule for all projects", then)


def meant(proposals: list[tuple[Proposal, Answered]], given: str) -> tuple[Proposal, Answered]:
    """Return the proposal that an id or its beginning means. Raises `NotFound`, and `MemtapeError` where several do."""
    found = [it for it in proposals if len(given) >= LEAST_CHARS and it[0].id.startswith(given)]
    if not found:
        raise NotFound(f"No rule for all projects is called {given[:60]}.", "`memtape accept` lists those that wait.")
    if len(found) > 1:
        raise MemtapeError(f"{given} is the beginning of several ids.", "Give more of the one that is meant.")
    return found[0]


def accept(everywhere: Writer, rule: Proposal, before: Answered) -> None:
    """Put a rule into `global`, in which the writer is an operator; show it again where it was declined."""
    line = Line(text=rule.text, scope=GLOBAL, source=ACCEPTED_SOURCE, native_id=same_instruction(rule.text))
    everywhere.log.append([replace(event, refs=rule.said_in) for event in everywhere.events_of(line, {})])
    if before == "declined":
        everywhere.append("restored", Restored(ids=(rule.id,), reason=None), GLOBAL)


def decline(everywhere: Writer, rule: Proposal, before: Answered) -> None:
    """Say in `global`, in which the writer is an operator, that a rule is none of all projects.

    Raises `MemtapeError` where it holds there.
    """
    if before == "accepted":
        raise MemtapeError("This rule holds in all projects already.", f"`memtape forget {rule.id}` ends that.")
    if before == "waits":
        everywhere.append("forgotten", Forgotten(ids=(rule.id,), reason="declined for all projects"), GLOBAL)
