"""Reads what `memtape admin eval` asks about: conversations, questions and evidence, in the plain form.

`{"conversations": [{"id", "turns": [{"id", "session", "speaker", "role", "text", "at"}],
"questions": [{"question", "evidence": [turn ids], "category"}]}]}`. `published` puts benchmarks into it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_AT_LEAD_US
from memtape.schemas.scopes import PROJECT_PREFIX, slug
from memtape.schemas.times import US_PER_S, format_time
from memtape.schemas.visible import many
from memtape.tools.capture.writing import Line, MediaLine, now_us
from memtape.tools.importing.records import time_of
from memtape.tools.measure.published import plain_form

ROLES = ("assistant", "model", "ai", "bot", "tool", "system")
"""Roles of those who answer; any other is taken for a person."""
UNDATED_US = 1_577_836_800 * US_PER_S
"""Where turns have no time, the first is put at 2020-01-01 and each a minute after the one before."""
GAP_US = 60 * US_PER_S
FORMS = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%B-%d-%Y")
"""The times of LoCoMo, LongMemEval and BEAM, beside those of imports."""
_FORM = (
    "It should be LoCoMo, LongMemEval or BEAM as published, or {conversations: [{id, turns: [{id, session,"
    " speaker, role, text, at}], questions: [{question, evidence, category}]}]}."
)

Words = tuple[str, ...]


class Question(NamedTuple):
    """A question, and the native ids of the turns that hold its answer (none where there is none)."""

    text: str
    evidence: tuple[str, ...]
    category: str


class Conversation(NamedTuple):
    """One conversation: the captures of a scope, in order, and the questions."""

    scope: str
    lines: list[Line]
    questions: list[Question]


class Conversations(list[Conversation]):
    """Conversations, how many ids of evidence no turn has (`missing`), and notes in words."""

    missing: int = 0
    notes: tuple[str, ...] = ()


class _Turn(msgspec.Struct):
    id: str | int
    text: str
    session: str | int | None = None
    speaker: str | None = None
    role: str | None = None
    at: Any = None
    caption: str | None = None


class _Question(msgspec.Struct):
    question: str
    evidence: list[str | int] | None = None
    category: str | int | None = None


class _Conversation(msgspec.Struct):
    id: str | int
    turns: list[_Turn]
    questions: list[_Question] | None = None


class _Plain(msgspec.Struct):
    conversations: list[_Conversation]


def read_corpus(path: Path) -> Conversations:
    """Return the conversations of a file or of BEAM's folder, each in a scope of its own.

    Raises `MemtapeError` for a file in no known form, where an id of a conversation stands twice, where a
    turn cannot be captured, and where no question has evidence. Evidence that no turn has is left out and
    counted.
    """
    try:
        found = msgspec.convert(plain_form(path), _Plain).conversations
    except OSError as error:
        raise MemtapeError(f"{path} cannot be read: {error.strerror}.", "Name a file that can.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        lacks = isinstance(error, KeyError)
        why = f"a conversation has no {error}" if lacks else str(error).replace("`", "'")
        raise MemtapeError(f"{path} is no corpus of conversations: {why[:200]}.", _FORM) from None
    if not any(asked.evidence for plain in found for asked in plain.questions or ()):
        raise MemtapeError(f"{path} has no question with evidence.", "There is nothing to measure.")
    slugs = [slug(str(plain.id)) for plain in found]
    corpus, undated, missing = Conversations(), 0, list[str]()
    for number, (plain, name) in enumerate(zip(found, slugs, strict=True)):
        scope = f"{PROJECT_PREFIX}{name}"
        scope += f"-{number}" * (slugs.count(name) > 1)  # Two ids can be one slug.
        lines = _lines(plain, scope)
        undated += sum(turn.at not in (None, "") and read_time(turn.at) is None for turn in plain.turns)
        known = {line.native_id for line in lines}
        questions = list[Question]()
        for asked in plain.questions or ():
            category = "all" if asked.category in (None, "") else str(asked.category)
            evidence = tuple(dict.fromkeys(map(str, asked.evidence or ())))
            questions.append(Question(asked.question, evidence, category))
        missing += (id for asked in questions for id in asked.evidence if id not in known)
        held = [it._replace(evidence=tuple(id for id in it.evidence if id in known)) for it in questions]
        corpus.append(Conversation(scope, lines, held))
    corpus.missing, corpus.notes = len(missing), _notes(found, corpus, undated, missing)
    return corpus


def _notes(found: list[_Conversation], corpus: Conversations, undated: int, missing: list[str]) -> Words:
    """Return notes about unreadable times and missing evidence. Raises `MemtapeError` without any other."""
    asked = sum(bool(question.evidence) for one in corpus for question in one.questions)
    without = sum(bool(asked.evidence) for plain in found for asked in plain.questions or ()) - asked
    ids = f"{many(len(missing), 'id')} of evidence, {missing[0][:60]!r} first" if missing else ""
    if not asked:
        hint = "Evidence has the ids of turns of the same conversation."
        raise MemtapeError(f"No turn has what questions name: {ids}.", hint)
    times = f"Taken without a time, since theirs cannot be read: {many(undated, 'turn')}."
    left = f"Left out, since no turn has them: {ids}. Not asked: {many(without, 'question')}."
    return (times,) * bool(undated) + (left,) * bool(missing)


def _lines(plain: _Conversation, scope: str) -> list[Line]:
    """Return the turns of a conversation as captures.

    Raises `MemtapeError` for two turns of one id, and for a turn that no log would take.
    """
    lines: list[Line] = []
    latest: dict[str, int] = {}
    before, now = UNDATED_US - GAP_US, now_us()
    for turn in plain.turns:
        if not turn.text.strip() and not turn.caption:
            continue
        session = "1" if turn.session is None else str(turn.session)
        said = f"Turn {str(turn.id)!r} of conversation {str(plain.id)!r}"
        at = read_time(turn.at)
        at = before + GAP_US if at is None else at
        # A conversation is said in order, also where only its sessions are dated.
        before = at = latest[session] = max(at, latest.get(session, at - 1) + 1)
        if at > now + MAX_AT_LEAD_US:
            raise MemtapeError(
                f"{said} is of {format_time(at)}, which is in the future.", "Change it in the file."
            )
        media = (MediaLine(caption=turn.caption),) if turn.caption else ()
        line = Line(
            text=turn.text, kind="turn", at=at, actor=turn.speaker or turn.role or "someone",
            origin="agent" if (turn.role or "").lower() in ROLES else "user", session=session,
            scope=scope, source="eval", native_id=str(turn.id), split=True, media=media,
        )  # fmt: skip
        lines.append(line)
    id, count = next(iter(Counter(line.native_id for line in lines).most_common(1)), ("", 0))
    if count > 1:
        raise MemtapeError(
            f"In conversation {str(plain.id)!r}, {count} turns have the id {id!r}.",
            "Evidence names turns by id, so each needs its own.",
        )
    return lines


def read_time(said: object) -> int | None:
    """Return a time in microseconds UTC, None for anything else. Without a zone it is UTC."""
    for form in FORMS:
        with suppress(ValueError, TypeError):
            read = datetime.strptime(said, form)  # type: ignore[arg-type]
            return round(read.replace(tzinfo=timezone.utc).timestamp()) * US_PER_S
    return time_of(said)
