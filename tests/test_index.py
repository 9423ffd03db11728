"""The search index: however rows come, it says what one says that was made of them at once, and ranks alike.

What it says is held against the rows by `state/views/index_proof.py`, which `verify` uses as well.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pytest
from builders import START
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from soaked import soaked
from test_vault_people import Killed, killed_at

from memtape.schemas import rows as row_types
from memtape.schemas.events import Kind
from memtape.schemas.rows import TABLES, GoneRow, Guarded, MemoryRow, TurnRow, VectorRow, Wording
from memtape.sinks import index_files, search_index
from memtape.sinks.search_index import OpenIndex, SearchIndex, open_index, scope_folder
from memtape.state.index.entries import take
from memtape.state.index.parts import MaskedSegment, part_of
from memtape.state.index.segments import Flags
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import TextVectors, Vectors, VectorSegment, joined_rows, vector_segment_of
from memtape.state.ranking import meaning
from memtape.state.ranking.ranker import Corpus
from memtape.state.subjects.embeddings import vector_row_id
from memtape.state.text import terms as terms_module
from memtape.state.text.reading import Reading
from memtape.state.vectors.recorded import quantised
from memtape.state.views import index_proof
from memtape.state.views.index_proof import content, expected_content, is_sound, usual_of, vectors_content
from memtape.state.views.indexed import RowAddress, entries_of, vector_key

A = "project:a"
DAY = 86_400_000_000
SAID = (
    "Where is the kayak?", "The kayak is by the river, at the old boathouse.", "kayak", "who", "puertos",
    "Ada owns two violins.", "die Boote und die Häfen", "los barcos y los puertos", "the boats and the ports",
    "東京タワー", "", "Boote", "Mark sings.", "I mark the line.", "port 5433 since 2023",
)  # fmt: skip
QUESTIONS = ("Where is the kayak?", "Boote puertos ports", "What did Ada say in May?", "port 5433")
QUESTIONS += ("mark", "東", "Ben")

turns = st.builds(
    lambda text, session, actor, origin, day, hidden: ("turns", text, session, actor, origin, day, hidden),
    st.sampled_from(SAID), st.sampled_from([None, "s", "t", "u"]), st.sampled_from(["Ada", "Ben", "Mark"]),
    st.sampled_from(["user", "user", "agent"]), st.integers(0, 90), st.booleans(),
)  # fmt: skip
facts = st.builds(
    lambda texts, day, hidden: ("memories", texts, "s", "Ada", "user", day, hidden),
    st.lists(st.sampled_from(SAID), min_size=1, max_size=3, unique=True), st.integers(0, 90), st.booleans(),
)  # fmt: skip
banned = st.just(("tombstones", "", None, "", "user", 0, False))
vectors = st.builds(lambda embedder, seed: ("vectors", embedder, None, "", "", seed, False),
                    st.sampled_from(["m@1/8", "n@2/70"]), st.integers(0, 9))  # fmt: skip
tables = st.sampled_from(["turns", "memories", "tombstones", "vectors"])
gone = tables.map(lambda table: ("gone", table, None, "", "", 0, False))
changes = st.tuples(st.integers(0, 11), st.one_of(turns, turns, facts, vectors, banned, gone))
steps = st.lists(st.lists(changes, min_size=1, max_size=6), min_size=1, max_size=8)


def id_of(number: int) -> str:
    return f"0191{number:04x}-0000-7000-8000-{number * 7919 % 997:012x}"


def row_of(number: int, what: tuple[Any, ...], offset: int) -> Guarded:
    """A row of a table under the id of a number, as an event at an offset caused it."""
    table, text, session, actor, origin, day, hidden = what
    text, *others = [text] if isinstance(text, str) else text
    kind: Kind = "turn" if table == "turns" else "fact"
    id, at = id_of(number), START + day * DAY + number
    shown: dict[str, Any] = {"key": f"{A}/{id}", "id": id, "scope": A, "kind": kind, "text": text, "tags": (),
                             "source": None, "actor": actor, "origin": origin, "session": session, "at": at,
                             "branch": None, "path": None, "seq": number, "hidden": hidden}  # fmt: skip
    if table == "gone":
        id = vector_row_id(id, "m@1/8") if text == "vectors" else id
        return Guarded(text, GoneRow(f"{A}/{id}", id, A), 1, offset)
    if table == "vectors":
        key = f"{A}/{vector_row_id(id, text)}"
        vector = vector_of(number * 10 + day, int(text.rpartition("/")[2])).tobytes()
        return Guarded("vectors", VectorRow(key=key, id=id, scope=A, embedder=text, vector=vector), 1, offset)
    if table == "tombstones":
        tombstone = row_types.TombstoneRow(key=f"{A}/{id}", id=id, scope=A, at=START)
        return Guarded("tombstones", tombstone, 1, offset)
    if table == "turns":
        return Guarded("turns", TurnRow(**shown, captions=(), offset_of=offset), 1, offset)
    more: dict[str, Any] = {
        "canonical": id, "importance_given": None, "first_at": at, "last_at": at, "confirmations": 0,
        "ids": (id,), "members": (), "echoes": (), "replaced": False,
        "wordings": () if hidden else tuple(Wording(id_of(number + n), it) for n, it in enumerate(others, 1)),
    }  # fmt: skip
    return Guarded("memories", MemoryRow(**shown, **more), 1, offset)


def turn(text: str, day: int = 1) -> tuple[Any, ...]:
    return ("turns", text, "s", "Ada", "user", day, False)


def entries(text: str) -> list[Any]:
    """The entries of a row of one text."""
    return entries_of(row_of(1, turn(text), 1).row)


def vector_of(seed: int, dimensions: int = 8) -> Vectors:
    """A quantised vector, the same for the same seed."""
    made = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return np.frombuffer(quantised(made), "<i2").astype(np.int16)


class TabledIndex(SearchIndex):
    """A search index over rows that stand in memory, each at the address that its key had first."""

    def __init__(self, folder: Path, tabled: dict[tuple[str, str], Guarded] | None = None) -> None:
        self.tabled = {} if tabled is None else tabled
        super().__init__(folder, self.taken)

    def put(self, rows: Sequence[Guarded]) -> None:
        for its in rows:
            before = self.tabled.setdefault((its.table, its.row.key), its)
            if (before.generation, before.offset) < (its.generation, its.offset):
                self.tabled[its.table, its.row.key] = its
        places = {key: n for n, key in enumerate(self.tabled)}
        self.write(rows, [places[its.table, its.row.key] for its in rows])

    def taken(self, addresses: Sequence[RowAddress]) -> list[Any]:
        rows = [list(self.tabled.values())[its.address] for its in addresses]
        assert [(its.generation, its.offset) for its in rows] == [its[2:] for its in addresses]
        return [its.row for its in rows]


def written(folder: Path, given: Sequence[Sequence[tuple[int, Any]]]) -> dict[tuple[str, str], Guarded]:
    """Write rows batch by batch, each once more and late; return what should stand by table and id."""
    index, standing, offset = TabledIndex(folder), {}, 0
    late: list[Guarded] = []
    for batch in given:
        rows = []
        for number, what in batch:
            offset += 1
            rows.append(row_of(number, what, offset))
        index.put([*rows, *late])
        late = rows[:1]
        standing |= {(guarded.table, guarded.row.key): guarded for guarded in rows}
    return standing


def living(standing: dict[tuple[str, str], Guarded]) -> list[tuple[Any, Any]]:
    return [(its.table, its.row) for its in standing.values() if not isinstance(its.row, GoneRow)]


def said(opened: OpenIndex) -> dict[tuple[str, str], str]:
    found = dict(content(opened.segments, opened.living))
    for embedder in dict.fromkeys(named.embedder for named in opened.manifest.vectors):
        found |= vectors_content(embedder, opened.vectors_of(embedder))
    return found


def check(opened: OpenIndex, standing: dict[tuple[str, str], Guarded]) -> None:
    """The index says what the rows say, of which it was made."""
    assert said(opened) == dict(expected_content(living(standing)))
    assert opened.manifest.usual == usual_of(opened.segments, opened.living)
    assert all(map(is_sound, opened.segments)) and all(map(index_proof.are_sound_vectors, opened.vectors))


def ranked(parts: Sequence[MaskedSegment], names: Callable[[Texts, int], str], question: str,
           vectors: Sequence[tuple[VectorSegment, Flags]] = ()) -> list[tuple[str, float]]:  # fmt: skip
    texts = Texts(parts)
    dense = None
    if vectors:
        dense = TextVectors([part for part, _ in vectors], joined_rows(texts.whole("spoken"), vectors))
    corpus = Corpus(texts, lambda place: "", dense)
    asked = vector_of(len(question)) if dense is not None else None
    return [(names(texts, hit.place), hit.score) for hit in corpus.rank(question, asked).hits]


def named(texts: Texts, place: int) -> str:
    return f"{int(texts.column('ids', np.array([place]))[0][0]):016x}"


def make_small(patch: pytest.MonkeyPatch) -> None:
    """Segments are sealed and merged after a few rows."""
    for module, name, rows in (
        (search_index, "DELTA_ROWS", 3), (search_index, "TIER", 2),
        (search_index, "MOST_ROWS", 9), (search_index, "MOST_VECTORS", 9),
    ):  # fmt: skip
        patch.setattr(module, name, rows)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)


@given(steps)
def test_an_index_ranks_as_one_made_at_once(tmp_path_factory: pytest.TempPathFactory, given: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_small(patch)
        folder = tmp_path_factory.mktemp("index")
        standing = written(folder, given)
        opened = open_index(scope_folder(folder, A))
    check(opened, standing)
    shown = (row for _, row in living(standing) if isinstance(row, (MemoryRow, TurnRow)) and not row.hidden)
    entries = [entry for row in shown for entry in entries_of(row)]
    at_once = [part_of(entries, opened.manifest.usual)]
    own = opened.vectors_of("m@1/8")
    rows = [row for _, row in living(standing) if isinstance(row, VectorRow) and row.embedder == "m@1/8"]
    one = vector_segment_of([(vector_key(row), 1, 1, row.vector) for row in rows], 8)
    for question in QUESTIONS:
        assert ranked(opened.parts(), named, question) == ranked(at_once, named, question)
        by_one = ranked(at_once, named, question, [(one, np.ones(len(rows), np.bool_))] if own else ())
        assert ranked(opened.parts(), named, question, own) == by_one


def test_sketches_find_what_all_vectors_find_where_all_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of large scopes, asked for all, ranks as that of small ones, with sessions and without."""
    sessions, who = (None, "s", "t"), ("Ada", "user")
    told = [("turns", SAID[n % 15], sessions[n % 3], *who, n % 9, n % 7 == 6) for n in range(300)]
    said = [row_of(n, each, n) for n, each in enumerate(told)]
    halves = said[:200], said[200:]
    parts = [part_of([entry for its in half for entry in entries_of(its.row)], 0) for half in halves]
    rows = [(vector_key(its.row), 1, 1, vector_of(n, 70).tobytes()) for n, its in enumerate(said) if n % 5]
    vectors = [(vector_segment_of(its, 70), np.ones(len(its), np.bool_)) for its in (rows[:90], rows[90:])]
    texts = Texts(parts)
    dense = TextVectors([part for part, _ in vectors], joined_rows(texts.whole("spoken"), vectors))

    def answers(asked: int) -> list[Any]:
        corpus = Corpus(texts, lambda place: "", dense)
        some = [None, lambda places: places[places % 2 == 0]]
        return [list(corpus.rank(QUESTIONS[0], vector_of(asked, 70), among=among).hits) for among in some]

    by_all = [answers(asked) for asked in range(20)]
    monkeypatch.setattr(meaning, "EXACT_TEXTS", 0)
    monkeypatch.setattr(meaning, "NEAR_IN_SESSION", 300)
    assert [answers(asked) for asked in range(20)] == by_all
    monkeypatch.setattr(meaning, "NEAR_TEXTS", 20)
    nearest = [hits[0].place for (hits, _) in by_all]
    found = [[hit.place for hit in answers(asked)[0] if "dense" in hit.lanes] for asked in range(20)]
    assert all(0 < len(its) <= 20 for its in found)
    assert sum(n in its for n, its in zip(nearest, found, strict=True)) > 5


def test_a_writer_that_is_killed_at_any_step_leaves_a_whole_index(tmp_path: Path, small: None) -> None:
    """A reader finds what was there before or after; the next write makes it right, whatever is left."""
    vectors = [(n, ("vectors", "m@1/8", None, "", "", n % 10, False)) for n in range(len(SAID))]
    history = [[(n, turn(text, n)), vectors[n]] for n, text in enumerate(SAID)]
    last = [row_of(number, what, 99) for number, what in history[-1]]
    for step in count(1, 2):  # A kill after one change of a folder is one before the next.
        folder = tmp_path / str(step)
        before = written(folder, history[:-1])
        after = before | {(its.table, its.row.key): its for its in last}
        is_killed = True
        with suppress(Killed), killed_at(step):
            TabledIndex(folder, dict(before)).put(last)
            is_killed = False
        for left in folder.rglob(".*"):
            left.write_bytes(left.read_bytes()[: left.stat().st_size // 2])
        opened = open_index(scope_folder(folder, A))
        assert said(opened) in [dict(expected_content(living(its))) for its in (before, after)]
        TabledIndex(folder, dict(before)).put(last)
        again = open_index(scope_folder(folder, A))
        check(again, after)
        if not is_killed:
            break
    assert step > 8, "it has written, renamed and deleted"


@pytest.mark.parametrize("rows", soaked([400, 60], 60))
def test_readers_beside_a_writer_never_find_half_of_it(tmp_path: Path, small: None, rows: int) -> None:
    done, found, wrong = threading.Event(), [0], []

    def read() -> None:
        opened: OpenIndex | None = None
        while not done.is_set():
            least = found[-1]
            try:
                opened = open_index(scope_folder(tmp_path, A), opened, index.taken)
                count = 0 if opened is None else sum(1 for kind in TABLES.values() for _ in opened.rows(kind))
                if count < least:
                    wrong.append(f"{count} rows after {least}")
            except Exception as error:
                wrong.append(repr(error))

    index = TabledIndex(tmp_path)
    with ThreadPoolExecutor(2) as readers:
        for _ in range(2):
            readers.submit(read)
        for n in range(rows):
            index.put([row_of(n, turn(SAID[n % len(SAID)], n), n + 1)])
            found.append(n + 1)
        done.set()
    assert wrong == []


def test_what_a_manifest_does_not_name_any_more_is_noticed(tmp_path: Path) -> None:
    """The flags of what lives, and an index that was made anew with files of equal names and sizes."""
    index, folder = TabledIndex(tmp_path), scope_folder(tmp_path, A)
    index.put([row_of(n, turn(f"kayak {n:03}", n), n) for n in range(600)])
    index.put([Guarded("turns", GoneRow(f"{A}/{id_of(3)}", id_of(3), A), 1, 999)])
    before = open_index(folder)
    assert before is not None and before.manifest.living
    flags = (folder / before.manifest.living).read_bytes()
    for damaged in (b"", flags[:1], bytes(len(flags))):
        (folder / before.manifest.living).write_bytes(damaged)
        with pytest.raises(ValueError, match="not as it was written"):
            open_index(folder)
    for text in ("kayak", "boats"):
        rmtree(tmp_path)
        index = TabledIndex(tmp_path)
        index.put([row_of(1, turn(text), 1)])
        before = open_index(folder, before, index.taken)
        assert before is not None and [row.text for row in before.rows(TurnRow)] == [text]
    (tmp_path / ".DS_Store").write_bytes(b"of somebody's")
    assert search_index.indexed_scopes(tmp_path) == [A]


def test_a_segment_is_a_file_of_safetensors(tmp_path: Path) -> None:
    segment = part_of(entries("The kayak.")).segment
    size = index_files.write_segment(tmp_path / "one", segment)
    assert size == (tmp_path / "one").stat().st_size
    for name, array in load_file(tmp_path / "one").items():
        assert np.array_equal(array, getattr(segment, name)) and array.dtype == getattr(segment, name).dtype
    again = index_files.read_segment(tmp_path / "one", type(segment))
    assert all(np.array_equal(own, other) for own, other in zip(segment, again, strict=True))
    for damaged in (b"", (tmp_path / "one").read_bytes()[:-1]):
        (tmp_path / "two").write_bytes(damaged)
        with pytest.raises(ValueError):
            index_files.read_segment(tmp_path / "two", type(segment), size)


def test_texts_are_taken_apart_alike_by_many_threads_at_once() -> None:
    """Partitions are written side by side; a stemmer shared by threads gave one text the terms of another."""
    ends = [f"{second}ing{third}" for second in ("ara", "ebe", "ine") for third in "sly"]
    words = [f"{first}{end}" for first in "lmnoprst" for end in ends]
    said = [f"{one} the {other}ies" for one, other in zip(words, reversed(words), strict=True)]
    terms_module._terms_of_run.cache_clear()
    alone = [take(Reading(text), 0) for text in said]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(5):
                terms_module._terms_of_run.cache_clear()
                assert list(pool.map(lambda text: take(Reading(text), 0), said)) == alone
    finally:
        sys.setswitchinterval(before)


def test_texts_are_let_go_of_with_their_last_use() -> None:
    """Without waiting for the collector: each capture makes new ones, of megabytes in a large scope."""
    texts = Texts([part_of(entries("The kayak."))])
    corpus = Corpus(texts, lambda place: "")
    assert len(corpus.rank("kayak").places) == 1
    gone = weakref.ref(texts)
    gc.disable()
    try:
        del texts, corpus
        assert gone() is None
    finally:
        gc.enable()
