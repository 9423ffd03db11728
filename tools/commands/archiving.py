"""The commands of aging and the archive: archive and lifecycle, and the words for them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import click
import msgspec

from memtape.schemas.rows import project_told
from memtape.schemas.times import format_day, format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.state.views.ages import Moving, Pass, UnitCounts
from memtape.tools.ask.archived import Aging, ArchivedNow, ArchivedText, Why
from memtape.tools.capture.writing import check_person, now_us
from memtape.tools.client import Client
from memtape.tools.commands.options import Output, check_given, latest_ids, progress, say, with_arguments, with_client
from memtape.tools.keep.log_settings import change_lifecycle, lifecycle_settings
from memtape.tools.verbs.lines import TOLD_PLACES, TOLD_STAYS

SHOWN_CHARS = TEXT_CHARS = 120
SHOWN = 20
TOLD_WHY = {"asked": "since somebody asked for it", "age": "by age"}


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=latest_ids)
@click.option("--undo", is_flag=True, help="Bring texts back instead, also those that have left the views.")
@with_arguments("unarchive", "all_of", "reason")
@click.option("--list", "listing", is_flag=True, help="List what is archived, the latest first, and the projects.")
@with_arguments("archived", "purged", "limit")
@with_client
def archive(client: Client, ids: tuple[str, ...], reason: str | None, **asked: Any) -> Output:
    """Archive memories or turns: searches, starts and MEMORY.md leave them out, and the log keeps them.

    Each returns by --undo, and by itself once used, pinned or said again. Pinned memories stay. Of a document only
    the named part is archived. Texts archived with their project come back by `memtape project finish --undo`.

    \b
    Example:
      memtape archive 019ab0c4-9a3c-7000-8000-0123456789ab --reason "done with"
      memtape archive 019ab0c4 --undo
      memtape archive --undo --all-of age
      memtape archive --list --purged --limit 50
    """
    all_of: Why | None = asked["all_of"]
    if asked["listing"] and not (ids or asked["undo"] or all_of or reason):
        return _archive(client, asked["limit"], purged=asked["purged"])
    if asked["listing"] or asked["purged"] or (all_of and not asked["undo"]) or bool(ids) is (all_of is not None):
        raise click.UsageError("Give ids, --undo with ids or --all-of, or --list, which --purged and --limit go with.")
    check_given("limit", message="--limit goes with --list.")
    if asked["undo"]:
        return _unarchived(client.unarchive(ids, all_of=all_of, reason=reason), ids)
    return _archived_now(client.archive(ids, reason=reason))


def _archived_now(done: ArchivedNow) -> Output:
    yield done
    yield from _done(done, "Archived", "Archived before")
    if done.done:
        yield (
            "It leaves searches, starts and MEMORY.md, and comes back by itself where it is used, pinned or said again."
        )
        yield f"To undo: memtape archive --undo {' '.join(it.id for it in done.done)}"


def _unarchived(done: ArchivedNow, ids: tuple[str, ...]) -> Output:
    yield done
    yield from _done(done, "Brought back", "Not archived")
    if ids and done.done:
        yield f"To undo: memtape archive {' '.join(it.id for it in done.done)}"


def _archive(client: Client, limit: int, *, purged: bool) -> Output:
    """Yield the archived texts, and the dormant and finished projects; `purged` ones have left the views."""
    with progress(limit, "Reading") as bar:
        found = client.archived(limit, purged=purged, on_read=lambda done: bar.update(done - bar.pos))
    yield found
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


def aging_lines(aging: Aging, limit: int) -> Iterator[str]:
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
        yield from _pass(aging.pass_, limit)


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


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what the next pass would move, and why the rest stays.")
@click.option("--at", metavar="TIME", help="The dry run is of a pass at this later time, as ISO 8601.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="The most groups that are told.")
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a setting of the whole log; may be repeated."
)
@with_client
def lifecycle(client: Client, dry_run: bool, at: str | None, limit: int, changes: tuple[str, ...]) -> Output:
    """Say how many texts of this project stand in which tier, archived or not, and when the clock last ticked.

    A pass moves texts on once an hour where any is due. With --dry-run it is tried on a copy of the state: each text is
    counted once, as one that moves or by why it stays. The pass is one, as if none came before it. --set is for people:
    --origin user at a terminal.

    \b
    Example:
      memtape admin lifecycle
      memtape admin lifecycle --dry-run
      memtape admin lifecycle --dry-run --at 2027-01-01 --json
      memtape admin lifecycle --set archive_after_days=-1
    """
    if at is not None and not dry_run:
        raise click.UsageError("--at says when a pass is tried: give --dry-run too.")
    if changes:
        settings = _change(client, changes)
        yield {"settings": settings}
        yield from (f"{key:<28}{str(value).lower()}" for key, value in settings.items())
        return
    aging = client.lifecycle(dry_run=dry_run, at=None if at is None else parse_time(at, now_us()))
    yield {**msgspec.to_builtins(aging), "settings": lifecycle_settings(client.log)}
    yield from aging_lines(aging, limit)


def _change(client: Client, changes: tuple[str, ...]) -> dict[str, int | bool]:
    """Append changed settings. Raises `MemtapeError`, also for anyone but a person."""
    check_person(client.actor.origin, "change how texts age")
    pairs = [change.partition("=") for change in changes]
    if wrong := [key for key, sign, _ in pairs if not sign]:
        raise click.UsageError(f"{wrong[0]} is no KEY=VALUE, as archive_after_days=-1.")
    return change_lifecycle(client.log, {key.strip(): value.strip() for key, _, value in pairs})
