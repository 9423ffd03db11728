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

DIGEST_BYTES, CHECK_BYTES, ID_BYTES = 8, 4, len(given_id(""))
SLACK_US = 60_000_000
"""An age asked again is later by the time between, and by up to this."""
AGAIN = "Ask without a cursor for the first page."

Bounds = tuple[int | None, int | None, int | None]


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The state of a paged search: digests of its `question` in a scope and home, and of the `given` results.

    `at` is the time of the first page, `now` its time for ranking, in microseconds. `bounds` are the question's time
    limits: since, until, and the time of validity.
    """

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
    question, before = _question(log, scope, asked), None
    if cursor is not None:
        if not has_pages:
            told = "A deep search has one page." if views.past is None else "The past is not asked page by page."
            raise MemtapeError(told, "Ask with a greater limit.")
        before = read(cursor)
        if before.question != question or not _are_same(before, _bounds(asked)):
            raise MemtapeError("The cursor is of another question, filter, scope or home.", AGAIN)
        since, until, valid_at = before.bounds
        filters = msgspec.structs.replace(asked.filters, since=since, until=until)
        asked = asked._replace(filters=filters, valid_at=valid_at, now=before.now, given=before.ids())
    answer = views.answer(scope, asked)
    returned = b"".join(given_id(result.id) for result in answer.results if not result.sums)
    if not (has_pages and returned and answer.has_more):
        return answer
    before = before or Cursor(question, now_us(), answer.now, _bounds(asked), b"")
    return answer._replace(next=written(msgspec.structs.replace(before, given=before.given + returned)))


def written(cursor: Cursor) -> str:
    """Return a cursor as a text of letters, digits, `-` and `_`."""
    data = msgspec.msgpack.encode(cursor)
    return urlsafe_b64encode(data + _check(data)).decode().rstrip("=")


def read(text: str) -> Cursor:
    """Return the cursor in a text. Raises `MemtapeError` for a damaged cursor."""
    try:
        raw = text.strip().encode("ascii")
        whole = urlsafe_b64decode(raw + b"=" * (-len(raw) % 4))
        data, mark = whole[:-CHECK_BYTES], whole[-CHECK_BYTES:]
        if mark == _check(data) and urlsafe_b64encode(whole).rstrip(b"=") == raw:
            return msgspec.msgpack.decode(data, type=Cursor)
    except (Error, ValueError):
        pass
    raise MemtapeError("The cursor is damaged, or was never one.", AGAIN)


def _are_same(cursor: Cursor, bounds: Bounds) -> bool:
    """Return whether the time limits of a question are those of a cursor, some time later where they are ages."""
    between = max(0, now_us() - cursor.at) + SLACK_US
    pairs = [(was, now) for was, now in zip(cursor.bounds, bounds, strict=True) if was is not None or now is not None]
    return all(was is not None and now is not None and -SLACK_US <= now - was <= between for was, now in pairs)


def _question(log: Log, scope: str, asked: SearchQuery) -> bytes:
    """Return the digest of a question of a scope with its filters and quotas, without its times and page length."""
    filters = msgspec.to_builtins(msgspec.structs.replace(asked.filters, since=None, until=None))
    quotas = dict(asked.quotas)
    told = [log.log_id, scope, asked.query, filters, sorted(asked.lanes), asked.archived, quotas]
    return blake2b(canonical(told), digest_size=DIGEST_BYTES).digest()


def _bounds(asked: SearchQuery) -> Bounds:
    return asked.filters.since, asked.filters.until, asked.valid_at


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK_BYTES, person=b"memtape cursor").digest()
