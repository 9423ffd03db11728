"""Embedders that fail or change while somebody runs, and going back: what people are told, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest
from builders import captured
from test_embedders import Server, rubbish
from test_embedders import server as server  # A fixture.
from test_embedding import A, recorded, said
from test_embedding import home as home  # A fixture.

from recollect.flows.embedder_http import HttpEmbedder
from recollect.schemas.embedding import FLOOR
from recollect.schemas.errors import RecollectError
from recollect.schemas.events import Embedded
from recollect.sinks.configuring import settings_on
from recollect.sinks.embedded_log import EmbeddedLog
from recollect.sinks.home import Home
from recollect.tools.embedding import Embedding

TINY = "tiny-embed@tiny-embed/8"


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits of retries go onto this list."""
    waits: list[float] = []
    assert HttpEmbedder.__init__.__kwdefaults__ is not None
    monkeypatch.setitem(HttpEmbedder.__init__.__kwdefaults__, "sleep", waits.append)
    return waits


class Running:
    """The embedding of a `recollect run` that goes on for the length of a test, a step at a time."""

    def __init__(self, home: Home) -> None:
        self.log = EmbeddedLog(home.log_path)
        self.notes: list[str] = []
        self.embedding = Embedding(home, self.log, self.notes.append)

    def step(self) -> int:
        """Do what is to be done now and return how many texts were tried; what is said goes to the notes."""
        before = self.embedding.done
        try:
            self.embedding.catch_up()
        except RecollectError as error:
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
