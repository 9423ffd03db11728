"""A model: a prompt goes in, a text comes out, within a time limit. The answer is data and nothing else.

Prompts, and the use of answers, are elsewhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from memtape.flows.endpoint import Names
from memtape.schemas.errors import BadAnswer, ModelTimeout

NAMES = Names(
    "model", "chat/completions", "MEMTAPE_MODEL_URL", "MEMTAPE_MODEL", "MEMTAPE_MODEL_KEY", "MEMTAPE_MODEL_INSECURE"
)
COMMAND_VARIABLE = "MEMTAPE_MODEL_COMMAND"
ANSWER_MAX_BYTES = 1024 * 1024


class Model(Protocol):
    """A model that answers prompts. `name` signs its texts; errors call it by `place`.

    `tokens` counts the tokens of all questions and answers so far, as the model reports; 0 without a report.
    """

    name: str
    place: str
    tokens: int

    def answer(self, prompt: str, limit_s: float) -> str:
        """Return the answer, never empty. Raises `ModelTimeout` after `limit_s` in all.

        Raises `BadAnswer` for an unusable answer, and `MemtapeError` if the model cannot be reached. No error
        holds any part of the prompt, the answer or a key.
        """
        ...


def within(limit_s: float, work: Callable[[], str], place: str) -> str:
    """Run `work` in a thread and return its result, stripped. Raise `ModelTimeout` after `limit_s`.

    Raises the errors of `work`, and `BadAnswer` for an empty result. A late thread is not cancelled; the
    caller must close the connection or process.
    """
    ended: list[str | BaseException] = []

    def run() -> None:
        try:
            ended.append(work())
        except BaseException as error:
            ended.append(error)

    # No library of futures: a hook imports this file, and they cost it 20 ms.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if not ended:
        raise ModelTimeout(f"{place} has not answered within {limit_s:g} s.")
    answer = ended[0]
    if isinstance(answer, BaseException):
        raise answer
    answer = answer.strip()
    if not answer:
        raise BadAnswer(f"{place} answered nothing.")
    return answer
