"""The actions of a person on the page, from `actions.toml`: what each does, how it is undone, and on what.

Nothing is done without a second click that says both. Actions without an undoing, erasing above all, are not
here; the page has the command for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.page.views import listed

MOST_IDS = 500


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action on ids: button, description, and the action or the advice that undoes the effect."""

    name: str
    will: str
    undo: str = ""
    undone: str = ""
    counts: str = "capture"
    takes_reason: bool = True


ACTIONS = msgspec.toml.decode(Path(__file__).with_name("actions.toml").read_bytes(), type=dict[str, Action])
"""The actions by name, which is that of the client's method."""


class Meant(NamedTuple):
    """The ids of an action, the text of each, and the number of ids beyond the limit."""

    ids: tuple[str, ...]
    told: tuple[str, ...]
    more: int


def action_of(asked: PageQuery) -> tuple[str, Action]:
    """Return the action that a form names. Raises `MemtapeError` for none."""
    name = asked.text("do")
    if name not in ACTIONS:
        raise MemtapeError(f"There is no action {name[:40]!r}.", f"There are {', '.join(ACTIONS)}.")
    return name, ACTIONS[name]


def meant(client: Client, name: str, asked: PageQuery) -> Meant:
    """Return the ids of a form: the named ids, or with `every` the whole list matched by its words.

    Raises `NotFound` for an unknown id, so that nothing is done in part, and `MemtapeError` for no ids or too
    many.
    """
    every = asked.is_on("every")
    ids = tuple(row.id for row in listed(client, name, asked.text("words"))) if every else asked.many("id")
    if not ids:
        raise MemtapeError("Nothing is chosen.", "Tick what it is about, and press the button again.")
    if len(ids) > MOST_IDS and not every:
        raise MemtapeError(f"{len(ids):,} are too many at once.", f"Choose at most {MOST_IDS}.")
    taken, kind = ids[:MOST_IDS], ACTIONS[name].counts
    return Meant(taken, tuple(_told(client, kind, id) for id in taken), len(ids) - len(taken))


def _told(client: Client, kind: str, id: str) -> str:
    """Return the text of an id. Raises `NotFound`."""
    if kind == "capture":
        opened = client.show(id)
        row = opened.memory or opened.turn
        return id if row is None else row.text
    if kind == "conflict":
        sides = [(one.a.text, one.b.text) for one in client.conflicts(settled=True).conflicts if one.id == id]
        told = [f"A: “{a or '(no longer shown)'}” against B: “{b or '(no longer shown)'}”" for a, b in sides]
    else:
        told = [rule.text for rule, _ in client.proposals() if rule.id == id]
    if not told:
        raise NotFound(f"There is no {kind} {id[:60]}.", "It may have been settled or forgotten meanwhile.")
    return told[0]


def do_action(client: Client, name: str, ids: Sequence[str], asked: PageQuery) -> int:
    """Do an action, and return the number of changed things. Raises `MemtapeError`."""
    act, reason = getattr(client, name), asked.reason
    match name:
        case "settle":
            keep = asked.text("keep")
            if keep not in ("A", "B", "both"):
                raise MemtapeError("It is not said what is kept.", "Choose A, B or both.")
            return len([act(id, keep, reason) for id in ids])
        case "accept" | "decline":
            return len(act(ids))
        case "archive" | "unarchive":
            return len(act(ids, reason=reason).done)
        case "pin" | "unpin":
            return sum(len(act(id).ids) for id in ids)
    return sum(len(act(id, reason=reason).ids) for id in ids)
