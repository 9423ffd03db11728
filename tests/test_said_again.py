"""Who says again what was forgotten: a person is heard, and everybody else is told that it stays hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.events import Origin
from memtape.schemas.times import DAY_US, format_time
from memtape.tools.agents import hooks
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import call

SAID = "The staging database listens on port 5433."
SCOPE = "project:p"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope=SCOPE, origin="user") as client:
        client.forget(client.capture(SAID).id)
        client.project()
        yield client


def is_found(client: Client) -> bool:
    return any("5433" in result.text for result in client.search("staging port", quiet=True).results)


@pytest.mark.parametrize(
    ("origin", "fields", "is_heard"),
    [
        ("user", {}, True),
        ("operator", {}, True),
        ("user", {"text": "the staging  database listens on port 5433"}, True),
        ("user", {"at": "3d"}, False),
        ("user", {"source": "vault:notes.md"}, False),
        ("agent", {}, False),
        ("model", {}, False),
    ],
)
@pytest.mark.parametrize("is_tail", [True, False])
def test_a_receipt_tells_whether_a_search_finds_what_it_is_of(
    person: Client, origin: Origin, fields: dict[str, str], is_heard: bool, is_tail: bool
) -> None:
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
    where = ["--home", str(person.home.path), "--scope", SCOPE]
    told = CliRunner().invoke(main, ["capture", SAID, *where]).output
    id = told.split()[0]
    assert "hidden" in told and f"memtape restore {id}" in told
    assert json.loads(CliRunner().invoke(main, ["capture", SAID, "--json", *where]).output)["hidden"] is True
    with Client(person.home, scope=SCOPE, log=person.log) as agent:
        said = call(agent, "add_memory", {"text": SAID})
        assert "Remembered" not in said and "restore_memory" in said
        other = call(agent, "add_memory", {"text": "The gauge reads 7."})
        assert "hidden" not in other and "Remembered" in other


OTHER = "The gauge reads 7."


def test_an_update_to_what_was_forgotten_replaces_nothing_until_it_is_restored(person: Client) -> None:
    where = ["--home", str(person.home.path), "--scope", SCOPE]
    with Client(person.home, scope=SCOPE, origin="agent", log=person.log) as agent:
        before = agent.capture("The staging database listens on port 5432.").id
        told = CliRunner().invoke(main, ["update", before, SAID, "--origin", "agent", *where]).output
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


def transcript(path: Path, at: int, *texts: str) -> Path:
    place = {"type": "user", "cwd": str(path.parent), "sessionId": path.stem, "timestamp": format_time(at)}
    rows = [
        {**place, "uuid": f"{path.stem}-u-{number}", "message": {"role": "user", "content": text}}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_an_import_ends_no_ban_and_counts_what_is_hidden(person: Client, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "memory.json").write_text(json.dumps([{"id": "m-1", "memory": SAID}, {"id": "m-2", "memory": OTHER}]))
    where = [str(notes / "memory.json"), "--home", str(person.home.path), "--scope", SCOPE, "--format", "mem0"]
    for again in ([], ["--reread"]):
        told = CliRunner().invoke(main, ["import", *where, "--json", *again])
        summary = json.loads(told.output)
        assert summary["hidden"] == len(summary["hidden_ids"]) == 1, again
        assert not is_found(person)
    assert "memtape restore" in CliRunner().invoke(main, ["import", *where, "--reread"]).output
    person.restore(summary["hidden_ids"][0])
    assert is_found(person)
    assert json.loads(CliRunner().invoke(main, ["import", *where, "--reread", "--json"]).output)["hidden"] == 0
    [other] = [it.id for it in person.search("gauge", quiet=True).results if it.text == OTHER]
    person.forget(other)  # No projector has seen that yet.
    assert json.loads(CliRunner().invoke(main, ["import", *where, "--reread", "--json"]).output)["hidden_ids"] == [
        other
    ]


@pytest.mark.parametrize("is_old", [True, False])
def test_a_prompt_ends_the_ban_and_the_import_of_an_old_session_does_not(
    is_old: bool, person: Client, tmp_path: Path
) -> None:
    """Of both the turn is shown. What it states ends the ban where it was said after the forgetting."""
    said, now = "We use port 5433 for the staging database.", now_us()
    with Client(person.home, folder=tmp_path, origin="user", log=person.log) as client:
        client.forget(client.capture(said).id)
        if is_old:
            file = transcript(tmp_path / "s-1.jsonl", now - 10 * DAY_US, said)
            assert CliRunner().invoke(main, ["import", str(file), "--home", str(person.home.path)]).exit_code == 0
        else:
            told = {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "cwd": str(tmp_path), "prompt": said}
            hooks.run("claude", person.home.path, json.dumps(told).encode())
        assert CliRunner().invoke(main, ["run", "--once", "--home", str(person.home.path)]).exit_code == 0
        found = [it.kind for it in client.search("staging port", quiet=True).results if "5433" in it.text]
    assert found == (["turn"] if is_old else ["fact"])  # Which a fact of the same words stands for.
