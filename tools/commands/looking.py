"""What is shown of a project without a question: the commands given and context, latest texts, sessions, edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

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


def sessions(client: Client, limit: int) -> Output:
    """Yield the sessions of a project, the last active first: when, who, and where the work was left."""
    return listed("sessions", client.sessions(limit), _session, "No session was kept yet.")


def latest(name: str, found: Sequence[Result]) -> Output:
    """Yield texts that nobody searched for, under a name."""
    nothing = "Nothing of the kind is remembered yet; `memtape status` says what there is."
    return listed(name, found, _result, nothing)


@click.command()
@with_arguments("agents given")
@with_speaker
def given(client: Client, limit: int, session: str | None, since: str | None, searches: bool) -> Output:
    """List the memories given to agents unasked, at starts and with prompts, and their use, the latest first.

    A memory was used where an agent said so, or where its next answer carried specifics of the memory.
    Results of searches are listed with --searches alone.

    \b
    Example:
      memtape agents given --limit 5
      memtape agents given --searches
      memtape agents given --since 1d --json
    """
    from memtape.tools.ask.naming import shortened

    found = client.given(limit, session=session, since=since, searches=searches)
    short = shortened(memory.id for one in found for memory in one.memories)
    return listed("given", found, partial(_given, short), "Nothing was given to an agent unasked.")


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
        return "Nothing is told here that is not archived. `memtape archive --list` lists the rest."
    return "Nothing is remembered yet. `memtape status` says what there is."
