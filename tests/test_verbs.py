"""A verb is one value: the table finds it, each door offers what its fields say, and schemas are true."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner
from client_stub import STUB, written
from json_schemas import answers_of, portable_type

from memtape import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import every_tool
from memtape.tools.table import COMMANDS, GROUPS, INDEX, METHODS, SYNONYMS, TITLES, TOOLS, VERBS
from memtape.tools.verb import Asks, encoded, fields_of

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
    assert sorted(name for name, verb in VERBS.items() if verb.tool) == sorted(TOOLS.values())
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
    assert verb.doc.summary.endswith(".") and "\n" not in verb.doc.summary
    assert bool(verb.doc.example) is not bool(verb.mode)
    for line in filter(None, verb.doc.example.split("\n")):
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


def test_python_is_told_the_arguments_of_a_method_and_its_errors(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        told = inspect.signature(client.search)
        assert list(told.parameters)[:2] == ["query", "limit"] and told.parameters["limit"].default == 10
        assert client.search.__name__ == "search" and "query: What to look for" in client.search.__doc__
        for call, wrong in (
            (lambda: client.search(), "search() missing a required argument: 'query'"),
            (lambda: client.settle(), "settle() missing a required argument: 'conflict'"),
            (lambda: client.search("x", query="y"), "search() multiple values for argument 'query'"),
            (lambda: client.unpin("x", nope=1), "unpin() got an unexpected keyword argument 'nope'"),
            (lambda: client.pin("x", 1, 2, 3), "pin() too many positional arguments"),
        ):
            with pytest.raises(TypeError, match=re.escape(wrong)):
                call()


def test_json_has_the_reckoned_reasons_of_a_result_whatever_they_came_to(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a") as client:
        client.capture("The harbour is open.")
        why = json.loads(encoded(client.search("harbour")))["results"][0]["why"]
    assert why["looked"] == 1.0


def test_an_option_has_one_meaning_in_a_command() -> None:
    for names in COMMANDS.values():
        kinds: dict[str, tuple[Any, bool]] = {}
        for name in names:
            for field in fields_of(VERBS[name].asks):
                if not field.required and not field.extra.get("argument") and not field.extra.get("inside"):
                    kind = type(field.kind), field.extra.get("option", field.name)
                    assert kinds.setdefault(f"{field.extra.get('option', field.name)}", kind) == kind, (
                        name,
                        field.name,
                    )


def test_a_synonym_means_a_command_and_nothing_irreversible_first() -> None:
    for word, meant in SYNONYMS.items():
        assert word not in COMMANDS and set(meant) <= COMMANDS.keys(), word
        assert VERBS[COMMANDS[meant[0]][0]].effect != "erases", word


def test_agents_are_offered_nothing_that_erases_or_is_for_people() -> None:
    for tool in every_tool().values():
        assert tool.verb.effect != "erases"
        assert not {field.name for field in tool.fields()} & {"scope", "home", "origin", "quiet", "as_of"}


ELSEWHERE = """
admin tail, page, agents mcp, agents hook, import --watch, admin eval, admin compare,
admin compare --shadow, admin embedder rollback, admin secrets forget, admin secrets share,
admin secrets join, agents disconnect, project adopt, settle --keep, update --unfold, demo,
admin judge --with, admin access --set
"""
"""Verbs without an end, or that need a passphrase, model, host, user or conflict: they have own tests."""


def test_what_json_prints_is_what_the_schema_of_the_verb_says(tmp_path: Path) -> None:
    ids: list[str] = []
    walked: dict[str, None] = {}
    for line in (Path(__file__).parent / "data/verbs.txt").read_text().splitlines()[1:]:
        name, _, words = line.partition(" | ")
        named = {"a": ids[0] if ids else "", "b": ids[1] if len(ids) > 1 else "", "folder": str(tmp_path)}
        told = [word.format(**named) for word in shlex.split(words)]
        given = ["--scope", "project:demo"] if VERBS[name].at == "project" else []
        done = CliRunner().invoke(main, [*told, *given, "--json", "--home", str(tmp_path / "home")])
        assert done.exit_code in (0, 1) and done.stdout, (line, done.output)
        answer = json.loads(done.stdout)
        assert "error" not in answer, (line, answer)
        kind = portable_type(answers_of(VERBS[name]))
        if hasattr(kind, "__struct_fields__"):
            assert msgspec.convert(answer, kind) is not None
            assert answer.keys() <= set(kind.__struct_fields__), line
        ids += [answer["id"]] if name == "capture" else []
        walked[name] = None
    left_out = {name.strip() for name in ELSEWHERE.split(",")}
    assert walked.keys() | left_out == set(VERBS) and not walked.keys() & left_out


def test_what_is_published_stands_in_the_package() -> None:
    folder = Path(__file__).parent.parent / "schemas/json/answers"
    assert len(list(folder.glob("*.json"))) == len(VERBS)
