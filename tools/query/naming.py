"""Resolution of an id or its beginning to an event of some scopes or any, and of a scope to its state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.ids import ID_PATTERN
from memtape.schemas.log import Log
from memtape.schemas.scopes import GLOBAL, partition_of, scopes_read
from memtape.state.core.erasures import erasures_of
from memtape.tools.capture.writing import Writer

if TYPE_CHECKING:  # Who folds nothing need not hold the fold.
    from memtape.state.core.scope import Scope

ActionT = TypeVar("ActionT")
NamedT = TypeVar("NamedT")

LEAST_CHARS = 8
LEAST_NEW_CHARS = 13
"""Of an id of version 7 so much is a time, to the millisecond: fewer are those of all ids of a minute."""
SHOWN = 5
_BEGINNING = re.compile(rf"[0-9a-f-]{{{LEAST_CHARS},36}}\Z")


def shortened(ids: Iterable[str]) -> dict[str, str]:
    """Return the shortest distinguishing prefix of each id, as commands print and accept."""
    ordered = sorted(dict.fromkeys(ids))
    least = {id: LEAST_NEW_CHARS if id[14] == "7" else LEAST_CHARS for id in ordered}
    for one, other in pairwise(ordered):
        # Of ids in order the neighbours share most.
        differs = next(n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b) + 1
        least[one], least[other] = max(least[one], differs), max(least[other], differs)
    return {id: id[:length] for id, length in least.items()}


def nowhere(scope: str, id: str) -> NotFound:
    """Return the error of an id that a scope does not read."""
    return NotFound(
        f"{scope} has no memory or turn {id[:60]}.",
        "`memtape search` shows ids; without --scope one is found in whatever scope it stands.",
    )


def erased_for_good(id: str) -> NotFound:
    """Return the error of an id that was erased."""
    return NotFound(f"{id} was erased.", "Nothing brings it back.")


def is_whole(id: str) -> bool:
    """Whether an id is given whole."""
    return re.match(ID_PATTERN, id) is not None


def meant(log: Log, given: str, scopes: Sequence[str], types: Sequence[str]) -> tuple[str, str]:
    """Return the scope and id of the only event of these types that matches; `scopes` empty means all scopes.

    Raises `NotFound` for no match, and `MemtapeError` with the ids for several.
    """
    found = log.matching(given, scopes, types, SHOWN + 1) if _BEGINNING.match(given) else []
    if not found:
        what = {"captured": "memory or turn", "recalled": "recall"}.get(",".join(types), "event")
        shows = "search --json` has its id as recall_id" if what == "recall" else "search` shows ids"
        raise NotFound(
            f"{scopes[0] if scopes else 'The log'} has no {what} {given[:60]}.",
            f"`memtape {shows}; the first {LEAST_CHARS} characters do where no other begins so.",
        )
    if len(found) == 1:
        return found[0]
    if len({id for _, id in found}) == 1:
        for scope in scopes:
            if (scope, found[0][1]) in found:
                return scope, found[0][1]
        named = ", ".join(scope for scope, _ in found)
        raise MemtapeError(f"{given} stands in several scopes: {named}.", "Name one with --scope.")
    named = ", ".join(id for _, id in found[:SHOWN]) + (" and more" if len(found) > SHOWN else "")
    told = f"{given} is the beginning of several ids: {named}."
    raise MemtapeError(told, "Give more of the one that is meant.")


def begun_by(given: str, named: Iterable[tuple[str, NamedT]]) -> NamedT | None:
    """Return which of these, by their ids, an id or its beginning means, None for no match.

    Raises `MemtapeError` where the beginning is that of several.
    """
    found = dict.fromkeys(it for id, it in named if len(given) >= LEAST_CHARS and id.startswith(given))
    if len(found) > 1:
        raise MemtapeError(f"{given} is the beginning of several ids.", "Give more of the one that is meant.")
    return next(iter(found), None)


def state_of(writer: Writer, name: str) -> Scope | None:
    """Return the state of a scope at the end of the log."""
    from memtape.tools.keep.states import scope_now

    return scope_now(writer.home, writer.log, name)


def folded(writer: Writer, scope: str, id: str, state: Callable[[str], Scope | None]) -> tuple[str, Scope]:
    """Return a whole id, and the state of its scope, of those read in a scope. Raises `NotFound`.

    `state` gives the state of a scope at the end of the log.
    """
    log = writer.log
    for name in scopes_read(scope):
        if id in erasures_of(log.erased(partition_of(name, log.partitions))).named.get(name, {}):
            raise erased_for_good(id)
        if log.known(name, [id]):
            found = state(name)
            if found is not None and found.captures.get(id) is not None:
                return id, found
    raise nowhere(scope, id)


def only_scope(scopes: Iterable[str]) -> str:
    """Return the only scope of some; raise `MemtapeError` for several."""
    found = dict.fromkeys(scopes)
    if len(found) > 1:
        raise MemtapeError(f"The ids are of {' and '.join(found)}.", "Name those of one scope at a time.")
    return next(iter(found))


class Ids(NamedTuple):
    """Resolution of ids for a speaker in one scope.

    Ids are searched in the scope and in `global`, and elsewhere unless the speaker is `confined` to these
    two.
    """

    log: Log
    scope: str
    confined: bool

    def within(self, id: str, action: Callable[[str, str], ActionT]) -> ActionT:
        """Return the result of an action on the scope of an id and the whole id."""
        if is_whole(id):
            try:
                return action(self.scope, id)
            except NotFound:
                if self.confined:
                    raise
        return action(*self.meant(id, ("captured",)))

    def meant(self, id: str, types: Sequence[str]) -> tuple[str, str]:
        """Return the scope and the whole id of an id or its beginning, first from here or `global`.

        Raises `NotFound`, and `MemtapeError` for a beginning of several.
        """
        try:
            return meant(self.log, id, tuple(dict.fromkeys((self.scope, GLOBAL))), types)
        except NotFound:
            if self.confined:
                raise
            return meant(self.log, id, (), types)
