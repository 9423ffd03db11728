# ruff: noqa: F401
"""The common parts of commands: options, messages of errors, and the printing of results."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from msgspec import inspect

from memtape.schemas.errors import LogAway, MemtapeError, NotAdopted
from memtape.schemas.events import Kind, Origin
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.schemas.visible import one_line
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import HOME_VARIABLE, Home, default_home
from memtape.sinks.home.pauses import stores_nothing
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.client import Client
from memtape.tools.doors.cli import _have_profile, _latest_ids, ask_to_adopt, default_origin, explained, print_output
from memtape.tools.doors.cli import _latest_ids as latest_ids
from memtape.tools.doors.terminal import (
    LEVELS,
    confirmed,
    folding_shown,
    is_asked,
    is_json,
    listed,
    logged,
    phases,
    print_json,
    printed_json,
    progress,
    say,
    say_some,
)
from memtape.tools.former_verbs import OPTIONS, VERBS
from memtape.tools.verb import Output

profile_option = click.option(
    "--profile",
    expose_value=False,
    callback=_have_profile,
    metavar="NAME",
    help="How it is remembered: prod, dev_standard, dev_memory_test or dev_no_persist.",
)
CommandT = TypeVar("CommandT", bound=Callable[..., Any])
ListedT = TypeVar("ListedT")
Option = Callable[[CommandT], CommandT]

COMPLETED = 50
"""So many latest ids are offered to a shell."""
DISK_HINT = (
    "See that the disk has room, that the home can be written, and that no limit on file sizes (`ulimit -f`) is in "
    "force. What was acknowledged stands on the log."
)
_RUST_LINE = lazy(r", /\S+\.rs:\d+:\d+")
"""Where in their own code libraries say that something failed."""

KINDS = get_args(Kind)
ORIGINS = get_args(Origin)

as_of_option = click.option(
    "--as-of", help="Ask the past: a position as 3:120,7:45 (partition:offset), ISO 8601, or an age as 3d."
)


_SPEAKER = {
    "scope": click.option("--scope", help="global or project:NAME, by default the project of this folder."),
    "actor": click.option("--actor", help="The speaker's name, by default the user's."),
    "origin": click.option("--origin", type=click.Choice(ORIGINS), help="user at a terminal, else agent."),
}
_SESSION = {"session": click.option("--session", envvar=SESSION_VARIABLE, show_envvar=True, help="The session.")}


def with_arguments(verb: str, *names: str, but: str = "") -> Callable[[CommandT], CommandT]:
    """Give a command the arguments of a verb as the table describes them: all, the named ones, or all but one."""
    described = inspect.type_info((VERBS | OPTIONS)[verb].arguments)
    assert isinstance(described, inspect.StructType)
    fields = [field for field in described.fields if field.name != but and (not names or field.name in names)]

    def give(command: CommandT) -> CommandT:
        for field in reversed(fields):
            command = _parameter(field)(command)
        return command

    return give


def check_given(*names: str, message: str) -> None:
    """Raise `UsageError` with a message where the command line gives one of some options, by default or not."""
    given = click.get_current_context().get_parameter_source
    if any(given(name) is ParameterSource.COMMANDLINE for name in names):
        raise click.UsageError(message)


def _parameter(field: inspect.Field) -> Option[Any]:
    """Return the argument of a field that is required, unless it is called an option, else its option.

    A field with many values may be repeated. The caller checks that an option without a default is given.
    """
    kind, extra, help = field.type, dict[str, Any](), ""
    while isinstance(kind, inspect.Metadata):
        extra |= kind.extra or {}
        help, kind = (kind.extra_json_schema or {}).get("description", help), kind.type
    if field.required and "option" not in extra:
        if isinstance(kind, inspect.VarTupleType):
            return click.argument(
                field.name,
                required=True,
                nargs=-1,
                metavar=f"{field.name.upper().removesuffix('S')}...",
                shell_complete=_latest_ids,
            )
        return click.argument(field.name, shell_complete=_latest_ids if field.name == "id" else None)
    if isinstance(kind, inspect.BoolType):
        return click.option(extra.get("option") or f"--{field.name}", field.name, is_flag=True, help=help)
    if isinstance(kind, inspect.VarTupleType):
        name, values = extra.get("option") or f"--{field.name.removesuffix('s')}", _values(kind.item_type)
        given = () if field.required else field.default
        more: dict[str, Any] = {"default": given, "show_default": bool(given), "type": values}
        return click.option(name, field.name, multiple=True, help=f"{help} May be repeated.", **more)
    name = extra.get("option") or f"--{field.name.replace('_', '-')}"
    default = None if field.required else field.default
    return click.option(
        name, field.name, default=default, show_default=default is not None, type=_values(kind), help=help
    )


def _values(kind: inspect.Type) -> Any:
    """Return the click type for a value's type."""
    match kind:
        case inspect.Metadata(type=inner):
            return _values(inner)
        case inspect.UnionType(types=types):
            return _values(next(inner for inner in types if not isinstance(inner, inspect.NoneType)))
        case inspect.LiteralType(values=values):
            return click.Choice(values)
        case inspect.IntType():
            return int
        case inspect.FloatType(ge=low, le=high):
            return click.FloatRange(low, high)
        case _:
            return str


def with_client(command: CommandT) -> CommandT:
    """Give a command its client, described by options for the home, the scope and who speaks, and `--json`."""
    return _with(command, _SPEAKER | _SESSION, _speaking)


def with_speaker(command: CommandT) -> CommandT:
    """Give a command its client as `with_client` does, for a command to which `--session` means something else."""
    return _with(command, _SPEAKER, _speaking)


def _speaking(home: str | None, origin: Origin | None, **described: Any) -> Client:
    return Client(home, origin=origin or default_origin(), **described)


def with_home(command: CommandT) -> CommandT:
    """Give a command a client for the whole home, described by `--home` alone, and `--json`."""
    return _with(command, {}, lambda home: Client(home, scope=GLOBAL))


def with_folder(command: CommandT) -> CommandT:
    """Give a command the path of the home, which it opens by itself or not at all, and `--json`."""
    return _with(command, {}, lambda home: nullcontext(Path(home) if home is not None else default_home()))


def _with(
    command: CommandT, options: dict[str, Option[Any]], make: Callable[..., AbstractContextManager[Any]]
) -> CommandT:
    """Open a client from a command's options and pass it on; print the output, or an error as one sentence."""

    @functools.wraps(command)
    def wrapped(as_json: bool, **kwargs: Any) -> Any:  # `is_json` reads `as_json` of the running command.
        described, home = {name: kwargs.pop(name) for name in options}, kwargs.pop("home")

        def called() -> Any:
            with make(home=home, **described) as client:
                if isinstance(client, Client):
                    client.door = "cli"
                with folding_shown():
                    print_output(command(client, **kwargs))

        with explained(Path(home) if home is not None else default_home()):
            _check_kept(home)
            if "" in (kwargs.get("scope"), described.get("scope")):
                check_scope("")
            try:
                return called()
            except NotAdopted as error:  # It is raised before the command has done anything.
                if not is_asked():
                    raise
                ask_to_adopt(error, Path(home) if home is not None else default_home())
            return called()

    home = click.option(
        "--home",
        type=click.Path(file_okay=False),
        envvar=HOME_VARIABLE,
        show_envvar=True,
        help="The data folder, by default the user's own.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    decorated: Any = wrapped
    for option in (profile_option, as_json, home, *reversed(options.values())):
        decorated = option(decorated)
    return cast(CommandT, decorated)


def _check_kept(home: str | None) -> None:
    """Raise `MemtapeError` for an unknown profile, and for a command whose files the profile cannot keep."""
    profile = profile_of(Path(home) if home is not None else default_home())
    words = click.get_current_context().command_path.split()[1:]
    verb = next((verb for n in range(len(words), 0, -1) if (verb := " ".join(words[:n])) in VERBS), "")
    if not profile.keeps and verb and not VERBS[verb].in_memory:
        raise MemtapeError(
            f"`memtape {verb}` works on files that stay, and profile {profile.name} keeps none. Nothing was done.",
            "Name another profile by --profile.",
        )


def with_log(command: CommandT) -> CommandT:
    """Give a command `--log-format` and `--log-level`, either of which has it tell events of operation on stderr.

    The command is told by `logs` whether it does.
    """

    @functools.wraps(command)
    def wrapped(log_format: str | None, log_level: str | None, **kwargs: Any) -> Any:
        with logged(log_format, log_level) as logs:
            return command(logs=logs, **kwargs)

    for option in (
        click.option("--log-level", type=click.Choice(LEVELS), help="From which level on; by default info."),
        click.option(
            "--log-format", type=click.Choice(("json", "text")), help="Tell events of operation on stderr, a line each."
        ),
    ):
        wrapped = option(wrapped)
    return cast(CommandT, wrapped)


class Commands(click.Group):
    """A group of commands that are not yet values."""
