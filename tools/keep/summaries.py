"""Summaries of sessions: their prompt for a model, and their capture.

Turns and answer are data: only a text of the lowest trust comes of them. `flows/workers/summarise.py` decides
about which session a model is asked, and when.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtape.schemas.errors import BadAnswer, MemtapeError
from memtape.schemas.events import SPEAKING, SUMMARY_TAG, Actor, Captured, Event
from memtape.schemas.upcasts import version_of
from memtape.sinks.home.folders import Home
from memtape.state.views.last_session import summary_id
from memtape.tools.capture.injected import said
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.facts import LIMIT_S, talk_of
from memtape.tools.keep.models import about, author, model_for, without_thoughts

MOST_LINES, LINE_CHARS = 8, 240
FIRST_TURNS, LAST_TURNS = 3, 60
"""Of a long session its beginning and its end are asked about."""
MOST_REFS = 9_000

_WHAT = "a session of a person with an agent, each message with its number, time and speaker"
_TASK = """\
Say where this session was left, for whoever goes on with the work, in at most {most} lines. Each line begins with one
of these words and a colon: asked, done, decided, files, commands, open, next. Each has at most {chars} characters, in
the language of the session, and names what it is about. Write no secrets, no introduction, and no line for what there
is nothing of."""
_LINE = re.compile(
    r"\A(?:[-*•]\s+)?\**(asked|done|decided|files|commands|open|next)\**\s*:\**\s*(\S.*)\Z", re.IGNORECASE
)


class SummaryAsker:
    """Asks the model of a home about a session."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._redactor = Redactor(home)

    def __call__(self, turns: Sequence[Event]) -> Event:
        """Return the capture that sums up the turns of a session, in their order. Raises `MemtapeError`."""
        model = model_for(self._home, "extract")
        if model is None:
            raise MemtapeError("No model is named.", "Name one in settings.toml under [model]; see docs/settings.md.")
        asked = (*turns[:FIRST_TURNS], *turns[FIRST_TURNS:][-LAST_TURNS:])
        text = self._redactor.text("\n".join(lines_of(model.answer(prompt_for(talk_of(asked)), LIMIT_S))))
        return _captured(turns, text, author(model, self._redactor))


def prompt_for(talk: str) -> str:
    """Return the prompt about a session."""
    return about(_WHAT, _TASK.format(most=MOST_LINES, chars=LINE_CHARS // 2), talk, "Now write these lines, no more.")


def lines_of(answer: str) -> list[str]:
    """Return the valid lines of an answer. Raises `BadAnswer` without any."""
    found = [_LINE.match(line.strip()) for line in said(without_thoughts(answer)).splitlines()]
    lines = [f"{line[1].lower()}: {' '.join(line[2].split())}" for line in found if line]
    kept = [line for line in dict.fromkeys(lines) if len(line) <= LINE_CHARS][:MOST_LINES]
    if not kept:
        raise BadAnswer("The model's answer does not say where a session was left.", "Try another model.")
    return kept


def _captured(turns: Sequence[Event], text: str, actor: Actor) -> Event:
    last = [turn for turn in turns if turn.actor.origin in SPEAKING][-1]
    assert isinstance(last.body, Captured) and last.scope is not None
    body = Captured(
        branch=last.body.branch,
        importance_given=None,
        kind="journal",
        media=(),
        part=None,
        path=None,
        source=last.body.source,
        tags=(SUMMARY_TAG,),
        text=text,
    )
    return Event(
        actor=actor,
        at=last.at,
        body=body,
        id=summary_id(last.scope, last.id),
        refs=tuple(turn.id for turn in turns[-MOST_REFS:]),
        scope=last.scope,
        sent=max(now_us(), *(turn.sent for turn in turns)),
        session=last.session,
        type="captured",
        v=version_of("captured"),
    )
