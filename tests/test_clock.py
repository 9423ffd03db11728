"""The clock: any run that ends does the pass that is due, and ranking's now is the hour of asking."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured
from commanding import call, document
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from msgspec.structs import replace

from memtape.flows.workers.clock import EMPTY_WAIT_US, Clock
from memtape.flows.workers.worker import NOTES_KEPT
from memtape.schemas.codec import decode
from memtape.schemas.events import Recalled, Ticked
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US, format_time
from memtape.sinks.logs.embedded import MemoryLog
from memtape.state.core.partition import Partition, fold
from memtape.tools.client import Client
from memtape.tools.query.results import Answer

SCOPE = "project:harbour"
TEXTS = ("The lamp is green.", "Lunch is at noon.", "Tea stands in the drawer.", "The gate closes late.")


def hours_of(log: MemoryLog) -> list[tuple[int, int]]:
    """Return the partition and the hour of each tick of a log, in order."""
    bodies = [event.body for event in events_of(log)]
    return [(body.partition, body.hour) for body in bodies if isinstance(body, Ticked)]


def clocks_of(log: MemoryLog) -> list[int | None]:
    """Return the clock of each partition, as the views know it."""
    states = [Partition(number) for number in range(log.partitions)]
    for state in states:
        fold(state, log.read(state.number, 0, 10_000))
    return [state.clock if state.scopes else None for state in states]


@given(
    st.lists(
        st.tuples(st.sampled_from(["say", "run", "serve"]), st.integers(0, 3), st.sampled_from([0, 1, 800])),
        max_size=12,
    )
)
def test_every_partition_with_a_scope_has_each_hour_of_a_run_once(steps: list[tuple[str, int, int]]) -> None:
    log, said = MemoryLog(4), set[int]()
    start = decode(log.read(0, 0, 1)[0].payload).sent
    time_of = [start]
    clocks = partial(clocks_of, log)
    make = partial(Clock, log, lambda note: None, clocks, lambda: 400, lambda: time_of[-1])
    served = make()
    for place, (kind, scope, hours) in enumerate(steps):
        now = time_of[-1] + hours * HOUR_US
        time_of.append(now)
        if kind == "say":
            log.append([captured(f"{place}", scope=f"project:{scope}", sent=now)])
            said.add(partition_of(f"project:{scope}", 4))
            continue
        (served if kind == "serve" else make()).catch_up()
        ticks = hours_of(log)
        assert len(dict.fromkeys(ticks)) == len(ticks), "no tick stands twice"
        here = {partition for partition, hour in ticks if hour == now // HOUR_US}
        assert said <= here
        assert here <= said or now - start >= EMPTY_WAIT_US
        make().catch_up()
        assert hours_of(log) == ticks, "a second run in the same hour adds nothing"


class Machine:
    """The command line on a machine whose time the test sets."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.home = home
        self.now = START + 10 * HOUR_US
        patch.setattr(time, "time_ns", lambda: self.now * 1_000)
        patch.setenv("MEMTAPE_HOME", str(home))

    def told(self, *words: str) -> Any:
        """Return what a command prints as JSON."""
        return document(*words, scope=SCOPE)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which four facts were said."""
    machine = Machine(tmp_path, monkeypatch)
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user") as client:
        for text in TEXTS:
            client.capture(text, "fact")
    call("run", "--once")
    return machine


def test_a_run_does_the_pass_that_a_dry_run_tells(machine: Machine) -> None:
    places = []
    for days in (30, 70, 280, 40):  # In all of which nothing is said.
        machine.now += days * DAY_US
        pass_ = machine.told("admin", "lifecycle", "--dry-run")["pass"]
        call("run", "--once")
        told = machine.told("admin", "lifecycle")
        assert told["standing"][pass_["moves"][0]["to"]] == pass_["moving"] == len(TEXTS)
        assert machine.told("admin", "lifecycle", "--dry-run")["pass"]["moving"] == 0
        ends, life = _ends(machine), document("status")["lives"][SCOPE]
        call("run", "--once")
        assert _ends(machine) == ends, "a second run in the same hour adds nothing"
        archive, purged = machine.told("archive", "--list"), machine.told("archive", "--list", "--purged")
        assert len(archive["archived"]) == told["standing"]["archived"]
        assert len(archive["archived"]) + len(purged["archived"]) == life.get("archived", 0)
        assert all(life.get(tier, 0) == told["standing"][tier] for tier in ("mid", "long"))
        places.append(pass_["moves"][0]["to"])
    assert places == ["mid", "long", "archived", "purged"]


@pytest.mark.parametrize(("days", "speaks_first"), [(399, True), (401, False), (3_600, True)])
def test_a_home_left_for_years_does_what_is_due(days: int, speaks_first: bool, machine: Machine) -> None:
    """After some days, also where a capture comes first, whose own hour the partition ignores."""
    machine.now += days * DAY_US
    due = machine.told("admin", "lifecycle", "--dry-run")["pass"]
    if speaks_first:
        machine.told("capture", "The bell is cracked.")
    call("run", "--once")
    told = machine.told("admin", "lifecycle")
    assert told["ticked_at"] == machine.now // HOUR_US * HOUR_US
    assert told["standing"]["mid"] == due["moving"] == len(TEXTS)
    ends = _ends(machine)
    call("run", "--once")
    assert _ends(machine) == ends, "a second run in the same hour adds nothing"
    machine.now += HOUR_US
    call("run", "--once")
    assert machine.told("admin", "lifecycle")["ticked_at"] == machine.now // HOUR_US * HOUR_US
    with Client(machine.home, scope=SCOPE) as client:
        assert client.verify().ok


def _ends(machine: Machine) -> list[int]:
    with Client(machine.home, scope=SCOPE) as client:
        return client.log.ends()


def test_a_worker_holds_a_bounded_number_of_its_notes() -> None:
    told: list[str] = []
    clock = Clock(MemoryLog(1), told.append, list, int, int)
    for number in range(3 * NOTES_KEPT):
        clock.note(f"note {number}")
        clock.note(f"note {number}")
    assert len(told) == 3 * NOTES_KEPT
    assert len(clock.noted) == NOTES_KEPT


MINE = "project:mine"


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def scores(answer: Answer) -> list[tuple[str, float, object]]:
    return [(result.text, result.score, result.why) for result in answer.results]


def fill(client: Client) -> list[str]:
    """Say the same twice, long ago and just now, and use both."""
    then = time.time_ns() // 1_000 - 40 * DAY_US
    said = [
        client.capture("The harbour gauge is broken.", "turn", session="old", at=then).id,
        client.capture("The harbour gauge is broken again.", "turn", session="new").id,
        client.capture("Ada mends the harbour gauge.", "fact").id,
    ]
    client.project()
    client.use(said[:2])
    client.project()
    return said


def test_what_another_scope_of_the_partition_says_moves_nothing(tmp_path: Path, clock: Machine) -> None:
    with Client(tmp_path, scope=MINE, session="s") as mine:
        said = fill(mine)
        partitions = mine.log.partitions
        number, names = partition_of(MINE, partitions), (f"project:n{n}" for n in range(1_000))
        neighbour = next(name for name in names if partition_of(name, partitions) == number)
        position = f"{number}/{mine.log.ends()[number]}"
        clock.now += 79 * HOUR_US
        before = scores(mine.search("harbour gauge", quiet=True))
        context, edges = mine.context(), mine.edges(said[0])
        past = scores(mine.search("harbour gauge", as_of=position))
        with Client(tmp_path, scope=neighbour, log=mine.log) as other:
            other.capture("Something else entirely.", "turn")
            other.project()
        assert scores(mine.search("harbour gauge", quiet=True)) == before
        assert replace(mine.context(), watermark=context.watermark) == context
        assert mine.edges(said[0]) == edges
        later = f"{number}/{mine.log.ends()[number]}"
        assert scores(mine.search("harbour gauge", as_of=later)) == past


def test_in_a_quiet_memory_what_was_fresh_and_hot_ceases_to_be(tmp_path: Path, clock: Machine) -> None:
    with Client(tmp_path, scope=MINE, session="s") as mine:
        ids = fill(mine)

        def asked() -> dict[str, dict[str, float]]:
            found = mine.search("harbour gauge", quiet=True).results
            return {result.id: dict(result.why.lanes) for result in found if result.why}  # type: ignore[arg-type]

        fresh = []
        for _ in range(5):
            fresh.append(asked()[ids[1]].get("fresh", 0))
            clock.now += 20 * HOUR_US
        assert fresh[0] == 1 and fresh[-1] == 0 and fresh == sorted(fresh, reverse=True)
        assert asked()[ids[1]]["hot"] == 1
        weight = mine.edges(ids[0]).edges[0].weight
        clock.now += 16 * DAY_US
        assert "hot" not in asked()[ids[1]]
        assert [edge.weight < weight for edge in mine.edges(ids[0]).edges] in ([], [True])


def test_a_search_can_be_asked_again_as_of_its_time(tmp_path: Path, clock: Machine) -> None:
    with Client(tmp_path, scope=MINE, session="s") as mine:
        fill(mine)
        clock.now += 30 * HOUR_US
        first = mine.search("harbour gauge")
        (body,) = (event.body for event in events_of(mine.log) if event.id == first.recall_id)
        assert isinstance(body, Recalled) and body.now == clock.now - clock.now % HOUR_US
        then = format_time(clock.now)
        clock.now += 50 * HOUR_US
        mine.capture("The harbour gauge is mended.", "turn")
        assert scores(mine.search("harbour gauge", quiet=True)) != scores(first)
        assert scores(mine.search("harbour gauge", as_of=then)) == scores(first)
        told = mine.compare(["memtape"])["retrievers"]["memtape"]
        clock.now += 50 * DAY_US
        again = mine.compare(["memtape"])["retrievers"]["memtape"]
        assert {**told, "latency_ms": 0} == {**again, "latency_ms": 0}
