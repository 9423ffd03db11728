"""The laws of ranking: what may move a score and what may not, lane by lane, and what a result tells."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from builders import START
from corpora import Document, corpus_of, entry_of
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.errors import MemtapeError
from memtape.schemas.lanes import LANES, Lane
from memtape.state.index.entries import HIDDEN, KINDS
from memtape.state.index.newness import RARE_TEXTS, newness
from memtape.state.index.parts import part_of
from memtape.state.index.texts import Texts
from memtape.state.ranking import lanes as most
from memtape.state.ranking.lanes import Hit, is_perhaps
from memtape.state.ranking.ranker import Corpus
from memtape.state.text.passages import best_passage
from memtape.state.vectors.recorded import quantised
from memtape.tools.client import Client

DAY = 86_400_000_000
WORDS = "kayak river violin lake tabs Ada port when I the ? 東京 ٣ e\u0301".split()

worded = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
texts = st.one_of(worded, st.text(min_size=1, max_size=12))
EDGES = st.tuples(st.sampled_from("01234567"), st.sampled_from([0.1, 1, 3]))
documents = st.lists(
    st.builds(
        Document, text=texts, session=st.sampled_from([None, "s"]), speaker=st.sampled_from(["Ada", "Ben"]),
        turn=st.booleans(), answers=st.booleans(), kind=st.sampled_from(KINDS), uses=st.integers(0, 60),
        at=st.integers(0, 300).map(lambda day: START + day * DAY), hot=st.sampled_from([0, 1, 7]),
        ages_from=st.sampled_from([None, START, START - 100 * DAY]), confidence=st.sampled_from([0, 0.5, 1]),
        neighbours=st.lists(EDGES, max_size=3).map(tuple),
    ),
    min_size=1, max_size=8,
).map(lambda made: [it._replace(id=str(n), at=it.at + n) for n, it in enumerate(made)])  # fmt: skip


def quantised_of(*values: float) -> np.ndarray:
    return np.frombuffer(quantised(np.float32(values)), "<i2")


def vectors_of(seeds: list[int]) -> np.ndarray:
    """A vector for each seed, and none for 0."""
    made = [quantised_of(seed, 3, -seed % 5) if seed else np.zeros(3) for seed in seeds]
    return np.array(made, np.int16).reshape(len(seeds), 3)


def place(text: str, id: str = "", **fields: object) -> Document:
    said = {"session": None, "speaker": "Ada", "turn": False, "answers": False, "at": START, **fields}
    return Document(text=text, id=id, **said)


def ranked(corpus: Corpus, query: str, *given: object, **options: object) -> list[Hit]:
    return list(corpus.rank(query, *given, **options).hits)


def test_facts_that_a_program_puts_on_the_log_one_by_one_are_read_as_talk() -> None:
    """Few facts are not, nor are facts with minutes between them."""
    said = [
        "Where did we moor the ferry?",
        "At the third pier.",
        *(f"Reading {n} is dry." for n in range(22)),
    ]

    def found(count: int, apart_s: int) -> list[int]:
        facts = [place(text, f"{n:02}", kind="fact", at=START + n * apart_s * 1_000_000) for n, text in
                 enumerate(said[:count])]  # fmt: skip
        return [hit.place for hit in ranked(corpus_of(facts), "where is the ferry moored")]

    assert found(24, 30)[:2] == [0, 1]
    assert found(24, 90) == [0] == found(12, 30)


def test_a_burst_does_not_depend_on_the_parts_of_the_index() -> None:
    facts = [place(f"Fact {n}.", f"{n:02}", kind="fact", at=START + n // 2) for n in range(40)]
    entries = [entry_of(fact) for fact in facts]
    mixed = [*entries[1::2], *entries[::2]]
    for cut in (0, 7, 20):
        texts = Texts([part_of(mixed[:cut]), part_of(mixed[cut:])] if cut else [part_of(mixed)])
        after = {mixed[n].id: int(other) for n, other in enumerate(texts.sessions.after[:-1])}
        told = {id: None if other < 0 else mixed[other].id for id, other in after.items()}
        assert told == {f"{n:02}": f"{n + 1:02}" if n < 39 else None for n in range(40)}


def test_a_kind_in_a_question_finds_its_members() -> None:
    made = [
        place("The violin is in the attic.", "a"),
        place("My instrument broke.", "b"),
        place("Rain.", "c"),
    ]
    assert [hit.place for hit in ranked(corpus_of(made), "Which instruments do we own?")] == [1, 0]


def test_an_identifier_is_found_as_others_write_it() -> None:
    """A range of small numbers is no identifier, and a version keeps its points."""
    ways = [("123-45-6789", "123456789"), ("ab_12", "AB12"), ("AB-12", "ab_12"), ("JIRA-4417", "jira4417")]
    for one, other in [*ways, *(way[::-1] for way in ways)]:
        corpus = corpus_of([place(f"The number is {one}.", "0"), place("Rain.", "1")])
        assert [hit.place for hit in ranked(corpus, f"where is {other}")] == [0], (one, other)
    for one, other in (("10-12", "1012"), ("v1.2.3", "v123")):
        assert not ranked(corpus_of([place(f"Pier {one}.", "0")]), other)


def talk(*said: str) -> list[Document]:
    turns = {"turn": True, "session": "s"}
    return [place(text, f"{n}", at=START + n, **turns) for n, text in enumerate(said)]


def test_of_talk_about_a_thing_the_turn_that_brings_it_up_comes_first() -> None:
    """In a young scope everything is new, and says less."""
    first, later = "The ferry leaves from pier nine.", "So the ferry leaves from pier nine."
    made = talk(*["Rain."] * 50, first, *["Rain."] * 50, later, *["Rain."] * 50)
    corpus = corpus_of(made)
    parts = [corpus.rank("ferry pier").parts(hit.place) for hit in ranked(corpus, "ferry pier")[:2]]
    assert [hit.place for hit in ranked(corpus, "ferry pier")[:2]] == [50, 101]
    assert parts[0]["news"] == pytest.approx(most.NEWS * 152 / (152 + most.YOUNG_TEXTS), abs=1e-8)
    assert parts[1].get("news", 0) == 0
    facts = [place(text, f"{n}", kind="fact", at=START + n) for n, text in enumerate((later, first))]
    told = {hit.place: hit.score for hit in ranked(corpus_of(made[:50] + facts), "ferry pier")}
    assert told[50] == told[51], "A memory is not below another for being said later."


def test_a_term_is_new_until_a_shown_text_has_it() -> None:
    made = talk("Ferry, pier.", "Ferry, harbour.", "Pier, harbour, gauge.")
    entries = [entry_of(document) for document in made]
    whole, cut = Texts([part_of(entries)]), Texts([part_of(entries[1:]), part_of(entries[:1])])
    assert newness(whole, np.arange(3)).tolist() == [1, 1 / 2, 1 / 3]
    assert newness(cut, np.arange(3)).tolist() == [1 / 2, 1 / 3, 1]
    hidden = Texts([part_of([entries[0]._replace(flags=entries[0].flags | HIDDEN), *entries[1:]])])
    assert newness(hidden, np.arange(1, 3)).tolist() == [1, 2 / 3]
    many = Texts([part_of([entry_of(it) for it in talk(*["Ferry."] * (RARE_TEXTS + 1))])])
    assert newness(many, np.arange(2)).tolist() == [0, 0] and not newness(Texts([]), np.arange(0)).size


@given(documents, texts, st.data())
def test_the_order_of_documents_moves_nothing(made: list[Document], query: str, data: st.DataObject) -> None:
    seeds = data.draw(st.lists(st.integers(0, 4), min_size=len(made), max_size=len(made)))
    order = data.draw(st.permutations(range(len(made))))
    asked = vectors_of([2])[0]
    first = ranked(corpus_of(made, vectors_of(seeds)), query, asked)
    shuffled = [made[n] for n in order]
    second = ranked(corpus_of(shuffled, vectors_of([seeds[n] for n in order])), query, asked)
    of_first = {made[hit.place].id: hit.score for hit in first}
    of_second = {shuffled[hit.place].id: hit.score for hit in second}
    assert of_first.keys() == of_second.keys()
    for id, score in of_first.items():
        assert math.isclose(score, of_second[id], abs_tol=1e-8)


@given(documents, texts, st.data())
def test_scores_are_what_the_factors_say(made: list[Document], query: str, data: st.DataObject) -> None:
    seeds = data.draw(st.lists(st.integers(0, 4), min_size=len(made), max_size=len(made)))
    hits = ranked(corpus_of(made, vectors_of(seeds)), query, vectors_of([1])[0])
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert 0 <= hit.relevance <= 1 and 0.5 <= hit.age <= 1
        assert 1 <= hit.use <= 1.5 and 0.3 <= hit.confidence <= 1
        factors = hit.age * hit.use * hit.confidence * hit.yields
        assert math.isclose(hit.score, hit.relevance * factors, abs_tol=1e-8) and 0 <= hit.yields <= 1
        assert hit.lanes.keys() & {"sparse", "dense", "edges"} and all(map(math.isfinite, hit.lanes.values()))


@given(documents, texts, st.booleans())
def test_the_parts_add_up_to_the_relevance(made: list[Document], query: str, by_words: bool) -> None:
    corpus = corpus_of(made, None if by_words else vectors_of([n % 4 for n in range(len(made))]))
    told = corpus.rank(query, vectors_of([1])[0])
    hits = list(told.hits)
    least, most, strength = told.scale
    for hit in hits:
        parts = told.parts(hit.place)
        share = (sum(parts.values()) - least) / (most - least)
        own = min(1.0, max(0.0, share)) * strength
        if "edges" in hit.lanes:
            assert hit.relevance == hit.lanes["edges"] and (not parts or hit.relevance > own - 1e-8)
        else:
            assert parts and math.isclose(hit.relevance, own, abs_tol=1e-8)
        assert all(parts.values())


def test_what_of_a_question_counts_is_told_in_any_language() -> None:
    said = {"turn": True, "session": "s"}
    asked = place("How was it?", "1", speaker="Ben", **said)
    corpus = corpus_of([place("I went to the harbour.", "0", **said), asked, place("Gauges.", "2")])
    reading = corpus.words.reading("When did Ada see the harbours and a zebra?")
    assert list(reading.used) == ["harbour"]
    assert (reading.unheld, reading.names) == (("see", "zebra"), ("ada",))
    assert {"when", "did", "the", "and", "a"} >= set(reading.common) >= {"when", "the"}
    assert corpus.words.held(0, "I went to the harbour.", reading) == (("harbour",), ())
    assert corpus.words.held(1, "How was it?", reading) == ((), ("harbour",))
    assert corpus.words.held(2, "Gauges.", reading) == ((), ())
    russian = RUSSIAN, "Серверы копирования починены.", "сервером"
    german = GERMAN, "Bücher verkauft, Katzen gefüttert.", "Buch verkaufen"
    for around, sentence, query in (russian, german):
        corpus = corpus_of([place("Hi.", "0"), place(f"{around}\n\n{sentence}\n\n{around}", "1")])
        assert [hit.place for hit in corpus.rank(query).hits] == [1]
        assert sentence in corpus.passages(query)(1)


@given(documents, texts, st.sets(st.sampled_from(LANES)))
def test_a_lane_that_is_off_is_as_if_not_there(made: list[Document], query: str, off: set[Lane]) -> None:
    seeds = [n % 4 for n in range(len(made))]
    lanes = [lane for lane in LANES if lane not in off]
    told = corpus_of(made, vectors_of(seeds)).rank(query, vectors_of([1])[0], lanes=lanes)
    without = ({"hot": 0} if "hot" in off else {}) | ({"neighbours": ()} if "edges" in off else {})
    bare = [document._replace(**without) for document in made]
    other = corpus_of(bare, None if "dense" in off else vectors_of(seeds))
    asked = None if "dense" in off else vectors_of([1])[0]
    hits = list(told.hits)
    assert not off & told.counts.keys() and not any(off & hit.lanes.keys() for hit in hits)
    if "sparse" not in off and "fresh" not in off:
        anew = ranked(other, query, asked)
        assert [(hit.place, hit.score) for hit in hits] == [(hit.place, hit.score) for hit in anew]


@given(documents, texts)
def test_filters_remove_and_move_nothing(made: list[Document], query: str) -> None:
    made = [document._replace(neighbours=(), hot=0) for document in made]
    corpus = corpus_of(made)
    whole = ranked(corpus, query, lanes=("sparse",))
    even = ranked(corpus, query, lanes=("sparse",), among=lambda places: places[places % 2 == 0])
    assert even == [hit for hit in whole if hit.place % 2 == 0]


def test_lanes_are_capped_and_edges_never_lead_above_what_is_named() -> None:
    made = [place(f"kayak {n}", f"{n:04}", hot=1, at=START + n) for n in range(most.SPARSE_HITS + 50)]
    hub = tuple((f"x{n:03}", 1.0) for n in range(200))
    made = [document._replace(neighbours=hub) for document in made]
    led_to = [place("Elsewhere.", id) for id, _ in hub]
    told = corpus_of(made + led_to, vectors_of([1] * len(made) + [0] * 200)).rank("kayak", vectors_of([1])[0])
    assert told.counts["sparse"] == most.SPARSE_HITS and told.counts["dense"] == most.DENSE_HITS
    assert told.counts["hot"] == most.HOT_HITS and told.counts["edges"] == most.HITS_A_SEED <= most.EDGE_HITS
    assert [hit.place for hit in told.hits][:2] == [0, 1], "the first ids among equals"
    made = [place("The violin is old.", "a", neighbours=(("c", 1.0),)), place("A violin.", "b"),
            place("In the attic.", "c")]  # fmt: skip
    hits = ranked(corpus_of(made), "violin")
    assert [made[hit.place].id for hit in hits] == ["b", "a", "c"]
    assert list(hits[-1].lanes) == ["edges"] and hits[-1].relevance == pytest.approx(hits[1].relevance / 2)
    assert [hit.place for hit in ranked(corpus_of(made), "violin", lanes=("sparse",))] == [1, 0]


def test_the_cosine_of_a_text_without_a_session_counts_once() -> None:
    texts, asked = ("The violin is red.", "The kayak is red."), vectors_of([1])[0]
    for is_talk in (True, False):
        told = {"turn": True, "session": "s"} if is_talk else {}
        corpus = corpus_of([place(it, it[4], **told) for it in texts], vectors_of([0, 1]))
        parts = [corpus.rank("violin", asked).parts(hit.place) for hit in ranked(corpus, "violin", asked)]
        assert any(it.get("session cosine") for it in parts) is is_talk


def test_use_confidence_age_and_vectors_move_what_they_may() -> None:
    same = "The port is 5433."

    def order(*made: Document) -> list[str]:
        return [made[hit.place].id for hit in ranked(corpus_of(made), "port", now=START + 400 * DAY)]

    assert order(place(same, "a"), place(same, "b", uses=3)) == ["b", "a"]
    assert order(place(same, "a", confidence=0.4), place(same, "b")) == ["b", "a"]
    assert order(place(same, "a", hot=1), place(same, "b", hot=5)) == ["b", "a"]
    later = START + 350 * DAY
    assert order(place(same, "a", ages_from=START), place(same, "b", ages_from=later)) == ["b", "a"]
    turns = [place(same, id, turn=True, session=id, at=at) for id, at in (("a", START), ("b", later))]
    assert order(*turns) == ["a", "b"]
    made = [place(it, it[0]) for it in ("An old violin.", "Both feline friends.", "Cat sat.", "Dull stones.")]
    corpus = corpus_of(made, vectors_of([0, 2, 2, 0]))
    hits = ranked(corpus, "cat", vectors_of([2])[0])
    assert [made[hit.place].id for hit in hits] == ["C", "B"]
    assert hits[1].lanes["dense"] == pytest.approx(1, abs=1e-3)
    assert ranked(corpus, "violin", vectors_of([2])[0])[0].place == 0
    assert ranked(corpus, "cat") == ranked(corpus_of(made), "cat"), "without a vector words decide"


@pytest.mark.parametrize("near", [0, 2, 3, 5])
def test_where_less_than_three_texts_are_found_what_is_nearest_is_shown_as_perhaps(near: int) -> None:
    cosines = [*(0.5,) * near, 0.19, 0.15, 0.13, 0.1]
    vectors = np.array([quantised_of(it, (1 - it * it) ** 0.5) for it in cosines])
    corpus = corpus_of([place(f"text {n}", f"{n}") for n in range(len(cosines))], vectors)
    hits = ranked(corpus, "else", quantised_of(1, 0))
    perhaps = [hit.place - near for hit in hits if is_perhaps(hit)]
    assert perhaps == list(range(max(0, most.PERHAPS_HITS - near)))
    assert len(hits) == max(near, most.PERHAPS_HITS)


@given(st.text(max_size=300), st.integers(5, 80))
def test_a_passage_is_a_piece_of_its_text_and_never_too_long(text: str, chars: int) -> None:
    passage = best_passage(text, {"a": 1.0, "b": 0.5}, chars)
    assert passage in text and len(passage) <= chars
    assert len(text) > chars or passage == text


RUSSIAN = "Это длинный ответ о том, как мы работали с проектом и что было сделано на этой неделе. " * 20
GERMAN = "Das ist eine lange Antwort, die nicht viel sagt und noch mehr Worte hat als nötig. " * 20


def test_what_cannot_be_asked_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:mine") as client:
        client.capture("Tabs for code.")
        ends = client.log.ends()
        queries = (" \n", "x" * 1_000_000, "東" * 30_000, "tabs \udc80", "tabs \0", None, b"tabs", 5)
        limits = ({"limit": limit} for limit in (0, 1_000_000, 1.5, None, "3", True))
        wrong = [("tabs", {"without": LANES}), *((query, {}) for query in queries)]
        for query, options in (*wrong, *(("tabs", limit) for limit in limits)):
            with pytest.raises(MemtapeError) as told:
                client.search(query, **options)
            assert len(str(told.value)) < 200
        assert client.log.ends() == ends
    with Client(tmp_path, scope="project:nobody") as nobody:
        assert nobody.search("tabs").results == []


@pytest.mark.parametrize(("turn", "later"), [(False, True), (False, False), (True, True)])
def test_the_later_memory_about_what_is_near_is_found(turn: bool, later: bool) -> None:
    vectors = np.array([quantised_of(0.5, 0.75**0.5, 0), quantised_of(-0.1, 0.6, 0.79)])
    at = START + DAY if later else START - DAY
    corpus = corpus_of([place("one", "1"), place("other", "2", turn=turn, at=at)], vectors)
    hits = ranked(corpus, "else", quantised_of(1, 0, 0))
    assert [hit.place for hit in hits] == ([0, 1] if later and not turn else [0])
    assert not any(map(is_perhaps, hits))
