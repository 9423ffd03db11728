"""Cursors: the short text that requests the next page of a search, and its match with a question.

A cursor holds no word of the question or of a result. `paging` makes pages.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Iterable, Mapping
from hashlib import blake2b

import msgspec

from memtape.schemas.codec import canonical
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Source
from memtape.tools.ask.ordering import SearchQuery

VERSION = 1
ID_BYTES, DIGEST_BYTES, CHECK_BYTES = 5, 6, 4
"""So many bytes of blake2b tell given results, questions and whole cursors apart. Of a million questions
with 1,000 results given and 1,000 to come, one skips a result that has the five bytes of another."""
SLACK_US = 60_000_000
"""A time that is given as an age is another one when it is asked again: later by the time between, and so much more."""
AGAIN = "Ask without a cursor for the first page."

Bounds = tuple[int | None, int | None, int | None]


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """Where a search goes on: of which `place` (log and scope) and question it is, and how the first page was answered.

    `at` is when it was asked and `now` ranking's now, in microseconds. `ends` has by its partition up to which offset
    (exclusive) the log was read, and `behind` by how much less of it the views had, where that is less. `bounds` are
    the times it was narrowed to: since, until, and when it held. `given` tells the results of all pages so far.
    """

    version: int
    place: bytes
    question: bytes
    at: int
    now: int
    ends: dict[int, int]
    behind: dict[int, int]
    bounds: Bounds
    given: bytes

    @property
    def after(self) -> int:
        """The number of results on the pages up to here."""
        return len(self.given) // ID_BYTES

    def ids(self) -> frozenset[bytes]:
        """Return the digests of the results on all pages up to here."""
        return frozenset(self.given[n : n + ID_BYTES] for n in range(0, len(self.given), ID_BYTES))

    def with_given(self, ids: Iterable[str]) -> Cursor:
        """Return the cursor after a page with results of these ids."""
        return msgspec.structs.replace(self, given=self.given + b"".join(map(told_id, ids)))


def told_id(id: str) -> bytes:
    """Return the digest of a result's id for a cursor."""
    return blake2b(id.encode(), digest_size=ID_BYTES).digest()


def place_of(log_id: str, scope: str) -> bytes:
    """Return the digest of a log and scope for a cursor."""
    return _digest([log_id, scope])


def question_of(asked: SearchQuery, archived: bool, quotas: Mapping[Source, int]) -> bytes:
    """Return the digest of a question with its filters, times apart, and its page length."""
    filters = msgspec.to_builtins(msgspec.structs.replace(asked.filters, since=None, until=None))
    return _digest([asked.query, filters, sorted(asked.lanes), archived, dict(quotas)])


def bounds_of(asked: SearchQuery) -> Bounds:
    """Return the times that a question is narrowed to."""
    return asked.filters.since, asked.filters.until, asked.valid_at


def written(cursor: Cursor) -> str:
    """Return a cursor as a text of letters, digits, `-` and `_`."""
    data = msgspec.msgpack.encode(cursor)
    return urlsafe_b64encode(data + _check(data)).decode().rstrip("=")


def read(text: str) -> Cursor:
    """Return the cursor in a text. Raises `MemtapeError` for a damaged cursor and for another version."""
    damaged = MemtapeError("The cursor is damaged, or was never one.", AGAIN)
    try:
        raw = text.strip().encode("ascii")
        data = urlsafe_b64decode(raw + b"=" * (-len(raw) % 4))
    except (Error, ValueError):
        raise damaged from None
    data, check = data[:-CHECK_BYTES], data[-CHECK_BYTES:]
    if not data or check != _check(data) or urlsafe_b64encode(data + check).rstrip(b"=") != raw:
        raise damaged
    try:
        cursor = msgspec.msgpack.decode(data, type=Cursor)
    except msgspec.MsgspecError:
        raise MemtapeError("The cursor is of another version of Memtape.", AGAIN) from None
    if cursor.version != VERSION:
        raise MemtapeError("The cursor is of another version of Memtape.", AGAIN)
    return cursor


def check(cursor: Cursor, place: bytes, question: bytes, bounds: Bounds, now_us: int) -> None:
    """Raise `MemtapeError` where a cursor is of another scope or home, or of another question."""
    if cursor.place != place:
        raise MemtapeError("The cursor is of another scope or home.", f"Ask where it was given. {AGAIN}")
    between = max(0, now_us - cursor.at) + SLACK_US
    same = all(
        (was is None) is (now is None) and (was is None or now is None or -SLACK_US <= now - was <= between)
        for was, now in zip(cursor.bounds, bounds, strict=True)
    )
    if cursor.question != question or not same:
        raise MemtapeError(
            "The cursor is of another question.", f"Ask the same with the same filters and quotas. {AGAIN}"
        )


def _digest(value: object) -> bytes:
    return blake2b(canonical(value), digest_size=DIGEST_BYTES).digest()


def _check(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK_BYTES, person=b"memtape cursor").digest()
