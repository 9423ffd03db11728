"""The commands with which people list contradictions and settle them."""

from __future__ import annotations

from typing import Literal

import click

from memtape.schemas.conflicts import TOLD_WHY
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.ask.conflicts import Conflict, ConflictMember
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_arguments, with_client

TEXT_CHARS = 300


@click.command()
@with_arguments("conflicts")
@with_client
def conflicts(client: Client, settled: bool, as_json: bool) -> None:
    """Show pairs of memories with different values of one thing; each waits for you to say which one holds.

    The gravest come first. Until a pair is settled, its memories are found as before.

    \b
    Example:
      memtape conflicts
      memtape conflicts --all --json
    """
    found = client.conflicts(settled=settled)
    if as_json:
        print_json(found)
        return
    for conflict in found.conflicts:
        say("\n".join(_lines(conflict)))
    if not found.conflicts:
        say("No conflict waits." if not settled else "There has been no conflict.")
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they contradict.", err=True)


@click.command()
@with_arguments("settle")
@with_client
def settle(client: Client, conflict: str, keep: Literal["A", "B", "both"], note: str | None, as_json: bool) -> None:
    """Say which side of a conflict holds, as `memtape conflicts` lists them, or that both do.

    The other side is replaced by the kept one: it is marked, ranks below it and leaves the start context.
    Settling again overrules the earlier settlement. Only people settle: --origin user at a terminal.

    \b
    Example:
      memtape settle 019ab0c4-f4e8-8000-8000-0123456789ab --keep B --note "We moved in May."
    """
    done = client.settle(conflict, keep, note=note)
    if as_json:
        print_json(done)
        return
    if done.replaced is None:
        say(f'Both are kept: "{one_line(done.kept[0], 120)}" and "{one_line(done.kept[1], 120)}".')
    else:
        say(f'Kept: "{one_line(done.kept[0], 120)}".')
        say(f'Replaced by it: "{one_line(done.replaced, 120)}".')
    say(f"To undo, settle it again: memtape settle {done.id} --keep A, B or both")


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
