"""How well it is told which texts replace which: `python tests/bench/replacing.py FILE`.

FILE is JSON lines, a case each: its texts in order of arrival with `at` and origin, the indexes of those that
hold (`current`) and of those that were `replaced`. A text is closed where a later one, of a source that is
trusted no less, replaces it.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import click
import msgspec

from memtape.schemas.events import Kind, Origin
from memtape.schemas.times import parse_time
from memtape.state.subjects.captures import TRUST
from memtape.state.text.reading import read
from memtape.state.text.replacements import replaces


class Said(msgspec.Struct, frozen=True):
    """A text of a case."""

    text: str
    at: str
    origin: Origin
    kind: Kind


class Case(msgspec.Struct, frozen=True):
    """Texts, and which of them hold."""

    id: str
    kind: str
    texts: tuple[Said, ...]
    current: tuple[int, ...]
    replaced: tuple[int, ...]

    @property
    def half(self) -> str:
        """Return the half by the hash of the id: one to write rules by, one to see what they are worth."""
        return "test" if sha256(self.id.encode()).digest()[0] % 2 else "dev"


def closed(case: Case) -> dict[int, int]:
    """Return by the index of each text that is closed the index of the first that replaces it."""
    order = sorted(range(len(case.texts)), key=lambda n: (parse_time(case.texts[n].at, 0), n))
    found: dict[int, int] = {}
    for older, newer in combinations(order, 2):
        before, now = case.texts[older], case.texts[newer]
        is_trusted = TRUST[now.origin] >= TRUST[before.origin]
        if older not in found and is_trusted and replaces(read(before.text), read(now.text)):
            found[older] = newer
    return found


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--half", type=click.Choice(["dev", "test", "both"]), default="both", show_default=True)
@click.option("--show", is_flag=True, help="Print what is closed wrongly, and what is not found.")
def main(path: Path, half: str, show: bool) -> None:
    """Say how many of the replaced texts are found, and how many that hold are closed."""
    counts: dict[str, Counter[str]] = {}
    for row in path.read_bytes().splitlines():
        case = msgspec.json.decode(row, type=Case)
        if half not in (case.half, "both"):
            continue
        done = closed(case)
        here = Counter(found=len(done.keys() & set(case.replaced)), replaced=len(case.replaced),
                       wrong=len(done.keys() & set(case.current)), holding=len(case.current),
                       others=len(done.keys() - set(case.replaced) - set(case.current)), cases=1)  # fmt: skip
        for kind in (case.kind, "all"):
            counts.setdefault(kind, Counter()).update(here)
        if show:
            _print(case, done)
    for kind, it in sorted(counts.items()):
        click.echo(
            f"{kind:8} {it['cases']:4} cases  {it['found']:3} of {it['replaced']:3} replaced found"
            f"  {it['wrong']:3} of {it['holding']:3} that hold closed  {it['others']:2} others closed"
        )


def _print(case: Case, done: dict[int, int]) -> None:
    for n, said in enumerate(case.texts):
        if (n in done) != (n in case.replaced):
            by = " / ".join(case.texts[m].text for m in ([done[n]] if n in done else case.current))
            click.echo(f"{'WRONG ' if n in done else 'missed'} {case.id}: {said.text}  <-  {by}")


if __name__ == "__main__":
    main()
