"""The learned judge of pairs (`head` to people): no model, always there. It reads words, and calls nobody.

Boosted trees over the features of a pair (`features`), one sum for each verdict. `judge.json` holds them as
integers, as `tests/bench/judging.py` writes it. docs/benchmarks.md says what it finds of writers whose
pairs it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from memtape.state.fold.features import features_of
from memtape.state.text.certainty import CERTAIN, certainty_of
from memtape.state.text.lexicon import data_of
from memtape.state.text.reading import Reading

Verdict = Literal["same", "replaces", "contradicts", "apart"]
Trees = list[list[int]]
"""A tree is its nodes, four numbers each. A fork has the place of a feature, the most of it for the first
branch, and where both branches stand. A leaf has `LEAF`, its addend, and two numbers without meaning.
"""

LEAF = -1
DECIDES: dict[Verdict, int] = {"same": 8_500, "replaces": 8_000, "contradicts": 9_000}
"""The least certainty of each verdict at which at most one of a hundred is wrong."""
PROPOSES: dict[Verdict, int] = {"same": 4_000, "replaces": 3_000, "contradicts": 2_000}
"""The least certainty at which a verdict is worth a look of somebody who can read."""


class Judgement(NamedTuple):
    """A verdict on an earlier and a later text, and its certainty in ten-thousandths."""

    verdict: Verdict
    certainty: int

    @property
    def is_decided(self) -> bool:
        """Whether the verdict may stand without another judge; `apart` is no verdict to act on."""
        return self.certainty >= DECIDES.get(self.verdict, CERTAIN + 1)


def judge(older: Reading, newer: Reading, cosine: int | None = None) -> Judgement:
    """Return what a later text says of an earlier one of its scope and family.

    `cosine` is that of MiniLM in ten-thousandths, None for none: the judge has learned from no other model.
    """
    row = features_of(older, newer, cosine)
    found = {verdict: certainty_of(margin_of(trees, row)) for verdict, trees in _trees().items()}
    likely = [(certainty, verdict) for verdict, certainty in found.items() if certainty >= PROPOSES[verdict]]
    if not likely:
        return Judgement("apart", CERTAIN - max(found.values()))
    certainty, verdict = max(likely)
    return Judgement(verdict, certainty)


def margin_of(trees: Trees, row: Sequence[int]) -> int:
    """Return the sum of the leaves that a row of features reaches, in ten-thousandths."""
    total = 0
    for tree in trees:
        at = 0
        while tree[at] != LEAF:
            at = tree[at + 2] if row[tree[at]] <= tree[at + 1] else tree[at + 3]
        total += tree[at + 1]
    return total


@cache
def _trees() -> dict[Verdict, Trees]:
    return msgspec.json.decode(data_of("judge.json"), type=dict[Verdict, Trees])
