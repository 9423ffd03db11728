"""The command `recollect`: one group; each command is loaded from the file that defines it when it is called.

A hook runs at every prompt of an agent, so that it must not wait for what other commands import.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

from recollect import __version__
from recollect.schemas.visible import visible

_PLACES = {
    "capture": "write_commands.capture",
    "import": "import_commands.import_command",
    "watch": "import_commands.watch",
    "search": "read_commands.search",
    "show": "read_commands.show",
    "why": "read_commands.why",
    "forget": "write_commands.forget",
    "restore": "write_commands.restore",
    "unfold": "write_commands.unfold",
    "used": "write_commands.used",
    "erase": "erase_commands.erase",
    "status": "read_commands.status",
    "log": "read_commands.log",
    "context": "context_commands.context",
    "edges": "edge_commands.edges",
    "diff": "read_commands.diff_command",
    "eval": "eval_commands.eval_command",
    "compare": "eval_commands.compare_command",
    "run": "operate_commands.run",
    "verify": "operate_commands.verify",
    "rebuild": "operate_commands.rebuild",
    "copy": "operate_commands.copy",
    "embedder": "embedder_commands.embedder",
    "connect": "agent_commands.connect",
    "disconnect": "agent_commands.disconnect",
    "doctor": "agent_commands.doctor",
    "mcp": "agent_commands.mcp",
    "hook": "agent_commands.hook",
}
"""The commands by name: file of this room, and the command in it."""


class _Commands(MutableMapping[str, click.Command]):
    """The commands, each loaded when it is first asked for."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            file, _, command = self._places[name].partition(".")
            self._loaded[name] = getattr(import_module(f"recollect.tools.{file}"), command)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places[name], self._loaded[name] = "", command

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Commands(click.Group):
    """The group, whose complaints about wrong usage are visible text like everything else that is printed."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command that was asked for."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(visible(error.format_message()), error.ctx) from None


@click.group(
    cls=Commands,
    commands=_Commands(dict(_PLACES)),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="recollect")
def main() -> None:
    """Agent memory you can replay.

    Everything that agents say, recall and delete is an event on one log, and every memory is a view of it.

    \b
    Example:
      recollect capture "We deploy on Tuesdays."
      recollect search "when do we deploy"
    """
