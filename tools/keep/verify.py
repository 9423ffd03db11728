"""Verification of views against the log: a replay through the oracle, compared by leaves of the state hash.

Views whose leaves differ are compared row by row, page by page.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import NamedTuple, cast

from memtape.flows.projection import LoggedBodies, OnFold, fold_until
from memtape.schemas.log import Log
from memtape.schemas.metrics import tell_progress
from memtape.schemas.rows import Row, TableName, Watermark
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.page_files import kept
from memtape.sinks.tables import foreign
from memtape.sinks.vault import Vault
from memtape.state.core.digests import digest, logical_row, root, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition
from memtape.state.views.index_proof import index_leaf
from memtape.state.views.indexed import INDEXED, key_of
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import ROWS, all_changes, row_of
from memtape.tools.keep.found_views import (
    Content,
    Difference,
    FindingOrders,
    FoundViews,
    LeavesFound,
    ViewContent,
    Views,
    find_leaves,
    find_views,
    index_content,
)
from memtape.tools.keep.projector import cores, few_collections

LOCK_WAIT_S = 60
LEAST_EVENTS = 5_000
"""Views of fewer events are read before another process is of use: it needs half a second to start."""
NO_ROWS = digest([])  # The leaf of a table without rows.


class Verification(NamedTuple):
    """The result of a verification: `state_hash` of the log; `ok` if the views agree at `positions`.

    `kept` are people's changed files of the vault, saved beside the pages under another name.
    """

    ok: bool
    state_hash: str
    positions: dict[int, int]
    events: int
    differences: list[Difference]
    kept: tuple[str, ...] = ()


@few_collections()
def verify(
    home: Home,
    log: Log,
    *,
    build: Build | None = None,
    only: Collection[int] | None = None,
    replayed: Mapping[int, Partition] | None = None,
) -> Verification:
    """Replay the log up to the views' watermarks and compare, or for `only` some partitions.

    The views are read between two epochs of a living projector, then compared in peace. A `build` that
    is not served, and views that machines share, have no pages: they take part in the hash, and are not
    compared. A table that cannot be
    read is a difference. Partitions that the caller has `replayed` from their first event are not replayed
    again.
    """
    log.check()
    numbers = tuple(range(log.partitions) if only is None else only)
    replay = _Replay(home, log, build, replayed or {})
    with home.epoch_locks(numbers, LOCK_WAIT_S):
        place, number = os.path.abspath(home.path), build.number if build is not None else 0
        has_pages = build is None and home.shared is None
        orders = FindingOrders(home=place, build=number, partitions=numbers, has_pages=has_pages)
        finds = find_leaves(orders, apart=sum(log.ends()) >= LEAST_EVENTS and cores() > 1)
        marks = [next(finds, LeavesFound()).watermark for _ in numbers]
    total = sum(mark.offset for mark in marks if mark is not None)
    with closing(finds):
        for number, mark in zip(numbers, marks, strict=True):
            replay.compare(number, mark, finds, total)
    if has_pages and only is None:
        replay.find_strays()
    positions, differences = replay.positions, replay.differences
    events = sum(positions.values())
    return Verification(
        not differences, root(replay.leaves), positions, events, differences, tuple(kept(home))
    )


class _Replay:
    """The log up to the watermarks of the views: the leaves of the state hash, and where the views differ."""

    def __init__(self, home: Home, log: Log, build: Build | None, replayed: Mapping[int, Partition]) -> None:
        self._home, self._log, self._build, self._replayed = home, log, build, replayed
        self._vault = Vault(home) if build is None and home.shared is None else None
        self._scopes: dict[str, None] = {}
        self.leaves: dict[str, str] = {}
        self.positions: dict[int, int] = {}
        self.differences: list[Difference] = []

    def compare(self, number: int, mark: Watermark | None, finds: Iterator[LeavesFound], total: int) -> None:
        """Replay a partition up to the watermark of its views, and compare their leaves.

        `total` is the number of events of all partitions.
        """
        before = sum(self.positions.values())
        is_foreign = mark is not None and bool(foreign(self._log, mark))
        offset = 0 if mark is None or is_foreign else mark.offset
        state = self._replayed.get(number, Partition(number))
        state = self._fold(state, offset, lambda done, _: tell_progress("replaying", before + done, total))
        content, found = _expected(state), next(finds, LeavesFound())
        leaves = content.leaves(number)
        if not is_foreign and self._agree(leaves, found.leaves):
            leaves |= found.index
        else:
            state, leaves = self._compare_each(state)
        self._scopes |= dict.fromkeys(state.scopes)
        self.leaves |= leaves | state_leaves([state])
        self.positions[number] = state.offset
        tell_progress("replaying", before + state.offset, total)

    def find_strays(self) -> None:
        """Note pages of scopes of which the log has nothing; foreign files are no error."""
        vault = Vault(self._home)
        strays = (name for name in vault.scopes() if name not in self._scopes)
        strays = (name for name in strays if vault.read(name).keys() & vault.listed(name))
        self.differences += [Difference("vault", name, "", "unexpected") for name in strays]

    def _fold(self, state: Partition, offset: int, on_fold: OnFold = lambda done, total: None) -> Partition:
        """Return the state before an offset, folded on from a state that is not beyond the offset."""
        if not state.offset or state.offset > offset or state.stale:
            number = state.number
            state = Partition(number, erasures_of(self._log.erased(number)))
            state.bodies = LoggedBodies(self._log, number)
        fold_until(state, self._log, offset, on_fold)
        return state

    def _agree(self, leaves: dict[str, str], found: dict[str, str] | None) -> bool:
        """Return whether views have the leaves that follow from the log; a table without rows needs none."""
        compared = {
            name: leaf
            for name, leaf in leaves.items()
            if leaf != NO_ROWS and (self._vault is not None or not name.startswith("view/vault/"))
        }
        return compared == found

    def _compare_each(self, state: Partition) -> tuple[Partition, dict[str, str]]:
        """Note each difference of the views of a partition as they are now; return their state and leaves."""
        number = state.number
        with self._home.epoch_locks([number], LOCK_WAIT_S):
            found = find_views(self._build or self._home.current(), self._vault, number)
        mark = found.watermark
        if mark is not None and foreign(self._log, mark):
            mark, unexpected = None, Difference("watermarks", "", str(number), "unexpected")
            found = FoundViews(None, ViewContent({}, {}), {}, {}, [unexpected])
        state = self._fold(state, 0 if mark is None else mark.offset)
        expected = _expected(state)
        indexes = expected.indexes()
        compared = expected if self._vault is not None else expected._replace(pages={})
        self.differences += _differences(compared.places(indexes), found)
        return state, expected.leaves(number) | index_leaf(number, indexes)


def _expected(state: Partition) -> ViewContent:
    """Return the rows and pages that follow from a state."""
    expected = ViewContent({}, {})
    for name, scope in state.scopes.items():
        changes = all_changes(scope)
        for change in changes:
            if change.table in ROWS:
                expected.rows.setdefault(change.table, []).append(row_of(scope, change))
        pages = pages_of(state, changes)
        expected.pages[name] = {page.path: page.text.encode() for page in pages if page.text}
    return expected


def _differences(expected: Views, views: FoundViews) -> Iterator[Difference]:
    """Yield the differences of the views of a partition. Where something is unreadable, that alone is one."""
    indexes: dict[str, Content] = {}
    for name, opened in views.indexes.items():
        try:
            indexes[name] = index_content(opened)
        except Exception:  # Whatever is damaged: arrays that do not fit each other, records that are none.
            views.differences.append(Difference("index", name, "", "unreadable"))
    ours, theirs = views.content.places(indexes), ViewContent({}, views.theirs).places({})
    found = ours | theirs
    yield from views.differences
    unread = {difference[:2] for difference in views.differences}
    # The index has the keys of its texts alone.
    rows = (place for place in (*expected, *found) if place[0] in INDEXED)
    ids = {f"{key_of(cast(TableName, table), id):016x}": id for table, _, _, id in rows}
    for place in sorted(expected.keys() | ours.keys()):
        view, scope, _, id = place
        if (view, scope) in unread or (view, "") in unread:
            continue
        one, other = expected.get(place), found.get(place)
        if one != other and _logical(one) != _logical(other):
            what = "missing" if other is None else "unexpected" if one is None else "changed"
            yield Difference(view, scope, ids.get(id, id), what)


def _logical(value: Row | bytes | str | None) -> object:
    return value if value is None or isinstance(value, (bytes, str)) else logical_row(value)
