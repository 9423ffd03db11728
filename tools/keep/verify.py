"""Verification of views against the log: a replay through the oracle, compared row by row, page by page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, cast

from memtape.flows.projection import TOLD_SLOTS, LoggedBodies
from memtape.schemas.log import Log, slots_between
from memtape.schemas.rows import TABLES, GoneRow, Row, TableName
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
    expected_content,
    index_leaf,
    is_sound,
    usual_of,
    vectors_content,
)
from memtape.state.views.indexed import INDEXED, key_of
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


Place = tuple[str, str, str, str]
"""The place of a row or a page: its view (a table, `index` or `vault`), scope, key and id."""


class _PartitionViews(NamedTuple):
    """The views of one partition up to `offset`: rows and pages by place, and search indexes by scope.

    `theirs` are the places of people's files among the pages. `differences` has the unreadable views.
    """

    offset: int
    at: dict[Place, Row | bytes | str]
    theirs: dict[Place, None]
    indexes: dict[str, OpenIndex]
    differences: list[Difference]


def verify(
    home: Home,
    log: Log,
    *,
    build: Build | None = None,
    only: Collection[int] | None = None,
    on_progress: OnProgress = lambda done: None,
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
        state = Partition(number, erasures_of(log.erased(number)))
        state.bodies = LoggedBodies(log, number)
        for slot in slots_between(log, number, 0, views.offset):
            fold(state, (slot,))
            if slot.offset % TOLD_SLOTS == 0:
                on_progress(done + slot.offset)
        scopes |= dict.fromkeys(state.scopes)
        leaves |= state_leaves([state])
        expected = _expected(state, leaves)
        if vault is None:
            expected = {place: it for place, it in expected.items() if place[0] != "vault"}
        differences += _compare(expected, views)
        done += views.offset
        on_progress(done)
    if vault is not None and only is None:
        # Foreign files are no error.
        strays = (name for name in vault.scopes() if name not in scopes)
        strays = (name for name in strays if vault.read(name).keys() & vault.listed(name))
        differences += [Difference("vault", name, "", "unexpected") for name in strays]
    positions = {number: views.offset for number, views in found.items()}
    return Verification(not differences, root(leaves), positions, done, differences, tuple(kept(home)))


def _read(build: Build, vault: Vault | None, log: Log, number: int) -> _PartitionViews:
    shard = Shard(build.shard(number), number)
    found = _PartitionViews(0, {}, {}, {}, [])

    def note(view: str, what: str) -> None:
        found.differences.append(Difference(view, "", str(number), what))

    if not shard.exists():
        if vault is not None and vault.covered(number):
            note("watermarks", "missing")
        return found
    try:
        watermark = shard.watermark()
    except Exception:  # Whatever LanceDB finds damaged is a difference, and it has no one class for that.
        note("watermarks", "unreadable")
        return found
    if watermark is not None and foreign(log, watermark):
        note("watermarks", "unexpected")
        return found
    for table in TABLES:
        try:
            found.at.update(((table, row.scope, row.key, row.id), row) for row in shard.rows(TABLES[table]))
        except Exception:  # As above.
            note(table, "unreadable")
    try:
        found.indexes.update(shard.indexes())
        shard.check_addresses(found.indexes.values())
    except Exception:  # As above.
        note("index", "unreadable")
    # A scope can have pages where all its rows have left the tables.
    scopes = dict.fromkeys([scope for _, scope, *_ in found.at] + [*(watermark.sent if watermark else ())])
    for scope in scopes if vault is not None else ():
        assert vault is not None
        listed = vault.listed(scope)
        pages = {("vault", scope, path, path): data for path, data in vault.read(scope).items()}
        found.at.update(pages)
        found.theirs.update((place, None) for place in pages if place[2] not in listed)
    return found._replace(offset=watermark.offset if watermark else 0)


def _expected(state: Partition, leaves: dict[str, str]) -> dict[Place, Row | bytes | str]:
    """Return the rows and pages that follow from a state, and add the leaves of the views."""
    rows: dict[str, dict[str, Row]] = {}
    indexed: dict[str, dict[tuple[str, str], str]] = {}
    expected: dict[Place, Row | bytes | str] = {}
    for name, scope in state.scopes.items():
        changes = list(all_changes(scope))
        made = [(it.table, row_of(scope, it)) for it in changes if it.table in TABLES]
        for table, row in made:
            rows.setdefault(table, {})[row.key] = row
        living = [(table, row) for table, row in made if not isinstance(row, GoneRow)]
        expected |= {(table, row.scope, row.key, row.id): row for table, row in living}
        indexed[name] = dict(expected_content(living))
        expected |= {("index", name, "/".join(key), key[1]): said for key, said in indexed[name].items()}
        rendered = sorted((page.path, render(page)) for page in pages_of(state, changes))
        if pages := [(path, text) for path, text in rendered if text]:
            leaves[f"view/vault/{name}@{RULES['views']}"] = digest(pages)
        expected |= {("vault", name, path, path): text.encode() for path, text in pages}
    for of, its in rows.items():
        leaves[f"view/{of}/{state.number}@{RULES['views']}"] = rows_digest(its.values())
    leaves |= index_leaf(state.number, indexed)
    return expected


def _compare(expected: dict[Place, Row | bytes | str], views: _PartitionViews) -> Iterator[Difference]:
    """Yield the differences of the views of a partition. Where something is unreadable, that alone is one."""
    found = dict(views.at)
    for name, opened in views.indexes.items():
        try:
            content = _found_index(opened)
        except Exception:  # Whatever is damaged: arrays that do not fit each other, records that are none.
            views.differences.append(Difference("index", name, "", "unreadable"))
        else:
            found |= {("index", name, "/".join(key), key[1]): said for key, said in content.items()}
    yield from views.differences
    unread = {difference[:2] for difference in views.differences}
    # The index has the keys of its texts alone.
    rows = (place for place in (*expected, *found) if place[0] in INDEXED)
    ids = {f"{key_of(cast(TableName, table), id):016x}": id for table, _, _, id in rows}
    for place in sorted(expected.keys() | (found.keys() - views.theirs.keys())):
        view, scope, _, id = place
        if (view, scope) in unread or (view, "") in unread:
            continue
        one, other = expected.get(place), found.get(place)
        if one != other and _logical(one) != _logical(other):
            what = "missing" if other is None else "unexpected" if one is None else "changed"
            yield Difference(view, scope, ids.get(id, id), what)


def _found_index(opened: OpenIndex) -> dict[tuple[str, str], str]:
    """Return the content of an index by key. Raises `ValueError` for an inconsistent index."""
    usual = usual_of(opened.segments, opened.living)
    if not all(map(is_sound, opened.segments)) or usual != opened.manifest.usual:
        raise ValueError("The index does not follow from itself.")
    if not all(map(are_sound_vectors, opened.vectors)):
        raise ValueError("The vectors of the index do not follow from themselves.")
    found = dict(content(opened.segments, opened.living))
    for embedder in dict.fromkeys(named.embedder for named in opened.manifest.vectors):
        found |= vectors_content(embedder, opened.vectors_of(embedder))
    return found


def _logical(value: Row | bytes | str | None) -> object:
    return value if value is None or isinstance(value, (bytes, str)) else logical_row(value)
