"""The search of a home's bytes for remnants, deleted or not by their formats: the proof of an erasure.

Compressed files are decoded by their form (LanceDB's data files of every version, segments of the index);
all others are read as bytes, a database's free pages and old frames too. Nothing is skipped: an unreadable
file is reported.
"""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import TABLES
from memtape.sinks.home.sqlite_files import opened
from memtape.sinks.index_files import SEGMENT_NAME, VECTORS_NAME, read_manifest, read_segment
from memtape.sinks.logs.known_ids import MAGIC as IDS_MAGIC
from memtape.sinks.logs.known_ids import said_in
from memtape.sinks.logs.packed_vectors import packed
from memtape.sinks.snapshots import MAGIC as SNAPSHOT_MAGIC
from memtape.sinks.snapshots import expanded
from memtape.sinks.tables import INDEX, Shard
from memtape.sinks.zones import ZoneInPage
from memtape.state.index.entries import take
from memtape.state.index.segments import Segment
from memtape.state.index.vectors import VectorSegment
from memtape.state.text.reading import read
from memtape.state.text.terms import TOLD_LANGUAGES, terms
from memtape.state.text.traces import Traces
from memtape.state.views.index_proof import are_sound_vectors
from memtape.state.views.indexed import FOUND, GONE, kept_at, texts_of

if TYPE_CHECKING:
    import pyarrow as pa

PIECE_BYTES = 4 * 1024 * 1024
OVERLAP_BYTES = 256 * 1024
"""Overlap of the pieces of a long file, so that at least one piece holds each text of an event whole."""
ROWS_AT_ONCE = 1_024
AGAIN_S = 0.2
"""The wait (s) before an unreadable file is read once more."""
BETWEEN = " \x00x\x00 "
"""A mark that is no word keeps the last words of one row from the first of the next."""

STRUCTURE_PATH = Path(__file__).with_name("structure.txt")
"""Runs of words in every home, with or without captures: names of tables and columns, headings of pages."""

_ESCAPES = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrtbf\"\\/])")
_KEEPS_IDS = re.compile(r"(log\.db(-wal)?|blanked\.json|\.snapshot(\.new)?|known-ids/[^/]+)\Z")
"""Files that may hold the id of an erased event: headers of slots, the erasure itself, banned ids."""
_NAMES_PLACES = re.compile(r"settings\.toml|folders\.json|copies\.json")
"""Files of settings and of the places of folders and copies. No part of an event is written there: words
equal to those of an erased text are a person's own names, unlike ids.
"""


class Needles(msgspec.Struct, frozen=True, kw_only=True):
    """The content searched for: ids as they are; texts and single words, whatever their case and separators.

    `vectors` are in their recorded form. Of the `said` texts, `hidden`
    counts those not searched for: too short, or equal to living texts. `labelled` are telling words of the
    texts that no living text has and a label of another event has (a tag, a source): they are not searched
    for. `shared` are telling words of living texts, not searched for either, each with ids of such texts.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    words: tuple[str, ...]
    vectors: tuple[bytes, ...] = ()
    said: int = 0
    hidden: int = 0
    labelled: tuple[str, ...] = ()
    shared: dict[str, tuple[str, ...]] = {}

    @property
    def prove(self) -> bool:
        """Return whether finding none of them says that a text is gone; ids alone do not."""
        return self.said > self.hidden and not self.labelled


class Remnant(NamedTuple):
    """A needle that was found, of kind `id`, `text`, `word` or `vector` (base64), and where in the file."""

    kind: str
    needle: str
    where: str


class SearchedFile(NamedTuple):
    """A file searched for remnants: its path in the home, its form, and the remnants.

    `unreadable` gives the reason if the search failed; its remnants are unknown then. `own` marks a person's
    file, which is searched as bytes, whatever its form.
    """

    path: str
    form: str
    found: tuple[Remnant, ...]
    unreadable: str | None = None
    own: bool = False


class _Grain(NamedTuple):
    """A piece of decoded text, and its values that are ids if they equal one; None if ids are found as text.

    `data` are the original bytes, `vectors` those stored as numbers, in their recorded form, `terms` stems of
    words.
    """

    where: str
    text: str
    ids: frozenset[str] | None = None
    data: bytes = b""
    vectors: frozenset[bytes] = frozenset()
    terms: frozenset[str] = frozenset()


_Read = tuple[str, Iterator[_Grain]]  # The form of a file, and the grains of its text.


class _Search:
    """The needles of a search, prepared. `find` reads the grains of one place."""

    def __init__(self, needles: Needles, on_read: Callable[[int], None] = lambda size: None) -> None:
        self.on_read = on_read
        self.needles, self.traces = needles, Traces(needles.texts, needles.words)
        # Vectors are looked for as bytes, in base64, packed as the log has them, and as rows of numbers.
        self.vectors = {b64encode(vector).decode(): vector for vector in needles.vectors}
        self.packed = {vector: packed(vector) for vector in needles.vectors}
        pairs = ((word, language) for word in needles.words for language in TOLD_LANGUAGES)
        self.stems = {term: word for word, language in pairs for term in terms(word, language)}
        self.terms_of = lru_cache(maxsize=1)(_terms_of)  # The files of a folder follow each other.

    def may_be_in(self, text: str) -> bool:
        """Return whether a needle may be in a text, one value behind the other."""
        sought = (*self.needles.ids, *self.vectors)
        return self.traces.may_be_in(text) or any(map(text.__contains__, sought))

    def said_in(self, text: str, terms: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
        """Return the kind and needle of the texts and words in a text or among terms."""
        traced = self.traces.find(text)
        hits = [("text", self.traces.texts[number]) for number in traced.texts]
        hits += [("word", word) for word in traced.words]
        return hits + [("word", self.stems[term]) for term in sorted(terms & self.stems.keys())]

    def find(self, name: str, read: _Read, *, ids_count: bool, own: bool = False) -> SearchedFile:
        """Return a place with the needles in its grains; ids are looked for only if `ids_count`."""
        found: dict[tuple[str, str], Remnant] = {}
        form, grains = read
        for grain in grains:
            hits = self.said_in(grain.text, grain.terms)
            for told, vector in self.vectors.items():
                is_stored = vector in grain.data or self.packed[vector] in grain.data
                if vector in grain.vectors or is_stored or told in grain.text:
                    hits.append(("vector", told))
            if ids_count:
                ids = grain.text if grain.ids is None else grain.ids
                hits += [("id", id) for id in self.needles.ids if id in ids]
            for hit in hits:
                found.setdefault(hit, Remnant(*hit, grain.where))
        return SearchedFile(name, form, tuple(found.values()), own=own)


def search_home(
    home: Path,
    needles: Needles,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    is_own: Callable[[str], bool] = lambda name: False,
    zone_in: Callable[[str], ZoneInPage | None] = lambda name: None,
    passed_over: str = "",
) -> list[SearchedFile]:
    """Search every file of a folder for needles, hidden and unfinished files too.

    `is_own` says by a file's path in the folder whether the file is a person's and not Memtape's, `zone_in`
    returns a person's zone in a page, which gets a place of its own. The file with the path `passed_over` is
    skipped.

    The search reads some 10 MB/s (one core) and calls `on_progress` with the bytes done and the total. Files
    that disappear meanwhile are skipped, and an unreadable file is read once more: it may be half written.
    """
    paths = (path for path in sorted(home.rglob("*")) if path.is_file() and not path.is_symlink())
    files = {path: path.stat().st_size for path in paths}
    done, total, places = 0, sum(files.values()), list[SearchedFile]()
    search = _Search(needles, lambda size: on_progress(min(done + size, total), total))
    for path, size in files.items():
        name = path.relative_to(home).as_posix()
        on_progress(done, total)
        if name == passed_over:
            continue
        own = is_own(name)
        for is_last in (False, True):
            try:
                places += _places_of(search, path, name, own, None if own else zone_in(name))
                break
            except (KeyboardInterrupt, SystemExit):
                raise
            except BaseException as error:  # Lance names no class for damage, and panics at some.
                if not path.exists():
                    break
                if is_last:
                    known = isinstance(error, MemtapeError)
                    why = str(error) if known else f"it cannot be read ({type(error).__name__})"
                    places.append(SearchedFile(name, "", (), why, own))
                else:
                    time.sleep(AGAIN_S)
        done += size
    on_progress(total, total)
    return places


def _places_of(
    search: _Search, path: Path, name: str, own: bool, zone: ZoneInPage | None
) -> Iterator[SearchedFile]:
    """Yield the places of one file: a person's zone in it, if any, and the rest of the file."""
    if zone is None:
        read = ("your own", _grains(_pieces(path, search.on_read))) if own else _open(path, search)
    else:
        said = _grains((f"line {line}", text) for line, text in zone.said())
        yield search.find(f"{name} (your zone)", ("your own", said), ids_count=True, own=True)
        read = ("Markdown", _grains([("byte 0", zone.ours)]))
    if _NAMES_PLACES.fullmatch(name):
        search = _Search(msgspec.structs.replace(search.needles, texts=(), words=()))
    yield search.find(name, read, ids_count=own or not _KEEPS_IDS.search(name), own=own)


def without_structure(needles: Needles) -> Needles:
    """Return needles without the texts and words found in any home without captures."""
    traces = Traces(needles.texts, needles.words)
    found = [traces.find(run) for run in STRUCTURE_PATH.read_text(encoding="utf-8").splitlines()]
    texts = {traces.texts[number] for traced in found for number in traced.texts}
    words = {word for traced in found for word in traced.words}
    return msgspec.structs.replace(
        needles,
        texts=tuple(text for text in needles.texts if text not in texts),
        words=tuple(word for word in needles.words if word not in words),
    )


def search_log(slots: Iterable[tuple[str, bytes]], needles: Needles) -> SearchedFile:
    """Search the slots of a log for texts and words; ids are in the slots' headers."""
    return _Search(needles).find("log", ("log", _grains(slots)), ids_count=False)


def _open(path: Path, search: _Search) -> _Read:
    if path.suffix == ".lance":
        return "LanceDB data", _lance(path, search)
    if path.parent.parent.name == INDEX:
        if SEGMENT_NAME.fullmatch(path.name):
            return "search index", _index(path, search)
        if VECTORS_NAME.fullmatch(path.name):
            return "search index", _index_vectors(path)
    with opened(path) as file:
        head = file.read(32)
    if head.startswith(IDS_MAGIC):
        return "ids of the log", _grains([("header", said_in(path.read_bytes()))])
    if head.startswith(SNAPSHOT_MAGIC):
        return "snapshot", _grains([("state", expanded(path.read_bytes()))])
    return "Markdown" if path.suffix == ".md" else "bytes", _grains(_pieces(path, search.on_read))


def _pieces(path: Path, on_read: Callable[[int], None]) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of a file, some at once, each with the position; tell how many were searched."""
    with opened(path) as file:
        at, kept = 0, b""
        while data := file.read(PIECE_BYTES):
            yield f"byte {at - len(kept)}", kept + data
            at, kept = at + len(data), data[-OVERLAP_BYTES:]
            on_read(at)


def _grains(pieces: Iterable[tuple[str, bytes]]) -> Iterator[_Grain]:
    """Yield bytes as text, and also as the text that they are if they are JSON or Markdown, which escape."""
    for where, data in pieces:
        text = data.decode(errors="replace")
        yield _Grain(where, text, data=data)
        if "\\" in text:
            yield _Grain(where, _ESCAPES.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text))


def _lance(path: Path, search: _Search) -> Iterator[_Grain]:
    import pyarrow as pa
    from lance.file import LanceFileReader

    table = LanceFileReader(str(path)).read_all(batch_size=ROWS_AT_ONCE).to_table()
    names = table.column_names
    gone = table.column("gone").to_pylist() if "gone" in names else [False] * table.num_rows
    for name, column in zip(names, table.columns, strict=True):
        if pa.types.is_fixed_size_list(column.type):
            for batch in table.select([name]).to_batches():
                numbers = batch.column(0).flatten().to_numpy(zero_copy_only=False)
                rows = numbers.reshape(-1, column.type.list_size)
                yield _Grain(f"column {name}", "", frozenset(), vectors=_recorded(rows))
            continue
        for start in range(0, len(column), ROWS_AT_ONCE) if _may_tell(column, search) else ():
            values, place = column.slice(start, ROWS_AT_ONCE).to_pylist(), f"rows {start}…, column {name}"
            there = [value for value, is_gone in zip(values, gone[start:], strict=False) if not is_gone]
            if texts := list(_texts(values)):
                yield _Grain(place, BETWEEN.join(texts), frozenset(_texts(there)))


def _may_tell(column: pa.ChunkedArray, search: _Search) -> bool:
    """Return whether a column must be read value by value: most hold nothing that is looked for."""
    import pyarrow as pa

    for chunk in column.chunks:
        texts = chunk.flatten() if pa.types.is_list(chunk.type) else chunk
        if not (pa.types.is_string(texts.type) or pa.types.is_binary(texts.type)):
            if not pa.types.is_primitive(texts.type):
                return True
        elif len(texts):
            _, offsets, data = texts.buffers()
            ends = np.frombuffer(offsets, "<i4")
            first, last = int(ends[texts.offset]), int(ends[texts.offset + len(texts)])
            said = data[first:last].to_pybytes() if last > first else b""
            if search.may_be_in(said.decode(errors="replace")):
                return True
    return False


def _index(path: Path, search: _Search) -> Iterator[_Grain]:
    """Yield the texts of a segment: its records, its names, and its terms, unless living texts have them."""
    segment = read_segment(path, Segment)
    for start in range(segment.size, len(segment.tables), ROWS_AT_ONCE):
        rows = range(start, min(start + ROWS_AT_ONCE, len(segment.tables)))
        kept = [kept_at(segment, row) for row in rows if segment.tables[row] != GONE]
        texts = list(_texts([msgspec.to_builtins(row) for row in kept]))
        yield _Grain(f"rows {start}…", BETWEEN.join(texts), frozenset(texts))
    names = segment.speaker_names()
    yield _Grain("names", BETWEEN.join(names), frozenset(names))
    terms = frozenset(segment.term_list())
    if search.said_in(BETWEEN.join(sorted(terms)), terms):  # Only then does it matter where they are from.
        terms -= search.terms_of(path.parent)
    yield _Grain("terms", BETWEEN.join(sorted(terms)), terms=terms)


def _terms_of(folder: Path) -> frozenset[str]:
    """Return the terms of all texts that the tables have of a scope, by the folder of its index.

    A stem may equal that of an erased word: one that a living text has says nothing of the erased one.
    """
    manifest, shard = read_manifest(folder), Shard(folder.parent.parent, 0)
    terms: dict[str, None] = {}
    for table in FOUND if manifest is not None else ():
        assert manifest is not None
        for row in shard.rows(TABLES[table], manifest.scope):
            for text in texts_of(row):
                terms |= dict.fromkeys(take(read(text), manifest.usual).terms)
    return frozenset(terms)


def _index_vectors(path: Path) -> Iterator[_Grain]:
    """Yield the vectors of a segment. Their sketches follow from them, which is held against them."""
    segment = read_segment(path, VectorSegment)
    for start in range(0, len(segment.keys), ROWS_AT_ONCE):
        rows = segment.vectors[start : start + ROWS_AT_ONCE]
        yield _Grain(f"rows {start}…", "", frozenset(), vectors=_recorded(rows))
    if not are_sound_vectors(segment):
        raise MemtapeError("it has sketches that its vectors do not have")


def _recorded(rows: NDArray[Any]) -> frozenset[bytes]:
    """Return the rows of an array of vectors in their recorded form: the numbers are whole in any type."""
    return frozenset(row.tobytes() for row in rows.astype("<i2"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode(errors="replace")
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if isinstance(inner, str):
                yield inner
            elif inner is not None:
                yield from _texts(inner)
