"""Questions: their checks, the answer from the views, and the event about the question and its results.

The imports of a single kind of question happen at its use, since a hook only searches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import MAX_TEXT_BYTES, Filters, Kind, Recalled, ScopeChanged
from memtape.schemas.lanes import LANES, UNASKED, Lane, unasked_lanes
from memtape.schemas.times import parse_time
from memtape.state.views.filters import NO_FILTERS, check_filters
from memtape.tools.ask.measuring import began, note_recall
from memtape.tools.capture.writing import now_us

if TYPE_CHECKING:
    from memtape.schemas.rows import MemoryRow, PageRow, ScopeHeld, TurnRow
    from memtape.state.views.proposals import Proposal
    from memtape.tools.ask.conflicts import ConflictList
    from memtape.tools.ask.context import FormName, ProjectContext
    from memtape.tools.ask.deep import Deepening
    from memtape.tools.ask.diff import Diff
    from memtape.tools.ask.documents import Whole
    from memtape.tools.ask.edges import EdgeList
    from memtape.tools.ask.given import By, Given
    from memtape.tools.ask.inspection import Explained, Opened
    from memtape.tools.ask.listing import Stale
    from memtape.tools.ask.looking import Session
    from memtape.tools.ask.naming import Ids
    from memtape.tools.ask.proposals import Answered
    from memtape.tools.ask.reading import Reader
    from memtape.tools.ask.results import Result
    from memtape.tools.ask.retrieval import Answer, Choose, Retriever
    from memtape.tools.ask.standing import Order
    from memtape.tools.ask.status import Status
    from memtape.tools.capture.writing import Writer
    from memtape.tools.keep.embedder_state import EmbedderState
    from memtape.tools.keep.rebuild import OnPhase

ReadT = TypeVar("ReadT")

MAX_SHOWN = 1_000
"""So many results a recall can name."""


class Found(NamedTuple):
    """The answer of a search, and the id of its `recalled` event (None for a quiet search)."""

    answer: Answer
    recall_id: str | None

    @property
    def results(self) -> list[Result]:
        """The results, best first."""
        return self.answer.results


class SearchOptions(NamedTuple):
    """The options of a search, as in `Client.search`."""

    without: Collection[Lane] = ()
    quiet: bool = False
    as_of: str | None = None
    explain: bool = False
    valid_at: int | None = None
    archived: bool = False
    quotas: Sequence[str] = ()
    cursor: str | None = None
    deep: bool = False


class Asking:
    """The questions of a caller in one scope: read from the views, and recorded where an event is due."""

    def __init__(self, writer: Writer, ids: Ids, reader: Reader, *, wakes: bool = True) -> None:
        self._writer = writer
        self._wakes = wakes
        self._ids = ids
        self._reader = reader
        self._home, self._log = writer.home, writer.log

    def search(
        self,
        query: str,
        limit: int,
        filters: Filters | None,
        options: SearchOptions,
    ) -> Found:
        """Search, and append the question and its results, as `Client.search`."""
        check_asked(query, limit)
        filters = filters or NO_FILTERS
        check_filters(filters)
        from memtape.tools.ask.ordering import SearchQuery
        from memtape.tools.ask.paging import Paged, first_page, next_page
        from memtape.tools.ask.sources import quotas_of

        limits, valid_at = quotas_of(options.quotas), options.valid_at
        lanes, redactor, session = lanes_left(options.without), self._writer.redactor, self._writer.session
        # What is asked is what is recorded; of a secret both have the placeholder, which is that of the captured one.
        query, filters = redactor.question(query), redactor.part(filters)
        if not query:
            raise MemtapeError("The query is private as a whole.", "Ask for something outside of <private>…</private>.")
        deepening = self._deepening() if options.deep else None
        is_past = options.quiet or options.as_of is not None or valid_at is not None
        began_ns = began(self._writer.door)

        def page_of(views: Retriever, scope: str) -> Answer:
            asked = SearchQuery(
                query, filters, lanes, options.explain, session=session, valid_at=valid_at, deep=deepening
            )
            paged = Paged(scope, asked, limit, options.archived, limits)
            if options.cursor is None:
                return first_page(views, self._log, paged)
            return next_page(views, self._log, paged, options.cursor)

        answer = self._read(page_of, options.as_of)
        profile = self._writer.profile
        unkept = () if profile.keeps else (profile.told,)
        answer = answer._replace(warnings=(*unkept, *self._reader.notes, *answer.warnings))
        self._reader.notes.clear()
        if is_past:
            return Found(answer, None)
        recorded = self._record(query, limit, filters, answer)
        if self._writer.silence() is None:
            note_recall(self._home, self._writer.door, answer, began_ns)
        return Found(answer, recorded)

    def _deepening(self) -> Deepening:
        """Return the parts of a deep search: a judge by the configured model, or by rules."""
        from memtape.tools.ask.deep import Deepening
        from memtape.tools.ask.deep_model import judge_of

        return Deepening(judge_of(self._home, self._writer.redactor))

    def offer(self, prompt: str, sure: Choose, limit: int) -> Answer:
        """Return the `sure` ones of the best results for a prompt, from the loaded texts."""
        prompt, scope = self._writer.redactor.question(prompt), self._writer.scope
        return self._reader.held(lambda views: views.offer(scope, prompt, limit, sure))

    def handed_out(self, prompt: str, answer: Answer, tokens: int) -> str | None:
        """Put on the log which results an agent was shown that did not ask, as `Client.handed_out` says."""
        body = recalled(self._writer.redactor.question(prompt), len(answer.results), NO_FILTERS, answer)
        lanes = (*body.lanes, *unasked_lanes("prompt", tokens))
        return self._append(msgspec.structs.replace(body, lanes=lanes))

    def handed_start(self, context: ProjectContext) -> str | None:
        """Put on the log which memories a start was shown, as `Client.handed_start` says."""
        shown = context.ids[:MAX_SHOWN]
        body = Recalled(
            after=0,
            filters=NO_FILTERS,
            lanes=unasked_lanes("start", context.tokens),
            limit=max(1, len(shown)),
            now=context.now,
            passes=1,
            query="",
            quotas={},
            results=shown,
            revision=context.revision,
            trace=(),
            watermark=context.watermark,
        )
        return self._append(body) if shown else None

    def recent(self, limit: int, kinds: Sequence[Kind]) -> list[Result]:
        """Return the latest texts."""
        from memtape.tools.ask.looking import recent_of

        return self._read(lambda views, scope: recent_of(views, scope, limit, kinds))

    def timeline(self, around: str, limit: int) -> list[Result]:
        """Return the turns and memories around an id or a time."""
        from memtape.tools.ask.looking import timeline_of

        now = now_us()
        if is_time(around, now):
            return self._read(lambda views, scope: timeline_of(views, scope, around, limit, now))
        return self._read_of(around, lambda views, scope, id: timeline_of(views, scope, id, limit, now))

    def sessions(self, limit: int) -> list[Session]:
        """Return the sessions, the latest first."""
        from memtape.tools.ask.looking import sessions_of

        return self._read(lambda views, scope: sessions_of(views, scope, limit))

    def session_turns(self, session: str) -> list[Result]:
        """Return the turns of a session."""
        from memtape.tools.ask.looking import session_of

        return self._read(lambda views, scope: session_of(views, scope, session))

    def given(
        self,
        limit: int,
        session: str | None,
        since: int | None,
        *,
        searches: bool,
        by: By | None,
        words: str,
    ) -> list[Given]:
        """Return the memories that agents were given unasked and, if `searches`, the results of searches."""
        from memtape.tools.ask.given import EVERY_WAY, Wanted, given_of

        ways = EVERY_WAY if searches else UNASKED
        wanted = Wanted(session, since, ways if by is None else (by,), words.casefold())
        return self._read(lambda views, scope: given_of(views, self._log, scope, limit, wanted))

    def _record(self, query: str, limit: int, filters: Filters, answer: Answer) -> str | None:
        return self._append(recalled(query, limit, filters, answer))

    def _append(self, body: Recalled) -> str | None:
        if not self._writer.is_made() or self._writer.silence() is not None:
            return None
        return self._writer.append("recalled", body, self._writer.scope).id

    def show(self, id: str, as_of: str | None) -> Opened:
        """Return the memory, turn, summary or capture of an id."""
        from memtape.tools.ask.inspection import opened

        return self._read_of(id, lambda views, scope, id: opened(views, self._log, scope, id), as_of)

    def whole(self, id: str, as_of: str | None) -> Whole:
        """Return the document of which an id names a part."""
        from memtape.tools.ask.documents import whole_document

        return self._read_of(id, lambda views, scope, id: whole_document(views, self._log, scope, id), as_of)

    def why(self, id: str) -> Explained:
        """Return every event behind a memory."""
        from memtape.tools.ask.inspection import explained

        return self._read_of(id, lambda views, scope, id: explained(views, self._log, scope, id))

    def edges(self, id: str, as_of: str | None) -> EdgeList:
        """Return the edges of a memory or turn."""
        from memtape.tools.ask.edges import edges_of

        return self._read_of(id, edges_of, as_of)

    def edge_candidates(self, as_of: str | None) -> EdgeList:
        """Return the edges that are proposed as curated edges."""
        from memtape.tools.ask.edges import proposed

        return self._read(proposed, as_of)

    def all_edges(self, as_of: str | None) -> EdgeList:
        """Return every edge between visible memories."""
        from memtape.tools.ask.edges import all_edges

        return self._read(all_edges, as_of)

    def conflicts(self, every: bool) -> ConflictList:
        """Return the pending conflicts of the scope and of `global`, or with `every` all."""
        from memtape.tools.ask.conflicts import conflicts_of

        return self._read(lambda views, scope: conflicts_of(views, scope, every))

    def context(
        self, budget_tokens: int, form: FormName, as_of: str | None, as_is: bool, since: int | None
    ) -> ProjectContext:
        """Return the context of a starting agent."""
        from memtape.tools.ask.context import context_of, ending_with

        silence = self._writer.silence() if form == "prompt" and as_of is None else None
        told = self._writer.profile.told if form == "prompt" and as_of is None else ""
        last = "\n".join(filter(None, (told, str(silence or ""))))

        def read(views: Retriever, scope: str) -> ProjectContext:
            def of(budget_tokens: int) -> ProjectContext:
                return context_of(views, scope, budget_tokens, form, session=self._writer.session, since=since)

            return ending_with(last, budget_tokens, of) if last else of(budget_tokens)

        if as_is:
            self._wake(self._writer.scope)
            return self._reader.held(lambda views: read(views, self._writer.scope))
        return self._read(read, as_of)

    def stale(self, limit: int) -> list[Stale]:
        """Return the stale memories."""
        from memtape.tools.ask.listing import stale_of

        return self._read(lambda views, scope: stale_of(views, scope, limit))

    def pages(self, as_of: str | None) -> list[PageRow]:
        """Return the pages of the scope."""
        from memtape.tools.ask.listing import pages_of

        return self._read(pages_of, as_of)

    def fresh_pages(self) -> list[PageRow] | None:
        """Return the pages of the scope, None where the views are behind. Listing pages wakes no project."""
        from memtape.tools.ask.listing import fresh_pages_of

        scope = self._writer.scope
        return self._reader.read(lambda views: fresh_pages_of(views, self._log, scope), scope)

    def pinned(self) -> list[MemoryRow | TurnRow]:
        """Return the pinned memories and turns."""
        from memtape.tools.ask.listing import pinned_of

        return self._read(lambda views, scope: pinned_of(views, self._log, scope))

    def hidden(self, limit: int) -> list[MemoryRow | TurnRow]:
        """Return the hidden memories and turns that can be restored."""
        from memtape.tools.ask.listing import hidden_of

        return self._read(lambda views, scope: hidden_of(views, scope, limit))

    def orders(self) -> list[Order]:
        """Return the orders of people about memory."""
        from memtape.tools.ask.listing import orders_of

        return self._read(orders_of)

    def proposals(self) -> list[tuple[Proposal, Answered]]:
        """Return the rules proposed to people."""
        from memtape.tools.ask.listing import proposals_of

        return self._read(proposals_of)

    def compare(self, retrievers: Sequence[str], limit: int, on_phase: OnPhase) -> Any:
        """Ask the latest searches again of retrievers."""
        from memtape.tools.ask.comparing import compare

        return self._read(lambda views, scope: compare(views, self._log, scope, retrievers, limit, on_phase))

    def compare_shadows(self) -> Any:
        """Return the results of shadows beside the answers."""
        from memtape.tools.ask.shadows import compare_shadows

        return self._read(lambda views, scope: compare_shadows(self._log, scope))

    def held(self, as_of: str | None) -> ScopeHeld:
        """Return how much the scope shows."""
        return self._read(lambda views, scope: views.held(scope), as_of)

    def diff(self, before: str, after: str, scope: str | None) -> Diff:
        """Return the changes between two positions or times."""
        from memtape.tools.ask.diff import diff

        return diff(self._home, self._log, before, after, scope)

    def status(self, as_of: str | None) -> Status:
        """Return counts, positions and lag of the whole home."""
        from memtape.tools.ask.status import status

        profile = self._writer.profile.name
        if as_of is None:
            return self._reader.held(lambda views: status(self._home, self._log, views, profile))
        return self._read(lambda views, _: status(self._home, self._log, views, profile), as_of)

    def embedder(self) -> EmbedderState:
        """Return the deciding embedder, the one opened on this machine, and the number of waiting texts."""
        from memtape.tools.ask.status import counted
        from memtape.tools.keep.embedder_state import embedder_state

        counters = self._reader.held(lambda views: counted(self._home, self._log, views))
        return embedder_state(self._home, self._log, counters, opened=True)

    def _read(self, action: Callable[[Retriever, str], ReadT], as_of: str | None = None) -> ReadT:
        """Return the result of an action on the views and the scope."""
        return self._read_in(self._writer.scope, action, as_of)

    def _read_in(self, scope: str, action: Callable[[Retriever, str], ReadT], as_of: str | None) -> ReadT:
        if as_of is None:
            self._wake(scope)
        return self._reader.read(lambda views: action(views, scope), scope, as_of)

    def _read_of(self, id: str, action: Callable[[Retriever, str, str], ReadT], as_of: str | None = None) -> ReadT:
        """Return the result of an action on the views, the scope of an id, and the whole id."""
        return self._ids.within(
            id, lambda scope, id: self._read_in(scope, lambda views, scope: action(views, scope, id), as_of)
        )

    def _wake(self, scope: str) -> None:
        """Append that a sleeping project is active again: searches then read all of its texts.

        Does nothing where nothing is stored now, or where reading must not wake a project.
        """
        if self._wakes and self._reader.is_asleep(scope) and self._writer.silence() is None:
            self._writer.append("scope_changed", ScopeChanged(git_at=None, name=None, state="active"), scope)
            self._reader.awaken(scope)


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
        raise MemtapeError(f"The query is not a text but {_named(query)}.", "Give a text of what to look for.")
    if not query.strip():
        raise MemtapeError("The query is empty.", "Say what to look for.")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 1_000:
        many = isinstance(limit, int) and limit > 1_000
        raise MemtapeError(
            f"A limit of {_named(limit)} is not a whole number between 1 and 1000.",
            "Ask for fewer, 1000 at most." if many else "Ask for one result or more, as limit 10.",
        )
    if len(query) > MAX_TEXT_BYTES:
        raise MemtapeError(
            f"The query has {len(query):,} characters; at most {MAX_TEXT_BYTES:,} can be asked.", "Ask for less."
        )
    if any("\ud800" <= char <= "\udfff" for char in query):
        raise MemtapeError("The query has half of a character (a lone surrogate).", "Ask in valid Unicode.")


def _named(given: object) -> str:
    """Return a value as text, short enough for a message."""
    if given is None:
        return "nothing"
    return str(given)[:40] if isinstance(given, (int, float)) else f"of type {type(given).__name__}"
