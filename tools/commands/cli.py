"""The command `memtape` and its groups `agents` and `admin`, as the table of verbs has them, and the profile.

Each command's file is imported when the command is called: a hook runs at every prompt of an agent and must not wait
for the imports of other commands.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click

from memtape import __version__
from memtape.tools.doors.cli import SETTINGS, Commands, LazyCommands, made, profile_option
from memtape.tools.former_verbs import GROUPS, TITLES, VERBS
from memtape.tools.table import COMMANDS


def _loaded(path: str) -> Callable[[], click.Command]:
    file, _, function = path.partition(".")
    return lambda: getattr(import_module(f"memtape.tools.commands.{file}"), function)


def _named(*names: str, of: str = "") -> LazyCommands:
    whole = {name: f"{of} {name}".strip() for name in names}
    return LazyCommands(
        {name: made(it) if it in COMMANDS else _loaded(VERBS[it].command) for name, it in whole.items()}
    )


@click.group(
    cls=Commands,
    commands=_named(*(name for names in TITLES.values() for name in names), "overview"),
    context_settings=SETTINGS,
    invoke_without_command=True,
)
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
main.params.append(profile_option())
