"""The command with which people answer waiting rules."""

from __future__ import annotations

import sys
from typing import Literal

import click

from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.schemas.visible import many, one_line
from memtape.state.views.proposals import Proposal
from memtape.tools.client import Client
from memtape.tools.commands.options import print_json, say, with_client

TEXT_CHARS = 300
Key = Literal["y", "n", "s"]


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All that wait; of those that may be pasted none is taken by this.")
@click.option("--no", "declined", is_flag=True, help="Decline for good what is named.")
@with_client
def accept(client: Client, ids: tuple[str, ...], every: bool, declined: bool, as_json: bool) -> None:
    """Answer rules that wait for you: rules for all projects ("In all my projects, use tabs."), and rules in
    text that may be pasted, which instruct nobody until you take them.

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
        if as_json:
            print_json({"declined" if declined else "accepted": done})
            return
        for rule in done:
            _say_answered(rule, declined=declined)
        if not done:
            say("No rule waits." if not waiting else "What waits may be pasted: take each by its id.")
        return
    if declined:
        raise click.UsageError("Name what is declined, or give --all.")
    if as_json:
        print_json({"waiting": waiting})
        return
    _go_through(client, waiting)


def _go_through(client: Client, waiting: list[Proposal]) -> None:
    """List the waiting rules; at a terminal a person answers each by one key."""
    from memtape.tools.ask.naming import shortened

    asks = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and client.actor.origin != "agent"
    short = shortened(rule.id for rule in waiting)
    for number, rule in enumerate(waiting, start=1):
        say(f"{number:2}. {one_line(rule.text, TEXT_CHARS)}")
        what = "may be pasted" if rule.is_doubted else "for all projects"
        say(f"    {format_day(rule.at)} · {one_line(rule.actor, 40)} ({rule.origin}) · {rule.scope} · {what}")
        if not asks:
            say(f"    memtape accept {short[rule.id]} --scope {rule.scope}, or with --no to decline it")
            continue
        match _key("Is this rule yours" if rule.is_doubted else "In all projects"):
            case "y":
                _say_answered(client.accept(rule.id), declined=False)
            case "n":
                _say_answered(client.decline(rule.id), declined=True)
    if not waiting:
        say("No rule waits.")
    elif not asks:
        say(f"{many(len(waiting), 'rule waits', 'rules wait')}. All at once: memtape accept --all")


def _key(question: str) -> Key:
    while True:
        say(f"    {question}? [y]es, [n]ever, [s]kip: ", err=True)
        pressed = click.getchar()[:1].lower()  # Who presses Enter too sends both at once.
        if pressed in ("y", "n", "s"):
            return pressed  # type: ignore[return-value]


def _say_answered(rule: Proposal, *, declined: bool) -> None:
    text = one_line(rule.text, TEXT_CHARS)
    if declined:
        say(f'Declined, and not asked again: "{text}". To take it after all: memtape accept {rule.id}')
    else:
        where = f"in {rule.scope}" if rule.is_doubted else "in all projects"
        origin = " --origin operator" if rule.into == GLOBAL else ""
        say(f'Holds {where}: "{text}". To undo: memtape forget {rule.id} --scope {rule.into}{origin}')
