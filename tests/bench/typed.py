"""How well statements are told from messages as developers type them: `python tests/bench/typed.py`.

The 320 messages of `tests/data/typed-talk.jsonl` are by a writer who had not seen the rules: 12 kinds say
what holds beyond the minute, 8 kinds do not. Rules were made with one half; only the other half says what
carries over.
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


def score(half: str) -> Score:
    """Return the score of a half of the messages."""
    messages = [msgspec.json.decode(line, type=Message) for line in MESSAGES.read_bytes().splitlines()]
    counted = Counter((it.remember, is_taken(it)) for it in messages if it.half == half)
    return Score(counted[True, True], counted[False, True], counted[True, False])


@click.command()
def main() -> None:
    """Print precision and recall of both halves."""
    for half in ("dev", "held out"):
        right, wrong, missed = score(half)
        precision, recall = right / max(1, right + wrong), right / (right + missed)
        click.echo(f"{half}: precision {precision:.3f}, recall {recall:.3f} ({right} right, {wrong} wrong)")


if __name__ == "__main__":
    main()
