"""The commands with which people list projects and set the state of a project."""

from __future__ import annotations

from collections.abc import Iterator

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import project_told
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.ask.projects import Project
from memtape.tools.ask.telling import held, lives_told
from memtape.tools.client import Client
from memtape.tools.commands.options import confirmed, print_json, print_list, say, with_client, with_home

SHOWN_CHARS = 80


@click.group()
def project() -> None:
    """See the projects of this data folder, name them, and say that one is finished or goes on.

    \b
    Example:
      memtape project list
      memtape project finish
    """


@project.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_client
def finish(client: Client, yes: bool, as_json: bool) -> None:
    """Finish this project: all its texts are archived, as a whole.

    Nothing of it is purged or erased. Later texts are found as always. Only people finish a project: --origin
    user at a terminal.

    \b
    Example:
      memtape project finish
      memtape project finish --scope project:harbour-1a2b3c4d --yes
    """
    texts = client.projects.to_finish()
    undo = f"memtape project resume --scope {client.scope}"
    if not yes:
        say(f"{many(texts, 'text')} of {client.scope} will be archived. To undo: {undo}", err=True)
        if not confirmed("Finish it?"):
            raise MemtapeError("Nothing was changed.", "Confirm it, or give --yes.")
    done = client.projects.finish()
    if as_json:
        print_json(done)
        return
    say(f"{done.scope} is finished. Archived with it: {many(done.texts, 'text')}.")
    say(f"To undo: {undo}")


@project.command()
@with_client
def resume(client: Client, as_json: bool) -> None:
    """Continue this project: texts archived with it are found again. Only people continue one.

    Texts archived by themselves stay archived. `memtape resume`, without project, ends a pause.

    \b
    Example:
      memtape project resume
    """
    done = client.projects.resume()
    if as_json:
        print_json(done)
        return
    say(f"{done.scope} goes on. Found again: {many(done.texts, 'text')}.")


@project.command()
@click.argument("name")
@with_client
def rename(client: Client, name: str, as_json: bool) -> None:
    """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people.

    \b
    Example:
      memtape project rename "The harbour lights"
    """
    done = client.projects.rename(name)
    if as_json:
        print_json(done)
        return
    say(f"{done.scope} is called {one_line(done.name, SHOWN_CHARS)} now.")


@project.command("list")
@with_home
def list_projects(client: Client, as_json: bool) -> None:
    """List all projects of this data folder, the last active first.

    \b
    Example:
      memtape project list --json
    """
    client.catch_up()
    nothing = "There is no project yet. `memtape capture` makes that of this folder."
    print_list("projects", client.projects.listed(), _lines, nothing, as_json)


def _lines(number: int, it: Project) -> Iterator[str]:
    named = f"  {one_line(it.mark.name, SHOWN_CHARS)}" if it.mark.name else ""
    folder = f", {one_line(it.folder, SHOWN_CHARS)}" if it.folder else ""
    yield f"{it.scope}{named}"
    yield f"  {_state(it)}, last on {format_day(it.last_at)}, {held(it.memories, it.turns)}{folder}"


@project.command()
@with_client
def show(client: Client, as_json: bool) -> None:
    """Show this project: state, last activity, aging of texts, folder.

    \b
    Example:
      memtape project show
    """
    it = client.projects.shown()
    if as_json:
        print_json(it)
        return
    lines = {
        "scope": it.scope,
        "name": one_line(it.mark.name, SHOWN_CHARS),
        "state": _state(it),
        "last": format_time(it.last_at),
        "texts": held(it.memories, it.turns),
        "aging": lives_told([it.mark]),
        "folder": one_line(it.folder or ""),
    }
    for name, told in lines.items():
        if told:
            say(f"{name:<8}{told}")
    if told := project_told(it.mark):
        say(told)


def _state(it: Project) -> str:
    gone = ", has left the views" if it.mark.is_purged else ""
    return f"{it.mark.state} since {format_day(it.mark.since)}{gone}" if it.mark.since else it.mark.state
