"""The distillation of a flush (C4): the facts in the end of a conversation worth keeping, in a model's words.

A detached process reads the flush from the log, where secrets are removed already. Its failure changes
nothing. The conversation and the answer are data: whatever either says, only captures of the lowest trust
come of it. `flows/model` asks the model.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from memtape.schemas.codec import decode
from memtape.schemas.errors import BadAnswer, InvalidEvent, ModelTimeout
from memtape.schemas.events import DISTILLED_TAG, Captured, Event
from memtape.schemas.ids import derived_id
from memtape.schemas.log import Position
from memtape.sinks.home.counts import FLUSHES, count_one
from memtape.sinks.home.folders import Home
from memtape.tools.capture.injected import said
from memtape.tools.capture.lines import Line
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import Erased
from memtape.tools.client import Client
from memtape.tools.importing.records import MAX_NAME_CHARS
from memtape.tools.keep.models import about, is_named, model_for, without_thoughts

LIMIT_S = 12.0
MOST = 8
MOST_CHARS = 300
_NONE = "NONE"

_BULLET = re.compile(r"\A(?:[-*+•–—‣·>]\s+|\(?\d{1,2}[.)]\s+|\[[ xX]?\]\s+)+")
_NO_STATEMENT = re.compile(r"\A(?:```|~~~|#|[^\w]*\Z)|:\**\Z")
"""Fences, headings, lines without a letter or number, and announcements of the next line."""

_WHAT = "the end of a conversation between a person and an agent"
_TASK = """\
Write down what of it is worth remembering in later conversations: decisions, facts, preferences and open tasks. Write
at most {most} short statements, one on each line, in the language of the conversation. Each stands by itself: it names
what it is about, without "it", "this" or "the user above", in at most {chars} characters. Write no secrets, no
introduction and nothing that is true of any conversation. If nothing is worth keeping, write {none}."""


def distill(home: Path, place: Position, limit_s: float = LIMIT_S) -> int:
    """Ask the model about the flush at a place of the log, capture its statements and return their number.

    The outcome is counted. Nothing is asked without a model, or for a flush distilled before or erased.
    Raises `ModelTimeout` and `MemtapeError`, both without any text of the conversation.
    """
    flushed = _flushed(home, place)
    if flushed is None or not is_named(Home(home)):
        return 0
    try:
        kept = _distill(home, flushed, limit_s)
    except ModelTimeout:
        count_one(home, FLUSHES, "timeout")
        raise
    except Exception:
        count_one(home, FLUSHES, "error")
        raise
    count_one(home, FLUSHES, "distilled_ok")
    return kept


def prompt_for(text: str) -> str:
    """Return the prompt about the end of a conversation."""
    task = _TASK.format(most=MOST, chars=MOST_CHARS // 2, none=_NONE)
    return about(_WHAT, task, text, f"Now write the statements, or {_NONE}.")


def statements(answer: str) -> list[str]:
    """Return the statements of an answer, each once. Raises `BadAnswer` where it has neither these nor NONE."""
    lines = [_BULLET.sub("", line.strip()).strip() for line in said(without_thoughts(answer)).splitlines()]
    found = [line for line in lines if len(line) <= MOST_CHARS and not _NO_STATEMENT.search(line)]
    none = [line for line in found if line.strip("\"'`.*").upper() == _NONE]
    found = list(dict.fromkeys(line for line in found if line not in none))[:MOST]
    if not found and not none:
        raise BadAnswer("The model's answer has no line that can be kept.", "Try another model.")
    return found


def _flushed(home: Path, place: Position) -> Event | None:
    """Return the flush at a place of the log, None where it was erased or distilled before."""
    with Client(home) as client:
        slots = client.log.read(place.partition, place.offset, 1)
        event = decode(slots[0].payload) if slots else None
        if event is None or not isinstance(event.body, Captured) or event.scope is None:
            return None
        first = derived_id("captured", event.scope, event.body.source, _native_id(event, 0))
        return None if client.log.known(event.scope, [first]) else event


def _distill(home: Path, flushed: Event, limit_s: float) -> int:
    model = model_for(Home(home), "flush")
    assert model is not None and isinstance(flushed.body, Captured)
    redactor = Redactor(Home(home))
    # Whole, since what tells a secret may stand in another line of the answer.
    found = statements(redactor.text(model.answer(prompt_for(flushed.body.text), limit_s)))
    name = redactor.head(model.name, MAX_NAME_CHARS, is_name=True)
    with Client(home, scope=flushed.scope, actor=name, origin="model", session=flushed.session) as client:
        erased = {client.scope: client.erased_ids(client.scope)}
        if flushed.id in erased[client.scope]:  # It went while the model was thinking.
            return 0
        events = [
            event for number, text in enumerate(found) for event in _events(client, flushed, number, text, erased)
        ]
        if events:
            client.log.append(events)
        return len(events)


def _events(client: Client, flushed: Event, number: int, text: str, erased: Erased) -> list[Event]:
    """Return the event of a statement; none where it may not stand on the log."""
    assert isinstance(flushed.body, Captured)
    line = Line(
        text=text,
        kind="insight",
        source=flushed.body.source,
        native_id=_native_id(flushed, number),
        tags=(DISTILLED_TAG,),
    )
    try:
        made = client.events_of(line, erased)
    except InvalidEvent:
        return []
    return [msgspec.structs.replace(event, refs=(flushed.id,)) for event in made]


def _native_id(flushed: Event, number: int) -> str:
    """Return the id of a statement from its flush and its number: a second answer about the same flush adds
    nothing.
    """
    return f"distilled:{flushed.id}:{number}"
