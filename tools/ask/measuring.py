"""Measures of questions and texts: durations, results by lane, and tokens. Nothing here holds a text."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from memtape import STARTED_NS
from memtape.schemas.lanes import LANES
from memtape.schemas.metrics import Door
from memtape.sinks.home.counts import Noted, note
from memtape.sinks.home.folders import Home

if TYPE_CHECKING:
    from memtape.tools.ask.results import Answer


def began(door: Door) -> int:
    """Return when the caller began to wait: for a command the start of its process."""
    return STARTED_NS if door == "cli" else time.monotonic_ns()


def note_recall(home: Home, door: Door, answer: Answer, began_ns: int) -> None:
    """Note a question that was answered, where anything is kept."""
    if home.is_nowhere:
        return
    took_us = (time.monotonic_ns() - began_ns) // 1_000
    duplicates = sum(result.again for result in answer.results)
    samples: list[Noted] = [("recall", door, "found" if answer.results else "nothing", took_us)]
    counts: list[tuple[str, str, int]] = [("results", door, len(answer.results)), ("duplicates", door, duplicates)]
    counts += [("hits", lane, answer.lanes.get(lane, 0)) for lane in LANES]
    note(home.path, [*samples, *((name, label, "", count) for name, label, count in counts if count)])


class Tokenizer(NamedTuple):
    """A token counter and its name; the name tells how exact the counts are."""

    name: str
    count: Callable[[str], int]


CHARACTERS = Tokenizer("characters/4", lambda text: -(-len(text) // 4))
"""A rule of thumb for English prose; of ideographs a model makes up to four times as many."""


@cache
def tokenizer() -> Tokenizer:
    """Return the available tokenizer: o200k_base of the extra `tokens`, with its vocabulary, else characters.

    Models differ: even a real tokenizer is an estimate for other models. Nothing is downloaded.
    """
    try:
        from rs_bpe.bpe import openai
    except ImportError:
        return CHARACTERS
    return Tokenizer("o200k_base", openai.o200k_base().count)
