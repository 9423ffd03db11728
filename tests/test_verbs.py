"""A verb is one value: the table finds it, each door offers its fields, and what is published is true."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from client_stub import STUB, written
from json_schemas import portable_type

from memtape import Client
from memtape.tools.client import ask_verb
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import every_tool
from memtape.tools.table import COMMANDS, GROUPS, INDEX, METHODS, TITLES, TOOLS, VERBS
from memtape.tools.verb import Asks, answers_of, document, encoded, fields_of

EVERYDAY = 24
"""The most commands that help lists at the top."""


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that some words begin with, and the words that follow its name."""
    found: click.Command = main
    while isinstance(found, click.Group) and words and words[0] in found.list_commands(click.Context(found)):
        inner = found.get_command(click.Context(found), words[0])
        assert inner is not None
        found, words = inner, words[1:]
    return found, words


def test_the_table_names_every_verb_and_each_stands_where_it_says() -> None:
    for file, verbs in INDEX.items():
        found = import_module(f"memtape.tools.verbs.{file}").VERBS
        assert [verb.name for verb in found if verb.name not in verbs] == [], file
        assert {verb.name for verb in found} == verbs.keys(), file
    assert {verb.tool.name: name for name, verb in VERBS.items() if verb.tool} == TOOLS
    assert all(verb.asks is Asks or issubclass(verb.asks, Asks) for verb in VERBS.values())


def test_help_names_few_commands_and_every_command_is_in_a_group_or_there() -> None:
    top = [name for names in TITLES.values() for name in names]
    assert len(top) <= EVERYDAY and len(set(top)) == len(top)
    for name in COMMANDS:
        first = name.partition(" ")[0]
        assert first in top or name == "overview", name
        assert (first in GROUPS) is (" " in name), name


@pytest.mark.parametrize("name", [name for name in VERBS if name != "overview"])
def test_the_example_of_a_verb_is_a_command_that_is_understood(name: str) -> None:
    verb = VERBS[name]
    assert verb.summary.endswith(".") and "\n" not in verb.summary
    for line in verb.example.split("\n"):
        told = line.partition("memtape ")[2].removesuffix(')"' if "$(" in line else "")
        words = shlex.split(told.split(" < ")[0].split(" > ")[0])
        command, rest = command_of(words)
        if isinstance(command, click.Group):
            assert GROUPS[words[0]].default, line
            continue
        with command.make_context(command.name, [word for word in rest if word != "--help"]) as context:
            assert context.params, line


def test_the_client_has_a_method_of_each_verb_and_editors_know_it() -> None:
    assert all(callable(getattr(Client, method)) or hasattr(Client, method) for method in METHODS)
    assert STUB.read_text() == written(), "`make docs` writes it anew"


def test_an_option_has_one_meaning_in_a_command() -> None:
    for names in COMMANDS.values():
        kinds: dict[str, tuple[Any, bool]] = {}
        for name in names:
            for field in fields_of(VERBS[name].asks):
                if not field.required and not field.extra.get("argument") and not field.extra.get("inside"):
                    kind = type(field.kind), field.extra.get("option", field.name)
                    assert kinds.setdefault(str(kind[1]), kind) == kind, (name, field.name)


def test_agents_are_offered_nothing_that_erases_or_is_for_people() -> None:
    for tool in every_tool().values():
        assert tool.verb.effect != "erases" and tool.verb.in_memory in (True, False)
        assert not {field.name for field in tool.fields()} & {"scope", "home", "origin", "quiet", "as_of"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(tmp_path_factory.mktemp("home"), scope="project:demo", origin="user", session="s") as client:
        client.capture("The staging database listens on port 5433.", tags=("infra",))
        client.capture("Where is the staging database?", "turn")
        client.tree.new("deploy", "How we deploy.")
        client.use([client.recent()[0].id], client.search("staging port").recall_id)
        client.pin(client.recent()[0].id)
        client.project()
        yield client


WAYS: dict[str, dict[str, Any]] = {
    "search": {"query": "staging port", "explain": True}, "show --around": {"around": "1d"},
    "admin diff": {"before": "1d", "after": "0s"}, "tree show": {"page": "deploy"},
}  # fmt: skip
"""What verbs are asked with that need something."""


APART = {"admin lifecycle --set", "admin tail", "admin compare --shadow", "admin eval", "verify --erased"}
"""They have no end, or need a shadow, a file or an erasure: other tests have them."""
READING = [name for name, verb in VERBS.items() if verb.effect == "reads" and verb.at != "folder"]


@pytest.mark.parametrize("name", [name for name in READING if name not in APART])
def test_the_answer_of_a_verb_is_what_its_schema_says(memory: Client, name: str, tmp_path: Path) -> None:
    verb, ways = VERBS[name], WAYS | {"admin copy": {"to": str(tmp_path / "copy")}}
    required = [field.name for field in fields_of(verb.asks) if field.required]
    asked = dict.fromkeys(required, memory.recent()[0].id) | ways.get(name, {})
    told = json.loads(encoded(document(verb, ask_verb(memory, name, **asked))))
    kind = portable_type(answers_of(verb))
    if hasattr(kind, "__struct_fields__"):
        assert msgspec.convert(told, kind) is not None
        assert set(told) <= set(kind.__struct_fields__), "nothing that is not published"


def test_what_is_published_stands_in_the_package() -> None:
    folder = Path(__file__).parent.parent / "schemas/json/answers"
    assert len(list(folder.glob("*.json"))) == len(VERBS)
