"""The order of found texts: candidates by words and vectors, boosts, and the reasons for each place.

One ranker for every search. Candidates and statistics come from the scope alone, so that no other scope can
change a score. Scores are answers and never state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from copy import copy
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.lanes import LANES, Lane
from memtape.state.index.entries import AGES, EMPTY_WORDS, ENDS_ASKING, FULL_CONFIDENCE, HOLDS, TURN
from memtape.state.index.newness import newness
from memtape.state.index.parts import Floats, Ints
from memtape.state.index.sorted_values import distinct, firsts, is_one_of, stands
from memtape.state.index.texts import NOBODY, Texts
from memtape.state.index.vectors import TextVectors, Vectors
from memtape.state.ranking import lanes as rules
from memtape.state.ranking.lanes import ALONE, ASSISTED, HALF, PEERS, Hit, first_of
from memtape.state.ranking.lexical import ScopeWords, Worded
from memtape.state.ranking.meaning import EXACT_TEXTS, NOWHERE, Among, Meaning, Similar
from memtape.state.ranking.yielding import (
    ASKING_AMONG,
    below,
    first_with_equals,
    held_with_question,
    just_said,
    only_asking,
)
from memtape.state.text.passages import best_passage
from memtape.state.text.questions import first_person, held_by_answers, is_about_answers
from memtape.state.text.reading import read

DIGITS = 9
"""Decimals of scores: rounding keeps the order of additions from deciding between equals."""


class Scale(NamedTuple):
    """How a sum becomes a relevance: (sum - `least`) / (`most` - `least`), from 0 to 1, x `strength`."""

    least: float
    most: float
    strength: float


class Ranking(NamedTuple):
    """The places of texts, best first, with their scores, and how far each yields to a better answer.

    `counts` has the number of texts found or moved by each lane. `hit` gives the `Hit` of the text at an
    index of the order, `parts` the summands of its relevance by its place, none where edges alone reached it.
    """

    counts: dict[Lane, int]
    places: Ints
    scores: Floats
    yields: Floats
    hit: Callable[[int], Hit]
    parts: Callable[[int], Mapping[str, float]]
    scale: Scale

    @property
    def hits(self) -> Iterator[Hit]:
        """The `Hit` of each text, best first."""
        return map(self.hit, range(len(self.places)))


class TextUse(NamedTuple):
    """How often a text was used, how much lately on any scale from 0, and the texts used with it, by id.

    Each of these has the weight of the edge to it, 1 for a full one.
    """

    uses: int = 0
    hot: float = 0
    neighbours: tuple[tuple[str, float], ...] = ()


class Corpus:
    """The texts of one scope, prepared for many questions.

    `text_of` gives the whole text of a place, `used` the uses of some texts; `words` matches questions with
    the words of `texts`.
    """

    def __init__(
        self,
        texts: Texts,
        text_of: Callable[[int], str],
        vectors: TextVectors | None = None,
        used: Mapping[int, TextUse] = MappingProxyType({}),
    ) -> None:
        self.texts = texts
        self._text_of = text_of
        self._answers = texts.answers
        of_people = PEERS if texts.sessions.has_any else ALONE
        self._recipe = of_people if self._answers is None else ASSISTED
        self.words = ScopeWords(texts, self._recipe.context)
        shown = vectors.shown(texts.shown) if vectors is not None else None
        has_any = shown is not None and shown.known.any()
        self._meaning = Meaning(shown, texts.sessions.number) if shown is not None and has_any else None
        self._used = used

    def with_use(self, used: Mapping[int, TextUse]) -> Corpus:
        """Return the same texts with other uses, hotness and edges, at the cost of these alone."""
        changed = copy(self)
        changed._used = used
        return changed

    def to_encode(self, query: str) -> str | None:
        """Return the question as encoded for `rank`; None if no text has a vector."""
        if self._meaning is None:
            return None
        return query if self._answers is not None else first_person(query, self.texts.speakers)

    def passages(self, query: str) -> Callable[[int], str]:
        """Return a function from a place to its best passage for the query, of at most 1,200 characters."""
        weights = self.words.weights(query)
        return lambda place: best_passage(self._text_of(place), weights)

    def shares(self, weights: Mapping[str, float], places: Ints) -> list[float]:
        """Return the share of a question's `weights` in each text's own words, from 0 to 1."""
        held, rows = np.zeros(len(places)), places.astype(np.uint32)
        for term, weight in weights.items():
            held += weight * stands(self.texts.found(term).rows, rows)
        shares: list[float] = np.round(held, DIGITS).tolist()
        return shares

    def weights(self, query: str) -> dict[str, float]:
        """Return the share of a question's weight in each of its terms, from 0 to 1."""
        weights = self.words.weights(query)
        whole = sum(weights.values()) or 1
        return {term: weight / whole for term, weight in weights.items()}

    def cosines(self, places: Ints) -> Floats | None:
        """Return the cosines between some texts, shape (places, places); None if no text has a vector.

        A text without a vector is similar to none.
        """
        return None if self._meaning is None else self._meaning.vectors.cosines(places)

    def rank(
        self, query: str, query_vector: Vectors | None = None, *, lanes: Collection[Lane] = LANES,
        among: Among | None = None, now: int | None = None, session: str | None = None,
    ) -> Ranking:  # fmt: skip
        """Return the results of the lanes for a query, best first, by kind and id among equals.

        Of a text and its further wordings only the best is returned, and lanes count all of them once.
        `query_vector` is the quantised vector of `to_encode(query)`, shape (dimensions,). `among` filters the
        allowed places, and changes no score. `now` is in microseconds, by default the time of the latest
        text. `session` is the asker's.
        """
        words, similar = self.words.ask(query), None
        if "sparse" not in lanes:
            words = words._replace(texts=0 * words.texts, sessions=0 * words.sessions, strength=0.0)
        among = self._saying(among or (lambda places: places))
        found: dict[Lane, _LaneResult] = {}
        if "sparse" in lanes:
            places = among(np.flatnonzero(words.texts > 0))
            its = self._first(places, words.texts[places], rules.SPARSE_HITS)
            found["sparse"] = its._replace(scores=its.scores / words.best[0])
        if self._meaning is not None and query_vector is not None and "dense" in lanes:
            similar = Similar(self._meaning, query_vector, among)
            found["dense"] = self._followed(self._near(similar, found.get("sparse")), among)
        places = distinct(np.concatenate([np.zeros(0, np.int64), *(its.places for its in found.values())]))
        if not len(places):
            counts, none, scale = dict.fromkeys(found, 0), np.zeros(0), Scale(0, 1, words.strength)
            return Ranking(counts, places, none, none, [].__getitem__, lambda place: {}, scale)
        now = self.texts.latest if now is None else now
        found |= self._moved(places, now, lanes)
        parts, scale = self._summed(query, words, similar, places, found)
        fused = np.sum(list(parts.values()), axis=0)
        relevance = np.clip((fused - scale.least) / (scale.most - scale.least), 0, 1) * scale.strength
        summed, best = places, self._best(relevance, places)
        places, relevance = places[best], relevance[best]
        if "edges" in lanes:
            places, relevance, found["edges"] = self._lent(places, relevance, among)
        counts = {lane: self._count(its.places) for lane, its in found.items()}
        yields = self._yields(words.terms, places, session, now)

        def parts_of(place: int) -> Mapping[str, float]:
            n = int(np.searchsorted(summed, place))
            if n == len(summed) or summed[n] != place:  # It was reached by edges alone.
                return {}
            return {name: part for name, its in parts.items() if (part := round(float(its[n]), DIGITS))}

        return Ranking(counts, *self._hits(places, relevance, found, now, yields), parts_of, scale)

    def used_with(self, place: int) -> list[tuple[int, float]]:
        """Return (place, weight) of texts used together with a text, by falling weight, from 1 to 0."""
        used = self._used.get(self.texts.head(place)) if self._used else None
        walked = sorted(used.neighbours, key=lambda edge: (-edge[1], edge[0])) if used is not None else []
        placed = ((self.texts.called(id), weight) for id, weight in walked)
        return [(other, min(1.0, max(0.0, weight))) for other, weight in placed if other is not None]

    def lent(self, relevance: Mapping[int, float], among: Among, now: int | None) -> Ranking:
        """Return texts reached from others, with their lent relevance, among the allowed places."""
        places = self._saying(among)(np.sort(np.array(list(relevance), np.int64)))
        values = np.array([relevance[place] for place in places.tolist()], np.float64)
        found: dict[Lane, _LaneResult] = {"edges": _LaneResult(places, values)}
        now = self.texts.latest if now is None else now
        ordered = self._hits(places, values, found, now, lambda scores: scores)
        return Ranking({"edges": len(places)}, *ordered, lambda place: {}, Scale(0, 1, 1))

    def _saying(self, among: Among) -> Among:
        """Return the filter `among` without texts of empty words."""
        return lambda places: among(places[self.texts.flags[places] & EMPTY_WORDS == 0])

    def _yields(
        self, terms: list[str], places: Ints, session: str | None, now: int
    ) -> Callable[[Floats], Floats]:
        """Return a function that lowers the scores of texts which yield to a better answer.

        A better answer holds as many of the question's terms. Of texts that only ask, those among the best
        yield, and those that come among them.
        """
        said = just_said(self.texts, places, session, now)
        every = only_asking(self.texts, places)

        def lowered(scores: Floats) -> Floats:
            held, lower, asks = None, scores, np.zeros(len(places), np.bool_)
            while True:
                if asks.any() or said.any():
                    held = held or held_with_question(self.texts, places, terms)
                    lower = below(scores, asks, said, *held)
                new = every & ~asks & first_with_equals(lower, ASKING_AMONG)
                if not new.any():
                    return lower
                asks |= new

        return lowered

    def _near(self, similar: Similar, worded: _LaneResult | None) -> _LaneResult:
        """Return the texts near a question; with few of them, also those perhaps near."""
        near = similar.cosines >= rules.LEAST_COSINE
        known = similar.places[near]
        if worded is not None:
            known = distinct(np.concatenate([worded.places, known]))
        if (missing := rules.PERHAPS_HITS - self._count(known)) <= 0:
            return self._first(similar.places[near], similar.cosines[near], rules.DENSE_HITS)
        less = np.flatnonzero(~near)
        others = self._first(similar.places[less], similar.cosines[less], missing).places
        shown = near | is_one_of(similar.places, others)
        return _LaneResult(similar.places[shown], similar.cosines[shown])

    def _followed(self, near: _LaneResult, among: Among) -> _LaneResult:
        """Return what is near, and the later memories about what the nearest memories are about."""
        memories = np.flatnonzero(self.texts.flags[near.places] & TURN == 0)
        if self._meaning is None or not len(memories) or len(self.texts.flags) > EXACT_TEXTS:
            return near
        best = memories[np.argsort(-near.scores[memories], kind="stable")][: rules.FOLLOWED_FROM]
        seeds, at = near.places[best], self.texts.whole("at")
        cosines = self._meaning.cosines(seeds)
        later = (at[:, None] > at[seeds]) & (self.texts.flags & TURN == 0)[:, None]
        nearest = np.where(later, cosines, NOWHERE).argmax(axis=0)
        followed = dict(zip(near.places.tolist(), near.scores.tolist(), strict=True))
        for number, other in enumerate(nearest.tolist()):
            is_alike = later[other, number] and cosines[other, number] >= rules.FOLLOWED_COSINE
            if is_alike and len(among(np.array([other]))):
                score = rules.FOLLOWED_SHARE * float(near.scores[best[number]])
                followed[other] = max(followed.get(other, 0.0), score)
        places = sorted(followed)
        return _LaneResult(np.array(places, np.int64), np.array([followed[place] for place in places]))

    def _first(self, places: Ints, scores: Floats, most: int) -> _LaneResult:
        """Return the `most` highest scores among ascending places, with further wordings of these texts."""
        best = self._best(scores, places)
        here = first_of(scores, best, most, lambda some: self._order(places[some]))
        if self.texts.is_worded:
            heads = self.texts.heads(places)
            here = np.flatnonzero(is_one_of(heads, heads[here]) & (scores > 0))
        return _LaneResult(places[here], scores[here])

    def _best(self, scores: Floats, places: Ints) -> Ints:
        """Return the number of the best of each text and its wordings among some places, ascending."""
        if not self.texts.is_worded:
            return np.arange(len(places))
        heads = self.texts.heads(places)
        order = np.lexsort((places - heads, -scores, heads))
        best: Ints = np.sort(order[firsts(heads[order])])
        return best

    def _count(self, places: Ints) -> int:
        """Return how many texts some places are, each with its other wordings counted once."""
        return len(distinct(self.texts.heads(np.sort(places)))) if self.texts.is_worded else len(places)

    def _order(self, places: Ints) -> Ints:
        """Return the rank of each of some places, in ascending order, by kind, id and which wording it is."""
        column = self.texts.column
        ids = column("ids", places).reshape(-1, 2)
        wordings = (column("wordings", places),) if self.texts.is_worded else ()
        ordered = np.lexsort((places, *wordings, ids[:, 1], ids[:, 0], column("kinds", places)))
        ranks = np.empty(len(places), np.int64)
        ranks[ordered] = np.arange(len(places))
        return ranks

    def _moved(self, places: Ints, now: int, lanes: Collection[Lane]) -> dict[Lane, _LaneResult]:
        """Return the hot texts among places, as a share of the hottest in the scope, and the fresh ones."""
        moved: dict[Lane, _LaneResult] = {}
        if "hot" in lanes:
            hottest = max((its.hot for its in self._used.values()), default=0) or 1
            hot = self._of_use(places, lambda used: used.hot / hottest)
            moved["hot"] = self._first(places, hot, rules.HOT_HITS)
        if "fresh" in lanes:
            days = np.maximum((now - self.texts.column("at", places)) / rules.DAY_US, 0)
            fresh = np.clip(1 - days / rules.FRESH_DAYS, 0, 1)
            moved["fresh"] = self._first(places, fresh, rules.FRESH_HITS)
        return moved

    def _summed(
        self, query: str, words: Worded, similar: Similar | None, places: Ints, found: dict[Lane, _LaneResult]
    ) -> tuple[dict[str, Floats], Scale]:
        """Return the summands of places, and the scale from the sum to a relevance from 0 to 1.

        If even the best text holds little of the question, the scale is reduced by its share.
        """
        weights = self._recipe.by_words if similar is None else self._recipe.with_vectors
        of_sessions = words.sessions[self.texts.sessions.number[places]]
        parts = {
            "words": words.texts[places] / words.best[0],
            "session": weights.session * (of_sessions / words.best[1]),
        }
        strength = words.strength
        if similar is not None:
            # A text without a vector so far counts as average.
            parts["cosine"] = weights.cosine * _filled(*similar.of(places))
            sessions = similar.sessions_of(places)
            parts["session cosine"] = weights.session_cosine * _filled(sessions, sessions > NOWHERE)
            strength = max(strength, similar.best)
        # Without a single named speaker every turn gets half, which changes no order; memories always do.
        flags, named = self.texts.flags[places], words.named
        by_named = self.texts.spoken_by(named[0], places) if len(named) == 1 else HALF
        preferred: Floats | float = 0.0
        if self._answers is not None:
            is_asked = is_about_answers(read(query))
            of_people, of_answers = (rules.ASKED_PEOPLE, rules.ASKED_ANSWERS) if is_asked else (1.0, 0.0)
            preferred = np.where(self._answers[places], of_answers, of_people)
        parts["speaker"] = weights.speaker * np.where(flags & TURN != 0, by_named, HALF)
        parts["prior"] = weights.own_words * preferred + np.zeros(len(places))
        parts["question"] = weights.question * (flags & ENDS_ASKING != 0)
        hint = held_by_answers(read(query))
        if hint is not None and weights.hint:
            parts["hint"] = weights.hint * (flags & HOLDS[hint] != 0)
        for lane, weight in rules.MOVING.items():
            if lane in found:
                parts[lane] = np.zeros(len(places))
                parts[lane][np.searchsorted(places, found[lane].places)] = weight * found[lane].scores
        parts["news"] = rules.NEWS * self._news(places, np.sum(list(parts.values()), axis=0))
        most = 1 + rules.NEWS + sum(rules.MOVING.values()) + sum(weight for weight in weights if weight > 0)
        return parts, Scale(min(0.0, weights.question), most, min(1.0, max(0.0, strength)))

    def _news(self, places: Ints, summed: Floats) -> Floats:
        """Return how much is new in each of the best texts of talk, from 0 to 1; 0 for texts behind these.

        In a young scope everything is new, and counts less. Other texts among the best count as new, so that
        no memory is below its turn.
        """
        best, around = np.flatnonzero(first_with_equals(summed, rules.NEWS_AMONG)), self.texts.sessions
        chosen, news = places[best], np.zeros(len(places))
        beside = (around.before[chosen] != NOBODY) | (around.after[chosen] != NOBODY)
        is_talk = (self.texts.flags[chosen] & TURN != 0) | beside
        said = self.texts.count / (self.texts.count + rules.YOUNG_TEXTS)
        news[best] = said
        if is_talk.any():
            news[best[is_talk]] = said * newness(self.texts, chosen[is_talk])
        return news

    def _lent(self, places: Ints, relevance: Floats, among: Among) -> tuple[Ints, Floats, _LaneResult]:
        """Return all places, with those reached by edges of the best, each with its own or lent relevance.

        The greater counts. With them come the places that a part of a seed's relevance has raised.
        """
        if not self._used:
            return places, relevance, _LaneResult(places[:0], relevance[:0])
        seeds = np.sort(
            first_of(relevance, np.arange(len(places)), rules.SEEDS, lambda some: self._order(places[some]))
        )
        lent: dict[int, float] = {}
        heads = self.texts.heads(places)
        found = dict(zip(heads.tolist(), places.tolist(), strict=True))
        for seed in seeds[np.lexsort((self._order(places[seeds]), -relevance[seeds]))].tolist():
            for other, weight in self.used_with(int(heads[seed]))[: rules.HITS_A_SEED]:
                place = found.get(other, other)
                if (place in lent or len(lent) < rules.EDGE_HITS) and len(among(np.array([place]))):
                    lent[place] = max(lent.get(place, 0.0), rules.LENT * float(relevance[seed]) * weight)
        reached, scores = np.array(list(lent), np.int64), np.array(list(lent.values()), np.float64)
        every = distinct(np.concatenate([places, reached]))
        values = np.zeros(len(every))
        values[np.searchsorted(every, places)] = relevance
        raised = scores > values[np.searchsorted(every, reached)]
        values[np.searchsorted(every, reached[raised])] = scores[raised]
        return every, values, _LaneResult(reached[raised], scores[raised])

    def _hits(
        self,
        places: Ints,
        relevance: Floats,
        found: dict[Lane, _LaneResult],
        now: int,
        yields: Callable[[Floats], Floats],
    ) -> tuple[Ints, Floats, Floats, Callable[[int], Hit]]:
        """Return places by falling score, and the other fields of a `Ranking` up to `hit`."""
        column = self.texts.column
        # A text of the future is not old.
        days = np.maximum((now - column("ages_from", places)) / rules.DAY_US, 0)
        aged = np.maximum(rules.LEAST_AGE, 1 - days / rules.AGE_DAYS)
        age = np.where(self.texts.flags[places] & AGES != 0, aged, 1)
        use = 1 + np.minimum(rules.USE_STEP * self._of_use(places, lambda used: used.uses), rules.MOST_USE)
        confidence = np.clip(column("confidences", places) / FULL_CONFIDENCE, rules.LEAST_CONFIDENCE, 1)
        own_scores = np.round(relevance * age * use * confidence, DIGITS)
        scores = np.round(yields(own_scores), DIGITS)
        yielded = np.divide(scores, own_scores, out=np.ones(len(scores)), where=scores < own_scores)
        lanes = {lane: dict(zip(*map(np.ndarray.tolist, its), strict=True)) for lane, its in found.items()}
        order = np.lexsort((self._order(places), -scores))
        columns = (scores, relevance, age, use, confidence, yielded)

        def hit(number: int) -> Hit:
            n = int(order[number])
            place = int(places[n])
            by = {lane: scores_of[place] for lane, scores_of in lanes.items() if place in scores_of}
            score, own, aged, used, sure, yielding = (float(values[n]) for values in columns)
            return Hit(place, score, own, aged, used, sure, yielding, by)

        return places[order], scores[order], yielded[order], hit

    def _of_use(self, places: Ints, value: Callable[[TextUse], float]) -> Floats:
        """Return a value of the use of each of some places, 0 of one that was not used."""
        if not self._used:
            return np.zeros(len(places))
        nothing = TextUse()
        heads = self.texts.heads(places).tolist()
        return np.array([value(self._used.get(place, nothing)) for place in heads], np.float64)


class _LaneResult(NamedTuple):
    """The result of a lane: places, and their scores."""

    places: Ints
    scores: Floats


def _filled(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return values with the mean of the known ones where they are not known."""
    return np.where(known, values, values[known].mean() if known.any() else 0)
