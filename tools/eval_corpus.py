"""Reads what `recollect eval` asks about: conversations, questions and their evidence, in one of two forms.

LoCoMo as it is published (`tools/locomo.py`), or the plain form of any corpus:
`{"conversations": [{"id", "turns": [{"id", "session", "speaker", "role", "text", "at"}],
"questions": [{"question", "evidence": [turn ids], "category"}]}]}`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import orjson

from recollect.schemas.errors import RecollectError
from recollect.schemas.scopes import PROJECT_PREFIX, slug
from recollect.schemas.times import US_PER_S, parse_time
from recollect.tools.lines import Line
from recollect.tools.locomo import Conversation, Question, conversation_of

ROLES = ("assistant", "model", "ai", "bot", "tool", "system")
"""Roles of those who answer; any other is taken for a person."""
UNDATED_US = 1_577_836_800 * US_PER_S
"""Where turns have no time, the first is put at 2020-01-01 and each a minute after the one before."""
GAP_US = 60 * US_PER_S
_FORM = (
    "It should be LoCoMo as published, or {conversations: [{id, turns: [{id, session, speaker, role, text, at}], "
    "questions: [{question, evidence, category}]}]}."
)


class _Turn(msgspec.Struct):
    id: str | int
    text: str
    session: str | int = "1"
    speaker: str | None = None
    role: str | None = None
    at: str | int | None = None


class _Question(msgspec.Struct):
    question: str
    evidence: list[str | int] = []
    category: str | int | None = None


class _Conversation(msgspec.Struct):
    id: str | int
    turns: list[_Turn]
    questions: list[_Question] = []


class _Plain(msgspec.Struct):
    conversations: list[_Conversation]


def read_corpus(path: Path) -> list[Conversation]:
    """Return the conversations of a file in either form; raise `RecollectError` for one that is in neither."""
    try:
        data = path.read_bytes()
        made = orjson.loads(data)
        if isinstance(made, list):
            found = [conversation_of(sample) for sample in made]
        else:
            found = [_conversation(plain) for plain in msgspec.json.decode(data, type=_Plain).conversations]
    except OSError as error:
        raise RecollectError(f"{path} cannot be read: {error.strerror}.", "Name a file that can.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecollectError) as error:
        said = f"{type(error).__name__} {error}".strip()[:200].rstrip(".")
        raise RecollectError(f"{path} is no corpus of conversations: {said}.", _FORM) from None
    if not any(question.evidence for conversation in found for question in conversation.questions):
        raise RecollectError(f"{path} has no question with evidence.", "There is nothing to measure.")
    scopes = [conversation.scope for conversation in found]
    # Two ids can be one slug.
    return [
        conversation.within(f"{conversation.scope}-{n}") if scopes.count(conversation.scope) > 1 else conversation
        for n, conversation in enumerate(found)
    ]


def _conversation(plain: _Conversation) -> Conversation:
    scope = PROJECT_PREFIX + slug(str(plain.id))
    lines: list[Line] = []
    latest: dict[str, int] = {}
    for number, turn in enumerate(plain.turns):
        if not turn.text.strip():
            continue
        session = str(turn.session)
        at = UNDATED_US + number * GAP_US if turn.at is None else turn.at
        at = parse_time(at, UNDATED_US) if isinstance(at, str) else at
        # A conversation is said in order, also where only its sessions are dated.
        at = latest[session] = max(at, latest.get(session, at - 1) + 1)
        lines.append(
            Line(
                text=turn.text,
                kind="turn",
                at=at,
                actor=turn.speaker or turn.role or "someone",
                origin="agent" if (turn.role or "").lower() in ROLES else "user",
                session=session,
                scope=scope,
                source="eval",
                native_id=str(turn.id),
            )
        )
    questions = [
        Question(asked.question, tuple(map(str, asked.evidence)), str(asked.category or "all"))
        for asked in plain.questions
    ]
    return Conversation(scope, lines, questions)
