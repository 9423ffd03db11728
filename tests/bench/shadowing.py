"""What shadow retrievers cost those who search: the same searches while a shadow answers without a pause, and at rest.

In a home a shadow answers once a minute; without a pause is the worst that it can cost. Short windows of both take
turns, so that whatever else the machine does meets both alike. What all searches together are slower by follows from
the share of a minute in which the shadow is at work. `python tests/bench/shadowing.py --texts 5000`
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from itertools import accumulate
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from statistics import median
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench.scale import SCOPE, SEED, lines, questions
from memtape.flows.workers.shadow import ShadowQuestion
from memtape.schemas.scopes import partition_of
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import open_log
from memtape.state.ranking.evaluation import percentile
from memtape.tools.client import Client
from memtape.tools.keep.shadows import ShadowProcess

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
@click.option(
    "--a-minute", default=12, show_default=True, help="Searches that somebody makes in a minute, all shadowed."
)
def main(texts: int, shadow: str, rounds: int, pairs: int, searches: int, a_minute: int) -> None:
    """Print p50 and p95 of searches with a shadow at work and at rest, and the medians of their ratios.

    `all` is what the p95 of all searches has for a ratio where the shadow works for its share of each minute.
    """
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
        _measure(client, works, answers, (rounds, pairs, searches, a_minute))
        ends.set()
        works.set()
        process.join(WAIT_S)
        click.echo(f"the shadow answered {answers.value:,} searches meanwhile, at a load of {os.getloadavg()[0]:.1f}")


def _measure(client: Client, works: Flag, answers: Any, sizes: tuple[int, int, int, int]) -> None:
    rounds, pairs, searches, a_minute = sizes
    rng, ratios, shares = random.Random(SEED), list[tuple[float, ...]](), list[float]()
    alls = list[float]()
    for _ in range(rounds):
        took: States = {True: [], False: []}
        client.project()  # Else each search would look through more searches that nobody has projected.
        before, worked_s = answers.value, 0.0
        for _ in range(pairs):
            asked = rng.choices(questions(), k=searches)
            for state in rng.sample((True, False), 2):
                works.set() if state else works.clear()
                since = time.perf_counter()
                time.sleep(SETTLE_S)
                took[state] += [_timed(client, question) for question in asked]
                worked_s += (time.perf_counter() - since) * state
        figures = {
            state: [percentile(list(each), p) for each in zip(*took[state], strict=True) for p in PARTS]
            for state in took
        }
        shares.append(min(1.0, a_minute * worked_s / max(1, answers.value - before) / 60))
        walls = {state: [wall for wall, _ in each] for state, each in took.items()}
        alls.append(_mixed(walls[True], walls[False], shares[-1]) / percentile(walls[False], 95))
        ratios.append(tuple(at / rest for at, rest in zip(figures[True], figures[False], strict=True)))
        for state, name in ((True, "at work"), (False, "at rest")):
            click.echo(f"{name}  {_told([1_000 * it for it in figures[state]], ' ms')}")
    click.echo(f"ratio    {_told([median(each) for each in zip(*ratios, strict=True)], '')}")
    click.echo(
        f"all      wall p95 {median(alls):.3f}, with {a_minute} searches a minute: at work {median(shares):.1%} of it"
    )


def _mixed(work: list[float], rest: list[float], share: float) -> float:
    """Return the p95 of searches of which a share meet the shadow at work."""
    weighed = sorted([(it, share / len(work)) for it in work] + [(it, (1 - share) / len(rest)) for it in rest])
    sums = accumulate(weight for _, weight in weighed)
    return next((it for (it, _), total in zip(weighed, sums, strict=True) if total >= 0.95), weighed[-1][0])


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
            answered = asker.ask(ShadowQuestion(number, offset, shadow), never)
            assert answered is not None and not answered.failure, answered
            answers.value += 1  # type: ignore[attr-defined]
            if ends.is_set():
                break
    asker.close()


if __name__ == "__main__":
    main()
