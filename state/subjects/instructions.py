"""The memories of people with standing instructions, and the captures with orders about memory.

A text is read once, at its capture, so that a page need not read a whole scope. Readers leave out hidden and
replaced ones.
"""

from __future__ import annotations

import msgspec

from memtape.schemas.events import PEOPLE, STATED_TAG, Captured, Event
from memtape.schemas.rows import Change, Context
from memtape.state.subjects.captures import HasCaptures
from memtape.state.text.instructions import heard_in
from memtape.state.text.reading import read

INSTRUCTION_TAGS = (STATED_TAG, "instruction")


class Instructions(msgspec.Struct, array_like=True):
    """The seqs of captures with standing instructions (`wanted`), and with `orders`, in the log's order."""

    wanted: dict[int, None] = {}
    orders: dict[int, None] = {}


def evolve(state: Instructions, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Apply a person's capture; no further row changes."""
    body, is_of_people = event.body, event.actor.origin in PEOPLE
    if not (isinstance(body, Captured) and is_of_people) or body.kind in ("document", "page"):
        return []
    heard = heard_in(read(body.text))
    # A turn's instructions are captured as its statements.
    if body.kind != "turn" and (body.tags[:2] == INSTRUCTION_TAGS or heard.instructs):
        state.wanted[context.seq] = None
    if heard.orders:
        state.orders[context.seq] = None
    return []
