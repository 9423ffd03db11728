"""The answer of a search and its results: fields, the reasons of a rank, and their making from rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from memtape.schemas.events import PEOPLE, SYSTEM, Captured, Event, Mark, Source, Traced
from memtape.schemas.lanes import Lane
from memtape.schemas.rows import (
    ORDER,
    Category,
    Displayed,
    Held,
    MemoryRow,
    Polarity,
    Provenance,
    Standing,
    Status,
    SummaryRow,
    TurnRow,
    Wording,
    made_from,
    marks,
    stale,
    standing,
    summary_told,
)
from memtape.state.subjects.captures import FAMILIES
from memtape.state.text.categories import is_stale
from memtape.state.text.polarity import polarity
from memtape.state.text.reading import read


class Why(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The reasons of a result's rank: score is relevance (0 to 1) x age x use x confidence x yields x looked.

    `yields` is less than 1 where the text only asks, or its session has just said it, and another result
    answers the same. `looked` is the factor by the looks of a deep search, of which `look` saw it first.
    `lanes` has the score of each lane that found or moved it: BM25 as a share of the best text's, a cosine,
    use as a share of the hottest text's, youth (1 now, 0 at three days), and the relevance lent by an edge,
    where more than its own. If asked for, `parts` adds up to the relevance by the `QuestionTerms` of its
    scope, `terms` are the question's terms in the text, and `around` those only in the turns around it or in
    its day.
    """

    relevance: float
    age: float
    use: float
    confidence: float
    yields: float = 1.0
    looked: float = 1.0
    look: int = 1
    lanes: dict[Lane, float]
    parts: Mapping[str, float] = {}
    terms: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class QuestionReading(msgspec.Struct, frozen=True, kw_only=True):
    """The reading of a question in one scope.

    A relevance is (sum of parts - `least`) / (`most` - `least`), from 0 to 1, x `strength`, the share of the
    question in the best text. `recipe` is for "people" or for an "assistant". `terms` has the weights of the
    counted terms, `unheld` those in no text, `names` the omitted names of speakers, `common` the omitted
    common words.
    """

    scope: str
    recipe: str
    least: float
    most: float
    strength: float
    terms: dict[str, float]
    unheld: tuple[str, ...]
    names: tuple[str, ...]
    common: tuple[str, ...]


class Result(Displayed, frozen=True, kw_only=True):
    """A result. `text` is whole, `passage` its best 1,200 characters; `score` compares within one search.

    `path` is the path of its file; a document part's path has the part's place (`schemas.places`). `marks`
    are notes beside the text. `canonical` is the canonical capture of a memory, else the id. `provenance` has
    the origin and session of each living capture behind it, each once. `projected` is False for a capture not
    yet in the views, and so not folded. `last_at` is the time of the latest confirmation of a folding kind,
    else None. `again` counts further found turns with the same text. `valid_from`, `valid_to`, `replaced_by`,
    `replaces`, `held` and `before` are from a memory's row; a turn is valid since its time. `newer` is the id
    of a later memory above it, perhaps about the same subject. `wordings` are the other living texts of a
    memory; `matched` is the wording by which it was found, None where that is `text`, and `passage` is from
    it. `importance_confirmed`, `status`, `category` and `polarity` are from a memory's row; a turn has its
    polarity. `stale` says that a memory was neither said nor used within the fresh time of its category.
    `sums` are the captured ids of a summary's sources; the summary's `at` is the time of the last. `uses`
    counts the uses of a memory's captures.
    """

    canonical: str
    path: str | None = None
    passage: str = ""
    score: float
    provenance: tuple[Provenance, ...]
    marks: tuple[str, ...] = ()
    confirmations: int
    captions: tuple[str, ...]
    lanes: tuple[Lane, ...] = ()
    why: Why | None = None
    last_at: int | None = None
    again: int = 0
    projected: bool
    valid_from: int = 0
    valid_to: int | None = None
    replaced_by: str | None = None
    replaces: tuple[str, ...] = ()
    held: tuple[Held, ...] = ()
    before: str = ""
    newer: str | None = None
    wordings: tuple[Wording, ...] = ()
    matched: Wording | None = None
    importance_confirmed: int = 500
    status: Status = "draft"
    category: Category | None = None
    polarity: Polarity = "fact"
    stale: bool = False
    sums: tuple[str, ...] = ()
    standing: Standing = "valid"
    uses: int = 0


class SourceCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many texts of a source passed the filters and were found, and how many are returned.

    Turns that say the same are found once in a scope, and summaries only where little else was.
    """

    found: int
    returned: int


class Answer(msgspec.Struct, frozen=True):
    """The results, best first, with the position of the views, and the number of events they lack.

    `read` has each scope's reading of the question, if asked for; `held` is the number of texts in the scope
    itself. `lanes` has the number of texts that each lane found or moved, in all scopes read; `note` is the
    reason for missing vectors. `warnings` are problems of the views, a sentence each. `aside` is a sentence
    on unsearched texts, where little was found: texts archived by themselves or with their project. `sources`
    has the count of each source. `has_more` says that more results were left; `next`
    is the cursor of the next page, None without one, and `after` the number of results on the pages before.
    `trace` has the steps of a deep search. `recall_id` is the id of the search's `recalled` event, None for a
    quiet search.
    """

    results: list[Result]
    watermark: tuple[Mark, ...]
    lag: int
    revision: int
    now: int
    lanes: dict[Lane, int]
    note: str = ""
    read: tuple[QuestionReading, ...] = ()
    held: int = 0
    warnings: tuple[str, ...] = ()
    aside: str = ""
    after: int = 0
    sources: Mapping[Source, SourceCount] = MappingProxyType({})
    next: str | None = None
    has_more: bool = False
    trace: tuple[Traced, ...] = ()
    recall_id: str | None = None


def result_of(shown: MemoryRow | TurnRow | SummaryRow | Event) -> Result:
    """Return a row, or a capture of the tail, as a result without relevance; a summary has no person."""
    its: dict[str, Any]
    if isinstance(shown, Event):
        body, actor = shown.body, shown.actor
        assert isinstance(body, Captured)
        return made_from(
            Result,
            body,
            **{"id": shown.id, "canonical": shown.id, "scope": shown.scope, "at": shown.at},
            **{"actor": actor.name, "origin": actor.origin, "session": shown.session},
            **{"provenance": (Provenance(actor.origin, shown.session),), "confirmations": 0, "score": 0.0},
            captions=tuple(media.caption for media in body.media if media.caption),
            last_at=shown.at if body.kind in FAMILIES else None,
            projected=False,
            polarity="fact" if body.kind == "turn" else polarity(read(body.text)),
        )
    if isinstance(shown, MemoryRow):
        last_at = shown.last_at if shown.kind in FAMILIES else None
        provenance = shown.provenance or (Provenance(shown.origin, shown.session),)
        its = {"provenance": provenance, "last_at": last_at, "marks": marks(shown), "captions": ()}
        its["standing"] = standing(shown)
        return made_from(Result, shown, **its, score=0.0, projected=True)
    its = {"canonical": shown.id, "confirmations": 0}
    if isinstance(shown, TurnRow):
        its |= {"provenance": (Provenance(shown.origin, shown.session),), "marks": marks(shown)}
        its["standing"] = standing(shown)
    else:
        its |= {"at": shown.last_at, "last_at": None, "valid_from": shown.first_at, "sums": shown.sources}
        its |= {"source": None, "origin": "model", "actor": SYSTEM.name, "session": None, "provenance": ()}
        its |= {"tags": (), "marks": (summary_told(shown),), "captions": ()}
    return made_from(Result, shown, **its, score=0.0, projected=True)


def is_row_stale(row: MemoryRow, now: int) -> bool:
    """Whether a memory that holds is stale at a time in microseconds."""
    if row.kind not in FAMILIES or row.status == "deprecated" or row.hidden:
        return False
    return is_stale(row.category, max(row.last_at, row.used_at or row.last_at), now)


def judged(result: Result, row: MemoryRow | TurnRow | Event, now: int) -> Result:
    """Return a result with its polarity, its staleness at a time in microseconds, and marks of both.

    A turn of the tail is read for its polarity: that of anyone but people counts as a fact.
    """
    if isinstance(row, MemoryRow):
        if not is_row_stale(row, now):
            return result
        return msgspec.structs.replace(result, stale=True, marks=(*result.marks, stale(row.last_at)))
    of_people, does = result.origin in PEOPLE, result.polarity
    if isinstance(row, Event) and result.kind == "turn":
        does = polarity(read(result.text)) if of_people else "fact"
    marks = (*result.marks, ORDER) if of_people and does == "meta" else result.marks
    return msgspec.structs.replace(result, polarity=does, marks=marks)


def embedded_text(result: Result) -> str:
    """Return the searched and embedded text of a result: its text with its captions."""
    return "\n".join((result.text, *result.captions))
