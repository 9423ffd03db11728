"""The actions of a person on the page: a table with a description and the undoing of each.

Nothing is done without a second click that says both. Actions without an undoing, erasing above all, are not
here; the page has the command for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.tools.client import Client
from memtape.tools.page.asked import PageQuery
from memtape.tools.page.views import listed

MOST_IDS = 500
Doing = Callable[[Client, Sequence[str], PageQuery], int]
Telling = Callable[[Client, str], str]


def _text_of(client: Client, id: str) -> str:
    opened = client.show(id)
    row = opened.memory or opened.turn
    return id if row is None else row.text


def _conflict_of(client: Client, id: str) -> str:
    one = next((one for one in client.conflicts(settled=True).conflicts if one.id == id), None)
    if one is None:
        raise NotFound(f"There is no conflict {id[:60]}.", "It may have been settled meanwhile.")
    return " against ".join(
        f"{name}: “{side.text or '(no longer shown)'}”" for name, side in (("A", one.a), ("B", one.b))
    )


def _rule_of(client: Client, id: str) -> str:
    rule = next((rule for rule, _ in client.proposals() if rule.id == id), None)
    if rule is None:
        raise NotFound(f"There is no rule {id[:60]} that waits.", "It may have been forgotten.")
    return rule.text


class Action(NamedTuple):
    """An action on ids: its button, its description, its function, and the action that undoes it.

    `do` returns the number of changed `counts`. `undone` describes the undoing where no single action does
    it. `told` is the text of an id; it raises `NotFound`.
    """

    name: str
    will: str
    do: Doing
    undo: str = ""
    undone: str = ""
    told: Telling = _text_of
    counts: str = "capture"
    takes_reason: bool = True


class Meant(NamedTuple):
    """The ids of an action, the text of each, and the number of ids beyond the limit."""

    ids: tuple[str, ...]
    told: tuple[str, ...]
    more: int


def _settle(client: Client, ids: Sequence[str], asked: PageQuery) -> int:
    chosen = asked.text("keep")
    keep: Literal["A", "B", "both"] | None = next((side for side in ("A", "B", "both") if side == chosen), None)
    if keep is None:
        raise MemtapeError("It is not said what is kept.", "Choose A, B or both.")
    for id in ids:
        client.settle(id, keep, note=asked.reason)
    return len(ids)


ACTIONS: dict[str, Action] = {
    "forget": Action(
        "Forget",
        "It leaves every search, page and start, and the same words are banned. The log keeps it.",
        lambda client, ids, asked: sum(len(client.forget(id, reason=asked.reason).ids) for id in ids),
        undo="restore",
    ),
    "restore": Action(
        "Restore",
        "It is found and told again.",
        lambda client, ids, asked: sum(len(client.restore(id, reason=asked.reason).ids) for id in ids),
        undo="forget",
    ),
    "archive": Action(
        "Archive",
        "It leaves search, starts and MEMORY.md until it is used, pinned or said again.",
        lambda client, ids, asked: len(client.archive(ids, reason=asked.reason).done),
        undo="unarchive",
    ),
    "unarchive": Action(
        "Bring back",
        "It leaves the archive, and is found and told again.",
        lambda client, ids, asked: len(client.unarchive(ids, reason=asked.reason).done),
        undo="archive",
    ),
    "pin": Action(
        "Pin",
        "It neither ages nor is archived.",
        lambda client, ids, asked: sum(len(client.pin(id).ids) for id in ids),
        undo="unpin",
        takes_reason=False,
    ),
    "unpin": Action(
        "Unpin",
        "It ages as others do.",
        lambda client, ids, asked: sum(len(client.unpin(id).ids) for id in ids),
        undo="pin",
        takes_reason=False,
    ),
    "settle": Action(
        "Settle",
        "What is kept holds from now on, what is not kept is closed by it, and the conflict is asked no more.",
        _settle,
        told=_conflict_of,
        undone="Settle it again with another choice: settled conflicts are listed on the same view.",
        counts="conflict",
    ),
    "accept": Action(
        "Accept",
        "The rule is told at each start from now on: in every project, or in this one if it may be pasted.",
        lambda client, ids, asked: len([client.accept([id]) for id in ids]),
        told=_rule_of,
        undone="Forget the rule where it stands: in the project global, or in this one if it may be pasted.",
        counts="rule",
        takes_reason=False,
    ),
    "decline": Action(
        "Decline",
        "The rule is proposed no more. One that was said for all projects stays in its own.",
        lambda client, ids, asked: len([client.decline([id]) for id in ids]),
        told=_rule_of,
        undo="accept",
        counts="rule",
        takes_reason=False,
    ),
}


def action_of(asked: PageQuery) -> tuple[str, Action]:
    """Return the action that a form names. Raises `MemtapeError` for none."""
    name = asked.text("do")
    if name not in ACTIONS:
        raise MemtapeError(f"There is no action {name[:40]!r}.", f"There are {', '.join(ACTIONS)}.")
    return name, ACTIONS[name]


def meant(client: Client, name: str, action: Action, asked: PageQuery) -> Meant:
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
    taken = ids[:MOST_IDS]
    return Meant(taken, tuple(action.told(client, id) for id in taken), len(ids) - len(taken))
