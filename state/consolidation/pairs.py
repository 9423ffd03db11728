"""The pairs of memories that wait for a judge, and what follows from a verdict on one.

Neighbours share words, or have vectors that are near. A pair waits until a decision names both, or one of
them changes. Nothing here judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from memtape.schemas.embedding import MINILM
from memtape.schemas.events import Actor
from memtape.state.consolidation.clusters import NEIGHBOURS, Candidate, candidates
from memtape.state.consolidation.rules import ConcludedOperation, Conclusion
from memtape.state.core.scope import Scope
from memtape.state.fold.learned_judge import Verdict
from memtape.state.subjects.memories import memories_of
from memtape.state.subjects.passes import text_pair
from memtape.state.subjects.validity import holds, ties_of
from memtape.state.text.reading import read
from memtape.state.text.replacements import Sharing
from memtape.state.vectors.recorded import SCALE, recorded

MOST_READ = 2_000  # Memories whose neighbours are looked for: the latest.
MOST_NEAR = 30  # Memories weighed beside one: those that share most words, the latest first.
LEAST_SHARED, LEAST_COSINE = 20, 50
"""A pair shares this weight of its words (Dice's coefficient), or has this cosine; in hundredths."""
_ROWS = 256  # Vectors compared with all others at once.


class WaitingPair(NamedTuple):
    """Two memories in the order in which they were said, and how near they are: Dice plus cosine, hundredths.

    `cosine` is that of MiniLM in ten-thousandths, None for none. `key` names the pair as it is: the key
    changes once a text does.
    """

    earlier: Candidate
    later: Candidate
    weight: int
    cosine: int | None = None

    @property
    def key(self) -> str:
        """Ten hex digits of both ids and seqs."""
        said = f"{self.earlier.id}:{self.earlier.seq} {self.later.id}:{self.later.seq}"
        return blake2b(said.encode(), digest_size=5).hexdigest()


def waiting(scope: Scope) -> list[WaitingPair]:
    """Return the pairs of a scope's facts that wait, the nearest first."""
    found = {it.seq: it for it in candidates(scope, scope.seq) if not it.made and _holds(scope, it)}
    latest = sorted(found, reverse=True)[:MOST_READ]
    known = scope.embeddings.vectors
    embedder = max(known, key=lambda key: (len(known[key]), key), default="")
    shared, alike = _by_words(found, latest), _by_vectors(scope, embedder, found, latest)
    weights = {pair: shared.get(pair, 0) + alike.get(pair, 0) // 100 for pair in shared | alike}
    nearest = dict[int, list[tuple[int, int, int]]]()
    for (first, second), weight in weights.items():
        for seq in (first, second):
            nearest.setdefault(seq, []).append((-weight, -second, -first))
    kept = dict.fromkeys(it for each in nearest.values() for it in sorted(each)[:NEIGHBOURS])
    opposed = _opposed(scope)
    cosines = alike if embedder.startswith(MINILM) else {}
    pairs = (
        (found[-first], found[-second], -weight, cosines.get((-first, -second)))
        for weight, second, first in sorted(kept)
    )
    return [_in_order(*pair) for pair in pairs if _waits(scope, pair[0], pair[1], opposed)]


def conclusion_of(
    pair: WaitingPair, verdict: Verdict, actor: Actor | None, certainty: int | None = None
) -> Conclusion:  # fmt: skip
    """Return the conclusion of a verdict by an actor, None for the rules.

    Of two texts that say the same the more trusted one stands for both.
    """
    earlier, later = pair.earlier, pair.later
    best = max((earlier, later), key=lambda candidate: candidate.rank)
    operations = {
        "same": (ConcludedOperation("remove", (later if best is earlier else earlier,), survivor=best),),
        "replaces": (ConcludedOperation("outdate", (earlier,), survivor=later),),
        "contradicts": (ConcludedOperation("conflict", (earlier,), survivor=later),),
        "apart": (),
    }[verdict]
    cluster = tuple(sorted((earlier, later), key=lambda candidate: candidate.seq))
    return Conclusion(cluster, operations, actor=actor, certainty=certainty)


def _in_order(one: Candidate, other: Candidate, weight: int, cosine: int | None) -> WaitingPair:
    earlier, later = sorted((one, other), key=lambda candidate: (candidate.at, candidate.seq))
    return WaitingPair(earlier, later, weight, cosine)


def _holds(scope: Scope, candidate: Candidate) -> bool:
    memory = scope.memories.of(candidate.seq)
    return memory is not None and holds(scope, memory)


def _opposed(scope: Scope) -> dict[tuple[int, ...], None]:
    """Return the births of the sides of all conflicts, whatever came of them."""
    sides = (memories_of(scope, conflict.ids) for conflict in scope.conflicts.by_id.values())
    return dict.fromkeys(tuple(sorted(memory.birth for memory in both)) for both in sides)


def _waits(scope: Scope, one: Candidate, other: Candidate, opposed: dict[tuple[int, ...], None]) -> bool:
    first, second = (scope.memories.by_birth[scope.memories.birth_of[it.seq]] for it in (one, other))
    if second.birth in ties_of(scope.validity, first.birth):
        return False
    is_judged = text_pair(scope, first, second) in scope.passes.judged
    return not is_judged and tuple(sorted((first.birth, second.birth))) not in opposed


def _by_words(found: dict[int, Candidate], latest: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return the share of common words, by weight, of pairs that have enough; rare words weigh more."""
    sharing, terms = Sharing(), dict[int, dict[str, None]]()
    for seq, candidate in found.items():
        reading = read(candidate.text)
        sharing.put(seq, reading)
        terms[seq] = dict.fromkeys(reading.terms())
    holding = Counter(term for own in terms.values() for term in own)
    weights = {term: (len(found) // count).bit_length() for term, count in holding.items()}
    wholes = {seq: sum(weights[term] for term in own) for seq, own in terms.items()}
    pairs = dict[tuple[int, int], int]()
    for seq in latest:
        for other in sharing.near(seq, MOST_NEAR):
            shared = sum(weights[term] for term in terms[seq] if term in terms[other])
            dice = 200 * shared // (wholes[seq] + wholes[other])
            if dice >= LEAST_SHARED:
                pairs[min(seq, other), max(seq, other)] = dice
    return pairs


def _by_vectors(
    scope: Scope, embedder: str, found: dict[int, Candidate], latest: Sequence[int]
) -> dict[tuple[int, int], int]:  # fmt: skip
    """Return the cosines of the nearest pairs under an embedder, in ten-thousandths, if near enough."""
    captures = ((seq, scope.captures.by_seq[seq]) for seq in found)
    said = [(seq, scope.embeddings.of_text(embedder, capture)) for seq, capture in captures]
    vectors = {seq: vector for seq, vector in said if vector is not None}
    return dict(_near_vectors(vectors, [seq for seq in latest if seq in vectors])) if vectors else {}


def _near_vectors(
    vectors: dict[int, bytes], latest: Sequence[int]
) -> Iterator[tuple[tuple[int, int], int]]:  # fmt: skip
    import numpy as np  # Whoever has no vectors has no time for numpy.

    seqs, whole = list(vectors), np.stack([recorded(vector) for vector in vectors.values()])
    places = {seq: place for place, seq in enumerate(seqs)}
    for start in range(0, len(latest), _ROWS):
        rows = latest[start : start + _ROWS]
        dots = whole[[places[seq] for seq in rows]] @ whole.T
        for seq, own in zip(rows, dots, strict=True):
            own[places[seq]] = -1
            near = np.flatnonzero(own >= LEAST_COSINE * SCALE**2 // 100)
            for place in near[np.argsort(-own[near], kind="stable")][:NEIGHBOURS].tolist():
                pair = min(seq, seqs[place]), max(seq, seqs[place])
                yield pair, int(own[place]) * 10_000 // SCALE**2
