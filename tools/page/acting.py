"""What a person can do on the page: a table of actions, each with what it will do and how it is undone.

Nothing is done without a second click that says both. What cannot be undone, erasing above all, is no action here: the
page has the command for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.tools.client import Client
from memtape.tools.page.asked import Asked

MOST_IDS = 500
Doing = Callable[[Client, Sequence[str], Asked], int]


class Action(NamedTuple):
    """One thing to do about ids: its name on a button, what it will do, and the action that undoes it.

    `do` returns how many were changed. `undone` says in words how it is undone where no one action does.
    """

    name: str
    will: str
    do: Doing
    undo: str = ""
    undone: str = ""


def _each(method: str) -> Doing:
    """Return what calls a method of the client for each id."""
    return lambda client, ids, asked: sum(len(getattr(client, method)(id)) for id in ids)


def _with_reason(method: str) -> Doing:
    return lambda client, ids, asked: sum(
        len(getattr(client, method)(id, reason=asked.text("reason") or None)) for id in ids
    )


def _archive(client: Client, ids: Sequence[str], asked: Asked) -> int:
    return len(client.archive(ids, reason=asked.text("reason") or None).done)


def _unarchive(client: Client, ids: Sequence[str], asked: Asked) -> int:
    return len(client.unarchive(ids, reason=asked.text("reason") or None).done)


def _settle(client: Client, ids: Sequence[str], asked: Asked) -> int:
    chosen = asked.text("keep")
    keep: Literal["A", "B", "both"] | None = next((side for side in ("A", "B", "both") if side == chosen), None)
    if keep is None:
        raise MemtapeError("It is not said what is kept.", "Choose A, B or both.")
    for id in ids:
        client.settle(id, keep, note=asked.text("reason") or None)
    return len(ids)


def _answer(method: str) -> Doing:
    def answer(client: Client, ids: Sequence[str], asked: Asked) -> int:
        for id in ids:
            getattr(client, method)(id)
        return len(ids)

    return answer


ACTIONS: dict[str, Action] = {
    "forget": Action(
        "Forget",
        "It leaves every search, page and start, and the same words are banned. The log keeps it.",
        _with_reason("forget"),
        "restore",
    ),
    "restore": Action("Restore", "It is found and told again.", _with_reason("restore"), "forget"),
    "archive": Action(
        "Archive",
        "It leaves search, starts and MEMORY.md until it is used, pinned or said again.",
        _archive,
        "unarchive",
    ),
    "unarchive": Action("Bring back", "It leaves the archive, and is found and told again.", _unarchive, "archive"),
    "pin": Action("Pin", "It neither ages nor is archived.", _each("pin"), "unpin"),
    "unpin": Action("Unpin", "It ages as others do.", _each("unpin"), "pin"),
    "settle": Action(
        "Settle",
        "What is kept holds from now on, what is not kept is closed by it, and the conflict is asked no more.",
        _settle,
        undone="Settle it again, with another choice: settled conflicts are listed on the same view.",
    ),
    "accept": Action(
        "Accept",
        "The rule is told at the start of every project from now on.",
        _answer("accept"),
        undone="Forget the rule where it stands: in the scope global.",
    ),
    "decline": Action(
        "Decline",
        "The rule stays in its project, and is proposed no more.",
        _answer("decline"),
        "accept",
    ),
}


def ids_of(asked: Asked) -> tuple[str, ...]:
    """Return what an action is about. Raises `MemtapeError` for nothing, and for too much."""
    ids = asked.many("id")
    if not ids:
        raise MemtapeError("Nothing is chosen.", "Tick what it is about, and press the button again.")
    if len(ids) > MOST_IDS:
        raise MemtapeError(f"{len(ids):,} are too many at once.", f"Choose at most {MOST_IDS}.")
    return ids


def action_of(asked: Asked) -> tuple[str, Action]:
    """Return the action that a form names. Raises `MemtapeError` for none."""
    name = asked.text("do")
    if name not in ACTIONS:
        raise MemtapeError(f"There is no action {name[:40]!r}.", f"There are {', '.join(ACTIONS)}.")
    return name, ACTIONS[name]
