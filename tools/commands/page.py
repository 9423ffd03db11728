"""The command that serves the page of one's own machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from memtape.schemas.scopes import check_scope
from memtape.tools.capture.profiles import check_kept, opened_home
from memtape.tools.client import Client
from memtape.tools.commands.options import is_json, printed_json, say, with_folder, with_log


@click.command()
@click.option("--port", default=0, show_default="a free one", type=click.IntRange(0, 65_535), help="The port.")
@click.option("--no-browser", is_flag=True, help="Print the address alone.")
@click.option("--scope", help="Where to begin: global or project:NAME, by default the project of this folder.")
@with_log
@with_folder
def page(home: Path, port: int, no_browser: bool, scope: str | None, logs: bool) -> None:
    """Look into the memory with a browser: fresh texts, searches with reasons, agents' contexts, changes.

    The page is for this machine and for holders of its address alone: a cookie remembers a browser that
    opened it once. It shows every project of the home. Each action asks first, and says how it is undone.
    Ctrl-C ends the page. Pages of the tree are another thing: `memtape tree new` writes one.

    With --log-format each error is a line on stderr, and from --log-level debug on each view; no line has a
    text of a memory, a question or an address.

    \b
    Example:
      memtape page
      memtape page --no-browser --port 8700 --log-format json
    """
    check_kept(opened_home(home), "A page")
    with Client(home) as client:
        begins = check_scope(scope) if scope else client.scope
    from memtape.tools.keep.operations import operation
    from memtape.tools.page.app import Serving

    serving = Serving(home, begins, port)
    if not printed_json({"address": serving.address}):
        say(f"{serving.address}\nKeep this address to yourself: it lets in whoever opens it. Ctrl-C ends the page.")
    sys.stdout.flush()
    operation("serving", port=serving.port)
    try:
        serving.serve(open_browser=not no_browser and not is_json())
    finally:
        operation("stopped")
