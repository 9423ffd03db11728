"""What is measured of a synthetic team's year, each stage in a process of its own; `year.py` puts them in their order.

A stage gets the home that it works on and answers with figures: seconds end in `_s`, megabytes in `_mb`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # It holds `bench`.

from bench import year_restoring
from bench.epochs import epoch_s, standing
from bench.scale import Meter
from bench.team_placing import Wanted
from bench.year_log import Year, opened
from memtape.flows.bodies import LoggedBodies
from memtape.flows.workers.stating import statement_id
from memtape.schemas.events import Event, make_tick
from memtape.schemas.log import Log, slots_between
from memtape.schemas.rows import MemoryRow, TurnRow
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import HOUR_US, US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.search_index import SearchIndex
from memtape.sinks.tables import INDEX, Shard
from memtape.sinks.vault import Vault
from memtape.state.core.digests import root, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.replay import Replay
from memtape.state.ranking.evaluation import percentile
from memtape.state.text.statements import MOST_STATEMENTS
from memtape.state.views.filters import NO_FILTERS
from memtape.tools.ask.results import Result
from memtape.tools.ask.retrieval import Retriever
from memtape.tools.client import Client
from memtape.tools.keep.build_views import BuildViews
from memtape.tools.keep.states import state_at
from memtape.tools.keep.verify import verify

Told = dict[str, Any]
CUT = 10
EPOCHS, TICKS = 20, 20
TIERED = ("memories", "turns")
DEADLY = ((Shard, "write"), (SearchIndex, "write"), (Vault, "write"), (Shard, "write_watermark"))
"""The parts of an epoch before which a projector can be killed."""


def project(home: Home, year: Year, die_at: int = 0) -> Told:
    """Bring the views up to date; with `die_at` the process kills itself before so many parts of epochs are written."""
    if die_at:
        _die_at(die_at)
    with Client(home) as client:
        meter = Meter()
        events = client.project()
        return meter.told("project") | {"events": events}


def _die_at(number: int) -> None:
    calls = 0

    def dying(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*args, **kwargs)

        return call

    for owner, name in DEADLY:
        setattr(owner, name, dying(getattr(owner, name)))


def replayed(home: Home, year: Year) -> Told:
    """Fold the whole log by the oracle, and say for each month how many events there were and what they took."""
    months = []
    with opened(home) as log:
        erasures = {number: erasures_of(log.erased(number)) for number in range(log.partitions)}
        replay, before = Replay(erasures, partial(LoggedBodies, log)), (0,) * log.partitions
        for day in year.months:
            meter, ends = Meter(), year.ends[day - 1]
            for number, (start, end) in enumerate(zip(before, ends, strict=True)):
                replay.feed(slots_between(log, number, start, end))
            months.append(meter.told("fold") | {"events": sum(ends) - sum(before)})
            before = ends
        return {"months": months, "state_hash": replay.state_hash}


def checked(home: Home, year: Year) -> Told:
    """Say whether the views are what the log says, and hash the state that a projector would go on from."""
    with opened(home) as log:
        build, ends = home.current(), log.ends()
        states = [state_at(log, build, number, end) for number, end in enumerate(ends)]
        state_hash = root(state_leaves(states))
        meter, found = Meter(), verify(home, log)
        differences = [str(difference) for difference in found.differences[:5]]
        told = {"ok": found.ok, "differences": differences, "home_hash": found.state_hash, "state_hash": state_hash}
        return told | meter.told("verify")


def sizes(home: Home, year: Year) -> Told:
    """Count the living texts by table and tier, and what each part of a home takes on disk."""
    with opened(home) as log:
        tiers = tiers_of(home, log)
    build, bytes_of = home.current(), Counter[str]()
    for part, path in (("log", home.log_path), ("vault", home.vault), ("snapshots", build.state)):
        bytes_of[part] = _bytes(path)
    for path in sorted((build.path / "lance").iterdir()):
        index = _bytes(path / INDEX)
        bytes_of["index"] += index
        bytes_of["tables"] += _bytes(path) - index
    return {"tiers": tiers} | {f"{part}_mb": count / 2**20 for part, count in bytes_of.items()}


def tiers_of(home: Home, log: Log) -> dict[str, int]:
    """Return how many texts that have a row are in each tier, and how many of any tier are archived."""
    counted: Counter[str] = Counter()
    for number in range(log.partitions):
        shard = Shard(home.current().shard(number), number)
        for table in TIERED if shard.exists() else ():
            rows = shard.all_rows("memories" if table == "memories" else "turns")
            living = (row for row in rows if isinstance(row, (MemoryRow, TurnRow)))
            counted.update("archived" if row.archived_at is not None else row.tier for row in living)
    return dict(sorted(counted.items()))


def _bytes(path: Path) -> int:
    paths = [path] if path.is_file() else path.rglob("*")
    return sum(found.stat().st_size for found in paths if found.is_file())


def searched(home: Home, year: Year, scope: str, question: str, day: int) -> Told:
    """Ask one question in a new process, beyond the imports; what no view holds yet is read from the log."""
    start, wall = time.process_time(), time.perf_counter()
    with Client(home, scope=scope) as client:
        client.reader.held(partial(_asked, scope=scope, question=question, now=end_of(year, day)))
        return {"first_s": time.process_time() - start, "first_wall_s": time.perf_counter() - wall}


def _asked(views: Retriever, scope: str, question: str, now: int) -> list[Result]:
    return views.search(scope, question, CUT, NO_FILTERS, now=now, repeats=True).results


def epochs(home: Home, year: Year, scope: str, day: int) -> Told:
    """Write epochs of one capture each, and of one idle tick each, as a projector does that stays."""
    with opened(home) as log, home.projector_lock():
        number = partition_of(scope, log.partitions)
        target = BuildViews(home, log).target
        meter = Meter()
        projection = standing(log, target, number)
        told = meter.told("restored")
        at = end_of(year, day)
        write = partial(epoch_s, log, projection, target, number)
        captures = [write(capture(scope, at + place * US_PER_S, place)) for place in range(EPOCHS)]
        ticks = [write(make_tick(number, at + hour * HOUR_US)) for hour in range(1, TICKS + 1)]
        target.views(number).close()
        return told | percentiles("epoch", captures) | percentiles("tick", ticks)


def capture(scope: str, at: int, place: int) -> Event:
    """Return a capture of one text, which no day of the year has."""
    text = f"The gauge at the north pier was read again, for the {place + 1}. time tonight."
    return year_restoring.event_after(scope, year_restoring.turn(text), at, f"{at} {place}")


def questions(home: Home, year: Year) -> Told:
    """Ask everything that is asked about the year, at its end; recall@10 by the age of the evidence, and latency."""
    found: dict[str, list[float]] = {}
    taken: list[float] = []
    with Client(home, scope=year.questions[0].scope if year.questions else None) as client:
        for question in year.questions:
            ask = partial(_asked, scope=question.scope, question=question.text, now=year.end_us)
            client.reader.held(ask) if not taken else None
            start = time.process_time()
            results = client.reader.held(ask)
            taken.append(time.process_time() - start)
            for name in _classes(question, year):
                found.setdefault(name, []).append(_recall(question, results))
    classes = {name: {"questions": len(its), "recall": sum(its) / len(its)} for name, its in sorted(found.items())}
    return {"classes": classes} | percentiles("warm", taken)


def restored(home: Home, year: Year) -> Told:
    """Bring back one text of each kind that a search leaves out; the home is no more that of the year."""

    def find(home: Home, scope: str, question: str) -> list[str]:
        with Client(home, scope=scope) as client:
            ask = partial(_asked, scope=scope, question=question, now=year.end_us)
            return [id for result in client.reader.held(ask) for id in (result.id, result.canonical)]

    return {"restored": year_restoring.restored(home, year, find)}


def _classes(question: Wanted, year: Year) -> Iterator[str]:
    """Yield the classes of a question: its age, and whether anybody has looked for some of its evidence before."""
    looked = any(id in year.recalled for turn in question.evidence for id in turn)
    yield question.age
    yield f"{question.age}, {'recalled' if looked else 'never recalled'}"


def _recall(question: Wanted, results: list[Result]) -> float:
    """Return the share of the evidence that was found; what was taken from a turn says what the turn says."""
    found = {id for result in results for id in (result.id, result.canonical)}
    wanted = [_saying(question.scope, turn) for turn in question.evidence]
    return sum(not found.isdisjoint(ids) for ids in wanted) / len(wanted)


def _saying(scope: str, turn: Iterable[str]) -> list[str]:
    """Return the ids of the parts of a turn, and those of all statements that can be taken from them."""
    return [id for part in turn for id in (part, *(statement_id(scope, part, n) for n in range(MOST_STATEMENTS)))]


def end_of(year: Year, day: int) -> int:
    """Return when a number of days have passed."""
    return year.start_us + (year.end_us - year.start_us) // len(year.ends) * day


def percentiles(name: str, taken: list[float]) -> Told:
    """Return the median of what was taken, in seconds, and what one of twenty exceeds."""
    return {f"{name}_p50_s": percentile(taken, 50), f"{name}_p95_s": percentile(taken, 95)}


STAGES: dict[str, Callable[..., Told]] = {
    stage.__name__: stage for stage in (project, replayed, checked, sizes, searched, epochs, questions, restored)
}


def main() -> None:
    """Serve stages: a line of JSON (stage, home, more) gives a line of JSON (exit code, figures).

    Each stage is a process of its own, forked from this one, which has imported what may be imported before a fork:
    Lance starts threads, and each process imports it by itself.
    """
    for line in sys.stdin.buffer:
        name, home, more = msgspec.json.decode(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os._exit(_run(writer, name, Home(Path(home)), more))
        os.close(writer)
        with open(reader, "rb") as pipe:
            told = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.buffer.write(msgspec.json.encode([code, told.decode()]) + b"\n")
        sys.stdout.buffer.flush()


def _run(writer: int, name: str, home: Home, more: Told) -> int:
    try:
        path = Path(more.pop("year"))
        year = msgspec.json.decode(path.read_bytes(), type=Year)
        with open(writer, "wb") as pipe:
            pipe.write(msgspec.json.encode(STAGES[name](home, year, **more)))
        return 0
    except BaseException:
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    main()
