"""Embedding as it is lived: the worker, outages, texts that fail, and one embedder taking over from another."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from builders import START, captured, erased, make_id, recalled
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from soaked import soaked
from test_embedders import Server
from test_embedders import server as server  # A fixture.

from memtape.flows.embed.embedder import Embedding, FloorEmbedder, key_of
from memtape.flows.workers import embed as embed_worker
from memtape.flows.workers.embed import EmbedQueue
from memtape.schemas.codec import decode, encode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import MAX_ATTEMPTS, Embedded, Event, Media
from memtape.schemas.log import Log
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.configuring import complete_settings, configure, configured_on, settings_on
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.sinks.logs.memory import MemoryLog
from memtape.state.core.replay import Replay, replay
from memtape.state.core.scope import Scope
from memtape.state.vectors.choice import EmbedderPlan, plan
from memtape.state.vectors.recorded import quantised
from memtape.tools.commands.cli import main
from memtape.tools.keep.embedding import roll_back, set_next

KEY = key_of(FloorEmbedder())
A, B = "project:a", "project:b"


class MemoryMarks:
    """Marks that are kept nowhere."""

    def given_up(self, embedder: str, now_s: int) -> None: ...

    def tried_again(self, embedder: str, now_s: int) -> None: ...

    def __init__(self) -> None:
        self.kept: dict[str, list[int]] = {}

    def read(self, embedder: str) -> list[int] | None:
        return self.kept.get(embedder)

    def write(self, embedder: str, offsets: list[int]) -> None:
        self.kept[embedder] = offsets


class Failing(FloorEmbedder):
    """The floor, but for calls that find nobody there; it counts what it was given."""

    def __init__(self, *fails: int) -> None:
        self.fails = fails
        self.calls = 0
        self.texts: list[str] = []

    def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
        self.calls += 1
        if self.calls in self.fails:
            raise EmbedderUnavailable("Nobody answers.")
        self.texts += texts
        return super().embed_each(texts)


def work(worker: EmbedQueue, embedder: FloorEmbedder, texts: int = 7) -> None:
    """Do everything that there is to do."""
    while not worker.look() or worker.waiting:
        worker.embed(embedder, texts, START)


def recorded(log: Log) -> list[Event]:
    return [
        decode(slot.payload)
        for number in range(log.partitions)
        for slot in log.read(number, 0, 10_000, types=("embedded",))
    ]


def replayed_of(log: Log) -> Replay:
    return replay(slot for number in range(log.partitions) for slot in log.read(number, 0, 10_000))


def filled(log: Log, texts: int) -> Log:
    log.append([captured(f"fact {number} of many", scope=(A, B)[number % 2], sent=START) for number in range(texts)])
    return log


def test_every_text_gets_the_vector_of_its_embedder_and_a_replay_asks_nobody() -> None:
    log = filled(MemoryLog(), 30)
    work(EmbedQueue(log, KEY, MemoryMarks()), FloorEmbedder())
    events = recorded(log)
    assert len(events) == 30
    texts = {make_id(f"fact {number} of many"): f"fact {number} of many" for number in range(30)}
    for event in events:
        assert isinstance(event.body, Embedded)
        assert event.body.vector == quantised(FloorEmbedder().embed_query(texts[event.refs[0]]))
    replayed = replayed_of(log)
    found = [scope.embeddings.vectors[KEY] for p in replayed.partitions.values() for scope in p.scopes.values()]
    assert sum(map(len, found)) == 30


def test_of_two_workers_the_first_vector_counts() -> None:
    log = filled(MemoryLog(), 10)
    one, two = EmbedQueue(log, KEY, MemoryMarks()), EmbedQueue(log, KEY, MemoryMarks())
    one.look()
    two.look()
    while one.waiting or two.waiting:
        one.embed(FloorEmbedder(), 3, START)
        two.embed(FloorEmbedder(), 4, START + 1)
    replayed = replayed_of(log)
    counters = [partition.counters for partition in replayed.partitions.values()]
    assert sum(counter.embedded.get(KEY, 0) for counter in counters) == 10
    assert sum(counter.duplicates + counter.divergent for counter in counters) == len(recorded(log)) - 10 == 10


@given(st.lists(st.integers(1, 12), max_size=6), st.integers(1, 9), st.integers(1, 40))
def test_an_outage_loses_nothing(fails: list[int], batch: int, texts: int) -> None:
    log, marks = filled(MemoryLog(), texts), MemoryMarks()
    embedder = Failing(*fails)
    for _ in range(20):
        try:
            work(EmbedQueue(log, KEY, marks), embedder, batch)  # Each time as a process that was started anew.
        except EmbedderUnavailable:
            continue
        break
    assert sorted(event.refs[0] for event in recorded(log)) == sorted({event.refs[0] for event in recorded(log)})
    assert len(recorded(log)) == texts


def test_the_newest_texts_have_their_vectors_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed_worker, "WINDOW_TEXTS", 4)
    log, embedder = MemoryLog(1), Failing()
    for number in range(10):
        log.append([captured(f"fact {number}", f"fact {number}", scope=A, sent=START + number)])
    worker = EmbedQueue(log, KEY, MemoryMarks())
    worker.look()
    worker.embed(embedder, 2, START)
    log.append([captured("just said", "just said", scope=A, sent=START + 99)])
    work(worker, embedder, 2)
    assert embedder.texts[:4] == ["fact 9", "fact 8", "just said", "fact 7"]
    assert sorted(embedder.texts) == sorted(["just said", *(f"fact {number}" for number in range(10))])


def test_a_text_that_cannot_be_embedded_fails_after_its_attempts_and_blocks_nothing() -> None:
    log = filled(MemoryLog(), 5)
    picture = Media(caption=None, kind="image", uri="file:///a.png")
    log.append([captured(" ", "blank", media=(picture,), scope=A, sent=START)])
    filled(log, 9)
    work(EmbedQueue(log, KEY, MemoryMarks()), FloorEmbedder())
    events = [event for event in recorded(log) if event.refs[0] == make_id("blank")]
    assert [event.body.attempt for event in events] == list(range(1, MAX_ATTEMPTS + 1))  # type: ignore[union-attr]
    assert {event.body.reason for event in events} == {"the text is blank"}  # type: ignore[union-attr]
    replayed = replayed_of(log)
    assert sum(p.counters.failed.get(KEY, 0) for p in replayed.partitions.values()) == 1
    work(EmbedQueue(log, KEY, MemoryMarks()), again := Failing())
    assert again.texts == []


def test_what_was_erased_is_given_to_no_embedder() -> None:
    log = filled(MemoryLog(), 4)
    worker = EmbedQueue(log, KEY, MemoryMarks())
    worker.look()
    log.append([erased(["fact 0 of many"], "gone", scope=A, origin="operator", sent=START)])
    embedder = Failing()
    work(worker, embedder)
    assert sorted(embedder.texts) == [f"fact {number} of many" for number in (1, 2, 3)]


def states(log: Log) -> list[Scope]:
    """Return every scope that a log means."""
    replayed = replayed_of(log)
    return [scope for partition in replayed.partitions.values() for scope in partition.scopes.values()]


@given(st.lists(st.sampled_from(range(9)), min_size=1, max_size=12), st.integers(1, 5), st.booleans())
def test_the_texts_that_are_embedded_are_those_that_the_state_has(order: list[int], batch: int, between: bool) -> None:
    """Repetitions, captures to `global` by others than operators, events of another partition, what is erased."""
    log, embedder, marks = MemoryLog(2), Failing(), MemoryMarks()
    derived = msgspec.structs.replace(captured("derived", scope=A, sent=START), refs=(make_id("one"),))
    events = [
        captured("one", scope=A, sent=START),
        captured("repeated", "one", scope=A, sent=START),
        captured("elsewhere", "one", scope=B, sent=START),
        captured("not yours", scope="global", origin="agent", sent=START),
        captured("ours", scope="global", origin="operator", sent=START),
        recalled([], "taken", scope=A, sent=START),
        captured("under a taken id", "taken", scope=A, sent=START),
        derived,
        erased(["one"], "gone", scope=A, origin="operator", sent=START),
    ]
    for place in order:
        log.append_raw(partition_of(events[place].scope or "", 2), [encode(events[place])])
        if between:
            work(EmbedQueue(log, KEY, marks), embedder, batch)
    astray = captured("astray", scope=A, sent=START)
    log.append_raw(1 - partition_of(A, 2), [encode(astray)])
    work(EmbedQueue(log, KEY, marks), embedder, batch)
    had = {scope.captures.body(its).text for scope in states(log) for its in scope.captures.by_seq.values()}
    if between:  # What was erased later had its vector by then.
        assert had <= {*embedder.texts} <= had | {"one", "repeated", "derived"}
    else:
        assert sorted(embedder.texts) == sorted(had)
    assert all(
        scope.embeddings.vectors[KEY].keys() == scope.captures.by_seq.keys()
        for scope in states(log)
        if scope.captures.by_seq
    )


# --- Settings on a log ---


def test_a_change_comes_to_stand_in_every_partition(tmp_path: Path) -> None:
    log = EmbeddedLog(tmp_path / "log.db", 4)
    assert configure(log, lambda now: now).embedder == FLOOR
    assert len(configured_on(log)) == 1
    set_next(log, "m@1/3")
    assert [configured_on(log, number)[-1].settings.embedder_next for number in range(4)] == ["m@1/3"] * 4
    # A writer that died in between has told partition 0 alone.
    slot = log.read(0, log.ends()[0] - 1, 1)[0]
    log.append_raw(0, [slot.payload.replace(b'"revision":1', b'"revision":2').replace(b"m@1", b"n@1")])
    complete_settings(log)
    assert [configured_on(log, number)[-1].settings.embedder_next for number in range(4)] == ["n@1/3"] * 4
    assert roll_back(log).embedder_next is None
    assert set_next(log, DENSE, 70).fold_cosine() == 85
    changed = configure(log, lambda now: msgspec.structs.replace(now, embedder=DENSE, embedder_next=None))
    assert changed.fold_cosine() == 70
    assert set_next(log, DENSE, 75).fold_cosine() == 75
    assert roll_back(log).fold_cosine() == 85
    with pytest.raises(MemtapeError, match="no other embedder"):
        roll_back(EmbeddedLog(tmp_path / "another.db", 4))


DENSE, OTHER = "m@1/3", "n@1/3"


@pytest.mark.parametrize(
    ("settings", "own", "planned"),
    [
        ({}, FLOOR, EmbedderPlan(None)),
        ({}, DENSE, EmbedderPlan(DENSE, then=True, begin=True)),
        ({"embedder_next": DENSE}, DENSE, EmbedderPlan(DENSE, then=True)),
        ({"embedder": DENSE}, DENSE, EmbedderPlan(DENSE)),
        ({"embedder": DENSE, "embedder_next": OTHER}, DENSE, EmbedderPlan(DENSE, drift="next")),
        ({"embedder": DENSE}, FLOOR, EmbedderPlan(None)),
    ],
)
def test_what_a_machine_does_follows_from_its_embedder_and_the_log(
    settings: dict[str, str], own: str, planned: EmbedderPlan
) -> None:
    now = Settings(**settings)  # type: ignore[arg-type]
    assert plan(now, [now], own) == planned


# --- A home, an endpoint, and the commands ---


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> Iterator[Home]:
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMTAPE_EMBEDDER", "auto")
    monkeypatch.setenv("MEMTAPE_EMBED_URL", server.url)
    monkeypatch.setenv("MEMTAPE_EMBED_MODEL", "tiny-embed")
    yield Home(tmp_path / "home")


def call(*words: str, code: int = 0) -> dict[str, object]:
    outcome = CliRunner().invoke(main, [*words, "--json"])
    assert outcome.exit_code == code, outcome.output
    document: dict[str, object] = json.loads(outcome.stdout)
    return document


def said(*texts: str) -> None:
    for text in texts:
        call("capture", text, "--scope", A)


def test_an_endpoint_that_is_gone_leaves_texts_found_by_words_and_is_caught_up(
    home: Home,
    server: Server,
) -> None:
    said("Anna works at Google.")
    call("run", "--once")
    server.always = lambda texts, handler: (503, {"error": "away"})
    said("The tide tables are in the attic.")
    outcome = CliRunner().invoke(main, ["run", "--once"])
    assert outcome.exit_code == 0
    assert "found by words" in outcome.stderr
    state = call("admin", "embedder", "status")
    assert (state["degraded"], state["waiting"]) == (True, 1)
    assert "DEGRADED" in CliRunner().invoke(main, ["status"]).output
    (found, *_) = call("search", "tide tables", "--scope", A)["results"]  # type: ignore[misc]
    assert found["text"] == "The tide tables are in the attic."
    server.always = None
    assert call("run", "--once")["embedded"] == 1
    assert call("admin", "embedder", "status")["waiting"] == 0


def test_a_text_is_found_by_its_recorded_vector(home: Home, server: Server) -> None:
    said("Anna works at Google.", "The tide tables are in the attic.")
    call("run", "--once")
    question = "Zebras have stripes ok"  # No word of it is anywhere; its vector is as the server makes them.
    found = call("search", question, "--scope", A)
    assert {result["canonical"] for result in found["results"]}  # type: ignore[index]
    assert all("dense" in result["lanes"] for result in found["results"])  # type: ignore[attr-defined]
    assert call("search", question, "--scope", A, "--without", "dense")["results"] == []
    assert call("admin", "compare", "--scope", A, "--retriever", "dense")["recalls"]
    server.always = lambda texts, handler: (503, {"error": "away"})
    outcome = CliRunner().invoke(main, ["search", "tide tables", "--scope", A])
    assert outcome.exit_code == 0
    assert "by words alone" in outcome.stderr
    assert "attic" in outcome.stdout


def test_erasing_takes_the_vector_too(home: Home) -> None:
    said("The door code is violet-marmalade.", "Anna works at Google.")
    call("run", "--once")
    (gone, *_) = call("search", "door code", "--scope", A)["results"]  # type: ignore[misc]
    proof = call("erase", gone["id"], "--scope", A, "--yes")
    assert proof["after"]["looked_for"]["vectors"] == 1  # type: ignore[index]
    found = [found for place in proof["before"]["files"] for found in place["found"]]  # type: ignore[index]
    assert "vector" in {finding["kind"] for finding in found}
    assert not [place for place in proof["after"]["files"] if place["found"]]  # type: ignore[index]
    assert call("admin", "embedder", "status")["embedded"] == 1
    assert call("verify")["ok"]


def silent_after(server: Server, count: int) -> tuple[threading.Event, threading.Event]:
    """Let a server answer so often; return what it then sets, and what ends those that it lets wait."""
    last, is_due, is_over = len(server.asked) + count, threading.Event(), threading.Event()

    def answer(texts: list[str], _: object) -> tuple[int, object] | None:
        if len(server.asked) <= last:
            return 200, server.good(texts)
        is_due.set()
        is_over.wait()
        return None

    server.always = answer
    return is_due, is_over


@pytest.mark.slow
@pytest.mark.parametrize(("texts", "answers"), soaked(((300, (2,)), (1_500, (1, 2, 3, 4, 5))), (300, (2,))))
def test_a_change_that_is_killed_goes_on_to_the_same_state(
    home: Home, server: Server, texts: int, answers: tuple[int, ...]
) -> None:
    """Killed after so many answers; in the end every text has one vector, and a replay says the same."""
    log = EmbeddedLog(home.log_path)
    log.append([captured(f"fact {number} of many", scope=A, origin="user") for number in range(texts)])
    log.close()
    call("admin", "embedder", "set", "http")
    for count in answers:
        is_due, is_over = silent_after(server, count)
        process = subprocess.Popen([sys.executable, "-m", "memtape", "run"], env=os.environ, stderr=subprocess.DEVNULL)
        assert is_due.wait(300) and process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        is_over.set()
    server.always = None
    call("run", "--once")
    state = call("admin", "embedder", "status")
    assert (state["embedded"], state["waiting"], state["next"]) == (texts, 0, None)
    assert call("verify")["ok"]
    assert len({event.refs[0] for event in recorded(EmbeddedLog(home.log_path))}) == texts
    assert settings_on(EmbeddedLog(home.log_path)).embedder == "tiny-embed@tiny-embed/8"
