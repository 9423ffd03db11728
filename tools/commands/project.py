"""The command that gives a project the memory of its earlier folder, and the hint to use the command."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from memtape.sinks.home.folders import Home
from memtape.tools.capture.project import adopt as adopt_scope
from memtape.tools.capture.project import once_elsewhere
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_folder

SHOWN_FOLDERS = 3


@click.command()
@click.argument("once", metavar="FOLDER|SCOPE")
@with_folder
def adopt(home: Path, once: str, as_json: bool) -> None:
    """Give this folder's project the memory of FOLDER, its place before a rename, a move or `git init`.

    A folder outside git is known by its path alone. FOLDER is the former path, or SCOPE the scope that
    `memtape status` names. A folder that still exists keeps its memory.

    \b
    Example:
      memtape adopt ../the-old-name
    """
    adopted = adopt_scope(Path.cwd(), Home(home), once)
    if as_json:
        print_json(adopted._asdict())
        return
    say(f"{adopted.folder} has the memory of {adopted.scope} now.")
    if adopted.before is not None:
        say(f"What was captured here before stays in {adopted.before}; `--scope {adopted.before}` asks it.")


def say_where_it_was(client: Client) -> None:
    """For a folder without memory, print the folders that may be its earlier place, and the next step."""
    if client.is_made():
        return
    for folder in once_elsewhere(Path.cwd(), client.home)[:SHOWN_FOLDERS]:
        say(f"If this was {folder}, `memtape adopt {shlex.quote(folder)}` brings its memory here.", err=True)
