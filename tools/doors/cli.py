"""The command line: the command `memtape`, its groups and its commands, made from the table of verbs.

Options, words and help follow from the fields of what a verb asks. An error is one sentence, the next step
and exit code 1. No verb is named here but to put the commands under titles.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import CompletionItem
from msgspec import inspect

from memtape import __version__
from memtape.schemas.errors import InvalidUse, LogAway, MemtapeError, NotAdopted
from memtape.schemas.events import Origin
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.variables import PROFILE_VARIABLE, SESSION_VARIABLE
from memtape.schemas.visible import one_line, visible
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import HOME_VARIABLE, Home, default_home
from memtape.sinks.home.pauses import stores_nothing
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.client import Client
from memtape.tools.doors.terminal import confirmed, folding_shown, is_asked, is_json, phases, print_json, say
from memtape.tools.table import COMMANDS, GROUPS, TITLES, VERBS
from memtape.tools.verb import Asks, Failure, Output, Place, Verb, VerbField, document
from memtape.tools.verb import fields_of as all_fields_of

ORIGINS = get_args(Origin)
COMPLETED = 50
"""So many latest ids are offered to a shell."""
LONGEST_CHARS = 200
"""The most characters of a command's line in the help."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
DISK_HINT = (
    "See that the disk has room, that the home can be written, and that no limit on file sizes (`ulimit -f`) "
    "is in force. What was acknowledged stands on the log."
)
_RUST_LINE = lazy(r", /\S+\.rs:\d+:\d+")
"""Where in their own code libraries say that something failed."""

Given = Mapping[str, Any]
"""What the command line gives, by the names of parameters."""


def _have_profile(ctx: click.Context, option: click.Parameter, name: str | None) -> None:
    """Set the profile of this process and its children until the end of the command."""
    if name is None:
        return
    before = os.environ.get(PROFILE_VARIABLE)
    os.environ[PROFILE_VARIABLE] = name or " "  # No name at all is a mistake as well, and not the default.

    def end() -> None:
        os.environ.pop(PROFILE_VARIABLE)
        if before is not None:
            os.environ[PROFILE_VARIABLE] = before

    ctx.call_on_close(end)


def profile_option() -> click.Option:
    """Return the option by which every command is told its profile."""
    return click.Option(
        ["--profile"],
        expose_value=False,
        callback=_have_profile,
        metavar="NAME",
        help="How it is remembered: prod, dev_standard, dev_memory_test or dev_no_persist.",
    )


def _common(at: Place) -> list[click.Option]:
    """Return the options that all commands of a place have."""
    speaker = [
        click.Option(["--scope"], help="global or project:NAME, by default the project of this folder."),
        click.Option(["--actor"], help="The speaker's name, by default the user's."),
        click.Option(["--origin"], type=click.Choice(ORIGINS), help="user at a terminal, else agent."),
        click.Option(["--session"], envvar=SESSION_VARIABLE, show_envvar=True, help="The session."),
    ]
    home = click.Option(
        ["--home"],
        type=click.Path(file_okay=False),
        envvar=HOME_VARIABLE,
        show_envvar=True,
        help="The data folder, by default the user's own.",
    )
    as_json = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document.")
    return [*(speaker if at == "project" else []), home, as_json, profile_option()]


def make_command(name: str) -> click.Command:
    """Return the command of some words: of one verb, or of several that its options select."""
    verbs = [VERBS[each] for each in COMMANDS[name]]
    first = verbs[0]
    own: dict[str, click.Option] = {}
    for verb in verbs:
        if verb.mode.startswith("--") and not _takes(verb, verb.mode):
            names = [verb.mode, _key(verb.mode)]
            own.setdefault(verb.mode, click.Option(names, is_flag=True, help=verb.summary))
        for field in fields_of(verb.asks):
            if not _is_word(field):
                own.setdefault(_option_of(field), _option(field, needed=field.required and len(verbs) == 1))
    common = [option for option in _common(first.at) if option.opts[0] not in own]
    return click.Command(
        name.rpartition(" ")[2],
        params=[*_words_of(verbs), *own.values(), *common],
        callback=lambda **given: _called(verbs, given),
        help=_help(first.summary, first.details, first.example),
        hidden=name == "overview",
        context_settings={"ignore_unknown_options": True} if first.is_tolerant else None,
    )


def fields_of(asks: type[Asks]) -> list[VerbField]:
    """Return the fields that a command has."""
    return [field for field in all_fields_of(asks) if not field.extra.get("inside")]


def _is_word(field: VerbField) -> bool:
    """Whether a field is given as a word: it is required and no option, or says so."""
    return field.extra.get("argument", False) or (field.required and "option" not in field.extra)


def _option_of(field: VerbField) -> str:
    """Return the option by which a field is given."""
    if "option" in field.extra:
        return str(field.extra["option"])
    name = field.name.removesuffix("s") if isinstance(field.kind, inspect.VarTupleType) else field.name
    return "--" + name.replace("_", "-")


def _key(option: str) -> str:
    """Return the name under which click gives an option's value."""
    return "given_" + option.lstrip("-").replace("-", "_")


def _words_of(verbs: Sequence[Verb]) -> list[click.Argument]:
    """Return the parameter of a command's words, named as those of its first verb; none without words."""
    named = [[field for field in fields_of(verb.asks) if _is_word(field)] for verb in verbs]
    longest = max(named, key=len)
    if not longest:
        return []
    told = []
    for place in range(len(longest)):
        here = [fields[place] for fields in named if len(fields) > place]
        needed = len(here) == len(named) and all(field.required for field in here)
        names = dict.fromkeys(map(_metavar, here))
        told.append("|".join(names) if needed else f"[{'|'.join(name.strip('{}') for name in names)}]")
        if any(isinstance(field.kind, inspect.VarTupleType) for field in here):
            told[-1] += "..."
    completes = _completion(longest[0])
    return [click.Argument(["words"], nargs=-1, metavar=" ".join(told), shell_complete=completes)]


def _metavar(field: VerbField) -> str:
    name = field.name.removesuffix("s") if isinstance(field.kind, inspect.VarTupleType) else field.name
    choices = f"{{{'|'.join(field.extra['choices'])}}}" if "choices" in field.extra else ""
    return str(field.extra.get("metavar") or choices or name.upper())


def _option(field: VerbField, *, needed: bool = False) -> click.Option:
    """Return the option of a field; one with many values may be repeated."""
    name, many = _option_of(field), isinstance(field.kind, inspect.VarTupleType)
    key, more = _key(name), dict[str, Any]()
    more |= {extra: field.extra.get(extra) for extra in ("envvar", "metavar")}
    if isinstance(field.kind, inspect.BoolType):
        both = f"{name}/--no-{name[2:]}" if field.default is True else name
        hidden = field.extra.get("hidden", False)
        names = filter(None, [both, field.extra.get("also"), key])
        return click.Option(list(names), is_flag=True, default=field.default, help=field.help, hidden=hidden)
    inner = field.kind.item_type if isinstance(field.kind, inspect.VarTupleType) else field.kind
    default = None if field.required else field.default
    return click.Option(
        [name, key],
        multiple=many,
        default=default,
        required=needed,
        show_default=default not in (None, (), "", 0),
        type=_values(inner, field.extra),
        help=f"{field.help} May be repeated." if many else field.help,
        hidden=field.extra.get("hidden", False),
        **more,
    )


def _values(kind: inspect.Type, extra: Mapping[str, Any]) -> Any:
    """Return the click type of a field's values."""
    if "choices" in extra:
        return click.Choice(extra["choices"])
    if "path" in extra:
        return click.Path(exists=extra["path"] == "file", dir_okay=extra["path"] == "any")
    match kind:
        case inspect.Metadata(type=inner):
            return _values(inner, extra)
        case inspect.UnionType(types=types):
            return _values(next(inner for inner in types if not isinstance(inner, inspect.NoneType)), extra)
        case inspect.IntType(ge=None, le=None):
            return int
        case inspect.IntType(ge=low, le=high):
            return click.IntRange(low, high)
        case inspect.FloatType(ge=low, le=high):
            return click.FloatRange(low, high)
        case _:
            return str


def _completion(field: VerbField) -> Any:
    """Return how a shell completes a command's words: by their type (files, choices) or by latest ids."""
    inner = field.kind.item_type if isinstance(field.kind, inspect.VarTupleType) else field.kind
    kind = _values(inner, field.extra)
    return kind.shell_complete if isinstance(kind, click.ParamType) else _latest_ids


def _latest_ids(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the latest memories' ids that begin so, for the completion of a shell; make no home."""
    home, scope = Path(ctx.params.get("home") or default_home()), ctx.params.get("scope")
    if not home.is_dir():
        return []
    with suppress(MemtapeError, OSError), Client(home, scope=scope, wakes=False) as client:
        found: Iterable[Any] = client.recent(COMPLETED)
        if ctx.command.name == "restore":
            found = client.hidden(COMPLETED)
        elif ctx.command.name == "archive" and ctx.params.get(_key("--undo")):
            found = client.archived(COMPLETED).archived
        return [CompletionItem(it.id, help=one_line(it.text, 60)) for it in found if it.id.startswith(begun)]
    return []


def _called(verbs: Sequence[Verb], given: Given) -> None:
    """Do what a command line asks: choose the verb, make what it is asked, and print its answer."""
    named = given.get("home")
    home = Path(named) if named is not None else default_home()
    with explained(home):
        verb = _chosen(verbs, given)
        if not verb.is_tolerant:
            _check_kept(verb, home)
        asked = _asked(verb, verbs, given)
        try:
            _done(verb, asked, given, home)
        except NotAdopted as error:  # It is raised before the command has done anything.
            if not is_asked():
                raise
            ask_to_adopt(error, home)
            _done(verb, asked, given, home)


def _is_given(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(_key(option))
    return source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def _chosen(verbs: Sequence[Verb], given: Given) -> Verb:
    """Return the verb that the options select: that of one option, else the first, or that without words."""
    selected = [verb for verb in verbs if verb.mode.startswith("--") and _is_given(verb.mode)]
    # An option of a verb may select another one, as --undo beside --holds: the verb that takes both is meant.
    others = {it.mode: [other for other in selected if other is not it] for it in selected}
    selected = [it for it in selected if not any(_takes(other, it.mode) for other in others[it.mode])]
    if len(selected) > 1:
        raise click.UsageError(f"Give one of {_listed([verb.mode for verb in selected])}.")
    if selected:
        return selected[0]
    bare = next((verb for verb in verbs if verb.mode == "-"), None)
    main = next((verb for verb in verbs if not verb.mode), None)
    if main is None or (bare is not None and not given.get("words")):
        if bare is None:
            raise click.UsageError(f"Give one of {_listed([verb.mode for verb in verbs])}.")
        return bare
    return main


def _takes(verb: Verb, option: str) -> bool:
    return any(_option_of(field) == option for field in fields_of(verb.asks) if not _is_word(field))


def _needs(verb: Verb, place: int) -> bool:
    """Whether a verb needs a word at a place."""
    words = [field for field in fields_of(verb.asks) if _is_word(field)]
    return len(words) > place and words[place].required


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _asked(verb: Verb, verbs: Sequence[Verb], given: Given) -> Any:
    """Return what the verb is asked. Raises `UsageError` for what is missing, too much or of another verb."""
    fields, words, values = fields_of(verb.asks), list(given.get("words", ())), dict[str, Any]()
    own = {_option_of(field): field for field in fields if not _is_word(field)}
    taken = {_option_of(field) for other in verbs for field in fields_of(other.asks) if not _is_word(field)}
    for option in sorted(taken.difference(own, (verb.mode,))):
        if _is_given(option):
            takers = [other.mode or "words" for other in verbs if _takes(other, option)]
            if verb.mode.startswith("--"):
                raise click.UsageError(f"{option} does not go with {verb.mode}.")
            raise click.UsageError(f"{option} goes with {_listed(takers)}.")
    with_option = f" with {verb.mode}" if verb.mode.startswith("--") else ""
    for place, field in enumerate(field for field in fields if _is_word(field)):
        if isinstance(field.kind, inspect.VarTupleType):
            values[field.name], words = tuple(words), []
        elif words:
            values[field.name] = _word(field, words.pop(0))
        if field.required and values.get(field.name, ()) == ():
            others = [it.mode for it in verbs if not verb.mode and it.mode and not _needs(it, place)]
            instead = f"; without it, {'one of ' * (len(others) > 1)}{_listed(others)}" if others else ""
            raise click.UsageError(f"Missing argument '{_metavar(field)}'{with_option}{instead}.")
    if words:
        told = f"Got unexpected extra argument{'s' * (len(words) > 1)} ({' '.join(words)}){with_option}"
        takers = [it.mode for it in verbs if verb.mode == "-" and any(map(_is_word, fields_of(it.asks)))]
        raise click.UsageError(told + (f"; they go with one of {_listed(takers)}." if takers else "."))
    values |= {field.name: given[_key(option)] for option, field in own.items() if _is_given(option)}
    if missing := [option for option, field in own.items() if field.required and field.name not in values]:
        raise click.UsageError(f"Missing option '{missing[0]}'.")
    return verb.asks(**values)


def _word(field: VerbField, word: str) -> Any:
    """Return the value of a word. Raises `UsageError` for one that the field does not take."""
    kind = _values(field.kind, field.extra)
    if not isinstance(kind, click.ParamType):
        return word
    argument = click.Argument([field.name], metavar=_metavar(field))
    return kind.convert(word, argument, click.get_current_context())


def _done(verb: Verb, asked: Any, given: Given, home: Path) -> None:
    """Do a verb, and print its answer: the document of `--json`, or lines for people."""
    if verb.at == "folder":
        print_output(_output(verb, home, asked))
        return
    speaker = {name: given[name] for name in ("scope", "actor", "session") if name in given}
    if verb.at == "home":
        speaker = {"scope": GLOBAL}
    elif speaker.get("scope") == "":
        check_scope("")
    origin = given.get("origin") or default_origin()
    with Client(home, origin=origin, **speaker) as client, folding_shown(), phases() as update:
        client.door, client.on_phase = "cli", update
        client.on_note = lambda note: say(note, err=True)
        print_output(_output(verb, client, asked))


def _output(verb: Verb, world: Any, asked: Any) -> Output:
    """Yield the document and the lines of a verb. A verb that answers None has printed all by itself."""
    walk = verb.answer(world, asked) if verb.shell is None else verb.shell(world, asked)
    if isinstance(walk, Iterator):
        for number, told in enumerate(walk):
            yield told if number else document(verb, told)
    elif walk is not None:
        yield document(verb, walk)
        if verb.lines is not None:
            yield from verb.lines(world, asked, walk)


def print_output(output: Output | None) -> None:
    """Print the document of an output under `--json`, else its lines. Exits with 1 after a `Failure`."""
    failed = False
    for number, said in enumerate(output or ()):
        if not number:
            failed = isinstance(said, Failure)
            if is_json():
                print_json(said.document if isinstance(said, Failure) else said)
                break
        else:
            say(said)
    if failed:
        sys.exit(1)


def ask_to_adopt(error: NotAdopted, home: Path) -> None:
    """Ask a person once whether a new copy of a repository shares its memory, and keep the answer."""
    from memtape.tools.capture.project import adopt, set_apart

    say(str(error), err=True)
    if confirmed("Is this copy yours, and shall it use that memory?"):
        adopt(Path.cwd(), Home(home), error.scope)
    else:
        apart = set_apart(Path.cwd(), Home(home))
        say(
            f"It has a memory of its own, {apart.scope}; `memtape project adopt {error.scope}` changes that.",
            err=True,
        )


def _check_kept(verb: Verb, home: Path) -> None:
    """Raise `MemtapeError` for an unknown profile, and for a command whose files the profile cannot keep."""
    profile = profile_of(home)
    if not profile.keeps and not verb.in_memory:
        raise MemtapeError(
            f"`memtape {verb.command}` works on files that stay, and profile {profile.name} keeps none. "
            "Nothing was done.",
            "Name another profile by --profile.",
        )


def default_origin() -> Origin:
    """Return the origin of a caller: a person at a terminal, an agent for piped input."""
    return "user" if is_asked() else "agent"


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Print errors of Memtape or the system as one sentence and the next step; exit with 1, or 2 for wrong use.

    The error is counted in the home if the home exists and the profile keeps anything.
    """
    try:
        yield
    except BrokenPipeError:  # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except InvalidUse as error:
        raise click.UsageError(f"{error} {error.hint}".rstrip()) from None
    except (MemtapeError, OSError) as error:
        hint = error.hint if isinstance(error, MemtapeError) else DISK_HINT
        told = _RUST_LINE.sub("", str(error))
        if home.is_dir() and not stores_nothing() and not keeps_nothing(home):
            note(home, [("error", "cli", "", 1)])
        if is_json():
            waiting = {"spooled": error.spooled} if isinstance(error, LogAway) and error.spooled else {}
            code = error.code if isinstance(error, MemtapeError) else "system"
            print_json({"error": told, "hint": hint, "code": code} | waiting)
        say(f"Error: {told}" + (f"\n{hint}" if hint else ""), err=True)
        sys.exit(1)


class Commands(click.Group):
    """A group of commands, each made when first asked for; usage errors are escaped like all printed text."""

    def __init__(self, name: str, commands: Sequence[str], **options: Any) -> None:
        super().__init__(name.rpartition(" ")[2] or "memtape", context_settings=SETTINGS, **options)
        self.words = name
        self.names = commands
        self.titles: Mapping[str, Sequence[str]] = {"Commands": commands}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of help."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in self.commands and cmd_name in (*self.names, "overview"):
            self.commands[cmd_name] = _made(f"{self.words} {cmd_name}".strip())
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take an unknown first word as one of the command that a group does without one."""
        default = GROUPS[self.words].default if self.words in GROUPS else ""
        if default and (not args or (args[0] not in self.names and args[0] not in ctx.help_option_names)):
            args = [default, *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their titles, each with its whole first sentence."""
        for title, names in self.titles.items():
            with formatter.section(title):
                commands = [(name, self.get_command(ctx, name)) for name in names]
                formatter.write_dl([(it, of.get_short_help_str(LONGEST_CHARS)) for it, of in commands if of])

    def invoke(self, ctx: click.Context) -> Any:
        """Call the given command."""
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:  # Its message is the help of a group.
            raise
        except click.UsageError as error:
            raise click.UsageError(visible(error.format_message()), error.ctx) from None


def _made(words: str) -> click.Command:
    """Return the command or the group of some words."""
    if words not in GROUPS:
        return make_command(words)
    group, before = GROUPS[words], f"{words} "
    inner = (name.removeprefix(before) for name in COMMANDS if name.startswith(before))
    names = dict.fromkeys(name.partition(" ")[0] for name in inner)
    return Commands(words, tuple(names), help=_help(group.summary, group.details, group.example))


def _help(summary: str, details: str, example: str) -> str:
    """Return the help of a command, with an example that is not wrapped."""
    lines = "\n".join(f"  {line}" for line in example.split("\n"))
    return "\n\n".join(filter(None, (summary, details, f"\b\nExample:\n{lines}")))


def _overview(ctx: click.Context) -> None:
    """Without a command, say what this project remembers."""
    if ctx.invoked_subcommand is None:
        overview = main.get_command(ctx, "overview")
        assert overview is not None
        with overview.make_context("overview", [], parent=ctx) as alone:
            overview.invoke(alone)


main = Commands(
    "",
    [name for names in TITLES.values() for name in names],
    help=_help(
        "Agent memory you can replay.",
        "Everything that agents say, recall and delete is an event on one log, and every memory is a view of "
        "it. Without a command it says what this project remembers, and what waits for you.",
        'memtape capture "We deploy on Tuesdays."\nmemtape search "when do we deploy"',
    ),
    invoke_without_command=True,
    callback=click.pass_context(_overview),
    params=[profile_option()],
)
main.titles = TITLES
click.version_option(__version__, prog_name="memtape")(main)
