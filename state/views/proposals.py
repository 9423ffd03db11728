"""Proposed rules for a person to accept: rules stated for all projects, and rules in possibly pasted text.

A proposal follows from the rows shown of a project and disappears with them. Its id is the id of the future
memory, derived from the words and from the scope `into` which the memory goes: `global`, or the project
itself. So the log tells whether the proposal was answered: by a capture of the id in the scope, or by a
tombstone on it. Reading and answering are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.events import PEOPLE, Origin
from memtape.schemas.ids import derived_id
from memtape.schemas.rows import made_from
from memtape.schemas.scopes import GLOBAL
from memtape.state.text.instructions import NOTHING_HEARD, is_for_all_projects, same_instruction
from memtape.state.text.reading import read
from memtape.state.views.context import Known, heard_of

ACCEPTED_SOURCE = "accept"  # The source in the ids of accepted rules; it must not change.


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A rule, in the words of its text, the last of several. `at` is in microseconds.

    `said_in` are the ids of the project's turns and memories with the rule. Once accepted, the rule is a
    memory of the scope `into`. Meanwhile a rule stated for all projects holds in its own project, one that
    may be pasted holds nowhere.
    """

    id: str
    text: str
    scope: str
    into: str
    said_in: tuple[str, ...]
    at: int
    actor: str
    origin: Origin

    @property
    def is_doubted(self) -> bool:
        """Return whether the rule is proposed because it may be pasted."""
        return self.into == self.scope


def proposal_id(text: str, into: str = GLOBAL) -> str:
    """Return the id of the memory that a rule becomes in a scope, wherever it was said."""
    return derived_id("captured", into, ACCEPTED_SOURCE, same_instruction(read(text)))


def proposed(known: Iterable[Known]) -> list[Proposal]:
    """Return the proposed rules among the shown rows of projects, the latest first."""
    found: dict[str, Proposal] = {}
    said = [it for it in known if it.origin in PEOPLE and it.valid_to is None and it.kind not in _READ]
    said = [it for it in said if it.heard is not NOTHING_HEARD]
    for it in sorted(said, key=lambda it: (-it.at, -it.order, it.id)):
        heard = heard_of(it)
        stated = filter(is_for_all_projects, heard.standing if it.scope != GLOBAL else ())
        doubted = heard.doubted if it.kind not in ("goal", "plan") else ()
        for text, into in (*((text, GLOBAL) for text in stated), *((text, it.scope) for text in doubted)):
            id = proposal_id(text, into)
            before = found.get(id)
            if before is not None:
                said_in = tuple(dict.fromkeys((*before.said_in, it.id)))
                found[id] = msgspec.structs.replace(before, said_in=said_in)
                continue
            found[id] = made_from(Proposal, it, id=id, text=text, into=into, said_in=(it.id,))
    return list(found.values())


_READ = ("document", "page")  # Kinds of reading matter, not a person's own words.
