"""Projects: their list and state, their name, a new folder, and that one is finished or goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import ScopeChanged
from memtape.schemas.rows import LifeMark, ScopeHeld, project_told
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.state.views.ages import to_be_archived
from memtape.tools.capture.project import Adopted, folders_known
from memtape.tools.capture.project import adopt as adopt_scope
from memtape.tools.capture.writing import check_person
from memtape.tools.doors.terminal import confirmed, say
from memtape.tools.query.plan import state_of
from memtape.tools.query.telling import held, lives_told
from memtape.tools.verb import Asks, Output, Verb, said
from memtape.tools.verbs.lines import each

if TYPE_CHECKING:
    from memtape.state.core.scope import Scope
    from memtape.tools.query.retrieval import Retriever
    from memtape.tools.world import World

SHOWN_CHARS = 80
MOST_NAME_CHARS = 200


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project of the home: its state, the numbers of its rows in the views, its folder (None if unknown).

    `last_at` is the time of its last event on the log, in microseconds.
    """

    scope: str
    mark: LifeMark
    last_at: int
    memories: int
    turns: int
    folder: str | None


class ProjectChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a project and its new state; `texts` counts the texts archived or brought back by the
    change.
    """

    scope: str
    state: str
    name: str
    texts: int = 0


def projects(world: World) -> list[Project]:
    """List all projects of this data folder, the last active first.

    memtape project list --json
    """
    world.catch_up()
    folders = folders_known(world.home)
    return world.reader.held(lambda views: _projects(views, folders))


def project_state(world: World) -> Project:
    """Show the scope of this folder's project: its name, state, last activity, aging of texts, folder.

        memtape project scope

    Raises `NotFound`.
    """
    found = next((it for it in projects(world) if it.scope == world.scope), None)
    if found is None:
        raise _nothing(world.scope)
    return found


def to_finish(world: World) -> int:
    """Return how many texts finishing the project would archive. Raises `MemtapeError` where it cannot be."""
    scope = _stands(world, "finish", "finish")
    state = scope.lifecycle.project
    if state.state == "finished":
        raise MemtapeError(
            f"{scope.name} was finished on {format_day(state.since)}.",
            "`memtape project finish --undo` goes on.",
        )
    return to_be_archived(scope)


def finish(world: World, yes: Annotated[bool, said("Do not ask.")] = False) -> ProjectChange:
    """Finish this project: all its texts are archived, as a whole.

        memtape project finish
        memtape project finish --scope project:harbour-1a2b3c4d --yes
        memtape project finish --undo

    Nothing of it is purged or erased. Later texts are found as always, and texts that were archived by
    themselves stay archived with --undo. Only people finish a project: --origin user at a terminal.
    """
    texts = to_finish(world)
    return _say(world, ScopeChanged(git_at=None, name=None, state="finished"), texts)


def resume(world: World) -> ProjectChange:
    """Go on with it: what was archived with it is found again.

    memtape project finish --undo
    """
    scope = _stands(world, "resume", "finish --undo")
    if scope.lifecycle.project.state == "active":
        raise MemtapeError(f"{scope.name} is active.", "`memtape project list` says how each stands.")
    return _say(world, ScopeChanged(git_at=None, name=None, state="active"), to_be_archived(scope))


def rename(world: World, name: str) -> ProjectChange:
    """Set the name that people call this project by. Its scope, the name in commands, stays. Only for people.

    memtape project name "The harbour lights"
    """
    name = " ".join(name.split())
    if not 0 < len(name) <= MOST_NAME_CHARS:
        told = f"The name has {len(name):,} characters; it takes 1 to {MOST_NAME_CHARS}."
        raise MemtapeError(told, "Give another.")
    _stands(world, "rename", "name")
    return _say(world, ScopeChanged(git_at=None, name=name, state=None), 0)


def adopt(
    home: Path, once: Annotated[str, said("The former folder, or the scope.", metavar="FOLDER|SCOPE")]
) -> Adopted:
    """Give this folder's project the memory of FOLDER, its place before a rename, a move or `git init`.

        memtape project adopt ../the-old-name

    A folder outside git is known by its path alone. FOLDER is the former path, or SCOPE the scope that
    `memtape status` names. A folder that still exists keeps its memory.
    """
    return adopt_scope(Path.cwd(), Home(home), once)


def _stands(world: World, what: str, command: str) -> Scope:
    """Return the state of the scope for a writer who may change it as a whole, by a command of projects."""
    origin, name = world.actor.origin, world.scope
    then = f"The user can run `memtape project {command}`; who is a person says --origin user."
    check_person(origin, f"{what} a project", then)
    if name == GLOBAL:
        raise MemtapeError(f"{GLOBAL} is no project.", "Name one with --scope.")
    scope = state_of(world, name)
    if scope is None:
        raise _nothing(name)
    return scope


def _say(world: World, body: ScopeChanged, texts: int) -> ProjectChange:
    scope = world.scope
    world.append("scope_changed", body, scope)
    stands = state_of(world, scope)
    mark = LifeMark() if stands is None else stands.lifecycle.mark()
    return ProjectChange(scope=scope, state=mark.state, name=mark.name, texts=texts)


def _nothing(scope: str) -> NotFound:
    return NotFound(f"{scope} holds nothing yet.", "`memtape project list` names the projects of this home.")


def _projects(views: Retriever, folders: dict[str, str]) -> list[Project]:
    found: list[Project] = []
    for number in range(views.log.partitions):
        mark = views.watermark(number)
        if mark is None:
            continue
        held = views.shard(number).held()
        found += [
            Project(
                scope=name,
                mark=mark.lives.get(name, LifeMark()),
                last_at=mark.sent.get(name, 0),
                memories=held.get(name, ScopeHeld()).memories,
                turns=held.get(name, ScopeHeld()).turns,
                folder=folders.get(name),
            )
            for name in mark.sent
            if name != GLOBAL
        ]
    return sorted(found, key=lambda it: (-it.last_at, it.scope))


def _finish_shell(world: World, asked: Any) -> Output:
    texts = to_finish(world)
    back = f"memtape project finish --undo --scope {world.scope}"
    if not asked.yes:
        say(f"{many(texts, 'text')} of {world.scope} will be archived. To undo: {back}", err=True)
        if not confirmed("Finish it?"):
            raise MemtapeError("Nothing was changed.", "Confirm it, or give --yes.")
    done = finish(world)
    yield done
    yield f"{done.scope} is finished. Archived with it: {many(done.texts, 'text')}."
    yield f"To undo: {back}"


def _project_lines(number: int, it: Project) -> Iterator[str]:
    named = f"  {one_line(it.mark.name, SHOWN_CHARS)}" if it.mark.name else ""
    folder = f", {one_line(it.folder, SHOWN_CHARS)}" if it.folder else ""
    yield f"{it.scope}{named}"
    yield f"  {_state(it)}, last on {format_day(it.last_at)}, {held(it.memories, it.turns)}{folder}"


def _state_lines(world: World, asked: Asks, it: Project) -> Iterator[str]:
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


def _adopt_lines(home: Path, asked: Any, adopted: Adopted) -> Iterator[str]:
    yield f"{adopted.folder} has the memory of {adopted.scope} now."
    if adopted.before is not None:
        yield f"What was captured here before stays in {adopted.before}; `--scope {adopted.before}` asks it."


VERBS = (
    Verb(
        "project list",
        projects,
        lines=lambda world, asked, found: each(
            found, _project_lines, "There is no project yet. `memtape capture` makes that of this folder."
        ),
        listed="projects",
        at="home",
    ),
    Verb("project scope", project_state, lines=_state_lines),
    Verb(
        "project name",
        rename,
        lines=lambda world, asked, done: [f"{done.scope} is called {one_line(done.name, SHOWN_CHARS)} now."],
        effect="adds",
    ),
    Verb("project finish", finish, shell=_finish_shell, effect="hides"),
    Verb(
        "project finish --undo",
        resume,
        lines=lambda world, asked, done: [f"{done.scope} goes on. Found again: {many(done.texts, 'text')}."],
        effect="shows",
    ),
    Verb("project adopt", adopt, lines=_adopt_lines, at="folder", effect="adds"),
)
