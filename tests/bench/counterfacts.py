"""Counterfactual facts in sequence, of our own making: `python tests/bench/counterfacts.py`.

The form is that of FactConsolidation (Hu et al., MemoryAgentBench, 2025).

Each fact has a serial number. Some hundred subjects are told of twice, with another value the second time, which wins.
All stand in one scope, and each question is about one relation of one subject. Subjects and values are made up, so that
nothing but the sequence tells which value holds.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import click

from memtape.schemas.times import DAY_US, US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client

SCOPE = "project:counterfacts"
START_US = 1_704_067_200 * US_PER_S
PEOPLE = (
    "Anvar Belloc", "Mirela Tost", "Jory Haldane", "Ondine Kraus", "Pavel Strand", "Ines Mbeki", "Tobias Lunde",
    "Saoirse Vale", "Hiro Tanabe", "Clara Oduya", "Luca Ferrant", "Greta Solheim", "Amara Diallo", "Nils Oberg",
    "Rosa Quint", "Dmitri Asan", "Freya Holt", "Omar Naseri", "Lena Brandt", "Yusuf Kaya",
)  # fmt: skip
WORKS = (
    "The Salt Road", "Winter Harbour", "Glass Orchard", "A Quiet Engine", "Nine Lanterns", "The Ferryman's Ledger",
    "Paper Tides", "Copper Sky", "The Long Meadow", "Ashes of Verda",
)  # fmt: skip
FIRMS = ("Halcyon Freight", "Orbita Labs", "Northpine", "Quillworks", "Verdant Motors", "Lumen Dairy", "Tessera Bank")
LANDS = ("Arvenia", "Solmark", "Tarquin", "Ostrava Isles", "Belmora", "Kestria", "Nordhaven", "Qadira")
CITIES = ("Lisbon", "Oslo", "Nairobi", "Lima", "Hanoi", "Zagreb", "Perth", "Quito", "Bergen", "Kyoto", "Turin", "Cork")
VALUES = {
    "person": PEOPLE,
    "city": CITIES,
    "country": ("Norway", "Kenya", "Peru", "Vietnam", "Croatia", "Japan", "Ecuador", "Portugal", "Ireland", "Chile"),
    "language": ("Finnish", "Swahili", "Quechua", "Welsh", "Tamil", "Danish", "Basque", "Hungarian", "Korean"),
    "sport": ("rugby", "fencing", "handball", "cricket", "judo", "rowing", "badminton", "archery"),
    "field": ("botany", "acoustics", "linguistics", "geology", "optics", "economics", "astronomy"),
    "music": ("jazz", "folk", "opera", "techno", "blues", "reggae", "bluegrass"),
    "position": ("goalkeeper", "midfielder", "striker", "left wing", "point guard", "shortstop"),
    "firm": FIRMS,
    "continent": ("Asia", "Africa", "Europe", "Oceania", "Antarctica", "South America"),
}


class Relation(NamedTuple):
    """How a relation is told and asked, of whom, and of what kind its value is."""

    told: str
    asked: str
    subjects: tuple[str, ...]
    value: str


RELATIONS = (
    Relation("{} is a citizen of {}", "Of which country is {} a citizen?", PEOPLE, "country"),
    Relation("The capital of {} is {}", "What is the capital of {}?", LANDS, "city"),
    Relation("The author of {} is {}", "Who is the author of {}?", WORKS, "person"),
    Relation("{} is married to {}", "Who is {} married to?", PEOPLE, "person"),
    Relation("The chief executive officer of {} is {}", "Who is the CEO of {}?", FIRMS, "person"),
    Relation("{} is associated with the sport of {}", "Which sport is {} associated with?", PEOPLE, "sport"),
    Relation("The official language of {} is {}", "What is the official language of {}?", LANDS, "language"),
    Relation("{} was founded by {}", "Who founded {}?", FIRMS, "person"),
    Relation("{} works in the field of {}", "In which field does {} work?", PEOPLE, "field"),
    Relation("{} was born in the city of {}", "In which city was {} born?", PEOPLE, "city"),
    Relation("{} died in the city of {}", "Where did {} die?", PEOPLE, "city"),
    Relation("{} speaks the language of {}", "What language does {} speak?", PEOPLE, "language"),
    Relation("{} is located in the continent of {}", "On which continent is {}?", LANDS, "continent"),
    Relation("{} plays the position of {}", "What position does {} play?", PEOPLE, "position"),
    Relation("{} was performed by {}", "Who performed {}?", WORKS, "person"),
    Relation("The type of music that {} plays is {}", "What music does {} play?", PEOPLE, "music"),
    Relation("{} is employed by {}", "Who employs {}?", PEOPLE, "firm"),
    Relation("The headquarters of {} is located in the city of {}", "Where is the headquarters of {}?", FIRMS, "city"),
    Relation("The name of the current head of state in {} is {}", "Who is the head of state in {}?", LANDS, "person"),
    Relation("{} was created in the country of {}", "In which country was {} created?", WORKS, "country"),
)


class Sequence(NamedTuple):
    """Facts in their order, and of each question the places of what was said first and of what holds."""

    facts: list[str]
    asked: list[tuple[str, int, int]]


def sequence(count: int, seed: int) -> Sequence:
    """Return facts of so many subjects that are told of twice, the second time anywhere behind the first."""
    rng = random.Random(seed)
    pairs = rng.sample([(relation, subject) for relation in RELATIONS for subject in relation.subjects], count)
    values = [rng.sample([it for it in VALUES[relation.value] if it != subject], 2) for relation, subject in pairs]
    order = rng.sample([n for n in range(count) for _ in range(2)], 2 * count)
    facts, places = list[str](), dict[int, list[int]]()
    for n in order:
        relation, subject = pairs[n]
        places.setdefault(n, []).append(len(facts))
        facts.append(f"{len(facts)}. {relation.told.format(subject, values[n][len(places[n]) - 1])}.")
    asked = [(pairs[n][0].asked.format(pairs[n][1]), first, second) for n, (first, second) in sorted(places.items())]
    return Sequence(facts, asked)


def asked(folder: Path, told: Sequence, gap_us: int) -> Iterator[tuple[bool, bool, bool]]:
    """Yield of each question whether what holds is first, whether it is among five, and whether it is marked."""
    with closing(EmbeddedLog(Home(folder).log_path)) as log:
        client = Client(folder, scope=SCOPE, log=log)
        lines = [
            Line(text=text, at=START_US + n * gap_us, origin="user", kind="fact") for n, text in enumerate(told.facts)
        ]
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
