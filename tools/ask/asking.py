"""The questions of a client: their checks, the answer from the views, and the event about a search and its results.

What a single kind of question needs is loaded as `ask.<module>` at its use, since a hook only searches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Filters, Kind, Recalled, ScopeChanged
from memtape.schemas.lanes import LANES, UNASKED, Lane, unasked_lanes
from memtape.schemas.times import parse_time
from memtape.state.views.filters import FILTERS, NO_FILTERS, check_filters, make_filters
from memtape.tools import ask
from memtape.tools.ask.naming import Ids
from memtape.tools.capture.writing import Writer, now_us

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from memtape.schemas.metrics import OnPhase
    from memtape.schemas.rows import MemoryRow, PageRow, ScopeHeld, TurnRow
    from memtape.state.views.proposals import Proposal
    from memtape.tools.ask.archived import ArchiveList, OnRead
    from memtape.tools.ask.as_of import Diff
    from memtape.tools.ask.conflicts import Answered, ConflictList
    from memtape.tools.ask.context import FormName, ProjectContext
    from memtape.tools.ask.inspection import Explained, Opened, Whole
    from memtape.tools.ask.looking import By, EdgeList, Given, Session
    from memtape.tools.ask.ordering import SearchQuery
    from memtape.tools.ask.reading import Reader
    from memtape.tools.ask.results import Answer, Result
    from memtape.tools.ask.retrieval import Choose, Retriever
    from memtape.tools.ask.standing import Order
    from memtape.tools.ask.status import Stats, Status
    from memtape.tools.keep.embedding import EmbedderState

ReadT = TypeVar("ReadT")

MAX_SHOWN = 1_000
"""So many results a recall can name."""


class SearchOptions(TypedDict, total=False):
    """The options of a search, as `Asking.search` says."""

    filters: Filters | None
    without: Collection[Lane]
    quiet: bool
    as_of: str | None
    explain: bool
    valid_at: int | None
    archived: bool
    quotas: Sequence[str]
    cursor: str | None
    deep: bool


def search_options(now_us: int, given: Mapping[str, Any]) -> SearchOptions:
    """Return the options of a search from arguments by name, with filters and times as commands and tools take them."""
    options: dict[str, Any] = {name: given[name] for name in SearchOptions.__annotations__ if name in given}
    if isinstance(then := given.get("valid_at"), str):
        options["valid_at"] = parse_time(then, now_us)
    options["filters"] = make_filters(now_us, **{name: given[name] for name in FILTERS if name in given})
    return cast(SearchOptions, options)


class Asking(Writer):
    """A writer that also reads: its questions, answered from the views, and recorded where an event is due."""

    _confined = False
    _wakes = True

    @cached_property
    def reader(self) -> Reader:
        """The reader of the views; its creation loads LanceDB's libraries."""
        return ask.reading.Reader(self.home, self.log)

    @property
    def _ids(self) -> Ids:
        return Ids(self.log, self.scope, self._confined)

    def search(self, query: str, limit: int = 10, **options: Unpack[SearchOptions]) -> Answer:
        """Return the results of the scope and of `global` for a query, best first.

        Pending events are projected first if quick; else the answer covers them by words and has the lag of
        the views. Unless `quiet`, a `recalled` event is appended, if the project has anything. With `as_of`
        (a position or a time) the past answers; with `valid_at` (microseconds) the facts valid then answer, as
        known now. Both append nothing. `without` names lanes to leave out, `filters`
        (`state.views.filters.make_filters`) restrict the results, `explain` adds the reading of the question,
        and `archived` finds archived texts too. Summaries follow few results (`Result.sums`). `quotas` give the
        most results of a source, as `turns=3`. `cursor` is the `next` of an answer to the same question; raises
        `MemtapeError` for a damaged cursor, or one of another question, scope or home. A `deep` search looks up
        to three times, follows edges, and has one page (`Answer.trace`); it may ask a configured model.
        """
        asked, as_of, cursor = self._search_query(query, limit, options), options.get("as_of"), options.get("cursor")
        began_ns = ask.measuring.began(self.door)
        answer = self._read(lambda views, scope: ask.retrieval.page_of(views, self.log, scope, asked, cursor), as_of)
        unkept = () if self.profile.keeps else (self.profile.told,)
        answer = answer._replace(warnings=(*unkept, *self.reader.notes, *answer.warnings))
        self.reader.notes.clear()
        if options.get("quiet") or as_of is not None or asked.valid_at is not None:
            return answer
        recorded = self._append_recall(recalled(asked.query, limit, asked.filters, answer))
        if self.silence() is None:
            ask.measuring.note_recall(self.home, self.door, answer, began_ns)
        return answer._replace(recall_id=recorded)

    def _search_query(self, query: str, limit: int, options: SearchOptions) -> SearchQuery:
        """Return a question as it is asked and recorded: of a secret it has the placeholder. Raises `MemtapeError`."""
        check_asked(query, limit)
        filters, deep = options.get("filters") or NO_FILTERS, None
        check_filters(filters)
        query, filters = self.redactor.question(query), self.redactor.part(filters)
        if not query:
            raise MemtapeError("The query is private as a whole.", "Ask for something outside of <private>…</private>.")
        if options.get("deep"):
            deep = ask.deep.judge_of(self.home, self.redactor)
        return ask.ordering.SearchQuery(
            query,
            filters,
            lanes_left(options.get("without", ())),
            explain=options.get("explain", False),
            session=self.session,
            valid_at=options.get("valid_at"),
            deep=deep,
            limit=limit,
            archived=options.get("archived", False),
            quotas=ask.ordering.quotas_of(options.get("quotas", ())),
        )

    def offer(self, prompt: str, sure: Choose, limit: int) -> Answer:
        """Return the `sure` ones of the best results for a prompt, from the loaded texts; append nothing."""
        prompt, scope = self.redactor.question(prompt), self.scope
        return self.reader.held(lambda views: views.offer(scope, prompt, limit, sure))

    def handed_out(self, prompt: str, answer: Answer, tokens: int = 0) -> str | None:
        """Append the results that an agent was shown unasked; return the event's id, None without a scope.

        `tokens` is the length of the shown text.
        """
        body = recalled(self.redactor.question(prompt), len(answer.results), NO_FILTERS, answer)
        lanes = (*body.lanes, *unasked_lanes("prompt", tokens))
        return self._append_recall(msgspec.structs.replace(body, lanes=lanes))

    def handed_start(self, context: ProjectContext) -> str | None:
        """Append which memories the context of a start has shown; return the event's id, None where it has none."""
        shown = context.ids[:MAX_SHOWN]
        if not shown:
            return None
        answer = ask.results.Answer([], context.watermark, context.lag, context.revision, context.now, {})
        lanes = unasked_lanes("start", context.tokens)
        body = msgspec.structs.replace(recalled("", len(shown), NO_FILTERS, answer), lanes=lanes, results=shown)
        return self._append_recall(body)

    def _append_recall(self, body: Recalled) -> str | None:
        if not self.is_made() or self.silence() is not None:
            return None
        return self.append("recalled", body, self.scope).id

    def recent(self, limit: int = 10, *, kinds: Sequence[Kind] = ()) -> list[Result]:
        """Return the latest texts of this scope, latest first: of these kinds, by default all but turns."""
        return self._read(lambda views, scope: ask.looking.recent_of(views, scope, limit, kinds))

    def timeline(self, around: str, limit: int = 10) -> list[Result]:
        """Return the texts around a memory or turn, by its id, or around a time, in order.

        A time is ISO 8601 or an age as 3d. Raises `NotFound`.
        """
        now = now_us()
        if is_time(around, now):
            return self._read(lambda views, scope: ask.looking.timeline_of(views, scope, around, limit, now))
        return self._read_of(around, lambda views, scope, id: ask.looking.timeline_of(views, scope, id, limit, now))

    def sessions(self, limit: int = 10) -> list[Session]:
        """Return the sessions of this scope, the last active first."""
        return self._read(lambda views, scope: ask.looking.sessions_of(views, scope, limit))

    def session_turns(self, session: str) -> list[Result]:
        """Return the turns of a session of this scope, in their order. Raises `NotFound`."""
        return self._read(lambda views, scope: ask.looking.session_of(views, scope, session))

    def given(
        self,
        limit: int = 20,
        *,
        session: str | None = None,
        since: str | None = None,
        searches: bool = False,
        by: By | None = None,
        words: str = "",
    ) -> list[Given]:
        """Return the memories given unasked to agents of this scope, at starts and with prompts, latest
        first.

        `session` selects one session. `since` is ISO 8601 or an age as 3d. `searches` includes results of
        searches. `by` selects one occasion, `words` the questions with these words.
        """
        ways = (by,) if by is not None else ask.looking.EVERY_WAY if searches else UNASKED
        after = None if since is None else parse_time(since, now_us())
        text = words.casefold()
        return self._read(lambda views, scope: ask.looking.given_of(views, scope, limit, session, after, ways, text))

    def prepare(self) -> None:
        """Load the texts and vectors for a search in this scope."""
        self.reader.held(lambda views: views.prepare(self.scope))

    def take_over(self, other: Asking) -> None:
        """Share the loaded texts of another client of the same home."""
        self.reader.retriever.take_over(other.reader.retriever)

    @property
    def has_read(self) -> bool:
        """Whether a reader was created."""
        return "reader" in vars(self)

    def let_go(self) -> None:
        """Drop the loaded texts; the next search loads or shares them again."""
        self.reader.retriever.let_go()

    def show(self, id: str, *, as_of: str | None = None) -> Opened:
        """Return the memory or turn that an id resolves to, whole, now or in the past. Raises `NotFound`."""
        return self._read_of(id, ask.inspection.opened, as_of)

    def whole(self, id: str, *, as_of: str | None = None) -> Whole:
        """Return the document of a part's id, as on the log, or the whole text of one event.

        Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
        """
        return self._read_of(id, ask.inspection.whole_document, as_of)

    def why(self, id: str) -> Explained:
        """Return every event behind a memory. Raises `NotFound`."""
        return self._read_of(id, ask.inspection.explained)

    def edges(self, id: str, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of a memory or turn, the strongest first. Raises `NotFound`."""
        return self._read_of(id, ask.looking.edges_of, as_of)

    def edge_candidates(self, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of this scope proposed as curated edges; nothing writes them automatically."""
        return self._read(lambda views, scope: ask.looking.edges_of(views, scope, proposed=True), as_of)

    def all_edges(self, *, as_of: str | None = None) -> EdgeList:
        """Return every edge of this scope between visible memories."""
        return self._read(ask.looking.edges_of, as_of)

    def conflicts(self, *, settled: bool = False) -> ConflictList:
        """Return the conflicts of the scope and of `global` that wait for people, with `settled` also all others."""
        return self._read(lambda views, scope: ask.conflicts.conflicts_of(views, scope, settled))

    def context(
        self,
        budget_tokens: int = 2_000,
        form: FormName = "prompt",
        *,
        as_of: str | None = None,
        as_is: bool = False,
        since: int | None = None,
    ) -> ProjectContext:
        """Return the context of a starting agent, without a query, in at most `budget_tokens` tokens.

        The context is of this scope and `global`. `form` is for a system prompt, or a marked section of
        `AGENTS.md` or `GEMINI.md`. With `as_is` nothing is projected first, for callers that cannot wait;
        pending events are read from the log. With `since`, a time in microseconds, it has only later captures
        of other sessions.
        """
        is_told = form == "prompt" and as_of is None
        last = tuple(filter(None, (self.profile.told, str(self.silence() or "")))) if is_told else ()

        def read(views: Retriever, scope: str) -> ProjectContext:
            return ask.context.context_of(views, scope, budget_tokens, form, self.session, since, last)

        if as_is:
            self._wake(self.scope)
            return self.reader.held(lambda views: read(views, self.scope))
        return self._read(read, as_of)

    def stale(self, limit: int = 10) -> list[MemoryRow]:
        """Return the stale memories of this scope and `global`, the most used first; archive nothing."""
        return self._read(lambda views, scope: ask.looking.stale_of(views, scope, limit))

    def pages(self, *, as_of: str | None = None) -> list[PageRow]:
        """Return the pages of this scope as the views have them; the root too, where there is any page."""
        return self._read(ask.looking.pages_of, as_of)

    def pinned(self) -> list[MemoryRow | TurnRow]:
        """Return the pinned memories and turns of this scope and of `global`, the latest first."""
        return self._read(ask.looking.pinned_of)

    def hidden(self, limit: int = 100) -> list[MemoryRow | TurnRow]:
        """Return the forgotten and withdrawn units of this scope and of `global` that can be restored."""
        return self._read(lambda views, scope: ask.looking.hidden_of(views, scope, limit))

    def orders(self) -> list[Order]:
        """Return people's orders about memory, as "never mention X again", in this scope and `global`."""
        return self._read(ask.looking.orders_of)

    def proposals(self) -> list[tuple[Proposal, Answered]]:
        """Return the rules of this scope proposed to people, the latest first, each with its status.

        They were said for all projects, or are in text that may be pasted.
        """
        return self._read(ask.conflicts.answers_of)

    def archived(self, limit: int = 20, *, purged: bool = False, on_read: OnRead = lambda done: None) -> ArchiveList:
        """Return the archived texts of the scope and of `global`, the latest first.

        With `purged` they are only those that left the views. `on_read` gets the number of texts read so far.
        """
        return self.reader.read(
            lambda views: ask.archived.archived_of(views, self.scope, limit, purged=purged, on_read=on_read), self.scope
        )

    def compare(self, retrievers: Sequence[str] = (), limit: int = 1_000, on_phase: OnPhase = lambda *_: None) -> Any:
        """Ask the scope's latest searches again of retrievers, as `tools.ask.comparing` says; by default of all."""
        compare = ask.comparing.compare
        return self._read(lambda views, scope: compare(views, self.log, scope, retrievers, limit, on_phase))

    def compare_shadows(self) -> Any:
        """Return the results of shadow retrievers beside the scope's answers, as `tools.ask.comparing`."""
        return self._read(lambda views, scope: ask.comparing.compare_shadows(self.log, scope))

    def held(self, *, as_of: str | None = None) -> ScopeHeld:
        """Return how much the scope shows, now or in the past."""
        return self._read(lambda views, scope: views.held(scope), as_of)

    def diff(self, before: str, after: str, *, scope: str | None = None) -> Diff:
        """Return the changes between two positions or times, in one scope or in all."""
        return ask.as_of.diff(self.home, self.log, before, after, scope)

    def status(self, *, as_of: str | None = None) -> Status:
        """Return counts, positions and lag of the whole home, now or in the past."""
        profile = self.profile.name
        if as_of is None:
            return self.reader.held(lambda views: ask.status.status(self.home, self.log, views, profile))
        return self._read(lambda views, _: ask.status.status(self.home, self.log, views, profile), as_of)

    def stats(
        self,
        since_us: int,
        scope: str | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Stats:
        """Return daily counts of captures, searches, uses and folds since a time (us), of one scope or the
        home.
        """
        stats_of = ask.status.stats_of
        return self.reader.held(lambda views: stats_of(self.log, views, scope, since_us, now_us(), on_progress))

    def embedder(self) -> EmbedderState:
        """Return the deciding embedder, the one opened on this machine, and the number of waiting texts."""
        from memtape.tools.keep.embedding import embedder_state

        counters = self.reader.held(lambda views: ask.status.counted(self.home, self.log, views))
        return embedder_state(self.home, self.log, counters, opened=True)

    def _read(
        self, action: Callable[[Retriever, str], ReadT], as_of: str | None = None, scope: str | None = None
    ) -> ReadT:
        """Return the result of an action on the views and a scope, by default this one."""
        scope = scope or self.scope
        if as_of is None:
            self._wake(scope)
        return self.reader.read(lambda views: action(views, scope), scope, as_of)

    def _read_of(self, id: str, action: Callable[[Retriever, str, str], ReadT], as_of: str | None = None) -> ReadT:
        """Return the result of an action on the views, the scope of an id, and the whole id."""
        return self._ids.within(
            id, lambda scope, id: self._read(lambda views, scope: action(views, scope, id), as_of, scope)
        )

    def _wake(self, scope: str) -> None:
        """Append that a sleeping project is active again: searches then read all of its texts.

        Does nothing where nothing is stored now, or where reading must not wake a project.
        """
        if self._wakes and self.reader.is_asleep(scope) and self.silence() is None:
            self.append("scope_changed", ScopeChanged(git_at=None, name=None, state="active"), scope)
            self.reader.awaken(scope)


def is_time(around: str, now_us: int) -> bool:
    """Whether a moment is named by a time, and not by an id."""
    try:
        parse_time(around, now_us)
    except MemtapeError:
        return False
    return True


def lanes_left(without: Collection[Lane]) -> tuple[Lane, ...]:
    """Return the lanes left. Raises `MemtapeError` for none."""
    lanes = tuple(lane for lane in LANES if lane not in without)
    if not lanes:
        raise MemtapeError("Every lane is left out.", f"Keep one of {', '.join(LANES)}.")
    return lanes


def recalled(query: str, limit: int, filters: Filters, answer: Answer) -> Recalled:
    """Return the body of a `recalled` event: the question and the returned captures; summaries have none."""
    return Recalled(
        after=answer.after,
        filters=filters,
        lanes=tuple(answer.lanes),
        limit=limit,
        now=answer.now,
        passes=max((taken.look for taken in answer.trace), default=1),
        query=query,
        quotas=dict(answer.quotas),
        results=tuple(result.id for result in answer.results if not result.sums),
        revision=answer.revision,
        trace=answer.trace,
        watermark=answer.watermark,
    )


def check_asked(query: object, limit: object) -> None:
    """Raise `MemtapeError` for an invalid query or limit of any type."""
    if not isinstance(query, str):
        raise MemtapeError(f"The query is of type {type(query).__name__}.", "Give a text of what to look for.")
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_SHOWN:
        raise MemtapeError(f"A limit of {limit!r:.40} is not a whole number from 1 to {MAX_SHOWN}.", "Give another.")
    if len(query) > MAX_TEXT_BYTES:
        told = f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked."
        raise MemtapeError(told, "Ask for less.")
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")
