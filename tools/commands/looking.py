"""The commands that look through a project without a question: recent, sessions, timeline, given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from memtape.schemas.events import Kind
from memtape.schemas.times import format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import print_list, with_arguments, with_client, with_speaker

if TYPE_CHECKING:
    from memtape.tools.ask.given import Given, GivenMemory
    from memtape.tools.ask.looking import Session
    from memtape.tools.ask.results import Result

TEXT_CHARS, LINE_CHARS = 300, 120


@click.command()
@with_arguments("recent")
@with_client
def recent(client: Client, limit: int, kinds: tuple[Kind, ...], as_json: bool) -> None:
    """List the latest memories of this project, the latest first: memories, documents and pages, no turns.

    \b
    Example:
      memtape recent --limit 5
      memtape recent --kind turn
    """
    _print("recent", client.recent(limit, kinds=kinds), as_json)


@click.command()
@with_arguments("timeline")
@with_client
def timeline(client: Client, around: str, limit: int, as_json: bool) -> None:
    """List the texts around a memory or turn, by its id, or around a time, in order.

    \b
    Example:
      memtape timeline 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape timeline 2026-11-20T14:00:00Z --limit 20
    """
    _print("timeline", client.timeline(around, limit), as_json)


@click.command()
@with_arguments("sessions")
@with_client
def sessions(client: Client, limit: int, as_json: bool) -> None:
    """List the sessions of this project, the last active first: when, who, and where the work was left.

    \b
    Example:
      memtape sessions --limit 3
    """
    print_list("sessions", client.sessions(limit), _session, "No session was kept yet.", as_json)


@click.command()
@with_arguments("given")
@with_speaker
def given(client: Client, limit: int, session: str | None, since: str | None, searches: bool, as_json: bool) -> None:
    """List the memories given to agents unasked, at starts and with prompts, and their use, the latest first.

    A memory was used where an agent said so, or where its next answer carried specifics of the memory.
    Results of searches are listed with --searches alone.

    \b
    Example:
      memtape given --limit 5
      memtape given --searches
      memtape given --since 1d --json
    """
    from memtape.tools.ask.naming import shortened

    found = client.given(limit, session=session, since=since, searches=searches)
    short = shortened(memory.id for one in found for memory in one.memories)
    print_list("given", found, partial(_given, short), "Nothing was given to an agent unasked.", as_json)


def _print(name: str, found: Sequence[Result], as_json: bool) -> None:
    nothing = "Nothing is remembered yet. `memtape recent --kind turn` lists what was said."
    print_list(name, found, _result, nothing, as_json)


def _result(_: int, result: Result) -> list[str]:
    about = f"{result.kind} · {one_line(result.actor, 40)} ({result.origin})"
    marks = "".join(f" · {one_line(mark, TEXT_CHARS)}" for mark in result.marks)
    return [f"{format_time(result.at)}  {result.id}  {about}{marks}", f"    {one_line(result.text, TEXT_CHARS)}"]


def _session(_: int, session: Session) -> list[str]:
    agents = ", ".join(one_line(agent, 40) for agent in session.agents) or "no agent"
    when = f"{format_time(session.since)} to {format_time(session.until)}"
    left = [f"    {one_line(line, TEXT_CHARS)}" for line in session.left]
    return [f"{one_line(session.id, 80)}  {agents}, {many(session.turns, 'turn')}, {when}", *left]


def _given(short: Mapping[str, str], _: int, one: Given) -> list[str]:
    tokens = "" if one.tokens is None else f", {many(one.tokens, 'token')}"
    count = f"{many(len(one.memories), 'memory', 'memories')}{tokens}"
    session = f", session {one_line(one.session, 80)}" if one.session else ""
    asked = f" for {one_line(one.query, LINE_CHARS)!r}" if one.by == "search" else ""
    head = f"{format_time(one.at)}  {one.by}{asked}: {count} to {one_line(one.actor, 40)} in {one.scope}{session}"
    return [head, *(_memory(memory, short[memory.id]) for memory in one.memories)]


def _memory(memory: GivenMemory, id: str) -> str:
    used = {True: "used", False: "not used", None: "use unknown"}[memory.used]
    now = "" if memory.now == "shown" else f", {memory.now} since"
    line = "(erased)" if memory.line is None else one_line(memory.line, LINE_CHARS)
    return f"    {id}  {line}  [{used}{now}]"
