"""Benchmarks: `make bench`. Figures are for comparing within one run on one machine; none is asserted anywhere.

`python tests/bench/speed.py [--events N]`; `memtape eval` measures recall.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench.scale import lines, questions
from memtape.schemas.codec import encode
from memtape.schemas.events import Actor, make_tick
from memtape.schemas.log import Slot
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.sinks.logs.opening import LOG_VARIABLE
from memtape.state.core.partition import Partition, fold
from memtape.state.core.replay import replay
from memtape.state.core.scope import Scope
from memtape.state.subjects.captures import Capture
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.keep.starting import python_of

SINGLE = 500
COLD_RUNS = 5
IDLE_TEXTS = (1_000, 100_000, 1_000_000)
IDLE_TICKS = 21


def said(count: int) -> Iterator[Line]:
    """Yield turns of two people, of which every fourth is a fact."""
    for number, line in enumerate(lines(count)):
        yield msgspec.structs.replace(line, kind="fact") if number % 4 == 3 else line


def timed(action: Callable[[], object]) -> float:
    """Return how many seconds an action took."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def row(what: str, figure: str) -> None:
    """Print one line of the table."""
    click.echo(f"{what:<58} {figure:>18}")


@click.command()
@click.option("--events", default=20_000, show_default=True, help="How many events to capture in batches.")
def main(events: int) -> None:
    """Measure capture, replay, projection and search in a throw-away home."""
    os.environ.pop(LOG_VARIABLE, None)  # What is made up here is not for a log that somebody works with.
    with tempfile.TemporaryDirectory() as folder, Client(Path(folder), scope="project:bench", origin="user") as client:
        _capture(client, events)
        _project_and_search(client, questions()[0])
        _cold(Path(folder))
    for texts in IDLE_TEXTS:
        _idle(texts)


def _capture(client: Client, count: int) -> None:
    told = list(said(count + SINGLE))
    seconds = timed(lambda: [client.capture_many([line]) for line in told[:SINGLE]])
    row(f"capture, {SINGLE} one by one", f"{SINGLE / seconds:,.0f} events/s")
    seconds = timed(lambda: [client.capture_many(told[at : at + 1_000]) for at in range(SINGLE, len(told), 1_000)])
    row(f"capture, {count:,} in thousands", f"{count / seconds:,.0f} events/s")
    made = [event for line in told for event in client.events_of(line, {})]
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate(made)]
    seconds = timed(lambda: replay(slots))
    row(f"state/core/replay.py, {len(slots):,} events of one scope", f"{len(slots) / seconds:,.0f} events/s")


def _project_and_search(client: Client, query: str) -> None:
    read = 0

    def project() -> None:
        nonlocal read
        read = client.project()

    seconds = timed(project)
    row(f"run --once, {read:,} events", f"{read / seconds:,.0f} events/s")
    row("run --once again, nothing new", f"{timed(project):.2f} s")
    first = timed(lambda: client.search(query, quiet=True))
    warm = [timed(lambda: client.search(query, quiet=True)) for _ in range(20)]
    row("search in process, first", f"{first * 1_000:,.0f} ms")
    row("search in process, warm, median of 20", f"{statistics.median(warm) * 1_000:,.1f} ms")


def _cold(home: Path) -> None:
    where = ["--scope", "project:bench", "--home", str(home)]
    for what in (["search", questions()[0], "--quiet"], ["capture", "One more."]):
        command = [*python_of(), *what, *where]
        runs = [_process_s(command) for _ in range(COLD_RUNS)]
        row(f"memtape {what[0]}, cold process, median of {COLD_RUNS}", f"{statistics.median(runs) * 1_000:,.0f} ms")


def _process_s(command: list[str]) -> float:
    return timed(lambda: subprocess.run(command, check=True, capture_output=True))


def _idle(texts: int) -> None:
    """Measure a tick at which nothing of a scope is due; its turns are made in state, without a log."""
    now = 20_000 * DAY_US
    scope, actor = Scope("project:bench"), Actor(name="Ada", origin="user")
    for seq in range(texts):
        waits = seq % 10 == 0  # One in ten is old enough, and has nobody to be summed up with.
        at = now - 40 * DAY_US if waits else now - seq % 130 * HOUR_US
        session = f"session {seq if waits else seq // 200}"
        scope.captures.by_seq[seq] = Capture(f"{seq}", seq, seq, at, session, actor, "turn", None, b"", -1)
    scope.lifecycle.project.active_at = now
    partition = Partition(0)
    partition.clock, partition.scopes[scope.name] = now, scope
    hours = [Slot(0, texts + n, encode(make_tick(0, now + n * HOUR_US))) for n in range(1, IDLE_TICKS + 1)]
    first, *rest = (timed(lambda slot=slot: fold(partition, [slot])) for slot in hours)  # type: ignore[misc]
    row(f"first tick after a start, {texts:,} texts", f"{first * 1_000:,.0f} ms")
    row(f"idle tick, {texts:,} texts", f"{statistics.median(rest) * 1e6:,.0f} us")


if __name__ == "__main__":
    main()
