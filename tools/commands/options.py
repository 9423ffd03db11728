"""The common parts of commands: options, messages of errors, and the printing of results."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import click
import msgspec
import orjson
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from msgspec import inspect

from memtape.schemas.errors import LogAway, MemtapeError, NotAdopted
from memtape.schemas.events import Kind, Origin
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.variables import SESSION_VARIABLE
from memtape.schemas.visible import one_line, visible, visible_json
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import HOME_VARIABLE, Home, default_home
from memtape.sinks.home.pauses import stores_nothing
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.client import Client
from memtape.tools.commands.cli import profile_option
from memtape.tools.keep.waiting import told_of_folding
from memtape.tools.verbs import OPTIONS, VERBS

CommandT = TypeVar("CommandT", bound=Callable[..., Any])
ListedT = TypeVar("ListedT")
Option = Callable[[CommandT], CommandT]
Output = Iterator[Any]
"""What a command yields: the document for `--json`, which ends there, then the lines for people."""

COMPLETED = 50
"""So many latest ids are offered to a shell."""
LEAST_RATED_S = 0.5
"""A shorter duration gives no rate."""
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


def latest_ids(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the ids of a project's latest memories that begin so, for the completion of a shell; make no home."""
    home, scope = Path(ctx.params.get("home") or default_home()), ctx.params.get("scope")
    if not home.is_dir():
        return []
    with suppress(MemtapeError, OSError), Client(home, scope=scope, wakes=False) as client:
        found: Iterable[Any] = client.recent(COMPLETED)
        if ctx.command.name == "restore":
            found = client.hidden(COMPLETED)
        elif ctx.command.name == "archive" and ctx.params.get("undo"):
            found = client.archived(COMPLETED).archived
        return [CompletionItem(it.id, help=one_line(it.text, 60)) for it in found if it.id.startswith(begun)]
    return []


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
                shell_complete=latest_ids,
            )
        return click.argument(field.name, shell_complete=latest_ids if field.name == "id" else None)
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


def print_output(output: Output | None) -> None:
    """Print the document of an output under `--json`, else its lines; nothing where a command has printed by itself."""
    for number, said in enumerate(output or ()):
        if is_json():
            return print_json(said)
        if number:
            say(said)


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
                with _folding_shown():
                    print_output(command(client, **kwargs))

        with _explained(home):
            _check_kept(home)
            if "" in (kwargs.get("scope"), described.get("scope")):
                check_scope("")
            try:
                return called()
            except NotAdopted as error:  # It is raised before the command has done anything.
                if not is_asked():
                    raise
                _ask_to_adopt(error, Path(home) if home is not None else default_home())
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


def _ask_to_adopt(error: NotAdopted, home: Path) -> None:
    """Ask a person once whether a new copy of a repository shares its memory, and keep the answer."""
    from memtape.tools.capture.project import adopt, set_apart

    say(str(error), err=True)
    if confirmed("Is this copy yours, and shall it use that memory?"):
        adopt(Path.cwd(), Home(home), error.scope)
    else:
        apart = set_apart(Path.cwd(), Home(home))
        say(f"It has a memory of its own, {apart.scope}; `memtape project adopt {error.scope}` changes that.", err=True)


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


def default_origin() -> Origin:
    """Return the origin of a caller: a person at a terminal, an agent for piped input."""
    return "user" if sys.stdin is not None and sys.stdin.isatty() else "agent"


@contextmanager
def _explained(home: str | None) -> Iterator[None]:
    """Print errors of Memtape or the system as one sentence and the next step; exit with code 1.

    The error is counted in the home if the home exists and the profile keeps anything.
    """
    try:
        yield
    except BrokenPipeError:  # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (MemtapeError, OSError) as error:
        hint = error.hint if isinstance(error, MemtapeError) else DISK_HINT
        said = _RUST_LINE.sub("", str(error))
        place = Path(home) if home is not None else default_home()
        if place.is_dir() and not stores_nothing() and not keeps_nothing(place):
            note(place, [("error", "cli", "", 1)])
        if is_json():
            waiting = {"spooled": error.spooled} if isinstance(error, LogAway) and error.spooled else {}
            code = error.code if isinstance(error, MemtapeError) else "system"
            print_json({"error": said, "hint": hint, "code": code} | waiting)
        say(f"Error: {said}" + (f"\n{hint}" if hint else ""), err=True)
        sys.exit(1)


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for people, on stdout or stderr, escaped for terminals. Every command prints by this."""
    click.echo(visible(text), err=err, nl=nl)


def print_json(value: Any, *, indent: bool = True) -> None:
    """Print a JSON document on stdout, on one line unless `indent`; control and hidden characters are escaped."""
    form = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indent else 0)
    document = orjson.dumps(value, default=_plain, option=form)
    sys.stdout.buffer.write(visible_json(document))
    sys.stdout.buffer.flush()


def _plain(value: Any) -> Any:
    return value._asdict() if hasattr(value, "_asdict") else msgspec.to_builtins(value, str_keys=True)


def is_asked() -> bool:
    """Whether a person at a terminal can answer."""
    return sys.stdin is not None and sys.stdin.isatty()


def confirmed(question: str) -> bool:
    """Whether a person at the terminal confirms; False without a terminal."""
    return is_asked() and click.confirm(question, err=True)


def is_json() -> bool:
    """Whether the running command was given `--json`."""
    return bool(click.get_current_context().params["as_json"])


def printed_json(value: Any, *, indent: bool = True) -> bool:
    """Print an answer as `print_json` if the running command was given `--json`; return whether it was."""
    if is_json():
        print_json(value, indent=indent)
    return is_json()


def listed(name: str, found: Sequence[ListedT], lines: Callable[[int, ListedT], Iterable[str]], nothing: str) -> Output:
    """Yield a list under `name`, then the lines of each entry; `lines` gets the entry's number from 1 on."""
    yield {name: found}
    for number, one in enumerate(found, start=1):
        yield from lines(number, one)
    if not found:
        yield nothing


def say_some(
    found: Sequence[ListedT], line: Callable[[ListedT], str], title: str = "", most: int = 50, *, err: bool = False
) -> None:
    """Print under a title a line for each of the first of many, and how many more there are; nothing for none."""
    if found and title:
        say(title, err=err)
    for one in found[:most]:
        say(line(one), err=err)
    if len(found) > most:
        say(f"  … and {len(found) - most:,} more; --json names them.", err=err)


@contextmanager
def phases() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that says how far a phase of long work is; each phase has a bar on stderr of its own."""
    shown, current, bar = ExitStack(), "", None

    def update(phase: str, done: int, total: int) -> None:
        nonlocal current, bar
        if phase != current:
            shown.close()
            current, bar = phase, shown.enter_context(progress(total, phase.capitalize()))
        assert bar is not None
        bar.update(min(done, total) - bar.pos)

    with shown:
        yield update


@contextmanager
def progress(length: int | None, label: str) -> Iterator[Any]:
    """Show a progress bar on stderr, which only a terminal shows, with rate and time left.

    Without a length it only counts.
    """
    # A generator is what click takes for work whose length nobody can tell.
    unknown = (None for _ in ()) if length is None else None
    hidden = not sys.stderr.isatty()

    def rate(_: object) -> str:
        elapsed_s = time.time() - bar.start
        return f"{bar.pos / elapsed_s:,.0f}/s" if bar.pos and elapsed_s >= LEAST_RATED_S else ""

    bar: Any = click.progressbar(
        unknown, length, label=label, file=sys.stderr, hidden=hidden, show_pos=True, item_show_func=rate
    )
    with bar:
        _SHOWN.append(bar)
        try:
            yield bar
        finally:
            _SHOWN.remove(bar)


_SHOWN: list[Any] = []
"""The visible bars: at most one at a time."""


@contextmanager
def _folding_shown() -> Iterator[None]:
    """Show a bar during a long fold of the log, unless another bar tells of it already."""
    shown = ExitStack()
    bar: Any = None
    began: float | None = None

    def told(done: int, total: int) -> None:
        nonlocal bar, began
        if not total:
            return
        began = time.monotonic() if began is None else began
        if bar is None and not _SHOWN and time.monotonic() - began >= LEAST_RATED_S:
            bar = shown.enter_context(progress(total, "Folding the log"))
        if bar is not None:
            bar.update(done - bar.pos)
        if done == total:  # What comes after it is printed below it.
            shown.close()
            bar = began = None

    with shown, told_of_folding(told):
        yield


LEVELS = ("debug", "info", "warning", "error")


def with_log(command: CommandT) -> CommandT:
    """Give a command `--log-format` and `--log-level`, either of which has it tell events of operation on stderr.

    The command is told by `logs` whether it does.
    """

    @functools.wraps(command)
    def wrapped(log_format: str | None, log_level: str | None, **kwargs: Any) -> Any:
        if log_format is None and log_level is None:
            return command(logs=False, **kwargs)
        import logging  # A hook, which stands in a file with a server's command, has no time for it.

        from memtape.tools.keep.operations import LOGGER as logger
        from memtape.tools.keep.operations import Lines

        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Lines(as_json=log_format == "json"))
        before = logger.level, logger.propagate
        logger.addHandler(handler)
        logger.setLevel((log_level or "info").upper())
        logger.propagate = False
        try:
            return command(logs=True, **kwargs)
        finally:
            logger.removeHandler(handler)
            logger.level, logger.propagate = before

    for option in (
        click.option("--log-level", type=click.Choice(LEVELS), help="From which level on; by default info."),
        click.option(
            "--log-format", type=click.Choice(("json", "text")), help="Tell events of operation on stderr, a line each."
        ),
    ):
        wrapped = option(wrapped)
    return cast(CommandT, wrapped)
