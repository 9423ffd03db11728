"""Embedding as it is lived: the worker, outages, texts that fail, a take-over and back, and exact vectors."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from builders import START, captured, erased, make_id, recalled
from click.testing import CliRunner
from commanding import call as command
from commanding import document as call
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from numpy.typing import NDArray
from replaying import replay
from soaked import soaked
from test_embedders import Server, cut_off, fails_on, rubbish
from test_embedders import server as server  # A fixture.

from memtape.flows.embed.embedder import Embedding, FloorEmbedder
from memtape.flows.embed.target import MODEL_VARIABLE, URL_VARIABLE
from memtape.flows.workers import embed
from memtape.flows.workers.embed import EmbedQueue
from memtape.schemas.codec import encode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import EmbedderUnavailable, MemtapeError
from memtape.schemas.events import MAX_ATTEMPTS, MAX_DIMENSIONS, Embedded, Event, Media
from memtape.schemas.log import Log, configured_on, settings_on
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US
from memtape.sinks.home.folders import Home
from memtape.sinks.home.settings import local_settings
from memtape.sinks.logs.configuring import complete_settings, configure
from memtape.sinks.logs.embedded import EmbeddedLog, MemoryLog
from memtape.state.core.partition import Partition
from memtape.state.vectors.choice import EmbedderPlan, plan
from memtape.state.vectors.recorded import quantised
from memtape.tools.doors.cli import main
from memtape.tools.keep import embedding as keeping
from memtape.tools.keep.embedding import roll_back, set_next

KEY = FloorEmbedder().key
A, B = "project:a", "project:b"


class MemoryMarks:
    """Marks that are kept nowhere."""

    def __init__(self) -> None:
        self._kept: dict[str, list[int]] = {}
        self.read, self.write = self._kept.get, self._kept.__setitem__


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
    worker.look()
    while worker.waiting:
        worker.embed(embedder, texts, START)
        worker.look()


def recorded(log: Log) -> list[Event]:
    return [event for event in events_of(log) if event.type == "embedded"]


def replayed_of(log: Log) -> list[Partition]:
    slots = (slot for number in range(log.partitions) for slot in log.read(number, 0, 10_000))
    return list(replay(slots).partitions.values())


def filled(log: Log, texts: int) -> Log:
    for number in range(texts):
        log.append([captured(f"fact {number} of many", scope=(A, B)[number % 2], sent=START)])
    return log


def test_of_two_workers_the_first_vector_counts() -> None:
    log = filled(MemoryLog(), 10)
    one, two = EmbedQueue(log, KEY, MemoryMarks()), EmbedQueue(log, KEY, MemoryMarks())

    class Meanwhile(FloorEmbedder):
        def embed_each(self, texts: Sequence[str]) -> Iterator[Embedding]:
            one.embed(FloorEmbedder(), 4, START)
            return super().embed_each(texts)

    one.look()
    two.look()
    while two.waiting:
        two.embed(Meanwhile(), 4, START + 1)
    counters = [partition.counters for partition in replayed_of(log)]
    assert sum(counter.embedded.get(KEY, 0) for counter in counters) == 10
    again = sum(counter.duplicates + counter.divergent for counter in counters)
    assert again == len(recorded(log)) - 10 == 10


@given(st.lists(st.integers(1, 12), max_size=6), st.integers(1, 9), st.integers(1, 40))
def test_an_outage_loses_nothing(fails: list[int], batch: int, texts: int) -> None:
    log, marks = filled(MemoryLog(), texts), MemoryMarks()
    embedder = Failing(*fails)
    for _ in range(20):
        try:
            work(EmbedQueue(log, KEY, marks), embedder, batch)  # Each time as a new process.
        except EmbedderUnavailable:
            continue
        break
    made = ((it.refs[0], it.body) for it in recorded(log))
    vectors = {ref: body.vector for ref, body in made if isinstance(body, Embedded)}
    given = (f"fact {number} of many" for number in range(texts))
    assert vectors == {make_id(it): quantised(FloorEmbedder().embed_query(it)) for it in given}
    assert len(recorded(log)) == texts


def test_the_newest_texts_have_their_vectors_first() -> None:
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


def test_of_many_waiting_texts_none_has_its_vector_made_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is read on only while few texts wait; vectors of the others may be behind that place."""
    monkeypatch.setattr(embed, "MOST_WAITING", 4)
    monkeypatch.setattr(embed, "PAGE_SLOTS", 2)
    log, marks, embedder = filled(MemoryLog(1), 30), MemoryMarks(), Failing(*range(3, 40, 3))
    picture = Media(caption=None, kind="image", uri="file:///a.png")
    log.append([captured(" ", "blank", media=(picture,), scope=A, sent=START)])
    for _ in range(40):
        try:
            work(EmbedQueue(log, KEY, marks), embedder, 3)  # Each time as a new process.
        except EmbedderUnavailable:
            continue
        break
    again = EmbedQueue(log, KEY, MemoryMarks())
    again.try_again()
    work(again, later := Failing(), 3)
    assert sorted(embedder.texts) == sorted([*(f"fact {number} of many" for number in range(30)), *" " * 3])
    assert later.texts == [" "] and len(recorded(log)) == 30 + MAX_ATTEMPTS


def test_many_waiting_texts_of_a_partition_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "MOST_WAITING", 8)
    monkeypatch.setattr(embed, "PAGE_SLOTS", 2)
    log, embedder = MemoryLog(2), Failing()
    for number in range(30):
        log.append([captured(f"fact {number}", scope=A, sent=START + number)])
    worker = EmbedQueue(log, KEY, MemoryMarks())
    worker.look()
    own, others = partition_of(A, 2), (B, "project:c", "project:d")
    other = next(scope for scope in others if partition_of(scope, 2) != own)
    log.append([captured("just said", scope=other, sent=START + 99)])
    worker.look()
    worker.embed(embedder, 1, START)
    assert embedder.texts == ["just said"]


def test_a_text_that_cannot_be_embedded_fails_after_its_attempts_and_blocks_nothing() -> None:
    log = filled(MemoryLog(), 5)
    picture = Media(caption=None, kind="image", uri="file:///a.png")
    log.append([captured(" ", "blank", media=(picture,), scope=A, sent=START)])
    filled(log, 9)
    work(EmbedQueue(log, KEY, MemoryMarks()), FloorEmbedder())
    bodies = [event.body for event in recorded(log) if event.refs[0] == make_id("blank")]
    told = [(body.attempt, body.reason) for body in bodies if isinstance(body, Embedded)]
    assert told == [(attempt, "the text is blank") for attempt in range(1, MAX_ATTEMPTS + 1)]
    assert sum(partition.counters.failed.get(KEY, 0) for partition in replayed_of(log)) == 1
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


@given(st.lists(st.sampled_from(range(9)), min_size=1, max_size=12), st.integers(1, 5), st.booleans())
def test_what_is_embedded_are_the_texts_of_the_state(order: list[int], batch: int, between: bool) -> None:
    """Repetitions, captures to `global` by others than operators, what stands astray, what is erased."""
    log, embedder, marks = MemoryLog(2), Failing(), MemoryMarks()
    derived = msgspec.structs.replace(captured("derived", scope=A, sent=START), refs=(make_id("one"),))
    events = [captured("one", scope=A, sent=START), captured("repeated", "one", scope=A, sent=START),
              captured("elsewhere", "one", scope=B, sent=START),
              captured("not yours", scope="global", origin="agent", sent=START),
              captured("ours", scope="global", origin="operator", sent=START),
              recalled([], "taken", scope=A, sent=START),
              captured("under a taken id", "taken", scope=A, sent=START), derived,
              erased(["one"], "gone", scope=A, origin="operator", sent=START)]  # fmt: skip
    for place in order:
        log.append_raw(partition_of(events[place].scope or "", 2), [encode(events[place])])
        if between:
            work(EmbedQueue(log, KEY, marks), embedder, batch)
    astray = captured("astray", scope=A, sent=START)
    log.append_raw(1 - partition_of(A, 2), [encode(astray)])
    work(EmbedQueue(log, KEY, marks), embedder, batch)
    states = [scope for partition in replayed_of(log) for scope in partition.scopes.values()]
    had = {scope.captures.body(its).text for scope in states for its in scope.captures.by_seq.values()}
    if between:  # What was erased later had its vector by then.
        assert had <= {*embedder.texts} <= had | {"one", "repeated", "derived"}
    else:
        assert sorted(embedder.texts) == sorted(had)
    for scope in states:
        assert scope.embeddings.vectors.get(KEY, {}).keys() == scope.captures.by_seq.keys()


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
    with pytest.raises(MemtapeError, match="no embedder but"):
        roll_back(EmbeddedLog(tmp_path / "another.db", 4))


DENSE = "m@1/3"


def test_what_a_machine_does_follows_from_its_embedder_and_the_log() -> None:
    for settings, own, planned in (
        (Settings(), FLOOR, EmbedderPlan(None)),
        (Settings(), DENSE, EmbedderPlan(DENSE, then=True, begin=True)),
        (Settings(embedder_next=DENSE), DENSE, EmbedderPlan(DENSE, then=True)),
        (Settings(embedder=DENSE), DENSE, EmbedderPlan(DENSE)),
        (Settings(embedder=DENSE, embedder_next="n@1/3"), DENSE, EmbedderPlan(DENSE, drift="next")),
        (Settings(embedder=DENSE), FLOOR, EmbedderPlan(None)),
    ):
        assert plan(settings, [settings], own) == planned


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server) -> Home:
    variables = {"HOME": str(tmp_path / "home"), "EMBEDDER": "auto"}
    variables |= {"EMBED_URL": server.url, "EMBED_MODEL": "tiny-embed"}
    for name, value in variables.items():
        monkeypatch.setenv(f"MEMTAPE_{name}", value)
    return Home(tmp_path / "home")


def said(*texts: str) -> None:
    for text in texts:
        call("capture", text, "--scope", A)


@pytest.mark.usefixtures("home")
def test_an_endpoint_that_is_gone_leaves_texts_found_by_words_and_is_caught_up(server: Server) -> None:
    said("Anna works at Google.")
    call("run", "--once")
    server.always = lambda texts, handler: (503, {"error": "away"})
    said("The tide tables are in the attic.")
    assert "found by words" in command("run", "--once").stderr
    state = call("admin", "embedder", "status")
    assert (state["degraded"], state["waiting"]) == (True, 1)
    assert "DEGRADED" in command("status").output
    (found, *_) = call("search", "tide tables", "--scope", A)["results"]
    assert found["text"] == "The tide tables are in the attic."
    server.always = None
    assert call("run", "--once")["embedded"] == 1
    assert call("admin", "embedder", "status")["waiting"] == 0


def test_a_text_is_found_by_its_recorded_vector(home: Home, server: Server) -> None:
    said("Anna works at Google.", "The tide tables are in the attic.")
    call("run", "--once")
    question = "Zebras have stripes ok"  # No word of it is anywhere; its vector is as the server makes them.
    found = call("search", question, "--scope", A)
    assert {result["canonical"] for result in found["results"]}
    assert all("dense" in result["lanes"] for result in found["results"])
    assert call("search", question, "--scope", A, "--without", "dense")["results"] == []
    assert call("admin", "compare", "--scope", A, "--retriever", "dense")["recalls"]
    server.always = lambda texts, handler: (503, {"error": "away"})
    outcome = command("search", "tide tables", scope=A)
    assert "by words alone" in outcome.stderr and "attic" in outcome.stdout


def test_erasing_takes_the_vector_too(home: Home) -> None:
    said("The door code is violet-marmalade.", "Anna works at Google.")
    call("run", "--once")
    (gone, *_) = call("search", "door code", "--scope", A)["results"]
    proof = call("erase", gone["id"], "--scope", A, "--yes")
    assert proof["after"]["looked_for"]["vectors"] == 1
    found = [found for place in proof["before"]["files"] for found in place["found"]]
    assert "vector" in {finding["kind"] for finding in found}
    assert not [place for place in proof["after"]["files"] if place["found"]]
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
        process = subprocess.Popen([sys.executable, "-m", "memtape", "run"], stderr=subprocess.DEVNULL)
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


TINY = "tiny-embed@tiny-embed/8"


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits of retries go onto this list."""
    waits: list[float] = []
    monkeypatch.setattr("memtape.flows.endpoint.sleep", waits.append)
    return waits


class Running:
    """The embedding of a `memtape run` that goes on for the length of a test, a step at a time."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.log = EmbeddedLog(home.log_path)
        self.notes: list[str] = []
        self.embedding = keeping.Embedding(home, self.log, self.notes.append)

    def step(self) -> int:
        """Do what is to be done now and return how many texts were tried; what is said goes to the notes."""
        before = self.embedding.done
        try:
            self.embedding.catch_up()
        except MemtapeError as error:
            self.notes.append(f"{error} {error.hint}")
        return self.embedding.done - before

    @property
    def settings(self) -> tuple[str, str | None]:
        now = settings_on(self.log)
        return now.embedder, now.embedder_next


@pytest.fixture
def running(home: Home) -> Running:
    said("Anna works at Google.", "The build takes 5 minutes.")
    return Running(home)


def outcomes(log: EmbeddedLog) -> list[str | None]:
    """Return the reasons of what was recorded, None for a vector."""
    return [event.body.reason for event in recorded(log) if isinstance(event.body, Embedded)]


def fill(log: EmbeddedLog, texts: int) -> None:
    names = (f"{chr(97 + number % 26)} {number}" for number in range(texts))
    log.append([captured(name, scope=A, origin="user") for name in names])


def test_rubbish_for_everything_is_an_outage_and_is_caught_up(running: Running, server: Server) -> None:
    fill(running.log, 200)
    server.scripts = [lambda texts, _: (200, server.good(texts))]  # It begins well.
    server.always = rubbish(server, [float("nan")] * 8)
    for _ in range(4):
        assert running.step() == 0
    assert outcomes(running.log) == [] and running.settings == (FLOOR, TINY)
    assert all("no vector of its answer" in note for note in running.notes[1:])
    server.always = None
    assert running.step() == 202
    assert outcomes(running.log) == [None] * 202 and running.settings == (TINY, None)


def test_what_was_embedded_before_a_refusal_is_kept(running: Running, server: Server) -> None:
    """An endpoint that takes one request a minute must come to an end some time."""
    fill(running.log, 500)

    def every_other(texts: list[str], _: object) -> Any:
        return (200, server.good(texts)) if texts == ["hello"] or len(server.asked) % 4 == 1 else (429, b"")

    server.always = every_other
    for _ in range(40):
        running.step()
    assert outcomes(running.log) == [None] * 502
    answered = sum(len(texts) for number, texts in enumerate(server.asked, 1) if number % 4 == 1)
    assert answered <= 502 + 40, "nothing was paid for twice"


def test_a_text_that_brings_the_endpoint_down_blocks_no_other(running: Running, server: Server) -> None:
    fill(running.log, 300)
    down_for = 0

    def crash(texts: list[str], handler: Any) -> Any:
        nonlocal down_for
        down_for = 4 if "b 1" in texts else down_for - 1
        return cut_off(texts, handler) if down_for > 0 else (200, server.good(texts))

    server.always = crash
    for _ in range(12):
        running.step()
    assert outcomes(running.log).count(None) >= 301, "all but one"
    server.always = None
    running.step()
    assert running.settings == (TINY, None)


@pytest.mark.parametrize("wrong", ["no endpoint", "another model", "no key"])
def test_run_once_exits_1_where_a_person_has_to_decide(
    running: Running, server: Server, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    running.step()
    said("One more.")
    server.always = lambda *_: (503, b"")
    command("run", "--once")  # An outage passes.
    server.always = (lambda *_: (401, b"")) if wrong == "no key" else None
    if wrong == "no endpoint":
        monkeypatch.delenv(URL_VARIABLE)
        monkeypatch.setenv("MEMTAPE_EMBEDDER", "http")
    elif wrong == "another model":
        monkeypatch.setenv(MODEL_VARIABLE, "another-model")
    assert "set" in command("run", "--once", code=1).stderr.lower()
    command("run", "--once", "--no-embed")


@pytest.mark.parametrize("how", ["a day later", "nobody knows of the last time"])
def test_what_was_refused_is_tried_again(running: Running, server: Server, home: Home, how: str) -> None:
    running.step()
    said("The tide tables are in the attic.")
    server.always = fails_on("The tide tables are in the attic.", (422, {"error": "too long"}), server)
    call("run", "--once")

    def come_round() -> None:
        if how == "a day later":
            then = time.time_ns() // 1_000 - DAY_US
            home.daily_path.write_bytes(msgspec.json.encode((running.log.log_id, {TINY: then})))
        else:
            home.daily_path.unlink()

    come_round()
    ends, asked = running.log.ends(), len(server.asked)
    assert call("run", "--once")["embedded"] == 0
    assert running.log.ends() == ends and len(server.asked) > asked, "refused again, and not said twice"
    server.always = None
    assert call("run", "--once")["embedded"] == 0
    state = call("admin", "embedder", "status")
    assert (state["embedded"], state["failed"], state["waiting"]) == (2, 1, 0), "not before it is due"
    come_round()
    assert call("run", "--once")["embedded"] == 1
    for _ in range(2):
        state = call("admin", "embedder", "status")
        assert (state["embedded"], state["failed"], state["waiting"]) == (3, 0, 0)
        assert call("verify")["ok"]
        call("rebuild")


def in_another_shell(*words: str, **variables: str) -> str:
    """Run a command with its own environment and return what it says."""
    outcome = CliRunner().invoke(main, [*words], env={"MEMTAPE_EMBEDDER": None, **variables})
    assert outcome.exit_code == 0, outcome.output
    return outcome.output


@pytest.fixture
def own_choice(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `settings.toml` says is followed, as where nobody set the variable."""
    monkeypatch.delenv("MEMTAPE_EMBEDDER")


@pytest.mark.usefixtures("own_choice")
def test_a_run_whose_endpoint_is_another_says_once_what_to_do(running: Running, server: Server) -> None:
    """The environment of a process is its own."""
    assert running.step() == 2
    with Server() as other:
        other.dimensions = 12
        variables = {URL_VARIABLE: other.url, MODEL_VARIABLE: "other"}
        in_another_shell("admin", "embedder", "set", "http", **variables)
    for text in ("One more.", "And another."):
        said(text)
        running.step()
    assert running.settings == (TINY, "other@tiny-embed/12")
    (note,) = [note for note in running.notes if "other@tiny-embed/12" in note]
    assert "MEMTAPE_EMBED_URL" in note and "start" in note and "embedder set" not in note


def test_a_take_over_that_was_killed_halfway_is_brought_to_its_end(running: Running) -> None:
    """Each partition decides by its own settings, and one was told; no text waits that would bring it on."""
    running.step()
    log = running.log
    told = log.read(0, log.ends()[0] - 1, 1, types=("configured",))
    assert told, "the take-over stands last in partition 0"
    payload = told[0].payload.replace(b'"revision":2', b'"revision":3')
    log.append_raw(0, [payload.replace(TINY.encode(), b"floor")])
    assert settings_on(log).embedder == FLOOR and configured_on(log, 1)[-1].settings.embedder == TINY
    again = Running(running.home)
    again.step()
    assert {configured_on(log, number)[-1].settings.embedder for number in range(log.partitions)} == {FLOOR}


@pytest.mark.usefixtures("own_choice")
def test_going_back_from_the_floor_uses_the_endpoint(running: Running, home: Home, server: Server) -> None:
    running.step()
    in_another_shell("admin", "embedder", "set", "floor")
    said("One more.")
    assert running.step() == 0
    in_another_shell("admin", "embedder", "rollback")
    assert local_settings(home).embedder.choice in ("auto", "http") and running.settings == (TINY, None)
    assert running.step() == 1
    # Unplugged just then: it is what is wanted all the same.
    in_another_shell("admin", "embedder", "set", "floor")
    server.always = lambda *_: (503, b"")
    in_another_shell("admin", "embedder", "rollback")
    assert local_settings(home).embedder.choice == "http"
    said("And another.")
    assert running.step() == 0
    server.always = None
    assert running.step() == 1
    call("run", "--once")
    assert call("verify")["ok"]


def test_an_embedder_takes_over_at_once_exactly_where_nothing_was_said(home: Home, server: Server) -> None:
    state = call("admin", "embedder", "set", "http", "--fold-cosine", "70")
    assert (state["configured"], state["next"]) == (TINY, None)
    said("The build takes 5 minutes.", "The build takes five minutes.")
    assert call("run", "--once")["embedded"] == 2
    anew = call("admin", "refold", "--dry-run")
    assert (anew["together"], anew["apart"]) == (0, 0)
    assert call("admin", "embedder", "set", "floor")["configured"] == FLOOR
    state = call("admin", "embedder", "set", "http")
    assert (state["configured"], state["next"]) == (FLOOR, TINY), "what was said waits for its vectors"


COMPONENTS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False), st.integers(-9, 9).map(float), st.just(0.0)
)
ROWS = st.lists(COMPONENTS, min_size=1, max_size=40).filter(any)
VECTORS = ROWS.map(lambda values: np.array(values, dtype=np.float32))
SEEDS = st.integers(0, 2**32 - 1)


def integers(data: bytes) -> list[int]:
    return [int(value) for value in np.frombuffer(data, dtype="<i2")]


def rounded_in_fractions(vector: NDArray[np.float32]) -> list[int]:
    """Round 2,000 x / |v| half to even in rational numbers alone: the slow definition of what is tested."""
    exact = [Fraction(float(value)) for value in vector]
    square = sum(value * value for value in exact)
    result = []
    for value in exact:
        target = 4_000_000 * value * value / square
        low = isqrt(int(target))
        half = Fraction(2 * low + 1, 2) ** 2
        size = low + (target > half or (target == half and low % 2 == 1))
        result.append(int(size) if value > 0 else -int(size))
    return result


def test_a_tie_goes_to_the_even_neighbour() -> None:
    # The length is 32 and 2,000 / 32 = 62.5, so every component is a tie.
    vector = np.zeros(1024, dtype=np.float32)
    vector[:] = [1, -1] * 512
    assert set(integers(quantised(vector))) == {62, -62}


@given(VECTORS, st.integers(-6, 6), SEEDS)
def test_quantising_is_the_rounding_of_real_numbers_of_the_direction_alone(
    vector: NDArray[np.float32], power: int, seed: int
) -> None:
    whole = np.array(vector, dtype=np.float64)
    scaled = np.ldexp(whole, power).astype(np.float32)
    values = integers(quantised(vector))
    assert values == rounded_in_fractions(vector)
    if (np.ldexp(scaled.astype(np.float64), -power) == whole).all():
        assert integers(quantised(scaled)) == values
    assert integers(quantised(-vector)) == [-value for value in values]
    order = np.random.default_rng(seed).permutation(vector.size)
    assert integers(quantised(vector[order])) == [values[place] for place in order]


@pytest.mark.parametrize("dimensions", [1, 384, 1536, 3072, MAX_DIMENSIONS])
@given(seed=SEEDS)
def test_sums_of_squares_and_float32_products_stay_exact(dimensions: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    a, b = (random.choice([-1.0, 1.0], dimensions) + random.normal(size=dimensions) / 99 for _ in range(2))
    data = [quantised(vector.astype(np.float32)) for vector in (a, b)]
    whole = [np.frombuffer(part, dtype="<i2").astype(np.int64) for part in data]
    assert all(int(np.square(values).sum()) < 2**22 for values in whole) and isqrt(MAX_DIMENSIONS) + 1 < 96
    assert all(np.array_equal(values.astype(np.float16), values) for values in whole)
    assert int(np.abs(whole[0] * whole[1]).sum()) < 2**24, "some sums would leave the integers"
    assert int(whole[0].astype(np.float32) @ whole[1].astype(np.float32)) == int(whole[0] @ whole[1])


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=384).filter(any))
def test_equal_directions_have_equal_bytes(values: list[int]) -> None:
    assert quantised(np.array(values, dtype=np.float32)) == quantised(3 * np.array(values, dtype=np.float32))


def test_what_has_no_direction_is_refused() -> None:
    many = [1.0] * (MAX_DIMENSIONS + 1)
    for vector in ([], [0.0, -0.0], [float("nan"), 1.0], [float("inf")], [[1.0, 2.0]], many):
        with pytest.raises(ValueError):
            quantised(np.array(vector, dtype=np.float32))
