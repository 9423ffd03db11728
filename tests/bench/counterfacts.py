"""Counterfactual facts in sequence, of our own making: `python tests/bench/counterfacts.py`.

The form is that of FactConsolidation (Hu et al., MemoryAgentBench, 2025).

Each fact has a serial number. Some hundred subjects are told of twice, with another value the second time,
which wins. All stand in one scope, and each question is about one relation of one subject. Subjects and
values are made up, so that nothing but the sequence tells which value holds.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `tables`.

from tables import table

from memtape.schemas.times import DAY_US, US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client

SCOPE = "project:counterfacts"
START_US = 1_704_067_200 * US_PER_S
FACTS = table("counterfacts")
SUBJECTS = FACTS["subjects"]
VALUES = FACTS["values"] | {"person": SUBJECTS["people"], "firm": SUBJECTS["firms"]}


class Relation(NamedTuple):
    """How a relation is told and asked, of whom, and of what kind its value is."""

    told: str
    asked: str
    subjects: str
    value: str


RELATIONS = [Relation(*row) for row in FACTS["relations"]]


class Sequence(NamedTuple):
    """Facts in their order, and of each question the places of what was said first and of what holds."""

    facts: list[str]
    asked: list[tuple[str, int, int]]


def sequence(count: int, seed: int) -> Sequence:
    """Return facts of so many subjects that are told of twice, the second time anywhere behind the first."""
    rng = random.Random(seed)
    told = [(relation, subject) for relation in RELATIONS for subject in SUBJECTS[relation.subjects]]
    pairs = rng.sample(told, count)
    others = [[it for it in VALUES[relation.value] if it != subject] for relation, subject in pairs]
    values = [rng.sample(those, 2) for those in others]
    order = rng.sample([n for n in range(count) for _ in range(2)], 2 * count)
    facts, places = list[str](), dict[int, list[int]]()
    for n in order:
        relation, subject = pairs[n]
        places.setdefault(n, []).append(len(facts))
        facts.append(f"{len(facts)}. {relation.told.format(subject, values[n][len(places[n]) - 1])}.")
    questions = [relation.asked.format(subject) for relation, subject in pairs]
    asked = [(questions[n], first, second) for n, (first, second) in sorted(places.items())]
    return Sequence(facts, asked)


def asked(folder: Path, told: Sequence, gap_us: int) -> Iterator[tuple[bool, bool, bool]]:
    """Yield of each question whether what holds is first, is among five, and is marked."""
    with closing(EmbeddedLog(Home(folder).log_path)) as log:
        client = Client(folder, scope=SCOPE, log=log)
        facts = enumerate(told.facts)
        lines = [Line(text=text, at=START_US + n * gap_us, origin="user", kind="fact") for n, text in facts]
        ids = [receipt.id for receipt in client.capture_many(lines)]
        client.project()
        for question, _, holding in told.asked:
            found = client.search(question, limit=5).results
            named = [result.canonical for result in found]
            marked = [result.valid_to is not None for result in found if result.canonical == ids[holding]]
            yield named[:1] == [ids[holding]], ids[holding] in named, any(marked)


@click.command()
@click.option("--count", default=100, show_default=True, help="So many subjects are told of twice.")
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Say how often the later value is first, with facts a minute and a day apart."""
    for name, gap_us in (("a minute apart", 60 * US_PER_S), ("a day apart", DAY_US)):
        with tempfile.TemporaryDirectory() as folder:
            found = list(asked(Path(folder), sequence(count, seed), gap_us))
        first, among, wrong = (sum(its) for its in zip(*found, strict=True))
        click.echo(f"{name}: current first {first} of {count}, among five {among}; {wrong} wrongly marked")


if __name__ == "__main__":
    main()
