"""The command `memtape` and its groups `agents` and `admin`, as the table of verbs has them, and the profile.

Each command's file is imported when the command is called: a hook runs at every prompt of an agent and must not wait
for the imports of other commands.
"""

from __future__ import annotations

import os
from collections import UserDict
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from memtape import __version__
from memtape.schemas.variables import PROFILE_VARIABLE
from memtape.schemas.visible import visible
from memtape.tools.verbs import GROUPS, TITLES, VERBS


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


profile_option = click.option(
    "--profile",
    expose_value=False,
    callback=_have_profile,
    metavar="NAME",
    help="How it is remembered: prod, dev_standard, dev_memory_test or dev_no_persist.",
)


LONGEST_CHARS = 200
"""The most characters of a command's line in the help."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Commands(UserDict[str, Any]):
    """The commands by name, each given as `file.function` and loaded when it is first asked for."""

    def __getitem__(self, name: str) -> click.Command:
        command = self.data[name]
        if isinstance(command, str):
            file, _, function = command.partition(".")
            command = self.data[name] = getattr(import_module(f"memtape.tools.commands.{file}"), function)
        loaded: click.Command = command
        return loaded


class Commands(click.Group):
    """A group of commands under titles; its usage errors are escaped like all printed text."""

    titles: Mapping[str, tuple[str, ...]] = {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their titles, each with its whole first sentence."""
        for title, names in (self.titles or {"Commands": tuple(self.commands)}).items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(LONGEST_CHARS)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Call the given command."""
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:  # Its message is the help of a group.
            raise
        except click.UsageError as error:
            raise click.UsageError(visible(error.format_message()), error.ctx) from None


def _named(*names: str, of: str = "") -> _Commands:
    return _Commands({name: VERBS[f"{of} {name}".strip()].command for name in names})


@click.group(
    cls=Commands,
    commands=_named(*(name for names in TITLES.values() for name in names), "overview"),
    context_settings=SETTINGS,
    invoke_without_command=True,
)
@profile_option
@click.version_option(__version__, prog_name="memtape")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Agent memory you can replay.

    Everything that agents say, recall and delete is an event on one log, and every memory is a view of it. Without
    a command it says what this project remembers, and what waits for you.

    \b
    Example:
      memtape capture "We deploy on Tuesdays."
      memtape search "when do we deploy"
    """
    if ctx.invoked_subcommand is None:
        overview = main.commands["overview"]
        with overview.make_context("overview", [], parent=ctx) as alone:
            overview.invoke(alone)


@click.group(cls=Commands, commands=_named(*GROUPS["agents"], of="agents"))
def agents() -> None:
    """Connect agents to this memory, see what they were given, and pause what they leave.

    \b
    Example:
      memtape agents connect claude
      memtape agents doctor
    """


@click.group(cls=Commands, commands=_named(*GROUPS["admin"], of="admin"))
def admin() -> None:
    """Change how a home embeds, folds and ages, measure its recall, copy its log, and follow it.

    \b
    Example:
      memtape admin embedder set local
      memtape admin copy --to /backup/memory.db
    """


main.titles = TITLES
