"""The Python client: every verb of Memtape on one home. The commands are a thin shell over it.

```python
from memtape import Client

with Client(scope="project:demo", actor="Ada", origin="user") as memory:
    memory.capture("The staging database listens on port 5433.")
    print(memory.search("staging port").results[0].text)
```

Each verb is a few lines here, and what it does stands with its subject. Nothing that reads views is imported before a
verb needs it, since whoever only captures must not wait for LanceDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Body, Filters, Forgotten, Origin, Pinned, Restored, Unfolded, Used
from memtape.schemas.lanes import Lane
from memtape.schemas.log import Log, Slot
from memtape.schemas.scopes import GLOBAL
from memtape.sinks.home.folders import Home, default_home
from memtape.sinks.logs.opening import open_log
from memtape.state.views.filters import NO_FILTERS, check_filters
from memtape.tools.ask.naming import Ids, is_whole, the_one
from memtape.tools.capture.lines import check_label
from memtape.tools.capture.project import Began
from memtape.tools.capture.writing import Receipt, Writer, now_us

if TYPE_CHECKING:
    from memtape.tools.ask.context import Context, FormName
    from memtape.tools.ask.diff import Diff
    from memtape.tools.ask.edges import EdgeList
    from memtape.tools.ask.inspection import Explained, Opened, Status
    from memtape.tools.ask.reading import Reader
    from memtape.tools.ask.retrieval import Answer, Result
    from memtape.tools.keep.embedder_state import EmbedderState
    from memtape.tools.keep.erasing import Erasure, Plan
    from memtape.tools.keep.rebuild import OnPhase
    from memtape.tools.keep.verify import Verdict

OFFERED_FROM = 20
"""So many of the best results are looked at for what a prompt surely needs."""


class Found(NamedTuple):
    """What a search answered, and the id of the `recalled` event that says so (None where it was quiet)."""

    answer: Answer
    recall_id: str | None

    @property
    def results(self) -> list[Result]:
        """The results, best first."""
        return self.answer.results


class Client(Writer):
    """One door to a home, for one actor in one scope: a writer that also reads. Not for several threads at once.

    `home` is a folder, by default `$MEMTAPE_HOME` or the user's data folder. `log` is by default what `$MEMTAPE_LOG` or
    the home's settings name, else the log in the home itself. The rest is as for a `Writer`.

    An id may be given by its beginning, of eight characters or more. A client whose scope is named, or that is
    `confined`, takes ids of its scope and `global` alone; any other finds the scope in which an id stands.
    """

    def __init__(
        self,
        home: Home | str | os.PathLike[str] | None = None,
        *,
        scope: str | None = None,
        actor: str | None = None,
        origin: Origin = "agent",
        session: str | None = None,
        log: Log | None = None,
        folder: Path | None = None,
        began: Began | None = None,
        confined: bool = False,
    ) -> None:
        place = home if isinstance(home, Home) else Home(Path(home) if home is not None else default_home())
        opened = open_log(place) if log is None else log
        super().__init__(
            place, opened, scope=scope, actor=actor, origin=origin, session=session, folder=folder, began=began
        )
        self._owns_log = log is None
        self._ids = Ids(opened, lambda: self.scope, confined or scope is not None)
        self._reader: Reader | None = None

    @property
    def reader(self) -> Reader:
        """What reads the views; making it loads LanceDB's libraries."""
        if self._reader is None:
            from memtape.tools.ask.reading import Reader

            self._reader = Reader(self.home, self.log)
        return self._reader

    # --- Questions ---

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        filters: Filters | None = None,
        quiet: bool = False,
        as_of: str | None = None,
        without: Collection[Lane] = (),
        explain: bool = False,
    ) -> Found:
        """Return what the scope and `global` know of a query, best first.

        What is pending is projected first where that is quick; otherwise the answer covers it by words and says how far
        the views are behind. Unless `quiet`, a `recalled` event is appended, if the project has anything. With `as_of`,
        a position or a time, the past answers, and nothing is appended. `without` names lanes to leave out, `filters`
        (`state.views.filters.make_filters`) say what may be returned. With `explain` every result has the parts of its
        relevance, and the answer how the question was read.
        """
        from memtape.tools.ask.asking import check_asked, lanes_left

        check_asked(query, limit)
        filters = filters or NO_FILTERS
        check_filters(filters)
        # What is asked is what is recorded; of a secret both have the placeholder, which is that of the captured one.
        query, filters, lanes = self.redactor.question(query), self.redactor.part(filters), lanes_left(without)
        views = self.reader.at(as_of, self.scope)
        answer = views.reading(lambda: views.search(self.scope, query, limit, filters, lanes, explain=explain))
        answer = answer._replace(warnings=(*self.reader.notes, *answer.warnings))
        self.reader.notes.clear()
        if quiet or as_of is not None:
            return Found(answer, None)
        return Found(answer, self._record(query, limit, filters, answer))

    def offer(self, prompt: str, sure: Callable[[Result], bool], limit: int) -> Answer:
        """Return those of the best results for a prompt that are `sure`, from what is held ready.

        Nobody asked, so nothing is projected first, and `handed_out` says what of it an agent was shown.
        """
        prompt, views = self.redactor.question(prompt), self.reader.retriever
        answer = views.reading(lambda: views.search(self.scope, prompt, OFFERED_FROM, NO_FILTERS, held=True))
        return answer._replace(results=[result for result in answer.results if sure(result)][:limit])

    def handed_out(self, prompt: str, answer: Answer) -> str | None:
        """Put on the log which results an agent was shown that did not ask, and return the id of the event.

        None where the scope does not exist yet.
        """
        return self._record(self.redactor.question(prompt), len(answer.results), NO_FILTERS, answer)

    def _record(self, query: str, limit: int, filters: Filters, answer: Answer) -> str | None:
        from memtape.tools.ask.asking import recalled

        return (
            self.append("recalled", recalled(query, limit, filters, answer), self.scope).id if self.is_made() else None
        )

    def prepare(self) -> None:
        """Read what a search in this scope reads."""
        views = self.reader.retriever
        views.reading(lambda: views.prepare(self.scope))

    def take_over(self, other: Client) -> None:
        """Hold ready what another client of the same home has read."""
        self.reader.retriever.take_over(other.reader.retriever)

    def show(self, id: str, *, as_of: str | None = None) -> Opened:
        """Return the memory or turn that an id resolves to, whole, now or in the past. Raises `NotFound`."""
        from memtape.tools.ask.inspection import opened

        def open_in(scope: str, id: str) -> Opened:
            views = self.reader.at(as_of, scope)
            return views.reading(lambda: opened(views, scope, id))

        return self._ids.within(id, open_in)

    def why(self, id: str) -> Explained:
        """Return every event behind a memory. Raises `NotFound`."""
        from memtape.tools.ask.inspection import explained

        def explain_in(scope: str, id: str) -> Explained:
            views = self.reader.at(None, scope)
            return views.reading(lambda: explained(views, self.log, scope, id))

        return self._ids.within(id, explain_in)

    def context(
        self, budget_tokens: int = 2_000, form: FormName = "prompt", *, as_of: str | None = None, as_is: bool = False
    ) -> Context:
        """Return what a starting agent should know, without a query, in at most so many tokens.

        Standing instructions of people come first, then goal, plan, what holds and what happened lately, of this scope
        and `global`. `form` is for a system prompt, or a marked section of `AGENTS.md` or `GEMINI.md`. With `as_is`
        nothing is projected first, for who cannot wait; what is pending is read from the log.
        """
        from memtape.tools.ask.context import context_of

        views = self.reader.retriever if as_is else self.reader.at(as_of, self.scope)
        return views.reading(lambda: context_of(views, self.scope, budget_tokens, form))

    def edges(self, id: str, *, as_of: str | None = None) -> EdgeList:
        """Return what was used together with a memory or turn, the strongest first, now or in the past.

        Raises `NotFound`.
        """
        from memtape.tools.ask.edges import edges_of

        def edges_in(scope: str, id: str) -> EdgeList:
            views = self.reader.at(as_of, scope)
            return views.reading(lambda: edges_of(views, scope, id))

        return self._ids.within(id, edges_in)

    def edge_candidates(self, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of this scope that are proposed for curated ones; nothing writes them by itself."""
        from memtape.tools.ask.edges import proposed

        views = self.reader.at(as_of, self.scope)
        return views.reading(lambda: proposed(views, self.scope))

    def compare(self, retrievers: Sequence[str] = (), limit: int = 1_000, on_phase: OnPhase = lambda *_: None) -> Any:
        """Ask the scope's latest searches again of retrievers, as `tools.ask.comparing` says; by default of all."""
        from memtape.tools.ask.comparing import compare

        views = self.reader.at(None, self.scope)
        return views.reading(lambda: compare(views, self.log, self.scope, retrievers, limit, on_phase))

    def diff(self, before: str, after: str, *, scope: str | None = None) -> Diff:
        """Return what changed between two positions or times, in one scope or in all."""
        from memtape.tools.ask.as_of import parse_position
        from memtape.tools.ask.diff import diff

        now = now_us()
        first, second = (parse_position(text, self.log, now) for text in (before, after))
        return diff(self.home, self.log, first, second, scope)

    # --- What people and agents decide ---

    def use(self, ids: Sequence[str], recall: str | None = None) -> Receipt:
        """Say which recalled ids shaped an answer, and of which recall (`Found.recall_id`); return the receipt.

        It stands in this scope also where a memory of `global` was used, and counts in this scope alone; of another
        scope's memories it stands in theirs. Raises `NotFound` for an id that is nowhere, and `MemtapeError` for none
        at all and for those of several scopes.
        """
        if not ids:
            raise MemtapeError("No id was named.", "Name the ids of results that shaped the answer.")
        if recall is not None and not is_whole(recall):
            _, recall = self._ids.meant(recall, ("recalled",))
        stands = dict(self._ids.within(given, self._place) for given in dict.fromkeys(ids))
        scope = the_one(self.scope if scope == GLOBAL else scope for scope in stands.values())
        used = Used(ids=tuple(stands), recall=recall)
        return self.append("used", used, self.made_scope() if scope == self.scope else scope)

    def _place(self, scope: str, id: str) -> tuple[str, str]:
        """Return a whole id that a scope reads, and the scope in which it stands."""
        views = self.reader.at(None, scope)
        return id, views.reading(lambda: views.find(scope, id)).scope or scope

    def forget(self, id: str, *, only: bool = False, reason: str | None = None) -> list[str]:
        """Hide a memory (every capture that is it) or a turn, until it is restored; return the ids that were named.

        With `only` one capture is named; of a long-term kind its text stays banned all the same.
        """
        check_label("reason", reason)
        return self._decide(id, only, lambda ids: ("forgotten", Forgotten(ids=ids, reason=reason)))

    def restore(self, id: str, *, reason: str | None = None) -> list[str]:
        """End what hides a memory or turn and return the ids that were named."""
        check_label("reason", reason)
        return self._decide(id, False, lambda ids: ("restored", Restored(ids=ids, reason=reason)))

    def pin(self, id: str) -> list[str]:
        """Pin a memory or turn, so that it stays at hand whatever its age; return the ids that were named."""
        return self._decide(id, True, lambda ids: ("pinned", Pinned(ids=ids, on=True)))

    def unpin(self, id: str) -> list[str]:
        """End the pins on every capture that is a memory, or on a turn; return the ids that were named."""
        return self._decide(id, False, lambda ids: ("pinned", Pinned(ids=ids, on=False)))

    def _decide(self, id: str, only: bool, said: Callable[[tuple[str, ...]], tuple[str, Body]]) -> list[str]:
        """Append what is said of every capture that is a memory, or of one `only`; return the ids that were named."""
        from memtape.tools.ask.inspection import ids_behind

        def ids_in(scope: str, id: str) -> tuple[str, tuple[str, tuple[str, ...]]]:
            views = self.reader.at(None, scope)
            return id, views.reading(lambda: ids_behind(views, scope, id))

        id, (scope, ids) = self._ids.within(id, ids_in)
        named = (id,) if only else ids
        self.append(*said(named), scope)
        return list(named)

    def unfold(self, id: str, *, only: bool = False) -> list[str]:
        """Split a memory for good: each of its captures becomes one of its own, or with `only` just this one.

        Returns the ids that were named. Raises `NotFound`, and `MemtapeError` where nothing was folded.
        """
        from memtape.tools.ask.inspection import members_of

        def members_in(scope: str, id: str) -> tuple[str, tuple[str, tuple[str, ...]]]:
            views = self.reader.at(None, scope)
            return id, views.reading(lambda: members_of(views, scope, id))

        id, (scope, members) = self._ids.within(id, members_in)
        if len(members) < 2 or (only and id not in members):
            raise MemtapeError(f"Nothing is folded into {id}.", "`memtape why` shows what a memory is made of.")
        named = [id] if only else list(members)
        self.append("unfolded", Unfolded(ids=tuple(named)), scope)
        return named

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which events stand, captures or recalls, and their whole ids.

        Raises `NotFound`, and `MemtapeError` for those of several scopes.
        """
        return self._ids.of_one_scope(ids)

    # --- Keeping the home ---

    def erase(
        self, made: Plan, on_phase: OnPhase = lambda *_: None, on_note: Callable[[str], None] = lambda note: None
    ) -> Erasure:
        """Erase for good what `tools.keep.erasing.plan` has planned, and return the proof. Raises `StillHeld`."""
        from memtape.tools.keep.erasing import erase

        return erase(self.home, self.log, made, self.append, on_phase, on_note)

    def status(self, *, as_of: str | None = None) -> Status:
        """Return counts, positions and lag of the whole home, now or in the past."""
        from memtape.tools.ask.inspection import status

        views = self.reader.retriever if as_of is None else self.reader.at(as_of, self.scope)
        return views.reading(lambda: status(self.home, self.log, views))

    def read_log(self, partition: int, offset: int, limit: int, types: Sequence[str] = ()) -> list[Slot]:
        """Return slots of the log as they are, from an offset on."""
        return self.log.read(partition, offset, limit, types=types)

    def verify(self, scope: str | None = None, on_progress: Callable[[int], None] | None = None) -> Verdict:
        """Replay the log and compare what it says with the views, of all scopes or one."""
        from memtape.tools.keep.verify import verify

        return verify(self.home, self.log, scope=scope, on_progress=on_progress)

    def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
        return self.reader.project(on_progress)

    def catch_up(self) -> None:
        """Project what is pending if that is quick and nobody else does, else start a projector in the background."""
        self.reader.catch_up(self.scope)

    def projected(self) -> int:
        """Return how many slots of the log the views are made from, so far as those can be read."""
        return sum(mark.offset for mark in self.reader.marks())

    def unread(self) -> int:
        """Return how many slots of the log stand behind the views' watermarks."""
        return sum(self.log.ends()) - self.projected()

    def unembedded(self) -> int:
        """Return how many texts that the views hold wait for a vector, so far as those can be read."""
        return self.reader.unembedded()

    def embedder(self) -> EmbedderState:
        """Return which embedder decides, what this machine has, which is opened for it, and how many texts wait."""
        from memtape.tools.ask.inspection import counted
        from memtape.tools.keep.embedder_state import embedder_state

        views = self.reader.retriever
        counters = views.reading(lambda: counted(self.home, self.log, views))
        return embedder_state(self.home, self.log, counters, opened=True)

    def close(self) -> None:
        """Close the log, unless it was handed in."""
        if self._owns_log:
            self.log.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
