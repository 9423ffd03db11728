"""A deep search: up to three looks at some scopes, each of which gives the query of the next.

A look takes the steps of `STEPS` in order. A judge decides what three of them keep: `judge_by_rule`, or a
model. By rule a search looks once more for the members of the kinds that the question names. Nothing here
reads a clock or asks a model: both are handed in. Each scope is ranked by its own texts alone. The rule about
kinds is for English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from memtape.schemas.events import DeepStep, Failure, Traced
from memtape.schemas.lanes import MOST_LOOKS
from memtape.state.ranking.lanes import EDGE_HITS, HITS_A_SEED, LENT, SEEDS, Hit
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, Ranking
from memtape.state.text.kinds import members_asked
from memtape.state.text.lexicon import word_list
from memtape.state.text.normal import words
from memtape.state.text.terms import ENGLISH, terms

LOOKED_AT, GATED, MOST_TRACED = 50, 10, 1_000
"""How many of the best of each look are looked at, unless more are wanted; how many the gate judges; how many
ids a traced step has."""
HOPS = 2
OF_KIND = 0.24  # The weight of holding a member of a kind asked for, where each look weighs 1.

_OF_ASKING = word_list("words of asking")
"""Words that say how something is asked for, or how many are wanted, and stand in few answers."""


class Spot(NamedTuple):
    """A text: the number of its scope among the scopes searched, and its place in the scope."""

    scope: int
    place: int


Weighed = list[tuple[int, float]]  # Places of a scope, each with a weight from 0 to 1.


class Field(NamedTuple):
    """One scope: its texts, the ranking of a question among them, and the allowed ones.

    `text_of` gives the text of a place, `id_of` its id, empty for a summary. `now` is that of ranking. `walk`
    gives the pages to which a walk down the tree comes for a query, each with its share of the query. `near`
    gives the texts to which the edges of a text lead, the strongest first.
    """

    corpus: Corpus
    rank: Callable[[str], Ranking]
    among: Among
    text_of: Callable[[int], str]
    id_of: Callable[[int], str]
    now: int
    walk: Callable[[str], Weighed]
    near: Callable[[int], Weighed]


class StepDecision(NamedTuple):
    """The decision of a step: the texts kept, the next query (empty at the end), author, cost and failure.

    The cost is in characters read and written by a model.
    """

    kept: Sequence[Spot]
    query: str = ""
    by: str = "rules"
    cost: int = 0
    failure: Failure = ""


Judge = Callable[[DeepStep, "DeepSearch", Sequence[Spot]], StepDecision]
"""Decides the step `filter`, `walk` or `gate` of a search about some texts."""


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
            reached |= self.note(scope, field.corpus.lent(shares, field.among, field.now).hits)
        self.lent |= {spot: max(self.lent.get(spot, 0.0), score) for spot, score in reached.items()}
        return sorted(reached, key=lambda spot: -reached[spot])

    def of_kind(self) -> list[Spot]:
        """Return the texts of the looks that hold, in their own words, a member of a kind asked for."""
        members = dict.fromkeys(terms(" ".join(members_asked(self.question)), ENGLISH), 1.0)
        seen, found = dict.fromkeys(spot for look in self.looks for spot in look), list[Spot]()
        for scope, field in enumerate(self.fields):
            spots = [spot for spot in seen if spot.scope == scope]
            shares = field.corpus.shares(members, np.array([spot.place for spot in spots], np.int64))
            found += [spot for spot, share in zip(spots, shares, strict=True) if share]
        return found

    def ordered(self) -> list[Ranking]:
        """Return the rankings by scope of the texts found in all looks, with the looks' factor of each."""
        made = list[Ranking]()
        for scope, ranking in enumerate(self.rankings):
            own = [(self.hits[spot], score) for spot, score in self.found.items() if spot.scope == scope]
            hits = [hit._replace(score=new, looked=new / (hit.score or 1)) for hit, new in own]
            places = np.array([hit.place for hit in hits], np.int64)
            scores, yields = np.array([(hit.score, hit.yields) for hit in hits]).reshape(-1, 2).T
            made.append(ranking._replace(places=places, scores=scores, yields=yields, hit=hits.__getitem__))
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


StepResult = tuple[int, Sequence[Spot], StepDecision]
"""The number of texts given to a step, the texts that the step dropped, and the decision."""


def _scout(search: DeepSearch) -> StepResult:
    """Look for the query in all scopes."""
    rankings = [field.rank(search.query) for field in search.fields]
    search.rankings = search.rankings or rankings
    found = dict[Spot, float]()
    for scope, ranking in enumerate(rankings):
        found |= search.note(scope, islice(ranking.hits, search.most))
    best = sorted(found, key=lambda spot: -found[spot])[: search.most]
    search.looks.append({spot: found[spot] for spot in best})
    return len(best), (), StepDecision(best, search.query)


def _drop(search: DeepSearch, step: DeepStep, spots: Sequence[Spot]) -> StepResult:
    """Ask the judge about some texts, and drop for good all that the judge does not keep."""
    told = search.judge(step, search, spots)
    kept = dict.fromkeys(told.kept)
    dropped = [spot for spot in spots if spot not in kept]
    search.dropped |= dict.fromkeys(dropped)
    return len(spots), dropped, told


def _filter(search: DeepSearch) -> StepResult:
    """Drop the texts first seen in this look that have nothing to do with the question."""
    return _drop(search, "filter", [it for it in search.looks[-1] if search.hits[it].look == search.look])


def _walk(search: DeepSearch) -> StepResult:
    """Go down the tree of pages, and lend each half the best relevance by its share of the query."""
    visited = {Spot(n, place): share for n, field in enumerate(search.fields) for place, share in
               field.walk(search.query)}  # fmt: skip
    told = search.judge("walk", search, list(visited))
    best = max((search.hits[spot].relevance for spot in search.looks[-1]), default=1.0)
    reached = search.lend({spot: LENT * best * visited[spot] for spot in told.kept})
    return len(visited), (), told._replace(kept=reached)


def _expand(search: DeepSearch) -> StepResult:
    """Follow the edges of what words or vectors have found: other texts are a hop away already."""

    def near(spot: Spot) -> list[tuple[Spot, float]]:
        field = search.fields[spot.scope]
        return [(Spot(spot.scope, place), weight) for place, weight in field.near(spot.place)]

    kept = (spot for spot in search.looks[-1] if spot not in search.dropped)
    seeds = [spot for spot in kept if {"sparse", "dense"} & search.hits[spot].lanes.keys()][:SEEDS]
    reached = expand(seeds, near)
    lent = {spot: LENT * share * search.hits[seed].relevance for spot, (share, seed) in reached.items()}
    return len(seeds), (), StepDecision(search.lend(lent))


def _gate(search: DeepSearch) -> StepResult:
    """Judge whether the best texts are enough, and get the next query."""
    order = merged(search.looks, search.lent, search.of_kind())
    spots = list(islice((spot for spot in order if spot not in search.dropped), GATED))
    judged = _drop(search, "gate", spots)
    search.found = {spot: score for spot, score in order.items() if spot not in search.dropped}
    return judged


STEPS: dict[DeepStep, Callable[[DeepSearch], StepResult]] = {
    "scouts": _scout, "filter": _filter, "walk": _walk, "edges": _expand, "gate": _gate,
}  # fmt: skip


def judge_by_rule(step: DeepStep, search: DeepSearch, spots: Sequence[Spot]) -> StepDecision:
    """Keep all texts; after the first look ask for the members of the kinds that the question names."""
    members = members_asked(search.question) if step == "gate" and search.look == 1 else []
    asked = [word for word in words(search.question) if word not in _OF_ASKING]
    return StepDecision(spots, " ".join((*asked, *members)) if members else "")


def expand(
    seeds: Sequence[Spot], near: Callable[[Spot], Sequence[tuple[Spot, float]]]
) -> dict[Spot, tuple[float, Spot]]:
    """Return the nodes within two hops of the first 18 seeds, with the strength and the seed of the best way.

    `near` returns the neighbours of a node with weights from 0 to 1, the strongest first. At most six of each
    are walked to, and 45 nodes are reached in all, the strongest of each hop first. Strength is the product
    of the weights along the best way.
    """
    started = dict.fromkeys(list(dict.fromkeys(seeds))[:SEEDS])
    reached: dict[Spot, tuple[float, Spot]] = {}
    front = {seed: (1.0, seed) for seed in started}
    for _ in range(HOPS):
        found: dict[Spot, tuple[float, Spot]] = {}
        for spot, (share, seed) in front.items():
            for other, weight in near(spot)[:HITS_A_SEED]:
                is_new = other not in started and other not in reached
                if is_new and share * weight > found.get(other, (0.0, other))[0]:
                    found[other] = share * weight, seed
        best = sorted(found, key=lambda spot: -found[spot][0])[: EDGE_HITS - len(reached)]
        front = {spot: found[spot] for spot in best}
        reached |= front
    return reached


def merged(
    looks: Sequence[Mapping[Spot, float]], lent: Mapping[Spot, float], of_kind: Sequence[Spot] = ()
) -> dict[Spot, float]:
    """Return the scores of all texts seen in looks, best first; equals keep the looks' order.

    A text has the mean of its shares of each look's best score, as a share of the first look's best; or its
    `lent` score, if greater. The texts in `of_kind`, all of them seen, count as one more look of a small
    weight.
    """
    weighed = [(1.0, look) for look in looks if look]
    best = max(weighed[0][1].values()) if weighed else 0.0
    weighed += [(OF_KIND, dict.fromkeys(of_kind, 1.0))] if of_kind else []
    whole, summed = sum(weight for weight, _ in weighed), dict[Spot, float]()
    for weight, look in weighed:
        top = max(look.values()) or 1.0
        for spot, score in look.items():
            summed[spot] = summed.get(spot, 0.0) + best * weight * score / top / whole
    summed |= {spot: max(score, summed.get(spot, 0.0)) for spot, score in lent.items()}
    return dict(sorted(summed.items(), key=lambda item: -item[1]))
