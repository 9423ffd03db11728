"""The Python client: every verb of Memtape on one home. The commands are a thin shell over it.

```python
from memtape import Client

with Client(scope="project:demo", actor="Ada", origin="user") as memory:
    memory.capture("The staging database listens on port 5433.")
    print(memory.search("staging port").results[0].text)
```
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import uuid_utils
from msgspec.structs import replace

from memtape.schemas.errors import DamagedViews, Denied, InvalidEvent, Locked, MemtapeError, NotFound
from memtape.schemas.events import (
    EVENT_TYPES,
    MAX_AT_LEAD_US,
    MAX_TEXT_BYTES,
    Actor,
    Body,
    Captured,
    Event,
    Filters,
    Forgotten,
    Kind,
    Origin,
    Recalled,
    Restored,
    Unfolded,
    Used,
)
from memtape.schemas.ids import derived_id
from memtape.schemas.lanes import LANES, Lane
from memtape.schemas.log import Log, Position, Slot
from memtape.schemas.scopes import GLOBAL, check_scope, partition_of
from memtape.schemas.times import parse_time
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.opening import open_log
from memtape.state.views.filters import NO_FILTERS, check_filters
from memtape.tools.ask.naming import is_whole, meant
from memtape.tools.capture.lines import Line, check_label, check_size, chunks
from memtape.tools.capture.project import Began, is_unmade, scope_of_folder

if TYPE_CHECKING:
    from memtape.schemas.rows import Watermark
    from memtape.tools.ask.context import Context, FormName
    from memtape.tools.ask.diff import Diff
    from memtape.tools.ask.edges import EdgeList
    from memtape.tools.ask.inspection import Explained, Opened, Status
    from memtape.tools.ask.retrieval import Answer, Result, Retriever
    from memtape.tools.capture.secrets.redaction import Redactor
    from memtape.tools.keep.embedder_state import EmbedderState
    from memtape.tools.keep.erasing import Erasure, Plan
    from memtape.tools.keep.rebuild import OnPhase
    from memtape.tools.keep.verify import Verdict

ActionT = TypeVar("ActionT")

HOME_VARIABLE = "MEMTAPE_HOME"
SESSION_VARIABLE = "MEMTAPE_SESSION"
EMBED_AGAIN_S = 60
"""So long after texts were embedded, or tried to be, no projector is started for it: the embedder may not answer."""
INLINE_EVENTS = 2_000
"""A search projects by itself what is pending while the whole log is shorter than this."""
BATCH_LINES = 1_000
OFFERED_FROM = 20
"""So many of the best results are looked at for what a prompt surely needs."""


class Receipt(NamedTuple):
    """A capture that is durable: its id, where it stands, and how many secrets of which kind were taken out of it.

    Of a document in parts, what was taken out is with the first.
    """

    id: str
    position: Position
    redacted: Mapping[str, int] = {}


class Receipts(list[Receipt]):
    """The receipts of many captures; `refused` has the place of each that was not taken, from 0, and why."""

    refused: tuple[tuple[int, Denied], ...] = ()


class Found(NamedTuple):
    """What a search answered, and the id of the `recalled` event that says so (None where it was quiet)."""

    answer: Answer
    recall_id: str | None

    @property
    def results(self) -> list[Result]:
        """The results, best first."""
        return self.answer.results


class Client:
    """One door to a home, for one actor in one scope. Not for several threads at once.

    `home` is a folder, by default `$MEMTAPE_HOME` or the user's data folder. `scope` is by default that of the
    project of a `folder`, by default the current one; `began` tells the folder that a session began in. `origin` says
    what kind of actor speaks, see `schemas.events`. `log` is by default what `$MEMTAPE_LOG` or the home's settings
    name, else the log in the home itself.

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
        self.home = home if isinstance(home, Home) else Home(Path(home) if home is not None else default_home())
        self._owns_log = log is None
        self.log: Log = open_log(self.home) if log is None else log
        self._scope = check_scope(scope) if scope is not None else None
        self._pinned = scope is not None
        self._confined = confined or scope is not None
        self._folder = folder
        self._began = began
        self.actor = Actor(name=actor or default_actor(), origin=origin)
        self.session = session if session is not None else os.environ.get(SESSION_VARIABLE) or None
        self._retriever_made: Retriever | None = None
        self._redactor_made: Redactor | None = None
        self._projectors_notes: dict[str, None] = {}

    @property
    def redactor(self) -> Redactor:
        """What takes secrets out of every text on its way to the log, and counts them."""
        if self._redactor_made is None:
            from memtape.tools.capture.secrets.redaction import Redactor

            self._redactor_made = Redactor(self.home)
        return self._redactor_made

    @redactor.setter
    def redactor(self, redactor: Redactor) -> None:
        self._redactor_made = redactor

    @property
    def scope(self) -> str:
        """The scope that is meant where none is named; found out when it is first needed.

        Nothing is made or kept for who only reads: of a folder that nothing was captured in it is one that is empty.
        """
        if self._scope is not None:
            return self._scope
        scope = scope_of_folder(self._folder or Path.cwd(), self.home, pin=False, began=self._began)
        if not is_unmade(scope):
            self._scope = scope
        return scope

    def made_scope(self) -> str:
        """Return the same for who puts something in it: made and pinned now where it was not."""
        if not self._pinned:
            self._scope = scope_of_folder(self._folder or Path.cwd(), self.home, began=self._began)
            self._pinned = True
        return self.scope

    def capture(self, text: str, kind: Kind = "fact", **fields: object) -> Receipt:
        """Put one text on the log and return its receipt; `fields` are those of a `Line`.

        A document too long for one event is cut into parts, and the receipt is that of the first.
        Raises `InvalidEvent` for what may not stand on the log, and `Denied` for what comes from a file of secrets.
        """
        receipts = self.capture_many([Line(text=text, kind=kind, **fields)])  # type: ignore[arg-type]
        for _, error in receipts.refused:
            raise error
        return receipts[0]

    def capture_many(self, lines: Iterable[Line]) -> Receipts:
        """Put many texts on the log, all or none, and return a receipt for each event.

        Only what comes from files of secrets is left out, and named in `refused`.
        """
        events: list[Event] = []
        redacted: list[Mapping[str, int]] = []
        refused: list[tuple[int, Denied]] = []
        for place, line in enumerate(lines):
            before = Counter(self.redactor.counts)
            try:
                made = self.events_of(line)
            except Denied as error:
                refused.append((place, error))
                continue
            events += made
            redacted += [self.redactor.counts - before, *({} for _ in made[1:])]
        positions = self.log.append(events) if events else []
        receipts = Receipts(
            Receipt(event.id, position, taken)
            for event, position, taken in zip(events, positions, redacted, strict=True)
        )
        receipts.refused = tuple(refused)
        return receipts

    def events_of(self, line: Line, erased: Container[str] | None = None) -> list[Event]:
        """Return the `captured` events of a line, without its secrets: one, or one for each part of a long document.

        Whoever takes in many lines hands in the `erased_ids` of their scope, which are otherwise looked up for each.
        Raises `InvalidEvent` and `Denied`.
        """
        check_size(line)
        for place in (line.path, line.source):
            self.redactor.check_path(place)
        now = _now_us()
        at = parse_time(line.at, now) if isinstance(line.at, str) else now if line.at is None else line.at
        if at > now + MAX_AT_LEAD_US:
            raise InvalidEvent("invalid", "The time of a capture is more than 5 minutes in the future.", "$.at")
        scope = check_scope(line.scope) if line.scope is not None else self.made_scope()
        body = Captured(
            branch=line.branch,
            importance_given=None if line.importance is None else round(line.importance * 100),
            kind=line.kind or "fact",
            media=line.media_of_event(),
            part=None,
            path=line.path,
            source=line.source,
            tags=line.tags,
            text=line.text,
        )
        actor = Actor(name=line.actor or self.actor.name, origin=line.origin or self.actor.origin)
        session = line.session or self.session
        # What tells a secret may stand on both sides of a cut, so that a document is cut after its secrets are out.
        whole = self.redactor.event(_event("captured", _new_id(), body, scope, actor, session, at=at, sent=now))
        said = whole.body
        assert isinstance(said, Captured)
        pieces = chunks(said.text) if said.kind == "document" or line.split else [(said.text, None)]
        events = []
        for text, part in pieces:
            native = line.native_id if line.native_id is None or part is None else f"{line.native_id}#{part.index}"
            id = _new_id() if native is None else derived_id("captured", scope, said.source, native)
            if native is not None and id in (self.erased_ids(scope) if erased is None else erased):
                raise InvalidEvent("erased", f"{native!r} of this source was erased and is not taken again.", "$.id")
            events.append(replace(whole, id=id, body=replace(said, text=text, part=part)))
        return events

    def erased_ids(self, scope: str) -> dict[str, None]:
        """Return the ids of a scope that were erased, and are not to be captured again."""
        from memtape.state.core.erasures import erasures_of

        slots = self.log.erased(partition_of(scope, self.log.partitions))
        return erasures_of(slots).named.get(scope, {}) if slots else {}

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

        What is pending is projected first where that is quick; otherwise the answer covers it by words
        and says how far the views are behind. Unless `quiet`, a `recalled` event is appended before, if the project
        has anything. With
        `as_of`, a position or a time, the past answers, and nothing is appended. `without` names lanes to leave out,
        `filters` (`state.views.filters.make_filters`) say what may be returned. With `explain`
        every result has the parts of its relevance, and the answer how the question was read.
        """
        _check_asked(query, limit)
        filters = filters or NO_FILTERS
        check_filters(filters)
        # What is asked is what is recorded; of a secret both have the placeholder, which is that of the captured one.
        query, filters = self.redactor.question(query), self.redactor.part(filters)
        lanes = tuple(lane for lane in LANES if lane not in without)
        if not lanes:
            raise MemtapeError("Every lane is left out.", f"Keep one of {', '.join(LANES)}.")
        views = self._views(as_of)
        answer = views.reading(lambda: views.search(self.scope, query, limit, filters, lanes, explain=explain))
        answer = answer._replace(warnings=(*self._projectors_notes, *answer.warnings))
        self._projectors_notes.clear()
        if quiet or as_of is not None or not self._is_made():
            return Found(answer, None)
        return Found(answer, self._recall(query, limit, filters, answer))

    def offer(self, prompt: str, sure: Callable[[Result], bool], limit: int) -> Answer:
        """Return those of the best results for a prompt that are `sure`, from what is held ready.

        Nobody asked, so nothing is projected first, and `handed_out` says what of it an agent was shown.
        """
        prompt = self.redactor.question(prompt)
        views = self._retriever
        answer = views.reading(lambda: views.search(self.scope, prompt, OFFERED_FROM, NO_FILTERS, held=True))
        return answer._replace(results=[result for result in answer.results if sure(result)][:limit])

    def handed_out(self, prompt: str, answer: Answer) -> str | None:
        """Put on the log which results an agent was shown that did not ask, and return the id of the event.

        None where the scope is one that nothing can stand in.
        """
        limit = len(answer.results)
        return self._recall(self.redactor.question(prompt), limit, NO_FILTERS, answer) if self._is_made() else None

    def prepare(self) -> None:
        """Read what a search in this scope reads."""
        self._retriever.reading(lambda: self._retriever.prepare(self.scope))

    def take_over(self, other: Client) -> None:
        """Hold ready what another client of the same home has read."""
        self._retriever.take_over(other._retriever)

    def _is_made(self) -> bool:
        """Whether the scope is one that something can stand in."""
        return self._scope is not None or not is_unmade(self.scope)

    def _recall(self, query: str, limit: int, filters: Filters, answer: Answer) -> str:
        """Put on the log what was asked and returned, and return the id of the event."""
        body = Recalled(
            filters=filters,
            lanes=tuple(answer.lanes),
            limit=limit,
            now=answer.now,
            passes=1,
            query=query,
            results=tuple(result.id for result in answer.results),
            revision=answer.revision,
            watermark=answer.watermark,
        )
        return self._append("recalled", body, self.scope).id

    def use(self, ids: Sequence[str], recall: str | None = None) -> Receipt:
        """Say which recalled ids shaped an answer, and of which recall (`Found.recall_id`); return the receipt.

        It stands in this scope also where a memory of `global` was used, and counts in this scope alone; of another
        scope's memories it stands in theirs. Raises `NotFound` for an id that is nowhere, and `MemtapeError` for none
        at all and for those of several scopes.
        """
        if not ids:
            raise MemtapeError("No id was named.", "Name the ids of results that shaped the answer.")
        if recall is not None and not is_whole(recall):
            _, recall = self._meant(recall, ("recalled",))
        stands: dict[str, str] = {}
        for given in dict.fromkeys(ids):
            scope, id = self._within(given, self._stands)
            stands[id] = self.scope if scope == GLOBAL else scope
        scope = _one(stands.values())
        used = Used(ids=tuple(stands), recall=recall)
        return self._append("used", used, self.made_scope() if scope == self.scope else scope)

    def show(self, id: str, *, as_of: str | None = None) -> Opened:
        """Return the memory or turn that an id resolves to, whole, now or in the past. Raises `NotFound`."""
        from memtape.tools.ask.inspection import opened

        def open_in(scope: str, id: str) -> Opened:
            views = self._views(as_of, scope)
            return views.reading(lambda: opened(views, scope, id))

        return self._within(id, open_in)

    def why(self, id: str) -> Explained:
        """Return every event behind a memory. Raises `NotFound`."""
        from memtape.tools.ask.inspection import explained

        def explain_in(scope: str, id: str) -> Explained:
            self.catch_up(scope)
            return self._retriever.reading(lambda: explained(self._retriever, self.log, scope, id))

        return self._within(id, explain_in)

    def context(
        self, budget_tokens: int = 2_000, form: FormName = "prompt", *, as_of: str | None = None, as_is: bool = False
    ) -> Context:
        """Return what a starting agent should know, without a query, in at most so many tokens.

        Standing instructions of people come first, then goal, plan, what holds and what happened lately, of this scope
        and `global`. `form` is for a system prompt, or a marked section of `AGENTS.md` or `GEMINI.md`. With `as_is`
        nothing is projected first, for who cannot wait; what is pending is read from the log.
        """
        from memtape.tools.ask.context import context_of

        views = self._retriever if as_is else self._views(as_of)
        return views.reading(lambda: context_of(views, self.scope, budget_tokens, form))

    def edges(self, id: str, *, as_of: str | None = None) -> EdgeList:
        """Return what was used together with a memory or turn, the strongest first, now or in the past.

        Raises `NotFound`.
        """
        from memtape.tools.ask.edges import edges_of

        def edges_in(scope: str, id: str) -> EdgeList:
            views = self._views(as_of, scope)
            return views.reading(lambda: edges_of(views, scope, id))

        return self._within(id, edges_in)

    def edge_candidates(self, *, as_of: str | None = None) -> EdgeList:
        """Return the edges of this scope that are proposed for curated ones; nothing writes them by itself."""
        from memtape.tools.ask.edges import proposed

        views = self._views(as_of)
        return views.reading(lambda: proposed(views, self.scope))

    def forget(self, id: str, *, only: bool = False, reason: str | None = None) -> list[str]:
        """Hide a memory (every capture that is it) or a turn, until it is restored; return the ids that were named.

        With `only` one capture is named; of a long-term kind its text stays banned all the same.
        """
        return self._tombstone("forgotten", id, only, reason)

    def erase(
        self, made: Plan, on_phase: OnPhase = lambda *_: None, on_note: Callable[[str], None] = lambda note: None
    ) -> Erasure:
        """Erase for good what `tools.keep.erasing.plan` has planned, and return the proof. Raises `StillHeld`."""
        from memtape.tools.keep.erasing import erase

        return erase(self.home, self.log, made, self._append, on_phase, on_note)

    def unfold(self, id: str, *, only: bool = False) -> list[str]:
        """Split a memory for good: each of its captures becomes one of its own, or with `only` just this one.

        Returns the ids that were named. Raises `NotFound`, and `MemtapeError` where nothing was folded.
        """
        from memtape.tools.ask.inspection import members_of

        def members_in(scope: str, id: str) -> tuple[str, tuple[str, tuple[str, ...]]]:
            self.catch_up(scope)
            return id, self._retriever.reading(lambda: members_of(self._retriever, scope, id))

        id, (scope, members) = self._within(id, members_in)
        if len(members) < 2 or (only and id not in members):
            raise MemtapeError(f"Nothing is folded into {id}.", "`memtape why` shows what a memory is made of.")
        named = [id] if only else list(members)
        self._append("unfolded", Unfolded(ids=tuple(named)), scope)
        return named

    def restore(self, id: str, *, reason: str | None = None) -> list[str]:
        """End what hides a memory or turn and return the ids that were named."""
        return self._tombstone("restored", id, False, reason)

    def status(self, *, as_of: str | None = None) -> Status:
        """Return counts, positions and lag of the whole home, now or in the past."""
        from memtape.tools.ask.inspection import status

        views = self._retriever if as_of is None else self._views(as_of)
        return views.reading(lambda: status(self.home, self.log, views))

    def diff(self, before: str, after: str, *, scope: str | None = None) -> Diff:
        """Return what changed between two positions or times, in one scope or in all."""
        from memtape.tools.ask.as_of import parse_position
        from memtape.tools.ask.diff import diff

        now = _now_us()
        first, second = (parse_position(text, self.log, now) for text in (before, after))
        return diff(self.home, self.log, first, second, scope)

    def compare(self, retrievers: Sequence[str] = (), limit: int = 1_000, on_phase: OnPhase = lambda *_: None) -> Any:
        """Ask the scope's latest searches again of retrievers, as `tools.ask.comparing` says; by default of all."""
        from memtape.tools.ask.comparing import compare

        self.catch_up()
        views = self._retriever
        return views.reading(lambda: compare(views, self.log, self.scope, retrievers, limit, on_phase))

    def read_log(self, partition: int, offset: int, limit: int, types: Sequence[str] = ()) -> list[Slot]:
        """Return slots of the log as they are, from an offset on."""
        return self.log.read(partition, offset, limit, types=types)

    def verify(self, scope: str | None = None, on_progress: Callable[[int], None] | None = None) -> Verdict:
        """Replay the log and compare what it says with the views, of all scopes or one."""
        from memtape.tools.keep.verify import verify

        return verify(self.home, self.log, scope=scope, on_progress=on_progress)

    def projected(self) -> int:
        """Return how many slots of the log the views are made from, so far as those can be read."""
        return sum(mark.offset for mark in self._marks() if mark is not None)

    def unread(self) -> int:
        """Return how many slots of the log stand behind the views' watermarks."""
        return sum(self.log.ends()) - self.projected()

    def embedder(self) -> EmbedderState:
        """Return which embedder decides, what this machine has, which is opened for it, and how many texts wait."""
        from memtape.tools.ask.inspection import counted
        from memtape.tools.keep.embedder_state import embedder_state

        views = self._retriever
        counters = views.reading(lambda: counted(self.home, self.log, views))
        return embedder_state(self.home, self.log, counters, opened=True)

    def unembedded(self) -> int:
        """Return how many texts that the views hold wait for a vector, so far as those can be read."""
        return sum(mark.waiting for mark in self._marks() if mark is not None)

    def _marks(self) -> Iterator[Watermark | None]:
        for number in range(self.log.partitions):
            with suppress(DamagedViews):  # Whoever asks for more than a count is told.
                yield self._retriever.watermark(number)

    def project(self, on_progress: Callable[[int], None] | None = None) -> int:
        """Bring the views up to date and return how many events were read. Raises `Locked`."""
        from memtape.tools.keep.owner import Owner

        with Owner(self.home, self.log, lambda note: self._projectors_notes.update({note: None})) as owner:
            return owner.project(on_progress)

    def one_scope(self, ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Return the one scope in which events stand, captures or recalls, and their whole ids.

        Raises `NotFound`, and `MemtapeError` for those of several scopes.
        """
        found = [self._meant(id, () if is_whole(id) else ("captured", "recalled")) for id in dict.fromkeys(ids)]
        return _one(scope for scope, _ in found), tuple(id for _, id in found)

    def catch_up(self, scope: str | None = None) -> None:
        """Project what is pending if that is quick and nobody else does, else start a projector in the background.

        What is pending for a scope counts, by default this one.
        """
        from memtape.sinks.home.settings import local_settings
        from memtape.tools.ask.inspection import pending
        from memtape.tools.ask.retrieval import scopes_read

        partitions = {partition_of(scope, self.log.partitions): None for scope in scopes_read(scope or self.scope)}
        try:
            due = pending(self.log, self._retriever, partitions)
        except DamagedViews as error:
            self._retriever.note_damage(error)
            due = True
        if not due:
            self._embed_later()
        elif sum(self.log.ends()) < INLINE_EVENTS:
            try:
                self.project()
            except Locked:
                return  # Whoever holds the lock is projecting; the tail covers what is not there yet.
            self._embed_later()
        elif local_settings(self.home).catch_up and self.home.projector_lock().holder() is None:
            from memtape.tools.keep.projector import start_detached

            start_detached(self.home, self.log)

    def _embed_later(self) -> None:
        """Start a projector in the background where texts wait for vectors, at most once a minute."""
        from memtape.sinks.home.settings import local_settings

        if not self.unembedded() or not local_settings(self.home).catch_up:
            return
        marks = self.home.embedding_path  # It is written whenever texts were embedded, and touched when it is tried.
        tried_lately = marks.exists() and time.time() - marks.stat().st_mtime < EMBED_AGAIN_S
        if not tried_lately and self.home.projector_lock().holder() is None:
            from memtape.tools.keep.projector import start_detached

            marks.touch()
            start_detached(self.home, self.log)

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

    @property
    def _retriever(self) -> Retriever:
        # Reading the views needs LanceDB, which whoever only captures never loads.
        if self._retriever_made is None:
            from memtape.tools.ask.recorded_vectors import RecordedVectors
            from memtape.tools.ask.retrieval import Retriever

            self._retriever_made = Retriever(self.home, self.log, dense=RecordedVectors(self.home))
        return self._retriever_made

    def _within(self, id: str, action: Callable[[str, str], ActionT]) -> ActionT:
        """Return what an action makes of the scope in which an id is to be found, and of the whole id."""
        if is_whole(id):
            try:
                return action(self.scope, id)
            except NotFound:
                if self._confined:
                    raise
        return action(*self._meant(id, ("captured",)))

    def _meant(self, id: str, types: Sequence[str]) -> tuple[str, str]:
        """Return the scope and the whole id of what an id or its beginning means, here or in `global` first.

        Raises `NotFound`, and `MemtapeError` for a beginning of several.
        """
        try:
            return meant(self.log, id, tuple(dict.fromkeys((self.scope, GLOBAL))), types)
        except NotFound:
            if self._confined:
                raise
            return meant(self.log, id, (), types)

    def _stands(self, scope: str, id: str) -> tuple[str, str]:
        """Return the scope in which a whole id that a scope reads stands, and the id."""
        self.catch_up(scope)
        found = self._retriever.reading(lambda: self._retriever.find(scope, id))
        return found.scope or scope, id

    def _views(self, as_of: str | None, scope: str | None = None) -> Retriever:
        """Return the views as they are, brought up to date for a scope where that is quick, or as they were."""
        if as_of is None:
            self.catch_up(scope)
            return self._retriever
        from memtape.tools.ask.as_of import PastViews, parse_position, time_asked
        from memtape.tools.ask.retrieval import Retriever

        now = _now_us()
        past = PastViews(self.home, self.log, parse_position(as_of, self.log, now), time_asked(as_of, now))
        return Retriever(self.home, self.log, past)

    def _tombstone(self, type: str, id: str, only: bool, reason: str | None) -> list[str]:
        from memtape.tools.ask.inspection import ids_behind

        check_label("reason", reason)

        def ids_in(scope: str, id: str) -> tuple[str, tuple[str, tuple[str, ...]]]:
            self.catch_up(scope)
            return id, self._retriever.reading(lambda: ids_behind(self._retriever, scope, id))

        id, (scope, ids) = self._within(id, ids_in)
        named = (id,) if only else ids
        body = (Forgotten if type == "forgotten" else Restored)(ids=named, reason=reason)
        self._append(type, body, scope)
        return list(named)

    def _append(self, type: str, body: Body, scope: str) -> Receipt:
        now = _now_us()
        event = _event(type, _new_id(), body, scope, self.actor, self.session, at=now, sent=now)
        return Receipt(event.id, self.log.append([self.redactor.event(event)])[0])


def default_home() -> Path:
    """Return `$MEMTAPE_HOME`, or the user's data folder of this platform."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path

    return user_data_path("memtape", appauthor=False)


def default_actor() -> str:
    """Return the name of the user that runs this process."""
    return os.environ.get("USER") or os.environ.get("LOGNAME") or "unknown"


def _event(
    type: str, id: str, body: Body, scope: str, actor: Actor, session: str | None, *, at: int, sent: int
) -> Event:
    v = EVENT_TYPES[type].version
    return Event(actor=actor, at=at, body=body, id=id, refs=(), scope=scope, sent=sent, session=session, type=type, v=v)


def _one(scopes: Iterable[str]) -> str:
    """Return the only scope of some; raise `MemtapeError` for several."""
    found = dict.fromkeys(scopes)
    if len(found) > 1:
        raise MemtapeError(f"The ids are of {' and '.join(found)}.", "Name those of one scope at a time.")
    return next(iter(found))


def _new_id() -> str:
    return str(uuid_utils.uuid7())


def _check_asked(query: object, limit: object) -> None:
    """Raise `MemtapeError` for what cannot be asked, whatever a program hands in."""
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
    """Return what was handed in, short enough to be shown."""
    if given is None:
        return "nothing"
    return str(given)[:40] if isinstance(given, (int, float)) else f"of type {type(given).__name__}"


def _now_us() -> int:
    return time.time_ns() // 1_000
