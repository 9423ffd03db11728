"""Which event is meant by an id that somebody gives: whole or by its beginning, in some scopes or in the whole log."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.ids import ID_PATTERN
from memtape.schemas.log import Log

LEAST_CHARS = 8
SHOWN = 5
_BEGINNING = re.compile(rf"[0-9a-f-]{{{LEAST_CHARS},36}}\Z")


def is_whole(id: str) -> bool:
    """Whether an id is given whole."""
    return re.match(ID_PATTERN, id) is not None


def meant(log: Log, given: str, scopes: Sequence[str], types: Sequence[str]) -> tuple[str, str]:
    """Return the scope and the id of the one event of these types that is meant, in these scopes or, of none, in all.

    Raises `NotFound` where there is none, and `MemtapeError` that names them where there are several.
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
    raise MemtapeError(f"{given} is the beginning of several ids: {named}.", "Give more of the one that is meant.")
