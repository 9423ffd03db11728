"""Selection of results from a ranking, and their order: each thing once, the latest and the valid first.

Nothing is ranked here, and only the found texts are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np

from memtape.schemas.events import PEOPLE, STATED_TAG
from memtape.schemas.rows import MemoryRow, replaced
from memtape.schemas.scopes import GLOBAL
from memtape.schemas.times import format_day
from memtape.state.index.entries import TAGGED, TURN
from memtape.state.index.parts import Ints
from memtape.state.index.sorted_values import numbered
from memtape.state.ranking.currency import (
    AMONG,
    CHANGED_NEAR,
    LEAST_NEAR,
    Alike,
    FoundMemory,
    Likeness,
    Placed,
    about_one,
    are_changes,
    latest_first,
    memory,
    nothing_alike,
)
from memtape.state.ranking.lanes import Hit
from memtape.state.ranking.meaning import Among
from memtape.state.ranking.ranker import DIGITS, Corpus, Ranking
from memtape.state.ranking.yielding import LEAST_STEP
from memtape.state.subjects.captures import FAMILIES, TRUST
from memtape.state.text.replacing import replaces
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.results import Result

TAKEN_FROM = 200
"""Among so many of the best, statements are brought together with their turns."""
AMONG_SCOPES = 10
"""So many results of a project are compared with those of `global`."""


class ChosenHit(NamedTuple):
    """A result: a hit, the number of further turns with the same text, and the id of a newer memory above it.

    The newer memory is about the same subject. `mark` marks a turn that says a replaced value.
    """

    hit: Hit
    again: int = 0
    newer: str | None = None
    mark: str = ""


def best(
    found: ScopeTexts, corpus: Corpus, ranking: Ranking, query: str, limit: int, among: Among | None
) -> Iterator[ChosenHit]:
    """Yield the best hits, at most `limit`.

    Of a turn and a statement taken from it only the better is returned. A memory that covers a found one is
    returned in its place; texts asked for by time or origin are returned themselves. Of memories about the
    same subject the latest comes first, and a valid memory comes right above the first that it replaced,
    whether found or not.
    """
    ordered, back = numbered(ranking.places)
    places, heads = ranking.places.tolist(), found.texts.heads(ordered)[back].tolist()
    said = said_of(found, ranking.places)
    again = Counter(said)
    taken_from = _taken_from(found, ranking.places[:TAKEN_FROM])
    # By thing: its place, its rank or the rank of the text it replaces, and the place of what replaced it, if any.
    first: dict[object, tuple[int, Placed, int | None]] = {}
    for placed in _in_order(found, corpus, ranking, query):
        if len(first) >= limit:
            break
        number = placed.number
        same = said[number]
        is_turn = same is not None
        shown = places[number] if is_turn or among is not None else found.standing(places[number])
        as_one = said[taken_from[number]] if number in taken_from else same
        heir = None if is_turn else found.heir(heads[number] if shown == places[number] else shown)
        if heir is not None and (among is None or len(among(np.array([heir])))):
            first.setdefault((heir,), (heir, placed._replace(above=()), None))
        one = heads[number] if shown == places[number] else shown
        first.setdefault((one,) if as_one is None else as_one, (shown, placed, heir))
    memories = (found.result(place) for place in places[:AMONG] if not found.texts.flags[place] & TURN)
    closed = [it for it in memories if it.valid_to is not None]
    scores: dict[int | None, float] = {}
    for place, placed, heir in islice(first.values(), limit):
        own = placed.number if place == places[placed.number] else heads.index(place) if place in heads else None
        hit, same = ranking.hit(placed.number if own is None else own), said[placed.number]
        place = place if own is None else places[own]
        score = ranking.hit(placed.place_of).score
        head = place if own is None else heads[own]
        if above := [scores[it] for it in (*(heads[n] for n in placed.above), heir) if it in scores]:
            score = max(0.0, min(score, min(above) - LEAST_STEP))
        scores[head] = score
        newer = found.result(places[placed.above[-1]]).id if placed.above else None
        mark = "" if same is None else mark_of_turn(found.result(place).text, closed)
        yield ChosenHit(_scored(hit._replace(place=place), score), 0 if same is None else again[same] - 1, newer, mark)


def _in_order(found: ScopeTexts, corpus: Corpus, ranking: Ranking, query: str) -> Iterator[Placed]:
    """Yield the results of a ranking, the latest first among those about the same subject."""
    places = ranking.places[:AMONG].tolist()
    shares, asked = corpus.shares(query, places), corpus.weights(query)
    hits = [ranking.hit(number) for number in range(len(places))]
    told = [_memory_at(found, place, held, asked) for place, held in zip(places, shares, strict=True)]
    # What stands below what answers the same stays there, however late it was said.
    lasting = [None if hit.yields < 1 else it for it, hit in zip(told, hits, strict=True)]
    yield from latest_first(lasting, _alike(found, corpus, hits, lasting))
    yield from (Placed(number, number) for number in range(len(places), len(ranking.places)))


def _alike(found: ScopeTexts, corpus: Corpus, hits: Sequence[Hit], told: Sequence[FoundMemory | None]) -> Alike:
    """Return a function of the numbers of two hits: whether both have one subject and similar relevance."""
    cosines = corpus.cosines(np.array([hit.place for hit in hits], np.int64))
    if cosines is None:
        return nothing_alike
    near = [hit.lanes.get("dense", 0.0) for hit in hits]
    texts = ["" if it is None else found.text(hit.place) for hit, it in zip(hits, told, strict=True)]
    alike, changes = about_one(cosines), are_changes(cosines, texts)

    def likeness(one: int, other: int) -> Likeness:
        if changes[one, other] and near[one] >= CHANGED_NEAR * near[other]:
            return Likeness.CHANGE
        return Likeness(alike[one, other] and near[one] >= LEAST_NEAR * near[other])

    return likeness


def _memory_at(found: ScopeTexts, place: int, held: float, asked: Mapping[str, float]) -> FoundMemory | None:
    if found.texts.flags[place] & TURN != 0:
        return None
    it = found.result(place)
    family = FAMILIES.get(it.kind)
    if family is None or it.polarity == "meta" or it.sums:
        return None
    return memory(family, TRUST[it.origin], it.at, found.text(place), held, asked)


def told_otherwise(found: Sequence[Result]) -> list[Result]:
    """Rank and mark global results below later statements of the project with another value.

    The global memory remains valid elsewhere: it is marked, not closed.
    """
    here = [it for it in found if it.scope != GLOBAL and it.kind in FAMILIES and it.origin in PEOPLE]
    here = [it for it in here if it.valid_to is None][:AMONG_SCOPES]
    told = list[Result]()
    for it in found:
        may_differ = it.scope == GLOBAL and it.kind in FAMILIES and it.valid_to is None
        after = (own for own in here if own.at > it.at and FAMILIES[own.kind] == FAMILIES.get(it.kind))
        other = next((own for own in after if replaces(it.text, own.text)), None) if may_differ else None
        if other is not None:
            score = max(0.0, min(it.score, other.score - LEAST_STEP))
            marks = (*it.marks, f"{other.scope} tells otherwise since {format_day(other.valid_from)}: {other.id}")
            share = score / it.score if it.score else 1.0
            why = None if it.why is None else msgspec.structs.replace(it.why, yields=it.why.yields * share)
            it = msgspec.structs.replace(it, score=score, why=why, newer=other.id, marks=marks)
        told.append(it)
    return told


def holding(found: Sequence[Result]) -> tuple[list[Result], dict[str, str]]:
    """Return the valid results without turns that repeat replaced statements, and each closed id's successor.

    The successor is the last in a chain of replacements.
    """
    closed = {it.id: it for it in found if it.valid_to is not None}
    heirs: dict[str, str] = {}
    for id, it in closed.items():
        heir, met = it.replaced_by, {id: None}
        while heir in closed and heir not in met:
            met[heir] = None
            heir = closed[heir].replaced_by
        if heir is not None:
            heirs[id] = heir
    return [it for it in found if it.id not in closed and not mark_of_turn(it.text, closed.values())], heirs


def mark_of_turn(text: str, closed: Iterable[Result | MemoryRow]) -> str:
    """Return the mark of a turn that repeats a replaced memory word for word, else an empty text."""
    words = " ".join(text.split()).lower()
    for it in closed:
        # Of what was taken from a turn, what stands behind it in brackets is ours.
        said = " ".join(it.text.split()).lower().partition(" (")[0].rstrip(" .!")
        if it.valid_to is not None and said and said in words:
            return f"says what was {replaced(it.valid_to, it.replaced_by)}"
    return ""


def _scored(hit: Hit, score: float) -> Hit:
    """Return a hit with the score of its new place; `yields` is the factor."""
    own = hit.relevance * hit.age * hit.use * hit.confidence * hit.looked
    return hit if score == hit.score or not own else hit._replace(score=round(score, DIGITS), yields=score / own)


def _taken_from(found: ScopeTexts, places: Ints) -> dict[int, int]:
    """Return by number among places: for each statement the number of the turn it was taken from.

    A statement has the time and session of its turn, and words of it.
    """
    ordered, back = numbered(places)
    flags = found.texts.flags[ordered][back]
    if not (stated := np.flatnonzero((flags & TAGGED != 0) & (flags & TURN == 0)).tolist()):
        return {}
    keys = list(
        zip(found.texts.sessions.number[places].tolist(), found.texts.column("at", ordered)[back].tolist(), strict=True)
    )
    turns = {keys[n]: n for n in reversed(np.flatnonzero(flags & TURN != 0).tolist())}
    taken: dict[int, int] = {}
    for n in stated:
        turn = turns.get(keys[n])
        if turn is None:
            continue
        statement = found.result(int(places[n]))
        said = " ".join(found.result(int(places[turn])).text.split())
        if STATED_TAG in statement.tags and statement.text.partition(" (")[0] in said:
            taken[n] = turn
    return taken


def said_of(found: ScopeTexts, places: Ints) -> list[int | None]:
    """Return for each text the number shared by turns of the same text; None for other kinds."""
    ordered, back = numbered(places)
    turns = (found.texts.flags[ordered] & TURN != 0)[back].tolist()
    said = found.texts.column("said", ordered)[back].tolist()
    return [number if turn else None for turn, number in zip(turns, said, strict=True)]
