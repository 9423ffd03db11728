"""The order in which found texts are shown: what words and vectors find, what lifts it, and why each stands there.

One ranker for every search. Candidates and statistics come from the scope alone, so that nothing in another scope can
move a score. Scores are answers and never state.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtape.schemas.lanes import LANES, Lane
from memtape.state.ranking import lanes as rules
from memtape.state.ranking.asking import first_person, held_by_answers, is_about_answers
from memtape.state.ranking.documents import Document, answers_of, sessions_of
from memtape.state.ranking.lanes import Hit, first_of
from memtape.state.ranking.lexical import Taken, Worded
from memtape.state.ranking.postings import Floats, Ints
from memtape.state.ranking.recipes import ASKED_ANSWERS, ASKED_PEOPLE, ASSISTED, HALF, PEERS, Weights
from memtape.state.ranking.wording import Reading, Wording
from memtape.state.text.passages import Passages

NOWHERE = -2
"""Less than any cosine: that of a session in which nothing has a vector."""
DIGITS = 9
"""Scores are rounded, so that the order in which a machine adds does not decide between equals."""

PartsOf = Callable[[int], Mapping[str, float]]
Vectors = NDArray[np.int16]
"""Quantised vectors (`state/vectors/recorded.py`), one a row; of zeros where there is none."""


class Similar(NamedTuple):
    """The cosines of every text to a question, those of the best of their sessions, and which texts have a vector."""

    texts: Floats
    sessions: Floats
    known: NDArray[np.bool_]


class Scale(NamedTuple):
    """How a sum becomes a relevance: (sum - `least`) / (`most` - `least`), held between 0 and 1, x `strength`."""

    least: float
    most: float
    strength: float


class Ranking(NamedTuple):
    """Texts, best first, to be read once, and how many each lane that was asked has found or moved."""

    counts: dict[Lane, int]
    hits: Iterator[Hit]
    scale: Scale


class Corpus:
    """The texts of one scope, made ready to be asked many times.

    `vectors` has a row for each document. Making it takes some 25 µs a text, and some 50 µs more for each that the
    corpus `before`, of most of the same texts, has not taken apart. Asking one of 100,000 texts takes some
    milliseconds, and with vectors of 384 dimensions some fifteen more.
    """

    def __init__(
        self, documents: Sequence[Document], vectors: Vectors | None = None, before: Corpus | None = None
    ) -> None:
        self._documents = documents
        self._answers = answers_of(documents)
        self._recipe = PEERS if self._answers is None else ASSISTED
        session, sessions = sessions_of(documents)
        taken = before.taken if before is not None else {}
        self._words = Wording(documents, self._recipe.context, self._answers, session, sessions, taken)
        self._turns = np.fromiter((document.turn for document in documents), np.bool_, len(documents))
        self._meaning = _Meaning(vectors, session, sessions) if vectors is not None and vectors.any() else None
        self._passages = Passages([document.text for document in documents])
        self._facts: dict[tuple[object, ...], NDArray[np.bool_]] = {}
        ordered = sorted(range(len(documents)), key=lambda place: (documents[place].kind, documents[place].id, place))
        self._order = np.empty(len(documents), np.int64)
        self._order[ordered] = np.arange(len(documents))
        self._at = np.fromiter((document.at for document in documents), np.int64, len(documents))
        self._latest = int(self._at.max(initial=0))
        self._ages = np.fromiter((document.ages_from is not None for document in documents), np.bool_, len(documents))
        self._ages_from = np.fromiter((document.ages_from or 0 for document in documents), np.int64, len(documents))
        self._set_use()
        self._confidence = np.fromiter((document.confidence for document in documents), np.float64, len(documents))
        self._place_of = {document.id: place for place, document in enumerate(documents) if document.id}

    @property
    def taken(self) -> Mapping[str, Taken]:
        """What each text was taken apart into."""
        return self._words.taken

    @property
    def latest(self) -> int:
        """The time of the latest text, 0 where there is none."""
        return self._latest

    def with_use(self, documents: Sequence[Document]) -> Corpus:
        """Return the same texts with other uses, hotness and edges, at the cost of these alone."""
        changed = copy(self)
        changed._documents = documents
        changed._set_use()
        return changed

    def _set_use(self) -> None:
        documents = self._documents
        self._uses = np.fromiter((document.uses for document in documents), np.int64, len(documents))
        hot = np.fromiter((document.hot for document in documents), np.float64, len(documents))
        self._hot = hot / (hot.max(initial=0) or 1)

    def to_encode(self, query: str) -> str | None:
        """Return the question as it is to be encoded for `rank`; None where no text has a vector."""
        if self._meaning is None:
            return None
        return query if self._answers is not None else first_person(query, self._words.speakers())

    def passages(self, query: str) -> Callable[[int], str]:
        """Return what gives the part of a text, at most 1,200 characters, that holds most of what is asked."""
        weights = self._words.weights(query)
        return lambda place: self._passages.best(place, weights)

    def passage(self, place: int, query: str) -> str:
        """Return the part of one text that holds most of what is asked."""
        return self.passages(query)(place)

    def told(self, query: str) -> tuple[str, Reading]:
        """Return the recipe by which texts are ranked, "people" or "assistant", and what of a question counts."""
        return "people" if self._answers is None else "assistant", self._words.reading(query)

    def held(self, place: int, reading: Reading) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return which of a question's terms stand in a text, and which only around it or in its day."""
        return self._words.held(place, self._documents[place].text, reading)

    def rank(
        self,
        query: str,
        query_vector: Vectors | None = None,
        *,
        lanes: Collection[Lane] = LANES,
        among: Callable[[int], bool] | None = None,
        now: int | None = None,
        explain: bool = False,
    ) -> Ranking:
        """Return what the lanes find of a query, best first, by kind and id among equals.

        `query_vector` is the quantised vector of `to_encode(query)`, shape (dimensions,). `among` says which places may
        be returned, and moves no score. `now` is in microseconds, by default the time of the latest text. With
        `explain` each has the parts of its relevance.
        """
        words = self._words.ask(query)
        if "sparse" not in lanes:
            words = words.silenced()
        similar = None
        if self._meaning is not None and query_vector is not None and "dense" in lanes:
            similar = self._meaning.ask(query_vector)
        allowed = np.arange(len(self._documents))
        if among is not None:
            allowed = np.fromiter(filter(among, range(len(self._documents))), np.int64)
        found = self._found(words, similar, allowed, lanes)
        places = np.unique(np.concatenate([np.zeros(0, np.int64), *(its.places for its in found.values())]))
        if not len(places):
            return Ranking(dict.fromkeys(found, 0), iter(()), Scale(0, 1, words.strength))
        days = ((self._latest if now is None else now) - self._at[places]) / rules.DAY_US
        found |= self._moved(places, days, lanes)
        summed = self._sum(query, words, similar, places, found)
        found_by_sum, relevance = places, summed.relevance()
        if "edges" in lanes:
            lent = self._lent(places, relevance, allowed)
            places, relevance, found["edges"] = _highest(places, relevance, lent)
        parts_of = _parts_of(found_by_sum, summed.parts) if explain else lambda place: {}
        return Ranking(
            {lane: len(its.places) for lane, its in found.items()},
            self._hits(places, relevance, found, now, parts_of),
            summed.scale,
        )

    def _found(
        self, words: Worded, similar: Similar | None, allowed: Ints, lanes: Collection[Lane]
    ) -> dict[Lane, _Part]:
        """Return what words and vectors find among the allowed places, with BM25 / its greatest and cosines."""
        found: dict[Lane, _Part] = {}
        if "sparse" in lanes:
            places = first_of(words.texts, allowed, rules.SPARSE_HITS, self._order)
            found["sparse"] = _Part(places, words.texts[places])
        if similar is not None:
            near = allowed[similar.texts[allowed] >= rules.LEAST_COSINE]
            places = first_of(similar.texts, near, rules.DENSE_HITS, self._order)
            found["dense"] = _Part(places, similar.texts[places])
        return found

    def _moved(self, places: Ints, days: Floats, lanes: Collection[Lane]) -> dict[Lane, _Part]:
        """Return which of what was found is hot, as a share of the hottest in the scope, and which is fresh."""
        moved: dict[Lane, _Part] = {}
        movers: tuple[tuple[Lane, Floats, int], ...] = (
            ("hot", self._hot[places], rules.HOT_HITS),
            ("fresh", rules.freshness(days), rules.FRESH_HITS),
        )
        for lane, scores, most in movers:
            if lane in lanes:
                here = first_of(scores, np.arange(len(places)), most, self._order[places])
                moved[lane] = _Part(places[here], scores[here])
        return moved

    def _sum(self, query: str, words: Worded, similar: Similar | None, places: Ints, found: dict[Lane, _Part]) -> _Sum:
        """Return what is added up for places, and the scale on which the sum becomes a relevance from 0 to 1.

        Where even the best holds little of the question, it is less by the share that it holds.
        """
        weights = self._recipe.by_words if similar is None else self._recipe.with_vectors
        parts = {"words": words.texts[places], "session": weights.session * words.sessions[places]}
        strength = words.strength
        if similar is not None:
            # What has no vector yet is taken for one like the others.
            parts["cosine"] = weights.cosine * _filled(similar.texts[places], similar.known[places])
            sessions = similar.sessions[places]
            parts["session cosine"] = weights.session_cosine * _filled(sessions, sessions > NOWHERE)
            strength = max(strength, float(similar.texts.max()))
        parts |= self._sides(query, words.named, places, weights)
        for lane, weight in rules.MOVING.items():
            if lane in found:
                parts[lane] = np.zeros(len(places))
                parts[lane][np.searchsorted(places, found[lane].places)] = weight * found[lane].scores
        most = 1 + sum(rules.MOVING.values()) + sum(weight for weight in weights if weight > 0)
        return _Sum(parts, Scale(min(0.0, weights.question), most, min(1.0, max(0.0, strength))))

    def _sides(self, query: str, named: list[str], places: Ints, weights: Weights) -> dict[str, Floats]:
        """Return what is added for who said a text, what kind of thing it holds, and whether it asks itself."""
        # Without one name everybody gets half, which changes no order, and memories always do, which nobody says.
        by_named = self._is(Document.speaks, named[0])[places] if len(named) == 1 else HALF
        hint = held_by_answers(query)
        sides: dict[str, Any] = {
            "speaker": weights.speaker * np.where(self._turns[places], by_named, HALF),
            "prior": weights.own_words * self._preferred(query)[places],
            "question": weights.question * self._is(Document.asks)[places],
        }
        if hint is not None and weights.hint:
            sides["hint"] = weights.hint * self._is(Document.holds, hint)[places]
        return sides

    def _preferred(self, query: str) -> Floats:
        """Return how far each text is of those whom a question is about: people, or the assistant."""
        if self._answers is None:
            return np.zeros(len(self._documents))
        of_people, of_answers = (ASKED_PEOPLE, ASKED_ANSWERS) if is_about_answers(query) else (1.0, 0.0)
        preferred: Floats = np.where(self._answers, of_answers, of_people)
        return preferred

    def _lent(self, places: Ints, relevance: Floats, allowed: Ints) -> _Part:
        """Return what the edges of the best lead to, with the share of a seed's relevance that each is lent."""
        seeds = first_of(relevance, np.arange(len(places)), rules.SEEDS, self._order[places])
        permitted = np.zeros(len(self._documents), np.bool_)
        permitted[allowed] = True
        lent: dict[int, float] = {}
        for seed in seeds[np.lexsort((self._order[places[seeds]], -relevance[seeds]))].tolist():
            walked = sorted(self._documents[places[seed]].neighbours, key=lambda edge: (-edge[1], edge[0]))
            for id, weight in walked[: rules.HITS_A_SEED]:
                place = self._place_of.get(id)
                if place is None or not permitted[place] or (place not in lent and len(lent) == rules.EDGE_HITS):
                    continue
                share = rules.LENT * float(relevance[seed]) * min(1.0, max(0.0, weight))
                lent[place] = max(lent.get(place, 0.0), share)
        return _Part(np.array(list(lent), np.int64), np.array(list(lent.values()), np.float64))

    def _hits(
        self, places: Ints, relevance: Floats, found: dict[Lane, _Part], now: int | None, parts_of: PartsOf
    ) -> Iterator[Hit]:
        """Yield places in order, each with its factors and lanes."""
        days = ((self._latest if now is None else now) - self._ages_from[places]) / rules.DAY_US
        age = rules.age_factor(days, self._ages[places])
        use = rules.use_factor(self._uses[places])
        confidence = rules.confidence_factor(self._confidence[places])
        scores = np.round(relevance * age * use * confidence, DIGITS)
        lanes = {lane: dict(zip(*(values.tolist() for values in its), strict=True)) for lane, its in found.items()}
        for n in np.lexsort((self._order[places], -scores)).tolist():
            place = int(places[n])
            by = {lane: float(scores_of[place]) for lane, scores_of in lanes.items() if place in scores_of}
            score, own, aged, used, sure = (float(values[n]) for values in (scores, relevance, age, use, confidence))
            yield Hit(place, score, own, aged, used, sure, by, parts_of(place))

    def _is(self, fact: Callable[..., bool], *about: object) -> NDArray[np.bool_]:
        """Return of every document whether something is so; it is found out once."""
        key = (fact.__name__, *about)
        if key not in self._facts:
            self._facts[key] = np.fromiter((fact(document, *about) for document in self._documents), np.bool_)
        return self._facts[key]


class _Part(NamedTuple):
    """What one lane has found or moved: places, and its score of each."""

    places: Ints
    scores: Floats


class _Sum(NamedTuple):
    """What is added up for each place, by what it is for, and the scale of the sum."""

    parts: dict[str, Floats]
    scale: Scale

    def relevance(self) -> Floats:
        least, most, strength = self.scale
        fused = np.sum(list(self.parts.values()), axis=0)
        relevance: Floats = np.clip((fused - least) / (most - least), 0, 1) * strength
        return relevance


class _Meaning:
    """The vectors of one scope's texts. Dots of quantised vectors are exact in float32, in whatever order of sums."""

    def __init__(self, vectors: Vectors, session: Ints, sessions: int) -> None:
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        norms = np.sqrt(np.square(self._vectors, dtype=np.float64).sum(axis=1))
        self._known = norms > 0
        self._norms = np.where(self._known, norms, 1)
        self._session = session
        self._grouped = np.argsort(session, kind="stable")
        self._starts = np.searchsorted(session[self._grouped], np.arange(sessions))

    def ask(self, query: Vectors) -> Similar:
        """Return the cosines to a question; a vector of other dimensions is a `ValueError`."""
        asked = np.asarray(query, dtype=np.float32)
        norm = float(np.sqrt(np.square(asked, dtype=np.float64).sum())) or 1.0
        cosines: Floats = (self._vectors @ asked) / (self._norms * norm)
        best = np.maximum.reduceat(np.where(self._known, cosines, NOWHERE)[self._grouped], self._starts)
        return Similar(cosines, best[self._session], self._known)


def _filled(values: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return values with the mean of the known ones where they are not known."""
    return np.where(known, values, values[known].mean() if known.any() else 0)


def _highest(places: Ints, relevance: Floats, lent: _Part) -> tuple[Ints, Floats, _Part]:
    """Return all places with the greater of their own relevance and what they are lent, and what of that moved one."""
    every = np.union1d(places, lent.places)
    values = np.zeros(len(every))
    values[np.searchsorted(every, places)] = relevance
    raised = lent.scores > values[np.searchsorted(every, lent.places)]
    moved = _Part(lent.places[raised], lent.scores[raised])
    values[np.searchsorted(every, moved.places)] = moved.scores
    return every, values, moved


def _parts_of(places: Ints, parts: dict[str, Floats]) -> PartsOf:
    """Return what gives the parts of a place that are not nothing; none of a place that only edges have found."""
    where = {place: n for n, place in enumerate(places.tolist())}
    return lambda place: {
        name: part
        for name, values in parts.items()
        if place in where and (part := round(float(values[where[place]]), DIGITS))
    }
