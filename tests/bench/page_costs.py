"""What the views of the page cost on a home of many texts: the server's time, as the page itself tells it.

The page is served by its command, as for a person. Nothing is asserted here: times differ from machine to
machine.
"""

from __future__ import annotations

import json
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench.living import DAYS, SCOPE, make_living, questions
from memtape.schemas.times import DAY_US, format_time
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client

ROUNDS, AFTER_CAPTURES = 30, 10
COLUMNS = ("first", "median", "p95", "after a capture", "until there")
DEEDS = ("forget", "pin", "archive")
PAST = ("timeline, with what changed", "search as of a time")
SPREAD = 20
"""Past times are looked at in days, of which each is another view of the past."""


@click.command()
@click.option("--texts", default=20_000, show_default=True, help="About so many texts, of which many fold.")
@click.option("--memories", default=0, show_default=True, help="So many memories beside them; none folds.")
@click.option("--rounds", default=ROUNDS, show_default=True, help="How often each view is asked for.")
@click.option("--home", type=click.Path(path_type=Path), help="A home that exists, or is to be made.")
def main(texts: int, memories: int, rounds: int, home: Path | None) -> None:
    """Print how long a request of each view takes: the first, the median, and what 95 of 100 need at most.

    Beside it stand the same 95 of 100 of looks that each follow a capture. The past is asked for again until
    it is there: the last column has how long that took in all.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = home or Path(folder) / "home"
        if not place.exists():
            make_living(place, texts, now_us(), memories=memories)
        with Client(place, scope=SCOPE, actor="Ada", origin="user") as client, _served(place) as http:
            status = client.status()
            click.echo(f"{status.memories:,} memories and {status.turns:,} turns, {status.events:,} events")
            click.echo(f"{'view':28} " + " ".join(f"{name:>15}" for name in COLUMNS))
            asked = _asked(rounds, [result.id for result in client.recent(rounds).results])
            plain = {name: [_took(http, address) for address in its] for name, its in asked.items()}
            present = {name: its for name, its in asked.items() if name not in PAST}
            after = {name: _after_captures(client, http, its) for name, its in present.items()}
            for name, took in plain.items():
                click.echo(f"{name:28} " + " ".join(f"{cell:>15}" for cell in _cells(took, after.get(name))))
            for do, its in _deeds(http, [result.id for result in client.recent(rounds).results]):
                click.echo(f"{do:28} {f'{median(its):.0f} ms':>31} {f'{p95(its):.0f} ms':>15}")


def _deeds(http: httpx.Client, ids: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    """Yield for each deed what the server takes, in milliseconds, each time for another memory."""
    origin = str(http.base_url.copy_with(path="/")).rstrip("/")
    for place, do in enumerate(DEEDS):
        took = []
        for id in ids[place :: len(DEEDS)]:
            form = {"do": do, "id": id, "scope": SCOPE, "back": "./"}
            answer = http.post("act", data=form, headers={"origin": origin})
            if answer.is_redirect:  # What is pinned is not archived.
                took.append(float(answer.headers["server-timing"].partition("dur=")[2]))
        yield do, took


def _cells(took: list[Took], after: list[float] | None) -> list[str]:
    """Return the cells of a view's row; `after` are the times of looks after captures, if any."""
    rest = took[1:] or took
    told = [took[0].ms, median(it.ms for it in rest), p95([it.ms for it in rest])]
    last = "-" if after is None else f"{p95(after):.0f} ms"
    return [*(f"{ms:.0f} ms" for ms in told), last, f"{p95([it.until_s for it in rest]):.1f} s"]


def _after_captures(client: Client, http: httpx.Client, addresses: list[str]) -> list[float]:
    """Return what the server takes for a view, each time after something has been said."""
    took = []
    for number, address in enumerate(addresses[:AFTER_CAPTURES]):
        client.capture(f"Said before look {number} at {address}.", kind="fact")
        took.append(_took(http, address).ms)
    return took


class Took(NamedTuple):
    """What the longest request of one view took, in milliseconds, and how long it was until it was there."""

    ms: float
    until_s: float


def p95(times: Sequence[float]) -> float:
    """Return the time that 95 of 100 need at most."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]


def _asked(rounds: int, ids: list[str]) -> dict[str, list[str]]:
    """Return the addresses of each view, each another one where a person would ask for another one."""
    from random import Random

    now = now_us()
    step = DAYS * DAY_US // (SPREAD + 2)
    times = [format_time(now - (place % SPREAD + 1) * step) for place in range(rounds)]
    asked = questions(Random(1), rounds)
    return {"memories": ["/"] * rounds, "memories, most used": ["/?sort=uses"] * rounds,
            "memories, forgotten": ["/?standing=forgotten"] * rounds,
            "home": ["/home"] * rounds,
            "search": [f"/search?{httpx.QueryParams({'q': text})}" for text in asked],
            "next start": [f"/start?budget={600 + 100 * (place % 5)}" for place in range(rounds)],
            "recalls": ["/recalls"] * rounds, "recalls, by words": ["/recalls?words=gauge"] * rounds,
            "a memory": [f"/memory?id={id}" for id in ids], "timeline": ["/timeline"] * rounds,
            "timeline, with what changed": [f"/timeline?diff=1&at={time}" for time in times],
            "search as of a time": [f"/search?q=mooring&at={time}" for time in times],
            "tree": ["/tree"] * rounds, "yours": ["/yours"] * rounds,
            "system": ["/system"] * rounds}  # fmt: skip


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
    """Return what the server took for a view, asked for again after a second as long as it is being made."""
    began, took = time.perf_counter(), list[float]()
    while True:
        answer = http.get(address).raise_for_status()
        took.append(float(answer.headers["server-timing"].partition("dur=")[2]))
        if "refresh" not in answer.headers:
            return Took(max(took), time.perf_counter() - began)
        time.sleep(float(answer.headers["refresh"]))


if __name__ == "__main__":
    main()
