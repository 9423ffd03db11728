"""Aging and the archive: archive texts and bring them back, list what is archived, and see how texts age."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Literal

import click
import msgspec
from msgspec import Meta

from memtape.schemas.rows import project_told
from memtape.schemas.times import format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.tools import ask
from memtape.tools.ask.telling import WORDING_CHARS
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.keep.log_settings import change_lifecycle, lifecycle_settings
from memtape.tools.verb import Asks, Id, Limit, Offer, Output, Reason, Verb, rare, said
from memtape.tools.verbs.lines import TOLD_PLACES, TOLD_STAYS

if TYPE_CHECKING:
    from memtape.state.views.ages import Moving, Pass, UnitCounts
    from memtape.tools.ask.archived import Aging, ArchivedNow, ArchivedText, ArchiveList
    from memtape.tools.world import World

SHOWN_CHARS = TEXT_CHARS = 120
SHOWN = 20
TOLD_WHY = {"asked": "since somebody asked for it", "age": "by age"}


class ArchiveAsks(Asks, frozen=True):
    ids: Annotated[tuple[Id, ...], Meta(description="The ids of memories or turns.", min_length=1, max_length=100)]
    reason: Reason = None


class UnarchiveAsks(Asks, frozen=True):
    ids: Annotated[tuple[Id, ...], said("The ids, as list_archived has them.", 100, argument=True)] = ()
    all_of: Annotated[
        Literal["age", "asked"] | None,
        rare("All that was archived by age, or since somebody asked, instead of ids."),
    ] = None
    reason: Reason = None


class ArchivedAsks(Asks, frozen=True):
    limit: Limit = 20
    purged: Annotated[bool, Meta(description="What has left the views too, and can come back.")] = False


class LifecycleAsks(Asks, frozen=True):
    dry_run: Annotated[bool, said("Say what the next pass would move, and why the rest stays.")] = False
    at: Annotated[str | None, said("The dry run is of a pass at this later time, as ISO 8601.", metavar="TIME")] = None
    limit: Annotated[int, Meta(description="The most groups that are told.", ge=1)] = 20


class SetLifecycleAsks(Asks, frozen=True):
    changes: Annotated[tuple[str, ...], said("Change a setting of the whole log.", option="--set", metavar="KEY=VALUE")]


def archive(world: World, asked: ArchiveAsks) -> ArchivedNow:
    """Archive memories and turns with all their captures; return the changed and the unchanged units.

    Raises `NotFound`, and `MemtapeError` where any is pinned or hidden: then none is archived.
    """
    return ask.archived.archive(world, world.ids, asked.ids, asked.reason)


def unarchive(world: World, asked: UnarchiveAsks) -> ArchivedNow:
    """Bring back memories and turns, purged ones too, or all of the scope archived for a reason.

    Raises `NotFound`, and `MemtapeError` for texts archived with their project: `project finish --undo` brings them
    back.
    """
    return ask.archived.unarchive(world, world.ids, asked.ids, asked.all_of, asked.reason)


def archived(world: World, asked: ArchivedAsks) -> ArchiveList:
    """Return the archived texts of the scope and of `global`, the latest first.

    With `purged` they are only those that left the views.
    """

    def told(done: int) -> None:
        world.on_phase("reading", min(done, asked.limit), asked.limit)

    archived_of = ask.archived.archived_of
    found = world.reader.read(
        lambda views: archived_of(views, world.scope, asked.limit, purged=asked.purged, on_read=told), world.scope
    )
    if not world.is_confined:
        return found
    own = {scope: mark for scope, mark in found.projects.items() if scope == world.scope}
    return msgspec.structs.replace(found, projects=own)


def lifecycle(world: World, asked: LifecycleAsks) -> Aging:
    """Return the aging of the scope, and with `dry_run` the changes of a pass: the next, or at a time.

    Folds the log up to its end, and appends nothing. Raises `MemtapeError` for a past time.
    """
    if asked.at is not None and not asked.dry_run:
        raise click.UsageError("--at says when a pass is tried: give --dry-run too.")
    now = now_us()
    at = None if asked.at is None else parse_time(asked.at, now)
    aging_of = ask.archived.aging_of
    return aging_of(world.home, world.log, world.scope, now, dry_run=asked.dry_run, at=at)


def set_lifecycle(world: World, asked: SetLifecycleAsks) -> dict[str, int | bool]:
    """Append changed settings of aging and return all. Raises `MemtapeError`, also for anyone but a person."""
    check_person(world.actor.origin, "change how texts age")
    pairs = [change.partition("=") for change in asked.changes]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise click.UsageError(f"{wrong[0]} is no KEY=VALUE, as archive_after_days=-1.")
    return change_lifecycle(world.log, {key.strip(): value.strip() for key, _, value in pairs})


def _archive_lines(world: World, asked: ArchiveAsks, done: ArchivedNow) -> Iterator[str]:
    yield from _done(done, "Archived", "Archived before")
    if done.done:
        yield (
            "It leaves searches, starts and MEMORY.md, and comes back by itself where it is used, pinned or said again."
        )
        yield f"To undo: memtape archive --undo {' '.join(it.id for it in done.done)}"


def _unarchive_shell(world: World, asked: UnarchiveAsks) -> Output:
    if not asked.ids and asked.all_of is None:
        raise click.UsageError("Give ids, or --all-of.")
    done = unarchive(world, asked)
    yield done
    yield from _unarchive_lines(world, asked, done)


def _unarchive_lines(world: World, asked: UnarchiveAsks, done: ArchivedNow) -> Iterator[str]:
    yield from _done(done, "Brought back", "Not archived")
    if asked.ids and done.done:
        yield f"To undo: memtape archive {' '.join(it.id for it in done.done)}"


def _archived_lines(world: World, asked: ArchivedAsks, found: ArchiveList) -> Iterator[str]:
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
        yield f"{many(found.purged, 'text has', 'texts have')} left the views too: memtape archive --list --purged"
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


def _aging_lines(world: World, asked: LifecycleAsks, aging: Aging) -> Iterator[str]:
    """Yield how a scope has aged, a line each, and of a dry run so many moves."""
    mark = aging.mark
    since = f" since {format_day(mark.since)}" if mark.since else ""
    named = f" ({one_line(mark.name, TEXT_CHARS)})" if mark.name else ""
    ticked = format_time(aging.ticked_at) if aging.ticked_at else "never"
    yield f"{aging.scope}{named}: {mark.state}{since}; last tick {ticked}"
    if not aging.on:
        yield "Nothing ages: it is switched off. `memtape admin lifecycle --set lifecycle=true` switches it on."
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
        yield "The project, dormant for long, would leave the views until somebody asks or says something there."
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


def _lifecycle_shell(world: World, asked: LifecycleAsks) -> Output:
    aging = lifecycle(world, asked)
    yield msgspec.structs.replace(aging, settings=lifecycle_settings(world.log))
    yield from _aging_lines(world, asked, aging)


def _tell_archive(world: World, asked: ArchiveAsks, done: ArchivedNow) -> str:
    named = ", ".join(f"`{it.id}`" for it in done.done)
    already = f" Archived before: {len(done.already)}." if done.already else ""
    return f"Archived {len(done.done)}{f' ({named})' if named else ''}.{already} unarchive_memory undoes it."


def _tell_unarchive(world: World, asked: UnarchiveAsks, done: ArchivedNow) -> str:
    already = f" Not archived: {len(done.already)}." if done.already else ""
    return f"Brought back {len(done.done)}.{already}"


def _tell_archived(world: World, asked: ArchivedAsks, found: ArchiveList) -> str:
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
        "Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.",
        """\
memtape archive 019ab0c4-9a3c-7000-8000-0123456789ab --reason "done with"
memtape archive 019ab0c4 --undo
memtape archive --undo --all-of age
memtape archive --list --purged --limit 50""",
        ArchiveAsks,
        "ask.archived.ArchivedNow",
        archive,
        lines=_archive_lines,
        effect="hides",
        undo="memtape archive --undo",
        tool=Offer(
            "archive_memory",
            "Put memories out of the way that are done with. unarchive_memory undoes it.",
            _tell_archive,
            common=False,
        ),
        details="Each returns by --undo, and by itself once used, pinned or said again. Pinned memories stay. Of a "
        "document only the named part is archived. Texts archived with their project come back by `memtape project "
        "finish --undo`.",
    ),
    Verb(
        "archive --undo",
        "Bring texts back instead, also those that have left the views.",
        "memtape archive --undo --all-of age",
        UnarchiveAsks,
        "ask.archived.ArchivedNow",
        unarchive,
        shell=_unarchive_shell,
        effect="shows",
        tool=Offer("unarchive_memory", "Bring back memories that were archived.", _tell_unarchive, common=False),
    ),
    Verb(
        "archive --list",
        "List what is archived, the latest first, and the projects.",
        "memtape archive --list --purged --limit 50",
        ArchivedAsks,
        "ask.archived.ArchiveList",
        archived,
        lines=_archived_lines,
        tool=Offer("list_archived", "What is archived, since when and why.", _tell_archived, common=False),
    ),
    Verb(
        "admin lifecycle",
        "Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.",
        """\
memtape admin lifecycle
memtape admin lifecycle --dry-run
memtape admin lifecycle --dry-run --at 2027-01-01 --json
memtape admin lifecycle --set archive_after_days=-1""",
        LifecycleAsks,
        "ask.archived.Aging",
        lifecycle,
        shell=_lifecycle_shell,
        details="A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the "
        "state: each text is counted once, as one that moves or by why it stays. The pass is one, as if none came "
        "before it. --set is for people: --origin user at a terminal.",
    ),
    Verb(
        "admin lifecycle --set",
        "Change a setting of the whole log.",
        "memtape admin lifecycle --set archive_after_days=-1",
        SetLifecycleAsks,
        dict,
        set_lifecycle,
        effect="adds",
        lines=lambda world, asked, settings: [f"{key:<28}{str(value).lower()}" for key, value in settings.items()],
        listed="settings",
    ),
)
