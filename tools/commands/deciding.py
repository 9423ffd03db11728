"""The commands that decide something of a memory: forget, restore, pin, update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.capture import capture_notes
from memtape.tools.commands.options import Output, check_given, latest_ids, with_arguments, with_client
from memtape.tools.verbs import DECISIONS

SHOWN_CHARS = 120


def _decided(verb: str, ids: Sequence[str]) -> Output:
    """Yield the ids that a decision named, and how it is undone."""
    decision, note = DECISIONS[verb], getattr(ids, "note", "")
    yield {"ids": ids} | ({"was_hidden": False} if note else {})
    undo = f" To undo: memtape {decision.undo_command} {ids[0]}" if decision.undo else ""
    yield f"{decision.done} {many(len(ids), 'capture')}.{note}{undo}"


@click.command()
@click.argument("id", required=False, shell_complete=latest_ids)
@with_arguments("forget", "reason", "only")
@click.option("--list", "listing", is_flag=True, help="List what is hidden instead: forgotten, or withdrawn.")
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="With --list: the most listed.")
@with_client
def forget(client: Client, id: str | None, listing: bool, limit: int, **asked: Any) -> Output:
    """Hide a memory or turn, until it is restored. The log keeps it.

    Every capture that is the same memory is hidden, and of facts and the like the same text stays hidden when it is
    captured again, until a person says it.

    \b
    Example:
      memtape forget 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape forget --list
    """
    if (id is None) is not listing:
        raise click.UsageError("Give an id, or --list.")
    if listing:
        check_given("reason", "only", message="--reason and --only go with an id.")
    else:
        check_given("limit", message="--limit goes with --list.")
    if id is None:
        return _hidden(client, limit)
    return _decided("forget", client.forget(id, **asked))


def _hidden(client: Client, limit: int) -> Output:
    """Yield what can be restored, and how."""
    found = client.hidden(limit + 1)
    yield {"hidden": found[:limit]}
    for it in found[:limit]:
        yield f"{format_day(it.at)}  {it.id}  {it.kind}  {one_line(it.text, SHOWN_CHARS)}"
    if len(found) > limit:
        yield "There is more; --limit shows it."
    yield "To show one again: memtape restore ID" if found else "Nothing is hidden."


@click.command()
@with_arguments("restore")
@with_client
def restore(client: Client, **asked: Any) -> Output:
    """Show again what was forgotten.

    \b
    Example:
      memtape restore 019ab0c4-9a3c-7000-8000-0123456789ab
    """
    return _decided("restore", client.restore(**asked))


@click.command()
@with_arguments("pin")
@click.option("--undo", is_flag=True, help="End the pins on it.")
@with_client
def pin(client: Client, id: str, undo: bool) -> Output:
    """Pin a memory or turn: it stays at hand whatever its age, and is marked.

    \b
    Example:
      memtape pin 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape pin 019ab0c4 --undo
    """
    return _decided("unpin", client.unpin(id)) if undo else _decided("pin", client.pin(id))


@click.command()
@click.argument("id", shell_complete=latest_ids)
@click.argument("text", required=False)
@click.option("--by", help="The id of the memory that holds instead.")
@click.option("--holds", is_flag=True, help="It holds, whatever was said later: no rule replaces it from now on.")
@click.option("--unfold", is_flag=True, help="Its captures should not be one memory: split them for good.")
@click.option("--undo", is_flag=True, help="With --holds: take back what was said of it; the texts decide again.")
@click.option("--only", is_flag=True, help="With --unfold: let this capture alone stand apart.")
@with_client
def update(client: Client, id: str, text: str | None, by: str | None, **flags: bool) -> Output:
    """Replace a memory by a new text, or by another memory, or say that it holds.

    A new TEXT is captured, and the memory is kept as the earlier value. Only a source with at least the trust of the
    memory's source can replace it. A text that says the same in other words becomes a further wording of the memory.
    What is replaced is marked, stands below the other, and leaves the start context.

    \b
    Example:
      memtape update 019ab0c4-9a3c-7000-8000-0123456789ab "The staging database listens on port 5434."
      memtape update 019ab0c4 --by 019ab0c4-f4e8-7000-8000-0123456789ab
      memtape update 019ab0c4 --holds
    """
    if (text is not None) + (by is not None) + flags["holds"] + flags["unfold"] != 1:
        raise click.UsageError("Give a text, or one of --by, --holds and --unfold.")
    if (flags["undo"] and not flags["holds"]) or (flags["only"] and not flags["unfold"]):
        raise click.UsageError("--undo goes with --holds, and --only with --unfold.")
    if by is not None:
        return _decided("replaced", client.say_replaced(id, by))
    if text is None and flags["holds"]:
        return _decided("holds", client.say_holds(id, undo=flags["undo"]))
    if text is None:
        return _decided("unfold", client.unfold(id, only=flags["only"]))
    return _updated(client, id, text)


def _updated(client: Client, id: str, text: str) -> Output:
    """Capture a text in place of a memory, and yield what became of both."""
    done = client.update(id, text)
    yield done
    said = "It says the same, and is one memory with it." if done.replaced is None else f"It replaced {done.replaced}."
    if done.hidden:
        said = f"It replaces {done.replaced or id} once it is shown."
    yield f"{done.id} ({done.scope}, profile {done.profile}). {said}"
    yield from capture_notes(done.hidden, done.id, done.redacted)
