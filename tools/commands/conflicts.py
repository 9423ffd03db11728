"""The commands by which people answer what waits for them: conflicts, settle, accept, stale, orders."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Literal

import click

from memtape.schemas.rows import TOLD_WHY, MemoryRow
from memtape.schemas.rows import stale as stale_mark
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.views.proposals import Proposal
from memtape.tools.ask.conflicts import Conflict, ConflictMember
from memtape.tools.client import Client
from memtape.tools.commands.options import Output, listed, say, with_arguments, with_client

if TYPE_CHECKING:
    from memtape.tools.ask.standing import Order

TEXT_CHARS = 300


@click.command()
@with_arguments("conflicts")
@with_client
def conflicts(client: Client, settled: bool) -> Output:
    """Show pairs of memories with different values of one thing; each waits for you to say which one holds.

    The gravest come first. Until a pair is settled, its memories are found as before.

    \b
    Example:
      memtape conflicts
      memtape conflicts --all --json
    """
    found = client.conflicts(settled=settled)
    yield found
    for conflict in found.conflicts:
        yield from _lines(conflict)
    if not found.conflicts:
        yield "No conflict waits." if not settled else "There has been no conflict."
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they contradict.", err=True)


@click.command()
@with_arguments("settle")
@with_client
def settle(client: Client, conflict: str, keep: Literal["A", "B", "both"], note: str | None) -> Output:
    """Say which side of a conflict holds, as `memtape conflicts` lists them, or that both do.

    The other side is replaced by the kept one: it is marked, ranks below it and leaves the start context.
    Settling again overrules the earlier settlement. Only people settle: --origin user at a terminal.

    \b
    Example:
      memtape settle 019ab0c4-f4e8-8000-8000-0123456789ab --keep B --note "We moved in May."
    """
    done = client.settle(conflict, keep, note=note)
    yield done
    if done.replaced is None:
        yield f'Both are kept: "{one_line(done.kept[0], 120)}" and "{one_line(done.kept[1], 120)}".'
    else:
        yield f'Kept: "{one_line(done.kept[0], 120)}".'
        yield f'Replaced by it: "{one_line(done.replaced, 120)}".'
    yield f"To undo, settle it again: memtape settle {done.id} --keep A, B or both"


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


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All that wait; of those that may be pasted none is taken by this.")
@click.option("--no", "declined", is_flag=True, help="Decline for good what is named.")
@with_client
def accept(client: Client, ids: tuple[str, ...], every: bool, declined: bool) -> Output:
    """Accept or decline rules: those for all projects ("In all my projects, use tabs."), and those in pasted text.

    Without an id they are listed, and at a terminal each is asked for: y takes it, n declines it for good, s
    leaves it. A rule for all projects holds in its own project either way; a rule that may be pasted is taken
    by its id alone. Only people accept: --origin user at a terminal. To undo, forget the id.

    \b
    Example:
      memtape accept
      memtape accept --all --origin user
    """
    waiting = [rule for rule, answer in client.proposals() if answer == "waits"]
    if ids or every:
        if ids and every:
            raise click.UsageError("Give ids, or --all.")
        answer = client.decline if declined else client.accept
        meant = [rule.id for rule in waiting if declined or not rule.is_doubted]
        done = [answer(id) for id in (ids or meant)]
        yield {"declined" if declined else "accepted": done}
        for rule in done:
            yield _answered(rule, declined=declined)
        if not done:
            yield "No rule waits." if not waiting else "What waits may be pasted: take each by its id."
        return
    if declined:
        raise click.UsageError("Name what is declined, or give --all.")
    yield {"waiting": waiting}
    yield from _go_through(client, waiting)


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
            yield f"    memtape accept {short[rule.id]} --scope {rule.scope}, or with --no to decline it"
            continue
        match _key("Is this rule yours" if rule.is_doubted else "In all projects"):
            case "y":
                yield _answered(client.accept(rule.id), declined=False)
            case "n":
                yield _answered(client.decline(rule.id), declined=True)
    if not waiting:
        yield "No rule waits."
    elif not asks:
        yield f"{many(len(waiting), 'rule waits', 'rules wait')}. All at once: memtape accept --all"


def _key(question: str) -> Key:
    while True:
        say(f"    {question}? [y]es, [n]ever, [s]kip: ", err=True)
        pressed = click.getchar()[:1].lower()  # Who presses Enter too sends both at once.
        if pressed in ("y", "n", "s"):
            return pressed  # type: ignore[return-value]


def _answered(rule: Proposal, *, declined: bool) -> str:
    text = one_line(rule.text, TEXT_CHARS)
    if declined:
        return f'Declined, and not asked again: "{text}". To take it after all: memtape accept {rule.id}'
    where = f"in {rule.scope}" if rule.is_doubted else "in all projects"
    origin = " --origin operator" if rule.into == GLOBAL else ""
    return f'Holds {where}: "{text}". To undo: memtape forget {rule.id} --scope {rule.into}{origin}'


@click.command()
@with_arguments("stale")
@with_client
def stale(client: Client, limit: int) -> Output:
    """List memories that were neither said nor used for long, the most used first.

    The time depends on the subject of a memory: a preference is fresh for a year, a technical fact for 6
    months, a goal for 3 months, a fact of the moment for 3 weeks; a fact about a person's identity never
    ages. Nothing is archived by this. To confirm a memory, capture its text again.

    \b
    Example:
      memtape stale --limit 5
    """
    return listed("stale", client.stale(limit), _stale, "Nothing is stale.")


@click.command()
@with_arguments("orders")
@with_client
def orders(client: Client) -> Output:
    """List the orders of people about memory, as "never mention X again", and how to end each.

    The subject of an order is left out of unasked context; a search for it still finds it.

    \b
    Example:
      memtape orders
    """
    return listed("orders", client.orders(), _order, "Nobody has ordered anything about memory.")


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
        f"    replaced: memtape replaced {it.id} --by ID {of}",
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
