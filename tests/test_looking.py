"""Looking through a project without a question: recent, timeline, sessions; and a memory that takes another's place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.times import parse_time
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

DAY = "2026-03-0{}T10:00:00Z"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def talk(client: Client) -> list[str]:
    """Capture two sessions, what was learned between them, and a turn of no session; return the ids of all."""
    lines = [
        Line(text="ok", kind="turn", session="one", at=DAY.format(1)),
        Line(text="Please mend the tide gauge.\nIt is broken.", kind="turn", session="one", at=DAY.format(2)),
        Line(text="Done.", kind="turn", session="one", at=DAY.format(3), actor="codex", origin="agent"),
        Line(text="The gauge needs a new float.", kind="fact", at=DAY.format(4)),
        Line(text="Is the gauge at the pier?", kind="turn", session="two", at=DAY.format(5)),
        Line(text="It is.", kind="turn", session="two", at=DAY.format(6), actor="claude-code", origin="agent"),
        Line(text="Said by the way.", kind="turn", at=DAY.format(7)),
        Line(text="Floats come from Ghent.", kind="insight", at=DAY.format(8)),
    ]
    return [receipt.id for receipt in client.capture_many(lines)]


@pytest.mark.parametrize("projected", [False, True])
def test_what_came_last_is_listed(client: Client, projected: bool) -> None:
    ids = talk(client)
    if projected:
        client.project()
    assert [result.id for result in client.recent()] == [ids[7], ids[3]]
    assert [result.id for result in client.recent(1)] == [ids[7]]
    assert [result.id for result in client.recent(2, kinds=["turn"])] == [ids[6], ids[5]]
    client.forget(ids[7])
    assert [result.id for result in client.recent()] == [ids[3]]
    with pytest.raises(MemtapeError):
        client.recent(0)


def test_sessions_are_listed_with_who_spoke_and_what_was_asked(client: Client) -> None:
    talk(client)
    two, one = client.sessions()
    assert (two.id, two.agents, two.turns, two.asked) == ("two", ("claude-code",), 2, "Is the gauge at the pier?")
    assert (one.id, one.agents, one.turns) == ("one", ("codex",), 3)
    assert one.asked == "Please mend the tide gauge."
    assert (one.since, one.until) == (parse_time(DAY.format(1), 0), parse_time(DAY.format(3), 0))
    assert [session.id for session in client.sessions(1)] == ["two"]
    assert [turn.text for turn in client.session_turns("two")] == ["Is the gauge at the pier?", "It is."]
    with pytest.raises(NotFound):
        client.session_turns("three")


def test_a_timeline_stands_around_an_id_or_a_time(client: Client) -> None:
    ids = talk(client)
    assert [result.id for result in client.timeline(ids[3], 3)] == ids[2:5]
    assert [result.id for result in client.timeline(ids[0], 3)] == ids[:3]
    assert [result.id for result in client.timeline(ids[7], 3)] == ids[5:]
    assert [result.id for result in client.timeline("2026-03-05", 2)] == ids[3:5]
    assert [result.id for result in client.timeline("2020-01-01", 2)] == ids[:2]
    assert [result.id for result in client.timeline("2030-01-01", 2)] == ids[6:]
    assert [result.id for result in client.timeline(ids[3][:33], 100)] == ids
    assert [result.id for result in client.timeline("2 days ago", 2)] == ids[6:]
    for nowhere in ("01234567-89ab-7def-8123-456789abcdef", "yesterday or so"):
        with pytest.raises(MemtapeError):
            client.timeline(nowhere)


def test_nothing_is_listed_of_what_is_not_there(client: Client) -> None:
    assert client.recent() == client.sessions() == client.timeline("1d") == client.given() == []


def test_an_update_takes_the_place_of_a_memory_in_one_call(client: Client) -> None:
    old = client.capture("The staging proxy listens on port 5433.", tags=("infra",), source="a mail").id
    done = client.update(old, "Staging has moved to Hamburg, behind the blue proxy.")
    assert done.replaced == old and done.scope == "project:mine"
    new = client.show(done.id).memory
    assert new is not None and (new.kind, new.tags, new.source) == ("fact", ("infra",), "a mail")
    before = client.show(old).memory
    assert before is not None and before.replaced_by == done.id and new.valid_to is None
    again = client.update(done.id, "staging has moved to Hamburg, behind blue proxy")
    assert again.replaced is None
    held = client.show(done.id).memory
    assert held is not None and again.id in held.ids and held.valid_to is None


def test_who_is_trusted_less_replaces_nothing_and_captures_nothing(client: Client, tmp_path: Path) -> None:
    old = client.capture("The staging proxy listens on port 5433.").id
    turn = client.capture("Staging moved.", "turn").id
    with Client(tmp_path, scope="project:mine", origin="agent") as agent:
        ends = agent.log.ends()
        for id in (old, turn):
            with pytest.raises(MemtapeError):
                agent.update(id, "The staging proxy listens on port 6000.")
        for text in ("x" * 70_000, ""):
            with pytest.raises(MemtapeError):
                client.update(old, text)
        assert agent.log.ends() == ends


def test_the_commands_print_what_the_client_returns(client: Client, tmp_path: Path) -> None:
    ids = talk(client)
    here = ["--home", str(tmp_path), "--scope", "project:mine"]

    def run(*words: str) -> str:
        done = CliRunner().invoke(main, [*words, *here])
        assert done.exit_code == 0, done.output
        return done.output

    assert ids[7] in run("search") and "Floats come from Ghent." in run("search", "--limit", "1")
    assert [it["id"] for it in json.loads(run("search", "--json"))["recent"]] == [ids[7], ids[3]]
    assert run("log", "--sessions").startswith("two  claude-code, 2 turns")
    assert json.loads(run("log", "--sessions", "--json"))["sessions"][1]["turns"] == 3
    assert run("show", "--around", ids[3], "--limit", "3").count("\n") == 6
    assert len(json.loads(run("show", "--around", "2026-03-05", "--limit", "2", "--json"))["timeline"]) == 2
    told = run("update", ids[3], "The gauge hangs on a chain, and Otto sells them.", "--origin", "user")
    assert f"It replaced {ids[3]}." in told
