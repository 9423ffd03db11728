"""A deep search: up to three looks at some scopes, two without a model, each of which gives the next query.

A look takes the steps of `STEPS` in order. A judge decides what three of them keep: `RULES`, or a model. The
search ends when nothing new is asked. Nothing here reads a clock or asks a model: both are handed in. Each
scope is ranked by its own texts alone. The rules about words are for English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from memtape.schemas.events import DeepStep, Failure, Traced
from memtape.schemas.lanes import MOST_LOOKS, Lane
from memtape.schemas.patterns import lazy
from memtape.state.index.entries import ENDS_ASKING
from memtape.state.index.parts import Ints
from memtape.state.index.sorted_values import stands
from memtape.state.index.texts import NOBODY
from memtape.state.ranking.lanes import EDGE_HITS, HITS_A_SEED, LENT, SEEDS, Hit
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import DIGITS, Corpus, Ranking, Scale
from memtape.state.ranking.yielding import LEAST_STEP, just_said
from memtape.state.text.lexicon import lines_of, word_list
from memtape.state.text.normal import words
from memtape.state.text.terms import ENGLISH, terms

LOOKED_AT, GATED, MOST_TRACED = 50, 10, 1_000
"""How many of the best of each look are looked at, unless more are wanted; how many the gate judges; how many
ids a traced step has."""
READY = 0.9
"""Share of a question's weight at which a search ends."""
HOPS = 2
BESIDE, LINKED = 0.5, 1.0
"""The weights of the ways from a turn to its neighbours, and from a page along its links."""
WEIGHTS = (1.0, 1.0, 0.05)
"""What each look counts; a third, which only a model asks for, hardly does more than part equals."""
OF_KIND = 0.12
"""The share of the best score added to texts with a member, in their own words, of a kind asked for."""
FINDING: tuple[Lane, ...] = ("sparse", "dense")
"""The lanes that find texts; all others move or lend."""
BY_RULE = "rules"

_WHERE_SAID = lazy(
    r"\b(?:across|in|during|over|throughout|from)\s+(?:all\s+)?(?:of\s+)?(?:my|our|the|these|all|your|different)\s+"
    r"(?:sessions?|conversations?|chats?|questions?|requests?|messages?|discussions?)\b",
    re.IGNORECASE,
)
_OF_ASKING = word_list("words of asking")
"""Words that say how something is asked for, or how many are wanted, and stand in few answers."""
_WORD = lazy(r"[^\W_][\w'’-]*")


class Spot(NamedTuple):
    """A text: the number of its scope among the scopes searched, and its place in the scope."""

    scope: int
    place: int


Edges = list[tuple[Spot, float]]
"""Neighbours of a text, each with a weight from 0 to 1."""


class Field(NamedTuple):
    """One scope: its texts, the ranking of a question among them, and the allowed ones.

    `now` is that of ranking, `session` the asker's. `text_of` gives the text of a place, `id_of` its id,
    empty for a summary. `walk` gives the pages to which a walk down the tree comes for a query, each with its
    share of the query; `links` the texts to which the edges of a page lead. `follows` says to follow edges.
    """

    corpus: Corpus
    rank: Callable[[str], Ranking]
    among: Among
    text_of: Callable[[int], str]
    id_of: Callable[[int], str]
    now: int
    session: str | None
    walk: Callable[[str], list[tuple[int, float]]] = lambda query: []
    links: Callable[[int], list[int]] = lambda place: []
    follows: bool = True


class StepDecision(NamedTuple):
    """The decision of a step: the texts kept, the next query (empty at the end), author, cost and failure.

    The cost is in characters read and written by a model.
    """

    kept: Sequence[Spot]
    query: str = ""
    by: str = BY_RULE
    cost: int = 0
    failure: Failure = ""


Judge = Mapping[DeepStep, Callable[["DeepSearch", Sequence[Spot]], StepDecision]]
"""The decisions of the steps `filter`, `walk` and `gate` about the texts given to each."""


class DeepSearch:
    """A search so far: the hits of its texts with their first looks, the looks, lent scores, and `found`.

    `rankings` are those of the first look, by scope. A text seen again keeps its first hit.
    """

    def __init__(self, question: str, fields: Sequence[Field], judge: Judge, most: int) -> None:
        self.question = self.query = question
        self.fields = fields
        self.judge = judge
        self.most = most
        self.look = 0
        self.hits: dict[Spot, Hit] = {}
        self.looks: list[dict[Spot, float]] = []
        self.lent: dict[Spot, float] = {}
        self.dropped: dict[Spot, None] = {}
        self.found: dict[Spot, float] = {}
        self.rankings: list[Ranking] = []
        self.trace: list[Traced] = []

    def note(self, scope: int, hits: Iterable[Hit]) -> dict[Spot, float]:
        """Record the texts that a look has seen, and return their scores."""
        scores = {}
        for hit in hits:
            spot = Spot(scope, hit.place)
            self.hits.setdefault(spot, hit._replace(look=self.look))
            scores[spot] = hit.score
        return scores

    def lend(self, relevance: Mapping[Spot, float]) -> list[Spot]:
        """Lend relevance to the allowed ones of some texts, and return these, best first."""
        reached = dict[Spot, float]()
        for scope, field in enumerate(self.fields):
            shares = {spot.place: share for spot, share in relevance.items() if spot.scope == scope}
            if shares:
                reached |= self.note(scope, field.corpus.lent(shares, _unsaid(field), field.now).hits)
        self.lent |= {spot: max(self.lent.get(spot, 0.0), score) for spot, score in reached.items()}
        return sorted(reached, key=lambda spot: -reached[spot])

    def weights(self, question: str) -> dict[str, float]:
        """Return the share of a question's weight in each of its terms, by the first scope with any text."""
        field = next((field for field in self.fields if field.corpus.texts.count), self.fields[0])
        return field.corpus.weights(question)

    def holding(self, asked: Iterable[str], spots: Iterable[Spot]) -> dict[Spot, dict[str, None]]:
        """Return which of some terms each of some texts holds in its own words."""
        held: dict[Spot, dict[str, None]] = {spot: {} for spot in spots}
        for scope, field in enumerate(self.fields):
            own = [spot for spot in held if spot.scope == scope]
            places = np.array([spot.place for spot in own], np.int64)
            for term in asked if own else ():
                for n in np.flatnonzero(stands(field.corpus.texts.found(term).rows, places)).tolist():
                    held[own[n]][term] = None
        return held

    def text(self, spot: Spot) -> str:
        """Return the whole text of a spot."""
        return self.fields[spot.scope].text_of(spot.place)

    def ordered(self) -> list[Ranking]:
        """Return the rankings by scope of the texts found in all looks, with the looks' factor of each.

        The parts of a hit add up to the relevance of the first look alone.
        """
        made = list[Ranking]()
        for scope, ranking in enumerate(self.rankings):
            hits = list[Hit]()
            for spot, score in self.found.items():
                if spot.scope == scope:
                    hit = self.hits[spot]
                    looked = score / hit.score if hit.score else 1.0
                    parts = hit.parts if hit.look == 1 else {}
                    hits.append(hit._replace(score=score, looked=looked, parts=parts))
            places = np.array([hit.place for hit in hits], np.int64)
            scale = ranking.scale if hits else Scale(0, 1, 1)
            made.append(Ranking(ranking.counts, places, hits.__getitem__, scale))
        return made


def deepened(
    question: str, fields: Sequence[Field], judge: Judge, wanted: int, clock_us: Callable[[], int]
) -> DeepSearch:
    """Return the search of a question after up to three looks; `found` has the `wanted` results first."""
    search, asked = DeepSearch(question, fields, judge, max(LOOKED_AT, wanted)), dict[str, None]()
    while search.query and search.query not in asked and search.look < MOST_LOOKS:
        asked[search.query] = None
        search.look += 1
        for step, take in STEPS.items():
            since, known = clock_us(), len(search.hits)
            given, dropped, told = take(search)
            told = told._replace(query="") if step == "gate" and search.look == MOST_LOOKS else told
            spots = dropped or list(search.hits)[known:]
            ids = (search.fields[spot.scope].id_of(spot.place) for spot in spots)
            traced = tuple(dict.fromkeys(id for id in ids if id))[:MOST_TRACED]
            search.trace.append(
                Traced(
                    by=told.by, cost=told.cost, failure=told.failure, given=given, ids=traced,
                    kept=len(told.kept), look=search.look, query=told.query, step=step,
                    took_us=max(0, clock_us() - since),
                )
            )  # fmt: skip
        search.query = told.query
    return search


Step = Callable[[DeepSearch], tuple[int, Sequence[Spot], StepDecision]]
"""Takes a step; returns how many texts it was given, those that it dropped, and the decision."""


def _scout(search: DeepSearch) -> tuple[int, Sequence[Spot], StepDecision]:
    """Look for the query in all scopes."""
    rankings = [field.rank(search.query) for field in search.fields]
    search.rankings = search.rankings or rankings
    found = dict[Spot, float]()
    for scope, ranking in enumerate(rankings):
        found |= search.note(scope, islice(ranking.hits, search.most))
    best = sorted(found, key=lambda spot: -found[spot])[: search.most]
    search.looks.append({spot: found[spot] for spot in best})
    return len(best), (), StepDecision(best, search.query)


def _filter(search: DeepSearch) -> tuple[int, Sequence[Spot], StepDecision]:
    """Drop what has nothing to do with the question."""
    seen = search.looks[-1]
    told = search.judge["filter"](search, list(seen)) if seen else StepDecision(())
    search.looks[-1] = {spot: seen[spot] for spot in seen if spot in dict.fromkeys(told.kept)}
    return len(seen), [spot for spot in seen if spot not in search.looks[-1]], told


def _walk(search: DeepSearch) -> tuple[int, Sequence[Spot], StepDecision]:
    """Go down the tree of pages, and lend each half the best relevance by its share of the query."""
    visited = {Spot(n, place): share for n, field in enumerate(search.fields) for place, share in
               field.walk(search.query)}  # fmt: skip
    told = search.judge["walk"](search, list(visited)) if visited else StepDecision(())
    best = max((search.hits[spot].relevance for spot in search.looks[-1]), default=1.0)
    reached = search.lend({spot: LENT * best * visited[spot] for spot in told.kept})
    return len(visited), (), told._replace(kept=reached)


def _follow(search: DeepSearch) -> tuple[int, Sequence[Spot], StepDecision]:
    """Follow the edges of what words or vectors have found: other texts are a hop away already."""
    finds = (spot for spot in search.looks[-1] if any(lane in FINDING for lane in search.hits[spot].lanes))
    seeds = list(islice(finds, SEEDS))
    reached = walk(seeds, lambda spot: _beside(search.fields[spot.scope], spot))
    lent = {spot: LENT * share * search.hits[seed].relevance for spot, (share, seed) in reached.items()}
    return len(seeds), (), StepDecision(search.lend(lent))


def _gate(search: DeepSearch) -> tuple[int, Sequence[Spot], StepDecision]:
    """Judge whether the best texts are enough, and get the next query; later looks prefer kinds asked for."""
    seen = (spot for look in search.looks for spot in look) if search.look > 1 else ()
    kinds = [spot for spot, its in search.holding(_members(search.question), seen).items() if its]
    search.found = merged(search.looks, search.lent, kinds)
    spots = list(islice((spot for spot in search.found if spot not in search.dropped), GATED))
    told = search.judge["gate"](search, spots)
    dropped = [spot for spot in spots if spot not in dict.fromkeys(told.kept)]
    search.dropped |= dict.fromkeys(dropped)
    search.found = {spot: score for spot, score in search.found.items() if spot not in search.dropped}
    return len(spots), dropped, told


STEPS: dict[DeepStep, Step] = {
    "scouts": _scout, "filter": _filter, "walk": _walk, "edges": _follow, "gate": _gate,
}  # fmt: skip


def keep_related(search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
    """Keep all results of the first look; of later ones only texts with a term or kind asked for."""
    if search.look == 1:
        return StepDecision(spots)
    asked = dict.fromkeys((*search.weights(search.question), *_members(search.question)))
    held = search.holding(asked, spots)
    return StepDecision([spot for spot in spots if held[spot] or search.hits[spot].look == 1])


def ask_by_kinds(search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
    """Keep all texts, and look once more unless the texts hold most of the question's weight.

    A term that names a kind is held by nothing before its members were searched for.
    """
    kinds, weights = kinds_asked(search.question), search.weights(bare(search.question))
    found = dict.fromkeys(term for its in search.holding(weights, spots).values() for term in its)
    is_enough = share_held(weights, [term for term in found if term not in kinds]) >= READY
    return StepDecision(spots, "" if is_enough or search.look > 1 else by_kinds(search.question))


RULES: Judge = {
    "filter": keep_related, "walk": lambda _, spots: StepDecision(spots), "gate": ask_by_kinds,
}  # fmt: skip
"""The judge that goes by words alone. A walk has gone by the same words, so that all its pages are opened."""


def walk(seeds: Sequence[Spot], near: Callable[[Spot], Edges]) -> dict[Spot, tuple[float, Spot]]:
    """Return the nodes within two hops of the first 18 seeds, with the strength and the seed of the best way.

    `near` returns the neighbours of a node with weights from 0 to 1, the strongest first. At most six of each
    are walked to, and 45 nodes are reached in all, the strongest of each hop first. Strength is the product
    of the weights along the best way.
    """
    started = dict.fromkeys(list(dict.fromkeys(seeds))[:SEEDS])
    reached: dict[Spot, tuple[float, Spot]] = {}
    front = [(seed, 1.0, seed) for seed in started]
    for _ in range(HOPS):
        found: dict[Spot, tuple[float, Spot]] = {}
        for spot, share, seed in front:
            for other, weight in islice(near(spot), HITS_A_SEED):
                strength = share * min(1.0, max(0.0, weight))
                is_new = other not in started and other not in reached and strength > 0
                if is_new and (other not in found or strength > found[other][0]):
                    found[other] = strength, seed
        ranked = sorted(found.items(), key=lambda item: -item[1][0])[: EDGE_HITS - len(reached)]
        reached.update(ranked)
        front = [(spot, strength, seed) for spot, (strength, seed) in ranked]
    return reached


def _beside(field: Field, spot: Spot) -> Edges:
    """Return the neighbours of a text, the strongest first."""
    if not field.follows:
        return []
    around = field.corpus.texts.sessions
    turns = (int(link[spot.place]) for link in (around.before, around.after))
    beside = [(other, BESIDE) for other in turns if other != NOBODY]
    linked = [(other, LINKED) for other in field.links(spot.place)]
    near = sorted((*field.corpus.used_with(spot.place), *linked, *beside), key=lambda edge: -edge[1])
    return [(Spot(spot.scope, other), weight) for other, weight in near]


def _unsaid(field: Field) -> Among:
    """Return a filter for places: allowed, not asking, and not said in the asker's session just now."""

    def among(places: Ints) -> Ints:
        texts = field.corpus.texts
        kept = field.among(places)
        asking = texts.flags[kept] & ENDS_ASKING != 0
        left: Ints = kept[~(asking | just_said(texts, kept, field.session, field.now))]
        return left

    return among


def merged(
    looks: Sequence[Mapping[Spot, float]], lent: Mapping[Spot, float], of_kind: Iterable[Spot] = ()
) -> dict[Spot, float]:
    """Return all texts seen in looks as one order, best first, each once, no two with the same score.

    Each look is in its order. A text has the sum of its shares of each look's best score, by the looks'
    weights, and for a text in `of_kind` also `OF_KIND`, as a share of the first look's best; or its `lent`
    score, if greater. Equals keep the looks' order.
    """
    tops = [next(iter(look.values()), 0.0) for look in looks]
    best = next((top for top, look in zip(tops, looks, strict=True) if look), max(lent.values(), default=0.0))
    whole = sum(weight for weight, look in zip(WEIGHTS, looks, strict=False) if look) or 1
    summed, kinds = dict[Spot, float](), dict.fromkeys(of_kind)
    for weight, top, look in zip(WEIGHTS, tops, looks, strict=False):
        for spot, score in look.items():
            summed[spot] = summed.get(spot, 0.0) + weight * score / (top or 1) / whole
    added = OF_KIND if kinds else 0.0
    for spot, share in summed.items():
        summed[spot] = best * (share + (added if spot in kinds else 0.0)) / (1 + added)
    summed |= {spot: max(score, summed.get(spot, 0.0)) for spot, score in lent.items()}
    units = {spot: round(score / LEAST_STEP) for spot, score in summed.items()}
    ranked = sorted(units, key=lambda spot: -units[spot])  # Equals stay as they were put in.
    order, least = dict[Spot, float](), 0
    for spot in reversed(ranked):
        least = max(units[spot], least + 1)
        order[spot] = round(least * LEAST_STEP, DIGITS)
    return dict(reversed(order.items()))


def bare(question: str) -> str:
    """Return the words of a question except words about asking; all words if none is left."""
    kept = [word for word in _WORD.findall(_WHERE_SAID.sub(" ", question)) if word.lower() not in _OF_ASKING]
    return " ".join(kept) if any(map(words, kept)) else question


def kinds_asked(question: str) -> dict[str, tuple[str, ...]]:
    """Return by each term of a question that names a kind the words of members of the kind."""
    return {term: _kinds()[term] for term in terms(bare(question), ENGLISH) if term in _kinds()}


def _members(question: str) -> dict[str, None]:
    """Return the terms of all members of the kinds that a question names."""
    members = (" ".join(its) for its in kinds_asked(question).values())
    return dict.fromkeys(term for its in members for term in terms(its, ENGLISH))


def by_kinds(question: str) -> str:
    """Return a question without words about asking, with all members of the kinds named in it."""
    members = (member for its in kinds_asked(question).values() for member in its)
    return " ".join((bare(question), *dict.fromkeys(members)))


def share_held(weights: Mapping[str, float], held: Iterable[str]) -> float:
    """Return the share of a question's weight in the held terms, from 0 to 1; 1 for one without terms."""
    whole = sum(weights.values())
    return sum(weights.get(term, 0.0) for term in dict.fromkeys(held)) / whole if whole else 1.0


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    """Return the members of each kind of `kinds.txt`, which texts hold without the name of the kind."""
    found: dict[str, dict[str, None]] = {}
    for names, _, members in (line.partition(":") for line in lines_of("kinds.txt")):
        for name in terms(names, ENGLISH):
            found.setdefault(name, {}).update(dict.fromkeys(members.split()))
    return {name: tuple(its) for name, its in found.items()}
