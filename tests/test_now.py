"""Ranking's now: the hour of asking, that of the past where the past is asked, and nothing that another scope moves."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from builders import START
from msgspec.structs import replace

from memtape.schemas.codec import decode
from memtape.schemas.events import Recalled
from memtape.schemas.scopes import partition_of
from memtape.schemas.times import DAY_US, HOUR_US, format_time
from memtape.tools.ask.results import Answer
from memtape.tools.client import Client

MINE = "project:mine"


class Clock:
    """The machine's clock, which only the test moves."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = START + 400 * DAY_US
        patch.setattr(time, "time_ns", lambda: self.now * 1_000)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


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


def test_what_another_scope_of_the_partition_says_moves_nothing(tmp_path: Path, clock: Clock) -> None:
    with Client(tmp_path, scope=MINE, session="s") as mine:
        said = fill(mine)
        partitions = mine.log.partitions
        names = (f"project:n{n}" for n in range(1_000))
        neighbour = next(name for name in names if partition_of(name, partitions) == partition_of(MINE, partitions))
        position = f"{partition_of(MINE, partitions)}:{mine.log.ends()[partition_of(MINE, partitions)]}"
        clock.now += 79 * HOUR_US
        before = scores(mine.search("harbour gauge", quiet=True))
        context, edges = mine.context(), mine.edges(said[0])
        past = scores(mine.search("harbour gauge", as_of=position))
        with Client(tmp_path, scope=neighbour, log=mine.log) as other:
            other.capture("Something else entirely.", "turn")
            other.project()
        assert scores(mine.search("harbour gauge", quiet=True)) == before
        assert replace(mine.context(), watermark=context.watermark) == context and mine.edges(said[0]) == edges
        later = position.split(":")[0] + f":{mine.log.ends()[partition_of(MINE, partitions)]}"
        assert scores(mine.search("harbour gauge", as_of=later)) == past


def test_in_a_quiet_memory_what_was_fresh_and_hot_ceases_to_be(tmp_path: Path, clock: Clock) -> None:
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


def test_a_search_can_be_asked_again_as_of_its_time(tmp_path: Path, clock: Clock) -> None:
    with Client(tmp_path, scope=MINE, session="s") as mine:
        fill(mine)
        clock.now += 30 * HOUR_US
        first = mine.search("harbour gauge")
        (body,) = (
            event.body
            for number in range(mine.log.partitions)
            for slot in mine.log.read(number, 0, 100, types=("recalled",))
            if (event := decode(slot.payload)).id == first.recall_id
        )
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
