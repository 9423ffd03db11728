"""What people correct in talk, and say again that was forgotten: a person is heard, others are told."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bench.typed import closings
from commanding import call as command
from commanding import document
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from tables import table
from test_pausing import transcript

from memtape.schemas.events import Event, Origin
from memtape.state.text.polarity import corrected, correction_of, corrections_in
from memtape.state.text.reading import read
from memtape.tools.agents import hooks
from memtape.tools.capture.writing import Line, now_us
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call

PORT = "The staging database listens on port 5433."
RIGHT = "The staging database listens on port 5434."
CASES = table("corrections")


@pytest.mark.parametrize("said", CASES["corrects"])
def test_a_correction_gives_a_text_another_value(said: str) -> None:
    assert corrections_in(read(said)) == (said,)
    made = corrected(read(PORT), correction_of(said), "")
    assert made is not None and (made.text, made.older, made.newer) == (RIGHT, "5433", "5434")


@pytest.mark.parametrize(("text", "said"), CASES["in_doubt"])
def test_in_doubt_nothing_is_corrected(text: str, said: str) -> None:
    correction = correction_of(said)
    assert correction is None or corrected(read(text), correction, "") is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_are_read(text: str, said: str) -> None:
    correction = correction_of(said)
    made = None if correction is None else corrected(read(text), correction, text)
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


def said_so(client: Client) -> list[Event]:
    return [event for event in events_of(client.log) if event.type == "linked"]


def test_what_the_session_was_shown_is_replaced(client: Client) -> None:
    other = client.capture("The billing worker reads queue eu-7.", origin="agent").id
    old = show_port(client)
    turn(client, "It listens on 5433.", "agent")
    correction = turn(client, "No, it is 5434.")
    client.project()
    (link,) = said_so(client)
    assert link.actor.origin == "user" and link.body.id == old
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
    assert [link.body.id for link in said_so(client)] == [old]


def test_what_was_said_last_is_put_right_without_a_recall(client: Client) -> None:
    turn(client, f"I looked. {PORT}", "agent")
    turn(client, "Actually the port is 5434.")
    client.project()
    assert RIGHT in [result.text for result in client.search("staging database port").results]
    assert not any(result.text == "Actually the port is 5434."
                   for result in client.search("port", 20).results if result.kind == "fact")  # fmt: skip


def test_a_typed_correction_closes_what_its_speaker_said_shortly_before(client: Client) -> None:
    turn(client, "the client demo is next thursday at 3pm")
    turn(client, "Noted.", "agent")
    turn(client, "ok 5pm")  # An answer to something else corrects nothing.
    turn(client, "no wait, 4pm not 3pm")
    client.project()
    (link,) = said_so(client)
    best = client.search("client demo", kinds=("fact",)).results
    assert "4pm" in best[0].text and "3pm" not in best[0].text and best[0].valid_to is None
    assert [it.id for it in best if it.valid_to is not None] == [link.body.id]
    assert client.verify().ok


def test_few_typed_corrections_are_read_and_hardly_any_wrongly() -> None:
    for half, least in (("dev", 10), ("held out", 5)):
        right, _, wrong, pairs = closings(half)
        assert right >= least and wrong * 50_000 <= pairs


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
        Line(text=f"No, it is {6_000 + n}.", kind="turn", origin="user", session="s-1") for n in range(calls)
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
    assert {link.body.id for link in said_so(client)} == {old, bare}
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


def erase(client: Client, *words: str, code: int = 0) -> str:
    return command("erase", *words, home=client.home.path, scope=client.scope, code=code).output


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_correction_goes_with_what_it_corrects_where_asked(client: Client, is_asked: bool) -> None:
    old, right = corrected_home(client)
    asked = (right,) if is_asked else ("--yes",)
    ends = client.log.ends()
    refused = erase(client, old, code=1)
    assert "1 correction of people would go too" in refused and client.log.ends() == ends
    assert f"{right[-8:]}  {RIGHT}" in refused
    # What was asked for itself needs no question.
    erase(client, old, *asked)
    assert client.search("staging database port").results == []


SAID, SCOPE = PORT, "project:p"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.forget(client.capture(SAID).id)
        client.project()
        yield client


def is_found(client: Client) -> bool:
    return any("5433" in result.text for result in client.search("staging port", quiet=True).results)


RESTATED = {"text": "the staging  database listens on port 5433"}
HEARD = [("user", {}), ("operator", {}), ("user", RESTATED)]
UNHEARD = [("user", {"at": "3d"}), ("user", {"source": "vault:notes.md"}), ("agent", {}), ("model", {})]


@pytest.mark.parametrize(("origin", "fields"), [*HEARD, *UNHEARD])
@pytest.mark.parametrize("is_tail", [True, False])
def test_a_receipt_tells_whether_a_search_finds_what_it_is_of(
    person: Client, origin: Origin, fields: dict[str, str], is_tail: bool
) -> None:
    is_heard = (origin, fields) in HEARD
    with Client(person.home, scope=SCOPE, origin=origin, log=person.log) as client:
        receipt = client.capture(**{"text": SAID, **fields})
        if is_tail:  # A projector elsewhere holds the lock, so that views and tail answer.
            with person.home.lock("projector"):
                assert is_found(client) is is_heard
        else:
            client.project()
            assert is_found(client) is is_heard
            assert (receipt.id in client.hidden_among(SCOPE, {receipt.id: SAID})) is not is_heard
        assert receipt.hidden is not is_heard
        client.restore(receipt.id)
        assert is_found(client)
        assert not client.capture(**{"text": SAID, **fields}).hidden
        assert client.verify().ok


def test_what_was_said_between_two_forgettings_and_comes_later_stays_hidden(person: Client) -> None:
    first, between = person.capture(SAID), now_us()
    person.forget(first.id)
    assert person.capture(SAID, at=between).hidden
    assert not is_found(person)


def test_commands_and_tools_tell_that_a_capture_is_hidden(person: Client) -> None:
    told = command("capture", SAID, home=person.home.path, scope=SCOPE).output
    assert "hidden" in told and "Remembered" not in told and re.search(r"memtape restore [0-9a-f]{8}\n", told)
    assert document("capture", SAID, home=person.home.path, scope=SCOPE)["hidden"] is True
    with Client(person.home, scope=SCOPE, log=person.log) as agent:
        said = call(agent, "add_memory", {"text": SAID})
        assert "Remembered" not in said and "restore_memory" in said
        other = call(agent, "add_memory", {"text": "The gauge reads 7."})
        assert "hidden" not in other and "Remembered" in other


OTHER = "The gauge reads 7."


def test_an_update_to_what_was_forgotten_replaces_nothing_until_it_is_restored(person: Client) -> None:
    with Client(person.home, scope=SCOPE, origin="agent", log=person.log) as agent:
        before = agent.capture("The staging database listens on port 5432.").id
        words = ("update", before, SAID, "--origin", "agent")
        told = command(*words, home=person.home.path, scope=SCOPE).output
        assert "hidden" in told and "memtape restore" in told and not is_found(agent)
        assert any(it.id == before for it in agent.search("staging port", quiet=True).results)
        said = call(agent, "update_memory", {"id": before, "text": SAID})
        assert "restore_memory" in said and "Remembered" not in said
        agent.restore(said.split("`")[1])
        assert is_found(agent)
        [row] = [it for it in agent.search("staging port", quiet=True).results if it.id == before]
        assert row.marks
    assert not person.update(before, "The staging database listens on port 5434.").hidden
    person.forget(person.capture(SAID).id)
    assert not person.update(before, SAID).hidden and is_found(person), "a person who says it again is heard"


def test_an_import_ends_no_ban_and_counts_what_is_hidden(person: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    kept, at = [{"id": "m-1", "memory": SAID}, {"id": "m-2", "memory": OTHER}], notes / "memory.json"
    at.write_text(json.dumps(kept))
    words, where = ("import", at), {"home": person.home.path, "scope": SCOPE}
    imported = partial(document, *words, **where)
    for _ in range(2):
        at.touch()
        summary = imported()
        assert summary["hidden"] == len(summary["hidden_ids"]) == 1
        assert not is_found(person)
    at.touch()
    assert "memtape restore" in command(*words, **where).output
    person.restore(summary["hidden_ids"][0])
    assert is_found(person)
    at.touch()
    assert imported()["hidden"] == 0
    [other] = [it.id for it in person.search("gauge", quiet=True).results if it.text == OTHER]
    person.forget(other)  # No projector has seen that yet.
    at.touch()
    assert imported()["hidden_ids"] == [other]


@pytest.mark.parametrize("is_old", [True, False])
def test_a_prompt_ends_the_ban_and_the_import_of_an_old_session_does_not(
    is_old: bool, person: Client, tmp_path: Path
) -> None:
    """Of both the turn is shown. What it states ends the ban where it was said after the forgetting."""
    said = "We use port 5433 for the staging database."
    with Client(person.home, folder=tmp_path, origin="user", log=person.log) as client:
        client.forget(client.capture(said).id)
        if is_old:
            file = transcript(tmp_path, ("s-1", 1, said))  # Months ago.
            command("import", file, home=person.home.path)
        else:
            told = {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": str(tmp_path)}
            told["prompt"] = said
            hooks.run("claude", person.home.path, json.dumps(told).encode())
        command("run", "--once", home=person.home.path)
        found = [it.kind for it in client.search("staging port", quiet=True).results if "5433" in it.text]
    assert found == (["turn"] if is_old else ["fact"])  # Which a fact of the same words stands for.
