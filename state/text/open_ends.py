"""Open ends of a turn: tasks, promises and questions; and which later text closes them.

By rule, English first, precision before recall: an open end shown as open should be open. So few sentences
count as an open end, and many as its close. Speakers, sessions and the fate of open ends are handled
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text.lexicon import SEARCH_STOP, cues, word_list
from memtape.state.text.own_words import is_question
from memtape.state.text.questions import is_goodbye, is_nod
from memtape.state.text.reading import Reading
from memtape.state.text.statements import (
    LEAST_WORDS,
    MOST_CHARS,
    MOST_STATEMENTS,
    dated,
    has_identifier,
    stated_in,
)
from memtape.state.text.terms import ENGLISH, terms

EndKind = Literal["question", "promise", "task"]

LEAST_SHARED = 2  # Minimum of an open end's terms, and half of all, in the text that closes it.
_CUES = cues("open_ends")
_OF_STATEMENTS, _OF_TASKS = cues("statements"), word_list("words of a task")
_QUESTION_MARKS = ("?", "？", "؟", "か", "吗", "呢")
_NAME = lazy(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
MOST_UNKNOWN_CHARS = 160
_STOPS = word_list("terms of any open end")
"""Terms that mark an open end or its date, and do not name its subject."""


class OpenEnd(NamedTuple):
    """An open end of a text: its kind, and its span from `start` to `end`."""

    kind: EndKind
    start: int
    end: int


class ClosingSigns(NamedTuple):
    """The signs that close an open end: `least` of its terms."""

    terms: frozenset[str]
    least: int


def open_ends(reading: Reading, at: int, *, of_agent: bool, heard: bool = True) -> list[OpenEnd]:
    """Return the open ends of a turn: people's tasks and promises, agents' last promise, the last question.

    A question counts if another speaker is `heard`. An agent's question must end the turn, and offer nothing.
    """
    if not (of_agent or any(map(reading.text.__contains__, _QUESTION_MARKS))):
        return [*_tasks(reading, at)]
    said = [it for it in reading.shown if not it.is_output][::-1]
    if of_agent:
        promises = (it for it in said if _is_promise(it.said))
        found = [OpenEnd("promise", it.start, it.end) for it in islice(promises, 1)]
        said = [it for it in said[:1] if reading.text.rstrip().endswith(it.said[-1:])]
    else:
        found = [*_tasks(reading, at)]
    asked = (it for it in said if heard and _asks(it.said) and not _CUES.small_talk.search(it.said))
    asked = (it for it in asked if not (of_agent and _CUES.offered.search(it.said)))
    return found + [OpenEnd("question", it.start, it.end) for it in islice(asked, 1)]


def said_of(text: str, end: OpenEnd, at: int) -> str:
    """Return the text of an open end for display, on one line, with dates behind names of days."""
    said = " ".join(text[end.start : end.end].split())
    return said if end.kind == "question" else dated(said, at)


def answers(reading: Reading) -> bool:
    """Return whether a turn may answer a question: more than thanks, farewell, nod, or "not known yet"."""
    is_courtesy = is_goodbye(reading) or is_nod(reading)
    return bool(reading.text.strip()) and not (is_courtesy or leaves_open(reading))


def leaves_open(reading: Reading) -> bool:
    """Return whether a turn says that the answer is not known yet, and little else."""
    return len(reading.text) <= MOST_UNKNOWN_CHARS and _CUES.unknown.search(reading.text) is not None


def told_by(reading: Reading) -> ClosingSigns:
    """Return the signs by which a text closes an open end."""
    its = dict.fromkeys(term for word, term in reading.worded_terms(ENGLISH) if word not in SEARCH_STOP)
    found = frozenset(term for term in its if term not in _STOPS and not term.isdigit())
    least = max(-(-len(found) // 2), min(LEAST_SHARED, len(found)))
    return ClosingSigns(found, least)


def said_in(reading: Reading) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each sentence of a text that may close an open end, no question, with its terms."""
    for said in reading.said:
        if len(said) <= MOST_CHARS and "?" not in said:
            yield said, frozenset(terms(said, ENGLISH))


def closes(said: str, kind: EndKind) -> bool:
    """Return whether a sentence with the terms of an open end closes it: an answer, or a finished action."""
    if _CUES.unknown.search(said):
        return False
    return kind == "question" or (_CUES.done.search(said) is not None and not _CUES.not_done.search(said))


def _tasks(reading: Reading, at: int) -> Iterator[OpenEnd]:
    text = reading.text
    may_be = not _OF_TASKS.isdisjoint(reading.words) and _OF_STATEMENTS.task.search(text)
    if not (may_be or "[ ]" in text or "odo" in text):  # Most turns.
        return
    for one in stated_in(reading, at, of_agent=False)[:MOST_STATEMENTS]:
        if one.label == "task" and (kind := _kind_of(one.text)) is not None:
            yield OpenEnd(kind, one.start, one.end)


def _kind_of(said: str) -> EndKind | None:
    """Return the kind of a person's likely open end, None for a mere intention, feeling or report."""
    if _CUES.offers.search(said):
        return None
    is_timed = _is_timed(said)
    if _CUES.promises.match(said):
        is_due = _NAME.search(said) or _CUES.later.search(said)
        return "promise" if is_timed or (is_due and _CUES.reports_to.search(said)) else None
    must = _CUES.must.match(said) and (is_timed or _CUES.still.search(said) or has_identifier(said))
    return "task" if must or _CUES.owed.search(said) else None


def _is_promise(said: str) -> bool:
    promises = _CUES.promises.match(said) and len(said) <= MOST_CHARS and len(said.split()) >= LEAST_WORDS
    return bool(promises and (_is_timed(said) or _CUES.later.search(said)) and not _CUES.offers.search(said))


def _is_timed(said: str) -> bool:
    """Return whether a sentence says when something is to be done; "in the month-day form" does not."""
    return _OF_STATEMENTS.time_ahead.search(_CUES.in_the.sub("", said)) is not None


def _asks(said: str) -> bool:
    return is_question(said) and len(said) <= MOST_CHARS and len(said.split()) >= LEAST_WORDS
