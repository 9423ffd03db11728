"""What shadow retrievers cost those who search: the same searches with shadows on and off, in turns, beside one `run`.

`python -m memtape.tools.measure.shadowing --texts 5000 --percent 100`
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable

import click

from memtape.schemas.retrievers import State
from memtape.sinks.home.offset_marks import OffsetMarks
from memtape.state.ranking.evaluation import percentile
from memtape.tools.client import Client
from memtape.tools.keep.retriever_states import set_state
from memtape.tools.keep.starting import python_of
from memtape.tools.measure.scale import SCOPE, SEED, lines, process_of, questions

PAUSE_S, SETTLED_S = 0.2, 150.0
"""Time between two searches, and how long shadows may take to catch up after some."""

Took = tuple[float, float]
STATES: tuple[State, ...] = ("shadow", "deprecated")


@click.command()
@click.option("--texts", default=5_000, show_default=True, help="How many turns there are.")
@click.option("--percent", default=100, show_default=True, help="The share of searches that the shadow answers too.")
@click.option("--shadow", default="memtape without hot, edges", show_default=True, help="The shadow's name.")
@click.option("--phases", default=2, show_default=True, help="Pairs of phases, one with and one without the shadow.")
@click.option("--seconds", default=90.0, show_default=True, help="How long a phase takes.")
@click.option(
    "--captures", is_flag=True, help="Capture a turn after every search, so that views of the past are asked."
)
def main(texts: int, percent: int, shadow: str, phases: int, seconds: float, captures: bool) -> None:
    """Print p50 and p95 of searches with a shadow on and off, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder, Client(folder, scope=SCOPE, origin="user") as client:
        client.capture_many(lines(texts))
        client.project()
        rng, took = random.Random(SEED), {state: list[Took]() for state in STATES}
        with process_of(*python_of(), "run", "--home", folder) as pid:
            _until(lambda: client.home.projector_lock().holder() == pid)
            for _ in range(phases):
                for state in rng.sample(STATES, 2):
                    took[state] += _phase(client, rng, shadow, state, percent, seconds, captures)
        for state, each in took.items():
            for what, seconds_each in zip(("wall", "processor"), zip(*each, strict=True), strict=True):
                told = "  ".join(f"p{part} {percentile(seconds_each, part) * 1_000:.2f}" for part in (50, 90, 95))
                click.echo(f"{state:<10} {len(each):>5} searches  {what:<9}  {told}")
        click.echo(f"the shadow: {client.compare_shadows()['shadows'][shadow]}"[:200])


def _phase(
    client: Client, rng: random.Random, shadow: str, state: State, percent: int, seconds: float, captures: bool
) -> list[Took]:
    """Return the wall and processor seconds of searches while a retriever is in a state; nothing is due after them."""
    set_state(client.log, shadow, state, percent)
    client.search("the first question")  # It may have to read what is new.
    took, until = list[Took](), time.monotonic() + seconds
    while time.monotonic() < until:
        question = rng.choice(questions())
        start, before = time.perf_counter(), time.process_time()
        client.search(question)
        took.append((time.perf_counter() - start, time.process_time() - before))
        if captures:
            client.capture(f"After {question}", kind="turn")
        time.sleep(PAUSE_S)
    if state == "shadow":
        marks = OffsetMarks(client.home.shadows_path, client.log)
        ends = client.log.ends()
        _until(lambda: all(at >= end for at, end in zip(marks.read("shadows") or [0], ends, strict=False)))
    return took


def _until(done: Callable[[], bool]) -> None:
    until = time.monotonic() + SETTLED_S
    while not done():
        if time.monotonic() > until:
            raise click.ClickException(f"Nothing came of it in {SETTLED_S:g} s.")
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
