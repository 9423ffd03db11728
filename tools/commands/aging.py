"""Words about the aging of texts: the state of a text with its reasons, and the moves of a pass."""

from __future__ import annotations

from collections.abc import Iterator

from memtape.schemas.errors import NotFound
from memtape.schemas.times import format_day, format_time
from memtape.schemas.visible import many, one_line
from memtape.state.views.ages import Age, Moving, Pass, Place, Stays, UnitCounts
from memtape.tools.ask.aging import Aging
from memtape.tools.ask.inspection import Explained
from memtape.tools.client import Client

PARTS = {
    "recency": "falls from 0.350 on the day when it was last said or used to 0 after 180 days",
    "access": "how often it was used or confirmed; nine times have all of 0.300",
    "importance": "what somebody gave, or words such as deadline, risk and decision; at most 0.250",
    "media": "0.070 with an image or the like, else 0.025",
    "pinned": "0.300 where it is pinned",
}
"""The parts of retention, and a sentence for each."""
TOLD_STAYS: dict[Stays, str] = {
    "too young": "too young",
    "worth keeping": "worth keeping at hand: retention is above the limit",
    "used": "recalled or used since it was captured, so that age alone archives none",
    "group too small": "of a day or week with fewer than three that may move",
    "no room": "beyond the 500 that move in one pass",
    "switched off": "as the settings say",
    "archived": "archived, and not due to leave the views",
    "purged": "have left the views",
    "pinned": "pinned",
    "hidden": "forgotten or withdrawn",
    "does not age": "of a kind that does not age",
}
TOLD_PLACES: dict[Place, str] = {
    "mid": "to the tier mid",
    "long": "to the tier long",
    "archived": "into the archive",
    "purged": "out of the views",
}
TEXT_CHARS = 120


def why_of(client: Client, id: str) -> tuple[Explained, Age | None]:
    """Return every event behind an id (none for purged texts), and the id's age. Raises `NotFound`.

    Ids of no memory or turn, as a summary's, have no age.
    """
    try:
        age = client.age(id)
    except NotFound:
        return client.why(id), None
    try:
        return client.why(id), age
    except NotFound:
        if not age.purged:
            raise
        return Explained(id=age.id, scope=age.scope, events=()), age


def age_lines(age: Age) -> Iterator[str]:
    """Yield how one memory or turn has aged, a line each."""
    if age.purged:
        yield "It has left the views, and the log keeps it."
    if age.archived_at is not None:
        back = f"memtape unarchive {age.id} --scope {age.scope}"
        yield f"archived on {format_day(age.archived_at)} ({age.archived_why}); to bring it back: {back}"
    if age.finished_at is not None:
        back = f"memtape project resume --scope {age.scope}"
        yield f"archived with its project on {format_day(age.finished_at)}; to go on: {back}"
    if age.total is None:
        yield f"tier {age.tier}; it does not move, since it is {_told_one(age.stays)}"
        return
    limit = "" if age.limit is None else f"; it may move on at {_share(age.limit)} or less"
    yield f"tier {age.tier}, retention {_share(age.total)}{limit}"
    for part, share in age.retention.items():
        yield f"  {part:<10}  {_share(share)}  {PARTS[part]}"
    if age.moves_to is not None and age.moves_at is not None:
        place = TOLD_PLACES[age.moves_to]
        due = age.moves_at <= age.now
        yield (
            f"moves {place} with others of its day or week, since it is due"
            if due
            else (f"moves {place} on {format_day(age.moves_at)} at the earliest, if nobody uses or says it")
        )
    elif age.stays is not None:
        yield f"stays there: {_told_one(age.stays)}"
    for told in age.summaries:
        yield f"summed up in {told.id}, of the {'day' if told.level == 1 else 'week'} of {format_day(told.since)}"


def aging_lines(aging: Aging, limit: int) -> Iterator[str]:
    """Yield how a scope has aged, a line each, and of a dry run so many moves."""
    mark = aging.mark
    since = f" since {format_day(mark.since)}" if mark.since else ""
    named = f" ({one_line(mark.name, TEXT_CHARS)})" if mark.name else ""
    ticked = format_time(aging.ticked_at) if aging.ticked_at else "never"
    yield f"{aging.scope}{named}: {mark.state}{since}; last tick {ticked}"
    if not aging.on:
        yield "Nothing ages: it is switched off. `memtape lifecycle --set lifecycle=true` switches it on."
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


def _told_one(why: Stays | None) -> str:
    return TOLD_STAYS[why] if why is not None else "due"


def _share(millionths: int) -> str:
    """Return a share in thousandths, as `0.350`."""
    return f"{millionths // 1_000_000}.{millionths % 1_000_000 // 1_000:03}"
