"""Search, and what is told without words: the latest texts, starts, sessions, and what agents were given."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from memtape import STARTED_NS
from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Kind, Origin, Tier
from memtape.schemas.ids import short_id
from memtape.schemas.lanes import LANES, UNASKED, Lane
from memtape.schemas.places import place_in
from memtape.schemas.rows import Listed, Sort, made_from
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line, visible
from memtape.state.text.passages import best_passage
from memtape.state.text.phrases import phrases_in
from memtape.state.text.terms import language_of, terms
from memtape.state.views import filters
from memtape.tools import query
from memtape.tools.capture.injected import wrap
from memtape.tools.capture.project import told_scope
from memtape.tools.capture.writing import now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.query.telling import other_wordings, told_author, with_short_id
from memtape.tools.recalling import MAX_SHOWN, append_recall, note_recall, recalled
from memtape.tools.verb import Asks, AsOf, Limit, Offer, Output, Tags, Verb, inside, people, rare, said

if TYPE_CHECKING:
    from memtape.schemas.events import Event, Recalled
    from memtape.tools.query.context import ProjectContext
    from memtape.tools.query.listing import MemoryList
    from memtape.tools.query.looking import By, Given, Session
    from memtape.tools.query.plan import SearchQuery
    from memtape.tools.query.results import Answer, Result
    from memtape.tools.query.retrieval import Retriever
    from memtape.tools.world import World

CursorText = Annotated[str, Meta(max_length=8_000)]
TEXT_CHARS, LINE_CHARS = 300, 120
Form = Literal["prompt", "agents", "gemini"]
Occasion = Literal["start", "prompt", "search"]


class SearchAsks(Asks, frozen=True):
    query: Annotated[str, said("What to look for, in the words that you expect in it.", joined=True)]
    limit: Annotated[int, Meta(description="The most results, 1 to 1000.", ge=1)] = 10
    kinds: Annotated[
        tuple[Kind, ...],
        said("Only of this kind; a turn was said, a page written.", 8),
    ] = ()
    tags: Annotated[Tags, rare("Only with this tag.")] = ()
    origins: Annotated[
        tuple[Origin, ...],
        rare(
            "Only what this origin has captured. operator, user: people. agent: you and other agents. tool:"
            " a tool's output. web: a page. model: what a model concluded.",
            6,
            option="--from-origin",
        ),
    ] = ()
    actors: Annotated[tuple[str, ...], rare("Only what this person or agent said.", 64, option="--by")] = ()
    sessions: Annotated[
        tuple[str, ...], rare("Only what was captured in this session.", 64, option="--from-session")
    ] = ()
    tiers: Annotated[
        tuple[Tier, ...],
        rare(
            "Only what has aged so far: short is what has not, mid what a summary of a day tells, long what"
            " one of a week tells.",
            3,
        ),
    ] = ()
    not_kinds: Annotated[tuple[Kind, ...], rare("Nothing of this kind: no turn, no page.", 8)] = ()
    not_tags: Annotated[Tags, rare("Nothing with this tag.")] = ()
    not_origins: Annotated[
        tuple[Origin, ...],
        rare(f"Nothing that this origin has captured, whoever else has: {', '.join(get_args(Origin))}.", 6),
    ] = ()
    not_sessions: Annotated[
        tuple[str, ...], rare("Nothing that was captured in this session, wherever else.", 64)
    ] = ()
    since: Annotated[str | None, said("Only from then on: ISO 8601, or an age as 3d.", time=True)] = None
    until: Annotated[str | None, said("Only before then.", time=True)] = None
    valid_at: Annotated[str | None, rare("What held then, as it is known now.", time=True)] = None
    archived: Annotated[bool, Meta(description="Archived too.")] = False
    deep: Annotated[bool, Meta(description="Look up to three times.")] = False
    cursor: Annotated[CursorText | None, Meta(description="For more: what the same search gave.")] = None
    quiet: Annotated[bool, people("Do not put this search on the log.")] = False
    explain: Annotated[bool, people("Say why each result stands where it stands.")] = False
    without: Annotated[
        tuple[Lane, ...], people("Leave this lane out, for comparing.", option="--without")
    ] = ()
    at_least: Annotated[str | None, people("Wait until the views have this position, as 3/120.")] = None
    as_of: AsOf = None


class AgentSearchAsks(SearchAsks, frozen=True):
    limit: Annotated[int, Meta(description="At most 20.", ge=1)] = 8


def search(world: World, asked: SearchAsks) -> Answer:
    """Find memories and turns of this project, and of global, by words; without words list the latest
    memories.

        memtape search "staging database port" --kind fact
        memtape search --kind turn --limit 5
        memtape search "staging database port" --from-origin user --from-origin operator
        memtape search '"listens on port 5433"' --by Ada
        memtape search "staging database port" --explain
        memtape search "staging database port" --valid-at 2026-03-01
        memtape search "staging database port" --archived
        memtape search "which databases do we run" --deep --explain
        memtape search "staging database port" --not-kind turn --tier short

    Words in quotation marks are searched as one phrase.

    Returns the results of the scope and of `global`, best first. Pending events are projected first if quick;
    else the answer covers them by words and has the lag of the views. Unless `quiet`, a `recalled` event is
    appended, if the project has anything; the past (`as_of`, `valid_at`) is asked without one. Summaries
    follow few results (`Result.sums`). `cursor` is the `next` of an answer to the same question. `at_least`
    waits for views at most 30 s. A `deep` search has one page and its steps (`Answer.trace`), and may ask a
    configured model. Raises `MemtapeError` for a damaged cursor, or one of another question, scope or home.
    """
    # A caller of the command waits from the start of its process.
    began_ns = STARTED_NS if world.door == "cli" else time.monotonic_ns()
    cursor = query.plan.Cursor(now_us()) if asked.cursor is None else query.plan.read(asked.cursor)
    question = _question(world, asked, cursor.asked_at)
    if asked.at_least is not None:
        world.reader.await_position(asked.at_least)
    answer = world.read(
        lambda views, scope: query.ordering.page_of(views, scope, question, cursor), asked.as_of
    )
    unkept = () if world.profile.keeps else (world.profile.told,)
    answer = msgspec.structs.replace(answer, warnings=(*unkept, *world.reader.notes, *answer.warnings))
    world.reader.notes.clear()
    if asked.quiet or asked.as_of is not None or question.valid_at is not None:
        return answer
    recorded = append_recall(world, recalled(question.query, asked.limit, question.filters, answer))
    if world.stores():
        note_recall(world.home, world.door, answer, began_ns)
    return msgspec.structs.replace(answer, recall_id=recorded)


def _question(world: World, asked: SearchAsks, now: int) -> SearchQuery:
    """Return a question as asked and recorded: of a secret it has the placeholder. Raises `MemtapeError`.

    Ages among its times count from `now`.
    """
    check_asked(asked.query, asked.limit)
    lanes = tuple(lane for lane in LANES if lane not in asked.without)
    if not lanes:
        raise MemtapeError("Every lane is left out.", f"Keep one of {', '.join(LANES)}.")
    narrowed = filters.make_filters(now, **{name: getattr(asked, name) for name in filters.FILTERS})
    filters.check_filters(narrowed)
    words, narrowed = world.redactor.question(asked.query), world.redactor.part(narrowed)
    if not words:
        hint = "Ask for something outside of <private>…</private>."
        raise MemtapeError("The query is private as a whole.", hint)
    return query.plan.SearchQuery(
        words,
        narrowed,
        lanes,
        explain=asked.explain,
        session=world.session,
        valid_at=None if asked.valid_at is None else parse_time(asked.valid_at, now),
        deep=query.deep.judge_of(world.home, world.redactor) if asked.deep else None,
        limit=asked.limit,
        archived=asked.archived,
        phrases=phrases_in(words),
    )


def check_asked(query: str, limit: int) -> None:
    """Raise `MemtapeError` for an invalid query or limit."""
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if not 1 <= limit <= MAX_SHOWN:
        told = f"A limit of {limit} is not a whole number from 1 to {MAX_SHOWN}."
        raise MemtapeError(told, "Give another.")
    if len(query) > MAX_TEXT_BYTES:
        told = f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked."
        raise MemtapeError(told, "Ask for less.")
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")


class ListAsks(Asks, frozen=True):
    limit: Limit = 10
    kinds: Annotated[
        tuple[Kind, ...],
        rare("Only of this kind, by default all but turn; page is a page that was written.", 8),
    ] = ()
    tags: Annotated[Tags, rare("Only with this tag.")] = ()
    actors: Annotated[tuple[str, ...], rare("Only what this person or agent said.", 64, option="--by")] = ()
    standings: Annotated[
        tuple[Listed, ...],
        people("Only what stands so. By default what a search finds: valid, replaced or contradicted."),
    ] = ()
    since: Annotated[str | None, rare("Only from then on: ISO 8601, or an age as 3d.")] = None
    until: Annotated[str | None, rare("Only before then.")] = None
    sort: Annotated[Sort, rare("latest or oldest first, most uses first, or by kind or actor.")] = "latest"
    after: Annotated[int, Meta(ge=0), rare("Leave out so many, which stand on the pages before.")] = 0
    as_of: AsOf = None


def recent(world: World, asked: ListAsks) -> MemoryList:
    """List the latest memories of this project.

    Also by kind, tag, actor, time or standing, in other orders, and page by page. What was forgotten is
    listed by its standing.

    Returns a page of results, and the number of all that match.
    """
    now = now_us()
    since, until = (None if at is None else parse_time(at, now) for at in (asked.since, asked.until))
    question = made_from(query.listing.ListQuery, asked, since=since, until=until)
    return world.read(lambda views, scope: query.listing.listed_of(views, scope, question), asked.as_of)


def _recent_lines(world: World, asked: ListAsks, found: MemoryList) -> Iterator[str]:
    yield from latest_lines(world, asked, found.results)
    if (end := found.after + len(found.results)) < found.count:
        yield f"{found.count - end:,} more match; --after {end} lists the next."


def latest_lines(world: World, asked: Any, found: Sequence[Result]) -> Iterator[str]:
    """Yield texts without a search."""
    for it in found:
        marks = "".join(f" · {one_line(with_short_id(mark), TEXT_CHARS)}" for mark in it.marks)
        about = f"{it.kind} · {told_author(it)}{marks}"
        yield f"{format_time(it.at)}  {short_id(it.id)}  {about}"
        yield f"    {one_line(it.text, TEXT_CHARS)}"
    if not found:
        yield "Nothing of the kind is remembered yet; `memtape status` says what there is."


def _search_shell(world: World, asked: SearchAsks) -> Output:
    from memtape.tools.query.recorded_vectors import EMBEDDERS

    with EMBEDDERS.for_one_answer():
        answer = search(world, asked)
    yield answer
    for number, result in enumerate(answer.results, start=answer.after + 1):
        yield _result(number, result, asked.query or "")
        if asked.explain and not result.sums:
            yield from query.telling.explained(result, answer.read)
    if asked.explain:
        yield from query.telling.explained_question(answer)
    if answer.aside:
        yield answer.aside if answer.results else f"Nothing found. {answer.aside}"
    elif not answer.results and answer.after:
        yield "Nothing more found."
    elif not answer.results:
        if answer.held:
            other = "it without quotation marks" if phrases_in(asked.query) else "fewer or other words"
            yield f"Nothing found. Try {other}; `memtape status` says what there is."
            if asked.origins:
                yield "What is piped is captured as an agent's, unless --origin says whose it is."
        elif asked.as_of is not None:
            yield f"{world.scope} held nothing then. `memtape status` says what there is now."
        else:
            elsewhere = "`memtape status` says what other scopes hold, and --scope asks one."
            then = "`memtape capture` and `memtape import` add to it"
            yield f"{told_scope(world.scope)} holds nothing yet. {then}; {elsewhere}"
    if answer.next is not None:
        say(
            f"For more: --{f'cursor {answer.next}' if asked.cursor else f'limit {2 * asked.limit}'}", err=True
        )
    for note in (*answer.warnings, *filter(None, [answer.note])):
        say(note, err=True)
    if answer.lag:
        lacks = f"The views lack {many(answer.lag, 'event')}"
        say(f"{lacks}; what they say is found by words all the same.", err=True)


def _result(number: int, result: Result, query: str) -> str:
    about = [result.kind, format_time(result.at)[:10], told_author(result)]
    if result.sums:
        about = ["not what was said"]
    about += map(with_short_id, markdown.standing(result))
    if place := place_in(result.path):
        about.append(one_line(place.told(), 120))
    if result.source:
        about.append(one_line(result.source, 60))
    if not result.projected:
        about.append("not yet folded")
    sought = dict.fromkeys(terms(query, language_of(result.passage)), 1.0)
    passage = one_line(best_passage(result.passage, sought, TEXT_CHARS), TEXT_CHARS)
    beside = "".join(f"    {line}\n" for line in other_wordings(result))
    told = " · ".join([*about, f"score {result.score:.2f}"])
    return f"{number:2}. {passage}\n{beside}    {told}\n    {short_id(result.id)}"


def _tell_search(world: World, asked: SearchAsks, answer: Answer) -> str:
    # The tool's argument stands in place of the command.
    aside = answer.aside.replace("`memtape search --archived`", "search_memories with archived")
    notes = [note for note in (aside, *answer.warnings) if note]
    if not answer.results and answer.after:
        return "\n".join(["Nothing more is found.", *answer.warnings])
    if not answer.results:
        nothing = f"Nothing is remembered in {world.scope} for this query."
        return "\n".join([f"{nothing} Try fewer or other words.", *notes])
    tail = []
    if answer.lag:
        tail.append(f"Not folded yet, and searched by words: {many(answer.lag, 'newer event')}.")
    tail += notes
    if any(result.sums for result in answer.results):
        tail.append("A summary is no memory: get_memory lists what it sums up; mark those as used.")
    tail.append("Open one whole with get_memory. If you use any of them, say so with mark_used.")
    if answer.next is not None:
        tail.append(f"More is found: the same search with cursor={answer.next}")
    if answer.recall_id is not None:
        tail.append(f"recall: {answer.recall_id}")
    head = f"{many(len(answer.results), 'result')} from {world.scope}, best first."
    pieces = [markdown.result_piece(at, it) for at, it in enumerate(answer.results, start=answer.after + 1)]
    return markdown.list_pieces(head, pieces, tail, "ask with a smaller limit or a narrower query")


def context(
    world: World,
    budget_tokens: Annotated[
        int, Meta(ge=100), said("The most tokens of the text.", option="--budget", agents_most=8_000)
    ] = 2_000,
    form: Annotated[
        Form, people("For --append-system-prompt, or as a section of AGENTS.md or GEMINI.md.")
    ] = "prompt",
    explain: Annotated[bool, people("Say of each line its section and its id.")] = False,
    as_of: AsOf = None,
    as_is: Annotated[bool, inside("Project nothing first, for callers that cannot wait.")] = False,
    since: Annotated[
        str | None, inside("Only later captures of other sessions: ISO 8601, or an age as 3d.", time=True)
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
    after = None if since is None else parse_time(since, now_us())

    def read(views: Retriever, scope: str) -> ProjectContext:
        return query.context.context_of(views, scope, budget_tokens, form, world.session, after, last)

    if as_is:
        world.wake(world.scope)
        return world.reader.reading(lambda views: read(views, world.scope))
    return world.read(read, as_of)


def sessions(world: World, limit: Limit = 10) -> list[Session]:
    """Instead list the latest sessions: when, who, what is left."""
    return world.read(lambda views, scope: query.looking.sessions_of(views, scope, limit))


def given(
    world: World,
    limit: Limit = 20,
    session: Annotated[str | None, said("Only what this session was given.")] = None,
    since: Annotated[str | None, said("Only from then on: ISO 8601, or an age as 3d.", time=True)] = None,
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


def _session_lines(world: World, asked: Any, found: list[Session]) -> Iterator[str]:
    for it in found:
        agents = ", ".join(one_line(agent, 40) for agent in it.agents) or "no agent"
        when = f"{format_time(it.since)} to {format_time(it.until)}"
        yield f"{one_line(it.id, 80)}  {agents}, {many(it.turns, 'turn')}, {when}"
        yield from (f"    {one_line(line, TEXT_CHARS)}" for line in it.left)
    if not found:
        yield "No session was kept yet."


def _given_lines(world: World, asked: Any, found: list[Given]) -> Iterator[str]:
    for one in found:
        tokens = "" if one.tokens is None else f", {many(one.tokens, 'token')}"
        count = f"{many(len(one.memories), 'memory', 'memories')}{tokens}"
        session = f", session {one_line(one.session, 80)}" if one.session else ""
        asked_for = f" for {one_line(one.query, LINE_CHARS)!r}" if one.by == "search" else ""
        who = f"{one_line(one.actor, 40)} in {one.scope}{session}"
        yield f"{format_time(one.at)}  {one.by}{asked_for}: {count} to {who}"
        for it in one.memories:
            used = {True: "used", False: "not used", None: "use unknown"}[it.used]
            now = "" if it.now == "shown" else f", {it.now} since"
            line = "(erased)" if it.line is None else one_line(it.line, LINE_CHARS)
            by = "" if it.line is None else f"{told_author(it)}, "
            yield f"    {short_id(it.id)}  {line}  [{by}{used}{now}]"
    if not found:
        yield "Nothing was given to an agent unasked."


def _context_lines(world: World, asked: Any, found: ProjectContext) -> Iterator[str]:
    if asked.explain:
        for item in found.items:
            yield f"{item.section:10} {short_id(item.id)}  {one_line(item.text, 80)}"
    else:
        say(found.text, nl=False)
    if found.items:
        return
    why, archive = "Nothing is remembered yet. `memtape status` says what there is.", None
    if found.omitted:
        why = "Nothing fits the budget. `memtape status` says what there is."
    elif asked.as_of is None:
        archive = world.read(lambda views, scope: query.looking.archived_of(views, scope, 1))
    if archive is not None and (archive.counts or archive.purged):
        why = "Nothing is told here that is not archived. `memtape archive --list` lists the rest."
    say(why, err=True)


def _tell_context(world: World, asked: Any, found: ProjectContext) -> str:
    """Return the context cut to the hosts' limit. The text itself marks its data."""
    if not found.text.strip():
        return f"Nothing is remembered in {world.scope} yet."
    cut = markdown.fitted(visible(found.text), markdown.MAX_ANSWER_BYTES - 500)
    return f"What {world.scope} remembers:\n\n{wrap(cut)}"


def _tell_sessions(world: World, asked: Any, found: list[Session]) -> str:
    if not found:
        return f"No session was kept in {world.scope} yet."
    lines = map(markdown.quoted, _session_lines(world, asked, found))
    head = f"{many(len(found), 'session')} of {world.scope}, the latest first."
    return markdown.list_pieces(head, [*lines], between="\n")


VERBS = (
    Verb(
        "search",
        search,
        shell=_search_shell,
        tool=Offer(
            "Find what was said, decided and learned in this project, best first, with ids.",
            _tell_search,
            asks=AgentSearchAsks,
        ),
    ),
    Verb(
        "search -",
        recent,
        lines=_recent_lines,
        tool=Offer(
            "What was remembered last, without a query.",
            lambda world, asked, found: markdown.listed(found.results, world.scope, "the latest first"),
        ),
    ),
    Verb(
        "context",
        context,
        lines=_context_lines,
        tool=Offer("What to know before starting: rules, goal, plan, facts, recent work.", _tell_context),
    ),
    Verb(
        "log --sessions",
        sessions,
        lines=_session_lines,
        listed="sessions",
        tool=Offer("The latest sessions of all agents: when, who, what was asked.", _tell_sessions),
    ),
    Verb("agents given", given, lines=_given_lines, listed="given"),
)
