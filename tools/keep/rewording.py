"""Rewording of summaries by a model: the prompt, and the refusal of answers.

`state/consolidation/untold.py` selects summaries, `flows/workers/reword.py` uses the text.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from memtape.flows.workers.reword import Retold
from memtape.schemas.errors import BadAnswer, ModelTimeout
from memtape.schemas.visible import one_line
from memtape.sinks.home.folders import Home
from memtape.state.consolidation.untold import Untold
from memtape.tools.keep.model_words import LIMIT_S, check_words
from memtape.tools.keep.models import about, author, model_for, without_thoughts

if TYPE_CHECKING:
    from memtape.tools.capture.secrets.redaction import Redactor

MOST_CHARS, MOST_LINES = 900, 10
TEXT_CHARS, SHOWN_TEXTS = 400, 60
_WHAT = "what was said in one day or week of a project, one text a line"
_TASK = """\
Tell in at most {lines} short lines what somebody should know of it who was not there: what was decided, done and found
out, what failed, and what is open. Leave out greetings and small steps. Use words that these lines have and no others,
and no number that they do not have. One line for one thing, without numbers before it and without headings."""


class Reworder:
    """Has the model of a home tell summaries. An answer that is no use is not asked for again by the same process."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.given_up: dict[tuple[str, int], None] = {}

    def is_named(self) -> bool:
        """See `flows.workers.reword.Retell`. Raises `MemtapeError`."""
        return model_for(self._home, "consolidate") is not None

    def __call__(self, summary: Untold) -> Retold | None:
        """See `flows.workers.reword.Retell`."""
        model = model_for(self._home, "consolidate")
        if model is None:
            return None
        try:
            text = told_by(model.answer(prompt_for(summary), LIMIT_S), summary)
        except (ModelTimeout, BadAnswer):
            self.given_up[summary.id, summary.changes] = None
            return None
        return Retold(self._redactor.text(text), author(model, self._redactor))

    @cached_property
    def _redactor(self) -> Redactor:
        # Nobody who only projects should wait for what finds secrets.
        from memtape.tools.capture.secrets.redaction import Redactor

        return Redactor(self._home)


def prompt_for(summary: Untold) -> str:
    """Return the prompt about a summary: for a long one with every nth text."""
    step = -(-len(summary.texts) // SHOWN_TEXTS)
    lines = "\n".join(one_line(text, TEXT_CHARS) for text in summary.texts[::step])
    return about(_WHAT, _TASK.format(lines=MOST_LINES), lines, "Now write the lines, and nothing else.")


def told_by(answer: str, summary: Untold) -> str:
    """Return the lines of an answer about a summary. Raises `BadAnswer`: then nothing of it is kept."""
    lines = [" ".join(line.lstrip("-*• ").split()) for line in without_thoughts(answer).splitlines() if line.strip()]
    text = "\n".join(lines)
    if not 0 < len(text) <= MOST_CHARS or len(lines) > MOST_LINES:
        raise BadAnswer(f"The model's answer is empty, or has more than {MOST_LINES} lines or {MOST_CHARS} characters.")
    check_words(text, " ".join(summary.texts))
    return text
