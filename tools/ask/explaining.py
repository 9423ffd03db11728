"""The words for a search's score: its parts, the reading of the question, and the sources that were looked into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtape.schemas.visible import one_line
from memtape.tools.ask.telling import told_trace

if TYPE_CHECKING:
    from memtape.tools.ask.results import Answer, QuestionReading, Result

PARTS = {
    "words": "BM25 of a text with the turns around it, as a share of the best text's",
    "session": "BM25 of its whole session, as a share of the best session's",
    "cosine": "how near its vector is to the question's",
    "session cosine": "how near the nearest of its session is",
    "speaker": "the question names who says it (half of it for memories, and where nobody or several are named)",
    "prior": "said by whom the question is about: a person, or the assistant where its answers are asked for",
    "hint": "it holds the time, number or place that is asked for",
    "question": "it asks itself",
    "hot": "lately used, against the hottest",
    "fresh": "said within three days",
}
"""The parts of a relevance, and the purpose of each."""
LOOKED = "looked: how the looks of a deep search together have moved it"
YIELDS = "yields: it only asks, or its session has just said it, and stands below what answers the same"


def told_sources(answer: Answer, *, whole: bool) -> str:
    """Return a line with the numbers of found and shown texts of each source; `whole` asks for all sources.

    It is empty where `whole` is not asked for, and no quota has left anything out.
    """
    counts = answer.sources.items()
    cut = any(its.limit is not None and its.found > its.returned == its.limit for _, its in counts)
    if not (whole or cut):
        return ""
    told = [
        f"{its.returned:,} of {its.found:,} {source}" + (f" (quota {its.limit:,})" if its.limit is not None else "")
        for source, its in counts
        if its.found or its.limit is not None
    ]
    return f"sources: {', '.join(told) or 'nothing in any'}"


def explained(result: Result, reads: Sequence[QuestionReading]) -> list[str]:
    """Return the lines about a result: terms, and parts of the score."""
    why = result.why
    assert why is not None
    read = next(read for read in reads if read.scope == result.scope)
    lines = []
    if why.terms or why.around:
        around = f"; around it {_listed(why.around)}" if why.around else ""
        lines.append(f"holds {_listed(why.terms) or 'none of the terms'}{around}")
    scores = "  ".join(f"{lane} {score:.2f}" for lane, score in why.lanes.items())
    lines.append(f"lanes: {scores}")
    if why.parts:
        summed = sum(why.parts.values())
        lines.append(
            "sum: " + " ".join(f"{share:+.3f} {name}" for name, share in why.parts.items()) + f" = {summed:.3f}"
        )
    if why.look > 1:
        lines.append(f"relevance {why.relevance:.3f}: first seen in look {why.look}, and by what that asked")
    elif "edges" in why.lanes:
        lines.append(f"relevance {why.relevance:.3f}: lent by what it was used with, more than its own")
    else:
        scaled = f"({summed:.3f} - {read.least:.3f}) / ({read.most:.3f} - {read.least:.3f})"
        lines.append(f"relevance {why.relevance:.3f} = {scaled.replace('- -', '+ ')} x strength {read.strength:.3f}")
    factors = f"age {why.age:.3f} x use {why.use:.2f} x confidence {why.confidence:.2f}"
    if why.yields < 1:
        factors += f" x yields {why.yields:.3f}"
    if why.looked != 1:
        factors += f" x looked {why.looked:.3f}"
    lines.append(f"score {result.score:.3f} = relevance {why.relevance:.3f} x {factors}")
    return ["    " + line for line in lines]


def explained_question(answer: Answer) -> list[str]:
    """Return the lines about a question: its reading in each scope, its lanes' counts, parts of scores."""
    lines = [
        *told_trace(answer.trace),
        "Lanes: " + ", ".join(f"{lane} {count:,}" for lane, count in answer.lanes.items()),
    ]
    for read in answer.read:
        lines.append(f"{read.scope}: as for {'people' if read.recipe == 'people' else 'a user with an assistant'}")
        weights = (f"{one_line(term, 40)} {weight:.2f}" for term, weight in read.terms.items())
        lines.append(f"  terms with their weights: {', '.join(weights) or 'none'}")
        for what, terms in (
            ("no text has", read.unheld),
            ("passed over, they name who speaks", read.names),
            ("passed over, too common", read.common),
        ):
            if terms:
                lines.append(f"  {what}: {_listed(terms)}")
        lines.append(f"  strength {read.strength:.3f}: the share of the question's weight that the best text holds")
    shown = dict.fromkeys(name for result in answer.results if result.why for name in result.why.parts)
    lines += [f"{name}: {PARTS[name]}" for name in PARTS if name in shown]
    whys = [result.why for result in answer.results if result.why]
    lines += [LOOKED] * any(why.looked != 1 for why in whys)
    return lines + [YIELDS] * any(why.yields < 1 for why in whys)


def _listed(terms: Iterable[str]) -> str:
    return ", ".join(one_line(term, 40) for term in terms)
