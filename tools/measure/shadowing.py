"""What shadow retrievers cost those who search: the same searches while a shadow answers without a pause, and at rest.

In a home a shadow answers once a minute; this is the worst that it can cost. Short windows of both take turns, so that
whatever else the machine does meets both alike. `python -m memtape.tools.measure.shadowing --texts 5000`
"""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import threading
import time
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from statistics import median

import click

from memtape.flows.workers.shadow import Question
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import open_log
from memtape.state.ranking.evaluation import percentile
from memtape.tools.client import Client
from memtape.tools.keep.shadows import ShadowProcess
from memtape.tools.measure.scale import SCOPE, SEED, lines, questions

SETTLE_S, WAIT_S = 0.1, 120.0
"""A shadow that is to pause ends one answer first; and so long it may take to answer for the first time."""
PARTS = (50, 95)

Took = tuple[float, float]
States = dict[bool, list[Took]]


@click.command()
@click.option("--texts", default=5_000, show_default=True, help="How many turns there are.")
@click.option("--shadow", default="memtape without hot, edges", show_default=True, help="The shadow's name.")
@click.option("--rounds", default=7, show_default=True, help="Rounds, of which the medians are told.")
@click.option("--pairs", default=30, show_default=True, help="Pairs of windows a round, one with the shadow at work.")
@click.option("--searches", default=10, show_default=True, help="Searches a window.")
def main(texts: int, shadow: str, rounds: int, pairs: int, searches: int) -> None:
    """Print p50 and p95 of searches with a shadow at work and at rest, and the medians of their ratios."""
    with tempfile.TemporaryDirectory() as folder, Client(folder, scope=SCOPE, origin="user") as client:
        client.capture_many(lines(texts))
        client.project()
        for question in questions():
            client.search(question)
        spawned = multiprocessing.get_context("spawn")
        works, answers, ends = spawned.Event(), spawned.Value("q", 0), spawned.Event()
        process = spawned.Process(target=_answer, args=(folder, shadow, works, answers, ends), daemon=True)
        process.start()
        works.set()
        until = time.monotonic() + WAIT_S
        while answers.value < 10:
            if time.monotonic() > until or not process.is_alive():
                raise click.ClickException("The shadow does not answer.")
            time.sleep(SETTLE_S)
        _measure(client, works, rounds, pairs, searches)
        ends.set()
        works.set()
        process.join(WAIT_S)
        click.echo(f"the shadow answered {answers.value:,} searches meanwhile, at a load of {os.getloadavg()[0]:.1f}")


def _measure(client: Client, works: Flag, rounds: int, pairs: int, searches: int) -> None:
    rng, ratios = random.Random(SEED), list[tuple[float, ...]]()
    for _ in range(rounds):
        took: States = {True: [], False: []}
        client.project()  # Else each search would look through more searches that nobody has projected.
        for _ in range(pairs):
            asked = rng.choices(questions(), k=searches)
            for state in rng.sample((True, False), 2):
                works.set() if state else works.clear()
                time.sleep(SETTLE_S)
                took[state] += [_timed(client, question) for question in asked]
        figures = {
            state: [percentile(list(each), p) for each in zip(*took[state], strict=True) for p in PARTS]
            for state in took
        }
        ratios.append(tuple(at / rest for at, rest in zip(figures[True], figures[False], strict=True)))
        for state, name in ((True, "at work"), (False, "at rest")):
            click.echo(f"{name}  {_told([1_000 * it for it in figures[state]], ' ms')}")
    click.echo(f"ratio    {_told([median(each) for each in zip(*ratios, strict=True)], '')}")


def _timed(client: Client, question: str) -> Took:
    start, before = time.perf_counter(), time.thread_time()
    client.search(question)
    return time.perf_counter() - start, time.thread_time() - before


def _told(figures: list[float], unit: str) -> str:
    names = [f"{what} p{part}" for what in ("wall", "processor") for part in PARTS]
    return "  ".join(f"{name} {figure:.3f}{unit}" for name, figure in zip(names, figures, strict=True))


def _answer(folder: str, shadow: str, works: Flag, answers: object, ends: Flag) -> None:
    """Have a shadow answer the searches of a home again and again, as the worker does, while it is to work."""
    home = Home(Path(folder))
    log = open_log(home)
    number = partition_of(SCOPE, log.partitions)
    offsets = [slot.offset for slot in log.read(number, 0, 1_000, types=("recalled",))]
    asker, never = ShadowProcess(home, log), threading.Event()
    while not ends.is_set():
        for offset in offsets:
            works.wait()
            answered = asker.ask(Question(number, offset, shadow), never)
            assert answered is not None and not answered.failure, answered
            answers.value += 1  # type: ignore[attr-defined]
            if ends.is_set():
                break
    asker.close()


if __name__ == "__main__":
    main()
