"""The command by which people answer what waits for them: conflicts and rules; it lists orders and stale memories."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from memtape.schemas.rows import TOLD_WHY, MemoryRow
from memtape.schemas.rows import stale as stale_mark
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.views.proposals import Proposal
from memtape.tools.ask.conflicts import Conflict, ConflictMember
from memtape.tools.client import Client
from memtape.tools.commands.options import Output, check_given, listed, say, with_arguments, with_client

if TYPE_CHECKING:
    from memtape.tools.ask.standing import Order

TEXT_CHARS = 300
Keep = Literal["A", "B", "both"]


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@with_arguments("settle", "keep", "note")
@click.option("--accept", is_flag=True, help="Take the named rules, with --all every one that waits and is no paste.")
@click.option("--decline", is_flag=True, help="Decline the named rules for good, with --all every one that waits.")
@click.option("--all", "every", is_flag=True, help="All rules that wait; alone, list what is settled too.")
@click.option("--orders", is_flag=True, help='List the orders about memory, as "never mention X again".')
@click.option("--stale", is_flag=True, help="List what was neither said nor used for long, the most used first.")
@with_arguments("stale", "limit")
@with_client
def settle(client: Client, ids: tuple[str, ...], keep: Keep | None, note: str | None, **asked: Any) -> Output:
    """List what waits for you: contradictions and rules; and say which side of a contradiction holds.

    A conflict is a pair of memories with different values of one thing; until it is settled, both are found as
    before. The side that is not kept is replaced: it is marked, ranks below the other and leaves the start context.
    Settling again overrules. A rule waits that was said for all projects ("In all my projects, use tabs.") or stands
    in pasted text; at a terminal each is asked for: y takes it, n declines it for good, s leaves it. A rule for all
    projects holds in its own project either way; one that may be pasted is taken by its id alone. Only people settle:
    --origin user at a terminal. --stale lists a preference after a year, a technical fact after 6 months, a goal
    after 3 months, a fact of the moment after 3 weeks; capturing its text again confirms a memory.

    \b
    Example:
      memtape settle
      memtape settle 019ab0c4-f4e8-8000-8000-0123456789ab --keep B --note "We moved in May."
      memtape settle 019ab0c4 --accept
      memtape settle --stale --limit 5
    """
    _check_modes(keep, note, asked)
    if keep is not None:
        if len(ids) != 1 or asked["every"]:
            raise click.UsageError("--keep needs the id of one conflict, and nothing else.")
        return _settled(client, ids[0], keep, note)
    if asked["accept"] or asked["decline"]:
        return _answered_all(client, ids, declined=asked["decline"], every=asked["every"])
    if ids:
        raise click.UsageError("Say what is to be done: --keep for a conflict, --accept or --decline for a rule.")
    if asked["orders"]:
        return listed("orders", client.orders(), _order, "Nobody has ordered anything about memory.")
    if asked["stale"]:
        return listed("stale", client.stale(asked["limit"]), _stale, "Nothing is stale.")
    return _waiting(client, settled=asked["every"])


def _check_modes(keep: Keep | None, note: str | None, asked: Mapping[str, bool]) -> None:
    """Raise `UsageError` for two orders at once, or an option without the one that it goes with."""
    modes = [keep is not None, *(asked[name] for name in ("accept", "decline", "orders", "stale"))]
    if sum(modes) > 1 or (note is not None and keep is None):
        raise click.UsageError("Give one of --keep (and --note), --accept, --decline, --orders and --stale.")
    if not asked["stale"]:
        check_given("limit", message="--limit goes with --stale.")


def _settled(client: Client, conflict: str, keep: Keep, note: str | None) -> Output:
    done = client.settle(conflict, keep, note=note)
    yield done
    if done.replaced is None:
        yield f'Both are kept: "{one_line(done.kept[0], 120)}" and "{one_line(done.kept[1], 120)}".'
    else:
        yield f'Kept: "{one_line(done.kept[0], 120)}".'
        yield f'Replaced by it: "{one_line(done.replaced, 120)}".'
    yield f"To undo, settle it again: memtape settle {done.id} --keep A, B or both"


def _waiting(client: Client, *, settled: bool) -> Output:
    """Yield the conflicts, with `settled` the settled ones too, and the rules that wait."""
    found, rules = client.conflicts(settled=settled), [rule for rule, answer in client.proposals() if answer == "waits"]
    yield {**msgspec.structs.asdict(found), "rules": rules}
    for conflict in found.conflicts:
        yield from _lines(conflict)
    if not found.conflicts:
        yield "No conflict waits." if not settled else "There has been no conflict."
    yield from _go_through(client, rules)
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they contradict.", err=True)


def _lines(conflict: Conflict) -> list[str]:
    raised = f"{format_day(conflict.raised_at)}  {TOLD_WHY[conflict.why]}"
    head = f"{conflict.severity:6}  {conflict.id}  {raised}"
    if conflict.scope == "global":
        head += "  global"
    lines = [head, *_side("A", conflict.a), *_side("B", conflict.b)]
    match conflict.status:
        case "pending":
            lines.append(f"        memtape settle {conflict.id} --keep A, B or both")
        case "expired":
            lines.append(f"        expired on {format_day(conflict.settled_at or 0)}: nobody needs to settle it")
        case _:
            kept = "both are kept" if conflict.kept is None else f"{conflict.kept} is kept"
            note = f": {one_line(conflict.note, TEXT_CHARS)}" if conflict.note else ""
            lines.append(f"        settled on {format_day(conflict.settled_at or 0)}, {kept}{note}")
    return lines


def _side(name: str, side: ConflictMember) -> list[str]:
    if side.text is None:
        return [f"     {name}  no longer shown"]
    said = f"{format_day(side.at or 0)}, {one_line(side.actor or '', 40)} ({side.origin})"
    confirmed = f", confirmed {side.confirmations}x" if side.confirmations else ""
    return [f"     {name}  {one_line(side.text, TEXT_CHARS)}", f"        {said}{confirmed}, {side.id}"]


Key = Literal["y", "n", "s"]


def _answered_all(client: Client, ids: tuple[str, ...], *, declined: bool, every: bool) -> Output:
    """Accept or decline rules by their ids, or all that wait; a rule that may be pasted is taken by its id alone."""
    if bool(ids) is every:
        raise click.UsageError("Give ids, or --all.")
    waiting = [rule for rule, answer in client.proposals() if answer == "waits"]
    answer = client.decline if declined else client.accept
    meant = [rule.id for rule in waiting if declined or not rule.is_doubted]
    done = [answer(id) for id in (ids or meant)]
    yield {"declined" if declined else "accepted": done}
    for rule in done:
        yield _answered(rule, declined=declined)
    if not done:
        yield "No rule waits." if not waiting else "What waits may be pasted: take each by its id."


def _go_through(client: Client, waiting: list[Proposal]) -> Output:
    """List the waiting rules; at a terminal a person answers each by one key."""
    from memtape.tools.ask.naming import shortened

    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and client.actor.origin != "agent"
    short = shortened(rule.id for rule in waiting)
    for number, rule in enumerate(waiting, start=1):
        yield f"{number:2}. {one_line(rule.text, TEXT_CHARS)}"
        what = "may be pasted" if rule.is_doubted else "for all projects"
        yield f"    {format_day(rule.at)} · {one_line(rule.actor, 40)} ({rule.origin}) · {rule.scope} · {what}"
        if not asks:
            yield f"    memtape settle {short[rule.id]} --accept --scope {rule.scope}, or --decline"
            continue
        match _key("Is this rule yours" if rule.is_doubted else "In all projects"):
            case "y":
                yield _answered(client.accept(rule.id), declined=False)
            case "n":
                yield _answered(client.decline(rule.id), declined=True)
    if not waiting:
        yield "No rule waits."
    elif not asks:
        yield f"{many(len(waiting), 'rule waits', 'rules wait')}. All at once: memtape settle --accept --all"


def _key(question: str) -> Key:
    while True:
        say(f"    {question}? [y]es, [n]ever, [s]kip: ", err=True)
        pressed = click.getchar()[:1].lower()  # Who presses Enter too sends both at once.
        if pressed in ("y", "n", "s"):
            return pressed  # type: ignore[return-value]


def _answered(rule: Proposal, *, declined: bool) -> str:
    text = one_line(rule.text, TEXT_CHARS)
    if declined:
        return f'Declined, and not asked again: "{text}". To take it after all: memtape settle {rule.id} --accept'
    where = f"in {rule.scope}" if rule.is_doubted else "in all projects"
    origin = " --origin operator" if rule.into == GLOBAL else ""
    return f'Holds {where}: "{text}". To undo: memtape forget {rule.id} --scope {rule.into}{origin}'


def _stale(number: int, it: MemoryRow) -> list[str]:
    used = f"used {many(it.uses, 'time')}" if it.uses else "never used"
    of = f"--scope {it.scope}"
    again = f"capture its text again; memtape show {it.id} {of}"
    if len(it.text) <= TEXT_CHARS and "\n" not in it.text:
        again = f"memtape capture {shlex.quote(it.text)} --kind {it.kind} {of}"
    return [
        f"{number:2}. {one_line(it.text, TEXT_CHARS)}",
        f"    {it.kind} · {it.category} · {stale_mark(it.last_at)} · {used}",
        f"    still so: {again}",
        f"    replaced: memtape update {it.id} --by ID {of}",
        f"    unwanted: memtape forget {it.id} {of}",
    ]


def _order(number: int, it: Order) -> list[str]:
    about = f"leaves out what has {', '.join(it.about)}" if it.about else "names nothing that could be left out"
    ends = "; ".join(f"memtape forget {id} --scope {it.scope}" for id in it.ids)
    return [
        f"{number:2}. {one_line(it.text, TEXT_CHARS)}",
        f"    {format_day(it.at)} · {one_line(it.actor, 40)} ({it.origin}) · {about}",
        f"    to end it: {ends}",
    ]
