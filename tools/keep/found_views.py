"""The views of a build as they stand, read without the log: rows, pages, search indexes, and their leaves.

A leaf is a view's digest in the state hash. Each search index is held against the rows of the tables, so that
rows equal to those of the log have the index that follows from the log. Many views are read by another
process (this file run as a program, `starting`) while its parent replays the log.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from memtape.schemas.rows import TABLES, GoneRow, LivingRow, Row, TableName, Watermark
from memtape.sinks.home.builds import Build
from memtape.sinks.home.folders import Home
from memtape.sinks.search_index import OpenIndex
from memtape.sinks.tables import Shard
from memtape.sinks.vault import Vault
from memtape.state.core.digests import RULES, digest, rows_digest
from memtape.state.views.index_proof import (
    are_sound_vectors,
    content,
    expected_content,
    index_leaf,
    is_sound,
    usual_of,
    vectors_content,
)
from memtape.tools.keep.starting import obey, reporter, reports_of, started

MODULE = "memtape.tools.keep.found_views"

Content = dict[tuple[str, str], str]
"""The content of a search index, as `index_proof.content` has it."""
Views = dict[tuple[str, str, str, str], Row | bytes | str]
"""Rows, pages and index entries by place: the view (a table, `index` or `vault`), scope, key and id."""


class Difference(NamedTuple):
    """A difference between a view and the log. `what`: missing, unexpected, changed, unreadable."""

    view: str
    scope: str
    id: str
    what: str


class ViewContent(NamedTuple):
    """The rows of a partition by table, and its pages by scope and path."""

    rows: dict[TableName, list[Row]]
    pages: dict[str, dict[str, bytes]]

    def leaves(self, number: int) -> dict[str, str]:
        """Return the leaves of the tables and pages. Raises `UnicodeError` for a page that is no text."""
        version = RULES["views"]
        leaves = {f"view/{table}/{number}@{version}": rows_digest(rows) for table, rows in self.rows.items()}
        for scope, pages in self.pages.items():
            texts = sorted((path, data.decode()) for path, data in pages.items())
            leaves |= {f"view/vault/{scope}@{version}": digest(texts)} if texts else {}
        return leaves

    def indexes(self) -> dict[str, Content]:
        """Return by scope the content of the search index that follows from the rows."""
        return {scope: dict(expected_content(its)) for scope, its in self._living().items()}

    def are_indexed(self, indexes: Mapping[str, Content]) -> bool:
        """Return whether search indexes by scope are those of `indexes`, without making these whole."""
        living = self._living()
        for scope, rows in living.items():
            its, count = indexes.get(scope, {}), 0
            for key, said in expected_content(rows):
                if its.get(key) != said:
                    return False
                count += 1
            if count != len(its):
                return False
        return not any(its for scope, its in indexes.items() if scope not in living)

    def _living(self) -> dict[str, list[tuple[TableName, LivingRow]]]:
        living: dict[str, list[tuple[TableName, LivingRow]]] = {}
        for table, rows in self.rows.items():
            for row in rows:
                if not isinstance(row, GoneRow):
                    living.setdefault(row.scope, []).append((table, row))
        return living

    def places(self, indexes: Mapping[str, Content]) -> Views:
        """Return the living rows, the pages, and the content of search indexes by place."""
        found: Views = {}
        for table, rows in self.rows.items():
            living = (row for row in rows if not isinstance(row, GoneRow))
            found.update(((table, row.scope, row.key, row.id), row) for row in living)
        for scope, pages in self.pages.items():
            found.update((("vault", scope, path, path), data) for path, data in pages.items())
        for scope, said in indexes.items():
            found.update((("index", scope, "/".join(key), key[1]), its) for key, its in said.items())
        return found


class FoundViews(NamedTuple):
    """The views of a partition that stand before `watermark`, and the open search indexes by scope.

    `theirs` are people's files at the places of pages. `differences` has the unreadable views.
    """

    watermark: Watermark | None
    content: ViewContent
    theirs: dict[str, dict[str, bytes]]
    indexes: dict[str, OpenIndex]
    differences: list[Difference]


class LeavesFound(msgspec.Struct, frozen=True, kw_only=True):
    """The watermark of the views of a partition; once they are digested, their leaves, the index's apart.

    Leaves stay None where a view cannot be read or contradicts another: only the log can tell which is wrong.
    """

    watermark: Watermark | None = None
    leaves: dict[str, str] | None = None
    index: dict[str, str] = {}


class FindingOrders(msgspec.Struct, frozen=True, kw_only=True):
    """The partitions of a build to be read, 0 for the served build, and whether their pages are."""

    home: str
    build: int
    partitions: tuple[int, ...]
    has_pages: bool


def find_leaves(orders: FindingOrders, *, apart: bool) -> Generator[LeavesFound, None, None]:
    """Yield the watermark of each partition once all views are read, and then the leaves of each.

    `apart` lets another process read them. It yields less if that process is killed.
    """
    if not apart:
        yield from _find_leaves(orders)
        return
    with started(MODULE, orders) as process:
        yield from reports_of(process, LeavesFound)


def _find_leaves(orders: FindingOrders) -> Iterator[LeavesFound]:
    home = Home(Path(orders.home))
    build = home.build(orders.build) if orders.build else home.current()
    vault = Vault(home) if orders.has_pages else None
    every = [find_views(build, vault, number) for number in orders.partitions]
    yield from (LeavesFound(watermark=found.watermark) for found in every)
    for number in orders.partitions:
        yield _leaves_of(every.pop(0), number)


def _leaves_of(found: FoundViews, number: int) -> LeavesFound:
    try:
        indexes = {scope: index_content(opened) for scope, opened in found.indexes.items()}
        if found.differences or not found.content.are_indexed(indexes):
            return LeavesFound(watermark=found.watermark)
        leaves, index = found.content.leaves(number), index_leaf(number, indexes)
        return LeavesFound(watermark=found.watermark, leaves=leaves, index=index)
    except Exception:  # Whatever is damaged: arrays that do not fit each other, records that are none.
        return LeavesFound(watermark=found.watermark)


def find_views(build: Build, vault: Vault | None, number: int) -> FoundViews:
    """Read the views of a partition; the caller holds its epoch lock, or nobody writes the build."""
    shard = Shard(build.shard(number), number)
    found = FoundViews(None, ViewContent({}, {}), {}, {}, [])

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
    for table in TABLES:
        try:
            if rows := shard.rows(TABLES[table]):
                found.content.rows[table] = [*rows]
        except Exception:  # As above.
            note(table, "unreadable")
    try:
        found.indexes.update(shard.indexes())
        shard.check_addresses(found.indexes.values())
    except Exception:  # As above.
        note("index", "unreadable")
    # A scope can have pages where all its rows have left the tables.
    scopes = dict.fromkeys([row.scope for rows in found.content.rows.values() for row in rows])
    for scope in [*scopes | dict.fromkeys(watermark.sent if watermark else ())] if vault is not None else ():
        assert vault is not None
        listed, pages = dict.fromkeys(vault.listed(scope)), vault.read(scope)
        found.content.pages[scope] = {path: data for path, data in pages.items() if path in listed}
        found.theirs[scope] = {path: data for path, data in pages.items() if path not in listed}
    return found._replace(watermark=watermark)


def index_content(opened: OpenIndex) -> Content:
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


def main() -> None:
    """Report the leaves of the views that stdin orders."""
    gc.disable()  # Rows are no circles, and the process ends soon.
    send = reporter()
    orders = msgspec.json.decode(sys.stdin.buffer.readline(), type=FindingOrders)
    obey(lambda line: None)
    for found in _find_leaves(orders):
        send(found)
    os._exit(0)  # The thread that reads stdin is never done.


if __name__ == "__main__":
    main()
