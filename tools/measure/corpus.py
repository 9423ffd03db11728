"""Reads what `memtape eval` asks about: conversations, questions and their evidence, in one of two forms.

LoCoMo as it is published (Maharana et al., ACL 2024; under CC BY-NC 4.0, so users bring their own copy), or the plain
form of any corpus:
`{"conversations": [{"id", "turns": [{"id", "session", "speaker", "role", "text", "at"}],
"questions": [{"question", "evidence": [turn ids], "category"}]}]}`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import orjson

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_AT_LEAD_US
from memtape.schemas.scopes import PROJECT_PREFIX, slug
from memtape.schemas.times import MAX_TIME_US, MIN_TIME_US, US_PER_S, format_time, parse_iso
from memtape.schemas.visible import many
from memtape.tools.capture.lines import Line, MediaLine
from memtape.tools.capture.writing import now_us

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


MOST_SECONDS, MOST_MILLISECONDS = 10**11, 10**14
"""A number below the first is seconds, below the second milliseconds, else microseconds: each of them then lies between
1973 and the year 5138, and what lies before 1973 is taken for a smaller unit."""
FORMS = (
    "%I:%M %p on %d %B, %Y",
    "%Y/%m/%d (%a) %H:%M",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    "%d %B %Y",
    "%d %B, %Y",
    "%B %d, %Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%d.%m.%Y",
)
"""Beside ISO 8601: LoCoMo's own form, LongMemEval's, and days as people write them. None can be read in two ways."""
_NUMBER = re.compile(r"^-?\d+(?:\.\d+)?\Z")
_YEAR = re.compile(r"\d{4}")


def read_time(said: str | float | None) -> int | None:
    """Return a time in microseconds UTC, None where none is given; raise `ValueError` for what is no time.

    Without a zone it is UTC. An age such as 3d is no time, since a corpus has no now.
    """
    if said is None or (isinstance(said, str) and not said.strip()):
        return None
    if isinstance(said, str) and _NUMBER.match(said.strip()):
        said = float(said) if "." in said else int(said)
    at = _of_text(said.strip()) if isinstance(said, str) else _of_number(said)
    if not MIN_TIME_US <= at <= MAX_TIME_US:
        raise ValueError(said)
    return at


def _of_number(said: float) -> int:
    if abs(said) < MOST_SECONDS:
        return round(said * US_PER_S)
    return round(said * 1_000) if abs(said) < MOST_MILLISECONDS else round(said)


def _of_text(said: str) -> int:
    if _YEAR.search(said) is None:
        raise ValueError(said)
    for form in FORMS:
        try:
            moment = datetime.strptime(said, form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
        return round(moment.timestamp()) * US_PER_S
    try:
        return parse_iso(said)
    except MemtapeError:
        raise ValueError(said) from None


ROLES = ("assistant", "model", "ai", "bot", "tool", "system")
"""Roles of those who answer; any other is taken for a person."""
UNDATED_US = 1_577_836_800 * US_PER_S
"""Where turns have no time, the first is put at 2020-01-01 and each a minute after the one before."""
GAP_US = 60 * US_PER_S
NOTES = 10
"""So many unreadable times are named, and the rest counted."""
_FORM = (
    "It should be LoCoMo as published, or {conversations: [{id, turns: [{id, session, speaker, role, text, at}], "
    "questions: [{question, evidence, category}]}]}."
)


_PLAIN_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a decimal number",
    "bool": "true or false",
    "null": "nothing",
    "array": "a list",
    "object": "an object",
}


class _Turn(msgspec.Struct):
    id: str | int
    text: str
    session: str | int | None = None
    speaker: str | None = None
    role: str | None = None
    at: Any = None


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


class Conversations(list[Conversation]):
    """Conversations, and what is to be known of them: how many ids of evidence no turn has, and notes in words."""

    missing: int = 0
    notes: tuple[str, ...] = ()


def read_corpus(path: Path) -> Conversations:
    """Return the conversations of a file in either form; raise `MemtapeError` for one that is in neither.

    It is refused too where an id of a conversation stands twice, where a turn cannot be captured, and where no question
    has evidence. Evidence that no turn has is left out and counted.
    """
    notes: list[str] = []
    try:
        data = path.read_bytes()
        made = orjson.loads(data)
        if isinstance(made, list):
            found = [conversation_of(sample) for sample in made]
        else:
            found = [_conversation(plain, notes) for plain in msgspec.json.decode(data, type=_Plain).conversations]
    except OSError as error:
        raise MemtapeError(f"{path} cannot be read: {error.strerror}.", "Name a file that can.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MemtapeError(f"{path} is no corpus of conversations: {_plainly(error)}.", _FORM) from None
    for conversation in found:
        _check(conversation)
    if not any(question.evidence for conversation in found for question in conversation.questions):
        raise MemtapeError(f"{path} has no question with evidence.", "There is nothing to measure.")
    return _scoped([_held(conversation) for conversation in found], found, notes)


def _scoped(held: list[Conversation], found: list[Conversation], notes: list[str]) -> Conversations:
    """Return the corpus of conversations with the evidence that they hold, each in a scope of its own."""
    missing = [id for conversation in found for id in _missing(conversation)]
    if not any(question.evidence for conversation in held for question in conversation.questions):
        count = many(len(missing), "id")
        raise MemtapeError(
            f"Of the evidence that questions name ({count}, {missing[0][:60]!r} first), no turn has any.",
            "Evidence has the ids of turns of the same conversation.",
        )
    scopes = [conversation.scope for conversation in held]
    # Two ids can be one slug.
    corpus = Conversations(
        conversation.within(f"{conversation.scope}-{n}") if scopes.count(conversation.scope) > 1 else conversation
        for n, conversation in enumerate(held)
    )
    if missing:
        named = ", ".join(repr(id[:60]) for id in missing[:3])
        without = sum(bool(question.evidence) for one in found for question in one.questions) - sum(
            bool(question.evidence) for one in held for question in one.questions
        )
        more = f", and left without any, so not asked: {many(without, 'question')}" if without else ""
        notes.append(f"Left out, since no turn has them: {many(len(missing), 'id')} of evidence ({named} …){more}.")
    corpus.missing = len(missing)
    corpus.notes = tuple(notes if len(notes) <= NOTES + 1 else [*notes[:NOTES], *_rest(notes[NOTES:], missing)])
    return corpus


def _rest(notes: list[str], missing: list[str]) -> list[str]:
    last = notes[-1:] if missing else []
    return [f"Times that cannot be read: those of {many(len(notes) - len(last), 'more turn')}.", *last]


def _missing(conversation: Conversation) -> Iterator[str]:
    known = dict.fromkeys(line.native_id for line in conversation.lines)
    return (id for question in conversation.questions for id in question.evidence if id not in known)


def _held(conversation: Conversation) -> Conversation:
    """Return a conversation whose questions name only turns of the conversation as evidence."""
    known = dict.fromkeys(line.native_id for line in conversation.lines)
    questions = [
        question._replace(evidence=tuple(id for id in question.evidence if id in known))
        for question in conversation.questions
    ]
    return conversation._replace(questions=questions)


def _check(conversation: Conversation) -> None:
    """Raise `MemtapeError` for two turns of one id, and for a turn that no log would take."""
    name = conversation.name
    ids = Counter(line.native_id for line in conversation.lines)
    twice = next((id for id, count in ids.items() if count > 1), None)
    if twice is not None:
        raise MemtapeError(
            f"In conversation {name!r}, {ids[twice]} turns have the id {twice!r}.",
            "Evidence names turns by id, so each needs its own.",
        )
    latest = now_us() + MAX_AT_LEAD_US
    for line in conversation.lines:
        if isinstance(line.at, int) and line.at > latest:
            said = f"is of {format_time(line.at)}, which is in the future"
            raise MemtapeError(f"Turn {line.native_id!r} of conversation {name!r} {said}.", "Change it in the file.")


def _conversation(plain: _Conversation, notes: list[str]) -> Conversation:
    scope = PROJECT_PREFIX + slug(str(plain.id))
    lines: list[Line] = []
    latest: dict[str, int] = {}
    before = UNDATED_US - GAP_US
    for turn in plain.turns:
        if not turn.text.strip():
            continue
        session = "1" if turn.session is None else str(turn.session)
        at = _time_of(turn, str(plain.id), notes)
        at = before + GAP_US if at is None else at
        # A conversation is said in order, also where only its sessions are dated.
        before = at = latest[session] = max(at, latest.get(session, at - 1) + 1)
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
                split=True,
            )
        )
    questions = [
        Question(
            asked.question,
            tuple(dict.fromkeys(map(str, asked.evidence or ()))),
            "all" if asked.category in (None, "") else str(asked.category),
            bool(asked.evidence),
        )
        for asked in plain.questions or ()
    ]
    return Conversation(scope, lines, questions, str(plain.id))


def _time_of(turn: _Turn, conversation: str, notes: list[str]) -> int | None:
    """Return when a turn was said; where that cannot be read, it is noted."""
    try:
        if isinstance(turn.at, (bool, list, dict)):
            raise ValueError(turn.at)
        return read_time(turn.at)
    except (ValueError, OverflowError):
        said = f"Turn {str(turn.id)!r} of conversation {conversation!r}: {str(turn.at)[:60]!r} is no time"
        notes.append(f"{said}; it is taken without one.")
        return None


def _plainly(error: Exception) -> str:
    """Return what is wrong with a file in words that say nothing of this program."""
    if isinstance(error, KeyError):
        return f"a conversation has no {error.args[0]!r}"
    if isinstance(error, msgspec.ValidationError):
        said = re.sub(r"`(\w+)( \| null)?`", lambda found: _PLAIN_WORDS.get(found[1], f"`{found[1]}`"), str(error))
        said = re.sub(r"`([^`]*\|[^`]*)`", lambda found: _either(found[1]), said)
        said = said.replace("Object missing required field", "an object lacks").replace(" - at ", ", at ")
        return (said[:1].lower() + said[1:]).replace("`", "'")[:200]
    if isinstance(error, (orjson.JSONDecodeError, msgspec.DecodeError)):
        return f"it is not JSON ({error})"[:200]
    return str(error)[:200] if type(error) is ValueError else "something in it has another form"


def _either(kinds: str) -> str:
    return " or ".join(dict.fromkeys(_PLAIN_WORDS.get(kind.strip(), kind.strip()) for kind in kinds.split("|")))
