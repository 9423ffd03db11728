"""The rules of a deep search: one order of several looks, walks within budgets, and a loop that ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from corpora import Document, corpus_of
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.lanes import MOST_LOOKS
from memtape.state.ranking import deep
from memtape.state.ranking.deep import RULES, DeepSearch, Judge, Spot, StepDecision
from memtape.state.ranking.lanes import EDGE_HITS, HITS_A_SEED, SEEDS
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, Ranking

NOW = 1_790_000_000_000_000
WORDS = "databases postgres redis Mira Vienna moved staging uses violin instruments we".split()

spots = st.builds(Spot, st.integers(0, 1), st.integers(0, 30))


@st.composite
def looks(draw: st.DrawFn) -> list[dict[Spot, float]]:
    """Draw what up to three looks have seen, each once in a look, best first."""
    drawn = []
    for _ in range(draw(st.integers(1, MOST_LOOKS))):
        seen = draw(st.lists(spots, unique=True, max_size=20))
        scores = sorted(draw(st.lists(st.floats(0, 1), min_size=len(seen), max_size=len(seen))), reverse=True)
        drawn.append(dict(zip(seen, scores, strict=True)))
    return drawn


@given(looks(), st.dictionaries(spots, st.floats(0, 1), max_size=8), st.sets(spots, max_size=8))
def test_looks_are_ordered(seen: list[dict[Spot, float]], lent: dict[Spot, float], kinds: set[Spot]) -> None:
    order = deep.merged(seen, lent, sorted(kinds))
    assert sorted(order) == sorted({spot for look in seen for spot in look} | lent.keys())
    assert all(first > second for first, second in pairwise(order.values()))
    assert list(order.items()) == list(deep.merged(seen, lent, sorted(kinds)).items())


graphs = st.dictionaries(
    st.integers(0, 200), st.lists(st.tuples(st.integers(0, 200), st.floats(-1, 2)), max_size=12), max_size=120
)


@given(graphs, st.lists(st.integers(0, 200), max_size=40))
def test_a_walk_keeps_its_budgets(graph: dict[int, list[tuple[int, float]]], seeds: list[int]) -> None:
    asked: list[int] = []

    def near(spot: int) -> list[tuple[int, float]]:
        asked.append(spot)
        return sorted(graph.get(spot, []), key=lambda edge: -edge[1])

    reached = deep.walk(seeds, near)
    started = list(dict.fromkeys(seeds))[:SEEDS]
    assert len(reached) <= EDGE_HITS and not reached.keys() & set(started)
    assert set(asked[: len(started)]) == set(started) and len(asked) <= SEEDS + EDGE_HITS
    assert all(0 < strength <= 1 and seed in started for strength, seed in reached.values())
    beside = [*started, *reached]
    for spot in reached:
        assert any(spot in [other for other, _ in near(its)[:HITS_A_SEED]] for its in beside)
    assert reached == deep.walk(seeds, near)


def field(corpus: Corpus, texts: Sequence[str], among: Among = lambda places: places) -> deep.Field:
    def rank(query: str) -> Ranking:
        return corpus.rank(query, among=among, now=NOW)

    return deep.Field(corpus, rank, among, lambda place: texts[place], str, NOW, None)


def fields_of(*scopes: Sequence[str]) -> list[deep.Field]:
    fields = []
    for number, texts in enumerate(scopes):
        documents = [
            Document(text, "s", "Ada", True, False, NOW + n * 1_000_000, "turn", f"{number}-{n:02}")
            for n, text in enumerate(texts)
        ]
        fields.append(field(corpus_of(documents), texts))
    return fields


class Recorded:
    """A judge that does what it is told, whatever that is, and counts."""

    def __init__(self, keep: Sequence[bool], queries: Sequence[str]) -> None:
        self.keep, self.queries, self.gates = keep, queries, 0

    @property
    def judge(self) -> Judge:
        return {"filter": self.filter, "walk": RULES["walk"], "gate": self.gate}

    def filter(self, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        keep = self.keep or [True]
        return StepDecision([spot for n, spot in enumerate(spots) if keep[n % len(keep)]])

    def gate(self, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
        assert len(spots) <= deep.GATED
        self.gates += 1
        queries = self.queries or [""]
        return StepDecision(spots, queries[(search.look - 1) % len(queries)])


questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
texts = st.lists(questions, min_size=1, max_size=25)


def run(scopes: Sequence[Sequence[str]], question: str, judge: Judge, wanted: int = 10) -> DeepSearch:
    return deep.deepened(question, fields_of(*scopes), judge, wanted, lambda: 0)


def seen_once(scopes: Sequence[Sequence[str]], question: str) -> set[Spot]:
    """Return what a first look sees."""
    search = DeepSearch(question, fields_of(*scopes), RULES, deep.LOOKED_AT)
    search.look = 1
    deep.STEPS["scouts"](search)
    return set(search.looks[0])


@given(st.lists(texts, min_size=1, max_size=2), questions, st.integers(1, 60))
def test_a_search_by_rules_holds_one_look(scopes: list[list[str]], question: str, wanted: int) -> None:
    search, again = run(scopes, question, RULES, wanted), run(scopes, question, RULES, wanted)
    assert (list(search.found.items()), search.trace) == (list(again.found.items()), again.trace)
    assert 1 <= search.look <= MOST_LOOKS
    assert [it.step for it in search.trace] == [*deep.STEPS] * search.look
    assert seen_once(scopes, question) <= search.found.keys()
    rankings = search.ordered()
    for scope, ranking in enumerate(rankings):
        assert len(ranking.places) == sum(spot.scope == scope for spot in search.found)
        for hit in ranking.hits:
            product = hit.relevance * hit.age * hit.use * hit.confidence * hit.yields * hit.looked
            assert abs(product - hit.score) < 1e-6


@given(texts, questions, st.lists(st.booleans(), max_size=4), st.lists(questions, max_size=3))
def test_looks_are_three(said: list[str], question: str, keep: list[bool], queries: list[str]) -> None:
    recorded = Recorded(keep, queries)
    search = run([said], question, recorded.judge)
    assert recorded.gates == search.look <= MOST_LOOKS
    assert all(it.kept == it.given - len(it.ids) for it in search.trace if it.step == "filter")
    assert not (keep and not any(keep) and search.found)


def test_a_kind_is_found_no_query_is_asked_twice_and_as_many_come_as_are_wanted() -> None:
    again = run([["postgres here"]], "postgres", Recorded([], ["postgres"]).judge)
    assert [taken.step for taken in again.trace].count("scouts") == 1
    said = ["We moved to Vienna.", "The violin is old.", "Redis holds sessions.", "Orders are in Postgres."]
    search = run([said], "Which databases do we use?", RULES)
    assert sorted(said[spot.place] for spot in list(search.found)[:2]) == [said[3], said[2]]
    asked = [it.query for it in search.trace if it.step == "scouts"]
    assert asked[1].startswith("databases do we use postgres")
    said = [f"postgres number {n}" for n in range(80)]
    assert len(run([said], "postgres", Recorded([], []).judge, 70).found) >= 70


def test_texts_of_a_scope_never_answer_by_the_words_of_another() -> None:
    """Statistics of a scope are its own, in the later looks too."""
    own = ["Orders are in Postgres.", "The violin is out of tune."]
    alone = run([own, []], "Which databases do we use?", RULES).found
    beside = run([own, ["Cats sleep all day."] * 20], "Which databases do we use?", RULES).found
    assert [it for it in beside.items() if it[0].scope == 0] == list(alone.items())


def test_turns_beside_what_was_found_are_reached_and_those_that_ask_are_not() -> None:
    said = [f"Nothing of note {n}." for n in range(12)]
    said[6], said[8] = "Postgres runs in staging.", "Shall we paint?"
    seen = {spot.place for spot in seen_once([said], "postgres staging")}
    search = run([said], "postgres staging", Recorded([], []).judge)
    reached = {int(id) for id in next(taken for taken in search.trace if taken.step == "edges").ids}
    assert reached and not reached & (seen | {8})
    assert all(any(abs(place - other) <= deep.HOPS for other in seen) for place in reached)
    assert {spot.place for spot in search.found} == seen | reached and next(iter(search.found)).place == 6


def test_what_was_used_with_what_was_found_is_reached_over_two_hops() -> None:
    said = ["Postgres runs in staging.", "Mira likes tea.", "The harbour is cold.", "Nobody comes."]
    near = ("b", "ac", "bd", "c")
    documents = [
        Document(text, None, "", False, False, NOW, "fact", id, neighbours=tuple((it, 1.0) for it in others))
        for text, id, others in zip(said, "abcd", near, strict=True)
    ]
    judge = Recorded([], []).judge
    found = deep.deepened("postgres staging", [field(corpus_of(documents), said)], judge, 10, lambda: 0).found
    assert [spot.place for spot in found] == [0, 1, 2]
    strict = field(corpus_of(documents), said, lambda places: places[places != 1])
    found = deep.deepened("postgres staging", [strict], judge, 10, lambda: 0).found
    assert 1 not in [spot.place for spot in found]
