"""How well standing instructions are told from all else: `python tests/bench/instructing.py FILE`.

FILE is JSON lines, a sentence of a person to an agent each: its `text`, and whether it is `standing`, that
is, worth seeing at every later start. A sentence counts as told if the start after a turn that says it and no
more shows it among the standing instructions, be it from the turn or from the statements that are taken of
the turn.
"""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from memtape.schemas.events import STATED_TAG
from memtape.state.text.reading import read
from memtape.state.text.statements import statements
from memtape.state.views.context import Known, items_of
from memtape.tools.measure.corpus import UNDATED_US


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a person, and whether a start should show it ever after."""

    text: str
    standing: bool


def is_told(text: str) -> bool:
    """Whether a start after a turn of this text has a standing instruction."""
    at = UNDATED_US
    turn = Known(
        id="turn", scope="", kind="turn", text=text, at=at, last_at=at, order=0, actor="", origin="user"
    )  # fmt: skip
    taken = [
        msgspec.structs.replace(turn, id=str(place), kind="fact", text=it.text, tags=(STATED_TAG, it.label))
        for place, it in enumerate(statements(read(text), at, of_agent=False))
    ]
    return any(item.section == "guardrails" for item in items_of([turn, *taken], at))


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
def main(path: Path) -> None:
    """Say how many sentences that are told are standing, how many standing ones are told, and each error."""
    lines = [msgspec.json.decode(row, type=Sentence) for row in path.read_bytes().splitlines()]
    told = [line for line in lines if is_told(line.text)]
    standing = [line for line in lines if line.standing]
    right = [line for line in told if line.standing]
    for line in lines:
        if line.standing != (line in told):
            click.echo(f"{'missed' if line.standing else 'WRONG '} {line.text}")
    precision, recall = _share(len(right), len(told)), _share(len(right), len(standing))
    click.echo(f"{len(lines)} sentences  precision {precision} told  recall {recall} standing")


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f} ({part} of {whole})" if whole else "none"


if __name__ == "__main__":
    main()
