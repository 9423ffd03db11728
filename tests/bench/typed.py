"""How well statements are told from messages as developers type them: `python tests/bench/typed.py`.

The messages of `tests/data/typed-talk.jsonl` are by three writers who had not seen the rules. What is "held
out" nobody read while rules were made or the head learned (`keeping.py`): half of one writer's messages, and
all of another's. Only these say what carries over.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from memtape.state.text.polarity import correction_of
from memtape.state.text.reading import read
from memtape.state.text.statements import statements

MESSAGES = Path(__file__).parents[1] / "data" / "typed-talk.jsonl"
AT = 1_790_000_000_000_000


class Message(msgspec.Struct, frozen=True):
    """A message, its kind, and whether a careful colleague would write down what it says."""

    writer: str
    half: str
    kind: str
    remember: bool
    text: str


class Score(NamedTuple):
    """How many messages were taken rightly and wrongly, and how many were missed."""

    right: int
    wrong: int
    missed: int


def is_taken(message: Message) -> bool:
    """Return whether a rule takes a statement, or a correction of the value said just before."""
    of_value = message.kind.startswith("correction") and correction_of(message.text) is not None
    return of_value or bool(statements(read(message.text), AT, of_agent=False))


def score(writer: str, half: str) -> Score:
    """Return the score of a writer's messages of a half."""
    messages = [msgspec.json.decode(line, type=Message) for line in MESSAGES.read_bytes().splitlines()]
    counted = Counter(
        (it.remember, is_taken(it)) for it in messages if (it.writer, it.half) == (writer, half)
    )
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


if __name__ == "__main__":
    main()
