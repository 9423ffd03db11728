"""The command `memtape`: a group that imports each command's file when the command is called, and its profile.

A hook runs at every prompt of an agent and must not wait for the imports of other commands.
"""

from __future__ import annotations

import os
from collections import UserDict
from importlib import import_module
from typing import Any

import click

from memtape import __version__
from memtape.schemas.variables import PROFILE_VARIABLE
from memtape.schemas.visible import visible
from memtape.tools.verbs import GROUPS, VERBS


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
    """The group of commands; its usage errors are escaped like all printed text."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups, each with its whole first sentence."""
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(LONGEST_CHARS)) for name in names])

    def invoke(self, ctx: click.Context) -> Any:
        """Call the given command."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(visible(error.format_message()), error.ctx) from None


@click.group(
    cls=Commands,
    commands=_Commands({name: verb.command for name, verb in VERBS.items()}),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@profile_option
@click.version_option(__version__, prog_name="memtape")
def main() -> None:
    """Agent memory you can replay.

    Everything that agents say, recall and delete is an event on one log, and every memory is a view of it.

    \b
    Example:
      memtape capture "We deploy on Tuesdays."
      memtape search "when do we deploy"
    """
