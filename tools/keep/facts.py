"""Facts of conversations: their prompt for a model, and their capture.

A conversation and an answer are data: whatever either says, only facts of the lowest trust come of it.
`flows/workers/distill.py` decides about which conversations a model is asked, and when.
"""

from __future__ import annotations

import msgspec

from memtape.flows.workers.distill import Distillation, Window, fact_id
from memtape.flows.workers.turns import event_beside, fact_beside
from memtape.schemas.errors import BadAnswer, BudgetSpent, MemtapeError, ModelTimeout
from memtape.schemas.events import DISTILLED_TAG, Captured, Event
from memtape.schemas.log import Log
from memtape.schemas.placeholders import head_of, tail_of
from memtape.schemas.times import format_time
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import AskedWindows, Outcome, count_window
from memtape.state.text.statements import IMPORTANCE, Label
from memtape.tools.capture.injected import said
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.models import author, listed_in, model_for, prompt_about

LIMIT_S = 60.0
MOST, MOST_CHARS = 12, 300
"""The prompt asks for no more facts, and for half of the length."""
LEAST_CONFIDENCE = 50
"""Of 100. Less sure facts are dropped."""
LONG_TURN_CHARS = 4_000
"""Of a longer turn its beginning and its end are asked about, half of it each."""
CATEGORIES: tuple[Label, ...] = ("decision", "preference", "instruction", "correction", "task", "fact")
"""The categories of statements: both are found by the same tags. Any other category becomes a fact."""


class Fact(msgspec.Struct, frozen=True):
    """A fact as a model states it, of the message with a number from 1; `confidence` is in hundredths."""

    message: int
    category: str
    confidence: float
    text: str


class FactAsker:
    """Asks the model of a home for the facts of windows of talk, and counts how it went."""

    def __init__(self, home: Home, limit_s: float = LIMIT_S) -> None:
        self._home, self._limit_s, self._redactor = home, limit_s, Redactor(home)

    def __call__(self, window: Window) -> list[Event] | None:
        """Return the captures of a window, None for an answer that is late or cannot be used.

        Raises `BudgetSpent`, and `MemtapeError` without a usable model.
        """
        try:
            outcome, events = self.ask(window)
        except BudgetSpent:
            raise
        except MemtapeError as error:
            outcomes: dict[type[MemtapeError], Outcome] = {ModelTimeout: "timeout", BadAnswer: "refused"}
            count_window(self._home, outcomes.get(type(error), "error"), now_us())
            if type(error) not in outcomes:
                raise
            return None
        count_window(self._home, outcome, now_us())
        return events

    def ask(self, window: Window) -> tuple[Outcome, list[Event]]:
        """Return the captures of a window and what became of the answer, uncounted. Raises `MemtapeError`."""
        talk = "\n\n".join(f"[{number}] {_read(turn)}" for number, turn in enumerate(window, 1))
        model = model_for(self._home, "extract")
        if model is None:
            raise MemtapeError("No model is named.", "Name one in settings.toml; see docs/cli.md.")
        found = facts_of(model.answer(prompt_about("extract", talk), self._limit_s), len(window))
        # As one text, since the label of a secret may be in another fact.
        texts = self._redactor.text("\n".join(fact.text for fact in found)).split("\n")
        if len(texts) != len(found):
            texts = [self._redactor.text(fact.text) for fact in found]
        actor, made = author(model, self._redactor), list[Event]()
        for place, (fact, text) in enumerate(zip(found, texts, strict=True)):
            event = _captured(window, place, msgspec.structs.replace(fact, text=text))
            made.append(self._redactor.event(msgspec.structs.replace(event, actor=actor)))
        return ("kept" if made else "nothing"), made


def facts_of_session(home: Home, log: Log, session: str, scope: str) -> list[Event]:
    """Have the model take facts from a session's talk of the last day, whatever ended, and return them.

    Raises `MemtapeError` without a usable model.
    """
    ask, asked = FactAsker(home), AskedWindows(home)
    return Distillation(log, lambda note: None, asked, ask, now_us, only=session).of_scope(scope)


def facts_of(answer: str, messages: int) -> list[Fact]:
    """Return the valid facts of an answer about `messages` messages, each text once.

    Raises `BadAnswer` for a malformed answer or an unknown message number: then no fact is kept.
    """
    found = listed_in(answer, Fact, "facts", strict=False)
    if not all(1 <= fact.message <= messages for fact in found):
        raise BadAnswer("The model's answer names a message that it was not given.", "Try another model.")
    if not all(0 <= fact.confidence <= 100 for fact in found):
        raise BadAnswer("The model's answer is sure of something by another measure than 0 to 100.")
    kept: dict[str, Fact] = {}
    for fact in found:
        text, category = " ".join(said(fact.text).split()), fact.category.strip().lower()
        if 0 < len(text) <= MOST_CHARS:
            share = fact.confidence * 100 if 0 < fact.confidence <= 1 else fact.confidence
            known = category if category in CATEGORIES else "fact"
            kept[text] = Fact(message=fact.message, category=known, confidence=round(share), text=text)
    if found and not kept:
        raise BadAnswer("The model's answer has no fact that can be kept.", "Try another model.")
    return [fact for fact in kept.values() if fact.confidence >= LEAST_CONFIDENCE][:MOST]


def _captured(window: Window, place: int, fact: Fact) -> Event:
    turn = window[fact.message - 1]
    category = next(label for label in CATEGORIES if label == fact.category)
    confidence = int(fact.confidence)
    tags = DISTILLED_TAG, category, f"confidence:{confidence}"
    body = fact_beside(turn, fact.text, tags, IMPORTANCE[category] * confidence // 100)
    refs, sent = tuple(each.id for each in window), max(now_us(), *(each.sent for each in window))
    return event_beside(turn, "captured", fact_id(window, place), body, refs, sent)


def _read(turn: Event) -> str:
    assert isinstance(turn.body, Captured)
    text, half = turn.body.text, LONG_TURN_CHARS // 2
    text = text if len(text) <= LONG_TURN_CHARS else f"{head_of(text, half)} … {tail_of(text, half)}"
    at = format_time(turn.at)[:16].replace("T", " ")
    return f"{at} {turn.actor.name} ({turn.actor.origin}): {text}"
