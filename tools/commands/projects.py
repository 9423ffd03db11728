"""The commands of projects: their list and state, a new folder, and the hint to an earlier folder."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import project_told
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.tools.ask.telling import held, lives_told
from memtape.tools.capture.project import adopt as adopt_scope
from memtape.tools.capture.project import once_elsewhere
from memtape.tools.client import Client
from memtape.tools.commands.cli import Commands
from memtape.tools.commands.options import Output, confirmed, listed, say, with_client, with_folder, with_home

if TYPE_CHECKING:
    from memtape.tools.ask.archived import Project

SHOWN_CHARS = 80


@click.group(cls=Commands)
def project() -> None:
    """See the projects of this data folder, name them, and say that one is finished or goes on.

    \b
    Example:
      memtape project list
      memtape project finish
    """


@project.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=True, help="Go on with it: what was archived with it is found again.")
@with_client
def finish(client: Client, yes: bool, undo: bool) -> Output:
    """Finish this project: all its texts are archived, as a whole.

    Nothing of it is purged or erased. Later texts are found as always, and texts that were archived by themselves
    stay archived with --undo. Only people finish a project: --origin user at a terminal.

    \b
    Example:
      memtape project finish
      memtape project finish --scope project:harbour-1a2b3c4d --yes
      memtape project finish --undo
    """
    if undo:
        resumed = client.projects.resume()
        yield resumed
        yield f"{resumed.scope} goes on. Found again: {many(resumed.texts, 'text')}."
        return
    texts = client.projects.to_finish()
    back = f"memtape project finish --undo --scope {client.scope}"
    if not yes:
        say(f"{many(texts, 'text')} of {client.scope} will be archived. To undo: {back}", err=True)
        if not confirmed("Finish it?"):
            raise MemtapeError("Nothing was changed.", "Confirm it, or give --yes.")
    done = client.projects.finish()
    yield done
    yield f"{done.scope} is finished. Archived with it: {many(done.texts, 'text')}."
    yield f"To undo: {back}"


@project.command("name")
@click.argument("name")
@with_client
def rename(client: Client, name: str) -> Output:
    """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people.

    \b
    Example:
      memtape project name "The harbour lights"
    """
    done = client.projects.rename(name)
    yield done
    yield f"{done.scope} is called {one_line(done.name, SHOWN_CHARS)} now."


@project.command("list")
@with_home
def list_projects(client: Client) -> Output:
    """List all projects of this data folder, the last active first.

    \b
    Example:
      memtape project list --json
    """
    client.catch_up()
    nothing = "There is no project yet. `memtape capture` makes that of this folder."
    return listed("projects", client.projects.listed(), _lines, nothing)


def _lines(number: int, it: Project) -> Iterator[str]:
    named = f"  {one_line(it.mark.name, SHOWN_CHARS)}" if it.mark.name else ""
    folder = f", {one_line(it.folder, SHOWN_CHARS)}" if it.folder else ""
    yield f"{it.scope}{named}"
    yield f"  {_state(it)}, last on {format_day(it.last_at)}, {held(it.memories, it.turns)}{folder}"


@project.command("scope")
@with_client
def show(client: Client) -> Output:
    """Show the scope of this folder's project: its name, state, last activity, aging of texts, folder.

    \b
    Example:
      memtape project scope
    """
    it = client.projects.shown()
    yield it
    lines = {
        "scope": it.scope,
        "name": one_line(it.mark.name, SHOWN_CHARS),
        "state": _state(it),
        "last": format_time(it.last_at),
        "texts": held(it.memories, it.turns),
        "aging": lives_told([it.mark]),
        "folder": one_line(it.folder or ""),
    }
    yield from (f"{name:<8}{told}" for name, told in lines.items() if told)
    if told := project_told(it.mark):
        yield told


def _state(it: Project) -> str:
    gone = ", has left the views" if it.mark.is_purged else ""
    return f"{it.mark.state} since {format_day(it.mark.since)}{gone}" if it.mark.since else it.mark.state


SHOWN_FOLDERS = 3


@project.command()
@click.argument("once", metavar="FOLDER|SCOPE")
@with_folder
def adopt(home: Path, once: str) -> Output:
    """Give this folder's project the memory of FOLDER, its place before a rename, a move or `git init`.

    A folder outside git is known by its path alone. FOLDER is the former path, or SCOPE the scope that
    `memtape status` names. A folder that still exists keeps its memory.

    \b
    Example:
      memtape project adopt ../the-old-name
    """
    adopted = adopt_scope(Path.cwd(), Home(home), once)
    yield adopted
    yield f"{adopted.folder} has the memory of {adopted.scope} now."
    if adopted.before is not None:
        yield f"What was captured here before stays in {adopted.before}; `--scope {adopted.before}` asks it."


def say_where_it_was(client: Client) -> None:
    """For a folder without memory, print the folders that may be its earlier place, and the next step."""
    if client.is_made():
        return
    for folder in once_elsewhere(Path.cwd(), client.home)[:SHOWN_FOLDERS]:
        say(f"If this was {folder}, `memtape project adopt {shlex.quote(folder)}` brings its memory here.", err=True)
