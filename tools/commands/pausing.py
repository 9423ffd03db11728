"""The commands `pause` and `resume`, which stop and continue storing. See `sinks/home/pauses.py`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from memtape.schemas.errors import MemtapeError
from memtape.schemas.scopes import check_scope
from memtape.schemas.times import US_PER_S
from memtape.sinks.home.folders import Home
from memtape.sinks.home.pauses import pause as pause_home
from memtape.sinks.home.pauses import pauses_of
from memtape.sinks.home.pauses import resume as resume_home
from memtape.tools.capture.pausing import silence_by
from memtape.tools.capture.project import scope_of_folder
from memtape.tools.capture.writing import now_us
from memtape.tools.commands.options import print_json, say, with_folder

UNIT_S = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}

project_option = click.option("--project", is_flag=True, help="Only the project of this folder, instead of all.")
scope_option = click.option("--scope", help="Only this project, as project:NAME.")


@click.command()
@click.option("--for", "length", metavar="TIME", help="End by itself after so long: 90m, 1h, 3d, 2w.")
@project_option
@scope_option
@with_folder
def pause(home: Path, length: str | None, project: bool, scope: str | None, as_json: bool) -> None:
    """Store nothing from now on: no captures, no imports, no turns of agents, no searches and no uses.

    Memories are still found and given to agents. Text of the pause is never stored, also not by a later
    import of a transcript. Without --for the pause lasts until `memtape resume`; with --project this project
    is off.

    \b
    Example:
      memtape pause --for 1h
      memtape pause --project
    """
    of, now = _scope_of(home, project, scope), now_us()
    pause_home(Home(home).path, of, now, None if length is None else now + _length_us(length))
    _tell(home, as_json)


@click.command()
@project_option
@scope_option
@with_folder
def resume(home: Path, project: bool, scope: str | None, as_json: bool) -> None:
    """End a pause, and name the pauses still in effect.

    Turns from before the pause that are not yet stored are taken by the next `memtape import --all`.

    \b
    Example:
      memtape resume
      memtape resume --project
    """
    ended = resume_home(Home(home).path, _scope_of(home, project, scope), now_us())
    if not as_json:
        say("The pause has ended." if ended else "There was no such pause.")
    _tell(home, as_json)


def _tell(home: Path, as_json: bool) -> None:
    lasting = pauses_of(home).lasting(now_us())
    if as_json:
        print_json({"paused": lasting})
        return
    for it in lasting:
        say(str(silence_by(it)))


def _scope_of(home: Path, project: bool, scope: str | None) -> str | None:
    if project and scope is not None:
        raise click.UsageError("Give --project or --scope, not both.")
    if scope is not None:
        return check_scope(scope)
    return scope_of_folder(Path.cwd(), Home(home)) if project else None


def _length_us(length: str) -> int:
    found = re.fullmatch(r"\s*(\d{1,4})\s*([mhdw])\s*", length)
    if found is None or not int(found[1]):
        raise MemtapeError(f"{length[:60]!r} is no length of time.", "Give one as 90m, 1h, 3d or 2w.")
    return int(found[1]) * UNIT_S[found[2]] * US_PER_S
