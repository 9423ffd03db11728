"""The end of a session, by rule: requests, work, decisions, files, and open ends.

Each line is a piece of a turn under a word for its kind. Only people ask, and only people and agents decide
and name files: output of tools is no statement. The caller chooses the session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from memtape.schemas.events import PEOPLE
from memtape.schemas.patterns import lazy
from memtape.schemas.times import format_day
from memtape.state.text.names import named_files
from memtape.state.text.own_words import is_question
from memtape.state.text.passages import ending
from memtape.state.text.questions import is_goodbye, is_nod
from memtape.state.text.reading import read
from memtape.state.text.statements import statements
from memtape.state.views.filters import Spoken

HEAD_CHARS, END_CHARS = 240, 240
DECISIONS, DEEDS, FILES = 4, 3, 8
LEAST_WORDS = 4
"""A shorter answer, such as "Done.", is shown only without a longer one to the same request."""

_PAST = (
    r"(?:add|fix|mov|renam|remov|replac|updat|chang|implement|creat|delet|refactor|switch|migrat|install|upgrad|deploy|merg"
    r"|committ|push|revert|test|document|extract|configur)ed|wrote|rewrote"
)
_DID = lazy(rf"(?:I|We)(?:['’]ve| have)?(?: now| also| just)* (?:{_PAST}|split|set up)\b|(?i:{_PAST})\b(?!:)")
"""Openings of an agent's sentence about finished work."""
_NEXT = lazy(
    r"\bnext(?: step| steps|,| (?:I|we)\b|:)|\b(?:still|yet) (?:to do|open|missing|needs?|have to|must)\b"
    r"|\bremain(?:s|ing)\b|\bleft to do\b|\bto ?do\b[: ]|\bnot (?:yet|done yet)\b",
    re.IGNORECASE,
)
"""Words of a sentence about next steps."""


class OutlineLine(NamedTuple):
    """One line of the end of a session, with the number of its turn; `held` is a statement's text."""

    text: str
    turn: int
    held: str | None = None


def left_of(turns: Sequence[Spoken]) -> list[OutlineLine]:
    """Return the end of a session by its turns in order; the beginning and end of a long session suffice."""
    people = [n for n, turn in enumerate(turns) if turn.origin in PEOPLE and turn.text.strip()]
    agents = [n for n, turn in enumerate(turns) if turn.origin == "agent" and turn.text.strip()]
    requests = [n for n in people if not is_goodbye(read(turns[n].text)) and not is_nod(read(turns[n].text))]
    # The last answer to the last request is the one before a goodbye, if any came before it.
    since = requests[-1] if requests else -1
    answers = [n for n in agents if n > since]
    parting = next((n for n in people if n > since and is_goodbye(read(turns[n].text))), len(turns))
    answers = [n for n in answers if n < parting] or answers
    answers = [n for n in answers if len(turns[n].text.split()) >= LEAST_WORDS] or answers
    answer = answers[-1] if answers else None
    lines = [OutlineLine(f"asked: {_head(turns[n].text)}", n) for n in requests[:1]]
    # Finished work is told by agents before the last answer. Splitting into sentences takes longer.
    telling = [n for n in agents if n != answer and _DID.search(turns[n].text)]
    done = {said: n for n in telling for said in read(turns[n].text).said if _DID.match(said)}
    lines += [OutlineLine(f"done: {_head(text)}", n) for text, n in list(done.items())[-DEEDS:]]
    decided = {
        one.text: n
        for n in sorted([*people, *agents])
        for one in statements(read(turns[n].text), turns[n].at, of_agent=turns[n].origin == "agent")
        if one.label in ("decision", "correction")
    }
    lines += [OutlineLine(f"decided: {text}", n, text) for text, n in list(decided.items())[-DECISIONS:]]
    lines += _files(turns, sorted([*people, *agents]))
    lines += [OutlineLine(f"then asked: {_head(turns[n].text)}", n) for n in requests[1:][-1:]]
    if answer is not None:
        lines.append(OutlineLine(f"last answer: {_end(turns[answer].text)}", answer))
        if all(n < answer or is_goodbye(read(turns[n].text)) for n in people):
            said, told = read(turns[answer].text).said, _end(turns[answer].text)
            asked = [it for it in said if is_question(it)]
            lines += [OutlineLine(f"open question: {it}", answer) for it in asked[-1:]]
            # Next steps that its end has not told.
            planned = [it for it in said if _NEXT.search(it) and it not in told]
            lines += [OutlineLine(f"next: {_head(it)}", answer) for it in planned[-1:]]
    elif requests and agents:
        lines.append(OutlineLine("no answer came to the last request.", requests[-1]))
    return lines


def session_line(turns: Sequence[Spoken]) -> list[OutlineLine]:
    """Return the heading line of a session: its agents and its days."""
    named = [turn.actor.partition(" ")[0] for turn in turns if turn.origin == "agent"]
    if not turns:
        return []
    first, last = format_day(turns[0].at), format_day(turns[-1].at)
    day = first if first == last else f"{first} to {last}"
    agents = ", ".join(dict.fromkeys(named))
    return [OutlineLine(f"session of {agents}, {day}" if named else f"session without an answer, {day}", 0)]


def _files(turns: Sequence[Spoken], spoken: Sequence[int]) -> list[OutlineLine]:
    """Return one line with the files that are named most, of equals the last first."""
    named: Counter[str] = Counter()
    last: dict[str, int] = {}
    for n in spoken:
        for path in named_files(read(turns[n].text)):
            named[path] += 1
            last[path] = n
    if not named:
        return []
    chosen = sorted(named, key=lambda path: (-named[path], -last[path], path))[:FILES]
    return [OutlineLine(f"files: {', '.join(chosen)}", max(last[path] for path in chosen))]


def _head(text: str) -> str:
    joined = " ".join(text.split())
    head = joined[:HEAD_CHARS]
    return joined if len(joined) <= HEAD_CHARS else f"{head.rpartition(' ')[0] or head} …"


def _end(text: str) -> str:
    """Return the end of a text from a whole sentence on, else its beginning."""
    joined = " ".join(text.split())
    if len(joined) <= END_CHARS:
        return joined
    last = ending(joined, END_CHARS)
    return f"… {last}" if last else _head(text)
