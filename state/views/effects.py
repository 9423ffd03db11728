"""The names of event types by their effect on readers' views, for readers of a log."""

from __future__ import annotations

from typing import Literal

from memtape.schemas.events import EVENT_TYPES


def _with_effect(*effects: Literal["nothing", "views", "answers", "visible"]) -> tuple[str, ...]:
    return tuple(name for name, known in EVENT_TYPES.items() if known.effect in effects)


QUIET_TYPES = _with_effect("nothing")
"""Events that change no view."""
TAIL_TYPES = _with_effect("visible")
"""Events that change visibility; a reader applies them to views that are behind."""
PENDING_TYPES = _with_effect("visible", "answers")
"""Events for which the views are brought up to date; a recall or a tick alone leaves nothing pending."""
COUNTED_TYPES = ("captured", "embedded", "erased")
"""Events that change how many texts there are, or how many have a vector."""
