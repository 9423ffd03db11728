"""The Python client: every verb of Memtape on one home. The commands are a thin shell over it.

```python
from memtape import Client

with Client(scope="project:demo", actor="Ada", origin="user") as memory:
    memory.capture("The staging database listens on port 5433.")
    print(memory.search("staging port").results[0].text)
```

Each verb is a few lines here; its work is in the file of its subject. Readers of views are imported only when
a verb needs them, since a pure writer must not wait for LanceDB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import DEV_TAG, PRUNED_BEFORE, Filters, Kind, Origin, Pinned
from memtape.schemas.lanes import Lane
from memtape.schemas.log import Log, Slot
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import MIN_TIME_US, parse_time
from memtape.sinks.home.folders import Home, default_home
from memtape.sinks.logs.opening import open_log, passing_log
from memtape.tools.ask.naming import Ids
from memtape.tools.capture.first_settings import first_settings
from memtape.tools.capture.profiles import check_kept, profile_of
from memtape.tools.capture.project import Began
from memtape.tools.capture.writing import Receipt, Writer, now_us

if TYPE_CHECKING:
    from memtape.flows.workers.distill import Distilled
    from memtape.schemas.rows import MemoryRow, PageRow, ScopeHeld, TurnRow
    from memtape.state.views.ages import Age
    from memtape.state.views.proposals import Proposal
    from memtape.tools.ask.aging import Aging
    from memtape.tools.ask.archived import ArchiveList, OnRead
    from memtape.tools.ask.archiving import ArchivedNow, Archiving, Why
    from memtape.tools.ask.asking import Asking, Found
    from memtape.tools.ask.conflicts import ConflictList
    from memtape.tools.ask.context import FormName, ProjectContext
    from memtape.tools.ask.deciding import Deciding, RestoredIds, Settlement, Updated
    from memtape.tools.ask.diff import Diff
    from memtape.tools.ask.documents import Whole
    from memtape.tools.ask.edges import EdgeList
    from memtape.tools.ask.given import By, Given
    from memtape.tools.ask.inspection import Explained, Opened
    from memtape.tools.ask.listing import Stale
    from memtape.tools.ask.looking import Session
    from memtape.tools.ask.projects import Projects
    from memtape.tools.ask.proposals import Answered
    from memtape.tools.ask.reading import Reader
    from memtape.tools.ask.results import Result
    from memtape.tools.ask.retrieval import Answer, Choose
    from memtape.tools.ask.standing import Order
    from memtape.tools.ask.stats import Stats
    from memtape.tools.ask.status import Status
    from memtape.tools.ask.tree import Tree
    from memtape.tools.ask.tree_writing import TreeWriting
    from memtape.tools.keep.consolidating import Consolidated
    from memtape.tools.keep.embedder_state import EmbedderState
    from memtape.tools.keep.erasing import Erasure, ErasurePlan
    from memtape.tools.keep.pruning import Pruned
    from memtape.tools.keep.rebuild import OnPhase
    from memtape.tools.keep.refolding import Folding, Refolded
    from memtape.tools.keep.verify import Verification


class Client(Writer):
    """A client of a home, for one actor in one scope: a writer that also reads. For one thread at a time.

    `home` is a folder, by default `$MEMTAPE_HOME` or the user's data folder. `log` is by default the log
    named by `$MEMTAPE_LOG` or the home's settings, else the log in the home itself. The rest is as for a
    `Writer`. Under the profile `dev_no_persist` nothing is written and no home is read: all such clients of a
    home in a process share a log in memory, and actions that need a disk raise `MemtapeError`.

    An id may be given by its beginning, of eight characters or more. A client with a named scope, or a
    `confined` one, takes ids of its scope and `global` alone; any other client finds the scope of an id. A
    question to a project whose rows have left the views makes the project active again, unless `wakes` is
    false.
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
        profile: str | None = None,
        wakes: bool = True,
    ) -> None:
        path = home.path if isinstance(home, Home) else Path(home) if home is not None else default_home()
        asked = profile_of(path, profile)
        if asked.keeps:
            place = home if isinstance(home, Home) else Home(path)
            opened = open_log(place, partial(first_settings, place)) if log is None else log
        else:
            place, opened = Home.nowhere(), passing_log(path, log)
        super().__init__(
            place,
            opened,
            scope=scope,
            actor=actor,
            origin=origin,
            session=session,
            folder=folder,
            began=began,
            profile=asked.name,
        )
        self._owns_log = log is None
        self._confined = confined or scope is not None
        self._wakes = wakes

    @cached_property
    def reader(self) -> Reader:
        """The reader of the views; its creation loads LanceDB's libraries."""
        from memtape.tools.ask.reading import Reader

        return Reader(self.home, self.log)

    @property
    def _ids(self) -> Ids:
        # It is not kept: it has this client, and in a circle all that was read would outlive the last use.
        return Ids(self.log, lambda: self.scope, self._confined)

    @property
    def _asking(self) -> Asking:
        from memtape.tools.ask.asking import Asking

        return Asking(self, self._ids, self.reader, wakes=self._wakes)

    @property
    def _deciding(self) -> Deciding:
        from memtape.tools.ask.deciding import Deciding

        return Deciding(self, self._ids, lambda: self.reader)

    @property
    def _archiving(self) -> Archiving:
        from memtape.tools.ask.archiving import Archiving

        return Archiving(self, self._ids)

    @property
    def projects(self) -> Projects:
        """The projects of the home, and the possible changes of the whole scope."""
        from memtape.tools.ask.projects import Projects

        return Projects(self, lambda: self.reader)

    @property
    def tree(self) -> Tree:
        """The tree of pages of the scope, to be read."""
        from memtape.tools.ask.tree import Tree

        return Tree(self, self._asking.fresh_pages)

    @property
    def tree_writing(self) -> TreeWriting:
        """Changes of the scope's pages: writing, editing, moving, linking and mending."""
        from memtape.tools.ask.tree_writing import TreeWriting

        return TreeWriting(self)

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
        valid_at: int | None = None,
        archived: bool = False,
        quotas: Sequence[str] = (),
        cursor: str | None = None,
        deep: bool = False,
    ) -> Found:
        """Return the results of the scope and of `global` for a query, best first.

        Pending events are projected first if quick; else the answer covers them by words and has the lag of
        the views. Unless `quiet`, a `recalled` event is appended, if the project has anything. With `as_of`,
        a position or a time, the past answers, and nothing is appended. `without` names lanes to leave out,
        `filters` (`state.views.filters.make_filters`) restrict the results. `explain` adds the reading of the
        question. With `valid_at`, a time in microseconds, the facts valid then answer, as known now, and
        nothing is appended. With `archived` archived texts are found too. Below few results, summaries follow
        (`Result.sums`). `quotas` give the most results of a source, as `turns=3` (`tools.ask.sources`).
        `cursor` is the `next` of an answer to the same question, for the page after it. Raises `MemtapeError`
        for a damaged cursor, and for a cursor of another question, scope or home. A `deep` search looks up to
        three times, each time for texts not found before, follows edges, and has one page (`Answer.trace`); a
        configured model is asked which texts belong to the answer and which are missing.
        """
        from memtape.tools.ask.asking import SearchOptions

        options = SearchOptions(
            without=without,
            quiet=quiet,
            as_of=as_of,
            explain=explain,
            valid_at=valid_at,
            archived=archived,
            quotas=quotas,
            cursor=cursor,
            deep=deep,
        )
        return self._asking.search(query, limit, filters, options)

    def offer(self, prompt: str, sure: Choose, limit: int) -> Answer:
        """Return the `sure` ones of the best results for a prompt, from the loaded texts; append nothing."""
        return self._asking.offer(prompt, sure, limit)

    def handed_out(self, prompt: str, answer: Answer, tokens: int = 0) -> str | None:
        """Append the results that an agent was shown unasked; return the event's id, None without a scope.

        `tokens` is the length of the shown text.
        """
        return self._asking.handed_out(prompt, answer, tokens)

    def handed_start(self, context: ProjectContext) -> str | None:
        """Append which memories the context of a start has shown; return the event's id, None where it has none."""
        return self._asking.handed_start(context)

    def recent(self, limit: int = 10, *, kinds: Sequence[Kind] = ()) -> list[Result]:
        """Return the latest texts of this scope, latest first: of these kinds, by default all but turns."""
        return self._asking.recent(limit, kinds)

    def timeline(self, around: str, limit: int = 10) -> list[Result]:
        """Return the texts around a memory or turn, by its id, or around a time, in order.

        A time is ISO 8601 or an age as 3d. Raises `NotFound`.
        """
        return self._asking.timeline(around, limit)

    def sessions(self, limit: int = 10) -> list[Session]:
        """Return the sessions of this scope, the last active first."""
        return self._asking.sessions(limit)

    def session_turns(self, session: str) -> list[Result]:
        """Return the turns of a session of this scope, in their order. Raises `NotFound`."""
        return self._asking.session_turns(session)

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
        after = None if since is None else parse_time(since, now_us())
        return self._asking.given(limit, session, after, searches=searches, by=by, words=words)

    def prepare(self) -> None:
        """Load the texts and vectors for a search in this scope."""
        self.reader.held(lambda views: views.prepare(self.scope))

    def take_over(self, other: Client) -> None:
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
        return self._asking.show(id, as_of)

    def whole(self, id: str, *, as_of: str | None = None) -> Whole:
        """Return the document of a part's id, as on the log, or the whole text of one event.

        Raises `NotFound`, and `MemtapeError` with the parts that are erased, forgotten or missing.
        """
        return self._asking.whole(id, as_of)

    def why(self, id: str) -> Explained:
        """Return every event behind a memory. Raises `NotFound`."""
        return self._asking.why(id)

    def edges(self, id: str, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of a memory or turn, the strongest first. Raises `NotFound`."""
        return self._asking.edges(id, as_of)

    def edge_candidates(self, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of this scope proposed as curated edges; nothing writes them automatically."""
        return self._asking.edge_candidates(as_of)

    def all_edges(self, *, as_of: str | None = None) -> EdgeList:
        """Return every edge of this scope between visible memories."""
        return self._asking.all_edges(as_of)

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
        return self._asking.context(budget_tokens, form, as_of, as_is, since)

    def stale(self, limit: int = 10) -> list[Stale]:
        """Return the stale memories of this scope and `global`, the most used first; archive nothing."""
        return self._asking.stale(limit)

    def pages(self, *, as_of: str | None = None) -> list[PageRow]:
        """Return the pages of this scope as the views have them; the root too, where there is any page."""
        return self._asking.pages(as_of)

    def pinned(self) -> list[MemoryRow | TurnRow]:
        """Return the pinned memories and turns of this scope and of `global`, the latest first."""
        return self._asking.pinned()

    def hidden(self, limit: int = 100) -> list[MemoryRow | TurnRow]:
        """Return the forgotten and withdrawn units of this scope and of `global` that can be restored."""
        return self._asking.hidden(limit)

    def orders(self) -> list[Order]:
        """Return people's orders about memory, as "never mention X again", in this scope and `global`."""
        return self._asking.orders()

    def compare(self, retrievers: Sequence[str] = (), limit: int = 1_000, on_phase: OnPhase = lambda *_: None) -> Any:
        """Ask the scope's latest searches again of retrievers, as `tools.ask.comparing` says; by default of all."""
        return self._asking.compare(retrievers, limit, on_phase)

    def compare_shadows(self) -> Any:
        """Return the results of shadow retrievers beside the scope's answers, as `tools.ask.shadows`."""
        return self._asking.compare_shadows()

    def held(self, *, as_of: str | None = None) -> ScopeHeld:
        """Return how much the scope shows, now or in the past."""
        return self._asking.held(as_of)

    def diff(self, before: str, after: str, *, scope: str | None = None) -> Diff:
        """Return the changes between two positions or times, in one scope or in all."""
        return self._asking.diff(before, after, scope)

    def use(self, ids: Sequence[str], recall: str | None = None) -> Receipt:
        """Record recalled ids that shaped an answer, and the recall (`Found.recall_id`); return the receipt.

        The use of a memory of `global` is recorded and counts in this scope alone; that of another scope's
        memory in its own scope. Raises `NotFound` for an unknown id, and `MemtapeError` for no ids and for
        those of several scopes.
        """
        return self._deciding.use(ids, recall)

    def hidden_among(self, scope: str, texts: Mapping[str, str]) -> list[str]:
        """Return which captures of a scope are hidden, by id with their texts, so far as the views tell."""
        from memtape.tools.ask.forgotten import may_be_hidden

        with suppress(MemtapeError):  # The captures are on the log, whether or not the views can be read.
            if ids := may_be_hidden(self.log, scope, texts):
                return self.reader.held(lambda views: [id for id in ids if views.is_hidden(scope, id)])
        return []

    def forget(self, id: str, *, only: bool = False, reason: str | None = None) -> list[str]:
        """Hide a memory (with all its captures) or a turn until restored; return the named ids.

        With `only` just one capture is named; for a long-term kind its text stays banned all the same. A
        person's new capture of the text ends the ban. Raises `NotFound`.
        """
        return self._deciding.forget(id, only, reason)

    def restore(self, id: str, *, reason: str | None = None) -> RestoredIds:
        """Restore a memory or turn and return the named ids. Raises `NotFound`.

        `was_hidden` of the result is false where nothing was hidden.
        """
        return self._deciding.restore(id, reason)

    def pin(self, id: str) -> list[str]:
        """Pin a memory or turn regardless of its age; return the named ids."""
        return self._deciding.decide("pinned", id, lambda ids: Pinned(ids=ids, on=True), only=True)

    def unpin(self, id: str) -> list[str]:
        """End the pins on every capture that is a memory, or on a turn; return the ids that were named."""
        return self._deciding.decide("pinned", id, lambda ids: Pinned(ids=ids, on=False))

    def archive(self, ids: Sequence[str], *, reason: str | None = None) -> ArchivedNow:
        """Archive memories and turns with all their captures; return the changed and the unchanged units.

        Raises `NotFound`, and `MemtapeError` where any is pinned or hidden: then none is archived.
        """
        return self._archiving.archive(ids, reason)

    def unarchive(
        self, ids: Sequence[str] = (), *, all_of: Why | None = None, reason: str | None = None
    ) -> ArchivedNow:
        """Bring back memories and turns, purged ones too, or all of the scope archived for a reason.

        Raises `NotFound`, and `MemtapeError` for texts archived with their project: `projects.resume` brings
        them back.
        """
        return self._archiving.unarchive(ids, all_of, reason)

    def archived(self, limit: int = 20, *, purged: bool = False, on_read: OnRead = lambda done: None) -> ArchiveList:
        """Return the archived texts of the scope and of `global`, the latest first.

        With `purged` they are only those that left the views. `on_read` gets the number of texts read so far.
        """
        from memtape.tools.ask.archived import archived_of

        return self.reader.read(
            lambda views: archived_of(views, self.log, self.scope, limit, purged=purged, on_read=on_read), self.scope
        )

    def lifecycle(self, *, dry_run: bool = False, at: int | None = None) -> Aging:
        """Return the aging of the scope, and with `dry_run` the changes of a pass: the next, or at a time.

        The time is in microseconds. Folds the log up to its end, and appends nothing. Raises `MemtapeError`
        for a past time.
        """
        from memtape.tools.ask.aging import aging_of

        return aging_of(self.home, self.log, self.scope, now_us(), dry_run=dry_run, at=at)

    def age(self, id: str) -> Age:
        """Return how a memory or turn has aged, also one that has left the views. Raises `NotFound`."""
        from memtape.tools.ask.aging import age_of_id

        return age_of_id(self.home, self.log, self._ids, id, now_us())

    def say_holds(self, id: str, *, undo: bool = False) -> list[str]:
        """State that a memory is valid, against any rule; with `undo` withdraw the statement.

        Returns the named ids. Raises `NotFound`, and `MemtapeError` for ids of no memory.
        """
        return self._deciding.link(id, "holds", undo=undo)

    def say_replaced(self, id: str, by: str) -> list[str]:
        """State that another memory replaced a memory, and return the named id.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one.
        """
        return self._deciding.link(id, "replaced_by", by)

    def update(self, id: str, text: str) -> Updated:
        """Capture a text in place of a memory, of the memory's kind, and append that it replaced the memory.

        Raises `NotFound`, and `MemtapeError` for ids of no memory, or where a weaker source would end a
        stronger one: nothing is captured then.
        """
        return self._deciding.update(id, text)

    def conflicts(self, *, settled: bool = False) -> ConflictList:
        """Return the conflicts of the scope and of `global` that wait for people, with `settled` also all others."""
        return self._asking.conflicts(settled)

    def settle(self, conflict: str, keep: Literal["A", "B", "both"], *, note: str | None = None) -> Settlement:
        """Settle a conflict from `conflicts` in favour of a side, and return the outcome.

        Raises `NotFound`, and `MemtapeError` for anyone but a person, or where a side is no longer shown.
        """
        return self._deciding.settle(conflict, keep, note)

    def proposals(self) -> list[tuple[Proposal, Answered]]:
        """Return the rules of this scope proposed to people, the latest first, each with its status.

        They were said for all projects, or are in text that may be pasted.
        """
        return self._asking.proposals()

    def accept(self, id: str) -> Proposal:
        """Accept a proposed rule, with its words, into its target scope; return the rule.

        Raises `NotFound`, and `MemtapeError` for a writer who is no person.
        """
        return self._answer(id, declined=False)

    def decline(self, id: str) -> Proposal:
        """Decline a proposed rule; return the rule. Raises as `accept`."""
        return self._answer(id, declined=True)

    def _answer(self, id: str, *, declined: bool) -> Proposal:
        from memtape.tools.ask import accepting

        accepting.check_answers(self.actor.origin)
        rule, before = accepting.meant(self.proposals(), id)
        writer = Writer(
            self.home,
            self.log,
            scope=rule.into,
            actor=self.actor.name,
            origin="operator" if rule.into == GLOBAL else self.actor.origin,
            session=self.session,
            profile=self.profile.name,
        )
        (accepting.decline if declined else accepting.accept)(writer, rule, before)
        return rule

    def unfold(self, id: str, *, only: bool = False) -> list[str]:
        """Split a memory for good: each capture becomes its own memory, with `only` just this capture.

        Returns the named ids. Raises `NotFound`, and `MemtapeError` where nothing was folded.
        """
        return self._deciding.unfold(id, only)

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which captures or recalls stand, and their whole ids; raise as `use` does."""
        return self._ids.of_one_scope(ids)

    def prune(
        self,
        tags: Sequence[str] = (DEV_TAG,),
        before: str = PRUNED_BEFORE,
        *,
        every: bool = False,
        dry_run: bool = False,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Pruned:
        """Forget the captures with any of these tags from before a time; return the forgotten ones.

        `before` is ISO 8601 or an age as 7d. The scope's captures are meant, or with `every` those of all
        scopes; a dry run forgets nothing. Raises `MemtapeError` without a tag.
        """
        from memtape.tools.keep.pruning import plan, prune

        made = plan(self, tags, parse_time(before, now_us()), every=every, on_progress=on_progress)
        return made if dry_run else prune(self, made)

    def erase(
        self, made: ErasurePlan, on_phase: OnPhase = lambda *_: None, on_note: Callable[[str], None] = lambda note: None
    ) -> Erasure:
        """Erase a plan (`tools.keep.erasing.plan`) for good; return the proof. Raises `StillHeld`."""
        check_kept(self.home, "An erasure")
        from memtape.tools.keep.erasing import erase

        return erase(self.home, self.log, made, self, on_phase, on_note)

    def status(self, *, as_of: str | None = None) -> Status:
        """Return counts, positions and lag of the whole home, now or in the past."""
        return self._asking.status(as_of)

    def stats(
        self,
        since_us: int,
        scope: str | None = None,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Stats:
        """Return daily counts of captures, searches, uses and folds since a time (us), of one scope or the
        home.
        """
        from memtape.tools.ask.stats import stats_of

        return self.reader.held(lambda views: stats_of(self.log, views, scope, since_us, now_us(), on_progress))

    def read_log(self, partition: int, offset: int, limit: int, types: Sequence[str] = ()) -> list[Slot]:
        """Return slots of the log as they are, from an offset on."""
        return self.log.read(partition, offset, limit, types=types)

    def verify(self, on_progress: Callable[[int], None] | None = None) -> Verification:
        """Replay the log and compare the result with the views, of all scopes or one."""
        check_kept(self.home, "A verification")
        from memtape.tools.keep.verify import verify

        return verify(self.home, self.log, on_progress=on_progress)

    def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
        check_kept(self.home, "A projection")
        return self.reader.project(on_progress)

    def catch_up(self) -> None:
        """Project pending events if quick and no other process does; else start a background projector."""
        self.reader.catch_up(self.scope)

    def embedder(self) -> EmbedderState:
        """Return the deciding embedder, the one opened on this machine, and the number of waiting texts."""
        return self._asking.embedder()

    def refold(
        self, *, dry_run: bool = False, fold: Folding | None = None, on_phase: OnPhase = lambda *_: None
    ) -> Refolded:
        """Refold all memories of all scopes under the settings in effect, and return the changes.

        `fold` also switches folding on or off. A dry run changes nothing. The views follow at their next
        projection.
        """
        check_kept(self.home, "A folding")
        from memtape.tools.keep.refolding import refold

        return refold(self.home, self.log, fold, on_phase, dry_run=dry_run)

    def distill(
        self,
        session: str,
        *,
        scope: str | None = None,
        since_us: int = MIN_TIME_US,
        again: bool = False,
        on_window: Callable[[int, int], None] = lambda done, total: None,
    ) -> Distilled:
        """Have the configured model take facts from the turns of a session since a time, in any scope or one.

        The model is asked about unanswered windows, with `again` about all. Raises `MemtapeError` without a
        usable model.
        """
        check_kept(self.home, "What a model is asked")
        from memtape.flows.workers.distill import EndedSession, distill_session
        from memtape.sinks.home.marks import AskedWindows
        from memtape.tools.keep.facts import FactAsker

        asked, ask = AskedWindows(self.home), FactAsker(self.home)
        return distill_session(self.log, asked, ask, now_us, EndedSession(session, scope, since_us, again), on_window)

    def consolidate(
        self,
        *,
        dry_run: bool = False,
        at_once: bool = False,
        on_cluster: Callable[[int, int], None] = lambda done, total: None,
    ) -> Consolidated:
        """Consolidate similar memories of the scope, where a pass may begin by now, or `at_once`.

        A dry run tells the decisions by rule and appends nothing. Raises `MemtapeError` where a configured
        model cannot be asked, and `Locked` where another process does the same.
        """
        check_kept(self.home, "A consolidation")
        from memtape.tools.keep.consolidating import consolidate_scope

        return consolidate_scope(
            self.home, self.log, self.scope, dry_run=dry_run, at_once=at_once, on_cluster=on_cluster
        )

    def close(self) -> None:
        """Close the log, unless given by the caller."""
        if self._owns_log:
            self.log.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
