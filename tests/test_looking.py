"""Looking through a project without a question: recent, timeline, sessions; and a memory that takes another's place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.errors import MemtapeError
from memtape.schemas.times import parse_time
from memtape.tools.ask.looking import session_of
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
def test_a_project_is_looked_through_by_texts_times_and_sessions(
    client: Client, projected: bool, tmp_path: Path
) -> None:
    assert client.recent() == client.sessions() == client.timeline("1d") == client.given() == []
    ids = talk(client)
    if projected:
        client.project()
    assert [result.id for result in client.recent(2, kinds=["turn"])] == [ids[6], ids[5]]
    for around, limit, told in (
        (ids[3], 3, ids[2:5]), (ids[0], 3, ids[:3]), (ids[7], 3, ids[5:]), (ids[3][:33], 100, ids),
        ("2026-03-05", 2, ids[3:5]), ("2020-01-01", 2, ids[:2]), ("2 days ago", 2, ids[6:]),
    ):  # fmt: skip
        assert [result.id for result in client.timeline(around, limit)] == told, around
    two, one = client.sessions()
    assert (two.id, two.agents, two.turns, two.asked) == ("two", ("claude-code",), 2, "Is the gauge at the pier?")
    assert (one.id, one.agents, one.turns) == ("one", ("codex",), 3)
    assert one.asked == "Please mend the tide gauge."
    assert (one.since, one.until) == (parse_time(DAY.format(1), 0), parse_time(DAY.format(3), 0))
    assert [session.id for session in client.sessions(1)] == ["two"]
    assert [turn.text for turn in client.read(partial(session_of, session="two"))] == [
        "Is the gauge at the pier?",
        "It is.",
    ]
    for ask in (
        lambda: client.read(partial(session_of, session="three")), lambda: client.recent(0),
        lambda: client.timeline("yesterday or so"), lambda: client.timeline("01234567-89ab-7def-8123-456789abcdef"),
    ):  # fmt: skip
        with pytest.raises(MemtapeError):
            ask()
    here = ["--home", str(tmp_path), "--scope", "project:mine"]
    for words, key, count in (
        (["search"], "results", 2), (["log", "--sessions"], "sessions", 2),
        (["show", "2026-03-05", "--around", "--limit", "2"], "timeline", 2),
    ):  # fmt: skip
        assert len(json.loads(CliRunner().invoke(main, [*words, "--json", *here]).stdout)[key]) == count
        assert CliRunner().invoke(main, [*words, *here]).stdout
    words = ["update", ids[3], "The gauge hangs on a chain, and Otto sells them.", "--origin", "user"]
    assert f"It replaced {ids[3]}." in CliRunner().invoke(main, [*words, *here]).output
    client.forget(ids[7])
    assert ids[7] not in [result.id for result in client.recent()]


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
