"""Verification of views against the log: a replay through the oracle, compared row by row, page by page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

from memtape.flows.projection import LoggedBodies
from memtape.schemas.log import Log, slots_between
from memtape.schemas.rows import TABLES, GoneRow, Row
from memtape.sinks.home.folders import Build, Home
from memtape.sinks.page_files import kept
from memtape.sinks.search_index import OpenIndex
from memtape.sinks.tables import Shard, foreign
from memtape.sinks.vault import Vault, render
from memtape.state.core.digests import RULES, digest, logical_row, root, rows_digest, state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold
from memtape.state.views.index_proof import (
    are_sound_vectors,
    content,
    expected_index,
    index_leaf,
    is_sound,
    usual_of,
    vectors_content,
)
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes, row_of

LOCK_WAIT_S = 60

OnProgress = Callable[[int], None]


class Difference(NamedTuple):
    """A difference between a view and the log. `what`: missing, unexpected, changed, unreadable."""

    view: str
    scope: str
    id: str
    what: str


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


class _ViewRows(NamedTuple):
    """The views of one partition: rows by table and key, pages by scope and path, Memtape's pages (`listed`).

    `indexes` are the search indexes by scope.
    """

    offset: int
    rows: dict[str, dict[str, Row]]
    pages: dict[str, dict[str, bytes]]
    listed: dict[str, list[str]]
    differences: list[Difference]
    indexes: dict[str, OpenIndex]


def verify(
    home: Home,
    log: Log,
    *,
    build: Build | None = None,
    only: Collection[int] | None = None,
    on_progress: OnProgress | None = None,
) -> Verification:
    """Replay the log up to the views' watermarks and compare, or for `only` some partitions.

    The views are read between two epochs of a living projector, then compared in peace. A `build` that
    is not served has no pages: they take part in the hash, and are not compared. A table that cannot be
    read is a difference.
    """
    log.check()
    numbers = range(log.partitions) if only is None else only
    with home.epoch_locks(numbers, LOCK_WAIT_S):
        served = build or home.current()
        vault = Vault(home) if build is None else None
        found = {number: _read(served, vault, log, number) for number in numbers}
    leaves: dict[str, str] = {}
    differences: list[Difference] = []
    scopes: dict[str, None] = {}
    done = 0
    for number, views in found.items():
        state = _oracle(log, number, views.offset)
        scopes |= dict.fromkeys(state.scopes)
        leaves |= state_leaves([state])
        differences += [*views.differences, *_compare_tables(state, views, leaves)]
        differences += _compare_indexes(state, views, leaves)
        pages = list(_compare_pages(state, views, leaves))
        differences += pages if vault is not None else []
        done += views.offset
        if on_progress is not None:
            on_progress(done)
    if vault is not None and only is None:
        # Foreign files are no error.
        strays = (
            name for name in vault.scopes() if name not in scopes and vault.read(name).keys() & vault.listed(name)
        )
        differences += [Difference("vault", name, "", "unexpected") for name in strays]
    positions = {number: views.offset for number, views in found.items()}
    return Verification(not differences, root(leaves), positions, done, differences, tuple(kept(home)))


def _read(build: Build, vault: Vault | None, log: Log, number: int) -> _ViewRows:
    shard = Shard(build.shard(number), number)
    found = _ViewRows(0, {}, {}, {}, [], {})
    if not shard.exists():
        if vault is not None and vault.covered(number):
            found.differences.append(Difference("watermarks", "", str(number), "missing"))
        return found
    try:
        watermark = shard.watermark()
    except Exception:  # Whatever LanceDB finds damaged is a difference, and it has no one class for that.
        return found._replace(differences=[Difference("watermarks", "", str(number), "unreadable")])
    for table in TABLES:
        try:
            found.rows[table] = {row.key: row for row in shard.all_rows(table)}
        except Exception:  # As above.
            found.differences.append(Difference(table, "", str(number), "unreadable"))
    try:
        found.indexes.update(shard.indexes())
    except Exception:  # As above.
        found.differences.append(Difference("index", "", str(number), "unreadable"))
    named = (row.scope for rows in found.rows.values() for row in rows.values())
    # A scope can have pages where all its rows have left the tables.
    known = watermark.sent if watermark is not None else {}
    scopes = dict.fromkeys((*named, *known))
    if watermark is not None and foreign(log, watermark):
        return _ViewRows(0, {}, {}, {}, [Difference("watermarks", "", str(number), "unexpected")], {})
    if vault is not None:
        found.pages.update((name, vault.read(name)) for name in scopes)
        found.listed.update((name, vault.listed(name)) for name in scopes)
    return found._replace(offset=watermark.offset if watermark else 0)


def _oracle(log: Log, number: int, end: int) -> Partition:
    """Return the state of a partition, its log folded anew in plain Python."""
    state = Partition(number, erasures_of(log.erased(number)))
    state.bodies = LoggedBodies(log, number)
    for slot in slots_between(log, number, 0, end):
        fold(state, (slot,))
    return state


def _compare_tables(state: Partition, views: _ViewRows, leaves: dict[str, str]) -> Iterator[Difference]:
    changes = [change for found in state.scopes.values() for change in all_changes(found)]
    for table, found in views.rows.items():
        rows = [row_of(state.scopes[change.scope], change) for change in changes if change.table == table]
        expected = {row.key: row for row in rows}
        if expected:
            leaves[f"view/{table}/{state.number}@{RULES['views']}"] = rows_digest(expected.values())
        for key in sorted(expected.keys() | found.keys()):
            what = _difference(_logical(expected.get(key)), _logical(found.get(key)))
            if what:
                row = expected.get(key) or found[key]
                yield Difference(table, row.scope, row.id, what)


def _compare_indexes(state: Partition, views: _ViewRows, leaves: dict[str, str]) -> Iterator[Difference]:
    """Yield the differences between a scope's search index and an index built from the state's rows."""
    if any(difference.view == "index" for difference in views.differences):
        return
    indexed: dict[str, dict[tuple[str, str], str]] = {}
    for name in sorted(state.scopes.keys() | views.indexes.keys()):
        expected = expected_index(state.scopes[name]) if name in state.scopes else {}
        indexed[name] = expected
        try:
            found = _found_index(views.indexes.get(name))
        except Exception:  # Whatever is damaged: arrays that do not fit each other, records that are none.
            yield Difference("index", name, "", "unreadable")
            continue
        for key in sorted(expected.keys() | found.keys()):
            what = _difference(expected.get(key), found.get(key))
            if what:
                yield Difference("index", name, key[1], what)
    leaves |= index_leaf(state.number, indexed)


def _found_index(opened: OpenIndex | None) -> dict[tuple[str, str], str]:
    """Return the content of an index by key. Raises `ValueError` for an inconsistent index."""
    if opened is None:
        return {}
    if not all(map(is_sound, opened.segments)) or usual_of(opened.segments, opened.living) != opened.manifest.usual:
        raise ValueError("The index does not follow from itself.")
    if not all(map(are_sound_vectors, opened.vectors)):
        raise ValueError("The vectors of the index do not follow from themselves.")
    found = dict(content(opened.segments, opened.living))
    for embedder in dict.fromkeys(named.embedder for named in opened.manifest.vectors):
        found |= vectors_content(embedder, opened.vectors_of(embedder))
    return found


def _compare_pages(state: Partition, views: _ViewRows, leaves: dict[str, str]) -> Iterator[Difference]:
    for found in state.scopes.values():
        rendered = {page.path: render(page).encode() for page in pages_of(state, all_changes(found))}
        expected = {path: data for path, data in sorted(rendered.items()) if data}
        if expected:
            texts = ((path, data.decode()) for path, data in expected.items())
            leaves[f"view/vault/{found.name}@{RULES['views']}"] = digest(texts)
        pages, listed = views.pages.get(found.name, {}), views.listed.get(found.name, [])
        for path in sorted(expected.keys() | (pages.keys() & listed)):
            what = _difference(expected.get(path), pages.get(path))
            if what:
                yield Difference("vault", found.name, path, what)


def _logical(row: Row | None) -> dict[str, Any] | None:
    return None if row is None or isinstance(row, GoneRow) else logical_row(row)


def _difference(expected: object, found: object) -> str:
    if expected == found:
        return ""
    return "missing" if found is None else "unexpected" if expected is None else "changed"
