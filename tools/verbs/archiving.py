"""Aging and the archive: archive texts and bring them back, list what is archived, and see how texts age."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from memtape.schemas.errors import InvalidUse, MemtapeError
from memtape.schemas.events import MAX_IDS, Archived, Kind
from memtape.schemas.rows import LifeMark, project_told
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import HOUR_US, format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import is_pinned, spoken_of
from memtape.state.subjects.memories import unit_of
from memtape.state.views.ages import Pass, UnitCounts, next_pass, standing
from memtape.state.views.resolution import named_by_decision
from memtape.tools import query
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.keep.log_settings import change_lifecycle, lifecycle_settings
from memtape.tools.query.plan import folded, state_of
from memtape.tools.query.telling import WORDING_CHARS
from memtape.tools.verb import Id, Limit, Offer, Output, Reason, Verb, rare, said
from memtape.tools.verbs.lines import TOLD_PLACES, TOLD_STAYS

if TYPE_CHECKING:
    from memtape.state.views.ages import Moving
    from memtape.tools.query.looking import ArchivedText, ArchiveList
    from memtape.tools.query.retrieval import Retriever
    from memtape.tools.world import World

SHOWN_CHARS = TEXT_CHARS = 120
SHOWN = 20
TOLD_WHY = {"asked": "since somebody asked for it", "age": "by age"}


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
    settings: dict[str, int | bool] = {}


def archive(
    world: World,
    ids: Annotated[
        tuple[Id, ...],
        Meta(description="The ids of memories or turns.", min_length=1, max_length=100),
    ],
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
    for id, scope in found:
        unit = _unit(scope, id)
        if is_pinned(scope, unit):
            told = f"{id} is pinned, and what is pinned is not archived. Nothing was archived."
            raise MemtapeError(told, f"`memtape pin --undo {id}` ends that.")
        if spoken_of(scope, unit) is None:
            told = f"{id} is forgotten or withdrawn, and found by nobody. Nothing was archived."
            raise MemtapeError(told, f"`memtape restore {id}` shows it again.")
    return _append(world, found, reason, on=True)


def unarchive(
    world: World,
    ids: Annotated[tuple[Id, ...], said("The ids, as list_archived has them.", 100, argument=True)] = (),
    all_of: Annotated[
        Literal["age", "asked"] | None,
        rare("All that was archived by age, or since somebody asked, instead of ids."),
    ] = None,
    reason: Reason = None,
) -> ArchivedNow:
    """Bring texts back instead, also those that have left the views.

        memtape archive --undo --all-of age

    Raises `NotFound`, and `MemtapeError` for texts archived with their project: `project finish --undo`
    brings them back.
    """
    if bool(ids) is (all_of is not None):
        raise InvalidUse("Give ids, or --all-of.", "`memtape archive --list` lists both.")
    found = _archived_for(world, all_of, reason) if all_of else _named(world, ids, reason)
    for id, scope in found if ids else ():
        unit = _unit(scope, id)
        spoken, project = spoken_of(scope, unit), scope.lifecycle.project
        if unit not in scope.lifecycle.archived and spoken is not None and scope.lifecycle.is_past(spoken.at):
            told = f"{id} is archived with its project, which was finished on {format_day(project.since)}."
            back = f"`memtape project finish --undo --scope {scope.name}` brings all of it back."
            raise MemtapeError(told, back)
    return _append(world, found, reason, on=False)


def _archived_for(world: World, all_of: str | None, reason: str | None) -> list[tuple[str, Scope]]:
    """Return all units of the scope that were archived for a reason, with the state of the scope."""
    check_label("reason", reason)
    here = state_of(world, world.scope)
    why = {} if here is None else {unit: it.why for unit, it in here.lifecycle.archived.items()}
    if here is None or all_of not in why.values():
        told = f"Nothing of {world.scope} was archived for the reason {all_of}."
        raise MemtapeError(told, "`memtape archive --list` lists it.")
    return [(here.captures.by_seq[unit].id, here) for unit, its in why.items() if its == all_of]


def _named(world: World, ids: Sequence[str], reason: str | None) -> list[tuple[str, Scope]]:
    """Return the named units, each once, with the states of their scopes at the end of the log."""
    check_label("reason", reason)
    if not ids:
        raise MemtapeError("No id was named.", "`memtape search` and `memtape archive --list` show ids.")
    state = cache(partial(state_of, world))
    found: dict[tuple[str, int], tuple[str, Scope]] = {}
    for given in dict.fromkeys(ids):
        id, scope = world.ids.within(given, lambda name, id: folded(world, name, id, state))
        if scope.name == GLOBAL and world.actor.origin != "operator":
            told = f"{id} belongs to global, which only operators change."
            raise MemtapeError(told, "Say --origin operator.")
        found.setdefault((scope.name, _unit(scope, id)), (id, scope))
    return list(found.values())


def _append(world: World, found: list[tuple[str, Scope]], reason: str | None, *, on: bool) -> ArchivedNow:
    """Append an event for each scope with changes; return the changed and the unchanged units."""
    done, already, named = list[NamedUnit](), list[NamedUnit](), dict[str, dict[str, None]]()
    for id, scope in found:
        ids, unit = named_by_decision(scope, id, only=False), _unit(scope, id)
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


def _unit(scope: Scope, id: str) -> int:
    capture = scope.captures.get(id)
    assert capture is not None
    return unit_of(scope, capture)


def archived(
    world: World,
    limit: Limit = 20,
    purged: Annotated[bool, Meta(description="What has left the views too, and can come back.")] = False,
) -> ArchiveList:
    """List what is archived, the latest first, and the projects.

        memtape archive --list --purged --limit 50

    Returns the texts of the scope and of `global`; with `purged` only those that left the views.
    """

    def read(views: Retriever) -> ArchiveList:
        return query.looking.archived_of(views, world.scope, limit, purged=purged, on_phase=world.on_phase)

    found = world.reader.read(read, world.scope)
    if not world.is_confined:
        return found
    own = {scope: mark for scope, mark in found.projects.items() if scope == world.scope}
    return msgspec.structs.replace(found, projects=own)


def lifecycle(
    world: World,
    dry_run: Annotated[bool, said("Say what the next pass would move, and why the rest stays.")] = False,
    at: Annotated[
        str | None,
        said("The dry run is of a pass at this later time, as ISO 8601.", metavar="TIME"),
    ] = None,
    limit: Annotated[int, Meta(description="The most groups that are told.", ge=1)] = 20,
) -> Aging:
    """Say how many texts of this project stand in which tier, archived or not, and when the clock last
    ticked.

        memtape admin lifecycle
        memtape admin lifecycle --dry-run
        memtape admin lifecycle --dry-run --at 2027-01-01 --json
        memtape admin lifecycle --set archive_after_days=-1

    A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the state:
    each text is counted once, as one that moves or by why it stays. The pass is one, as if none came before
    it. --set is for people: --origin user at a terminal.

    Returns the state at the end of the log, and appends nothing. Raises `MemtapeError` for a past time.
    """
    if at is not None and not dry_run:
        raise InvalidUse("--at says when a pass is tried: give --dry-run too.")
    from memtape.tools.keep.states import partition_now

    now, name = now_us(), world.scope
    when = now if at is None else parse_time(at, now)
    state = partition_now(world.home, world.log, name)
    scope, clock = state.scopes.get(name) or Scope(name), state.clock or 0
    if at is not None and when // HOUR_US * HOUR_US <= clock:
        told = f"The clock of {name} stands at {format_time(clock)}, and only goes on."
        raise MemtapeError(told, "Give a later hour, or none.")
    hour = max(when // HOUR_US * HOUR_US, clock // HOUR_US * HOUR_US + HOUR_US)
    return Aging(
        scope=name,
        mark=scope.lifecycle.mark(),
        on=state.settings.lifecycle,
        ticked_at=clock,
        standing=standing(scope),
        pass_=next_pass(scope, state.settings, hour) if dry_run else None,
    )


def set_lifecycle(
    world: World,
    changes: Annotated[
        tuple[str, ...], said("Change a setting of the whole log.", option="--set", metavar="KEY=VALUE")
    ],
) -> dict[str, int | bool]:
    """Change a setting of the whole log.

        memtape admin lifecycle --set archive_after_days=-1

    Raises `MemtapeError`, also for anyone but a person.
    """
    check_person(world.actor.origin, "change how texts age")
    pairs = [change.partition("=") for change in changes]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise InvalidUse(f"{wrong[0]} is no KEY=VALUE, as archive_after_days=-1.")
    return change_lifecycle(world.log, {key.strip(): value.strip() for key, _, value in pairs})


def _archive_lines(world: World, asked: Any, done: ArchivedNow) -> Iterator[str]:
    yield from _done(done, "Archived", "Archived before")
    if done.done:
        yield "It leaves searches, starts and MEMORY.md until it is used, pinned or said again."
        yield f"To undo: memtape archive --undo {' '.join(it.id for it in done.done)}"


def _unarchive_lines(world: World, asked: Any, done: ArchivedNow) -> Iterator[str]:
    yield from _done(done, "Brought back", "Not archived")
    if asked.ids and done.done:
        yield f"To undo: memtape archive {' '.join(it.id for it in done.done)}"


def _archived_lines(world: World, asked: Any, found: ArchiveList) -> Iterator[str]:
    purged = asked.purged
    for why, texts in groupby(found.archived, key=lambda it: it.why):
        yield f"Archived {TOLD_WHY[why]}: {found.counts[why]:,}"
        for it in texts:
            yield _archived(it, found.scope)
    if not found.archived:
        yield "Nothing has left the views by itself." if purged else "Nothing is archived by itself."
    elif (left := sum(found.counts.values()) - len(found.archived)) > 0:
        yield f"{left:,} more; --limit shows them."
    if found.archived:
        yield "To bring one back: memtape archive --undo ID"
    if found.purged and not purged:
        told = many(found.purged, "text has", "texts have")
        yield f"{told} left the views too: memtape archive --list --purged"
    for scope, mark in found.projects.items():
        yield f"{scope}: {project_told(mark)}"
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they archive.", err=True)


def _done(done: ArchivedNow, what: str, else_: str) -> Iterator[str]:
    for it in done.done[:SHOWN]:
        said = f"{what} {it.kind} {it.id}" + (f", {many(it.captures, 'capture')}" if it.captures > 1 else "")
        yield f"{said}: {one_line(it.text, SHOWN_CHARS)}"
    if len(done.done) > SHOWN:
        yield f"{what}: {len(done.done) - SHOWN:,} more."
    for it in done.already:
        yield f"{else_}: {it.kind} {it.id}: {one_line(it.text, SHOWN_CHARS)}"


def _archived(it: ArchivedText, scope: str) -> str:
    text = next(iter(it.text.splitlines()), "") or "(its text is erased)"
    about = [it.kind, f"said {format_day(it.at)}", f"archived {format_day(it.archived_at)}"]
    about += ["forgotten or withdrawn too"] * it.hidden + [it.scope] * (it.scope != scope)
    return f"  {one_line(text, SHOWN_CHARS)}\n    {' · '.join(about)}\n    {it.id}"


def _aging_lines(world: World, asked: Any, aging: Aging) -> Iterator[str]:
    """Yield how a scope has aged, a line each, and of a dry run so many moves."""
    mark = aging.mark
    since = f" since {format_day(mark.since)}" if mark.since else ""
    named = f" ({one_line(mark.name, TEXT_CHARS)})" if mark.name else ""
    ticked = format_time(aging.ticked_at) if aging.ticked_at else "never"
    yield f"{aging.scope}{named}: {mark.state}{since}; last tick {ticked}"
    if not aging.on:
        yield "Nothing ages: `memtape admin lifecycle --set lifecycle=true` switches that on."
    yield from _standing(aging.standing)
    if aging.pass_ is not None:
        yield from _pass(aging.pass_, asked.limit)


def _standing(it: UnitCounts) -> Iterator[str]:
    for name in ("short", "mid", "long", "archived", "purged"):
        yield f"  {name:<12} {getattr(it, name):>9,}"
    for name, count in it.apart.items():
        yield f"  {name:<12} {count:>9,}  does not age"
    yield f"  {'in all':<12} {it.total:>9,}"
    yield f"  {'summaries':<12} {it.summaries:>9,}"


def _pass(it: Pass, limit: int) -> Iterator[str]:
    yield f"A pass at {format_time(it.at)} would move {it.moving:,} of {many(it.total, 'text')}:"
    for move in it.moves[:limit]:
        yield f"  {move.count:>9,}  {TOLD_PLACES[move.to]}: {_group(move)}"
    if len(it.moves) > limit:
        rest = sum(move.count for move in it.moves[limit:])
        yield f"  {rest:>9,}  in {many(len(it.moves) - limit, 'more group')}; --json has all"
    for why, count in it.stays.items():
        yield f"  {count:>9,}  stay: {TOLD_STAYS[why]}"
    yield f"  {it.moving + sum(it.stays.values()):>9,}  in all"
    if it.project == "dormant":
        yield "The project would become dormant, since nothing happened in it for long."
    elif it.project == "purged":
        yield "The project, dormant for long, would leave the views until somebody asks or says something."
    yield "That was only tried. The first `memtape run --once` at that time or later makes the pass."


def _group(move: Moving) -> str:
    day = format_day(move.since)
    match move.to:
        case "mid":
            return f"{move.kind} of {day}, {one_line(move.label, TEXT_CHARS)}"
        case "long":
            return f"{move.kind} of the week of {day}"
        case "archived":
            return f"last said on {day}"
        case "purged":
            return f"archived on {day}"


def _lifecycle_shell(world: World, asked: Any) -> Output:
    aging = lifecycle(world, asked.dry_run, asked.at, asked.limit)
    yield msgspec.structs.replace(aging, settings=lifecycle_settings(world.log))
    yield from _aging_lines(world, asked, aging)


def _tell_archive(world: World, asked: Any, done: ArchivedNow) -> str:
    named = ", ".join(f"`{it.id}`" for it in done.done)
    already = f" Archived before: {len(done.already)}." if done.already else ""
    return f"Archived {len(done.done)}{f' ({named})' if named else ''}.{already} unarchive_memory undoes it."


def _tell_unarchive(world: World, asked: Any, done: ArchivedNow) -> str:
    already = f" Not archived: {len(done.already)}." if done.already else ""
    return f"Brought back {len(done.done)}.{already}"


def _tell_archived(world: World, asked: Any, found: ArchiveList) -> str:
    """List the archived texts of the project, as many as fit. Other projects are not named."""
    own = found.projects.get(found.scope)
    tail = [project_told(own)] if own is not None else []
    if not found.archived:
        return "\n\n".join([f"Nothing of {found.scope} is archived by itself.", *tail])
    counts = ", ".join(f"{count:,} by {why}" for why, count in found.counts.items())
    tail.append("unarchive_memory brings one back, and so does using it.")
    return markdown.list_pieces(f"Archived: {counts}.", list(map(_tell_text, found.archived)), tail)


def _tell_text(it: ArchivedText) -> str:
    hidden = " · forgotten too" if it.hidden else ""
    head = f"`{it.id}` · {it.kind} · archived {format_day(it.archived_at)} by {it.why}{hidden}"
    return f"{head}\n{markdown.quoted(one_line(it.text, WORDING_CHARS))}"


VERBS = (
    Verb(
        "archive",
        archive,
        lines=_archive_lines,
        effect="hides",
        tool=Offer(
            "Put memories out of the way that are done with. unarchive_memory undoes it.",
            _tell_archive,
            common=False,
        ),
    ),
    Verb(
        "archive --undo",
        unarchive,
        lines=_unarchive_lines,
        effect="shows",
        tool=Offer("Bring back memories that were archived.", _tell_unarchive, common=False),
    ),
    Verb(
        "archive --list",
        archived,
        lines=_archived_lines,
        tool=Offer("What is archived, since when and why.", _tell_archived, common=False),
    ),
    Verb("admin lifecycle", lifecycle, shell=_lifecycle_shell),
    Verb(
        "admin lifecycle --set",
        set_lifecycle,
        effect="adds",
        lines=lambda world, asked, found: [f"{name:<28}{str(its).lower()}" for name, its in found.items()],
        listed="settings",
    ),
)
