"""What the synthetic team of `team.py` draws its texts from: corpora that others wrote, and cases of changing values.

Here texts are read and cut, and it is said which may be repeated. When they are said, by whom and where is not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.updates import Asked
from memtape.state.text.statements import sentences
from memtape.tools.capture.lines import Line
from memtape.tools.measure.corpus import read_corpus
from memtape.tools.measure.locomo import Conversation

TURNS_A_TOPIC = 6
"""So many neighbouring turns are about one thing."""
LEAST_CHARS, MOST_CHARS = 20, 400
LEAST_SENTENCES = 6
"""What has fewer sentences is no topic that a team could speak of for days."""


class Topic(NamedTuple):
    """Sentences about one thing: those of people, and those of agents."""

    people: tuple[str, ...]
    agents: tuple[str, ...]


class Material(NamedTuple):
    """What a team may say.

    `conversations` are said once, turn by turn, since questions ask for their turns. `topics` holds, for each of them,
    sentences that are said again and again; none is of a turn that a question asks for. `changes` are values that
    change, with a question each. `notes` are kept in this order, each once: what stands there twice is said twice.
    """

    conversations: tuple[Conversation, ...]
    topics: tuple[tuple[Topic, ...], ...]
    changes: tuple[Asked, ...]
    notes: Sequence[str] = ()


def read_material(corpora: Sequence[Path], changes: Path | None) -> Material:
    """Return what stands in corpora of conversations and in a file of cases. Raises `MemtapeError`."""
    conversations = tuple(found for path in corpora for found in read_corpus(path))
    topics = tuple(tuple(_topics(conversation)) for conversation in conversations)
    rows = changes.read_bytes().splitlines() if changes is not None else []
    return Material(conversations, topics, tuple(msgspec.json.decode(row, type=Asked) for row in rows))


def _topics(conversation: Conversation) -> Iterator[Topic]:
    wanted = {id for question in conversation.questions for id in question.evidence}
    turns = iter([line for line in conversation.lines if line.native_id not in wanted])
    while some := list(islice(turns, TURNS_A_TOPIC)):
        people = tuple(_sentences(line for line in some if line.origin == "user"))
        agents = tuple(_sentences(line for line in some if line.origin != "user"))
        if len(people) + len(agents) >= LEAST_SENTENCES:
            # Where people alone speak, agents say what people said.
            yield Topic(people or agents, agents or people)


def _sentences(lines: Iterator[Line]) -> Iterator[str]:
    for line in lines:
        yield from (said for said in sentences(line.text) if LEAST_CHARS <= len(said) <= MOST_CHARS)
