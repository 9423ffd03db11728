"""Reading the views of one home, current or past: rows, and the texts of a scope made ready for a search.

Captures without rows in the views are read from the log.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memtape.schemas.codec import event_of
from memtape.schemas.errors import DamagedViews, MemtapeError, NotFound
from memtape.schemas.events import Captured, Event, Mark, may_write
from memtape.schemas.log import Log, events_between, settings_on
from memtape.schemas.places import THREADS
from memtape.schemas.rows import (
    LifeMark,
    MemoryRow,
    ScopeHeld,
    SummaryRow,
    TombstoneRow,
    TurnRow,
    Watermark,
    no_watermark,
)
from memtape.schemas.scopes import partition_of, scopes_read
from memtape.schemas.settings import Settings
from memtape.schemas.times import HOUR_US
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.row_tables import RowsMoved
from memtape.sinks.search_index import NOTHING, OpenIndex
from memtape.sinks.tables import Shard, foreign
from memtape.state.core.erasures import erasures_of
from memtape.state.index.parts import AT_HAND, EVERY_TEXT, SUMMARIES, Choice
from memtape.state.ranking.ranker import Corpus
from memtape.state.subjects.captures import FAMILIES
from memtape.state.subjects.tombstones import text_row_id
from memtape.state.views.tail import TAIL_TYPES
from memtape.tools.capture.writing import now_us
from memtape.tools.query.found import (
    Dense,
    PreparedTexts,
    ScopeTexts,
    ScopeView,
    found_of,
    text_at,
)
from memtape.tools.query.plan import erased_for_good, nowhere

if TYPE_CHECKING:
    from memtape.tools.query.as_of import PastViews

ReadT = TypeVar("ReadT")
ReadyTexts = dict[tuple[str, Choice], PreparedTexts]
"""The loaded texts of scopes, by scope and choice."""
MOST_TRIES = 20
"""Times that a question is begun: a projector that writes without a pause replaces a row rarely twice."""
SAID_ONCE = ("forgotten", "restored", "withdrawn")
"""Events that must not be taken for repetitions: they would undo the events in between."""


_THREADS_LOCK = threading.Lock()
_threads_before: list[int] = []
"""The number of threads before each question that is being answered; the first is the program's own."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let numpy's algebra take one thread in a block, in all threads of the process.

    Waking others takes longer than a question. The command sets that for its process; a program that imports
    Memtape has as many threads as cores.
    """
    if (found := _thread_counts()) is None:
        yield
        return
    get, put = found
    with _THREADS_LOCK:
        _threads_before.append(get())
        put(1)
    try:
        yield
    finally:
        with _THREADS_LOCK:
            own = _threads_before[0]
            _threads_before.pop()
            if not _threads_before:
                put(own)


@cache
def _thread_counts() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """Return what gets and sets the number of threads of numpy's OpenBLAS, None where numpy has another."""
    for core in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_"):
            with suppress(KeyError, OSError, AttributeError):
                library = ctypes.CDLL(str(sys.modules[core].__file__))
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


class Lookups(NamedTuple):
    """What a question has looked up: its build, and by partition the tables, and why they are unfit.

    `fresh` are the texts that were made ready for the question.
    """

    build: Build
    served: dict[int, tuple[Shard, str]]
    fresh: ReadyTexts


class Retriever:
    """Answers from the views of one home, current or at a past position.

    The prepared texts are kept while the views do not change. The past has no tail: it is complete. Without
    `dense` searches go by words alone.
    """

    def __init__(
        self, home: Home, log: Log, past: PastViews | None = None, dense: Dense | None = None
    ) -> None:
        self._home, self.log, self.past, self.dense = home, log, past, dense
        self._ready: ReadyTexts = {}
        self._shards: dict[int, Shard] = {}
        self._past_forgotten = False
        self._question: Lookups | None = None

    @contextmanager
    def question(self) -> Iterator[None]:
        """Look up the views, and make texts ready, once in a block."""
        before, self._question = self._question, Lookups(self._home.current(), {}, {})
        try:
            yield
        finally:
            self._question = before

    def shard(self, partition: int) -> Shard:
        """Return the tables of a partition, of the past or of the build that is being served."""
        if self.past is not None:
            shard = self._shards[partition] = self._shards.get(partition) or self.past.shard(partition)
            return shard
        shard, why = self._served(partition)
        return shard if not why else Shard(self._home.path / "no-views", partition)

    def _served(self, partition: int) -> tuple[Shard, str]:
        """Return the served tables, and why these are not of this log now, looked up once a question."""
        question = self._question or Lookups(self._home.current(), {}, {})
        if partition not in question.served:
            shard, path = self._shards.get(partition), question.build.shard(partition)
            if shard is None or shard.path != path:
                shard = self._shards[partition] = Shard(path, partition)
            mark = shard.watermark()
            question.served[partition] = shard, "" if mark is None else foreign(self.log, mark)
        return question.served[partition]

    def go_ahead(self, partition: int) -> bool:
        """Have the views of a partition to the end of the log, in memory; return False where none can be."""
        from memtape.tools.query.as_of import AheadShard  # It loads the fold.

        shard, build = self._shards.get(partition), self._home.current()
        if not isinstance(shard, AheadShard) or shard.path != build.shard(partition):
            try:
                shard = AheadShard(build, self.log, partition)
            except ValueError:
                return False
        self._shards[partition] = shard
        if not shard.advance():
            del self._shards[partition]
            return False
        return True

    def unwritten(self, partition: int) -> int:
        """Return how many events the views of a partition have in memory alone."""
        return getattr(self._shards.get(partition), "unwritten", 0)

    def warning(self, partition: int) -> str:
        """Return why the views of a partition cannot be served, as a sentence; empty where they can."""
        if self.past is not None:
            return ""
        build = self._home.current() if self._question is None else self._question.build
        if build.damage_path(partition).exists():
            return f"The views of partition {partition} are damaged. `memtape run --once` makes them anew."
        told = "What the log holds is found by words, and `memtape run --once` makes the views anew."
        why = self._served(partition)[1]
        return f"The views are not of the log as it is: {why}. {told}" if why else ""

    def warnings(self, partitions: Iterable[int]) -> tuple[str, ...]:
        """Return the warnings of some partitions."""
        return tuple(filter(None, map(self.warning, dict.fromkeys(partitions))))

    @one_thread()
    def reading(self, action: Callable[[Retriever], ReadT]) -> ReadT:
        """Return the result of an action on the views; it is repeated where they were switched under it.

        Raises `DamagedViews` for unreadable views, and records the damage for the next projector.
        """
        served = self._home.current().name
        try:
            for _ in range(MOST_TRIES - 1):
                with (
                    suppress(RowsMoved),
                    self.question(),
                ):  # It is begun again where rows are replaced under it.
                    return action(self)
                self._ready.clear()
            with self.question():
                return action(self)
        except Exception as error:  # Also where rows can be read and make no sense.
            if isinstance(error, MemtapeError) and not isinstance(error, DamagedViews):
                raise
            is_switched = self._home.current().name != served
            if is_switched or (self.past is not None and not self._past_forgotten):
                if self.past is not None and not is_switched:  # The past is made again, once.
                    self.past.discard()
                    self._past_forgotten = True
                self._shards.clear()
                return self.reading(action)
            if isinstance(error, DamagedViews):
                self.note_damage(error.partition)
                raise
            damaged = sorted(self._shards)
            self.note_damage(*damaged)
            raise DamagedViews(
                "The views cannot be read.",
                "`memtape run --once` makes them anew from the log; `memtape verify` says what is damaged.",
                damaged[0] if damaged else 0,
            ) from error

    def note_damage(self, *partitions: int) -> None:
        """Note unreadable views for the next projector; those of the past are made again anyway.

        Views of another version's rules are not judged: its own readers may read them.
        """
        from memtape.state.core.digests import rules_version  # No question must wait for the reducers.

        build, own = self._home.current(), ("", rules_version())
        for number in partitions if self.past is None else ():
            if Shard(build.shard(number), number).rules() in own:
                build.note_damage(number)
        self._shards.clear()

    def tail(self, scope: str, offset: int) -> Iterator[Event]:
        """Yield a scope's events from `offset` on that change visible rows, each once, none erased."""
        if self.past is not None:
            return
        log, partition = self.log, partition_of(scope, self.log.partitions)
        erased = log.erased(partition)
        erasures, erasing = erasures_of(erased), {slot.offset for slot in erased}
        seen: set[str] = set()
        settings: Settings | None = None
        for slot, event in events_between(log, partition, offset, sys.maxsize, scope, TAIL_TYPES):
            settings = settings or settings_on(log)
            if not may_write(event, settings):
                continue
            repeated = event.id in seen or (event.type == "erased" and slot.offset not in erasing)
            if event.type in SAID_ONCE:
                repeated |= log.known(scope, [event.id]).get(event.id, slot.offset) < slot.offset
            seen.add(event.id)
            if not repeated and not erasures.covers(event):
                yield event

    def threads_page(self, scope: str) -> str:
        """Return the vault's page of open threads, as it lies there; empty where the past is asked."""
        from memtape.sinks.vault import Vault  # A prompt's search must not wait for this.

        return "" if self.past is not None else Vault(self._home).text_of(scope, THREADS)

    def watermark(self, partition: int) -> Watermark:
        """Return how far the views of a partition are; the blank one, of offset 0, without any."""
        return self.shard(partition).watermark() or no_watermark(partition)

    def held(self, scope: str) -> ScopeHeld:
        """Return how much a scope shows."""
        return self.shard(partition_of(scope, self.log.partitions)).held().get(scope, ScopeHeld())

    def life(self, scope: str) -> LifeMark:
        """Return how a scope as a whole stands, as its views know."""
        return self.watermark(partition_of(scope, self.log.partitions)).lives.get(scope, LifeMark())

    def now(self, views: Collection[ScopeView]) -> int:
        """Return the time for decaying weights: the hour of the question, or of the named past time.

        For a past position it is the time of the last event sent in these scopes, whatever others have sent.
        """
        if self.past is not None and self.past.time is None:
            return max(view.sent for view in views)
        asked = now_us() if self.past is None else self.past.time or 0
        return asked - asked % HOUR_US

    def found(self, scope: str, choice: Choice = AT_HAND) -> tuple[ScopeTexts, ScopeView]:
        """Return the searchable texts of a scope, and the position of its views."""
        ready = self.ready(scope, choice)
        return ready.found, ready.view

    def opened(self, scope: str, choice: Choice = AT_HAND) -> OpenIndex:
        """Return the written search index of a scope, whose rows are read without any table.

        Segments stay open from the texts of this choice that are ready.
        """
        shard, ready = self.shard(partition_of(scope, self.log.partitions)), self._ready.get((scope, choice))
        return shard.index(scope, None if ready is None else ready.found.opened) or NOTHING

    def find(self, scope: str, id: str) -> MemoryRow | TurnRow | Event:
        """Return the memory or turn of an id, hidden ones included, or a capture without a row in the views.

        Such a capture is in the tail, or its rows have left the views. Raises `NotFound`.
        """
        for name in scopes_read(scope):
            partition = partition_of(name, self.log.partitions)
            rows = self.opened(name).rows_called(id)
            erased = erasures_of(self.log.erased(partition)).named.get(name, {})
            if id in erased:
                raise erased_for_good(id)
            if any(known in erased for row in rows if isinstance(row, MemoryRow) for known in row.ids):
                raise NotFound(f"Some of what {id} is one with is being erased.", "Ask again in a moment.")
            if rows:
                return self.found(name)[0].current(rows[0])
            for event in self.tail(name, self.watermark(partition).offset):
                if event.id == id and isinstance(event.body, Captured):
                    return event
            life = self.life(name)
            gone = captures_of(self.log, name, [id]).get(id) if life.purged or life.is_purged else None
            if gone is not None and not _is_banned(self.opened(name), gone):
                return gone
        raise nowhere(scope, id)

    def summary(self, scope: str, id: str) -> SummaryRow | None:
        """Return the summary of an id, or None. Raises `NotFound` while it is to be made anew."""
        for name in scopes_read(scope):
            row = self.opened(name).row(SummaryRow, id)
            if row is not None:
                if self.found(name, SUMMARIES)[0].texts.called(id) is None:
                    told = f"Some of what {id} sums up has just been hidden."
                    raise NotFound(told, "Ask again in a moment.")
                return row
        return None

    def prepare(self, scope: str) -> None:
        """Read all that a search in a scope reads."""
        for name in scopes_read(scope):
            self.ready(name)

    def take_over(self, ready: ReadyTexts) -> None:
        """Share the loaded texts of another retriever of the same home; neither changes them."""
        self._ready |= ready

    def let_go(self) -> ReadyTexts:
        """Return the loaded texts, and hold none."""
        ready, self._ready = self._ready, {}
        return ready

    def ready(self, scope: str, choice: Choice = AT_HAND) -> PreparedTexts:
        """Return a scope's texts, made ready once a question.

        The watermark is read first: the index may only be newer than it.
        """
        fresh = {} if self._question is None else self._question.fresh
        if (scope, choice) in fresh:
            return fresh[scope, choice]
        partition = partition_of(scope, self.log.partitions)
        shard, watermark = self.shard(partition), self.watermark(partition)
        life, offset = watermark.lives.get(scope, LifeMark()), watermark.offset
        tail = list(self.tail(scope, offset))
        is_whole = not life.archived and life.state != "finished"
        if choice == EVERY_TEXT and is_whole and all(event.type != "archived" for event in tail):
            choice = AT_HAND  # It is the same, and may be ready.
        ready = self._ready.get((scope, choice))
        opened = self.opened(scope, choice)
        ids = tuple(event.id for event in tail)
        key = (shard.path, watermark, opened.manifest.number, ids)
        if ready is None or ready.key != key:
            shown = choice._replace(past=life.since if life.state == "finished" else None)
            at = partial(text_at, self.log, partition)
            found = found_of(opened, tail, at, None if ready is None else ready.found, shown)
            embedder = watermark.embedder
            vectors = self.dense.of_texts(found, embedder) if self.dense is not None else None
            mark = Mark(offset=offset, partition=partition)
            sent = max(watermark.sent.get(scope, 0), *(event.sent for event in tail), 0)
            view = ScopeView(mark, len(tail), watermark.revision, sent, life)
            corpus = Corpus(found.texts, found.text, vectors)
            ready = PreparedTexts(scope, key, view, found, corpus, embedder, vectors)
            self._ready[scope, choice] = ready
        fresh[scope, choice] = ready
        return ready


def captures_of(log: Log, scope: str, ids: Sequence[str]) -> dict[str, Event]:
    """Return captures of a scope from the log, without erased ones."""
    partition = partition_of(scope, log.partitions)
    erasures = erasures_of(log.erased(partition))
    found = dict[str, Event]()
    for id, offset in (log.known(scope, ids) if ids else {}).items():
        event = event_of(log.read(partition, offset, 1)[0].payload)
        if event is not None and isinstance(event.body, Captured) and not erasures.covers(event):
            found[id] = event
    return found


def _is_banned(opened: OpenIndex, event: Event) -> bool:
    """Return whether the views say that a capture is forgotten, by its id or by its text."""
    body, keys = event.body, [f"id:{event.id}"]
    assert isinstance(body, Captured)
    keys += [text_row_id(body.text)] if body.kind in FAMILIES else []
    return any(opened.row(TombstoneRow, key) is not None for key in keys)


def is_hidden(log: Log, found: ScopeTexts, scope: str, id: str) -> bool:
    """Whether a capture is hidden: by a ban of the views, or by one of the tail."""
    event = captures_of(log, scope, [id]).get(id)
    if event is None or not isinstance(event.body, Captured):
        return False
    if rows := found.opened.rows_called(id):
        row = found.current(rows[0])
        is_shown = row.archived_at is not None or found.texts.called(row.id) is not None
        return row.hidden or not is_shown or _is_banned(found.opened, event)
    if event.body.kind not in FAMILIES:
        return _is_banned(found.opened, event)
    return all(shown.id != id for shown in found.captured)
