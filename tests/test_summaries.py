"""A model sums up a session: once, of what stands, trusted least; a start tells it while nobody has gone on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_facts import Scripted, configure, model, no_model
from test_statements import erase, tagged

from memtape.flows.workers.summarise import QUIET_US, Summaries, sum_up
from memtape.schemas.actions import action_tags
from memtape.schemas.errors import BadAnswer, MemtapeError
from memtape.schemas.events import SUMMARY_TAG, Captured
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home
from memtape.tools.capture.lines import Line
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.keep.summaries import LINE_CHARS, MOST_LINES, SummaryAsker, lines_of

__all__ = ["model", "no_model"]
SCOPE = "project:talk"
GOOD = "- **Asked**: round the prices\nI think:\ndone: rounded them in cart/prices.py" + 2 * "\nopen: one test fails"
ANSWERS = st.lists(st.sampled_from(["asked: a", "next: b", "", "x: y", "DONE - c", "done:"])).map("\n".join)
SAID = [
    ("user", "Ada", "Round the prices once, please. The password of staging is Harbour-4417.", ()),
    ("agent", "codex", "I rounded them in cart/prices.py.", ()),
    ("tool", "shell", "tested with `pytest -q`: failed (exit 1): 1 failed", action_tags("test", 1)),
    ("agent", "codex", "One test fails.", ()),
]


@pytest.fixture
def client(tmp_path: Path, model: Scripted) -> Iterator[Client]:
    home = Home(tmp_path / "home")
    configure(home, model)
    model.script = lambda prompt: GOOD if "where this session was left" in prompt else "[]"
    with Client(home, scope=SCOPE, origin="user", actor="Ada", session="asking") as client:
        yield client


def talk(client: Client, session: str = "s", count: int = len(SAID)) -> list[str]:
    now = now_us() - 60 * US_PER_S
    lines = [
        Line(text=text, kind="turn", origin=origin, actor=actor, session=session, at=now + n, tags=tags)  # type: ignore[arg-type]
        for n, (origin, actor, text, tags) in enumerate(SAID[:count])
    ]
    return [receipt.id for receipt in client.capture_many(lines)]


def worker(client: Client, later_us: int = QUIET_US) -> Summaries:
    return Summaries(client.log, SummaryAsker(client.home), lambda: now_us() + later_us, lambda: True, print)


def left(client: Client) -> list[str]:
    return [item.text for item in client.context().items if item.section == "left"]


def test_a_session_that_went_quiet_is_summed_up_once_and_told_at_a_start(client: Client, model: Scripted) -> None:
    ids = talk(client)
    early = worker(client, 0)
    early.catch_up()
    assert early.done == 0
    for _ in range(2):
        made = worker(client)
        made.catch_up()
    (event,) = tagged(client, SUMMARY_TAG)
    assert isinstance(event.body, Captured) and event.actor.origin == "model" and event.refs == tuple(ids)
    assert event.body.text == "asked: round the prices\ndone: rounded them in cart/prices.py\nopen: one test fails"
    assert len(model.prompts) == 1 and "Harbour" not in model.prompts[0] and "pytest -q" in model.prompts[0]
    for _ in ("from the tail", "from the views"):
        told = left(client)
        assert told[0].startswith("session of codex") and told[1:] == event.body.text.splitlines()
        assert all(item.section != "journal" for item in client.context().items)
        client.project()
    talk(client, count=1)
    client.capture("Now the vouchers.", "turn", session="s", origin="user")
    assert "open: one test fails" not in left(client), "the session has gone on"


def test_a_summary_goes_with_any_turn_of_it_and_is_not_made_of_one_that_goes_meanwhile(
    client: Client, model: Scripted
) -> None:
    ids = talk(client)
    assert len(sum_up(client.log, SummaryAsker(client.home), "s", SCOPE)) == 1
    assert sum_up(client.log, SummaryAsker(client.home), "s", SCOPE) == []
    erase(client, ids[1])
    assert not any("prices" in text for text in left(client) if text.startswith("done"))
    others = talk(client, "t")

    def forgetting(prompt: str) -> str:
        client.forget(others[0])
        return GOOD

    model.script = forgetting
    assert sum_up(client.log, SummaryAsker(client.home), "t", SCOPE) == []


def test_a_model_that_fails_changes_nothing_and_is_not_asked_for_ever(client: Client, model: Scripted) -> None:
    talk(client)
    before = left(client)
    model.script = lambda prompt: "I cannot."
    made = worker(client)
    for _ in range(5):
        made._look_at = 0
        made.once()
    assert len(model.prompts) == 3 and tagged(client, SUMMARY_TAG) == [] and left(client) == before
    with pytest.raises(MemtapeError, match="does not say"):
        sum_up(client.log, SummaryAsker(client.home), "s", SCOPE)


def test_talk_without_a_person_or_without_an_answer_is_not_summed_up(client: Client, model: Scripted) -> None:
    talk(client, count=1)
    client.capture("Alone.", "turn", session="alone", origin="agent")
    worker(client).catch_up()
    assert model.prompts == []


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["asked: a", "next: b", "", "x: y", "DONE - c", "done:"])).map("\n".join)
)
def test_whatever_a_model_says_its_lines_are_few_and_short_and_begin_as_asked(answer: str) -> None:
    try:
        lines = lines_of(answer)
    except BadAnswer:
        return
    assert 0 < len(lines) <= MOST_LINES
    assert all(len(line) <= LINE_CHARS and line.partition(": ")[0] in answer.lower() for line in lines)
