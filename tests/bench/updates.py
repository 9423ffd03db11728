"""How well the current value is told from those before it: `python tests/bench/updates.py FILE`.

FILE has the cases of `replacing`, each with its question. The texts of a case are captured in their order in
a scope of their own, in a home that is thrown away, and the question is asked of the ordinary search.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench.replacing import Case
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.query.results import Result

LIMIT = 10
FIRST = 5


class Asked(Case, frozen=True):
    """A case with what is asked of it."""

    question: str


def answered(folder: Path, cases: list[Asked]) -> Iterator[tuple[Asked, list[tuple[int, Result]]]]:
    """Yield each case with the results of its question, best first, each with the index of its text."""
    with closing(EmbeddedLog(Home(folder).log_path)) as log:
        made: dict[str, dict[str, int]] = {}
        for case in cases:
            client = Client(folder, scope=f"project:{case.id}", log=log)
            lines = [Line(text=it.text, at=it.at, origin=it.origin, kind=it.kind) for it in case.texts]
            made[case.id] = {receipt.id: n for n, receipt in enumerate(client.capture_many(lines))}
        client.project()
        for case in cases:
            asking = Client(folder, scope=f"project:{case.id}", log=log)
            results = asking.search(case.question, limit=LIMIT).results
            yield case, [(made[case.id][result.canonical], result) for result in results]


def is_marked(result: Result) -> bool:
    """Whether a result says that it was replaced, in whole or in part, is contradicted, or is older."""
    told = any(mark.startswith(("in part replaced", "contradicts")) for mark in result.marks)
    return told or result.valid_to is not None or result.newer is not None


def measured(case: Asked, found: list[tuple[int, Result]]) -> Counter[str]:
    """Return what is counted of one case."""
    order = [n for n, _ in found]
    closed = {n for n, result in found if result.valid_to is not None}
    current = [order.index(n) for n in case.current if n in order]
    replaced = [order.index(n) for n in case.replaced if n in order]
    return Counter(cases=1, first=bool(order) and order[0] in case.current,
                   before=bool(current) and min(current) < min(replaced, default=LIMIT),
                   among=any(place < FIRST for place in current),
                   above=bool(replaced) and min(replaced) < min(current, default=LIMIT),
                   replaced=len(replaced),
                   unmarked=sum(1 for n, result in found if n in case.replaced and not is_marked(result)),
                   marked=sum(1 for n, result in found if n in case.current and is_marked(result)),
                   holding=len(case.current), closed=len(closed & set(case.current)))  # fmt: skip


@click.command()
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option("--half", type=click.Choice(["dev", "test", "both"]), default="both", show_default=True)
@click.option("--show", is_flag=True, help="Print the cases whose current value is not first.")
def main(path: Path, half: str, show: bool) -> None:
    """Say where the current value stands, and whether the values before it are marked."""
    cases = [msgspec.json.decode(row, type=Asked) for row in path.read_bytes().splitlines()]
    cases = [case for case in cases if half in (case.half, "both")]
    counts: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case, found in answered(Path(folder), cases):
            here = measured(case, found)
            for kind in (case.kind, "all"):
                counts.setdefault(kind, Counter()).update(here)
            if show and not here["first"]:
                click.echo(f"{case.id}: {case.question}")
                for n, result in found:
                    sort = "current" if n in case.current else "replaced" if n in case.replaced else "other"
                    click.echo(f"    {result.score:.3f} {sort:8} {result.text}  {'; '.join(result.marks)}")
    for kind, it in sorted(counts.items()):
        click.echo(
            f"{kind:8} {it['cases']:4} cases: current first {it['first']:3},"
            f" before any replaced {it['before']:3}, among {FIRST} {it['among']:3};"
            f" a replaced value above it {it['above']:3};"
            f" {it['unmarked']:3} of {it['replaced']:3} replaced unmarked;"
            f" {it['closed']:2} of {it['holding']:3} wrongly closed, {it['marked']:2} marked"
        )


if __name__ == "__main__":
    main()
