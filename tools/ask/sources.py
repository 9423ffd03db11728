"""The sources of a search: counts of found and returned texts, and quotas of texts to return.

All sources are ranked once, elsewhere (`ordering`); a quota only leaves out ranked results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import get_args

import msgspec
import numpy as np

from memtape.schemas.errors import MemtapeError
from memtape.schemas.events import Kind, Source
from memtape.state.index.entries import KINDS, TURN
from memtape.state.index.parts import Ints
from memtape.state.index.sorted_values import distinct
from memtape.tools.ask.found import ScopeTexts
from memtape.tools.ask.results import Result

SOURCES: tuple[Source, ...] = get_args(Source)
SOURCE_OF: dict[Kind, Source] = {
    "fact": "memories",
    "turn": "turns",
    "document": "documents",
    "insight": "insights",
    "page": "pages",
    "goal": "plans",
    "plan": "plans",
    "journal": "journal",
}
"""The source of a text by its kind, summaries apart."""
MOST_QUOTA = 1_000


class SourceCount(msgspec.Struct, frozen=True, kw_only=True):
    """Of one source how many texts passed the filters and were found, how many are returned, and the quota, if any.

    Turns that say the same are found once in a scope. Summaries are looked for only where little else was found.
    """

    found: int
    returned: int
    limit: int | None


def source_of(result: Result) -> Source:
    """Return the source of a result."""
    return "summaries" if result.sums else SOURCE_OF[result.kind]


def quotas_of(given: Iterable[str]) -> dict[Source, int]:
    """Return by source the quotas given as `turns=3`, or several as `turns=3,documents=2`.

    Raises `MemtapeError` for a malformed quota.
    """
    quotas: dict[Source, int] = {}
    for text in (part for each in given for part in each.split(",")):
        name, _, count = text.partition("=")
        source = next((known for known in SOURCES if known == name.strip()), None)
        if source is None:
            raise MemtapeError(f"There is no source {name.strip()[:60]!r}.", f"There are {', '.join(SOURCES)}.")
        count = count.strip()
        if not (count.isascii() and count.isdigit() and len(count) <= 4 and int(count) <= MOST_QUOTA):
            told = f"{text.strip()[:60]!r} is no quota from 0 to {MOST_QUOTA:,}."
            raise MemtapeError(told, f"Say how many of a source, as {source}=3.")
        if source in quotas:
            raise MemtapeError(f"The source {source} has two quotas.", "Give one.")
        quotas[source] = int(count)
    return quotas


def within(results: Iterable[Result], quotas: Mapping[Source, int], limit: int) -> tuple[list[Result], bool]:
    """Return the best of results, at most `limit` and of no source more than its quota, and whether any were left."""
    chosen, counts, has_more = list[Result](), dict[Source, int](), False
    for result in results:
        if len(chosen) == limit:
            return chosen, True
        source = source_of(result)
        counts[source] = counts.get(source, 0) + 1
        if counts[source] <= quotas.get(source, limit):
            chosen.append(result)
        else:
            has_more = True
    return chosen, has_more


def found_by_source(found: ScopeTexts, places: Ints) -> dict[Source, int]:
    """Return how many texts of each source a ranking has placed."""
    if found.choice.summaries:
        return {"summaries": len(places)}
    ordered = np.sort(places)
    kinds, turns = found.texts.column("kinds", ordered), found.texts.flags[ordered] & TURN != 0
    counts = np.bincount(kinds[~turns], minlength=len(KINDS)).tolist()
    by_source = dict.fromkeys(SOURCES, 0)
    for kind, source in SOURCE_OF.items():
        by_source[source] += counts[KINDS.index(kind)]
    by_source["turns"] += len(distinct(found.texts.column("said", ordered)[turns]))
    return by_source


def counted(
    found: Mapping[Source, int], results: Iterable[Result], quotas: Mapping[Source, int]
) -> dict[Source, SourceCount]:
    """Return the count of each source; a returned text counts as found, also as a cover of another."""
    returned = dict.fromkeys(SOURCES, 0)
    for result in results:
        returned[source_of(result)] += 1
    return {
        source: SourceCount(
            found=max(found.get(source, 0), returned[source]), returned=returned[source], limit=quotas.get(source)
        )
        for source in SOURCES
    }
