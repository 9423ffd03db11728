"""How well statements are told from talk: `python tests/bench/statements.py LABELS [CORPUS ...]`.

LABELS is JSON lines, a turn each: its text, or by which conversation and turn of a corpus it is found, and
where in it a person sees a statement. A statement that is found counts where half of the shorter of both lies
in the other.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import click
import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_time
from memtape.state.text.reading import read
from memtape.state.text.statements import Label, Statement, statements
from memtape.tools.measure.corpus import UNDATED_US, read_corpus

MOST_READ_CHARS = 3_000
"""Of a longer turn only the beginning was labelled."""


class Expected(msgspec.Struct, frozen=True):
    """Where a person sees a statement."""

    start: int
    end: int
    label: Label


class Labelled(msgspec.Struct, frozen=True):
    """A turn that a person has read."""

    id: str
    kind: str
    half: Literal["dev", "test"]
    role: Literal["person", "agent"]
    at: str | None
    expected: tuple[Expected, ...]
    text: str = ""
    conversation: str = ""
    turn: str = ""
    digest: str = msgspec.field(default="", name="blake2b")


def labelled_turns(labels: Path, corpora: tuple[Path, ...]) -> list[Labelled]:
    """Return the labelled turns whose text is at hand. Raises `MemtapeError` where it is another text."""
    read = (one for corpus in corpora for one in read_corpus(corpus))
    told = ((one.scope.removeprefix("project:"), line) for one in read for line in one.lines)
    said = {(name, str(line.native_id)): line.text for name, line in told}
    turns = []
    for row in labels.read_bytes().splitlines():
        turn = msgspec.json.decode(row, type=Labelled)
        text = turn.text or said.get((turn.conversation, turn.turn), "")
        if turn.digest and text and blake2b(text.encode(), digest_size=8).hexdigest() != turn.digest:
            why = f"{turn.id} was labelled in another text."
            raise MemtapeError(why, "Name the corpus that was labelled.")
        if text:
            turns.append(msgspec.structs.replace(turn, text=text[:MOST_READ_CHARS]))
    return turns


def counts_of(turns: list[Labelled]) -> dict[tuple[str, str], Counter[str]]:
    """Return by kind and half how many statements were `told`, `right`, `expected` and `met`."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for turn in turns:
        at = parse_time(turn.at, UNDATED_US) if turn.at else UNDATED_US
        told = statements(read(turn.text), at, of_agent=turn.role == "agent")
        right = sum(any(_meet(one, other) for other in turn.expected) for one in told)
        met = sum(any(_meet(one, other) for one in told) for other in turn.expected)
        here = Counter(turns=1, told=len(told), right=right, expected=len(turn.expected), met=met)
        for kind in (turn.kind, "all"):
            counts.setdefault((kind, turn.half), Counter()).update(here)
    return counts


def _meet(one: Statement, other: Expected) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared * 2 >= min(one.end - one.start, other.end - other.start)


@click.command()
@click.argument("labels", type=click.Path(exists=True, path_type=Path))
@click.argument("corpora", nargs=-1, type=click.Path(exists=True, path_type=Path))
def main(labels: Path, corpora: tuple[Path, ...]) -> None:
    """Say how many of the statements told are right, and how many of those that are there are told."""
    for (kind, half), counts in sorted(counts_of(labelled_turns(labels, corpora)).items()):
        precision = f"{counts['right']} of {counts['told']} right"
        met = f"{counts['met']} of {counts['expected']} met"
        click.echo(f"{kind:8} {half:5} {counts['turns']:4} turns  {precision:18} {met}")


if __name__ == "__main__":
    main()
