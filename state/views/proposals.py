"""Which rules of a project a person has said for all projects, and nobody has answered: proposals for `global`.

A proposal follows from what is shown of a project and goes with it. It has the id that the memory of `global` gets,
made of its words alone. So the log tells whether it was answered: by a capture of this id in `global`, or by a
tombstone that waits for one. Reading views and answering are for the caller.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from memtape.schemas.events import PEOPLE, Origin
from memtape.schemas.ids import derived_id
from memtape.schemas.scopes import GLOBAL
from memtape.state.text.everywhere import is_for_all_projects
from memtape.state.text.polarity import same_instruction
from memtape.state.views.context import Known, heard_of

ACCEPTED_SOURCE = "accept"
"""What the ids of accepted rules are made under; it must not change."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A rule for all projects, in the words of the person who said it last. `at` is in microseconds.

    `said_in` are the ids of the turns and memories of the project that say it.
    """

    id: str
    text: str
    scope: str
    said_in: tuple[str, ...]
    at: int
    actor: str
    origin: Origin


def proposal_id(text: str) -> str:
    """Return the id of a rule for all projects, in whichever project it was said."""
    return derived_id("captured", GLOBAL, ACCEPTED_SOURCE, same_instruction(text))


def proposed(known: Iterable[Known]) -> list[Proposal]:
    """Return the rules for all projects that people said in what is shown of projects, the latest first."""
    found: dict[str, Proposal] = {}
    said = [
        it
        for it in known
        if it.origin in PEOPLE and it.scope != GLOBAL and it.valid_to is None and it.kind not in _READ
    ]
    for it in sorted(said, key=lambda it: (-it.at, -it.order, it.id)):
        for text in filter(is_for_all_projects, heard_of(it).standing):
            id = proposal_id(text)
            before = found.get(id)
            if before is not None:
                found[id] = msgspec.structs.replace(before, said_in=tuple(dict.fromkeys((*before.said_in, it.id))))
                continue
            found[id] = Proposal(
                id=id, text=text, scope=it.scope, said_in=(it.id,), at=it.at, actor=it.actor, origin=it.origin
            )
    return list(found.values())


_READ = ("document", "page")
"""What a person put there to be read, and has not said."""
