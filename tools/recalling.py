"""Notes about what was found and shown: events of searches, prompts and starts, and durations."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from memtape.schemas.events import Filters, Recalled
from memtape.schemas.lanes import LANES, unasked_lanes
from memtape.schemas.metrics import Door
from memtape.schemas.rows import made_from
from memtape.sinks.home.counts import Noted, note
from memtape.sinks.home.folders import Home
from memtape.state.views.filters import NO_FILTERS
from memtape.tools import query

if TYPE_CHECKING:
    from memtape.tools.query.context import ProjectContext
    from memtape.tools.query.ordering import Choose
    from memtape.tools.query.results import Answer
    from memtape.tools.world import World

MAX_SHOWN = 1_000
"""So many results a recall can name."""


def offer(world: World, prompt: str, sure: Choose, limit: int) -> Answer:
    """Return the `sure` ones of the best results for a prompt, from the loaded texts; append nothing."""
    prompt, scope = world.redactor.question(prompt), world.scope
    return world.reader.reading(lambda views: query.ordering.offered(views, scope, prompt, limit, sure))


def handed_out(world: World, prompt: str, answer: Answer, tokens: int = 0) -> str | None:
    """Append the results that an agent was shown unasked; return the event's id, None without a scope.

    `tokens` is the length of the shown text.
    """
    body = recalled(world.redactor.question(prompt), len(answer.results), NO_FILTERS, answer)
    return append_recall(world, replace(body, lanes=(*body.lanes, *unasked_lanes("prompt", tokens))))


def handed_start(world: World, context: ProjectContext) -> str | None:
    """Append which memories the context of a start has shown; return the event's id, None without any."""
    shown = context.ids[:MAX_SHOWN]
    if not shown:
        return None
    answer = query.results.Answer([], context.watermark, context.lag, context.revision, context.now, {})
    body, lanes = recalled("", len(shown), NO_FILTERS, answer), unasked_lanes("start", context.tokens)
    return append_recall(world, replace(body, lanes=lanes, results=shown))


def append_recall(world: World, body: Recalled) -> str | None:
    """Append a recall; return the event's id, None where the project has nothing or stores nothing now."""
    if not world.is_made() or not world.stores():
        return None
    return world.append("recalled", body, world.scope).id


def recalled(query: str, limit: int, filters: Filters, answer: Answer) -> Recalled:
    """Return the body of a `recalled` event: the question and the returned captures; summaries have none."""
    passes = max((taken.look for taken in answer.trace), default=1)
    asked = {"filters": filters, "limit": limit, "passes": passes, "query": query, "quotas": {}}
    results = tuple(result.id for result in answer.results if not result.sums)
    return made_from(Recalled, answer, **asked, lanes=tuple(answer.lanes), results=results)


def note_recall(home: Home, door: Door, answer: Answer, began_ns: int) -> None:
    """Note a question that was answered, where anything is kept."""
    if home.is_nowhere:
        return
    took_us = (time.monotonic_ns() - began_ns) // 1_000
    counts: list[Noted] = [
        ("results", door, "", len(answer.results)),
        ("duplicates", door, "", sum(result.again for result in answer.results)),
        *(("hits", lane, "", answer.lanes.get(lane, 0)) for lane in LANES),
    ]
    recall: Noted = ("recall", door, "found" if answer.results else "nothing", took_us)
    note(home.path, [recall, *(count for count in counts if count[-1])])
