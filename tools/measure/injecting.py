"""Measures what a hook puts before an agent unasked: of questions about a conversation, and of prompts that are not.

Each conversation is the memory of a scope of its own, in a home that is thrown away. What is offered is handed in.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.state.ranking.evaluation import PromptContext, given_summary
from memtape.tools.ask.measuring import tokenizer
from memtape.tools.ask.results import Answer
from memtape.tools.client import Client
from memtape.tools.measure.corpus import Conversation, Conversations, read_corpus
from memtape.tools.measure.evaluating import OnPhase, fill

Offered = Callable[[Client, str], tuple[str, Answer]]
"""Gives what a hook adds to a prompt, as text, and the answer that it shows."""

Prompt = tuple[str, str, tuple[str, ...]]
"""The set of a prompt, its text, and the native ids of the turns with the answer."""

FOREIGN = Path(__file__).with_name("foreign_prompts.json")
ANSWERED, UNANSWERED, OTHERS, TALK = "answerable", "unanswerable", "other conversations", "foreign talk"


def inject(path: Path, foreign: Path | None, offered: Offered, on_phase: OnPhase) -> dict[str, Any]:
    """Hand every prompt to `offered` and return what it gave, by set, in all and by conversation.

    The sets are the questions that a conversation answers, with their evidence, those that it does not, prompts of our
    own (`foreign_prompts.json`), the questions that other conversations of the file answer, and what the people of a
    `foreign` corpus say and ask. Raises `MemtapeError`.
    """
    conversations = read_corpus(path)
    talk = [] if foreign is None else list(_talk(read_corpus(foreign)))
    count = tokenizer()
    measured: dict[str, list[tuple[str, PromptContext]]] = {}
    asked = [_prompts(conversation, conversations, talk) for conversation in conversations]
    total, done = sum(map(len, asked)), 0
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        log = EmbeddedLog(home.log_path)
        try:
            fill(home, log, conversations, on_phase)
            for conversation, prompts in zip(conversations, asked, strict=True):
                client = Client(home, scope=conversation.scope, log=log)
                native = {
                    event.id: line.native_id for line in conversation.lines for event in client.events_of(line, {})
                }
                for of, prompt, evidence in prompts:
                    text, answer = offered(client, prompt)
                    found = any(native.get(result.id) in evidence for result in answer.results)
                    given = PromptContext(count.count(text) if text else 0, found)
                    measured.setdefault(of, []).append((conversation.name, given))
                    done += 1
                    if not done % 100 or done == total:
                        on_phase("asking", done, total)
        finally:
            log.close()
    return {
        "turns": sum(len(conversation.lines) for conversation in conversations),
        "missing_evidence": conversations.missing,
        "notes": list(conversations.notes),
        "tokenizer": count.name,
        "sets": {of: given_summary([given for _, given in its]) for of, its in measured.items()},
        "by_conversation": {
            conversation.name: {
                of: given_summary(here)
                for of, its in measured.items()
                if (here := [given for name, given in its if name == conversation.name])
            }
            for conversation in conversations
        },
    }


def _prompts(conversation: Conversation, every: Sequence[Conversation], talk: Sequence[str]) -> list[Prompt]:
    """Return the prompts of one conversation."""
    own = [
        (ANSWERED if question.answered else UNANSWERED, question.text, question.evidence)
        for question in conversation.questions
        if question.evidence or not question.answered
    ]
    ours = orjson.loads(FOREIGN.read_bytes())
    written = [(f"foreign, {kind}", text, ()) for kind in ("coding", "everyday") for text in ours[kind]]
    others = [
        (OTHERS, question.text, ())
        for other in every
        if other is not conversation
        for question in other.questions
        if question.answered
    ]
    return [*own, *written, *others, *((TALK, text, ()) for text in talk)]


def _talk(corpus: Conversations) -> Iterator[str]:
    """Yield what the people of a corpus say and ask."""
    for conversation in corpus:
        yield from (line.text for line in conversation.lines if line.origin == "user")
        yield from (question.text for question in conversation.questions)
