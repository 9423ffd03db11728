"""What shadow retrievers cost those who search: the same searches with shadows on and off, in turns, beside one `run`.

`python -m memtape.tools.measure.shadowing --texts 5000 --percent 100`
"""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import click

from memtape.schemas.retrievers import State
from memtape.sinks.home.offset_marks import OffsetMarks
from memtape.state.ranking.evaluation import percentile
from memtape.tools.client import Client
from memtape.tools.keep.retriever_states import set_state
from memtape.tools.keep.starting import python_of
from memtape.tools.measure.scale import SCOPE, SEED, lines, process_of, questions

BLOCK = 20
LEAST_S, SETTLED_S = 0.2, 300.0
"""Time between two searches, and how long shadows may take to catch up after some."""


@click.command()
@click.option("--texts", default=5_000, show_default=True, help="How many turns there are.")
@click.option("--percent", default=100, show_default=True, help="The share of searches that the shadow answers too.")
@click.option("--shadow", default="memtape without hot, edges", show_default=True, help="The shadow's name.")
@click.option(
    "--blocks", default=12, show_default=True, help="Pairs of blocks of 20 searches, one with and one without."
)
@click.option(
    "--captures", is_flag=True, help="Capture a turn after every search, so that views of the past are asked."
)
def main(texts: int, percent: int, shadow: str, blocks: int, captures: bool) -> None:
    """Print p50 and p95 of searches with shadows on and off, in milliseconds of wall time."""
    with tempfile.TemporaryDirectory() as folder, Client(folder, scope=SCOPE, origin="user") as client:
        client.capture_many(lines(texts))
        client.project()
        rng, took = random.Random(SEED), dict[str, list[float]](shadow=[], off=[])
        with process_of(*python_of(), "run", "--home", folder):
            for state in rng.sample(("shadow", "off") * blocks, 2 * blocks):
                took[state] += _block(client, rng, shadow, state, percent, captures)
        for state, each in took.items():
            told = "  ".join(f"p{part} {percentile(each, part) * 1_000:.2f}" for part in (50, 90, 95))
            click.echo(f"{state:<7} {len(each):>5} searches  {told}")
        answers = [its["answers"] for its in client.compare_shadows()["shadows"].values()] if percent else []
        click.echo(f"answers of the shadow {sum(answers)}")


def _block(client: Client, rng: random.Random, shadow: str, state: str, percent: int, captures: bool) -> list[float]:
    """Return the seconds of some searches while a retriever is in a state; before and after them nothing is due."""
    named: State = "shadow" if state == "shadow" else "deprecated"
    set_state(client.log, shadow, named, percent)
    took = []
    client.search("the first question")  # It may have to read what is new.
    for question in rng.sample(questions(), BLOCK):
        start = time.perf_counter()
        client.search(question)
        took.append(time.perf_counter() - start)
        if captures:
            client.capture(f"After {question}", kind="turn")
        time.sleep(LEAST_S)
    if named == "shadow":
        _settle(client)
    return took


def _settle(client: Client) -> None:
    """Wait until the shadows have answered all that they are to answer."""
    marks, until = OffsetMarks(Path(client.home.shadows_path), client.log), time.monotonic() + SETTLED_S
    while marks.read("shadows") != client.log.ends() and time.monotonic() < until:
        time.sleep(LEAST_S)


if __name__ == "__main__":
    main()
