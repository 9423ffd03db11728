"""What may be asked: a question, a limit and lanes, checked before anything is read."""

from __future__ import annotations

from collections.abc import Collection

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Filters, Recalled
from memtape.schemas.lanes import LANES, Lane
from memtape.tools.ask.retrieval import Answer


def lanes_left(without: Collection[Lane]) -> tuple[Lane, ...]:
    """Return the lanes that are not left out. Raises `MemtapeError` where that is none."""
    lanes = tuple(lane for lane in LANES if lane not in without)
    if not lanes:
        raise MemtapeError("Every lane is left out.", f"Keep one of {', '.join(LANES)}.")
    return lanes


def recalled(query: str, limit: int, filters: Filters, answer: Answer) -> Recalled:
    """Return the body of the event that says what was asked and returned."""
    return Recalled(
        filters=filters,
        lanes=tuple(answer.lanes),
        limit=limit,
        now=answer.now,
        passes=1,
        query=query,
        results=tuple(result.id for result in answer.results),
        revision=answer.revision,
        watermark=answer.watermark,
    )


def check_asked(query: object, limit: object) -> None:
    """Raise `MemtapeError` for what cannot be asked, whatever a program hands in."""
    if not isinstance(query, str):
        raise MemtapeError(f"The query is not a text but {_named(query)}.", "Give a text of what to look for.")
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 1_000:
        many = isinstance(limit, int) and limit > 1_000
        raise MemtapeError(
            f"A limit of {_named(limit)} is not a whole number between 1 and 1000.",
            "Ask for fewer, 1000 at most." if many else "Ask for one result or more, as limit 10.",
        )
    if len(query) > MAX_TEXT_BYTES:
        raise MemtapeError(
            f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked.", "Ask for less."
        )
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")


def _named(given: object) -> str:
    """Return what was handed in, short enough to be shown."""
    if given is None:
        return "nothing"
    return str(given)[:40] if isinstance(given, (int, float)) else f"of type {type(given).__name__}"
