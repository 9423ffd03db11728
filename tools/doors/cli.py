"""The command line: the command `memtape`, its groups and its commands, made from the table of verbs.

The types, help and choices of options and words follow from the fields of what the verbs ask. No verb is
named here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource
from click.exceptions import NoArgsIsHelpError
from click.shell_completion import CompletionItem
from msgspec import inspect

from memtape import __version__
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.ids import short_id
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.variables import PROFILE_VARIABLE, SESSION_VARIABLE
from memtape.schemas.visible import one_line, visible
from memtape.sinks.home.folders import HOME_VARIABLE, default_home
from memtape.tools.capture.profiles import origin_of, profile_of
from memtape.tools.client import Client
from memtape.tools.doors.terminal import explained, is_asked, is_json, phases, print_json, say
from memtape.tools.table import COMMANDS, GROUPS, SYNONYMS, TITLES, VERBS
from memtape.tools.verb import Failure, Verb, VerbField, document, fields_of

LONGEST_CHARS = 200
"""The most characters of a command's line in the help."""
COMPLETED = 50
"""So many latest ids are offered to a shell."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
OWN = "own_"
"""So begins click's name of a verb's own option, which may be called as an option of all commands."""
AS_JSON = "memtape.as_json"
"""The name of a context's value: whether `--json` is among the words."""
SOURCES = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
Given = Mapping[str, Any]
"""The values that the command line and the environment give, by the names of words and options."""


def _have_profile(ctx: click.Context, option: click.Parameter, name: str | None) -> None:
    """Set the profile of this process and its children until the end of the command."""
    if name is None:
        return
    before = {PROFILE_VARIABLE: os.environ.get(PROFILE_VARIABLE, "")}
    os.environ[PROFILE_VARIABLE] = name or " "  # No name at all is a mistake as well, and not the default.
    ctx.call_on_close(partial(os.environ.update, before))


PROFILE = click.Option(
    ["--profile"],
    expose_value=False,
    callback=_have_profile,
    metavar="NAME",
    help="How it is remembered: prod, dev_standard, dev_memory_test or dev_no_persist.",
)
HOME = click.Option(
    ["--home"],
    type=click.Path(file_okay=False),
    envvar=HOME_VARIABLE,
    show_envvar=True,
    help="The data folder, by default the user's own.",
)
COMMON = [HOME, click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON document."), PROFILE]
"""The options of all commands."""
SPEAKER = [
    click.Option(["--scope"], help="global or project:NAME, by default the project of this folder."),
    click.Option(["--actor"], help="The speaker's name, by default the user's."),
    click.Option(
        ["--origin"],
        type=click.Choice(get_args(Origin)),
        help="user at a terminal, else agent, or as set.",
    ),
    click.Option(["--session"], envvar=SESSION_VARIABLE, show_envvar=True, help="The session."),
]
"""The options of commands of a project."""


def _called(verbs: Sequence[Verb], **values: Any) -> None:
    """Choose the verb of a command line, make the question, and print the answer."""
    ctx = click.get_current_context()
    named = {it.name: it.opts[0] for it in ctx.command.params if it.name in values}
    given = {named[name]: values[name] for name in named if ctx.get_parameter_source(name) in SOURCES}
    home = values.get("home")
    home = Path(home) if home is not None else default_home()
    with explained(home):
        verb = _chosen(verbs, given)
        profile = None if verb.is_tolerant else profile_of(home)  # Raises for an unknown name.
        if profile is not None and not (profile.keeps or verb.in_memory):
            told = f"works on files that stay, and profile {profile.name} keeps none. Nothing was done."
            raise MemtapeError(f"`memtape {verb.command}` {told}", "Name another profile by --profile.")
        asked = _asked_of(verb, verbs, given)
        if verb.at == "folder":
            _print_answer(verb, home, asked)
            return
        speaker = {name: values[name] for name in ("scope", "actor", "session") if name in values}
        if verb.at == "home":
            speaker = {"scope": GLOBAL}
        # A person at a terminal speaks for itself.
        origin: Origin = values.get("origin") or ("user" if is_asked() else origin_of(home))
        shown = phases() if sys.stderr.isatty() else nullcontext()
        with Client(home, origin=origin, **speaker) as client, shown:
            client.door = "cli"
            client.on_note = lambda note: say(note, err=True)
            _print_answer(verb, client, asked)


def _print_answer(verb: Verb, world: Any, asked: Any) -> None:
    """Do a verb; print the document of its answer under `--json`, else its lines. Exits with 1 if it failed.

    A verb that answers None has printed all by itself.
    """
    answer: Any = verb.answer(world, asked) if verb.shell is None else verb.shell(world, asked)
    lines: Iterable[Any] | None = None
    if isinstance(answer, Iterator):
        lines, answer = answer, next(answer, None)
    failed = isinstance(answer, Failure)
    answer = answer.document if failed else answer
    if answer is not None and is_json():
        print_json(document(verb, answer))
    elif answer is not None:
        for line in lines or (verb.lines(world, asked, answer) if verb.lines else ()):
            say(str(line))
    if failed:
        sys.exit(1)


class HelpFormatter(click.HelpFormatter):
    """Help with coloured titles and names, where stdout is a terminal and `NO_COLOR` is not set."""

    def write_heading(self, heading: str) -> None:
        """Write the title of a section."""
        super().write_heading(_coloured(heading, bold=True))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write names with their descriptions."""
        super().write_dl([(_coloured(name, fg="cyan"), told) for name, told in rows], col_max, col_spacing)


def _coloured(text: str, **style: Any) -> str:
    return text if os.environ.get("NO_COLOR") else click.style(text, **style)


class CommandContext(click.Context):
    """The context of all commands."""

    formatter_class = HelpFormatter


class Commands(click.Group):
    """A group of commands, each made when first asked for; usage errors are escaped like all printed text."""

    context_class = CommandContext

    def __init__(self, name: str, titles: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(name.rpartition(" ")[2] or "memtape", context_settings=SETTINGS, **options)
        self.words, self.titles = name, titles
        self.names = [name for names in titles.values() for name in names]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of help."""
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        if cmd_name not in self.commands and cmd_name in (*self.names, GROUPS[self.words].default):
            self.commands[cmd_name] = _made(f"{self.words} {cmd_name}".strip())
        return self.commands.get(cmd_name)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command of a group before words without a command."""
        default, first = GROUPS[self.words].default, args[0] if args else ""
        ctx.meta.setdefault(AS_JSON, "--json" in args)
        named = ctx.resilient_parsing or first in (*self.names, *ctx.help_option_names, "--version")
        if not self.words:  # `memtape` takes options alone so: any other first word is a mistake.
            named = named or first[:1] not in ("", "-") or not {*self.names}.isdisjoint(args)
        return super().parse_args(ctx, args if named or not default else [default, *args])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command of the first word; name the commands that an unknown word may mean.

        What cannot be undone is named last.
        """
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            alike = (f"{self.words} {it}".strip() for it in get_close_matches(args[0], self.names, 2))
            known = (() if self.words else SYNONYMS.get(args[0].lower(), ())) or alike
            meant = sorted(known, key=lambda it: it in VERBS and VERBS[it].effect == "erases")
            if not (named := " or ".join(f"`memtape {it}`" for it in meant)):
                raise
            raise click.UsageError(f"{error.message} Did you mean {named}?", error.ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, then the options of the group."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

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
            told = visible(error.format_message())
            if ctx.parent is None and ctx.meta[AS_JSON]:
                hint = f"{(error.ctx or ctx).command_path} --help"
                print_json({"error": told, "hint": hint, "code": "invalid_use"})
            raise click.UsageError(told, error.ctx) from None


def _made(words: str) -> click.Command:
    """Return the group or the command of some words: of one verb, or of several that its options select."""
    if words in GROUPS:
        before = f"{words} "
        inner = (name.removeprefix(before) for name in COMMANDS if name.startswith(before))
        names = tuple(dict.fromkeys(name.partition(" ")[0] for name in inner))
        return Commands(words, {"Commands": names}, help=GROUPS[words].text)
    verbs = [VERBS[each] for each in COMMANDS[words]]
    made = click.Command(
        words.rpartition(" ")[2],
        params=_parameters_of(verbs),
        callback=partial(_called, verbs),
        help=verbs[0].doc.text,
        hidden=words == GROUPS[""].default,
        context_settings={"ignore_unknown_options": True} if verbs[0].is_tolerant else None,
    )
    made.context_class = CommandContext
    return made


def _parameters_of(verbs: Sequence[Verb]) -> list[click.Parameter]:
    """Return the words and options of a command of one verb, or of several that its options select.

    An option with many values may be repeated.
    """
    own: dict[str, click.Option] = {}
    for verb in verbs:
        options = _parts(verb)[1]
        if verb.mode.startswith("--") and verb.mode not in options:
            key = f"{OWN}{verb.mode[2:]}".replace("-", "_")
            own.setdefault(verb.mode, click.Option([verb.mode, key], is_flag=True, help=verb.doc.summary))
        for name, field in options.items():
            switch = f"{name}/--no-{name[2:]}" if field.is_flag and field.default is True else name
            default = None if field.required else field.default
            own[name] = own.get(name) or click.Option(
                [switch, f"{OWN}{name[2:]}".replace("-", "_")],
                is_flag=field.is_flag,
                multiple=field.has_many,
                default=default,
                required=field.required and len(verbs) == 1,
                show_default=not field.is_flag and default not in (None, (), "", 0),
                type=None if field.is_flag else _values(field.kind, field.extra),
                help=f"{field.help} May be repeated." if field.has_many else field.help,
                hidden=field.extra.get("hidden", False),
                envvar=field.extra.get("envvar"),
                metavar=field.extra.get("metavar"),
            )
    of_all = [*(SPEAKER if verbs[0].at == "project" else []), *COMMON]
    common = [option for option in of_all if option.opts[0] not in own]
    return [*_words_parameter(verbs), *own.values(), *common]


def _parts(verb: Verb) -> tuple[list[VerbField], dict[str, VerbField]]:
    """Return the fields that are given as words, and those given by options, by the names of the options."""
    fields = fields_of(verb.asks)
    return [it for it in fields if it.is_word], {it.option: it for it in fields if it.option}


def _words_parameter(verbs: Sequence[Verb]) -> list[click.Argument]:
    """Return the parameter of a command's words, named as those of its first verb; none without words."""
    named = [_parts(verb)[0] for verb in verbs]
    longest = max(named, key=len)
    if not longest:
        return []
    told = []
    for place in range(len(longest)):
        here = [fields[place] for fields in named if len(fields) > place]
        needed = len(here) == len(named) and all(field.required for field in here)
        names = dict.fromkeys(field.metavar for field in here)
        told.append("|".join(names) if needed else f"[{'|'.join(name.strip('{}') for name in names)}]")
        if any(field.has_many for field in here):
            told[-1] += "..."
    kind = _values(longest[0].kind, longest[0].extra)  # A shell completes files and choices, else latest ids.
    completes = kind.shell_complete if isinstance(kind, click.ParamType) else _latest_ids
    return [click.Argument(["words"], nargs=-1, metavar=" ".join(told), shell_complete=completes)]


def _values(kind: inspect.Type, extra: Mapping[str, Any]) -> Any:
    """Return the click type of a field's values."""
    if "choices" in extra:
        return click.Choice(extra["choices"])
    if "path" in extra:
        return click.Path(exists=extra["path"] == "file", dir_okay=extra["path"] == "any")
    match kind:
        case inspect.Metadata(type=inner) | inspect.VarTupleType(item_type=inner):
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


def _latest_ids(ctx: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the latest memories' ids that begin so, for the completion of a shell; make no home."""
    home, scope = Path(ctx.params.get("home") or default_home()), ctx.params.get("scope")
    if not home.is_dir():
        return []
    with suppress(MemtapeError, OSError), Client(home, scope=scope, wakes=False) as client:
        found: Iterable[Any] = client.recent(COMPLETED).results
        if ctx.command.name == "restore":
            found = client.hidden(COMPLETED)
        elif ctx.command.name == "archive" and ctx.params.get(f"{OWN}undo"):
            found = client.archived(COMPLETED).archived
        named = [(short if (short := short_id(it.id)).startswith(begun) else it.id, it.text) for it in found]
        return [CompletionItem(id, help=one_line(text, 60)) for id, text in named if id.startswith(begun)]
    return []


def _chosen(verbs: Sequence[Verb], given: Given) -> Verb:
    """Return the verb of the given option, by default the main verb, or the verb without words."""
    selected = [verb for verb in verbs if verb.mode in given]
    if len(selected) > 1:
        raise click.UsageError(f"Give one of {_listed([verb.mode for verb in selected])}.")
    if selected:
        return selected[0]
    by_mode = {verb.mode: verb for verb in verbs}
    main, bare = by_mode.get(""), by_mode.get("-")
    found = bare if main is None or (bare is not None and not given.get("words")) else main
    if found is None:
        raise click.UsageError(f"Give one of {_listed(list(by_mode))}.")
    return found


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _asked_of(verb: Verb, verbs: Sequence[Verb], given: Given) -> Any:
    """Return what the verb is asked. Raises `UsageError` for what is missing, too much or of another verb."""
    (places, own), words, values = _parts(verb), list(given.get("words", ())), dict[str, Any]()
    for option in sorted(given):
        takers = [other.mode or "words" for other in verbs if option in _parts(other)[1]]
        if takers and option not in own and option != verb.mode:
            if verb.mode.startswith("--"):
                raise click.UsageError(f"{option} does not go with {verb.mode}.")
            raise click.UsageError(f"{option} goes with {_listed(takers)}.")
    with_option = f" with {verb.mode}" if verb.mode.startswith("--") else ""
    for place, field in enumerate(places):
        if field.has_many:
            values[field.name], words = tuple(words), []
        elif words:
            kind = _values(field.kind, field.extra)
            argument = click.Argument([field.name], type=kind, metavar=field.metavar)
            its = words if field.extra.get("joined") else words[:1]
            values[field.name] = argument.type_cast_value(click.get_current_context(), " ".join(its))
            words = words[len(its) :]
        if field.required and values.get(field.name, ()) == ():
            needs = [it.mode for it in verbs if any(it.required for it in _parts(it)[0][place : place + 1])]
            others = [it.mode for it in verbs if not verb.mode and it.mode and it.mode not in needs]
            instead = f"; without it, {'one of ' * (len(others) > 1)}{_listed(others)}" if others else ""
            raise click.UsageError(f"Missing argument '{field.metavar}'{with_option}{instead}.")
    if words:
        told = f"Got unexpected extra argument{'s' * (len(words) > 1)} ({' '.join(words)}){with_option}"
        takers = [it.mode for it in verbs if verb.mode == "-" and _parts(it)[0]]
        raise click.UsageError(told + (f"; they go with one of {_listed(takers)}." if takers else "."))
    values |= {field.name: given[option] for option, field in own.items() if option in given}
    if missing := [option for option, field in own.items() if field.required and field.name not in values]:
        raise click.UsageError(f"Missing option '{missing[0]}'.")
    return verb.asks(**values)


main = Commands("", TITLES, help=GROUPS[""].text, params=[PROFILE])
click.version_option(__version__, prog_name="memtape")(main)
