"""What the commands share: options, how an error is told, and how a result is printed."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args

import click
import msgspec
import orjson

from recollect.schemas.errors import RecollectError
from recollect.schemas.events import Kind, Origin
from recollect.tools.client import HOME_VARIABLE, SESSION_VARIABLE, Client

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

KINDS = get_args(Kind)
ORIGINS = get_args(Origin)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
kind_filter = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be repeated."
)


as_of_option = click.option(
    "--as-of", help="Ask the past: a position as 3:120,7:45 (partition:offset), ISO 8601, or an age as 3d."
)


def home_option(command: CommandT) -> CommandT:
    """Add `--home`."""
    option = click.option(
        "--home",
        type=click.Path(file_okay=False),
        envvar=HOME_VARIABLE,
        show_envvar=True,
        help="The data folder, by default the user's own.",
    )
    return option(command)


def scope_options(command: CommandT) -> CommandT:
    """Add who speaks where: `--scope`, `--actor`, `--origin` and `--session`."""
    for option in (
        click.option("--session", envvar=SESSION_VARIABLE, show_envvar=True, help="The session that this belongs to."),
        click.option("--origin", type=click.Choice(ORIGINS), help="Who speaks: user at a terminal, else agent."),
        click.option("--actor", help="The speaker's name, by default the user's."),
        click.option("--scope", help="global or project:NAME, by default the project of this folder."),
    ):
        command = option(command)
    return command


def client_of(
    home: str | None,
    scope: str | None = None,
    actor: str | None = None,
    origin: Origin | None = None,
    session: str | None = None,
) -> Client:
    """Return the client that a command's options describe."""
    return Client(home, scope=scope, actor=actor, origin=origin or default_origin(), session=session)


def default_origin() -> Origin:
    """A person sits at a terminal; whatever pipes its input is taken for an agent."""
    return "user" if sys.stdin is not None and sys.stdin.isatty() else "agent"


def explained(command: CommandT) -> CommandT:
    """Turn the errors that Recollect raises into one sentence, the next step, and exit code 1."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except RecollectError as error:
            if kwargs.get("as_json"):
                print_json({"error": str(error), "hint": error.hint})
            click.echo(f"Error: {error}" + (f"\n{error.hint}" if error.hint else ""), err=True)
            sys.exit(1)
        except BrokenPipeError:  # Whoever read our output has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)

    return cast(CommandT, wrapped)


def print_json(value: Any) -> None:
    """Print one JSON document on stdout."""
    plain = msgspec.to_builtins(value, str_keys=True)
    sys.stdout.buffer.write(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    sys.stdout.buffer.flush()


class Phases:
    """A bar for each phase of long work, on stderr, which only a terminal shows; it tells rate and time left."""

    def __init__(self) -> None:
        self._phase = ""
        self._bar: Any = None

    def update(self, phase: str, done: int, total: int) -> None:
        """Say how far a phase is; a new phase has a new bar."""
        if phase != self._phase:
            self.__exit__()
            self._phase, self._bar = phase, progress(total, phase.capitalize())
            self._bar.__enter__()
        self._bar.update(min(done, total) - self._bar.pos)

    def __enter__(self) -> Phases:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


def progress(length: int, label: str) -> Any:
    """Return a progress bar on stderr, which only a terminal shows."""
    return click.progressbar(length=length, label=label, file=sys.stderr, hidden=not sys.stderr.isatty(), show_pos=True)
