"""Ids as people and agents give them: whole or in part, and found in whatever scope they stand."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from builders import captured, make_id
from click.testing import CliRunner, Result
from msgspec.structs import replace

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.tools.agents.mcp.handlers import ServedMemory
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import every_tool

A, B = "project:a", "project:b"
HEADS = ("01234567", "11234567", "01234568")
FIRST, SECOND, OTHER = (f"{head}-89ab-7def-8123-4567{head[::-1]}" for head in HEADS)
TEXTS = {FIRST: "The gauge fell.", SECOND: "Lunch is at noon.", OTHER: "Mira owns the harbour."}

VERBS = ("show", "why", "edges", "forget", "restore", "use", "timeline", "update")


def ask(client: Client, verb: str, id: str) -> None:
    """Call a method of a client for an id."""
    more = ["Quite another text."] if verb == "update" else []
    getattr(client, verb)([id] if verb == "use" else id, *more)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with two memories of b and one of a, asked from a folder that is neither."""
    monkeypatch.setenv("MEMTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.delenv("MEMTAPE_SESSION", raising=False)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with Client(tmp_path / "home", scope=A) as client:
        for id, scope in ((FIRST, B), (SECOND, B), (OTHER, A)):
            client.log.append([replace(captured(TEXTS[id], scope=scope), id=id)])
        client.project()
    return tmp_path / "home"


def call(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def document(*words: str) -> Any:
    result = call(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


COMMANDS = [
    *(f"show ID{option}" for option in ("", " --why", " --edges", " --around")),
    *("forget ID", "restore ID", "pin ID", "pin ID --undo", "archive ID", "archive ID --undo"),
    "erase ID --dry-run",
    "update ID 'Quite another text.' --origin user",
    *(f"update ID {how} --origin user" for how in ("--holds", f"--by {SECOND}", "--unfold")),
]
"""The commands that name a memory by an id."""


def call_for(command: str, id: str, *more: str) -> Result:
    """Call a command for an id."""
    return call(*(id if word == "ID" else word for word in shlex.split(command)), *more)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_finds_the_scope_of_an_id(command: str) -> None:
    given = (FIRST, FIRST[:8], FIRST[-8:])[COMMANDS.index(command) % 3]
    result = call_for(command, given)
    if "--unfold" in command:
        assert result.exit_code == 1 and f"Nothing is folded into {FIRST}" in result.stderr
    else:
        assert result.exit_code == 0, result.output
    if command == "forget ID":
        assert f"memtape restore {FIRST[-8:]}\n" in result.output
    named = call_for(command, given, "--scope", A)
    assert named.exit_code == 1 and re.search("project:a (has no|shows nothing)", named.stderr), named.output
    assert "Traceback" not in named.output


def test_what_a_command_appends_stands_in_the_scope_of_the_id(home: Path) -> None:
    assert document("forget", SECOND[:8])["ids"] == [SECOND]
    assert document("show", SECOND)["memory"]["hidden"]
    document("agents", "used", FIRST[:8])
    events = document("log", "--scope", B, "--type", "forgotten", "--type", "used")["events"]
    assert [each["event"]["body"]["ids"] for each in events] == [[SECOND], [FIRST]]
    assert not (home / "folders.json").exists(), "nothing was put into the project of this folder"
    erased = document("erase", FIRST[:8])
    assert (erased["ok"], erased["scope"], [item["id"] for item in erased["erased"]]) == (True, B, [FIRST])
    again = call("erase", FIRST[:8])
    assert again.exit_code == 1 and "Not proven" in again.output, "without the text none is looked for"
    again = call("show", FIRST[:8])
    assert again.exit_code == 1 and "was erased" in again.stderr


def test_a_beginning_of_several_ids_names_them() -> None:
    twin = f"{FIRST[:9]}9000{FIRST[13:]}"
    with Client(scope=B) as client:
        client.log.append([replace(captured("Another.", scope=B), id=twin)])
    for command in COMMANDS:
        result = call_for(command, FIRST[:8])
        assert result.exit_code == 1 and FIRST in result.stderr and twin in result.stderr
        assert "Give the whole" in result.stderr and OTHER not in result.stderr
    for command in COMMANDS:  # The twin ends alike.
        assert {FIRST in call_for(command, FIRST[-8:]).stderr} == {True}
    assert document("show", FIRST[:10])["memory"]["text"] == TEXTS[FIRST]
    with Client(scope=A) as client:  # What is in another scope makes nothing ambiguous here.
        client.log.append([replace(captured("Here."), id=f"{FIRST[:9]}1111-7def-8123-456789abcdef", scope=A)])
        assert client.show(FIRST[:8]).asked == f"{FIRST[:9]}1111-7def-8123-456789abcdef"


@pytest.mark.parametrize("given", ["0123456", "01234567x", "99999999", "%%%%%%%%", make_id("nobody"), ""])
def test_what_begins_no_id_is_not_found(given: str) -> None:
    for command in COMMANDS:
        if given or "--edges" not in command:
            result = call_for(command, given)
            assert result.exit_code == 1 and "has no" in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize("verb", VERBS)
def test_a_client_of_a_scope_sees_no_id_of_another(home: Path, verb: str) -> None:
    for client in (Client(home, scope=A), Client(home, confined=True)):
        with client:
            for given in (FIRST, FIRST[:8], SECOND[:8]):
                with pytest.raises(NotFound) as refused:
                    ask(client, verb, given)
                assert B not in str(refused.value) + refused.value.hint
    with Client(home, origin="user") as roaming, Client(home, scope=A, origin="user") as own:
        ask(roaming, verb, FIRST[:8])
        ask(own, verb, OTHER[:8])


def test_an_agent_stays_in_its_project(home: Path, tmp_path: Path) -> None:
    """Whatever a tool is called, and in whatever form it takes an id."""
    memory = ServedMemory(home, scope=None)
    fields = {name: set(tool.asks.__struct_fields__) for name, tool in every_tool().items()}
    with_ids = [name for name in fields if {"id", "ids"} & fields[name]]
    assert len(with_ids) == 5
    for name in with_ids:
        for given in (FIRST, FIRST[:8]):
            asked: dict[str, Any] = {"ids": [given]} if name == "mark_used" else {"id": given}
            asked |= {"text": "Quite another text."} if name == "update_memory" else {}
            with pytest.raises(MemtapeError) as refused:
                memory.call(name, asked, tmp_path / "elsewhere", "x")
            told = str(refused.value) + refused.value.hint
            assert TEXTS[FIRST] not in told and B not in told and FIRST not in told.replace(given, "")
    memory.close()
    inside = ServedMemory(home, scope=B)
    assert TEXTS[FIRST] in inside.call("get_memory", {"id": FIRST[:8]}, tmp_path, "x")
    assert "Noted the use of 1" in inside.call("mark_used", {"ids": [FIRST[:8]]}, tmp_path, "x")
    assert "Forgot 1" in inside.call("forget_memory", {"id": FIRST[:8]}, tmp_path, "x")
    inside.close()


def test_every_command_that_names_a_memory_is_tried() -> None:
    context, named = click.Context(main), set[str]()
    for name in main.list_commands(context):
        arguments = [it for it in main.get_command(context, name).params if isinstance(it, click.Argument)]
        named |= {name for it in arguments if "ID" in str(it.metavar)}
    assert named - {"settle"} == {command.split()[0] for command in COMMANDS}
