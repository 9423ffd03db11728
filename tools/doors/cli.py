"""The command line: the command `memtape`, its groups and its commands, made from the table of verbs.

An error is one sentence, the next step and exit code 1, or 2 for a wrong use. `options` makes the parameters
of a command. `overview` is the only verb named here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from memtape import __version__
from memtape.schemas.errors import InvalidUse, LogAway, MemtapeError
from memtape.schemas.events import Origin
from memtape.schemas.patterns import lazy
from memtape.schemas.scopes import GLOBAL, check_scope
from memtape.schemas.visible import visible
from memtape.sinks.home.counts import note
from memtape.sinks.home.folders import default_home
from memtape.tools.capture.profiles import keeps_nothing, profile_of
from memtape.tools.client import Client
from memtape.tools.doors.options import Given, asked_of, chosen, parameters_of, profile_option
from memtape.tools.doors.terminal import folding_shown, is_asked, is_json, phases, print_json, say
from memtape.tools.table import COMMANDS, GROUPS, TITLES, VERBS
from memtape.tools.verb import Failure, Verb, document

LONGEST_CHARS = 200
"""The most characters of a command's line in the help."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
DISK_HINT = (
    "See that the disk has room, that the home can be written, and that no limit on file sizes (`ulimit -f`) "
    "is in force. What was acknowledged stands on the log."
)
_RUST_LINE = lazy(r", /\S+\.rs:\d+:\d+")
"""Where in their own code libraries say that something failed."""


def _called(verbs: Sequence[Verb], given: Given) -> None:
    """Choose the verb of a command line, make the question, and print the answer."""
    named = given.get("home")
    home = Path(named) if named is not None else default_home()
    with explained(home):
        verb = chosen(verbs, given)
        profile = None if verb.is_tolerant else profile_of(home)  # Raises for an unknown name.
        if profile is not None and not (profile.keeps or verb.in_memory):
            told = f"works on files that stay, and profile {profile.name} keeps none. Nothing was done."
            raise MemtapeError(f"`memtape {verb.command}` {told}", "Name another profile by --profile.")
        asked = asked_of(verb, verbs, given)
        _done(verb, asked, given, home)


def _done(verb: Verb, asked: Any, given: Given, home: Path) -> None:
    """Do a verb, and print its answer: the document of `--json`, or lines for people."""
    if verb.at == "folder":
        _print_answer(verb, home, asked)
        return
    speaker = {name: given[name] for name in ("scope", "actor", "session") if name in given}
    if verb.at == "home":
        speaker = {"scope": GLOBAL}
    elif speaker.get("scope") == "":
        check_scope("")
    # A person at a terminal speaks for itself, a pipe for an agent.
    origin: Origin = given.get("origin") or ("user" if is_asked() else "agent")
    with Client(home, origin=origin, **speaker) as client, folding_shown(), phases() as update:
        client.door, client.on_phase = "cli", update
        client.on_note = lambda note: say(note, err=True)
        _print_answer(verb, client, asked)


def _print_answer(verb: Verb, world: Any, asked: Any) -> None:
    """Do a verb; print the document of its answer under `--json`, else its lines. Exits with 1 if it failed.

    A verb that answers None has printed all by itself.
    """
    answer: Any = verb.answer(world, asked) if verb.shell is None else verb.shell(world, asked)
    lines: Iterable[Any] = ()
    if isinstance(answer, Iterator):
        lines, answer = answer, next(answer, None)
    elif verb.lines is not None and answer is not None:
        lines = verb.lines(world, asked, answer)
    failed = isinstance(answer, Failure)
    if not is_json():
        for line in lines:
            say(str(line))
    elif answer is not None:
        print_json(document(verb, answer.document if failed else answer))
    if failed:
        sys.exit(1)


@contextmanager
def explained(home: Path) -> Iterator[None]:
    """Print errors of Memtape or the system as one sentence and the next step; exit with 1, for wrong use 2.

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
        if home.is_dir() and not keeps_nothing(home):
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
    """Return the group or the command of some words: of one verb, or of several that its options select."""
    if words in GROUPS:
        group, before = GROUPS[words], f"{words} "
        inner = (name.removeprefix(before) for name in COMMANDS if name.startswith(before))
        names = dict.fromkeys(name.partition(" ")[0] for name in inner)
        return Commands(words, tuple(names), help=_help(group.summary, group.details, group.example))
    verbs = [VERBS[each] for each in COMMANDS[words]]
    first, doc = verbs[0], verbs[0].doc
    return click.Command(
        words.rpartition(" ")[2],
        params=parameters_of(verbs),
        callback=lambda **given: _called(verbs, given),
        help=_help(doc.summary, doc.details, doc.example),
        hidden=words == "overview",
        context_settings={"ignore_unknown_options": True} if first.is_tolerant else None,
    )


def _help(summary: str, details: str, example: str) -> str:
    """Return the help of a command, with an example that is not wrapped."""
    lines = "\n".join(f"  {line}" for line in example.split("\n"))
    return "\n\n".join(filter(None, (summary, details, f"\b\nExample:\n{lines}")))


def _overview(ctx: click.Context) -> None:
    """Without a command, print the overview of this project."""
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
