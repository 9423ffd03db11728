"""Facts of conversations: their prompt for a model, and their capture.

A conversation and an answer are data: whatever either says, only facts of the lowest trust come of it.
`flows/workers/distill.py` decides about which conversations a model is asked, and when.
"""

from __future__ import annotations

import re

import msgspec

from memtape.flows.workers.distill import Window, WindowAnswer, fact_id
from memtape.flows.workers.turns import event_beside, fact_beside
from memtape.schemas.errors import BadAnswer, BudgetSpent, MemtapeError, ModelTimeout
from memtape.schemas.events import DISTILLED_TAG, Actor, Captured, Event
from memtape.schemas.placeholders import head_of, tail_of
from memtape.schemas.times import format_time
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import Outcome, count_window
from memtape.sinks.home.settings import local_settings
from memtape.state.text.statements import IMPORTANCE, Label
from memtape.tools.capture.injected import said
from memtape.tools.capture.secrets.redaction import Redactor
from memtape.tools.capture.writing import now_us
from memtape.tools.keep.models import about, author, listed_in, model_for, without_thoughts

LIMIT_S = 60.0
GATE_LIMIT_S = 2.0
MOST = 12
MOST_CHARS = 300
LEAST_CONFIDENCE = 50
"""Of 100. Less sure facts are dropped."""
LONG_TURN_CHARS = 4_000
"""Of a longer turn its beginning and its end are asked about, half of it each."""
CATEGORIES: tuple[Label, ...] = ("decision", "preference", "instruction", "correction", "task", "fact")
"""The categories of statements: both are found by the same tags. Any other category becomes a fact."""

_WHAT = "a piece of a conversation, each message with its number, time and speaker"
_TASK = """\
Write down what of it is worth remembering in later conversations, as a JSON list of at most {most} objects:
[{{"message": 2, "category": "decision", "confidence": 90, "text": "The ledger stays on Postgres."}}]
"message" is the number of the message that says it. "category" is one of {categories}.
"confidence" is from 0 to 100: how sure it is that this was meant and holds. "text" is one short statement in the
language of the conversation, which stands by itself: it names who and what it is about, without "it" or "this", and a
day by its date, in at most {chars} characters. Write no secrets, nothing that was only asked, supposed or quoted, and
nothing that is true of any conversation. If nothing is worth keeping, write []."""
_GATE = """\
Say whether anything in it is worth remembering in later conversations: a decision, preference, instruction,
correction, open task, or fact about a person or project. Answer with the one word YES or NO."""
_NO = re.compile(r"\A\W*no(?:ne)?\b", re.IGNORECASE)


class Fact(msgspec.Struct, frozen=True):
    """A fact as a model states it, of the message with a number from 1; `confidence` is in hundredths."""

    message: int
    category: str
    confidence: float
    text: str


class FactAsker:
    """Asks the model of a home for the facts of windows of talk, and counts how it went."""

    def __init__(self, home: Home, limit_s: float = LIMIT_S) -> None:
        self._home = home
        self._limit_s = limit_s
        self._redactor = Redactor(home)

    def __call__(self, window: Window, number: int) -> WindowAnswer:
        """Return the captures of a window, or the problem of the answer.

        Raises `BudgetSpent`, and `MemtapeError` without a usable model.
        """
        try:
            outcome, events = self.ask(window, number)
        except (ModelTimeout, BadAnswer) as error:
            self._count("timeout" if isinstance(error, ModelTimeout) else "refused")
            return WindowAnswer([], str(error))
        except BudgetSpent:
            raise
        except MemtapeError:
            self._count("error")
            raise
        self._count(outcome)
        return WindowAnswer(events)

    def ask(self, window: Window, number: int) -> tuple[Outcome, list[Event]]:
        """Return the captures of a window and what became of the answer, uncounted. Raises `MemtapeError`."""
        talk = talk_of(window)
        if not self._is_worth_it(talk):
            return "gated", []
        model = model_for(self._home, "extract")
        if model is None:
            raise MemtapeError("No model is named.", "Name one in settings.toml under [model]; see docs/settings.md.")
        found = facts_of(model.answer(prompt_for(talk), self._limit_s), len(window))
        texts = self._without_secrets([fact.text for fact in found])
        actor = author(model, self._redactor)
        events = [
            self._redactor.event(_captured(window, number, place, msgspec.structs.replace(fact, text=text), actor))
            for place, (fact, text) in enumerate(zip(found, texts, strict=True))
        ]
        return ("kept" if events else "nothing"), events

    def _is_worth_it(self, talk: str) -> bool:
        """Ask the gatekeeper model, if configured. A failed or late answer lets the text pass."""
        gate = local_settings(self._home).model.gate
        if not gate.model and not gate.command:
            return True
        try:
            model = model_for(self._home, "gate")
            prompt = about(_WHAT, _GATE, talk, "Now answer YES or NO.")
            return model is None or not _NO.search(without_thoughts(model.answer(prompt, GATE_LIMIT_S)))
        except BudgetSpent:
            raise
        except MemtapeError:
            return True

    def _without_secrets(self, texts: list[str]) -> list[str]:
        """Redact facts as one text, since the label of a secret may be in another fact."""
        whole = self._redactor.text("\n".join(texts)).split("\n")
        return whole if len(whole) == len(texts) else [self._redactor.text(text) for text in texts]

    def _count(self, outcome: Outcome) -> None:
        count_window(self._home, outcome, now_us())


def talk_of(window: Window) -> str:
    """Return the messages of a window as a model reads them."""
    return "\n\n".join(f"[{number}] {_head(turn)}: {_read(turn)}" for number, turn in enumerate(window, 1))


def prompt_for(talk: str) -> str:
    """Return the prompt about a conversation."""
    task = _TASK.format(most=MOST, categories=", ".join(CATEGORIES), chars=MOST_CHARS // 2)
    return about(_WHAT, task, talk, "Now write the JSON list, and nothing else.")


def facts_of(answer: str, messages: int) -> list[Fact]:
    """Return the valid facts of an answer about `messages` messages, each text once.

    Raises `BadAnswer` for a malformed answer or an unknown message number: then no fact is kept.
    """
    found = listed_in(answer, Fact, "facts", strict=False)
    if not all(1 <= fact.message <= messages for fact in found):
        raise BadAnswer("The model's answer names a message that it was not given.", "Try another model.")
    if not all(0 <= fact.confidence <= 100 for fact in found):
        raise BadAnswer("The model's answer is sure of something by another measure than 0 to 100.")
    kept = {fact.text: fact for fact in map(_cleaned, found) if 0 < len(fact.text) <= MOST_CHARS}
    if found and not kept:
        raise BadAnswer("The model's answer has no fact that can be kept.", "Try another model.")
    return [fact for fact in kept.values() if fact.confidence >= LEAST_CONFIDENCE][:MOST]


def _cleaned(fact: Fact) -> Fact:
    """Return a fact on one line without injected text, in a known category, its confidence in hundredths."""
    share = fact.confidence * 100 if 0 < fact.confidence <= 1 else fact.confidence
    category = fact.category.strip().lower()
    return Fact(
        message=fact.message,
        category=category if category in CATEGORIES else "fact",
        confidence=round(share),
        text=" ".join(said(fact.text).split()),
    )


def _captured(window: Window, number: int, place: int, fact: Fact, actor: Actor) -> Event:
    turn = window[fact.message - 1]
    category = next(label for label in CATEGORIES if label == fact.category)
    confidence = int(fact.confidence)
    tags = DISTILLED_TAG, category, f"confidence:{confidence}"
    body = fact_beside(turn, fact.text, tags, IMPORTANCE[category] * confidence // 100)
    refs, sent = tuple(each.id for each in window), max(now_us(), *(each.sent for each in window))
    made = event_beside(turn, "captured", fact_id(window, number, place), body, refs, sent)
    return msgspec.structs.replace(made, actor=actor)


def _head(turn: Event) -> str:
    return f"{format_time(turn.at)[:16].replace('T', ' ')} {turn.actor.name} ({turn.actor.origin})"


def _read(turn: Event) -> str:
    assert isinstance(turn.body, Captured)
    text, half = turn.body.text, LONG_TURN_CHARS // 2
    return text if len(text) <= LONG_TURN_CHARS else f"{head_of(text, half)} … {tail_of(text, half)}"
