"""The plan of a question: what is asked, the page of a cursor, and the scope and memory that an id means.

A page is the same search, less the results already given. A cursor is the short text that requests the next
page, with digests of the question and the results: it has no word of any text.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple, TypeVar, get_args

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Filters, Source
from memtape.schemas.ids import ID_PATTERN, SHORT_CHARS, short_id
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.log import Log
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.capture.writing import Writer

if TYPE_CHECKING:  # Who folds nothing need not hold the fold.
    from memtape.state.core.scope import Scope
    from memtape.state.ranking.deep import Judge

NamedT = TypeVar("NamedT")


class SearchQuery(NamedTuple):
    """A query with its filters and options.

    With `explain` every result but a summary has the parts of its relevance. Of turns with the same text only
    the best is returned, with the count of the rest, unless `repeats` asks for all, as measurements by turn
    ids do. `session` is the caller's session: its latest turns rank below other results with the same answer.
    `valid_at` is the time of validity in microseconds. `deep` judges the steps of a deep search. With
    `archived` archived texts are found too. `now` is the time of an earlier search that is
    asked again. Results whose digest (`given_id`) is in `given` are left out. With `phrases` only texts that
    have each of them word for word are found.
    """

    query: str
    filters: Filters = NO_FILTERS
    lanes: Collection[Lane] = LANES
    explain: bool = False
    repeats: bool = False
    session: str | None = None
    valid_at: int | None = None
    deep: Judge | None = None
    limit: int = 10
    archived: bool = False
    now: int | None = None
    given: frozenset[bytes] = frozenset()
    phrases: tuple[str, ...] = ()


SOURCES: tuple[Source, ...] = get_args(Source)

ID_BYTES, CHECK_BYTES = 5, 8
AGAIN = "Ask without a cursor for the first page."


def given_id(id: str) -> bytes:
    """Return the digest of a result's id for a cursor.

    Of a million questions with 1,000 results given and 1,000 to come, one skips a result for a like digest.
    """
    return blake2b(id.encode(), digest_size=ID_BYTES).digest()


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The state of a paged search, between two pages.

    `asked_at` is the time of the first page, from which ages count, and `now` its time for ranking, in
    microseconds. `given` has the digests of the results so far. `check` is a digest of all of these, the
    question, its scope and its home.
    """

    asked_at: int
    now: int = 0
    given: bytes = b""
    check: bytes = b""


def checked(cursor: Cursor, log: Log, scope: str, asked: SearchQuery) -> Cursor:
    """Return a cursor with the check of a question in a scope; the length of a page is not part of it."""
    filters, lanes = msgspec.to_builtins(asked.filters), sorted(asked.lanes)
    told = [log.log_id, scope, asked.query, filters, lanes, asked.valid_at, asked.archived]
    data = msgspec.json.encode([told, cursor.asked_at, cursor.now, cursor.given])
    return msgspec.structs.replace(cursor, check=blake2b(data, digest_size=CHECK_BYTES).digest())


def continued(cursor: Cursor, log: Log, scope: str, asked: SearchQuery) -> SearchQuery:
    """Return a question for the page of a cursor.

    Raises `MemtapeError` for a damaged cursor, and for one of another question, scope or home.
    """
    if cursor != checked(cursor, log, scope, asked):
        raise MemtapeError("The cursor is damaged, or of another question, filter, scope or home.", AGAIN)
    given = frozenset(cursor.given[n : n + ID_BYTES] for n in range(0, len(cursor.given), ID_BYTES))
    return asked._replace(now=cursor.now, given=given)


def written(cursor: Cursor) -> str:
    """Return a cursor as a text of letters, digits, `-` and `_`."""
    return urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def read(text: str) -> Cursor:
    """Return the cursor in a text. Raises `MemtapeError` for a text that is none."""
    text = text.strip()
    with suppress(ValueError, msgspec.DecodeError):
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        cursor = msgspec.msgpack.decode(data, type=Cursor)
        if written(cursor) == text:
            return cursor
    raise MemtapeError("The cursor is damaged, or was never one.", AGAIN)


SHOWN = 5
_PART = re.compile(rf"[0-9a-f-]{{{SHORT_CHARS},36}}\Z")


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
    found = log.matching(given, scopes, types, SHOWN + 1) if _PART.match(given) else []
    if not found:
        what = {"captured": "memory or turn", "recalled": "recall"}.get(",".join(types), "event")
        shows = "search --json` has its id as recall_id" if what == "recall" else "search` shows ids"
        raise NotFound(
            f"{scopes[0] if scopes else 'The log'} has no {what} {given[:60]}.",
            f"`memtape {shows}; its last {SHORT_CHARS} characters are enough.",
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
    raise MemtapeError(f"{given} may mean several ids: {named}.", "Give the whole of the one that is meant.")


def named_by(given: str, named: Iterable[tuple[str, NamedT]]) -> NamedT | None:
    """Return which of these, by their ids, a part of an id means, None for no match.

    The part is as `Log.matching` takes it. Raises `MemtapeError` where it is that of several.
    """
    found = list[NamedT]()
    for id, it in named if len(given) >= SHORT_CHARS else ():
        if (id.startswith(given) or short_id(id) == given) and it not in found:
            found.append(it)
    if len(found) > 1:
        raise MemtapeError(f"{given} may mean several ids.", "Give the whole of the one that is meant.")
    return found[0] if found else None


def state_of(writer: Writer, name: str) -> Scope:
    """Return the state of a scope at the end of the log, a blank one where the log has nothing of it."""
    from memtape.state.core.scope import Scope
    from memtape.tools.keep.states import scope_now

    kept = writer.states
    return (kept.scope_now(name) if kept else scope_now(writer.home, writer.log, name)) or Scope(name)


def only_scope(scopes: Iterable[str]) -> str:
    """Return the only scope of some; raise `MemtapeError` for several."""
    found = dict.fromkeys(scopes)
    if len(found) > 1:
        raise MemtapeError(f"The ids are of {' and '.join(found)}.", "Name those of one scope at a time.")
    return next(iter(found))
