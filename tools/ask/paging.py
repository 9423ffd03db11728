"""Pages of a search: each page is the same search, less the results already given.

A cursor is the short text that requests the next page. A cursor holds no word of the question or of a result: only
digests of both, the page's time, and the time limits of the question.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from hashlib import blake2b

import msgspec

from memtape.schemas.codec import canonical
from memtape.schemas.errors import MemtapeError
from memtape.schemas.log import Log
from memtape.tools.ask.ordering import SearchQuery, given_id
from memtape.tools.ask.results import Answer
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.capture.writing import now_us

VERSION = 1
DIGEST_BYTES, CHECK_BYTES, ID_BYTES = 6, 4, len(given_id(""))
SLACK_US = 60_000_000
"""An age asked again is later by the time between, and by up to this."""
AGAIN = "Ask without a cursor for the first page."

Bounds = tuple[int | None, int | None, int | None]


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The state of a paged search: digests of its `place` (log and scope) and `question`, and of the `given` results.

    `at` is the time of the first page, `now` its time for ranking, in microseconds. `bounds` are the question's time
    limits: since, until, and the time of validity.
    """

    version: int
    place: bytes
    question: bytes
    at: int
    now: int
    bounds: Bounds
    given: bytes

    def ids(self) -> frozenset[bytes]:
        """Return the digests of the results on all pages up to here."""
        return frozenset(self.given[n : n + ID_BYTES] for n in range(0, len(self.given), ID_BYTES))


def page_of(views: Retriever, log: Log, scope: str, asked: SearchQuery, cursor: str | None) -> Answer:
    """Return the first page of a search, or the page of a cursor, with the cursor of a possible next page.

    The past and a deep search have one page. Raises `MemtapeError` for a damaged cursor, and for a cursor of another
    question, scope or home.
    """
    has_pages = views.past is None and asked.deep is None
    before = None
    if cursor is not None:
        if not has_pages:
            told = "A deep search has one page." if views.past is None else "The past is not asked page by page."
            raise MemtapeError(told, "Ask with a greater limit.")
        before = read(cursor)
        check(before, log, scope, asked)
        since, until, valid_at = before.bounds
        filters = msgspec.structs.replace(asked.filters, since=since, until=until)
        asked = asked._replace(filters=filters, valid_at=valid_at, now=before.now, given=before.ids())
    answer = views.answer(scope, asked)
    returned = b"".join(given_id(result.id) for result in answer.results if not result.sums)
    if not (has_pages and returned and answer.has_more):
        return answer
    before = before or Cursor(VERSION, _place(log, scope), _question(asked), now_us(), answer.now, _bounds(asked), b"")
    return answer._replace(next=written(msgspec.structs.replace(before, given=before.given + returned)))


def written(cursor: Cursor) -> str:
    """Return a cursor as a text of letters, digits, `-` and `_`."""
    data = msgspec.msgpack.encode(cursor)
    return urlsafe_b64encode(data + _check(data)).decode().rstrip("=")


def read(text: str) -> Cursor:
    """Return the cursor in a text. Raises `MemtapeError` for a damaged cursor, as for one of another version."""
    try:
        raw = text.strip().encode("ascii")
        whole = urlsafe_b64decode(raw + b"=" * (-len(raw) % 4))
        data, mark = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
        if mark == _check(data) and urlsafe_b64encode(whole).rstrip(b"=") == raw:
            cursor = msgspec.msgpack.decode(data, type=Cursor)
            if cursor.version == VERSION:
                return cursor
    except (Error, ValueError):
        pass
    raise MemtapeError("The cursor is damaged, or was never one.", AGAIN)


def check(cursor: Cursor, log: Log, scope: str, asked: SearchQuery) -> None:
    """Raise `MemtapeError` where a cursor is of another scope or home, or of another question."""
    if cursor.place != _place(log, scope):
        raise MemtapeError("The cursor is of another scope or home.", f"Ask where it was given. {AGAIN}")
    between = max(0, now_us() - cursor.at) + SLACK_US
    same = all(
        (was is None) is (now is None) and (was is None or now is None or -SLACK_US <= now - was <= between)
        for was, now in zip(cursor.bounds, _bounds(asked), strict=True)
    )
    if cursor.question != _question(asked) or not same:
        raise MemtapeError(
            "The cursor is of another question.", f"Ask the same with the same filters and quotas. {AGAIN}"
        )


def _place(log: Log, scope: str) -> bytes:
    return _digest([log.log_id, scope])


def _question(asked: SearchQuery) -> bytes:
    """Return the digest of a question with its filters and quotas, without its times and its page length."""
    filters = msgspec.to_builtins(msgspec.structs.replace(asked.filters, since=None, until=None))
    return _digest([asked.query, filters, sorted(asked.lanes), asked.archived, dict(asked.quotas)])


def _bounds(asked: SearchQuery) -> Bounds:
    return asked.filters.since, asked.filters.until, asked.valid_at


def _digest(value: object) -> bytes:
    return blake2b(canonical(value), digest_size=DIGEST_BYTES).digest()


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK_BYTES, person=b"memtape cursor").digest()
