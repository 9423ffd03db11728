"""Aging, the archive and projects: what is out of the way, how texts age, and that a project is finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidUse, MemtapeError, NotFound
from memtape.schemas.events import MAX_IDS, Archived, Kind, ScopeChanged
from memtape.schemas.ids import short_id
from memtape.schemas.log import events_between
from memtape.schemas.rows import LifeMark, ScopeHeld, made_from, project_told
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import HOUR_US, format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.sinks.home.folders import Home
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import is_pinned, spoken_of
from memtape.state.subjects.memories import unit_of
from memtape.state.views.ages import Pass, Place, UnitCounts, next_pass, standing, to_be_archived
from memtape.state.views.resolution import named_by_decision
from memtape.tools import query
from memtape.tools.capture.project import Adopted, folders_known
from memtape.tools.capture.project import adopt as adopt_scope
from memtape.tools.capture.writing import check_label, check_person, now_us
from memtape.tools.doors.terminal import confirmed, say, say_lag, some
from memtape.tools.keep.log_settings import change_lifecycle, lifecycle_settings
from memtape.tools.query.plan import state_of
from memtape.tools.query.telling import held, lives_told, told_author
from memtape.tools.verb import Asks, Id, Limit, Lines, Output, Reason, Step, Verb, rare, said, terminal

if TYPE_CHECKING:
    from memtape.tools.query.looking import ArchiveList
    from memtape.tools.query.retrieval import Retriever
    from memtape.tools.world import World

SHOWN_CHARS = 120
SHOWN = 20
TOLD_WHY = {"asked": "since somebody asked for it", "age": "by age"}
TITLE_CHARS = 80
MOST_NAME_CHARS = 200
MOST_PENDING = 1_000
"""Events behind the views of a partition that are searched for further projects."""
TOLD_PLACES: dict[Place, str] = {
    "mid": "to the tier mid",
    "long": "to the tier long",
    "archived": "into the archive",
    "purged": "out of the views",
}


class NamedUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A named memory or turn: its canonical text, or its first if hidden, and the number of its captures."""

    id: str
    scope: str
    kind: Kind
    text: str
    captures: int


class ArchivedNow(msgspec.Struct, frozen=True, kw_only=True):
    """The units changed by archiving or restoring, and the units already in the wanted state."""

    done: tuple[NamedUnit, ...]
    already: tuple[NamedUnit, ...]


class Aging(msgspec.Struct, frozen=True, kw_only=True):
    """The aging of a scope: its own state, the numbers of its texts by tier, and the latest tick.

    `ticked_at` is the clock of its partition, in microseconds, 0 before its first event. `pass_` has the
    changes of the next pass, None unless asked for. `on` says whether passes happen at all.
    """

    scope: str
    mark: LifeMark
    on: bool
    ticked_at: int
    standing: UnitCounts
    pass_: Pass | None = msgspec.field(name="pass", default=None)
    settings: dict[str, int | bool]


def archive(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids of memories or turns.", 100, of="capture")],
    reason: Reason = None,
) -> ArchivedNow:
    """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

        memtape archive 019ab0c4-9a3c-7000-8000-0123456789ab --reason "done with"
        memtape archive 019ab0c4 --undo
        memtape archive --undo --all-of age
        memtape archive --list --purged --limit 50

    Each returns by --undo, and by itself once used, pinned or said again. Pinned memories stay. Of a document
    only the named part is archived. Texts archived with their project come back by `memtape project finish
    --undo`.

    Returns the changed and the unchanged units. Raises `NotFound`, and `MemtapeError` where any is pinned or
    hidden: then none is archived.
    """
    found = _named(world, ids, reason)
    for id, scope, unit in found:
        if is_pinned(scope, unit):
            told = f"{short_id(id)} is pinned, and what is pinned is not archived. Nothing was archived."
            raise MemtapeError(told, f"`memtape pin --undo {short_id(id)}` ends that.")
        if spoken_of(scope, unit) is None:
            told = f"{short_id(id)} is forgotten or withdrawn, and found by nobody. Nothing was archived."
            raise MemtapeError(told, f"`memtape restore {short_id(id)}` shows it again.")
    return _append(world, found, reason, on=True)


def unarchive(
    world: World,
    ids: Annotated[
        tuple[Id, ...], said("The ids, as --list has them.", 100, argument=True, of="capture")
    ] = (),
    all_of: Annotated[
        Literal["age", "asked"] | None,
        rare("All that was archived by age, or since somebody asked, instead of ids."),
    ] = None,
    reason: Reason = None,
) -> ArchivedNow:
    """Bring texts back instead, also those that have left the views.

    Raises `NotFound`, and `MemtapeError` for texts archived with their project: `project finish --undo`
    brings them back.
    """
    if bool(ids) is (all_of is not None):
        raise InvalidUse("Give ids, or --all-of.", "`memtape archive --list` lists both.")
    if all_of:
        check_label("reason", reason)
        here = state_of(world, world.scope)
        units = [unit for unit, it in here.lifecycle.archived.items() if it.why == all_of]
        if not units:
            told = f"Nothing of {world.scope} was archived for the reason {all_of}."
            raise MemtapeError(told, "`memtape archive --list` lists it.")
        of_reason = [(here.captures.by_seq[unit].id, here, unit) for unit in units]
        return _append(world, of_reason, reason, on=False)
    found = _named(world, ids, reason)
    for id, scope, unit in found:
        spoken, project = spoken_of(scope, unit), scope.lifecycle.project
        if unit not in scope.lifecycle.archived and spoken is not None and scope.lifecycle.is_past(spoken.at):
            finished = f"which was finished on {format_day(project.since)}"
            told = f"{short_id(id)} is archived with its project, {finished}."
            back = f"`memtape project finish --undo --scope {scope.name}` brings all of it back."
            raise MemtapeError(told, back)
    return _append(world, found, reason, on=False)


def _named(world: World, ids: Sequence[str], reason: str | None) -> list[tuple[str, Scope, int]]:
    """Return the named units, each once, with the states of their scopes at the end of the log."""
    check_label("reason", reason)
    if not ids:
        raise MemtapeError("No id was named.", "`memtape search` and `memtape archive --list` show ids.")
    state = cache(partial(state_of, world))
    found: dict[tuple[str, int], tuple[str, Scope, int]] = {}
    for given in dict.fromkeys(ids):
        id, scope = world.folded(given, state)
        if scope.name == GLOBAL and world.actor.origin != "operator":
            told = f"{short_id(id)} belongs to global, which only operators change."
            raise MemtapeError(told, "Say --origin operator.")
        capture = scope.captures.get(id)
        assert capture is not None
        unit = unit_of(scope, capture)
        found.setdefault((scope.name, unit), (id, scope, unit))
    return list(found.values())


def _append(
    world: World, found: list[tuple[str, Scope, int]], reason: str | None, *, on: bool
) -> ArchivedNow:
    """Append an event for each scope with changes; return the changed and the unchanged units."""
    done, already, named = list[NamedUnit](), list[NamedUnit](), dict[str, dict[str, None]]()
    for id, scope, unit in found:
        ids = named_by_decision(scope, id, only=False)
        capture = spoken_of(scope, unit) or scope.captures.by_seq[unit]
        text = scope.captures.body(capture).text
        told = NamedUnit(id=id, scope=scope.name, kind=capture.kind, text=text, captures=len(ids))
        if (unit in scope.lifecycle.archived) is on:
            already.append(told)
        else:
            done.append(told)
            named.setdefault(scope.name, {}).update(dict.fromkeys(ids))
    for name, all_ids in named.items():
        for first in range(0, len(all_ids), MAX_IDS):
            body = Archived(ids=tuple(all_ids)[first : first + MAX_IDS], on=on, reason=reason or None)
            world.append("archived", body, name)
    return ArchivedNow(done=tuple(done), already=tuple(already))


def archived(
    world: World,
    limit: Limit = 20,
    purged: Annotated[bool, Meta(description="What has left the views too, and can come back.")] = False,
) -> ArchiveList:
    """List what is archived, the latest first, and the projects.

    Returns the texts of the scope and of `global`; with `purged` only those that left the views.
    """

    def read(views: Retriever) -> ArchiveList:
        return query.looking.archived_of(views, world.scope, limit, purged=purged)

    found = world.reader.read(read, world.scope)
    if not world.is_confined:
        return found
    own = {scope: mark for scope, mark in found.projects.items() if scope == world.scope}
    return msgspec.structs.replace(found, projects=own)


def lifecycle(
    world: World,
    dry_run: Annotated[bool, said("Say what the next pass would move.")] = False,
    limit: Annotated[int, Meta(description="The most groups that are told.", ge=1)] = 20,
) -> Aging:
    """Say how many texts of this project stand in which tier, archived or not, and when the clock last
    ticked.

        memtape admin lifecycle
        memtape admin lifecycle --dry-run
        memtape admin lifecycle --dry-run --json
        memtape admin lifecycle --set archive_after_days=-1

    A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the state,
    as if no pass came before it. --set is for people: --origin user at a terminal.

    Returns the state at the end of the log, and appends nothing.
    """
    from memtape.tools.keep.states import partition_now

    name = world.scope
    state = partition_now(world.home, world.log, name)
    scope, clock = state.scopes.get(name) or Scope(name), state.clock or 0
    hour = max(now_us() // HOUR_US, clock // HOUR_US + 1) * HOUR_US
    return Aging(
        scope=name,
        mark=scope.lifecycle.mark(),
        on=state.settings.lifecycle,
        ticked_at=clock,
        standing=standing(scope),
        pass_=next_pass(scope, state.settings, hour) if dry_run else None,
        settings=lifecycle_settings(world.log),
    )


def set_lifecycle(
    world: World,
    changes: Annotated[
        tuple[str, ...], said("Change a setting of the whole log.", option="--set", metavar="KEY=VALUE")
    ],
) -> dict[str, int | bool]:
    """Change a setting of the whole log.

    Raises `MemtapeError`, also for anyone but a person.
    """
    world.rights.check_operator()
    check_person(world.actor.origin, "change how texts age")
    pairs = [change.partition("=") for change in changes]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise InvalidUse(f"{wrong[0]} is no KEY=VALUE, as archive_after_days=-1.")
    return change_lifecycle(world.log, {key.strip(): value.strip() for key, _, value in pairs})


def _archive_lines(what: str, before: str, undo: str, world: World, asked: Any, done: ArchivedNow) -> Lines:
    def line(it: NamedUnit) -> str:
        captures = f", {many(it.captures, 'capture')}" if it.captures > 1 else ""
        return f"{what} {it.kind} {short_id(it.id)}{captures}: {one_line(it.text, SHOWN_CHARS)}"

    yield from some(done.done, line, most=SHOWN)
    for it in done.already:
        yield f"{before}: {it.kind} {short_id(it.id)}: {one_line(it.text, SHOWN_CHARS)}"
    if done.done and undo == "archive --undo":
        yield "It leaves searches, starts and MEMORY.md until it is used, pinned or said again."
    if done.done and asked.ids:
        yield Step("Undo", undo, " ".join(it.id for it in done.done))


def _archived_lines(world: World, asked: Any, found: ArchiveList) -> Lines:
    for why, texts in groupby(found.archived, key=lambda it: it.why):
        yield f"Archived {TOLD_WHY[why]}: {found.counts[why]:,}"
        for it in texts:
            text = next(iter(it.text.splitlines()), "") or "(its text is erased)"
            by = [told_author(it)] if it.actor else []
            about = [it.kind, *by, f"said {format_day(it.at)}", f"archived {format_day(it.archived_at)}"]
            about += ["forgotten or withdrawn too"] * it.hidden + [it.scope] * (it.scope != found.scope)
            yield f"  {one_line(text, SHOWN_CHARS)}\n    {' · '.join(about)}\n    {short_id(it.id)}"
    if not found.archived:
        yield "Nothing has left the views by itself." if asked.purged else "Nothing is archived by itself."
    elif (left := sum(found.counts.values()) - len(found.archived)) > 0:
        yield f"{left:,} more; --limit shows them."
    if found.archived:
        yield Step("To bring one back", "archive --undo", "ID")
    if found.purged and not asked.purged:
        yield Step(
            f"{many(found.purged, 'text has', 'texts have')} left the views too", "archive --list", "--purged"
        )
    for scope, mark in found.projects.items():
        yield f"{scope}: {project_told(mark)}"
    say_lag(found.lag, "archive")


def _aging_lines(world: World, asked: Any, aging: Aging) -> Iterator[str]:
    """Yield how a scope has aged, a line each, and of a dry run so many moves."""
    mark = aging.mark
    since = f" since {format_day(mark.since)}" if mark.since else ""
    named = f" ({one_line(mark.name, SHOWN_CHARS)})" if mark.name else ""
    ticked = format_time(aging.ticked_at) if aging.ticked_at else "never"
    yield f"{aging.scope}{named}: {mark.state}{since}; last tick {ticked}"
    if not aging.on:
        yield "Nothing ages: `memtape admin lifecycle --set lifecycle=true` switches that on."
    it = aging.standing
    for name in ("short", "mid", "long", "archived", "purged"):
        yield f"  {name:<12} {getattr(it, name):>9,}"
    for name, count in it.apart.items():
        yield f"  {name:<12} {count:>9,}  does not age"
    yield f"  {'in all':<12} {it.total:>9,}"
    yield f"  {'summaries':<12} {it.summaries:>9,}"
    if aging.pass_ is not None:
        yield from _pass_lines(aging.pass_, asked.limit)


def _pass_lines(it: Pass, limit: int) -> Iterator[str]:
    yield f"A pass at {format_time(it.at)} would move {it.moving:,} of {many(it.total, 'text')}:"
    for move in it.moves[:limit]:
        day = format_day(move.since)
        group = {
            "mid": f"{move.kind} of {day}, {one_line(move.label, SHOWN_CHARS)}",
            "long": f"{move.kind} of the week of {day}",
            "archived": f"last said on {day}",
            "purged": f"archived on {day}",
        }[move.to]
        yield f"  {move.count:>9,}  {TOLD_PLACES[move.to]}: {group}"
    if len(it.moves) > limit:
        rest = sum(move.count for move in it.moves[limit:])
        yield f"  {rest:>9,}  in {many(len(it.moves) - limit, 'more group')}; --json has all"
    if it.project == "dormant":
        yield "The project would become dormant, since nothing happened in it for long."
    elif it.project == "purged":
        yield "The project, dormant for long, would leave the views until somebody asks or says something."
    yield "That was only tried. The first `memtape run --once` at that time or later makes the pass."


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

    def read(views: Retriever) -> list[Project]:
        found = list[Project]()
        for number in range(views.log.partitions):
            mark, held = views.watermark(number), views.shard(number).held()
            behind = events_between(views.log, number, mark.offset, views.log.ends()[number])
            pending = {it.scope: it.sent for _, it in islice(behind, MOST_PENDING) if it.scope}
            for name, sent in (mark.sent | pending).items():
                own, life = held.get(name, ScopeHeld()), mark.lives.get(name, LifeMark())
                at = {"scope": name, "folder": folders.get(name)}
                found.append(made_from(Project, own, mark=life, last_at=sent, **at))
        projects = (it for it in found if it.scope != GLOBAL)
        return sorted(projects, key=lambda it: (-it.last_at, it.scope))

    return world.reader.reading(read)


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


def finish(world: World, yes: Annotated[bool, terminal("Do not ask.")] = False) -> ProjectChange:
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
    """Go on with a finished project: texts archived with the project are found again."""
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
) -> Output:
    """Give this folder's project the memory of FOLDER, its place before a rename, a move or `git init`.

        memtape project adopt ../the-old-name

    A folder outside git is known by its path alone. FOLDER is the former path, or SCOPE the scope that
    `memtape status` names. A folder that still exists keeps its memory.
    """
    from memtape.tools.client import Client

    adopted = adopt_scope(Path.cwd(), Home(home), once)
    yield adopted
    yield f"{adopted.folder} has the memory of {adopted.scope} now."
    with Client(home, scope=adopted.scope) as client:
        if not client.log.matching("", [adopted.scope], [], 1):
            yield f"Nothing was captured in {adopted.scope} so far. `memtape project list` names projects."
    if adopted.before is not None:
        yield f"What was captured here before stays in {adopted.before}; `--scope {adopted.before}` asks it."


def _stands(world: World, what: str, command: str) -> Scope:
    """Return the state of the scope for a writer who may change it as a whole, by a command of projects."""
    origin, name = world.actor.origin, world.scope
    then = f"The user can run `memtape project {command}`; who is a person says --origin user."
    check_person(origin, f"{what} a project", then)
    if name == GLOBAL:
        raise MemtapeError(f"{GLOBAL} is no project.", "Name one with --scope.")
    scope = state_of(world, name)
    if not scope.seq:
        raise _nothing(name)
    return scope


def _say(world: World, body: ScopeChanged, texts: int) -> ProjectChange:
    world.append("scope_changed", body, world.scope)
    mark = state_of(world, world.scope).lifecycle.mark()
    return ProjectChange(scope=world.scope, state=mark.state, name=mark.name, texts=texts)


def _nothing(scope: str) -> NotFound:
    return NotFound(f"{scope} holds nothing yet.", "`memtape project list` names the projects of this home.")


def _finish_shell(world: World, asked: Any) -> ProjectChange:
    texts = to_finish(world)
    if not asked.yes:
        back = f"memtape project finish --undo --scope {world.scope}"
        say(f"{many(texts, 'text')} of {world.scope} will be archived. Undo: {back}", err=True)
        if not confirmed("Finish it?"):
            raise MemtapeError("Nothing was changed.", "Confirm it, or give --yes.")
    return finish(world)


def _finish_lines(world: World, asked: Asks, done: ProjectChange) -> Lines:
    yield f"{done.scope} is finished. Archived with it: {many(done.texts, 'text')}."
    yield Step("Undo", "project finish --undo", f"--scope {done.scope}")


def _project_lines(world: World, asked: Asks, found: list[Project]) -> Iterator[str]:
    for it in found:
        named = f"  {one_line(it.mark.name, TITLE_CHARS)}" if it.mark.name else ""
        folder = f", {one_line(it.folder, TITLE_CHARS)}" if it.folder else ""
        since = f" since {format_day(it.mark.since)}" if it.mark.since else ""
        gone = ", has left the views" if it.mark.is_purged else ""
        state = f"{it.mark.state}{since}{gone}"
        yield f"{it.scope}{named}"
        yield f"  {state}, last on {format_day(it.last_at)}, {held(it.memories, it.turns)}{folder}"
    if not found:
        yield "There is no project yet. `memtape capture` makes that of this folder."


def _state_lines(world: World, asked: Asks, it: Project) -> Iterator[str]:
    yield from _project_lines(world, asked, [it])
    yield f"  {lives_told([it.mark])}"
    if told := project_told(it.mark):
        yield told


VERBS = (
    Verb(
        "archive",
        archive,
        lines=partial(_archive_lines, "Archived", "Archived before", "archive --undo"),
        effect="hides",
        undo="archive --undo",
    ),
    Verb(
        "archive --undo",
        unarchive,
        lines=partial(_archive_lines, "Brought back", "Not archived", "archive"),
        effect="shows",
        undo="archive",
        label="Bring back",
    ),
    Verb("archive --list", archived, lines=_archived_lines),
    Verb("admin lifecycle", lifecycle, lines=_aging_lines),
    Verb(
        "admin lifecycle --set",
        set_lifecycle,
        effect="adds",
        lines=lambda world, asked, found: [f"{name:<28}{str(its).lower()}" for name, its in found.items()],
        listed="settings",
    ),
    Verb("project list", projects, lines=_project_lines, listed="projects", at="home"),
    Verb("project scope", project_state, lines=_state_lines),
    Verb(
        "project name",
        rename,
        lines=lambda world, asked, done: [f"{done.scope} is called {one_line(done.name, TITLE_CHARS)} now."],
        effect="adds",
    ),
    Verb("project finish", finish, _finish_lines, _finish_shell, effect="hides"),
    Verb(
        "project finish --undo",
        resume,
        lines=lambda world, asked, done: [f"{done.scope} goes on. Found again: {many(done.texts, 'text')}."],
        effect="shows",
    ),
    Verb("project adopt", adopt, answers=Adopted, at="folder", effect="adds"),
)
