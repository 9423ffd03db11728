"""Search: the best texts for some words, and without words the latest."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated, get_args

import msgspec
from msgspec import Meta

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Kind, Origin, Tier
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.places import place_in
from memtape.schemas.times import format_time, parse_time
from memtape.schemas.visible import many, one_line
from memtape.state.views import filters
from memtape.tools import query
from memtape.tools.capture.project import told_scope
from memtape.tools.capture.writing import now_us
from memtape.tools.doors import markdown
from memtape.tools.doors.terminal import say
from memtape.tools.query.telling import other_wordings
from memtape.tools.recalling import MAX_SHOWN, append_recall, began, note_recall, recalled
from memtape.tools.verb import Asks, AsOf, Limit, Offer, Output, Tags, Verb, people, rare, said
from memtape.tools.verbs.lines import latest, say_where_it_was

if TYPE_CHECKING:
    from memtape.tools.query.plan import SearchQuery
    from memtape.tools.query.results import Answer, Result
    from memtape.tools.world import World


CursorText = Annotated[str, Meta(max_length=8_000)]


class SearchAsks(Asks, frozen=True):
    query: Annotated[str, Meta(description="What to look for, in the words that you expect in it.")]
    limit: Annotated[int, Meta(description="The most results, 1 to 1000.", ge=1)] = 10
    kinds: Annotated[
        tuple[Kind, ...],
        said("Only of this kind: turn is what was said in a session, page a page that was written.", 8),
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
        tuple[str, ...],
        rare("Nothing that was captured in this session, wherever else.", 64),
    ] = ()
    since: Annotated[str | None, Meta(description="Only from then on: ISO 8601, or an age as 3d.")] = None
    until: Annotated[str | None, Meta(description="Only before then.")] = None
    valid_at: Annotated[str | None, rare("What held then, as it is known now.")] = None
    archived: Annotated[bool, Meta(description="Also what is archived.")] = False
    deep: Annotated[bool, Meta(description="Look up to three times.")] = False
    quotas: Annotated[
        tuple[str, ...],
        rare(
            "The most results of a source, as turns=3: memories, turns, documents, insights, summaries, "
            "pages, plans, journal.",
            8,
        ),
    ] = ()
    cursor: Annotated[CursorText | None, Meta(description="For more: what the same search gave.")] = None
    quiet: Annotated[bool, people("Do not put this search on the log.", also="--no-capture")] = False
    explain: Annotated[bool, people("Say why each result stands where it stands.")] = False
    without: Annotated[
        tuple[Lane, ...],
        people("Leave this lane out, for comparing.", option="--without"),
    ] = ()
    as_of: AsOf = None


class AgentSearchAsks(SearchAsks, frozen=True):
    limit: Annotated[int, Meta(description="How many results, at most 20.", ge=1)] = 8


def search(world: World, asked: SearchAsks) -> Answer:
    """Find memories and turns of this project, and of global, by words; without words list the latest
    memories.

        memtape search "staging database port" --kind fact
        memtape search --kind turn --limit 5
        memtape search "staging database port" --from-origin user --from-origin operator
        memtape search "staging database port" --explain
        memtape search "staging database port" --valid-at 2026-03-01
        memtape search "staging database port" --archived
        memtape search "which databases do we run" --deep --explain
        memtape search "staging database port" --not-kind turn --tier short
        memtape search "staging database port" --quota turns=3,documents=2

    Returns the results of the scope and of `global`, best first. Pending events are projected first if quick;
    else the answer covers them by words and has the lag of the views. Unless `quiet`, a `recalled` event is
    appended, if the project has anything; the past (`as_of`, `valid_at`) is asked without one. Summaries
    follow few results (`Result.sums`). `cursor` is the `next` of an answer to the same question. A `deep`
    search has one page and its steps (`Answer.trace`), and may ask a configured model. Raises `MemtapeError`
    for a damaged cursor, or one of another question, scope or home.
    """
    question, began_ns = _question(world, asked), began(world.door)
    answer = world.read(
        lambda views, scope: query.ordering.page_of(views, world.log, scope, question, asked.cursor),
        asked.as_of,
    )
    unkept = () if world.profile.keeps else (world.profile.told,)
    answer = msgspec.structs.replace(answer, warnings=(*unkept, *world.reader.notes, *answer.warnings))
    world.reader.notes.clear()
    if asked.quiet or asked.as_of is not None or question.valid_at is not None:
        return answer
    recorded = append_recall(world, recalled(question.query, asked.limit, question.filters, answer))
    if world.silence() is None:
        note_recall(world.home, world.door, answer, began_ns)
    return msgspec.structs.replace(answer, recall_id=recorded)


def _question(world: World, asked: SearchAsks) -> SearchQuery:
    """Return a question as asked and recorded: of a secret it has the placeholder. Raises `MemtapeError`."""
    check_asked(asked.query, asked.limit)
    now = now_us()
    narrowed = filters.make_filters(now, **{name: getattr(asked, name) for name in filters.FILTERS})
    filters.check_filters(narrowed)
    words, narrowed = world.redactor.question(asked.query), world.redactor.part(narrowed)
    if not words:
        hint = "Ask for something outside of <private>…</private>."
        raise MemtapeError("The query is private as a whole.", hint)
    return query.plan.SearchQuery(
        words,
        narrowed,
        lanes_left(asked.without),
        explain=asked.explain,
        session=world.session,
        valid_at=None if asked.valid_at is None else parse_time(asked.valid_at, now),
        deep=query.deep.judge_of(world.home, world.redactor) if asked.deep else None,
        limit=asked.limit,
        archived=asked.archived,
        quotas=query.plan.quotas_of(asked.quotas),
    )


def lanes_left(without: Collection[Lane]) -> tuple[Lane, ...]:
    """Return the lanes left. Raises `MemtapeError` for none."""
    lanes = tuple(lane for lane in LANES if lane not in without)
    if not lanes:
        raise MemtapeError("Every lane is left out.", f"Keep one of {', '.join(LANES)}.")
    return lanes


def check_asked(query: object, limit: object) -> None:
    """Raise `MemtapeError` for an invalid query or limit of any type."""
    if not isinstance(query, str):
        told = f"The query is of type {type(query).__name__}."
        raise MemtapeError(told, "Give a text of what to look for.")
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_SHOWN:
        told = f"A limit of {limit!r:.40} is not a whole number from 1 to {MAX_SHOWN}."
        raise MemtapeError(told, "Give another.")
    if len(query) > MAX_TEXT_BYTES:
        told = f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked."
        raise MemtapeError(told, "Ask for less.")
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")


def recent(
    world: World,
    limit: Limit = 10,
    kinds: Annotated[
        tuple[Kind, ...],
        rare("Only of this kind, by default all but turn; page is a page that was written.", 8),
    ] = (),
) -> list[Result]:
    """List the latest memories of this project.

    memtape search --kind turn --limit 5
    """
    return world.read(lambda views, scope: query.looking.recent_of(views, scope, limit, kinds))


def _search_shell(world: World, asked: SearchAsks) -> Output:
    from memtape.tools.query.recorded_vectors import EMBEDDERS

    with EMBEDDERS.for_one_answer():
        answer = search(world, asked)
    yield answer
    yield from _results(answer, explain=asked.explain)
    if not (answer.results or answer.after or answer.aside):
        yield _nothing(world.scope, answer.held, asked.as_of)
        if asked.origins and answer.held:
            yield "What is piped is captured as an agent's, unless --origin says whose it is."
        say_where_it_was(world)
    _print_notes(answer)


def _results(answer: Answer, *, explain: bool) -> Iterator[str]:
    """Yield the results of an answer, their sources, and the note about unsearched texts."""
    for number, result in enumerate(answer.results, start=answer.after + 1):
        yield _result(number, result)
        if explain and not result.sums:
            yield from query.telling.explained(result, answer.read)
    if told := query.telling.told_sources(answer, whole=explain):
        yield told
    if explain:
        yield from query.telling.explained_question(answer)
    if answer.aside:
        yield answer.aside if answer.results else f"Nothing found. {answer.aside}"
    elif not answer.results and answer.after:
        yield "Nothing more found."


def _print_notes(answer: Answer) -> None:
    """Print the notes about an answer on stderr: its next page, warnings, and lag."""
    if answer.next is not None:
        say(f"For more, the same with --cursor {answer.next}", err=True)
    for note in (*answer.warnings, *filter(None, [answer.note])):
        say(note, err=True)
    if answer.lag:
        say(
            f"The views lack {many(answer.lag, 'event')}; what they say is found by words all the same.",
            err=True,
        )


def _nothing(scope: str, held: int, as_of: str | None) -> str:
    if held:
        return "Nothing found. Try fewer or other words; `memtape status` says what there is."
    if as_of is not None:
        return f"{scope} held nothing then. `memtape status` says what there is now."
    elsewhere = "`memtape status` says what other scopes hold, and --scope asks one."
    then = "`memtape capture` and `memtape import` add to it"
    return f"{told_scope(scope)} holds nothing yet. {then}; {elsewhere}"


def _result(number: int, result: Result) -> str:
    about = [result.kind, format_time(result.at)[:10], f"{one_line(result.actor, 40)} ({result.origin})"]
    if result.sums:
        about = ["not what was said"]
    if result.confirmations:
        about.append(f"confirmed {result.confirmations}x")
    if result.again:
        about.append(f"said {result.again + 1} times")
    about += result.marks
    if place := place_in(result.path):
        about.append(one_line(place.told(), 120))
    if result.source:
        about.append(one_line(result.source, 60))
    if result.scope == "global":
        about.append("global")
    if not result.projected:
        about.append("not yet folded")
    passage = one_line(result.passage, 300)
    beside = "".join(f"    {line}\n" for line in other_wordings(result))
    told = " · ".join([*about, f"score {result.score:.2f}"])
    return f"{number:2}. {passage}\n{beside}    {told}\n    {result.id}"


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
        lines=lambda world, asked, found: latest(found),
        listed="results",
        tool=Offer(
            "What was remembered last, without a query.",
            lambda world, asked, found: markdown.listed(found, world.scope, "the latest first"),
        ),
    ),
)
