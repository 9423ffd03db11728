"""Every wording of a memory is found, a wrong fold hides nothing, and a decision names what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import START, TINY, captured, configured, histories, pack, slots
from click.testing import CliRunner
from hypothesis import given
from replaying import replay
from test_index import row_of as row_at
from test_index import vector_of

from memtape.schemas.errors import MemtapeError, NotFound
from memtape.schemas.events import Embedded, Event, make_embedded
from memtape.schemas.rows import MemoryRow, Wording
from memtape.schemas.scopes import partition_of
from memtape.schemas.settings import Settings
from memtape.sinks.home.folders import Home
from memtape.sinks.logs.configuring import configure
from memtape.sinks.remains import Needles, search_home
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.fold.candidates import NEW, Match
from memtape.state.index.parts import part_of
from memtape.state.index.texts import Texts
from memtape.state.index.vectors import TextVectors, text_vectors
from memtape.state.ranking import lanes as rules
from memtape.state.ranking.ranker import Corpus
from memtape.state.subjects import memories
from memtape.state.subjects.captures import Capture
from memtape.state.subjects.memories import Memories, unit_of
from memtape.state.views.indexed import entries_of
from memtape.state.views.resolution import named_by_decision, named_by_unfolding
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.client import Client
from memtape.tools.doors.cli import main
from memtape.tools.doors.mcp import call
from memtape.tools.keep.erasing import plan
from memtape.tools.query import reading
from memtape.tools.query.recorded_vectors import RecordedVectors

SCOPE = "project:mine"
LONG, SHORT = "The staging database listens on port 5433.", "the staging db listens on port 5433"
HARBOUR, QUAY = "The ferry leaves from the harbour.", "The boat departs at the quay."
EAST, NORTH = [2000, 0, 0], [0, 2000, 0]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope=SCOPE, actor="Ada", origin="user") as client:
        yield client


def told(client: Client, query: str, **more: Any) -> list[tuple[str, str | None]]:
    """What a search finds: the text of each result, and the wording that was matched."""
    results = client.search(query, quiet=True, **more).results
    return [(result.text, None if result.matched is None else result.matched.text) for result in results]


def command(client: Client, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, "--home", str(client.home.path), "--scope", SCOPE])
    assert done.exit_code == 0, done.output
    return done.stdout


def two_ways(client: Client) -> tuple[str, str]:
    """Say one thing in two ways, of which the latter speaks; return the ids."""
    return client.capture(LONG).id, client.capture(SHORT).id


@pytest.fixture
def rash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever has a vector is folded with the first that has one, as by a rule that is wrong."""

    def judge(state: Memories, capture: Capture, _: bytes, context: Any, barred: Sequence[int]) -> Match:
        others = (memory.birth for memory in state.living() if memory.birth not in state.waiting)
        known = [birth for birth in others if birth not in (capture.seq, *barred)]
        return Match("similar", known[0], 9_000) if known else NEW

    monkeypatch.setattr(memories, "_judge_alike", judge)


def with_vectors(client: Client, **said: tuple[str, list[int]]) -> dict[str, str]:
    """Capture texts, each with a vector under an embedder that decides; return their ids by name."""
    configure(client.log, lambda now: Settings(embedder=TINY))
    ids = {}
    for name, (text, vector) in said.items():
        ids[name] = client.capture(text).id
        body = Embedded(attempt=1, dimensions=3, embedder=TINY, reason=None, vector=pack(vector))
        client.log.append([make_embedded(SCOPE, ids[name], body, START)])
    client.project()
    return ids


@given(histories())
def test_the_texts_of_a_memory_are_all_that_lives_of_it_each_once(events: list[Event]) -> None:
    said = slots([configured(), *events])
    partition = Partition(0, erasures_of(said))
    fold(partition, said)
    for scope in partition.scopes.values():
        for change in all_changes(scope):
            row = row_of(scope, change) if change.table == "memories" else None
            if not isinstance(row, MemoryRow):
                continue
            captures = [it for it in map(scope.captures.get, row.ids) if it and not it.hidden]
            spoken = map(scope.captures.get, (row.canonical, *(wording.id for wording in row.wordings)))
            if row.hidden:
                assert row.wordings == ()
                continue
            texts = [" ".join(scope.captures.body(it).text.split()) for it in spoken if it is not None]
            assert len(set(texts)) == len(texts) == 1 + len(row.wordings)
            assert set(texts) == {" ".join(scope.captures.body(it).text.split()) for it in captures}
            for wording in row.wordings:
                capture = scope.captures.get(wording.id)
                assert capture in captures and scope.captures.body(capture).text == wording.text


def test_any_wording_is_found_by_its_words_and_the_memory_comes_once(client: Client) -> None:
    two_ways(client)
    assert told(client, "database") == [(SHORT, LONG)]
    assert told(client, "db") == [(SHORT, None)]
    (result,) = client.search("staging port", quiet=True).results
    assert [wording.text for wording in result.wordings] == [LONG]
    for kind, expected in (("fact", [(SHORT, LONG)]), ("journal", [])):
        assert told(client, "database", kinds=(kind,)) == expected
    client.project()
    found, _ = client.reader.found(SCOPE)
    assert len(found.places()) == len(found.known()) == 1 and found.texts.count == 2
    assert client.status().memories == 1
    row = found.row(found.places()[0])
    assert isinstance(row, MemoryRow) and row.wordings == (Wording(row.ids[0], LONG),)


def test_people_and_programs_are_told_which_wording_was_found(client: Client) -> None:
    one, two = two_ways(client)
    shown = command(client, "search", "database")
    assert f" 1. {LONG}\n    its memory says: {SHORT}\n" in shown
    assert f" 1. {SHORT}\n    also said: {LONG}\n" in command(client, "search", "db")
    (result,) = json.loads(command(client, "search", "database", "--json"))["results"]
    assert (result["text"], result["matched"]) == (SHORT, {"id": one, "text": LONG})
    assert result["wordings"] == [{"id": one, "text": LONG}] and result["passage"] == LONG
    (result,) = json.loads(command(client, "search", "db", "--json"))["results"]
    assert result["matched"] is None and result["canonical"] == two
    memory = json.loads(command(client, "show", one, "--json"))["memory"]
    assert memory["wordings"] == [{"id": one, "text": LONG}]
    assert f"also said: {LONG} ({one[-8:]})" in command(client, "show", two)
    items = json.loads(command(client, "context", "--json"))["items"]
    (item,) = [its for its in items if its["section"] == "facts"]
    assert (item["text"], item["wordings"]) == (SHORT, [{"id": one, "text": LONG}])
    assert f"> {LONG}\n> its memory says: {SHORT}" in call(client, "search_memories", {"query": "database"})


def test_a_forgotten_wording_is_gone_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    one, _ = two_ways(client)
    client.project()
    other = client.capture(LONG, "fact").id
    client.project()
    client.forget(one, only=True)
    with client.home.lock("projector"):  # Somebody else projects, so that the tail alone can know of it.
        assert all(LONG not in pair for pair in told(client, "database"))
    client.project()
    assert told(client, "staging database port") == [(SHORT, None)]
    assert client.show(other).memory is not None and client.verify().ok
    client.restore(one)
    assert told(client, "database")[0][1] in (LONG, None) and LONG in told(client, "database")[0]


def test_an_erased_wording_is_gone_and_its_memory_lives_on(client: Client, rash: None) -> None:
    ids = with_vectors(client, one=(HARBOUR, EAST), two=(QUAY, NORTH))
    client.status(as_of="0s")
    assert told(client, "ferry") == [(QUAY, HARBOUR)]
    needles = Needles(ids=(), texts=(HARBOUR,), words=("ferry", "harbour"), vectors=(pack(EAST),))
    assert [place.path for place in search_home(client.home.path, needles) if place.found] != []
    erasure = client.erase(plan(client.home, client.log, SCOPE, [ids["one"]], only=True))
    assert erasure.after.proves
    assert told(client, "boat") == [(QUAY, None)] and told(client, "ferry") == []
    assert [place.path for place in search_home(client.home.path, needles) if place.found] == []
    assert client.verify().ok


def test_a_wrong_fold_hides_nothing_and_costs_one_unfold(client: Client, rash: None) -> None:
    ids = with_vectors(client, one=(HARBOUR, EAST), two=(QUAY, NORTH))
    assert client.show(ids["one"]).memory == client.show(ids["two"]).memory
    assert told(client, "ferry harbour") == [(QUAY, HARBOUR)] and told(client, "boat quay") == [(QUAY, None)]
    client.unfold(ids["two"], only=True)
    first = [told(client, query)[0] for query in ("ferry harbour", "boat quay")]
    assert first == [(HARBOUR, None), (QUAY, None)]
    client.refold()
    client.project()
    assert client.show(ids["one"]).memory != client.show(ids["two"]).memory and client.verify().ok


class Asked(RecordedVectors):
    """Recorded vectors, with a question's own vector."""

    def __init__(self, home: Home, vector: list[int]) -> None:
        super().__init__(home)
        self.vector = vector

    def of_query(self, text: str, embedder: str) -> Any:
        return np.array(self.vector, np.int16)


def test_any_wording_is_found_by_its_vector(client: Client, rash: None) -> None:
    ids = with_vectors(client, one=(HARBOUR, EAST), two=(QUAY, NORTH))
    assert client.show(ids["one"]).memory == client.show(ids["two"]).memory
    for vector, matched in ((EAST, ids["one"]), (NORTH, None)):
        client.reader.dense = Asked(client.home, vector)
        (result,) = client.search("zzz", quiet=True).results
        assert result.canonical == ids["two"] and "dense" in result.lanes
        assert (None if result.matched is None else result.matched.id) == matched
        assert result.why is not None and result.why.lanes["dense"] == pytest.approx(1)


def memory(number: int, *texts: str) -> MemoryRow:
    return row_at(number, ("memories", list(texts), None, "Ada", "user", 1, False), number).row


def corpus(rows: Sequence[MemoryRow], vectors: Sequence[Any] | None = None) -> tuple[Corpus, Texts]:
    entries = [entry for row in rows for entry in entries_of(row)]
    texts = Texts([part_of(entries, 0)])
    dense: TextVectors | None = None if vectors is None else text_vectors(np.array(vectors, np.int16))
    said = [entry.text for entry in entries]
    return Corpus(texts, lambda place: said[place], dense), texts


@pytest.mark.parametrize("by", ["words", "vectors"])
def test_many_wordings_of_one_memory_take_no_places_of_others(by: str) -> None:
    """Also not in a lane, which brings so many texts at most."""
    many = [f"kayak number {'n' * n} by the river" for n in range(1, 300)]
    others = [memory(1_000 + n, f"a kayak of colour {'c' * n}") for n in range(1, 90)]
    rows = [memory(1, *many), *others]
    near = [vector_of(1, 8)] * len(many) + [vector_of(1, 8) // 2 + vector_of(n, 8) // 4 for n in range(2, 91)]
    ranker, texts = corpus(rows, near if by == "vectors" else None)
    lanes = ("dense",) if by == "vectors" else ("sparse",)
    ranking = ranker.rank("kayak", vector_of(1, 8) if by == "vectors" else None, lanes=lanes)
    heads = [texts.head(place) for place in ranking.places.tolist()]
    assert len(heads) == len(set(heads))
    assert len(heads) == ranking.counts[lanes[0]] <= rules.DENSE_HITS
    assert len(heads) == 90 if by == "words" else len(heads) > 20


A = "project:a"


@given(histories())
def test_what_is_named_is_what_the_rows_name(events: list[Event]) -> None:
    for partition in replay(slots([configured(), *events])).partitions.values():
        for scope in partition.scopes.values():
            named: dict[str, tuple[str, ...]] = {}
            captures = scope.captures.by_seq.values()
            made = (c for c in captures if c.made and c.kind != "page")  # Pages go on by themselves.
            ended = {c.id for c in made if scope.covers.of_text(c.id) is None}
            purged = {c.id for c in captures if scope.lifecycle.is_purged(unit_of(scope, c))}
            changes = [it for it in all_changes(scope) if it.table in ("memories", "turns")]
            for row in (row_of(scope, change) for change in changes):
                ids = row.ids if isinstance(row, MemoryRow) else (row.id,)
                members = tuple(member.id for member in row.members) if isinstance(row, MemoryRow) else ids
                for id in ids:
                    named[id] = ids
                    folded = len(members) > 1 or bool(scope.covers.touching(members))
                    memory = scope.memory_of(id)
                    below = () if memory is None else scope.covers.below(scope, memory)
                    told = [part for made in below for part in _whole(scope, made)]
                    seq = scope.captures.seq_of(id)
                    page = None if seq is None else scope.pages.of(seq)
                    seqs = [] if page is None else page.versions
                    versions = [scope.captures.by_seq[seq].id for seq in seqs]
                    whole = tuple(versions or dict.fromkeys((*ids, *told)))
                    assert named_by_decision(scope, id, False) == whole
                    assert named_by_decision(scope, id, True) == (id,)
                    assert named_by_unfolding(scope, id, False) == (members if folded else ())
                    assert named_by_unfolding(scope, id, True) == ((id,) if folded and id in members else ())
            assert named.keys() == {capture.id for capture in captures} - ended - purged


def _whole(scope: Scope, id: str) -> tuple[str, ...]:
    """What a decision about an input of a text names, by the memory that it has become."""
    memory = scope.memory_of(id)
    return () if memory is None else named_by_decision(scope, scope.captures.by_seq[memory.name].id, False)


def test_a_decision_does_not_wait_for_the_views(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was folded since the views were made is named too, whoever projects or does not."""
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)
    with Client(home, scope=A) as client:
        (home / "settings.toml").write_text("catch_up = false\n")
        first = client.capture("Mira owns the harbour.").id
        client.project()
        second, other = (client.capture(text).id for text in ("Mira owns the harbour.", "The gauge fell."))
        assert client.unfold(first).ids == (first, second)
        assert client.forget(second).ids == (second,), "it was unfolded"
        with pytest.raises(MemtapeError, match=f"Nothing is folded into {other}"):
            client.unfold(other[:-1])
        with pytest.raises(NotFound, match=f"{A} has no memory or turn"):
            client.forget(captured("Nobody said this.").id)


def test_what_was_erased_cannot_be_decided_about(home: Path) -> None:
    from memtape.tools.keep.erasing import plan

    with Client(home, scope=A) as client:
        id = client.capture("Mira owns the harbour.").id
        client.erase(plan(client.home, client.log, A, [id], only=False))
        with pytest.raises(NotFound, match=f"{id} was erased"):
            client.forget(id)


def test_what_is_pending_where_one_reads_is_projected(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the log is, and whatever waits in another project of the same partition."""
    monkeypatch.setattr(reading, "INLINE_EVENTS", 0)
    started: list[str] = []
    monkeypatch.setattr(reading, "start_detached", lambda home, log: started.append("here"))
    with Client(home, scope=A) as client:
        number = partition_of(A, client.log.partitions)
        names = (f"project:beside-{n}" for n in range(999))
        beside = next(name for name in names if partition_of(name, client.log.partitions) == number)
        client.capture("Mira owns the harbour.")
        client.project()
        with Client(home, scope=beside) as other:
            other.capture("Nora owns the pier.")
        for question in ("harbour", "pier", "harbour"):
            client.search(question)
        assert not started
        client.capture("The gauge fell.")
        client.search("gauge")
        assert started == ["here"]
