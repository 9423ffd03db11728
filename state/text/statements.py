"""The statements of a turn worth storing: decisions, preferences, instructions, corrections, facts, tasks.

Without a model: by rule, precision before recall, English first; and by weights (`worth`) learned from what
people type. A statement is a sentence of the turn, or the text after "remember that". Nothing is taken from
questions, quotations, code, output of tools, or suppositions. The patterns are in `cues.txt`. The capture of
statements is elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from memtape.schemas.patterns import lazy
from memtape.schemas.times import DAY_US, MAX_TIME_US, MIN_TIME_US, format_day
from memtape.state.text.instructions import heard_in, may_instruct, sets_standing
from memtape.state.text.lexicon import cues, word_list, word_pairs
from memtape.state.text.markdown import without_markup
from memtape.state.text.orders import is_order, may_order
from memtape.state.text.own_words import is_own
from memtape.state.text.polarity import CORRECTING
from memtape.state.text.reading import HIDDEN, Reading, Sentence, has_foreign_letter, read, words_in
from memtape.state.text.terms import ENGLISH, language_of
from memtape.state.text.worth import worth_of

Label = Literal["remember", "instruction", "decision", "correction", "preference", "task", "fact"]

IMPORTANCE: dict[Label, int] = {
    "remember": 90, "instruction": 80, "decision": 80, "correction": 70,
    "preference": 65, "task": 60, "fact": 55,
}  # fmt: skip
"""In hundredths, as in a capture: above the default 50 of a fact, below a pin."""
LEAST_WORDS, MOST_CHARS = 4, 400
"""A shorter sentence says nothing by itself, a longer one is no statement."""
WORTH = 7_500  # The least certainty by learned weights in ten-thousandths.
MAY_BE_WORTH = 2_000  # The least certainty at which somebody who can read should look.
LEAST_CLAUSE_WORDS = 7  # Words before a turn to a question that make a statement of their own.
MOST_STATEMENTS = 12  # A turn with more is a document or a list; its first ones are taken.

_STATING, _DECIDING = map(word_list, ("words of a statement", "words of a decision"))
_CUES = cues("statements")
_VETOES = _CUES.asks, _CUES.supposes, _CUES.reports, _CUES.shown
_SIGNS = _CUES.mark, _CUES.dotted, _CUES.camel
_IN_CHARGE = (" by ", "owns ", "maintains ", "is responsible for ", "is in charge of ")
"""One of these is in every identifier."""
_QUOTED = lazy(r"\"[^\"\n]{3,}\"|“[^”\n]{3,}”|„[^“”\n]{3,}[“”]|«[^»\n]{3,}»")
_WORD = lazy(r"[^\W\d_][\w'’-]*")
_WEEKDAYS = ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
_DAYS = {"tomorrow": 1, "yesterday": -1, "last night": -1}
_TYPED_FORMS = {typed.replace("_", " "): form for typed, form in word_pairs("typed forms").items()}
_TYPED = re.compile(rf"\b(?:{'|'.join(_TYPED_FORMS)})\b", re.IGNORECASE)
_DAYS |= {"day after tomorrow": 2, "day before yesterday": -2}


class Statement(NamedTuple):
    """A statement of a turn, from `start` to `end` of its text; `text` has the dates of the days in it."""

    text: str
    label: Label
    start: int
    end: int


def statements(reading: Reading, at: int, *, of_agent: bool) -> list[Statement]:
    """Return the statements of a turn of a time in microseconds UTC, in their order.

    Of a person only those in the person's own words count, of an agent only decisions and facts with an
    identifier: its promises, preferences and advice do not bind.
    """
    found = stated_in(reading, at, of_agent=of_agent)
    return found[:MOST_STATEMENTS] if of_agent or not found or is_own(reading) else []


def stated_in(reading: Reading, at: int, *, of_agent: bool) -> list[Statement]:
    """Return the statements of a turn, including those that may be in another author's words."""
    found: list[Statement] = []
    before: Sentence | None = None
    for sentence in map(_until_asked, reading.sentences):
        if sentence.is_output:
            continue
        made = _statement(reading.prose, sentence, before, at, of_agent)
        if made is not None and found and made.start < found[-1].end:
            made = _joined(reading.prose, found, made, at)
        if made is not None:
            found.append(made)
        before = sentence
    return found


def untaken(reading: Reading, at: int) -> list[tuple[str, int]]:
    """Return the sentences of a person's turn that are no statement but may say one, each with its worth."""
    if HIDDEN in reading.prose or not is_own(reading):
        return []
    taken = stated_in(reading, at, of_agent=False)
    found = list[tuple[str, int]]()
    for place, sentence in enumerate(map(_until_asked, reading.sentences)):
        said, tidy = sentence.said, tidied(sentence.said)
        is_taken = any(it.start < sentence.end and sentence.start < it.end for it in taken)
        if is_taken or sentence.is_output or not len(_WORD.findall(said)) >= LEAST_WORDS:
            continue
        worth = worth_of(tidy, is_first=place == 0, is_of_thing=has_identifier(said))
        if worth >= MAY_BE_WORTH and len(said) <= MOST_CHARS and not _CUES.asks.search(tidy):
            found.append((" ".join(said.split()), worth))
    return found


def _may_state(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has a word of any statement that a rule finds; the rules read no other text."""
    if not _STATING.isdisjoint(words) or has_foreign_letter(text) or "[ ]" in text:
        return True
    return may_order(text) or may_instruct(text, words) or may_identify(text)


def dated(text: str, at: int) -> str:
    """Return a text with the date behind each relative day, as "tomorrow (2026-11-23)".

    Days are UTC days, since no event records a place.
    """

    def with_date(found: re.Match[str]) -> str:
        ahead = int(found["ahead"] or 0) - int(found["past"] or 0)
        day = at + (_DAYS.get((found["word"] or "").lower(), 0) + ahead) * DAY_US
        return f"{found[0]} ({format_day(day)})" if MIN_TIME_US <= day <= MAX_TIME_US else found[0]

    def of_week(found: re.Match[str]) -> str:
        ahead = _days_until(found["how"].lower(), found["day"].lower(), at)
        day = at + ahead * DAY_US
        if not ahead or not day <= MAX_TIME_US or (found["how"].lower() != "next" and not is_ahead):
            return found[0]
        return f"{found[0]} ({format_day(day)})"

    is_ahead = _CUES.ahead.search(text) is not None and _CUES.behind.search(text) is None
    return _CUES.weekday.sub(of_week, _CUES.day.sub(with_date, text))


def _days_until(how: str, day: str, at: int) -> int:
    """Return how many days after `at` a day of a week that is ahead is, 0 where readers may differ.

    "Next" is the day of next week: of a day of this week people may mean either, but tomorrow is "tomorrow".
    """
    today, named = (at // DAY_US + _MONDAY) % 7, _WEEKDAYS.index(day)
    nearest = (named - today) % 7
    if how != "next":
        return nearest
    of_next_week = 7 - today + named
    return of_next_week if (nearest or 7) in (1, of_next_week) else 0


_MONDAY = 3
"""The first day of the time that is counted, 1970-01-01, was a Thursday; weeks begin on Monday."""


def _statement(
    text: str, sentence: Sentence, before: Sentence | None, at: int, of_agent: bool
) -> Statement | None:
    said = sentence.said
    if len(said) > MOST_CHARS or len(_WORD.findall(said)) < LEAST_WORDS:
        return None
    # A sentence beside a block mostly tells of the block: only the rules read it.
    is_alone = HIDDEN not in text
    start, label = sentence.start, _label_of(said, of_agent, is_first=before is None, is_alone=is_alone)
    if label is None:
        return None
    if label == "remember":
        match = _CUES.remember.search(said)
        start += match.start("said") if match is not None else 0
    stated = text[start : sentence.end]
    begins_so = _CUES.leans.search(tidied(stated)) is not None
    if begins_so or (_CUES.leans_on.search(stated) and not heard_in(read(said)).orders):
        # The noun of "it" is in the sentence before, or nowhere to be found.
        if (
            (begins_so and label == "instruction")
            or before is None
            or len(_WORD.findall(before.said)) < LEAST_WORDS
            or _CUES.asks.search(before.said)
            or sentence.end - before.start > MOST_CHARS
        ):
            return None
        start = before.start
    if HIDDEN in text[start : sentence.end]:
        return None
    return Statement(dated(" ".join(text[start : sentence.end].split()), at), label, start, sentence.end)


def _joined(text: str, found: list[Statement], made: Statement, at: int) -> Statement | None:
    """Return a statement joined with the statement before, on which it depends; None if not joined.

    Of two facts the first stands alone, as a more important first statement does; two instructions are
    joined.
    """
    start = found[-1].start
    more = IMPORTANCE[made.label] - IMPORTANCE[found[-1].label]
    if more < (made.label != "instruction") or made.end - start > MOST_CHARS:
        return None
    found.pop()
    return Statement(dated(" ".join(text[start : made.end].split()), at), made.label, start, made.end)


def tidied(said: str) -> str:
    """Return a sentence as a careful person types it: without hesitating, with apostrophes and a capital."""
    bare = _CUES.opener.sub("", said)
    bare = _TYPED.sub(lambda found: _TYPED_FORMS[found[0].lower()].replace("_", " "), bare)
    return bare[:1].upper() + bare[1:]


def _label_of(said: str, of_agent: bool, *, is_first: bool, is_alone: bool) -> Label | None:
    """Return the label of a sentence, None if neither a rule nor the learned weights find it worth storing.

    The weights count for sentences of turns without blocks (`is_alone`). They are learned from sentences as
    people type them; of careful ones only the rules are sure enough.
    """
    if of_agent:
        return _of_agent(_QUOTED.sub(" QUOTED ", said))
    label, words, tidy = None, words_in(said), tidied(said)
    if _may_state(said, words):
        label = _label(said, words)
        if label is None and tidy != said:
            label = _label(tidy, words_in(tidy))
    if label is not None or not is_alone or (said[:1].isupper() and said.endswith(".")):
        return label
    worth = worth_of(tidy, is_first=is_first, is_of_thing=has_identifier(said))
    if worth < WORTH or any(it.search(tidy) for it in _VETOES) or language_of(tidy) != ENGLISH:
        return None
    return "fact"


def _label(said: str, words: Sequence[str]) -> Label | None:
    """Return the label of a person's sentence by rule, None if it is not worth storing."""
    if _CUES.remember.search(said):
        return "remember"
    bare = without_markup(said)
    if len(bare) * 2 < len(said) or _CUES.asks.search(bare):
        return None
    is_standing = sets_standing(bare) or is_order(bare)
    label = None if is_standing else _does(bare, words)
    if (not is_standing and label is None) or _CUES.reports.search(bare):
        return None
    if not is_standing:
        return None if _CUES.supposes.search(bare) else label
    return "preference" if _CUES.preference.search(bare) else "instruction"


def _does(said: str, words: Sequence[str]) -> Label | None:
    """Return the label of a person's sentence if it were neither a question nor a supposition."""
    if not _DECIDING.isdisjoint(words) and _CUES.decision.search(said):
        return "decision"
    if not CORRECTING.isdisjoint(words) and _CUES.correction.search(said):
        return "correction"
    if _CUES.preference.search(said):
        return "preference"
    if _CUES.task.search(said) and _is_task(said):
        return "task"
    is_of_thing = has_identifier(said) and not _CUES.did.search(said) and _CUES.states.search(said)
    tells = is_of_thing or _CUES.life.search(said) or _CUES.changes.search(said)
    return "fact" if tells and not _CUES.shown.search(said) else None


def _of_agent(said: str) -> Label | None:
    """Return the label of an agent's sentence: `decision` for an agreement, `fact` for a report, or None."""
    agreed = _CUES.agreed.search(said)
    if not agreed and not has_identifier(said):
        return None
    if _CUES.asks.search(said) or _CUES.supposes.search(said) or _CUES.reports.search(said):
        return None
    if agreed:
        return "decision"
    if _CUES.advises.search(said) or _CUES.shown.search(said):
        return None
    begins_so = said.startswith(("The ", "In ", "`")) or _CUES.begins_report.search(said)
    return "fact" if _CUES.reported.search(said) or (begins_so and _CUES.place.search(said)) else None


def _is_task(said: str) -> bool:
    """Return whether a likely task names a time or an object, or is said to be open; a team's needs none."""
    is_named = _CUES.first.match(said) is None or has_identifier(said)
    return is_named or any(it.search(said) for it in (_CUES.time_ahead, _CUES.still, _CUES.amount))


def has_identifier(said: str) -> bool:
    """Return whether a sentence names an identifier, an amount or who is in charge."""
    return may_identify(said) and _CUES.identifier.search(said) is not None


def may_identify(text: str) -> bool:
    """Return whether a text has what every identifier has; most sentences have nothing of it."""
    return any(map(text.__contains__, _IN_CHARGE)) or any(sign.search(text) for sign in _SIGNS)


def _until_asked(sentence: Sentence) -> Sentence:
    """Return a sentence up to its turn into a question or doubt; the whole if it begins with one."""
    said = sentence.said
    for turn in _CUES.turns_to_ask.finditer(said):
        if len(_WORD.findall(said, 0, turn.start())) >= LEAST_CLAUSE_WORDS:
            return sentence._replace(said=said[: turn.start()], end=sentence.start + turn.start())
    return sentence
