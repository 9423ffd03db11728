"""What is told without a question: the context of a start, the sessions, and what agents were given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta

from memtape.schemas.lanes import UNASKED
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.tools import query
from memtape.tools.capture.injected import wrap
from memtape.tools.capture.writing import now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.query.plan import shortened
from memtape.tools.query.telling import WORDING_CHARS
from memtape.tools.verb import AsOf, Limit, Offer, Verb, inside, people, said
from memtape.tools.verbs.lines import each, say_where_it_was

if TYPE_CHECKING:
    from memtape.schemas.events import Event, Recalled
    from memtape.tools.query.context import ProjectContext
    from memtape.tools.query.looking import By, Given, GivenMemory, Session
    from memtape.tools.query.retrieval import Retriever
    from memtape.tools.world import World

TEXT_CHARS, LINE_CHARS = 300, 120
NOTHING_YET = "Nothing is remembered yet. `memtape status` says what there is."
Form = Literal["prompt", "agents", "gemini"]
Occasion = Literal["start", "prompt", "search"]


def context(
    world: World,
    budget_tokens: Annotated[
        int,
        Meta(
            description="The most tokens of the text.",
            ge=100,
            extra={"option": "--budget", "agents_most": 8_000},
        ),
    ] = 2_000,
    form: Annotated[
        Form,
        people("For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md."),
    ] = "prompt",
    explain: Annotated[
        bool,
        people("Say of each line where it comes from: a page of the vault, and the id."),
    ] = False,
    as_of: AsOf = None,
    as_is: Annotated[bool, inside("Project nothing first, for callers that cannot wait.")] = False,
    since: Annotated[
        int | None,
        inside("Only later captures of other sessions, from a time in microseconds."),
    ] = None,
) -> ProjectContext:
    """Print the context of a starting agent: standing instructions, goal, plan, valid facts, and recent work.

        claude --append-system-prompt "$(memtape context)"
        memtape context --form agents --budget 1000
        memtape context --explain

    Standing instructions are sentences by users with "always", "never", "I prefer" and the like, in five
    languages. The budget is never exceeded. A section of a file stands between <!-- memtape:begin --> and
    <!-- memtape:end -->.

    Returns the context of this scope and `global`. With `as_is` pending events are read from the log.
    """
    is_told = form == "prompt" and as_of is None
    last = tuple(filter(None, (world.profile.told, str(world.silence() or "")))) if is_told else ()

    def read(views: Retriever, scope: str) -> ProjectContext:
        return query.context.context_of(views, scope, budget_tokens, form, world.session, since, last)

    if as_is:
        world.wake(world.scope)
        return world.reader.held(lambda views: read(views, world.scope))
    return world.read(read, as_of)


def sessions(world: World, limit: Limit = 10) -> list[Session]:
    """Instead list the latest sessions: when, who, what is left.

    memtape log --sessions
    """
    return world.read(lambda views, scope: query.looking.sessions_of(views, scope, limit))


def given(
    world: World,
    limit: Limit = 20,
    session: Annotated[str | None, said("Only what this session was given.")] = None,
    since: Annotated[str | None, said("Only from then on: ISO 8601, or an age as 3d.")] = None,
    searches: Annotated[bool, said("List what was searched for too.")] = False,
    by: Annotated[Occasion | None, inside("Only on this occasion.")] = None,
    words: Annotated[str, inside("Only questions with these words.")] = "",
) -> list[Given]:
    """List the memories given to agents unasked, at starts and with prompts, and their use, the latest first.

        memtape agents given --limit 5
        memtape agents given --searches
        memtape agents given --since 1d --json

    A memory was used where an agent said so, or where its next answer carried specifics of the memory.
    Results of searches are listed with --searches alone.
    """
    ways = (by,) if by is not None else query.looking.EVERY_WAY if searches else UNASKED
    after = None if since is None else parse_time(since, now_us())

    def is_wanted(way: By, event: Event, body: Recalled) -> bool:
        return session in (None, event.session) and way in ways and words.casefold() in body.query.casefold()

    return world.read(lambda views, scope: query.looking.given_of(views, scope, limit, after, is_wanted))


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
    who = f"{one_line(one.actor, 40)} in {one.scope}{session}"
    head = f"{format_time(one.at)}  {one.by}{asked}: {count} to {who}"
    return [head, *(_memory(memory, short[memory.id]) for memory in one.memories)]


def _memory(memory: GivenMemory, id: str) -> str:
    used = {True: "used", False: "not used", None: "use unknown"}[memory.used]
    now = "" if memory.now == "shown" else f", {memory.now} since"
    line = "(erased)" if memory.line is None else one_line(memory.line, LINE_CHARS)
    return f"    {id}  {line}  [{used}{now}]"


def _given_lines(world: World, asked: Any, found: list[Given]) -> Iterator[str]:
    short = shortened(memory.id for one in found for memory in one.memories)
    return each(found, partial(_given, short), "Nothing was given to an agent unasked.")


def _context_lines(world: World, asked: Any, found: ProjectContext) -> Iterator[str]:
    if asked.explain:
        for item in found.items:
            yield f"{item.section:10} {item.page or '-':13} {item.id}  {one_line(item.text, 80)}"
    else:
        say(found.text, nl=False)
    if not found.items:
        say(_why_empty(world, asked.as_of, has_more=bool(found.omitted)), err=True)
        say_where_it_was(world)


def _why_empty(world: World, as_of: str | None, *, has_more: bool) -> str:
    """Return why a context tells of no text, and the command that shows more."""
    if has_more:
        return "Nothing fits the budget. `memtape status` says what there is."
    archive = None
    if as_of is None:
        archive = world.read(lambda views, scope: query.looking.archived_of(views, scope, 1))
    if archive is not None and (archive.counts or archive.purged):
        return "Nothing is told here that is not archived. `memtape archive --list` lists the rest."
    return NOTHING_YET


def _tell_context(world: World, asked: Any, found: ProjectContext) -> str:
    """Return the context cut to the hosts' limit. The text itself marks its data."""
    if not found.text.strip():
        return f"Nothing is remembered in {world.scope} yet."
    cut = markdown.fitted(visible(found.text), markdown.MAX_ANSWER_BYTES - 500)
    return f"What {world.scope} remembers:\n\n{wrap(cut)}"


def _tell_sessions(world: World, asked: Any, found: list[Session]) -> str:
    if not found:
        return f"No session was kept in {world.scope} yet."
    head = f"{many(len(found), 'session')} of {world.scope}, the latest first."
    return markdown.list_pieces(head, list(map(_tell_session, found)))


def _tell_session(it: Session) -> str:
    agents = ", ".join(markdown.name_of(agent, 60) for agent in it.agents) or "no agent"
    when = f"{format_time(it.since)} to {format_time(it.until)}"
    asked = f"\n{markdown.quoted(one_line(it.asked, WORDING_CHARS))}" if it.asked else ""
    return f"`{markdown.name_of(it.id, 80)}` · {when} · {agents} · {many(it.turns, 'turn')}{asked}"


VERBS = (
    Verb(
        "context",
        context,
        lines=_context_lines,
        tool=Offer("What to know before starting: rules, goal, plan, facts, recent work.", _tell_context),
    ),
    Verb(
        "log --sessions",
        sessions,
        lines=lambda world, asked, found: each(found, _session, "No session was kept yet."),
        listed="sessions",
        tool=Offer("The latest sessions of all agents: when, who, what was asked.", _tell_sessions),
    ),
    Verb("agents given", given, lines=_given_lines, listed="given"),
)
