"""How well statements are told from messages as developers type them: `python tests/bench/typed.py`.

The messages of `tests/data/typed-talk.jsonl` are by three writers who had not seen the rules. What is "held
out" nobody read while rules were made or weights were learned (`keeping.py`): half of one writer's messages,
and all of another's. Only these say what carries over. What stands before corrections is by somebody who knew
the rules, and was written after these.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from memtape.state.text.polarity import corrected, typed_correction
from memtape.state.text.reading import read
from memtape.state.text.statements import statements

MESSAGES = Path(__file__).parents[1] / "data" / "typed-talk.jsonl"
AT = 1_790_000_000_000_000


class Message(msgspec.Struct, frozen=True):
    """A message, its kind, and whether a careful colleague would write down what it says.

    Of a correction, `before` is the message before, and `replaced` the value in it that the correction ends.
    """

    writer: str
    half: str
    kind: str
    remember: bool
    text: str
    before: str = ""
    replaced: str = ""


class Score(NamedTuple):
    """How many messages were taken rightly and wrongly, and how many were missed."""

    right: int
    wrong: int
    missed: int


def is_taken(message: Message) -> bool:
    """Return whether a rule takes a statement, or a correction of the value said just before."""
    return closes(message, message.before) or bool(statements(read(message.text), AT, of_agent=False))


def closes(message: Message, before: str) -> bool:
    """Return whether a message corrects a value that a message has."""
    correction = typed_correction(read(message.text))
    found = correction and (corrected(read(said), correction, before) for said in read(before).said)
    return any(it is not None for it in found or ())


def messages_of(half: str) -> list[Message]:
    """Return the messages of a half."""
    rows = (msgspec.json.decode(line, type=Message) for line in MESSAGES.read_bytes().splitlines())
    return [row for row in rows if row.half == half]


def closings(half: str) -> tuple[int, int, int, int]:
    """Return how many corrections of a half close the value before, of how many; and of other pairs.

    A pair is a message and any other of its writer. One that corrects the other closes its value wrongly.
    """
    messages = messages_of(half)
    right = [closes(it, it.before) for it in messages if it.before]
    may = [it for it in messages if typed_correction(read(it.text)) is not None]
    wrong = [closes(it, other.text) for it in may for other in messages if _are_a_pair(it, other)]
    pairs = sum(_are_a_pair(it, other) for it in messages for other in messages)
    return sum(right), len(right), sum(wrong), pairs


def _are_a_pair(one: Message, other: Message) -> bool:
    return one is not other and one.writer == other.writer


def score(writer: str, half: str) -> Score:
    """Return the score of a writer's messages of a half."""
    counted = Counter((it.remember, is_taken(it)) for it in messages_of(half) if it.writer == writer)
    return Score(counted[True, True], counted[False, True], counted[True, False])


@click.command()
def main() -> None:
    """Print precision and recall of each writer and half."""
    for writer, half in (("t0", "dev"), ("t1", "dev"), ("t0", "held out"), ("t2", "held out")):
        right, wrong, missed = score(writer, half)
        precision, recall = right / max(1, right + wrong), right / (right + missed)
        click.echo(
            f"{writer}, {half}: precision {precision:.3f}, recall {recall:.3f} ({right} right, {wrong} wrong)"
        )
    for half in ("dev", "held out"):
        right, all, wrong, pairs = closings(half)
        click.echo(f"{half}: {right} of {all} corrections close a value, {wrong} of {pairs:,} other pairs do")


if __name__ == "__main__":
    main()
