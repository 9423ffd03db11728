"""The searchable texts of one scope: its index with the events past the watermark laid over it, made ready.

Nothing is searched or ranked here, and tables are read only through the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from memtape.schemas.codec import body_of_capture
from memtape.schemas.events import PEOPLE, SPEAKING, Captured, Event, Filters, Mark, Origin
from memtape.schemas.log import Log
from memtape.schemas.rows import (
    EdgeRow,
    LifeMark,
    MemoryRow,
    SummaryRow,
    TombstoneRow,
    TurnRow,
    UseRow,
    Wording,
    archived_on,
    made_from,
    marks,
    stale,
    told_of_value,
)
from memtape.schemas.times import HOUR_US
from memtape.sinks.search_index import NOTHING, OpenIndex
from memtape.state.index.entries import (
    ARCHIVED,
    CUED,
    HIDDEN,
    KINDS,
    ORDERS,
    ORIGINS,
    PINNED,
    TAGGED,
    TURN,
    IndexEntry,
)
from memtape.state.index.parts import AT_HAND, EVERY_TEXT, Choice, Ints, MaskedSegment, part_of
from memtape.state.index.segments import Flags
from memtape.state.index.sorted_values import is_one_of
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import TextVectors
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, TextUse
from memtape.state.subjects.edges import Tie, resolved, tie_of, weight_at
from memtape.state.subjects.weights import ONE, hot, times_of
from memtape.state.text.instructions import NOTHING_HEARD, Heard, heard_in
from memtape.state.text.lexicon import SEARCH_STOP
from memtape.state.text.normal import words
from memtape.state.text.orders import words_named_by
from memtape.state.text.phrases import has_phrases
from memtape.state.text.reading import read
from memtape.state.text.terms import TOLD_LANGUAGES, terms
from memtape.state.views.context import Known, RankedItem, known_of, ranked_facts
from memtape.state.views.filters import NO_FILTERS, passes, summary_passes
from memtape.state.views.indexed import said_of_row_id, text_entry
from memtape.state.views.tail import Bans, keys_of_id, keys_of_row, keys_of_wording
from memtape.tools.query.results import Result, embedded_text, is_row_stale, result_of

FIRST_TURNS, LAST_TURNS = 3, 60
"""So many turns at the beginning and at the end of a session tell where it was left."""
LAST_SESSIONS = 12
"""Among so many of the latest sessions the last of each agent is looked for."""
TAIL_KEPT = 2_048
"""So many captures of tails are kept as index entries: a tail is read again after each capture."""
_SPOKEN = np.array([ORIGINS.index(origin) for origin in SPEAKING])
RowT = TypeVar("RowT", MemoryRow | TurnRow, MemoryRow | TurnRow | SummaryRow)
Said = MemoryRow | TurnRow | Event
"""The content of a place, summaries apart: a row, or a capture of the tail."""


Changed = dict[str, dict[str, Any]]


class ScopeTexts(NamedTuple):
    """The searchable texts of a scope, `indexed` ones and those of the tail, and the readers of their rows.

    `choice` says which texts are shown. `once` is a memo of results derived from all of this, `once_rows` of
    results derived from the rows alone, which outlive new captures. `fetched` has the rows that were read, by
    place: reading many at once costs little more than reading one. `changed` has the fields that the tail
    changes, by the id of the row or capture.
    """

    texts: Texts
    opened: OpenIndex
    captured: list[Event]
    indexed: int
    results: dict[int, Result]
    once: Once
    once_rows: Once
    fetched: dict[int, Any]
    changed: Changed
    choice: Choice

    @property
    def said(self) -> list[Event]:
        """The captures of the tail that are shown: none that is archived."""
        return [it for n, it in enumerate(self.captured, start=self.indexed) if self.texts.shown[n]]

    def row(self, place: int) -> Any:
        """Return the row of a place without the wordings hidden by the tail, or a capture of the tail."""
        if place >= self.indexed:
            return self.captured[place - self.indexed]
        head = self.texts.head(place)
        if head not in self.fetched:
            self.fetch([head])
        row = self.current(self.fetched[head])
        if not isinstance(row, MemoryRow) or not row.wordings:
            return row
        shown = tuple(its for n, its in enumerate(row.wordings, start=1) if self.texts.shown[head + n])
        return row if shown == row.wordings else replace(row, wordings=shown)

    def current(self, row: RowT) -> RowT:
        """Return a row as the tail leaves it: hidden or shown, pinned or not, archived or back."""
        return replace(row, **self.changed[row.id]) if row.id in self.changed else row

    @property
    def flags(self) -> Any:
        """The flags of all texts, as the tail leaves them."""
        return self.once.of("flags", None, self._flags) if self.changed else self.texts.flags

    def _flags(self) -> Any:
        flags = self.texts.flags.copy()
        for id, fields in self.changed.items():
            for n, place in self.opened.called(id):
                own = self.texts.starts[n] + place
                flags[own] = _flags_after(int(flags[own]), fields)
        return flags

    def fetch(self, places: Iterable[int]) -> None:
        """Read the rows of places at once. The captures of the tail are at hand, and are passed over."""
        heads = dict.fromkeys(self.texts.head(place) for place in places if place < self.indexed)
        missing = [head for head in heads if head not in self.fetched]
        rows = self.opened.rows_at([self.texts.where(head) for head in missing])
        self.fetched.update(zip(missing, rows, strict=True))

    def result(self, place: int) -> Result:
        """Return the result of a place, without relevance; `matched` is the wording at the place."""
        if place not in self.results:
            head, shown = self.texts.head(place), self.row(place)
            result = result_of(shown)
            if isinstance(shown, Event) and shown.id in self.changed:
                result = replace(result, **self.changed[shown.id])
                result = replace(result, marks=marks(result))
            if place != head:
                result = replace(result, matched=self.fetched[head].wordings[place - head - 1])
            past = self.choice.past
            if past is not None and not result.sums and result.archived_at is None and result.at <= past:
                result = replace(result, archived_at=past, marks=(*result.marks, archived_on(past)))
            self.results[place] = result
        return self.results[place]

    def standing(self, place: int) -> int:
        """Return the place of the shown text that covers a memory, else the memory's own place."""
        row = self.row(place)
        into = row.into if isinstance(row, MemoryRow) else None
        other = None if into is None else self.texts.called(into)
        return place if other is None else self.standing(other)

    def heir(self, place: int) -> int | None:
        """Return the place of a replaced memory's valid successor, or of a more trusted text it contradicts.

        None for a valid memory, or without a shown successor.
        """
        heir, seen = place, list[int]()
        while heir not in seen:
            seen.append(heir)
            row = self.row(heir)
            if not isinstance(row, MemoryRow):
                break
            by = row.replaced_by or row.outdated_by or row.contradicts
            after = None if by is None else self.texts.called(by)
            if after is None:
                break
            heir = self.standing(after)
        return None if heir == place else heir

    def place_of(self, result: Result) -> int | None:
        """Return the place of the text by which a result was found, None where the result is not shown."""
        place = self.texts.called(result.id)
        if place is None or result.matched is None:
            return place
        self.fetch([place])
        wordings: tuple[Wording, ...] = self.fetched[place].wordings
        return place + 1 + wordings.index(result.matched)

    def text(self, place: int) -> str:
        """Return the whole text of a place with the captions of its media."""
        result = self.result(place)
        return embedded_text(result) if result.matched is None else result.matched.text

    def uses(self) -> dict[str, UseRow]:
        """Return the uses of the scope's captures, by the ids of their rows."""
        return self.once_rows.of("uses", None, lambda: {row.id: row for row in self.opened.rows(UseRow)})

    @property
    def _heads(self) -> Any:
        return self.texts.shown & (self.texts.whole("wordings") == 0)

    def known(self) -> list[MemoryRow | TurnRow]:
        """Return the shown rows of memories, and of turns of people that may instruct, by their keys."""
        return [row for row, _ in self.heard()]

    def closed(self) -> list[MemoryRow]:
        """Return the known memories that hold no more."""
        rows = (row for row in self.known() if isinstance(row, MemoryRow))
        return self.once_rows.of("closed", None, lambda: [row for row in rows if row.valid_to is not None])

    def heard(self) -> list[tuple[MemoryRow | TurnRow, Heard | None]]:
        """Return the `known` rows, each with its instruction by people: None where its text is to be read."""
        return self.once_rows.of("rows", None, self._heard)

    def _heard(self) -> list[tuple[MemoryRow | TurnRow, Heard | None]]:
        flags = self.texts.flags
        places = np.flatnonzero(((flags & TURN == 0) | (flags & CUED != 0)) & self._heads)
        own = places[places < self.indexed].tolist()
        self.fetch(own)
        rows = list[tuple[MemoryRow | TurnRow, Heard | None]]()
        for place, cued in zip(own, (flags[own] & CUED != 0).tolist(), strict=True):
            row = self.row(place)
            if isinstance(row, MemoryRow | TurnRow):
                rows.append((row, None if cued else NOTHING_HEARD))
        return sorted(rows, key=lambda it: it[0].key)

    def latest_turns(self, count: int) -> list[MemoryRow | TurnRow]:
        """Return the rows of the latest turns that are shown, the latest first, at most `count`."""
        places = np.flatnonzero(self.texts.shown & (self.texts.flags & TURN != 0))
        latest = places[np.argsort(-self.texts.column("at", places), kind="stable")][:count].tolist()
        self.fetch(latest)
        return [row for place in latest if isinstance(row := self.row(place), TurnRow)]

    def ordering(self) -> list[Said]:
        """Return the texts with a possible order by a person about memory, as captures where in the tail.

        An archived order is still valid.
        """
        places = np.flatnonzero(self.texts.flags[: self.indexed] & ORDERS).tolist()
        places = [it for it in places if self.texts.shown[it] or self._is_archived(it)]
        self.fetch(places)
        ordering = [self.row(it) for it in places]
        return [*ordering, *(event for event in self.captured if event.actor.origin in PEOPLE)]

    def _is_archived(self, place: int) -> bool:
        n, row = self.texts.where(place)
        told = int(self.flags[place]), self.opened.segments[n].at[row]
        return bool(self.opened.living[n][row] and EVERY_TEXT.takes(*told) and not self.choice.takes(*told))

    def last_sessions(self, but: str | None) -> list[list[Said]]:
        """Return the turns, in order, of the last active session, and of each other agent's last session.

        A session without a turn or action of an agent counts only where no other exists: an unanswered prompt
        leaves nothing. `but` is the caller's session, which is left out. `ends_of` shortens long sessions.
        """
        texts = self.texts
        turns = texts.shown & (texts.flags & TURN != 0)
        spoken = is_one_of(texts.whole("origins"), _SPOKEN)
        if but is not None and (own := texts.sessions.number_of(but)) is not None:
            turns &= texts.sessions.number != own
        places = np.flatnonzero(turns & spoken)
        numbers = texts.sessions.number[places[np.argsort(-texts.column("at", places), kind="stable")]]
        agents: dict[str | None, None] = {None: None}
        told, unanswered = list[Ints](), list[Ints]()
        for number in list(dict.fromkeys(numbers.tolist()))[:LAST_SESSIONS]:
            same = np.flatnonzero(turns & (texts.sessions.number == number))
            origins = texts.column("origins", same)
            by_agent = same[origins == ORIGINS.index("agent")].tolist()
            # Subagents share the name of their agent.
            agent = self.result(by_agent[0]).actor.partition(" ")[0] if by_agent else None
            if agent is None and not (origins == ORIGINS.index("tool")).any():
                unanswered.append(same)
            elif not told or agent not in agents:
                told.append(same)
                agents[agent] = None
        ends = [self.ends_of(same) for same in told or unanswered[:1]]
        self.fetch(place for its in ends for place in its)
        return [[self.row(place) for place in its] for its in ends]

    def ends_of(self, session: Ints) -> list[int]:
        """Return the places of the beginning and end of a whole session, in the order of its turns.

        These are the first and last words of people and agents, and the last outputs of tools.
        """
        spoken = is_one_of(self.texts.column("origins", session), _SPOKEN)
        ordered = np.argsort(self.texts.column("at", session), kind="stable")
        said, put_out = ordered[spoken[ordered]], ordered[~spoken[ordered]]
        kept = np.concatenate([said[:FIRST_TURNS], said[-LAST_TURNS:], put_out[-LAST_TURNS:]])
        places: list[int] = session[ordered[is_one_of(ordered, kept)]].tolist()
        return places

    def places(self) -> list[int]:
        """Return the places of all that is shown, each memory once."""
        return np.flatnonzero(self._heads).tolist()


def found_of(
    opened: OpenIndex,
    tail: Sequence[Event],
    text_at: Callable[[int], str | None],
    before: ScopeTexts | None = None,
    choice: Choice = AT_HAND,
) -> ScopeTexts:
    """Return the visible texts of an index after its tail, followed by the tail's captures.

    `text_at` gives the captured text at an offset of the log, None if erased. `before` is the previous value
    of the same scope and choice, reused as far as valid.
    """
    parts, captured, changed = opened.parts(choice), list[Event](), Changed()
    if tail:
        captured, changed = _laid_over(opened, parts, tail, text_at, choice)
    if captured:
        usual = None if opened is NOTHING else opened.manifest.usual
        parts.append(part_of([_entry_of_event(it, changed.get(it.id)) for it in captured], usual, choice))
    texts, once_rows, fetched = Texts(parts), Once(), dict[int, Any]()
    indexed = texts.size - len(captured)
    if before is not None and before.opened is opened and before.choice == choice:
        # The same index has the same rows at the same places, whatever the tail.
        fetched = before.fetched
        same = np.array_equal(texts.shown[:indexed], before.texts.shown[: before.indexed])
        once_rows = before.once_rows if same and changed == before.changed else once_rows
    return ScopeTexts(texts, opened, captured, indexed, {}, Once(), once_rows, fetched, changed, choice)


def _laid_over(
    opened: OpenIndex,
    parts: Sequence[MaskedSegment],
    tail: Sequence[Event],
    text_at: Callable[[int], str | None],
    choice: Choice,
) -> tuple[list[Event], Changed]:
    """Hide and show the rows that a tail touches; return the captures of the tail, and what it changes."""
    known = opened.knows([event.id for event in tail])
    new = {event.id: None for event in tail if event.id not in known}
    banned = opened.has_any(TombstoneRow)

    def keys_of(id: str) -> list[str] | None:
        for row in opened.rows_at(opened.called(id)[:1]) if id not in new else ():
            return None if isinstance(row, SummaryRow) else keys_of_id(row, id, text_at)
        return None

    @cache
    def banned_at(key: str) -> int | None:
        return row.at if banned and (row := opened.row(TombstoneRow, key)) is not None else None

    bans = Bans(keys_of, banned_at)
    captured = bans.walk(tail)
    moved, changed = _apply_bans(opened, parts, bans, choice)
    changed |= {event.id: fields for event in captured if (fields := bans.decided((event.id,)))}
    for n, (segment, part) in enumerate(zip(opened.segments, parts, strict=True)):
        if bans.paths or bans.moves_pages:
            # The tail captured another version of a page, or may show others.
            pages = np.flatnonzero(segment.kinds[: segment.size] == KINDS.index("page")).tolist()
            for place, row in _rows_at(opened, n, pages):
                if isinstance(row, MemoryRow) and (bans.moves_pages or row.path in bans.paths):
                    part.shown[segment.with_wordings(place)] = False
        # Summaries of texts that the tail hides or shows are to be made again.
        summaries = np.flatnonzero(part.shown).tolist() if choice.summaries and moved else []
        for place, row in _rows_at(opened, n, summaries):
            part.shown[place] = moved.keys().isdisjoint(row.sources)
    return [] if choice.summaries else captured, changed


def _rows_at(opened: OpenIndex, number: int, places: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Yield the living ones of some documents of a segment, each with its row."""
    living = [place for place in places if opened.living[number][place]]
    yield from zip(living, opened.rows_at([(number, place) for place in living]), strict=True)


def _apply_bans(
    opened: OpenIndex, parts: Sequence[MaskedSegment], bans: Bans, choice: Choice
) -> tuple[dict[str, None], Changed]:
    """Hide and show the rows touched by the bans, after their walk over the tail.

    Return the touched ids, and what the bans change of rows.
    """
    waiting = [place for id in bans.touched for place in opened.called(id)]
    waiting += [place for key in bans.texts() for place in opened.saying(said_of_row_id(key))]
    met, moved, changed = dict[tuple[int, int], None](), dict(bans.touched), Changed()
    opened.rows_at(waiting)  # They are kept in memory, and reading them at once costs what one costs.
    while waiting:
        n, place = at = waiting.pop()
        segment = opened.segments[n]
        (row,), own = opened.rows_at([at]), segment.with_wordings(place)
        if at in met or isinstance(row, SummaryRow):
            continue
        met[at] = None
        if isinstance(row, MemoryRow) and row.into is not None:  # A cover names its sources.
            waiting += opened.called(row.into)
        moved |= dict.fromkeys(ids := (row.id, *(row.ids if isinstance(row, MemoryRow) else ())))
        fields, is_hidden = bans.decided(ids), bans.hide(keys_of_row(row), row.hidden)
        if fields or is_hidden is not row.hidden:
            changed[row.id] = fields | {"hidden": is_hidden}
        flags = _flags_after(int(segment.flags[place]), fields)
        wanted = bool(choice.takes(flags & ~HIDDEN, segment.at[place]))
        waits = row.kind == "page" and row.hidden  # Which version of a page is shown, the projector decides.
        parts[n].shown[own] = wanted and not waits and not is_hidden
        for other, wording in zip(own[1:], row.wordings if isinstance(row, MemoryRow) else (), strict=True):
            parts[n].shown[other] &= not bans.hide(keys_of_wording(row, wording), row.hidden)
    return moved, changed


def _flags_after(flags: int, fields: Mapping[str, Any]) -> int:
    """Return the flags of a text of which the tail decides some fields."""
    for name, flag in (("pinned", PINNED), ("archived_at", ARCHIVED)):
        if name in fields:
            flags = flags | flag if fields[name] else flags & ~flag
    return flags


@lru_cache(maxsize=TAIL_KEPT)
def _entry_as_said(event: Event) -> IndexEntry:
    result = result_of(event)
    return text_entry(result, result.captions, result.last_at)


def _entry_of_event(event: Event, fields: Mapping[str, Any] | None) -> IndexEntry:
    entry = _entry_as_said(event)
    return entry if fields is None else entry._replace(flags=_flags_after(entry.flags, fields))


def among_of(
    found: ScopeTexts, filters: Filters, valid_at: int | None = None, phrases: Sequence[str] = ()
) -> Among | None:
    """Return a filter of places, None where all pass.

    At `valid_at` (microseconds) pass the facts that were valid then, and the turns said by then. With
    `phrases` pass texts that hold each of them.
    """
    among = _filtered(found, filters, valid_at)
    if not phrases:
        return among
    holding = [_rows_with(found.texts, word) for phrase in phrases for word in words(phrase)]

    def phrased(places: Ints) -> Ints:
        for rows in filter(None, holding):
            places = np.compress(is_one_of(places, np.concatenate(rows)), places)
        places = places if among is None else among(places)
        found.fetch(places.tolist())
        return places[[has_phrases(found.text(place), phrases) for place in places.tolist()]]

    return phrased


def _filtered(found: ScopeTexts, filters: Filters, valid_at: int | None) -> Among | None:
    """Return a filter of places by `filters` and validity; columns of the index answer where they can."""
    texts = found.texts
    if valid_at is None and filters == NO_FILTERS:
        return None
    if found.choice.summaries:

        def summed(places: Ints) -> Ints:
            found.fetch(places.tolist())
            return places[[summary_passes(found.row(place), filters) for place in places.tolist()]]

        return summed
    kinds = _passing(KINDS, filters.kinds, filters.not_kinds)
    origins = _passing(ORIGINS, filters.origins, filters.not_origins)
    sessions, not_sessions = (
        np.array([n for it in named if (n := texts.sessions.number_of(it)) is not None], np.int64)
        for named in (filters.sessions, filters.not_sessions)
    )
    by_maker = bool(filters.origins or filters.sessions or filters.not_origins or filters.not_sessions)
    by_tag = bool(filters.tags or filters.not_tags)
    speakers = texts.speakers_called(filters.actors)

    def among(places: Ints) -> Ints:
        flags, at = texts.flags[places], texts.column("at", places)
        turns, tagged = flags & TURN != 0, flags & TAGGED != 0
        keep = kinds[texts.column("kinds", places)]
        keep &= True if filters.since is None else at >= filters.since
        keep &= True if filters.until is None else at < filters.until
        if filters.tags:
            keep &= tagged
        if filters.actors:
            keep &= sum((texts.spoken_by(name, places) for name in speakers), np.zeros_like(keep))
        if by_maker:
            own, number = origins[texts.column("origins", places)], texts.sessions.number[places]
            if filters.sessions:
                own &= is_one_of(number, sessions)
            keep &= ~turns | (own & ~is_one_of(number, not_sessions))
        # Of turns the columns tell all but tags and tiers, and most are turns.
        unread = ~turns & by_maker | tagged & by_tag | bool(filters.tiers)
        _keep(found, places, keep, unread, lambda result: passes(result, filters))
        if valid_at is not None:
            keep &= ~turns | (at <= valid_at)
            _keep(found, places, keep, ~turns, lambda result: _held_at(result, valid_at))
        return np.compress(keep, places)

    return among


def _rows_with(texts: Texts, word: str) -> list[Ints]:
    """Return the rows of the texts that may have a word, by language; none for a word that is not indexed."""
    if word in SEARCH_STOP:
        return []
    return [texts.found(term).rows for it in TOLD_LANGUAGES for term in terms(word, it)]


def _keep(
    found: ScopeTexts, places: Ints, keep: Flags, asked: Flags, fits: Callable[[Result], bool]
) -> None:  # fmt: skip
    """Keep of the asked places those whose results fit; their rows are read at once."""
    numbers = np.flatnonzero(keep & asked).tolist()
    found.fetch(places[numbers].tolist())
    for n in numbers:
        keep[n] = fits(found.result(int(places[n])))


def _passing(known: Sequence[str], wanted: Sequence[str], unwanted: Sequence[str]) -> Flags:
    """Return a mask of the known values in `wanted`, or all where none is wanted, and not in `unwanted`."""
    return np.array([(not wanted or it in wanted) and it not in unwanted for it in known], np.bool_)


def _held_at(result: Result, time: int) -> bool:
    """Return whether a result was valid at a time; a value may have held before another came between."""
    times = ((result.valid_from, result.valid_to), *map(msgspec.structs.astuple, result.held))
    return any(since <= time and (end is None or time < end) for since, end in times)


ResultT = TypeVar("ResultT")


class Once(dict[str, tuple[object, Any]]):
    """The last result under each name, with the arguments of its making besides the immutable object."""

    def of(self, name: str, asked: object, make: Callable[[], ResultT]) -> ResultT:
        """Return the result of `make`, or its last result if `asked` is equal; no caller changes it."""
        kept = self.get(name)
        if kept is None or kept[0] != asked:
            kept = self[name] = asked, make()
        result: ResultT = kept[1]
        return result


class Dense(Protocol):
    """The vectors of a search, quantised as in `state/vectors/recorded.py`; all of one embedder."""

    note: str
    """The reason for a missing vector of the last question; empty if it had a vector."""

    def of_query(self, text: str, embedder: str) -> NDArray[np.int16] | None:
        """Return the vector of a question, shape (dimensions,); None where words must do."""

    def of_texts(self, found: ScopeTexts, embedder: str) -> TextVectors | None:
        """Return the vectors of a scope's searchable texts, None where no text has one under the embedder."""


class ScopeView(NamedTuple):
    """The position of one scope's views, the time of its last event (0 for none), and the project's state."""

    mark: Mark
    lag: int
    revision: int
    sent: int
    life: LifeMark


class PreparedTexts(NamedTuple):
    """A scope's visible texts, prepared for ranking; valid while `key` is the same.

    `key` has the inputs: the tables with their positions, and the ids of the tail.
    """

    scope: str
    key: tuple[object, ...]
    view: ScopeView
    found: ScopeTexts
    corpus: Corpus
    embedder: str
    vectors: TextVectors | None

    def used_at(self, now: int) -> PreparedTexts:
        """Return the texts with uses and edges as of the hour of `now`."""
        if not self.found.uses():
            return self
        hour = now - now % HOUR_US
        used = self.found.once_rows.of("use", hour, partial(uses_at, self.found, hour))
        return self._replace(corpus=self.corpus.with_use(used))


def ties_of(found: ScopeTexts, now: int) -> list[Tie]:
    """Return the edges between what is shown of a scope, at a time.

    A memory is named by its earliest id that an edge has: no row is read.
    """
    edges = list(found.opened.rows(EdgeRow))
    ends = sorted({id: None for edge in edges for id in (edge.source, edge.target)})
    named: dict[int, str] = {}
    placed = [(id, place) for id in ends if (place := found.texts.called(id)) is not None]
    return resolved(map(tie_of, edges), {id: named.setdefault(place, id) for id, place in placed}, now)


def uses_at(found: ScopeTexts, now: int) -> dict[int, TextUse]:
    """Return the number and recency of uses of each used text in a scope, and its edges, at a time."""
    uses = found.uses()
    times = {id: row.times for id, row in uses.items()}
    ids_at: dict[int, list[str]] = {}
    for id in uses:
        if (place := found.texts.called(id)) is not None:
            ids_at.setdefault(place, []).append(id)
    neighbours: dict[int, list[tuple[str, float]]] = {}
    for tie in ties_of(found, now):
        weight = min(1.0, weight_at(tie, now) / ONE)
        for one, other in ((tie.source, tie.target), (tie.target, tie.source)):
            if (place := found.texts.called(one)) is not None:
                neighbours.setdefault(place, []).append((other, weight))
    found_uses = dict[int, TextUse]()
    for place in dict.fromkeys((*ids_at, *neighbours)):
        ids = ids_at.get(place, [])
        used = sum(uses[id].used for id in ids)
        heat = hot(times_of(ids, times, own=True), now) / ONE
        found_uses[place] = TextUse(used, heat, tuple(neighbours.get(place, ())))
    return found_uses


def text_at(log: Log, partition: int, offset: int) -> str | None:
    """Return the captured text at an offset, None for other events and erased ones."""
    body = next((body_of_capture(slot.payload) for slot in log.read(partition, offset, 1)), None)
    return None if body is None else body.text


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A person's order about memory. `ids` are all captures of the order, which ends when all are forgotten.

    `about` has the order's topic words in lower case: texts with all of them, in any form, are left out of
    unasked context. An order without a topic, as "forget what I said", has none.
    """

    ids: tuple[str, ...]
    scope: str
    text: str
    at: int
    actor: str
    origin: Origin
    about: tuple[str, ...]


def orders_among(found: ScopeTexts) -> Iterator[Order]:
    """Yield the orders in a scope's statements by people, a sentence each."""
    for said in map(result_of, found.ordering()):
        for text in heard_in(read(said.text)).orders:
            yield made_from(Order, said, ids=(said.id,), text=text, about=words_named_by(text))


_BEHIND = 10**15
"""The order of texts that no view has counted yet."""


def known_in(found: ScopeTexts, now: int) -> list[Known]:
    """Return all candidates for a start from a scope, at a time in microseconds."""
    of_rows = _known_rows(found, now)
    return found.once.of("known", now, lambda: [*of_rows, *known_among((), found.said, now)])


def _known_rows(found: ScopeTexts, now: int) -> list[Known]:
    return found.once_rows.of("known", now, lambda: list(_told(found.heard(), now)))


def facts_in(found: ScopeTexts, now: int) -> list[RankedItem]:
    """Return the ranked facts among the candidates of `known_in`; those of rows are ranked once an hour."""
    of_rows = _known_rows(found, now)
    ranked = found.once_rows.of("facts", now, lambda: sorted(ranked_facts(of_rows, now), key=itemgetter(0)))
    return [*ranked, *ranked_facts(known_in(found, now)[len(of_rows) :], now)]


def known_among(rows: Sequence[MemoryRow | TurnRow], captured: Sequence[Event], now: int) -> Iterator[Known]:
    """Yield rows and captures of a tail as a start knows them, but no memory for which another stands."""
    yield from _told(((row, None) for row in rows), now)
    for place, event in enumerate(captured):
        assert isinstance(event.body, Captured)
        own = {"last_at": event.at, "valid_from": event.at, "order": _BEHIND + place}
        given = event.body.importance_given
        yield made_from(Known, result_of(event), **own, importance_given=given)


def _told(rows: Iterable[tuple[MemoryRow | TurnRow, Heard | None]], now: int) -> Iterator[Known]:
    """Yield context rows, each with its instruction by people where known, its value, and its staleness."""
    for row, heard in rows:
        memory = row if isinstance(row, MemoryRow) else None
        if memory is None or memory.into is None:
            notes = () if memory is None else told_of_value(memory)
            if memory is not None and is_row_stale(memory, now):
                notes = (*notes, stale(memory.last_at))
            yield known_of(row, notes, heard)
