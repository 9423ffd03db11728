"""The commands that look through a project without a question: recent, sessions, timeline, given, context, edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from memtape.schemas.events import Kind
from memtape.schemas.times import format_time
from memtape.schemas.visible import many, one_line
from memtape.tools.client import Client
from memtape.tools.commands.options import Output, as_of_option, listed, say, with_arguments, with_client, with_speaker
from memtape.tools.commands.projects import say_where_it_was

if TYPE_CHECKING:
    from memtape.tools.ask.context import FormName
    from memtape.tools.ask.looking import Given, GivenMemory, Session
    from memtape.tools.ask.results import Result

TEXT_CHARS, LINE_CHARS = 300, 120


@click.command()
@with_arguments("recent")
@with_client
def recent(client: Client, limit: int, kinds: tuple[Kind, ...]) -> Output:
    """List the latest memories of this project, the latest first: memories, documents and pages, no turns.

    \b
    Example:
      memtape recent --limit 5
      memtape recent --kind turn
    """
    return _listed("recent", client.recent(limit, kinds=kinds))


@click.command()
@with_arguments("timeline")
@with_client
def timeline(client: Client, around: str, limit: int) -> Output:
    """List the texts around a memory or turn, by its id, or around a time, in order.

    \b
    Example:
      memtape timeline 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape timeline 2026-11-20T14:00:00Z --limit 20
    """
    return _listed("timeline", client.timeline(around, limit))


@click.command()
@with_arguments("sessions")
@with_client
def sessions(client: Client, limit: int) -> Output:
    """List the sessions of this project, the last active first: when, who, and where the work was left.

    \b
    Example:
      memtape sessions --limit 3
    """
    return listed("sessions", client.sessions(limit), _session, "No session was kept yet.")


@click.command()
@with_arguments("given")
@with_speaker
def given(client: Client, limit: int, session: str | None, since: str | None, searches: bool) -> Output:
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
    return listed("given", found, partial(_given, short), "Nothing was given to an agent unasked.")


def _listed(name: str, found: Sequence[Result]) -> Output:
    nothing = "Nothing is remembered yet. `memtape recent --kind turn` lists what was said."
    return listed(name, found, _result, nothing)


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


@click.command()
@with_arguments("context")
@click.option(
    "--form",
    type=click.Choice(("prompt", "agents", "gemini")),
    default="prompt",
    show_default=True,
    help="For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.",
)
@click.option("--explain", is_flag=True, help="Say of each line where it comes from: a page of the vault, and the id.")
@as_of_option
@with_client
def context(client: Client, budget_tokens: int, form: FormName, explain: bool, as_of: str | None) -> Output:
    """Print the context of a starting agent: standing instructions, goal, plan, valid facts, and recent work.

    Standing instructions are sentences by users with "always", "never", "I prefer" and the like, in five
    languages. The budget is never exceeded. A section of a file stands between <!-- memtape:begin --> and
    <!-- memtape:end -->.

    \b
    Example:
      claude --append-system-prompt "$(memtape context)"
      memtape context --form agents --budget 1000
      memtape context --explain
    """
    found = client.context(budget_tokens, form, as_of=as_of)
    yield found
    if explain:
        for item in found.items:
            yield f"{item.section:10} {item.page or '-':13} {item.id}  {one_line(item.text, 80)}"
    else:
        say(found.text, nl=False)
    if not found.items:
        say(_why_empty(client, as_of, has_more=bool(found.omitted)), err=True)
        say_where_it_was(client)


def _why_empty(client: Client, as_of: str | None, *, has_more: bool) -> str:
    """Return why a context tells of no text, and the command that shows more."""
    if has_more:
        return "Nothing fits the budget. `memtape status` says what there is."
    archive = None if as_of is not None else client.archived(1)
    if archive is not None and (archive.counts or archive.purged):
        return "Nothing is told here that is not archived. `memtape archived` lists the rest."
    return "Nothing is remembered yet. `memtape status` says what there is."


@click.command()
@click.argument("id", required=False)
@click.option("--candidates", is_flag=True, help="The strongest of the whole scope, proposed for curated edges.")
@as_of_option
@with_client
def edges(client: Client, id: str | None, candidates: bool, as_of: str | None) -> Output:
    """Show the memories and turns used together with one, with weights as of now.

    Two texts used within 30 minutes of one session gain 1, which halves every three days: the first weight.
    The second is learned, from 0.2 to 1: how much more often than by chance they were used together within 90
    days, three times at least. Then comes the number of joint uses.

    \b
    Example:
      memtape edges 019ab0c4-9a3c-7000-8000-0123456789ab
      memtape edges --candidates
    """
    if bool(id) is candidates:
        raise click.UsageError("Give an id, or --candidates.")
    found = client.edges(id, as_of=as_of) if id else client.edge_candidates(as_of=as_of)
    yield found
    for edge in found.edges:
        if candidates:
            yield f"        {edge.source.id}  {edge.source.kind}  {one_line(edge.source.text, 120)}"
        learned = f"{edge.learned:5.3f}" if edge.learned else "    -"
        windows = max(edge.windows, edge.learned_windows)
        target = f"{edge.target.id}  {edge.target.kind}  {one_line(edge.target.text, 120)}"
        yield f"{edge.weight:6.3f}  {learned}  {windows:3}  {target}"
    if not found.edges:
        yield "Nothing is strong enough." if candidates else "Nothing was used together with it."
    if found.lag:
        say(f"The views lack {many(found.lag, 'event')}, and what they link.", err=True)
