"""Reads LoCoMo as it is published (Maharana et al., ACL 2024): long conversations, and questions with their evidence.

The data is for evaluation, under CC BY-NC 4.0, and is not part of this project: users bring their own copy.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from memtape.schemas.scopes import PROJECT_PREFIX, slug
from memtape.schemas.times import US_PER_S
from memtape.tools.capture.lines import Line, MediaLine
from memtape.tools.measure.times import read_time

TURN_GAP_US = 30 * US_PER_S
"""The file dates sessions, not turns: each turn is put this long after the one before."""

_SESSION = re.compile(r"^session_(\d+)\Z")


UNANSWERABLE = 5
"""The category of questions that their conversation does not answer; their evidence only seems to."""


class Question(NamedTuple):
    """A question, and the native ids of the turns that hold its answer (none where there is none).

    `answered` is whether the conversation answers it, and `answer` what the file says is the answer, empty for none.
    """

    text: str
    evidence: tuple[str, ...]
    category: str
    answered: bool = True
    answer: str = ""


class Conversation(NamedTuple):
    """One conversation: the captures of a scope, in order, and the questions."""

    scope: str
    lines: list[Line]
    questions: list[Question]
    name: str = ""

    def within(self, scope: str) -> Conversation:
        """Return the conversation in another scope."""
        lines = [msgspec.structs.replace(line, scope=scope) for line in self.lines]
        return self._replace(scope=scope, lines=lines)


def conversation_of(sample: dict[str, Any]) -> Conversation:
    """Return one sample of a published file. Raises `KeyError`, `TypeError` or `ValueError` for another form."""
    scope = PROJECT_PREFIX + slug(sample["sample_id"])
    said = sample["conversation"]
    numbers = sorted(int(found[1]) for key in said if (found := _SESSION.match(key)))
    lines = [line for number in numbers for line in _session(said, number, scope)]
    questions = [
        Question(
            item["question"],
            _evidence(item),
            str(item.get("category", "all")),
            item.get("category") != UNANSWERABLE,
            str(item.get("answer", "")),
        )
        for item in sample["qa"]
    ]
    return Conversation(scope, lines, questions, sample["sample_id"])


def _evidence(item: dict[str, Any]) -> tuple[str, ...]:
    """Return the ids of turns, of which the file sometimes holds several in one text."""
    named = (id.strip() for text in item.get("evidence") or () for id in text.split(";"))
    return tuple(dict.fromkeys(named))


def _session(said: dict[str, Any], number: int, scope: str) -> list[Line]:
    written = said[f"session_{number}_date_time"]
    try:
        start = read_time(written)
    except ValueError:
        start = None
    if start is None:
        raise ValueError(f"the time of session {number}, {str(written)[:60]!r}, cannot be read")
    return [
        Line(
            text=turn["text"],
            kind="turn",
            at=start + place * TURN_GAP_US,
            actor=turn["speaker"],
            origin="user",
            session=f"session {number}",
            scope=scope,
            source="locomo",
            native_id=turn["dia_id"],
            split=True,
            media=(MediaLine(caption=turn["blip_caption"]),) if turn.get("blip_caption") else (),
        )
        for place, turn in enumerate(said[f"session_{number}"])
    ]
