"""What the views of the page cost on a home of many texts: the server's time, as the page itself tells it.

The page is served by its command, as for a person. Nothing is asserted here: times differ from machine to machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import click
import httpx

from memtape.schemas.times import DAY_US, format_time
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.measure.living import DAYS, SCOPE, make_living, questions

ROUNDS = 30
SPREAD = 20
"""Past times are looked at in days, of which each is another view of the past."""


@click.command()
@click.option("--texts", default=20_000, show_default=True, help="About so many texts.")
@click.option("--rounds", default=ROUNDS, show_default=True, help="How often each view is asked for.")
@click.option("--home", type=click.Path(path_type=Path), help="A home that was made before, or is to be made.")
def main(texts: int, rounds: int, home: Path | None) -> None:
    """Print how long a request of each view takes: the first time, the median, and what 95 of 100 need at most.

    Beside it stands what the server's thread worked for it, which other programs of the machine change less. The past
    is asked for again until it is there: the last column has how long that took in all, at most in 95 of 100 cases.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = home or Path(folder) / "home"
        if not place.exists():
            make_living(place, texts, now_us())
        with Client(place, scope=SCOPE, origin="user") as client:
            ids = [result.id for result in client.recent(rounds)]
            status = client.status()
        click.echo(f"{status.memories:,} memories and {status.turns:,} turns, {status.events:,} events")
        click.echo(f"{'view':28} {'first':>9} {'median':>9} {'p95':>9} {'p95 of CPU':>11} {'until there':>11}")
        with _served(place) as http:
            for name, addresses in _asked(rounds, ids).items():
                took = [_took(http, address) for address in addresses]
                first, rest = took[0].ms, took[1:] or took
                times, worked, until = ([getattr(it, name) for it in rest] for name in ("ms", "cpu_ms", "until_s"))
                told = f"{first:6.0f} ms {median(times):6.0f} ms {p95(times):6.0f} ms {p95(worked):8.0f} ms"
                click.echo(f"{name:28} {told} {p95(until):9.1f} s")


class Took(NamedTuple):
    """What the longest request of one view took and worked, in milliseconds, and how long it was until it was there."""

    ms: float
    cpu_ms: float
    until_s: float


def p95(times: Sequence[float]) -> float:
    """Return the time that 95 of 100 need at most."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]


def _asked(rounds: int, ids: list[str]) -> dict[str, list[str]]:
    """Return the addresses of each view, each another one where a person would ask for another one."""
    from random import Random

    now = now_us()
    times = [format_time(now - (place % SPREAD + 1) * DAYS * DAY_US // (SPREAD + 2)) for place in range(rounds)]
    asked = questions(Random(1), rounds)
    return {
        "now": ["/"] * rounds,
        "search": [f"/search?{httpx.QueryParams({'q': text})}" for text in asked],
        "next start": [f"/start?budget={600 + 100 * (place % 5)}" for place in range(rounds)],
        "recalls": ["/recalls"] * rounds,
        "recalls, by words": ["/recalls?words=gauge"] * rounds,
        "a memory": [f"/memory?id={id}" for id in ids],
        "timeline": ["/timeline"] * rounds,
        "timeline, with what changed": [f"/timeline?diff=1&at={time}" for time in times],
        "search as of a time": [f"/search?q=mooring&at={time}" for time in times],
        "graph": ["/graph"] * rounds,
        "tree": ["/tree"] * rounds,
        "yours": ["/yours"] * rounds,
        "log": ["/log"] * rounds,
    }


@contextmanager
def _served(home: Path) -> Iterator[httpx.Client]:
    """Serve the page of a home by its command while the context lasts, to a browser that was let in."""
    words = ["-m", "memtape", "page", "--no-browser", "--json", "--home", str(home), "--scope", SCOPE]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = ""
    while not printed.rstrip().endswith("}"):
        printed += process.stdout.readline()
    address = json.loads(printed)["address"]
    try:
        with httpx.Client(base_url=address.partition("/?")[0], timeout=600, trust_env=False) as http:
            http.get(address)
            yield http
    finally:
        process.terminate()
        process.wait()


def _took(http: httpx.Client, address: str) -> Took:
    """Return what the server took and worked for a view, asked for again after a second as long as it is being made."""
    began, took = time.perf_counter(), list[tuple[float, float]]()
    while True:
        answer = http.get(address).raise_for_status()
        took_ms, cpu_ms = re.findall(r"dur=([\d.]+)", answer.headers["server-timing"])
        took.append((float(took_ms), float(cpu_ms)))
        if "refresh" not in answer.headers:
            times, worked = zip(*took, strict=True)
            return Took(max(times), max(worked), time.perf_counter() - began)
        time.sleep(float(answer.headers["refresh"]))


if __name__ == "__main__":
    main()
