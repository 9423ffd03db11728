"""Open ends of a turn: tasks, promises and questions; and which later text closes them.

By rule, English first, precision before recall: an open end shown as open should be open. So few sentences
count as an open end, and many as its close. Speakers, sessions and the fate of open ends are handled
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.state.text import statement_cues as cues
from memtape.state.text.asking import is_goodbye, is_nod
from memtape.state.text.lexicon import word_list
from memtape.state.text.named import named_files
from memtape.state.text.statements import (
    LEAST_WORDS,
    MOST_CHARS,
    MOST_STATEMENTS,
    MOST_TURN_CHARS,
    dated,
    sentence_spans,
    sentences,
    stated_in,
    without_code,
)
from memtape.state.text.terms import ENGLISH, IRREGULAR, terms

EndKind = Literal["question", "promise", "task"]

LEAST_SHARED = 2
"""Minimum of an open end's terms, and half of all, in the text that closes it."""
_I = re.IGNORECASE
_LEAD = (
    r"^(?:(?:and|but|so|then|also|ok(?:ay)?|sure|yes|yeah|great|thanks|sorry|right|good|perfect|done)\b[\s,.!:–—-]*)*"
    r"(?:(?:tomorrow|tonight|later|then|next \w+|(?:after|before) (?:that|this|the \w+|lunch|work)|(?:on|by) \w+day"
    r"|in the \w+)[,\s]+)?"
)
_PROMISES = lazy(
    _LEAD + r"(?:I|we)(?:['’]ll| will| promise(?:d)? to|['’]m going to| am going to)\s+"
    r"(?!be (?:there|back|fine|ok|here|honest|happy|glad|able)|let you|keep\b|try|never|always|see\b|think\b"
    r"|say\b|tell\b|have to|need to|take it|check it|definitely|probably|maybe|just|aim|consider|focus"
    r"|continue|use\b|go for|stick|remember|miss|get ['’]?em)\w+",
    _I,
)
_REPORTS_TO = lazy(
    r"\b(?:send|e-?mail|message|call|ask|contact|write(?: to)?|invite|forward|reach out|schedule|book|return"
    r"|pay|follow up|get back)\b",
    _I,
)
_NAME = lazy(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_MUST = lazy(_LEAD + r"(?:I|we)(?:['’]ve| have)?\s+(?:still\s+|also\s+)?(?:need|have|got|must)\s+(?:to\s+)?\w+", _I)
_IN_THE = lazy(r"\bin the \w+(?:-\w+)+", _I)
_STILL = lazy(r"\bstill\b", _I)
_OWED = lazy(
    r"^(?:[-*]\s*)?(?:\[ \]|todo|to-do|to do|action items?|fixme|open task)\s*[:–—\]-]?\s*\S+\s+\S+"
    r"|^(?:please\s+|and\s+|also\s+)*(?:remind me|don(?:'|’)t let me forget)\s+to\b"
    r"|^\S+(?:\s\S+){0,7}\s(?:still (?:needs?|has|have) to be|needs to be (?:done|finished|fixed|renewed"
    r"|updated|reviewed|deployed|merged|removed|written|replaced)|is still (?:open|missing|to do|todo"
    r"|pending))\b|^(?:the|our|my)\s\S+(?:\s\S+){0,6}\s(?:is|are) due (?:on|by|in|next|tomorrow)\b",
    _I,
)
"""A task in an explicit form."""
_LATER = lazy(
    r"\b(?:later|afterwards|next (?:session|time|step|turn|up)|follow[- ]up|come back to|get back to|(?:once|after"
    r"|as soon as|until) (?:the|it|this|that|they|we|CI|main|all)\b|for now\b.{1,80}\bthen)\b",
    _I,
)
"""Words for work postponed by an agent."""
_OFFERS = lazy(
    r"\bif (?:you|that|it|so|needed|necessary|not|the|any)\b|\bwhenever\b|\blet me know\b|\b(?:once|when|after"
    r"|until|as soon as)"
    r" you\b|\bjust (?:say|tell|ask)\b|\bwould you\b|\bwant me to\b|\bunless\b|\bin case\b|\?",
    _I,
)
"""An action offered on a condition is no promise."""
_SMALL_TALK = lazy(
    r"\bhow (?:are|were|is|was|have|has|about|do) (?:you|things|everything|it|life|your)\b"
    r"|\bwhat['’]?s (?:up|new|going on)\b|\b(?:right|ok(?:ay)?|yeah|huh|eh|isn['’]t it|aren['’]t you"
    r"|don['’]t you (?:think|agree))\?|\bwhat (?:about|do) you(?: think)?\?|\bany (?:thoughts|ideas)\?"
    r"|\b(?:do )?you know\?|\bguess what\b|\bwho (?:knows|cares)\b|\bwhy not\?|^(?:really|seriously)\b"
    r"|\bhow['’]s (?:it|everything|your)\b|\bsound (?:good|fun)\b|\bwhere you are\?",
    _I,
)
"""Questions that need no answer."""
_OFFERED = lazy(
    r"\b(?:would you (?:like|prefer me)|(?:do )?you want|want me to|shall I|can I|may I|could I|let me know|ready to"
    r"|anything else|any (?:other )?(?:questions|specific|particular)|do you have any|is there any|are there any"
    r"|does (?:this|that|it|everything) (?:\w+ )?(?:help|work|make|look|sound|seem|clarify)|how does (?:this|that)"
    r"|sounds?)\b",
    _I,
)
"""Questions of agents that only offer, or that close a turn politely."""
_UNKNOWN = lazy(
    r"\b(?:I|we) (?:do not|don['’]t) (?:really |actually )?(?:know|remember|recall)\b|\bno idea\b"
    r"|\bnot (?:quite |really )?sure\b|\b(?:I|we)(?:['’]ll| will| need to| have to| must) (?:check|find out"
    r"|ask|look into|look (?:that|it) up|get back)\b|\blet me (?:check|ask|find out|look into|look (?:that"
    r"|it) up)\b|\bto be (?:decided|clarified)\b|\bTBD\b",
    _I,
)
"""Words saying that an answer is not known yet."""
MOST_UNKNOWN_CHARS = 160
_DONE = lazy(
    r"\b(?:\w{2,}ed|done|sent|wrote|written|made|did|bought|got|paid|took|taken|went|met|told|gave|given"
    r"|built|found|spoke|spoken|ran|put|set up|chose|chosen|kept|left|lost|sold|taught|began|begun|shut|cut"
    r"|split|read|ready|live|merged|finished|cancell?ed|no longer needed|not needed any ?more|in place"
    r"|works now|passes now|is up)\b",
    _I,
)
"""Words by which a text may report an action as done."""
_NOT_DONE = lazy(
    r"\b(?:not|never|cannot|\w+n['’]t|still|yet|needs?|need|have to|has to|must|should|to be|will|going to"
    r"|want to|plans?|would|could|can|may|might|todo|todos|remind|until|unless|if|except)\b|['’]ll\b|\?",
    _I,
)
"""Words that keep a sentence from reporting an action as done."""
_STOPS = word_list("terms of any open end")
"""Terms that mark an open end or its date, and do not name its subject."""


class OpenEnd(NamedTuple):
    """An open end of a text: its kind, and its span from `start` to `end`."""

    kind: EndKind
    start: int
    end: int


class ClosingSigns(NamedTuple):
    """The signs that close an open end: `least` of its terms, the beginnings of their words, its files."""

    terms: tuple[str, ...]
    begins: tuple[str, ...]
    least: int
    files: tuple[str, ...]


def open_ends(text: str, at: int, *, of_agent: bool, heard: bool = True) -> list[OpenEnd]:
    """Return the open ends of a turn: people's tasks and promises, agents' last promise, the last question.

    A question counts if another speaker is `heard`. An agent's question must end the turn, and offer nothing.
    """
    if len(text) > MOST_TURN_CHARS:
        return []
    said = sentence_spans(text)
    if of_agent:
        found = [OpenEnd("promise", it.start, it.end) for it in said if _is_promise(it.said)][-1:]
        said = [it for it in said[-1:] if text.rstrip().endswith(it.said[-1:])]
    else:
        found = [*_tasks(text, at)]
    asked = [it for it in said if heard and _asks(it.said) and not _SMALL_TALK.search(it.said)]
    asked = [it for it in asked if not (of_agent and _OFFERED.search(it.said))]
    return found + [OpenEnd("question", it.start, it.end) for it in asked[-1:]]


def said_of(text: str, end: OpenEnd, at: int) -> str:
    """Return the text of an open end for display, on one line, with dates behind names of days."""
    said = " ".join(text[end.start : end.end].split())
    return said if end.kind == "question" else dated(said, at)


def answers(text: str) -> bool:
    """Return whether a turn may answer a question: more than thanks, farewell, nod, or "not known yet"."""
    return bool(text.strip()) and not (is_goodbye(text) or is_nod(text) or leaves_open(text))


def leaves_open(text: str) -> bool:
    """Return whether a turn says that the answer is not known yet, and little else."""
    return len(text) <= MOST_UNKNOWN_CHARS and _UNKNOWN.search(text) is not None


def told_by(said: str) -> ClosingSigns:
    """Return the signs by which a text closes an open end."""
    found = tuple(dict.fromkeys(term for term in terms(said, ENGLISH) if term not in _STOPS and not term.isdigit()))
    begins = tuple("" if term in _IRREGULAR else term.rstrip("i")[:BEGINNING_CHARS] for term in found)
    least = max(-(-len(found) // 2), min(LEAST_SHARED, len(found)))
    return ClosingSigns(found, begins, least, tuple(named_files(said)))


BEGINNING_CHARS = 4
_IRREGULAR = frozenset(IRREGULAR.values())
"""Terms of words that may begin otherwise, as "sent" does for "send"."""


def may_end(told: ClosingSigns, lowered: str) -> bool:
    """Return whether a text in small letters may have the terms that close an open end, by words' beginnings.

    Most texts close nothing, and are read no further. Letters with accents have other terms, so that any text
    with such letters may.
    """
    if not lowered.isascii():
        return True
    missing = len(told.begins) - told.least
    for begin in told.begins:
        if begin not in lowered:
            missing -= 1
            if missing < 0:
                return False
    return bool(told.begins)


def said_in(text: str, open_now: Collection[ClosingSigns]) -> Iterator[tuple[frozenset[str], bool]]:
    """Yield the terms of each sentence except questions, of the lines that may close an open end.

    Each comes with whether the sentence reports a finished action.
    """
    if len(text) > MOST_TURN_CHARS:
        return
    for line in without_code(text).split("\n"):
        lowered = line.lower()
        if any(may_end(told, lowered) for told in open_now):
            for said in sentences(line):
                if len(said) <= MOST_CHARS and "?" not in said and not _UNKNOWN.search(said):
                    is_done = _DONE.search(said) is not None and not _NOT_DONE.search(said)
                    yield frozenset(terms(said, ENGLISH)), is_done


def done_by(action: str) -> frozenset[str]:
    """Return the terms of an action: of its line, and of the file that was edited."""
    return frozenset(terms(action, ENGLISH))


def ends(told: ClosingSigns, done: frozenset[str]) -> bool:
    """Return whether a finished action is the open one, judged by their terms."""
    return bool(told.terms) and sum(term in done for term in told.terms) >= told.least


def edits(told: ClosingSigns, path: str) -> bool:
    """Return whether an open end names an edited file."""
    return any(path == name or path.endswith(f"/{name}") for name in told.files)


def _tasks(text: str, at: int) -> Iterator[OpenEnd]:
    if not (cues.TASK.search(text) or "[ ]" in text or "odo" in text):  # Most turns.
        return
    for one in stated_in(text, at, of_agent=False)[:MOST_STATEMENTS]:
        if one.label == "task" and (kind := _kind_of(one.text)) is not None:
            yield OpenEnd(kind, one.start, one.end)


def _kind_of(said: str) -> EndKind | None:
    """Return the kind of a person's likely open end, None for a mere intention, feeling or report."""
    if _OFFERS.search(said):
        return None
    is_timed = _is_timed(said)
    if _PROMISES.match(said):
        is_owed = is_timed or (_REPORTS_TO.search(said) and (_NAME.search(said) or _LATER.search(said)))
        return "promise" if is_owed else None
    must = _MUST.match(said) and (is_timed or _STILL.search(said) or cues.has_identifier(said))
    return "task" if must or _OWED.search(said) else None


def _is_promise(said: str) -> bool:
    promises = _PROMISES.match(said) and len(said) <= MOST_CHARS and len(said.split()) >= LEAST_WORDS
    return bool(promises and (_is_timed(said) or _LATER.search(said)) and not _OFFERS.search(said))


def _is_timed(said: str) -> bool:
    """Return whether a sentence says when something is to be done; "in the month-day form" does not."""
    return cues.TIME_AHEAD.search(_IN_THE.sub("", said)) is not None


def _asks(said: str) -> bool:
    ends_so = said.rstrip("\"')]*_").endswith(("?", "？"))
    return ends_so and len(said) <= MOST_CHARS and len(said.split()) >= LEAST_WORDS
