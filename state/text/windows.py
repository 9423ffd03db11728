"""Windows of talk: parts of a session small enough to be read at once for facts.

Words and times alone decide the cuts, so that every reader of the log cuts the same windows. Use of windows
is elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memtape.schemas.events import Captured, Event
from memtape.schemas.times import US_PER_S

MOST_TURNS = 6
MOST_CHARS = 4_000
"""A window ends with the turn that reaches this length."""
QUIET_US = 60 * US_PER_S
"""A window ends after an answer with this much silence behind it."""
UNANSWERED_US = 30 * 60 * US_PER_S
"""A prompt without an answer ends its window only then: before, the agent may be at work."""

Window = tuple[Event, ...]


def windows(turns: Sequence[Event], is_settled: Callable[[str], bool], now_us: int) -> list[Window]:
    """Return the ended windows of a session, in the order of the log; settled turns are in none."""
    ended: list[Window] = []
    window: list[Event] = []
    for turn in turns:
        settled = is_settled(turn.id)
        if window and (settled or turn.sent >= _ends_at(window)):
            ended.append(tuple(window))
            window = []
        if settled:
            continue
        window.append(turn)
        if len(window) == MOST_TURNS or sum(map(_chars, window)) >= MOST_CHARS:
            ended.append(tuple(window))
            window = []
    return [*ended, tuple(window)] if window and now_us >= _ends_at(window) else ended


def _ends_at(window: Sequence[Event]) -> int:
    return window[-1].sent + (QUIET_US if window[-1].actor.origin == "agent" else UNANSWERED_US)


def _chars(turn: Event) -> int:
    return len(turn.body.text) if isinstance(turn.body, Captured) else 0
