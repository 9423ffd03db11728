"""Who says again what was forgotten: a person is heard, and everybody else is told that it stays hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from memtape.schemas.events import Origin
from memtape.tools.agents.mcp.tools import answered
from memtape.tools.capture.writing import now_us
from memtape.tools.client import Client
from memtape.tools.commands.cli import main

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


def test_a_program_that_captures_finds_and_forgets_can_run_again(person: Client) -> None:
    for _ in range(3):
        receipt = person.capture(SAID)
        assert not receipt.hidden and is_found(person)
        person.forget(receipt.id)
        assert not is_found(person)


@pytest.mark.parametrize(
    ("origin", "fields", "is_heard"),
    [
        ("user", {}, True),
        ("operator", {}, True),
        ("user", {"text": "the staging  database listens on port 5433"}, True),
        ("user", {"at": "3d"}, False),
        ("user", {"source": "vault:notes.md"}, False),
        ("agent", {}, False),
        ("tool", {}, False),
        ("web", {}, False),
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
            with person.home.projector_lock():
                assert is_found(client) is is_heard
        else:
            client.project()
            assert is_found(client) is is_heard
            assert client.look_up(receipt, SCOPE).hidden is not is_heard
        assert receipt.hidden is not is_heard
        client.restore(receipt.id)
        assert is_found(client)
        assert not client.capture(**{"text": SAID, **fields}).hidden
        assert client.verify().ok


def test_what_was_said_between_two_forgettings_and_comes_later_stays_hidden(person: Client) -> None:
    first = person.capture(SAID)
    between = now_us()
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
        said = answered(agent, "add_memory", {"text": SAID})
        assert said.data["hidden"] is True and "Remembered" not in said.text and "restore_memory" in said.text
        other = answered(agent, "add_memory", {"text": "The gauge reads 7."})
        assert "hidden" not in other.data and "Remembered" in other.text


def test_to_restore_what_was_never_forgotten_says_so(person: Client) -> None:
    where = ["--home", str(person.home.path), "--scope", SCOPE]
    other = person.capture("The gauge reads 7.").id
    assert "None of that was hidden" in CliRunner().invoke(main, ["restore", other, *where]).output
    restored = json.loads(CliRunner().invoke(main, ["restore", other, "--json", *where]).output)
    assert restored == {"ids": [other], "was_hidden": False}
    assert "None of that was hidden" in answered(person, "restore_memory", {"id": other}).text
    person.forget(other)
    assert "None of that" not in CliRunner().invoke(main, ["restore", other, *where]).output
