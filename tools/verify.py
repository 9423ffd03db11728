"""Whether the views are what the log says: a replay through the oracle, compared row by row and page by page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from recollect.schemas.log import Log, Slot
from recollect.schemas.rows import GoneRow, Row
from recollect.sinks.home import Home
from recollect.sinks.lance import ROW_TYPES, Shard
from recollect.sinks.vault import Vault, render
from recollect.state.digests import RULES, digest, logical_row, root, rows_digest, state_leaves
from recollect.state.replay import Replay
from recollect.state.scope import Scope
from recollect.state.views import all_changes, pages_of, row_of

PAGE_SLOTS = 5_000
LOCK_WAIT_S = 60


class Difference(NamedTuple):
    """Something that a view holds otherwise than the log says. `what` is missing, unexpected or changed."""

    view: str
    scope: str
    id: str
    what: str


class Verdict(NamedTuple):
    """`state_hash` is what the log says; `ok` that the views say the same at `positions`."""

    ok: bool
    state_hash: str
    positions: dict[int, int]
    events: int
    differences: list[Difference]


def verify(home: Home, log: Log) -> Verdict:
    """Replay the log up to the views' watermark and compare. Holds the epoch lock while it reads the views."""
    lock = home.epoch_lock()
    lock.acquire(LOCK_WAIT_S)
    try:
        shards = {number: Shard(home.shard(number), number) for number in range(log.partitions)}
        watermarks = {number: shard.watermark() if shard.exists() else None for number, shard in shards.items()}
        positions = {number: mark.offset if mark else 0 for number, mark in watermarks.items()}
        replayed = Replay()
        for number, end in positions.items():
            replayed.feed(_slots(log, number, end))
        leaves = state_leaves(replayed.partitions.values())
        differences: list[Difference] = []
        for number, shard in shards.items():
            scopes = replayed.partitions[number].scopes if number in replayed.partitions else {}
            differences += _compare_tables(number, shard, scopes, leaves)
        differences += _compare_vault(Vault(home), replayed, leaves)
    finally:
        lock.release()
    return Verdict(not differences, root(leaves), positions, sum(positions.values()), differences)


def _slots(log: Log, partition: int, end: int) -> Iterator[Slot]:
    offset = 0
    while offset < end:
        slots = log.read(partition, offset, min(PAGE_SLOTS, end - offset))
        yield from slots
        offset = slots[-1].offset + 1


def _compare_tables(
    number: int, shard: Shard, scopes: dict[str, Scope], leaves: dict[str, str]
) -> Iterator[Difference]:
    for table in ROW_TYPES:
        expected: dict[str, Row] = {}
        for scope in scopes.values():
            changes = (change for change in all_changes(scope) if change.table == table)
            for row in (row_of(scope, change) for change in changes):
                expected[row.key] = row
        if expected:
            leaves[f"view/{table}/{number}@{RULES['views']}"] = rows_digest(expected.values())
        found: dict[str, Row] = {row.key: row for row in shard.all_rows(table)}
        for key in sorted(expected.keys() | found.keys()):
            what = _difference(_logical(expected.get(key)), _logical(found.get(key)))
            if what:
                row = expected.get(key) or found[key]
                yield Difference(table, row.scope, row.id, what)


def _compare_vault(vault: Vault, replayed: Replay, leaves: dict[str, str]) -> Iterator[Difference]:
    for partition in replayed.partitions.values():
        for scope in partition.scopes.values():
            pages = {page.path: render(page).encode() for page in pages_of(partition, all_changes(scope))}
            expected = {path: data for path, data in sorted(pages.items()) if data}
            if expected:
                leaves[f"view/vault/{scope.name}@{RULES['views']}"] = digest(
                    (path, data.decode()) for path, data in expected.items()
                )
            found = vault.read(scope.name)
            for path in sorted(expected.keys() | found.keys()):
                what = _difference(expected.get(path), found.get(path))
                if what:
                    yield Difference("vault", scope.name, path, what)


def _logical(row: Row | None) -> dict[str, Any] | None:
    return None if row is None or isinstance(row, GoneRow) else logical_row(row)


def _difference(expected: object, found: object) -> str:
    if expected == found:
        return ""
    return "missing" if found is None else "unexpected" if expected is None else "changed"
