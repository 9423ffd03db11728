"""The walk from found texts to near ones: texts used together with them, and neighbours in their session.

The walk works on any graph; the corpus gives the neighbours of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from memtape.state.ranking.lanes import EDGE_HITS, HITS_A_SEED, SEEDS

HOPS = 2

SpotT = TypeVar("SpotT", bound=Hashable)


class Reached(NamedTuple):
    """The strength of the best way to a node, from 0 to 1, its seed, and its number of hops."""

    strength: float
    seed: int
    hops: int


def walk(seeds: Sequence[SpotT], near: Callable[[SpotT], Iterable[tuple[SpotT, float]]]) -> dict[SpotT, Reached]:
    """Return the nodes within two hops of the first 18 seeds, the strongest of each hop first, no seeds.

    `near` returns the neighbours of a node with weights from 0 to 1, the strongest first. At most six
    neighbours of each are walked to, and 45 nodes are reached in all. Strength is the product of the weights
    along the best way.
    """
    started = list(dict.fromkeys(seeds))[:SEEDS]
    reached: dict[SpotT, Reached] = {}
    front = [(seed, Reached(1.0, number, 0)) for number, seed in enumerate(started)]
    left_out = dict.fromkeys(started)
    for hops in range(1, HOPS + 1):
        found: dict[SpotT, Reached] = {}
        for spot, way in front:
            for other, weight in list(near(spot))[:HITS_A_SEED]:
                strength = way.strength * min(1.0, max(0.0, weight))
                if other in left_out or other in reached or strength <= 0:
                    continue
                if other not in found or strength > found[other].strength:
                    found[other] = Reached(strength, way.seed, hops)
        ranked = sorted(found.items(), key=lambda item: (-item[1].strength, item[1].seed))
        front = ranked[: EDGE_HITS - len(reached)]
        reached.update(front)
    return reached
