"""Embedders that fail or change while somebody runs, and going back: what people are told, and what comes of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from builders import captured
from click.testing import CliRunner
from test_embedders import Server, cut_off, fails_on, rubbish
from test_embedders import server as server  # A fixture.
from test_embedding import A, call, recorded, said
from test_embedding import home as home  # A fixture.

from memtape.flows.embed.http import HttpEmbedder
from memtape.flows.embed.target import MODEL_VARIABLE, URL_VARIABLE
from memtape.schemas.codec import decode
from memtape.schemas.embedding import FLOOR
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Embedded
from memtape.sinks.home.folders import Home
from memtape.sinks.home.marks import OffsetMarks
from memtape.sinks.home.settings import local_settings
from memtape.sinks.logs.configuring import configured_on, settings_on
from memtape.sinks.logs.embedded import EmbeddedLog
from memtape.tools.commands.cli import main
from memtape.tools.keep.embedding import Embedding

TINY = "tiny-embed@tiny-embed/8"


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits of retries go onto this list."""
    waits: list[float] = []
    assert HttpEmbedder.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(HttpEmbedder.__init__.__kwdefaults__, "sleep", waits.append)
    return waits


class Running:
    """The embedding of a `memtape run` that goes on for the length of a test, a step at a time."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.log = EmbeddedLog(home.log_path)
        self.notes: list[str] = []
        self.embedding = Embedding(home, self.log, self.notes.append)

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


# --- Outages ---


def filled(log: EmbeddedLog, texts: int) -> None:
    log.append([captured(f"{chr(97 + number % 26)} {number}", scope=A, origin="user") for number in range(texts)])


@pytest.mark.parametrize("value", [[float("nan")] * 8, [0.0] * 8, [1.0] * 7], ids=["NaN", "zeros", "dimensions"])
def test_rubbish_for_everything_is_an_outage_and_is_caught_up(running: Running, server: Server, value: Any) -> None:
    filled(running.log, 200)
    server.scripts = [lambda texts, _: (200, server.good(texts))]  # It introduces itself, and then goes wrong.
    server.always = rubbish(server, value)
    for _ in range(4):
        assert running.step() == 0
    assert outcomes(running.log) == [] and running.settings == (FLOOR, TINY)
    assert all("no vector of its answer" in note for note in running.notes[1:])
    server.always = None
    assert running.step() == 202
    assert outcomes(running.log) == [None] * 202 and running.settings == (TINY, None)


def test_what_was_embedded_before_a_refusal_is_kept(running: Running, server: Server) -> None:
    """An endpoint that takes one request a minute must come to an end some time."""
    filled(running.log, 500)

    def every_other(texts: list[str], _: object) -> Any:
        return (200, server.good(texts)) if texts == ["hello"] or len(server.asked) % 4 == 1 else (429, b"")

    server.always = every_other
    for _ in range(40):
        running.step()
    assert outcomes(running.log) == [None] * 502
    answered = sum(len(texts) for number, texts in enumerate(server.asked, 1) if number % 4 == 1)
    assert answered <= 502 + 40, "nothing was paid for twice"


def test_a_text_that_brings_the_endpoint_down_blocks_no_other(running: Running, server: Server) -> None:
    poison = "b 1"
    filled(running.log, 300)
    asked_since: list[bool] = []

    def crash(texts: list[str], handler: Any) -> Any:
        if poison in texts:
            asked_since.clear()
        elif len(asked_since) >= 4:
            return 200, server.good(texts)
        asked_since.append(True)
        return cut_off(texts, handler)

    server.scripts = [lambda texts, _: (200, server.good(texts))]
    server.always = crash
    asked_since.extend([True] * 4)
    for _ in range(12):
        running.step()
    embedded = {event.refs[0] for event in recorded(running.log) if vector_in(event)}
    assert embedded >= {event.id for event in captures(running.log) if event.body.text != poison}
    server.always = None
    running.step()
    assert running.settings == (TINY, None)


def vector_in(event: Any) -> bool:
    return event.body.vector is not None


def captures(log: EmbeddedLog) -> list[Any]:
    slots = (slot for number in range(log.partitions) for slot in log.read(number, 0, 10_000, types=("captured",)))
    return [decode(slot.payload) for slot in slots]


def choice_of(home: Home) -> str:
    return local_settings(home).embedder.choice


def no_endpoint(patch: pytest.MonkeyPatch, server: Server) -> None:
    patch.delenv(URL_VARIABLE)
    patch.setenv("MEMTAPE_EMBEDDER", "http")


def another_model(patch: pytest.MonkeyPatch, server: Server) -> None:
    patch.setenv(MODEL_VARIABLE, "another-model")


def no_key(patch: pytest.MonkeyPatch, server: Server) -> None:
    server.always = lambda *_: (401, b"")


@pytest.mark.parametrize("wrong", [no_endpoint, another_model, no_key])
def test_run_once_exits_1_where_a_person_has_to_decide(
    running: Running, server: Server, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., None]
) -> None:
    running.step()
    said("One more.")
    server.always = lambda *_: (503, b"")
    assert CliRunner().invoke(main, ["run", "--once"]).exit_code == 0, "an outage passes"
    server.always = None
    wrong(monkeypatch, server)
    outcome = CliRunner().invoke(main, ["run", "--once"])
    assert outcome.exit_code == 1 and "set" in outcome.stderr.lower()
    assert CliRunner().invoke(main, ["run", "--once", "--no-embed"]).exit_code == 0


@pytest.mark.parametrize("how", ["asked", "a day later", "nobody knows of the last time"])
def test_a_text_that_was_refused_is_tried_again(running: Running, server: Server, home: Home, how: str) -> None:
    running.step()
    said("The tide tables are in the attic.")
    server.always = fails_on("The tide tables are in the attic.", (422, {"error": "too long"}), server)
    call("run", "--once")
    marks = OffsetMarks(home.embedding_path, running.log)

    def come_round() -> None:
        if how == "asked":
            assert call("admin", "embedder", "retry") == {"refused": 1}
        elif how == "a day later":
            marks.tried_again(TINY, int(time.time()) - 24 * 3_600)
        else:
            home.embedding_path.unlink()

    come_round()
    ends, asked = running.log.ends(), len(server.asked)
    assert call("run", "--once")["embedded"] == 0
    assert running.log.ends() == ends and len(server.asked) > asked, "it was refused again, and nothing is said twice"
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


# --- Another shell changes the embedder while `run` goes on ---


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
    other = Server()
    other.dimensions = 12
    in_another_shell("admin", "embedder", "set", "http", MEMTAPE_EMBED_URL=other.url, MEMTAPE_EMBED_MODEL="other")
    for text in ("One more.", "And another."):
        said(text)
        running.step()
    assert running.settings == (TINY, "other@tiny-embed/12")
    (note,) = [note for note in running.notes if "other@tiny-embed/12" in note]
    assert "MEMTAPE_EMBED_URL" in note and "start" in note and "embedder set" not in note
    other.close()


def test_a_take_over_that_was_killed_halfway_is_brought_to_its_end(running: Running) -> None:
    """Each partition decides by its own settings, and one was told; no text waits, so nothing else brings it on."""
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


# --- Going back ---


@pytest.mark.usefixtures("own_choice")
def test_going_back_from_the_floor_uses_the_endpoint_again(running: Running, home: Home, server: Server) -> None:
    running.step()
    in_another_shell("admin", "embedder", "set", "floor")
    said("One more.")
    assert running.step() == 0
    in_another_shell("admin", "embedder", "rollback")
    assert choice_of(home) in ("auto", "http") and running.settings == (TINY, None)
    assert running.step() == 1
    # Unplugged just then: it is what is wanted all the same.
    in_another_shell("admin", "embedder", "set", "floor")
    server.always = lambda *_: (503, b"")
    in_another_shell("admin", "embedder", "rollback")
    assert choice_of(home) == "http"
    said("And another.")
    assert running.step() == 0
    server.always = None
    assert running.step() == 1
    call("run", "--once")
    assert call("verify")["ok"]


# --- A home without a text, and a machine without the model ---


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
