"""The command `recollect`: one group, its commands gathered from the files that define them."""

from __future__ import annotations

from typing import Any

import click

from recollect import __version__
from recollect.schemas.visible import visible
from recollect.tools.context_commands import context
from recollect.tools.edge_commands import edges
from recollect.tools.embedder_commands import embedder
from recollect.tools.erase_commands import erase
from recollect.tools.import_commands import import_command, watch
from recollect.tools.operate_commands import copy, rebuild, run, verify
from recollect.tools.read_commands import diff_command, log, search, show, status, why
from recollect.tools.write_commands import capture, forget, restore, unfold, used


class Commands(click.Group):
    """The group, whose complaints about wrong usage are visible text like everything else that is printed."""

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command that was asked for."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            raise click.UsageError(visible(error.format_message()), error.ctx) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="recollect")
def main() -> None:
    """Agent memory you can replay.

    Everything that agents say, recall and delete is an event on one log, and every memory is a view of it.

    \b
    Example:
      recollect capture "We deploy on Tuesdays."
      recollect search "when do we deploy"
    """


for command in (
    capture,
    import_command,
    watch,
    search,
    show,
    why,
    edges,
    context,
    forget,
    restore,
    unfold,
    used,
    erase,
    status,
    log,
    diff_command,
    run,
    verify,
    rebuild,
    copy,
    embedder,
):
    main.add_command(command)
