"""The texts of the scopes of a search, for a deep search: its looks, neighbours, and shares of the question.

Each scope is ranked by its own texts alone; the looks of all scopes are one order by score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from memtape.schemas.lanes import Lane
from memtape.state.index.entries import ENDS_ASKING
from memtape.state.index.parts import Ints
from memtape.state.index.sessions import NOBODY
from memtape.state.ranking.deep.edges import walk
from memtape.state.ranking.deep.seen import SeenText, Spot
from memtape.state.ranking.lanes import LENT, Hit
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import Corpus, Ranking, Scale
from memtape.state.ranking.yielding import just_said, stands

BESIDE, LINKED = 0.5, 1.0
"""The weights of the ways from a turn to the one before and after it, and from a page along its links, where an edge of
full weight has 1."""

FINDING: tuple[Lane, ...] = ("sparse", "dense")
"""The lanes that find texts; all others move or lend."""

Rank = Callable[[str], Ranking]
Walk = Callable[[str], list[tuple[int, float]]]
"""Gives the pages to which a walk down the tree comes for a query, by their texts, each with its share of that."""
Links = Callable[[int], list[int]]
"""Gives the texts to which that of a page leads by the page's edges."""


class Field(NamedTuple):
    """One scope: its texts, the ranking of a question among them, and the allowed ones.

    `now` is that of ranking, `session` the asker's. `text_of` gives the whole text of a place. `walk` and
    `links` go over the tree of pages. Edges are followed only if set so.
    """

    corpus: Corpus
    rank: Rank
    among: Among
    text_of: Callable[[int], str]
    now: int
    session: str | None
    walk: Walk = lambda query: []
    links: Links = lambda place: []
    follows: bool = True


class Ground:
    """Some scopes, and the texts seen in them so far: `hits` by spot, `looked` the rankings of each look."""

    def __init__(self, fields: Sequence[Field]) -> None:
        self._fields = fields
        self.hits: dict[Spot, Hit] = {}
        self.first: dict[Spot, int] = {}
        """In which look each was first seen, from 1 on."""
        self.rankings: list[Ranking] = []
        """Those of the first look, by scope."""

    def look(self, query: str, most: int, number: int) -> list[SeenText]:
        """Return the best texts of all scopes for a query, at most `most`."""
        rankings = [field.rank(query) for field in self._fields]
        self.rankings = self.rankings or rankings
        found = list[SeenText]()
        for scope, ranking in enumerate(rankings):
            found += self._note(scope, islice(ranking.hits, most), number)
        return sorted(found, key=lambda it: -it.score)[:most]

    def walked(self, query: str) -> list[tuple[Spot, float]]:
        """Return the pages reached by a walk down the trees for a query, each with its share of the query."""
        return [(Spot(n, place), share) for n, field in enumerate(self._fields) for place, share in field.walk(query)]

    def near(self, seeds: Sequence[SeenText], number: int) -> list[SeenText]:
        """Return the texts within two hops of some texts, each lent a share of the seed's relevance."""
        reached = walk([seed.spot for seed in seeds], self._beside)
        hits = [self.hits[seed.spot] for seed in seeds]
        return self.lend(
            {spot: LENT * way.strength * hits[way.seed].relevance for spot, way in reached.items()}, number
        )

    def lend(self, relevance: Mapping[Spot, float], number: int) -> list[SeenText]:
        """Return the allowed texts, with the relevance lent to each."""
        lent: dict[int, dict[int, float]] = {}
        for spot, share in relevance.items():
            lent.setdefault(spot.scope, {})[spot.place] = share
        found = list[SeenText]()
        for scope, shares in sorted(lent.items()):
            field = self._fields[scope]
            ranking = field.corpus.lent(shares, self._unsaid(field), field.now)
            found += self._note(scope, ranking.hits, number)
        return sorted(found, key=lambda it: -it.score)

    def is_found(self, spot: Spot) -> bool:
        """Return whether words or vectors have found a text that was seen, and not edges alone."""
        return any(lane in FINDING for lane in self.hits[spot].lanes)

    def weights(self, question: str) -> dict[str, float]:
        """Return the share of a question's weight in each of its terms, by the first scope with any text."""
        corpus = next((field.corpus for field in self._fields if field.corpus.count), self._fields[0].corpus)
        return corpus.weights(question)

    def holding(self, terms: Iterable[str], spots: Sequence[Spot]) -> list[dict[str, None]]:
        """Return which of some terms each of some texts holds in its own words."""
        held = [dict[str, None]() for _ in spots]
        for scope, field in enumerate(self._fields):
            numbers = [n for n, spot in enumerate(spots) if spot.scope == scope]
            places = np.array([spots[n].place for n in numbers], np.int64)
            for term in terms if numbers else ():
                for n in np.flatnonzero(stands(field.corpus.texts.found(term).rows, places)).tolist():
                    held[numbers[n]][term] = None
        return held

    def text(self, spot: Spot) -> str:
        """Return the whole text of a spot."""
        return self._fields[spot.scope].text_of(spot.place)

    def ordered(self, found: Sequence[SeenText]) -> list[Ranking]:
        """Return the rankings by scope of the texts found in all looks, with the looks' factor of each."""
        made = list[Ranking]()
        for scope, ranking in enumerate(self.rankings):
            own = [it for it in found if it.spot.scope == scope]
            hits = [self._moved(it) for it in own]
            places = np.array([hit.place for hit in hits], np.int64)
            made.append(Ranking(ranking.counts, places, hits.__getitem__, ranking.scale if own else Scale(0, 1, 1)))
        return made

    def _moved(self, seen: SeenText) -> Hit:
        """Return a hit with the score that all looks together give it; parts add up to that of the first look alone."""
        hit, look = self.hits[seen.spot], self.first[seen.spot]
        looked = seen.score / hit.score if hit.score else 1.0
        return hit._replace(score=seen.score, looked=looked, look=look, parts=hit.parts if look == 1 else {})

    def _note(self, scope: int, hits: Iterable[Hit], number: int) -> list[SeenText]:
        """Record texts seen through hits, and return them; a text seen before keeps its first record."""
        found = list[SeenText]()
        for hit in hits:
            spot = Spot(scope, hit.place)
            self.hits.setdefault(spot, hit)
            self.first.setdefault(spot, number)
            found.append(SeenText(spot, hit.score))
        return found

    def _beside(self, spot: Spot) -> list[tuple[Spot, float]]:
        """Return the neighbours of a text, the strongest first."""
        field = self._fields[spot.scope]
        corpus = field.corpus
        if not field.follows:
            return []
        around, place = corpus.texts.sessions, spot.place
        turns = (int(link[place]) for link in (around.before, around.after))
        beside = [(other, BESIDE) for other in turns if other != NOBODY]
        linked = [(other, LINKED) for other in field.links(place)]
        near = sorted((*corpus.used_with(place), *linked, *beside), key=lambda edge: -edge[1])
        return [(Spot(spot.scope, other), weight) for other, weight in near]

    def _unsaid(self, field: Field) -> Among:
        """Return a filter for places: allowed, not asking, and not said in the asker's session just now."""

        def among(places: Ints) -> Ints:
            texts = field.corpus.texts
            kept = field.among(places)
            asking = texts.flags[kept] & ENDS_ASKING != 0
            said = just_said(texts, kept, field.session, field.now)
            left: Ints = kept[~(asking | said)]
            return left

        return among
