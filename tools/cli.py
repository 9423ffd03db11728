"""The command `recollect`: one group, its commands gathered from the files that define them."""

from __future__ import annotations

import click

from recollect import __version__
from recollect.tools.embedder_commands import embedder
from recollect.tools.erase_commands import erase
from recollect.tools.eval_commands import compare_command, eval_command
from recollect.tools.operate_commands import copy, rebuild, run, verify
from recollect.tools.read_commands import diff_command, log, search, show, status, why
from recollect.tools.write_commands import capture, forget, restore, unfold


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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
    search,
    show,
    why,
    forget,
    restore,
    unfold,
    erase,
    status,
    log,
    diff_command,
    eval_command,
    compare_command,
    run,
    verify,
    rebuild,
    copy,
    embedder,
):
    main.add_command(command)
