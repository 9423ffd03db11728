"""The command, the client's method and the tool of a verb are what its row in the table says, and cannot drift."""

from __future__ import annotations

import inspect

import click
import msgspec
import pytest

from memtape import Client
from memtape.state.views.filters import FILTERS
from memtape.tools.ask.asking import SearchOptions
from memtape.tools.capture.lines import Line
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import every_tool
from memtape.tools.former_verbs import DECISIONS, GROUPS, OPTIONS, VERBS, Arguments, SearchArguments, Verb
from memtape.tools.table import TOOLS

DESCRIBED = {name: verb for name, verb in (VERBS | OPTIONS).items() if verb.arguments and verb.method}


def fields_of(arguments: type[Arguments]) -> dict[str, object]:
    """Return the arguments by name with their defaults, `NODEFAULT` where one is required."""
    return {field.name: field.default for field in msgspec.structs.fields(arguments)}


def taken(verb: Verb) -> dict[str, object]:
    """Return what the client's method takes, with defaults, and what it hands on by `fields` and `filters`."""
    assert verb.method is not None
    handed_on = {"capture": Line}
    found: dict[str, object] = {}
    for each in (getattr(Client, verb.method), handed_on.get(verb.method)):
        for parameter in inspect.signature(each).parameters.values() if each is not None else ():
            found[parameter.name] = parameter.default
    of_search = {field.name: field.default for field in msgspec.structs.fields(SearchArguments)}
    options = (*SearchOptions.__annotations__, *FILTERS) if verb.method == "search" else ()
    return found | {name: of_search[name] for name in options if name in of_search}


def command_of(words: str) -> click.Command:
    """Return the command of some words, in a group or not."""
    found: click.Command = main
    for word in words.split():
        assert isinstance(found, click.Group)
        found = found.commands[word]
    return found


def test_the_commands_are_the_verbs() -> None:
    words = [*main.commands, *(f"{group} {name}" for group in GROUPS for name in command_of(group).commands)]  # type: ignore[attr-defined]
    assert set(words) == set(VERBS) and all(isinstance(command_of(name), click.Command) for name in VERBS)
    assert {verb.command for verb in OPTIONS.values()} <= set(VERBS) and len(main.commands) <= 24
    assert all(callable(getattr(Client, verb.method)) for verb in (VERBS | OPTIONS).values() if verb.method is not None)


@pytest.mark.parametrize("name", DESCRIBED)
def test_command_and_method_take_what_is_described(name: str) -> None:
    verb = DESCRIBED[name]
    assert verb.arguments is not None
    described, method = fields_of(verb.arguments), taken(verb)
    command = command_of(name if name in VERBS else verb.command)
    renamed = {"around": "id", "settled": "every", "conflict": "ids", "kinds": "kinds"}
    taken_by_command = {parameter.name for parameter in command.params}
    assert {renamed.get(each, each) for each in described} <= taken_by_command, name
    assert described.keys() <= method.keys()
    for argument, default in described.items():
        if default is msgspec.NODEFAULT:
            assert method[argument] is inspect.Parameter.empty, argument
        else:
            assert method[argument] == default, argument


def test_the_tools_of_agents_are_the_verbs_that_are_offered() -> None:
    offered = {verb.tool.name: verb for verb in (VERBS | OPTIONS).values() if verb.tool is not None}
    assert TOOLS.keys() == offered.keys()
    for name, tool in every_tool().items():
        arguments = offered[name].arguments
        assert arguments is not None and issubclass(tool.asks, arguments)


@pytest.mark.parametrize("name", [name for name in OPTIONS if name.startswith("tree ")])
def test_a_tool_of_a_group_takes_what_its_command_takes(name: str) -> None:
    arguments = OPTIONS[name].arguments
    assert arguments is not None
    assert fields_of(arguments).keys() <= {parameter.name for parameter in command_of(name).params}


def test_a_decision_has_a_method_and_arguments_and_what_undoes_it() -> None:
    rows = VERBS | OPTIONS
    for name, decision in DECISIONS.items():
        assert rows[name].decision == decision and rows[name].method
        assert decision.undo is None or (decision.undo in DECISIONS and decision.undo_command.split()[0] in VERBS)
