"""The list of a scope's memories: narrowed, counted and sorted by the numbers of the index, a page at a time.

Rows are read for the page alone, and for a filter by tag. Hidden and archived memories are listed where their
standing is asked for. Nothing is ranked or changed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np

from memtape.schemas.events import Kind
from memtape.schemas.log import Log
from memtape.schemas.rows import Listed, MemoryRow, Sort, Standing, UseRow
from memtape.schemas.scopes import partition_of
from memtape.state.core.erasures import erasures_of
from memtape.state.index.entries import (
    ARCHIVED,
    CONTRADICTED,
    HIDDEN,
    KINDS,
    PINNED,
    REPLACED,
    SUMMARY,
    TAGGED,
)
from memtape.state.index.parts import Ints, joined
from memtape.state.index.segments import Flags
from memtape.state.index.sorted_values import is_one_of
from memtape.tools.query.found import ScopeTexts
from memtape.tools.query.looking import check_limit
from memtape.tools.query.results import Result, judged
from memtape.tools.query.retrieval import Retriever

STANDINGS: tuple[Standing, ...] = ("valid", "replaced", "contradicted", "archived", "forgotten")
AT_HAND: tuple[Listed, ...] = STANDINGS[:3]
"""What is listed by default: all that a search finds."""


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The filters and the page of a list: any of the kinds, actors (in any letter case) and
    standings, all of the tags.

    Without kinds all but turns are listed. `since` and `until` are in microseconds, half open. `after` is the
    number of memories on the pages before. The tag `#wood` is the tag `wood`.
    """

    limit: int
    after: int = 0
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    standings: tuple[Listed, ...] = ()
    since: int | None = None
    until: int | None = None
    sort: Sort = "latest"


class MemoryList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of memories. `count` is the number of all that match, `after` that on the pages before.

    `kinds`, `actors` and `standings` count what the whole scope holds; actors and kinds count the memories
    and turns at hand. `lag` is the number of events that the views lack.
    """

    scope: str
    results: tuple[Result, ...]
    count: int
    after: int
    lag: int
    kinds: dict[Kind, int]
    actors: dict[str, int]
    standings: dict[Listed, int]


class ScopeColumns(NamedTuple):
    """The numbers of N listable texts of a scope: places (ascending), standing (place in `STANDINGS`), pins,
    and actor (place in `names`).
    """

    places: Ints
    standing: Ints
    pinned: Flags
    actor: Ints
    names: tuple[str, ...]


def listed_of(retriever: Retriever, scope: str, asked: ListQuery) -> MemoryList:
    """Return a page of the memories of a scope that match. Raises `MemtapeError` for an invalid limit."""
    check_limit(asked.limit)
    found, view = retriever.found(scope)
    every = found.once.of("listable", None, partial(_columns, found, retriever.log, scope))
    kinds = found.texts.column("kinds", every.places)
    matching = np.flatnonzero(_matches(found, every, kinds, asked))
    ordered = _ordered(found, every, matching, asked.sort)[asked.after : asked.after + asked.limit]
    now = retriever.now([view])
    found.fetch(every.places[ordered].tolist())
    at_hand = every.standing < len(AT_HAND)
    counted = np.bincount(every.standing, minlength=len(STANDINGS)).tolist()
    return MemoryList(
        scope=scope,
        results=tuple(
            _result(found, int(every.places[n]), STANDINGS[every.standing[n]], now) for n in ordered.tolist()
        ),
        count=len(matching),
        after=asked.after,
        lag=view.lag,
        kinds={kind: n for kind, n in _counts(KINDS, kinds[at_hand]).items() if kind},  # type: ignore[misc]
        actors=_counts(every.names, every.actor[at_hand]),
        standings=dict(zip(STANDINGS, counted, strict=True)) | {"pinned": int(every.pinned.sum())},
    )


def _columns(found: ScopeTexts, log: Log, scope: str) -> ScopeColumns:
    """Return the numbers of all memories and turns of a scope, hidden and archived ones included."""
    texts, opened = found.texts, found.opened
    is_new = np.ones(len(found.captured), np.bool_)
    living = joined([*(alive[: part.size] for part, alive in opened.pairs), is_new], np.bool_)
    restorable = joined([*map(opened.restorable, range(len(opened.segments))), is_new], np.bool_)
    flags, at = found.flags, texts.whole("at")
    is_hidden, is_archived = flags & HIDDEN != 0, flags & ARCHIVED != 0
    if found.choice.past is not None:
        is_archived |= at <= found.choice.past
    # The tail shows and hides texts that the views do not know to be so.
    is_page = texts.whole("kinds") == KINDS.index("page")
    forgotten = ~texts.shown & np.where(is_hidden, restorable, ~is_archived & ~is_page)
    listable = living & (flags & SUMMARY == 0) & (texts.whole("wordings") == 0)
    listable &= texts.shown | forgotten | (is_archived & ~is_hidden)
    listable[_erased(found, log, scope)] = False
    places = np.flatnonzero(listable)
    own = flags[places]
    standing = np.select(
        [forgotten[places], ~texts.shown[places], own & REPLACED != 0, own & CONTRADICTED != 0], [4, 3, 1, 2]
    )
    actor, names = _actors(found)
    pinned = texts.shown[places] & (own & PINNED != 0)
    return ScopeColumns(places, standing, pinned, actor[places], names)


def _erased(found: ScopeTexts, log: Log, scope: str) -> list[int]:
    """Return the places of texts that were erased, and stand in the views until these are written again."""
    erased = erasures_of(log.erased(partition_of(scope, log.partitions))).named.get(scope, {})
    called = (at for id in found.opened.knows(list(erased)) for at in found.opened.called(id))
    return [found.texts.starts[n] + row for n, row in called]


def _actors(found: ScopeTexts) -> tuple[Ints, tuple[str, ...]]:
    """Return the actor of each text as a place among the names of all actors, in their order."""
    segments = [part.segment for part in found.texts.parts]
    own = [segment.speaker_names() for segment in segments]
    names = tuple(sorted({name: None for each in own for name in each}, key=lambda it: (it.casefold(), it)))
    number = {name: n for n, name in enumerate(names)}
    ranks = [np.array([number[name] for name in each], np.int64) for each in own]
    pairs = zip(ranks, segments, strict=True)
    return joined([rank[segment.speakers] for rank, segment in pairs], np.int64), names


def _matches(found: ScopeTexts, every: ScopeColumns, kinds: Ints, asked: ListQuery) -> Flags:
    """Return a mask of the texts that pass the filters. Rows are read for a filter by tag alone."""
    wanted = asked.kinds or [kind for kind in KINDS if kind != "turn"]
    keep = is_one_of(kinds, np.array([KINDS.index(kind) for kind in wanted]))
    standings = asked.standings or AT_HAND
    numbers = [STANDINGS.index(it) for it in standings if it != "pinned"]
    stands = is_one_of(every.standing, np.array(numbers, np.int64))
    keep &= stands | every.pinned if "pinned" in standings else stands
    if asked.actors:
        authors = {name.casefold() for name in asked.actors}
        named = [n for n, name in enumerate(every.names) if name.casefold() in authors]
        keep &= is_one_of(every.actor, np.array(named, np.int64))
    at = found.texts.column("at", every.places)
    if asked.since is not None:
        keep &= at >= asked.since
    if asked.until is not None:
        keep &= at < asked.until
    if asked.tags:
        keep &= found.texts.flags[every.places] & TAGGED != 0
        tagged = np.flatnonzero(keep)
        found.fetch(every.places[tagged].tolist())
        for n in tagged.tolist():
            tags = [tag.lstrip("#") for tag in found.result(int(every.places[n])).tags]
            keep[n] = all(tag.lstrip("#") in tags for tag in asked.tags)
    return keep


def _ordered(found: ScopeTexts, every: ScopeColumns, chosen: Ints, sort: Sort) -> Ints:
    """Return some texts in an order; equals stand by time, the latest first."""
    places = every.places[chosen]
    times = np.argsort(found.texts.column("at", places), kind="stable")
    if sort == "oldest":
        return chosen[times]
    latest = chosen[times[::-1]]
    match sort:
        case "latest":
            return latest
        case "uses":
            known = found.once_rows.of("use counts", None, partial(_use_counts, found))
            new = np.zeros(len(found.captured), np.int64)
            keys = -np.concatenate([known, new])[every.places[latest]]
        case "kind":
            keys = found.texts.whole("kinds")[every.places[latest]]
        case "actor":
            keys = every.actor[latest]
    ordered: Ints = latest[np.argsort(keys, kind="stable")]
    return ordered


def _use_counts(found: ScopeTexts) -> Ints:
    """Return the number of uses of each text of a scope's index."""
    counts = np.zeros(found.indexed, np.int64)
    for row in found.opened.rows(UseRow):
        for n, place in found.opened.called(row.id):
            counts[found.texts.starts[n] + place] += row.used
    return counts


def _result(found: ScopeTexts, place: int, standing: Standing, now: int) -> Result:
    row = found.row(place)
    used = None if isinstance(row, MemoryRow) else found.opened.row(UseRow, row.id)
    result = judged(found.result(place), row, now)
    return msgspec.structs.replace(result, standing=standing, uses=result.uses if used is None else used.used)


def _counts(names: Sequence[str], numbers: Ints) -> dict[str, int]:
    """Return how often each name's place stands among numbers, without those that do not."""
    counted = np.bincount(numbers, minlength=len(names)).tolist()
    return {name: count for name, count in zip(names, counted, strict=True) if count}
