"""The events about what was found and shown: searches, memories given with prompts, and the context of a start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Filters, Recalled
from memtape.schemas.lanes import unasked_lanes
from memtape.state.views.filters import NO_FILTERS
from memtape.tools import ask

if TYPE_CHECKING:
    from memtape.tools.ask.context import ProjectContext
    from memtape.tools.ask.results import Answer
    from memtape.tools.ask.retrieval import Choose
    from memtape.tools.world import World

MAX_SHOWN = 1_000
"""So many results a recall can name."""


def offer(world: World, prompt: str, sure: Choose, limit: int) -> Answer:
    """Return the `sure` ones of the best results for a prompt, from the loaded texts; append nothing."""
    prompt, scope = world.redactor.question(prompt), world.scope
    return world.reader.held(lambda views: views.offer(scope, prompt, limit, sure))


def handed_out(world: World, prompt: str, answer: Answer, tokens: int = 0) -> str | None:
    """Append the results that an agent was shown unasked; return the event's id, None without a scope.

    `tokens` is the length of the shown text.
    """
    body = recalled(world.redactor.question(prompt), len(answer.results), NO_FILTERS, answer)
    return append_recall(world, replace(body, lanes=(*body.lanes, *unasked_lanes("prompt", tokens))))


def handed_start(world: World, context: ProjectContext) -> str | None:
    """Append which memories the context of a start has shown; return the event's id, None where it has none."""
    shown = context.ids[:MAX_SHOWN]
    if not shown:
        return None
    answer = ask.results.Answer([], context.watermark, context.lag, context.revision, context.now, {})
    lanes = unasked_lanes("start", context.tokens)
    return append_recall(world, replace(recalled("", len(shown), NO_FILTERS, answer), lanes=lanes, results=shown))


def append_recall(world: World, body: Recalled) -> str | None:
    """Append a recall; return the event's id, None where the project has nothing or stores nothing now."""
    if not world.is_made() or world.silence() is not None:
        return None
    return world.append("recalled", body, world.scope).id


def recalled(query: str, limit: int, filters: Filters, answer: Answer) -> Recalled:
    """Return the body of a `recalled` event: the question and the returned captures; summaries have none."""
    return Recalled(
        after=answer.after,
        filters=filters,
        lanes=tuple(answer.lanes),
        limit=limit,
        now=answer.now,
        passes=max((taken.look for taken in answer.trace), default=1),
        query=query,
        quotas=dict(answer.quotas),
        results=tuple(result.id for result in answer.results if not result.sums),
        revision=answer.revision,
        trace=answer.trace,
        watermark=answer.watermark,
    )


def check_asked(query: object, limit: object) -> None:
    """Raise `MemtapeError` for an invalid query or limit of any type."""
    if not isinstance(query, str):
        raise MemtapeError(f"The query is of type {type(query).__name__}.", "Give a text of what to look for.")
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_SHOWN:
        raise MemtapeError(f"A limit of {limit!r:.40} is not a whole number from 1 to {MAX_SHOWN}.", "Give another.")
    if len(query) > MAX_TEXT_BYTES:
        told = f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked."
        raise MemtapeError(told, "Ask for less.")
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")
