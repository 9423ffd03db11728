"""Measures of a retriever by the evidence of questions: recall by turn and by session, overlap, and latency.

Pure measures over wanted and found ids; questions are asked elsewhere. Figures are answers and never state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

CUTS = (5, 10, 20, 50)
OVERLAP_CUTS = (5, 10)


class EvaluatedQuestion(NamedTuple):
    """One question with a retriever's answer: ids of turns, best first, and the duration in milliseconds.

    `wanted` are the ids of its evidence, at least one, and `session_of` has the session of each turn.
    """

    category: str
    wanted: tuple[str, ...]
    found: tuple[str, ...]
    session_of: Mapping[str, str]
    ms: float


class PromptContext(NamedTuple):
    """The context given to an agent for a prompt: its tokens (0 for none), and whether it holds evidence."""

    tokens: int
    with_evidence: bool


def given_summary(given: Sequence[PromptContext]) -> dict[str, Any]:
    """Return which share of some prompts was given anything, and evidence, and the tokens where anything was."""
    tokens = [one.tokens for one in given if one.tokens]
    return {
        "prompts": len(given),
        "given": mean([one.tokens > 0 for one in given]),
        "with_evidence": mean([one.with_evidence for one in given]),
        "tokens": {"mean": round(mean(tokens)), "max": max(tokens, default=0)},
    }


def recall(wanted: Sequence[str], found: Iterable[str]) -> float:
    """Return the share of the wanted ids that were found; 0 without wanted ids."""
    got = frozenset(found)
    return sum(id in got for id in wanted) / len(wanted) if wanted else 0


def overlap(first: Sequence[str], second: Sequence[str], cut: int) -> float:
    """Return the share of the longer of two lists, each cut off, that both have; 1 for two empty lists."""
    size = max(len(first[:cut]), len(second[:cut]))
    return len(frozenset(first[:cut]) & frozenset(second[:cut])) / size if size else 1


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value not exceeded by at least `percent` percent of the values; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else 0


def summary(asked: Sequence[EvaluatedQuestion], cuts: Sequence[int] = CUTS) -> dict[str, Any]:
    """Return the means over questions: by turn, by session, the same for each category, and latency.

    A session counts as found where any of its turns is.
    """
    categories = sorted(dict.fromkeys(one.category for one in asked))
    return {
        **_recalls(asked, cuts),
        "by_category": {
            category: {"questions": len(its), **_recalls(its, cuts)}
            for category in categories
            for its in [[one for one in asked if one.category == category]]
        },
        "latency_ms": {f"p{percent}": round(percentile([one.ms for one in asked], percent), 3) for percent in (50, 95)},
    }


def mean(values: Sequence[float]) -> float:
    """Return the mean to four digits, 0 of none."""
    return round(sum(values) / len(values), 4) if values else 0


def _recalls(asked: Sequence[EvaluatedQuestion], cuts: Sequence[int]) -> dict[str, dict[str, float]]:
    return {
        "turn": {str(cut): mean([recall(one.wanted, one.found[:cut]) for one in asked]) for cut in cuts},
        "session": {str(cut): mean([_session_recall(one, cut) for one in asked]) for cut in cuts},
    }


def _session_recall(one: EvaluatedQuestion, cut: int) -> float:
    wanted = list(dict.fromkeys(one.session_of[id] for id in one.wanted))
    return recall(wanted, [one.session_of[id] for id in one.found[:cut] if id in one.session_of])
