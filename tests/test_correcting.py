"""What a person corrects in talk: a whole statement in place of what the session was shown, or said last."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import data_of
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.codec import decode
from memtape.schemas.events import Event, Linked
from memtape.state.text.polarity import corrected, correction_of, corrections_in
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

PORT = "The staging database listens on port 5433."
RIGHT = "The staging database listens on port 5434."
CASES = data_of("corrections")


@pytest.mark.parametrize("said", CASES["corrects"])
def test_a_correction_gives_a_text_another_value(said: str) -> None:
    assert corrections_in(said) == (said,)
    correction = correction_of(said)
    assert correction is not None
    made = corrected(PORT, correction, "")
    assert made is not None and (made.text, made.older, made.newer) == (RIGHT, "5433", "5434")


@pytest.mark.parametrize(("text", "said"), CASES["in_doubt"])
def test_in_doubt_nothing_is_corrected(text: str, said: str) -> None:
    correction = correction_of(said)
    assert correction is None or corrected(text, correction, "") is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_are_read(text: str, said: str) -> None:
    correction = correction_of(said)
    made = None if correction is None else corrected(text, correction, text)
    assert made is None or made.text != text


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:p", actor="Ada", origin="user", session="s-1") as client:
        yield client


def turn(client: Client, text: str, origin: Any = "user", session: str = "s-1") -> str:
    return client.capture_many([Line(text=text, kind="turn", origin=origin, session=session)])[0].id


def show_port(client: Client) -> str:
    """Let an agent say the port, and a search of the session show it; return its id."""
    id = client.capture(PORT, origin="agent").id
    client.project()
    assert client.search("staging database port").results[0].id == id
    return id


def events_of(client: Client) -> list[Event]:
    return [decode(slot.payload) for n in range(client.log.partitions) for slot in client.log.read(n, 0, 1_000)]


def said_so(client: Client) -> list[Event]:
    return [event for event in events_of(client) if isinstance(event.body, Linked)]


def test_what_the_session_was_shown_is_replaced(client: Client) -> None:
    other = client.capture("The billing worker reads queue eu-7.", origin="agent").id
    old = show_port(client)
    turn(client, "It listens on 5433.", "agent")
    correction = turn(client, "No, it is 5434.")
    client.project()
    (link,) = said_so(client)
    assert link.actor.origin == "user" and isinstance(link.body, Linked) and link.body.id == old
    best = client.search("staging database port").results
    assert best[0].text == RIGHT and best[0].origin == "user" and best[0].replaces == (old,)
    assert [result.valid_to for result in best if result.id == other] in ([], [None])
    replaced = client.show(old).memory
    assert replaced is not None and replaced.status == "deprecated" and replaced.replaced_by == best[0].id
    assert correction in link.refs and old in link.refs
    client.project()
    assert said_so(client) == [link] and client.verify().ok


def test_of_several_that_were_shown_the_one_that_was_spoken_of_is_meant(client: Client) -> None:
    old = client.capture(PORT, origin="agent").id
    client.capture("The production database listens on port 5555.", origin="agent")
    client.project()
    assert len(client.search("database port").results) == 2
    turn(client, "no, it is 5434")
    client.project()
    assert said_so(client) == []
    turn(client, "The port is 5433 then.", "agent")
    turn(client, "no, it is 5434")
    client.project()
    assert [link.body.id for link in said_so(client) if isinstance(link.body, Linked)] == [old]


def test_what_was_said_last_is_put_right_without_a_recall(client: Client) -> None:
    turn(client, f"I looked. {PORT}", "agent")
    turn(client, "Actually the port is 5434.")
    client.project()
    assert RIGHT in [result.text for result in client.search("staging database port").results]
    assert not any(
        result.text == "Actually the port is 5434."
        for result in client.search("port", 20).results
        if result.kind == "fact"
    )


@pytest.mark.parametrize("at_once", [False, True])
def test_a_value_is_taken_back_within_a_session(at_once: bool, client: Client) -> None:
    old = show_port(client)
    for said in ("No, it is 5434.", "No, it is 5433.", "No, it's 5434.", "No, it is 5433."):
        turn(client, said)
        if not at_once:
            client.project()
    client.project()
    best = client.search("staging database port").results
    assert (best[0].text, best[0].valid_to) == (PORT, None)
    right = next(result for result in best if result.text == RIGHT)
    assert right.valid_to is not None and best[0].id == old
    assert [item.text for item in client.context().items if item.section == "facts"] == [PORT]
    assert client.verify().ok


def test_a_long_row_of_corrections_ends_and_holds_no_partition_up(client: Client) -> None:
    """A chain is resolved in steps, and not by as many calls within calls; the last value of it holds."""
    show_port(client)
    deep, calls = sys.getrecursionlimit(), 300
    client.capture_many(
        [Line(text=f"No, it is {6_000 + n}.", kind="turn", origin="user", session="s-1") for n in range(calls)]
    )
    sys.setrecursionlimit(min(deep, len(inspect.stack()) + 200))
    try:
        client.project()
    finally:
        sys.setrecursionlimit(deep)
    last = f"The staging database listens on port {6_000 + calls - 1}."
    (best, *_) = client.search("staging database port").results
    assert (best.text, best.valid_to) == (last, None) and len(said_so(client)) == calls


def test_another_session_or_an_agent_corrects_nothing(client: Client) -> None:
    show_port(client)
    turn(client, "no, it is 5434", session="s-2")
    turn(client, "no, it is 5434", "agent")
    client.project()
    assert said_so(client) == []
    assert RIGHT not in [result.text for result in client.search("staging database port").results]


def test_a_captured_correction_stands_in_whole_words(client: Client) -> None:
    old = show_port(client)
    bare = client.capture("Actually the port is 5434.").id
    client.project()
    assert {link.body.id for link in said_so(client) if isinstance(link.body, Linked)} == {old, bare}
    best = client.search("staging database port").results
    assert best[0].text == RIGHT
    assert all(result.valid_to is not None for result in best if result.id in (old, bare))


def corrected_home(client: Client) -> tuple[str, str]:
    """Let a person correct what was shown; return the ids of the old value and of the correction."""
    old = show_port(client)
    turn(client, "It listens on 5433.", "agent")
    turn(client, "No, it is 5434.")
    client.project()
    return old, client.search("staging database port").results[0].id


def erase(client: Client, *words: str) -> Result:
    return CliRunner().invoke(main, ["erase", *words, "--home", str(client.home.path), "--scope", client.scope])


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_correction_goes_with_what_it_corrects_where_asked(client: Client, is_asked: bool) -> None:
    old, right = corrected_home(client)
    asked = (right,) if is_asked else ("--yes",)
    ends = client.log.ends()
    refused = erase(client, old)
    assert refused.exit_code == 1 and "--keep-corrections" in refused.output and client.log.ends() == ends
    assert f"{right}  {RIGHT}" in refused.output
    # What was asked for itself is no correction to keep.
    assert erase(client, old, *asked).exit_code == 0
    assert client.search("staging database port").results == []


def test_a_correction_that_is_kept_outlives_what_it_corrects(client: Client) -> None:
    old, right = corrected_home(client)
    for _ in range(2):  # Called again, as after a kill, it is kept once.
        erased = erase(client, old, "--keep-corrections")
        assert "Erased" in erased.output, erased.output
    (kept,) = client.search("staging database port").results
    assert kept.id != right and kept.text == RIGHT and kept.origin == "user" and kept.actor == "Ada"
    shown = client.show(kept.id).memory
    assert shown is not None and shown.status != "deprecated" and client.verify().ok
    person = next(event for event in events_of(client) if event.id == kept.id).refs
    assert erase(client, *person).exit_code == 0
    assert client.search("staging database port").results == []
