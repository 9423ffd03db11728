"""The commands that list stale memories and orders about memory."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from memtape.schemas.rows import stale as stale_mark
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import print_list, with_arguments, with_client

if TYPE_CHECKING:
    from memtape.tools.ask.looking import Stale
    from memtape.tools.ask.standing import Order

SHOWN_CHARS = 300


@click.command()
@with_arguments("stale")
@with_client
def stale(client: Client, limit: int, as_json: bool) -> None:
    """List memories that were neither said nor used for long, the most used first.

    The time depends on the subject of a memory: a preference is fresh for a year, a technical fact for 6
    months, a goal for 3 months, a fact of the moment for 3 weeks; a fact about a person's identity never
    ages. Nothing is archived by this. To confirm a memory, capture its text again.

    \b
    Example:
      memtape stale --limit 5
    """
    print_list("stale", client.stale(limit), _stale, "Nothing is stale.", as_json)


@click.command()
@with_arguments("orders")
@with_client
def orders(client: Client, as_json: bool) -> None:
    """List the orders of people about memory, as "never mention X again", and how to end each.

    The subject of an order is left out of unasked context; a search for it still finds it.

    \b
    Example:
      memtape orders
    """
    print_list("orders", client.orders(), _order, "Nobody has ordered anything about memory.", as_json)


def _stale(number: int, it: Stale) -> list[str]:
    used = f"used {many(it.uses, 'time')}" if it.uses else "never used"
    of = f"--scope {it.scope}"
    again = f"capture its text again; memtape show {it.id} {of}"
    if len(it.text) <= SHOWN_CHARS and "\n" not in it.text:
        again = f"memtape capture {shlex.quote(it.text)} --kind {it.kind} {of}"
    return [
        f"{number:2}. {one_line(it.text, SHOWN_CHARS)}",
        f"    {it.kind} · {it.category} · {stale_mark(it.last_at)} · {used}",
        f"    still so: {again}",
        f"    replaced: memtape replaced {it.id} --by ID {of}",
        f"    unwanted: memtape forget {it.id} {of}",
    ]


def _order(number: int, it: Order) -> list[str]:
    about = f"leaves out what has {', '.join(it.about)}" if it.about else "names nothing that could be left out"
    ends = "; ".join(f"memtape forget {id} --scope {it.scope}" for id in it.ids)
    return [
        f"{number:2}. {one_line(it.text, SHOWN_CHARS)}",
        f"    {format_day(it.at)} · {one_line(it.actor, 40)} ({it.origin}) · {about}",
        f"    to end it: {ends}",
    ]
