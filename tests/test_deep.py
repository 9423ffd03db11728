"""The rules of a deep search: one order of several looks, walks within their budgets, and a loop that ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from corpora import corpus_of
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.lanes import MOST_LOOKS
from memtape.state.index.entries import Document
from memtape.state.ranking.deep import loop
from memtape.state.ranking.deep.asking import bare, by_kinds, by_names, kinds_asked, share_held
from memtape.state.ranking.deep.edges import HOPS, walk
from memtape.state.ranking.deep.ground import Field, Ground
from memtape.state.ranking.deep.loop import GATED, LOOKED_AT, Deep, deepened
from memtape.state.ranking.deep.rules import Judge, Rules, StepDecision
from memtape.state.ranking.deep.seen import SURE, SeenText, Spot, merged
from memtape.state.ranking.lanes import EDGE_HITS, HITS_A_SEED, SEEDS
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, Ranking
from memtape.state.text.kinds import of_kind

NOW = 1_790_000_000_000_000
WORDS = ("databases", "postgres", "redis", "Mira", "Vienna", "moved", "staging", "uses", "violin", "instruments", "we")

spots = st.builds(Spot, st.integers(0, 1), st.integers(0, 30))


@st.composite
def looks(draw: st.DrawFn) -> list[list[SeenText]]:
    """Draw what up to three looks have seen, each once in a look, best first."""
    drawn = []
    for _ in range(draw(st.integers(1, MOST_LOOKS))):
        seen = draw(st.lists(spots, unique=True, max_size=20))
        scores = sorted(draw(st.lists(st.floats(0, 1), min_size=len(seen), max_size=len(seen))), reverse=True)
        drawn.append([SeenText(*it) for it in zip(seen, scores, strict=True)])
    return drawn


@given(looks(), st.dictionaries(spots, st.floats(0, 1), max_size=8), st.sets(spots, max_size=8))
def test_looks_are_one_order_in_which_none_is_lost_and_none_stands_twice(
    seen: list[list[SeenText]], lent: dict[Spot, float], kinds: set[Spot]
) -> None:
    of_kind = dict.fromkeys(sorted(kinds))
    order = merged(seen, lent, of_kind)
    assert sorted(it.spot for it in order) == sorted({it.spot for look in seen for it in look} | lent.keys())
    assert all(first.score > second.score for first, second in pairwise(order))
    assert order == merged(seen, lent, of_kind)


@given(looks(), st.dictionaries(spots, st.floats(0, 1), max_size=8))
def test_no_later_look_pushes_out_what_the_first_held_surely(
    seen: list[list[SeenText]], lent: dict[Spot, float]
) -> None:
    order = [it.spot for it in merged(seen, lent)]
    for place, sure in enumerate(seen[0][:SURE], start=1):
        assert order.index(sure.spot) + 1 <= 2 * place


@given(st.lists(spots, unique=True, min_size=1, max_size=20))
def test_one_look_alone_stays_as_it_is(seen: list[Spot]) -> None:
    look = [SeenText(spot, 1 - number / 50) for number, spot in enumerate(seen)]
    assert [it.spot for it in merged([look], {})] == seen


graphs = st.dictionaries(
    st.integers(0, 200), st.lists(st.tuples(st.integers(0, 200), st.floats(-1, 2)), max_size=12), max_size=120
)


@given(graphs, st.lists(st.integers(0, 200), max_size=40))
def test_a_walk_keeps_its_budgets(graph: dict[int, list[tuple[int, float]]], seeds: list[int]) -> None:
    asked: list[int] = []

    def near(spot: int) -> list[tuple[int, float]]:
        asked.append(spot)
        return sorted(graph.get(spot, []), key=lambda edge: -edge[1])

    reached = walk(seeds, near)
    started = list(dict.fromkeys(seeds))[:SEEDS]
    assert len(reached) <= EDGE_HITS and not reached.keys() & set(started)
    assert set(asked[: len(started)]) == set(started) and len(asked) <= SEEDS + EDGE_HITS
    assert all(1 <= way.hops <= HOPS and 0 < way.strength <= 1 for way in reached.values())
    for spot, way in reached.items():
        if way.hops == 1:
            edges = sorted(graph[started[way.seed]], key=lambda edge: -edge[1])[:HITS_A_SEED]
            assert spot in [other for other, _ in edges]
    assert reached == walk(seeds, near)


def field(corpus: Corpus, texts: Sequence[str], among: Among = lambda places: places) -> Field:
    def rank(query: str) -> Ranking:
        return corpus.rank(query, among=among, now=NOW)

    return Field(corpus, rank, among, lambda place: texts[place], NOW, None)


def ground_of(*scopes: Sequence[str]) -> Ground:
    fields = []
    for number, texts in enumerate(scopes):
        documents = [
            Document(text, "s", "Ada", True, False, NOW + n * 1_000_000, "turn", f"{number}-{n:02}")
            for n, text in enumerate(texts)
        ]
        fields.append(field(corpus_of(documents), texts))
    return Ground(fields)


class Recorded:
    """A judge that does what it is told, whatever that is, and counts."""

    def __init__(self, keep: Sequence[bool], queries: Sequence[str]) -> None:
        self.keep, self.queries, self.gates = keep, queries, 0

    def filter(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        return StepDecision([spot for n, spot in enumerate(spots) if not self.keep or self.keep[n % len(self.keep)]])

    def walk(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        return StepDecision(spots)

    def gate(self, question: str, ground: Ground, spots: Sequence[Spot], number: int) -> StepDecision:
        assert len(spots) <= GATED
        self.gates += 1
        return StepDecision(spots, self.queries[(number - 1) % len(self.queries)] if self.queries else "")


texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=25)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def run(scopes: Sequence[Sequence[str]], question: str, judge: Judge, wanted: int = 10) -> tuple[Ground, Deep]:
    ground = ground_of(*scopes)
    return ground, deepened(question, ground, judge, wanted, lambda: 0)


@given(st.lists(texts, min_size=1, max_size=2), questions, st.integers(1, 60))
def test_a_search_by_rules_ends_is_the_same_again_and_holds_what_one_look_holds(
    scopes: list[list[str]], question: str, wanted: int
) -> None:
    ground, deep = run(scopes, question, Rules(), wanted)
    assert deep == run(scopes, question, Rules(), wanted)[1]
    assert 1 <= deep.steps[-1].look <= MOST_LOOKS
    assert [it.step for it in deep.steps] == ["scouts", "filter", "walk", "edges", "gate"] * deep.steps[-1].look
    once = ground_of(*scopes).look(question, LOOKED_AT, 1)
    assert {it.spot for it in once} <= {it.spot for it in deep.found}
    rankings = ground.ordered(deep.found)
    assert [len(ranking.places) for ranking in rankings] == [
        sum(it.spot.scope == scope for it in deep.found) for scope in range(len(scopes))
    ]
    for ranking in rankings:
        for hit in ranking.hits:
            product = hit.relevance * hit.age * hit.use * hit.confidence * hit.yields * hit.looked
            assert abs(product - hit.score) < 1e-6


@given(texts, questions, st.lists(st.booleans(), max_size=4), st.lists(questions, max_size=3))
def test_whatever_a_judge_says_there_are_three_looks_at_most(
    said: list[str], question: str, keep: list[bool], queries: list[str]
) -> None:
    judge = Recorded(keep, queries)
    _, deep = run([said], question, judge)
    assert judge.gates == deep.steps[-1].look <= MOST_LOOKS
    kept = {it.spot for it in deep.found}
    for taken in deep.steps:
        if taken.step == "filter":
            assert taken.kept == taken.given - len(taken.spots)
    if keep and not any(keep):
        assert not kept


def test_a_query_that_was_asked_is_not_asked_again() -> None:
    _, deep = run([["postgres here"]], "postgres", Recorded([], ["postgres"]))
    assert [taken.step for taken in deep.steps].count("scouts") == 1


def test_a_kind_is_found_by_what_is_of_it() -> None:
    said = ["We moved to Vienna.", "The violin is out of tune.", "Redis holds sessions.", "Orders are in Postgres."]
    _, deep = run([said], "Which databases do we use?", Rules())
    best = [said[it.spot.place] for it in deep.found[:2]]
    assert sorted(best) == ["Orders are in Postgres.", "Redis holds sessions."]
    assert [taken.query for taken in deep.steps if taken.step == "scouts"][1].startswith("databases do we use postgres")


def test_texts_of_a_scope_never_answer_by_the_words_of_another() -> None:
    """Statistics of a scope are its own, in the later looks too."""
    own = ["Orders are in Postgres.", "The violin is out of tune."]
    _, alone = run([own, []], "Which databases do we use?", Rules())
    _, beside = run([own, ["Cats sleep all day."] * 20], "Which databases do we use?", Rules())
    assert [it for it in beside.found if it.spot.scope == 0] == alone.found


def test_turns_beside_what_was_found_are_reached_and_those_that_ask_are_not() -> None:
    said = [f"Nothing of note {n}." for n in range(12)]
    said[6], said[8] = "Postgres runs in staging.", "Shall we paint?"
    seen = {it.spot.place for it in ground_of(said).look("postgres staging", LOOKED_AT, 1)}
    _, deep = run([said], "postgres staging", Recorded([], []))
    edges = next(taken for taken in deep.steps if taken.step == "edges")
    reached = {spot.place for spot in edges.spots}
    assert reached and not reached & (seen | {8})
    assert all(any(abs(place - other) <= HOPS for other in seen) for place in reached)
    assert {it.spot.place for it in deep.found} == seen | reached and deep.found[0].spot.place == 6


def test_what_was_used_with_what_was_found_is_reached_over_two_hops() -> None:
    def document(name: str, text: str, *near: str) -> Document:
        neighbours = tuple((other, 1.0) for other in near)
        return Document(text, None, "", False, False, NOW, "fact", name, neighbours=neighbours)

    texts = ["Postgres runs in staging.", "Mira likes tea.", "The harbour is cold.", "Nobody comes."]
    documents = [
        document("a", texts[0], "b"), document("b", texts[1], "a", "c"), document("c", texts[2], "b", "d"),
        document("d", texts[3], "c"),
    ]  # fmt: skip
    ground = Ground([field(corpus_of(documents), texts)])
    deep = deepened("postgres staging", ground, Recorded([], []), 10, lambda: 0)
    assert [it.spot.place for it in deep.found] == [0, 1, 2]
    strict = Ground([field(corpus_of(documents), texts, lambda places: places[places != 1])])
    found = deepened("postgres staging", strict, Recorded([], []), 10, lambda: 0).found
    assert 1 not in [it.spot.place for it in found]


def test_words_that_are_only_about_the_asking_are_left_out() -> None:
    assert bare("How many different roles did I mention across my sessions?") == "How roles did I"
    assert bare("many different") == "many different"
    assert bare("Wie viele?") == "Wie viele"
    assert "violin" in by_kinds("What instruments does she play?")
    assert kinds_asked("Where is it?") == {} and of_kind("nonesuch") == ()


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_any_question_can_be_asked_again(question: str, said: list[str]) -> None:
    for made in (bare(question), by_kinds(question), by_names(question, [], said)):
        assert isinstance(made, str)
    assert kinds_asked(question) == kinds_asked(question)


def test_names_are_those_that_most_texts_have_and_the_question_has_not() -> None:
    said = ["I met Mira in Vienna.", "We saw Mira and Tom.", "Then Ada left."]
    assert by_names("When did Ada leave?", ["leave"], said) == "leave Mira Tom Vienna"
    assert by_names("x", [], []) == ""


def test_the_share_of_a_question_that_is_held_goes_by_its_weight() -> None:
    assert share_held({"a": 3.0, "b": 1.0}, ["a", "a", "c"]) == 0.75
    assert share_held({}, []) == 1.0


def test_the_loop_takes_as_many_as_are_wanted() -> None:
    assert loop.LOOKED_AT == 50
    _, deep = run([[f"postgres number {n}" for n in range(80)]], "postgres", Recorded([], []), 70)
    assert len(deep.found) >= 70
