"""Edges: what was used together within one window of a session, with weights that decay on event time.

A window opens with a use and holds those of the next 30 minutes of its session; a later use of any session that
stands past its end closes it. Each pair in it adds one to the pair's weight, at the moment when it is complete, so that
closing changes nothing. Weights are stored with their time, by captured id; only their own events write them. Readers
decay them to now and resolve the ids to memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.times import US_PER_S
from recollect.state.decay import ONE, decayed

WINDOW_US = 1_800 * US_PER_S
WINDOW_ITEMS = 32
"""The most of one window that is linked, so that who names hundreds of ids does not link all with all."""
PER_ITEM = 6
"""The most edges that one item keeps and shows; the weakest go, and of equals the later captured."""
PRUNED_BELOW = ONE // 100
WALKED_ABOVE = ONE // 10
"""An edge is walked while it weighs a tenth: ten days after one use together."""
SEEDS, PER_SEED, WALKED, HOPS = 18, 6, 45, 2
"""Of a walk (spec R4): seeds, edges taken from each item, items in all, and how far it goes."""
PROMOTED_FROM = ONE * 3 // 2
PROMOTED, PROMOTED_PER_SOURCE = 20, 3
"""What is proposed for a curated edge: from which weight, at most how many at once and of one source."""

Pair = tuple[int, int]


class Edge(msgspec.Struct):
    """A pair's weight in billionths as of the time `at`, and how many windows used both."""

    weight: int
    at: int
    count: int


class Window(msgspec.Struct):
    """The uses of one session since `start`, as seqs in their order."""

    start: int
    seqs: list[int]


class Edges:
    """The edges of a scope by pair of seqs, the lower first; `of` has the other ends of each seq."""

    def __init__(self) -> None:
        self.pairs: dict[Pair, Edge] = {}
        self.of: dict[int, dict[int, None]] = {}
        self.windows: dict[str, Window] = {}


class Tie(NamedTuple):
    """An edge between two ids as a reader has it: `weight` in billionths as of `at`, `windows` used both."""

    source: str
    target: str
    weight: int
    at: int
    windows: int = 1


class Neighbour(NamedTuple):
    """What a walk found: `strength` in billionths, over how many hops, and from which item it was reached."""

    id: str
    strength: int
    hops: int
    via: str


def evolve(state: Edges, session: str | None, used: Sequence[int], at: int) -> list[Pair]:
    """Take in what an event used at a time (seqs, each once) and return the pairs that this touched.

    Without a session, what one event names is a window of its own.
    """
    if not used:
        return []
    window = _window(state, session, at)
    touched: dict[Pair, None] = {}
    for seq in used:
        if seq in window.seqs or len(window.seqs) >= WINDOW_ITEMS:
            continue
        for other in window.seqs:
            _strengthen(state, _pair(seq, other), at)
            touched[_pair(seq, other)] = None
        window.seqs.append(seq)
    for seq in dict.fromkeys(end for pair in touched for end in pair):
        touched.update(dict.fromkeys(_trim(state, seq)))
    return list(touched)


def row_id(low: str, high: str) -> str:
    """Return the row id of the edge of two captured ids, the earlier captured first."""
    return f"{low}~{high}"


def strongest(ties: Iterable[tuple[int, int, int]], limit: int = PER_ITEM) -> list[int]:
    """Return the numbers of the strongest of (number, weight, at), first the strongest; equals by their number.

    All decay alike, so that the order is the same at any time.
    """
    listed = list(ties)
    now = max((at for _, _, at in listed), default=0)
    ranked = sorted(
        ((decayed(weight, now - at), number) for number, weight, at in listed), key=lambda it: (-it[0], it[1])
    )
    return [number for worth, number in ranked if worth >= PRUNED_BELOW][:limit]


def resolved(ties: Iterable[Tie], name_of: Mapping[str, str], now: int) -> list[Tie]:
    """Return the edges between the memories and turns that captured ids resolve to, with their weights at `now`.

    `name_of` has the ids of all that may be shown; an edge of another id is not there. What joins an item with itself
    falls away, parallel edges are one, what weighs less than a hundredth is gone, and six of an item stay. The
    strongest come first, equals by their ids.
    """
    found: dict[tuple[str, str], Tie] = {}
    for tie in ties:
        source, target = name_of.get(tie.source), name_of.get(tie.target)
        if source is None or target is None or source == target:
            continue
        ends = (source, target) if source < target else (target, source)
        before = found.get(ends, Tie(*ends, 0, now, 0))
        weight = before.weight + decayed(tie.weight, now - tie.at)
        found[ends] = Tie(*ends, weight, now, before.windows + tie.windows)
    ordered = sorted(found.values(), key=lambda tie: (-tie.weight, tie.source, tie.target))
    kept, held = [], dict[str, int]()
    for tie in ordered:
        ends = (tie.source, tie.target)
        if tie.weight >= PRUNED_BELOW and all(held.get(end, 0) < PER_ITEM for end in ends):
            kept.append(tie)
            held.update({end: held.get(end, 0) + 1 for end in ends})
    return kept


def neighbours(edges: Iterable[Tie], seeds: Sequence[str], now: int) -> list[Neighbour]:
    """Return what a walk of two hops along edges finds from the first 18 seeds, strongest first, seeds left out.

    From an item its six strongest edges are walked that weigh a tenth at `now` or more; 45 items are found at most.
    Strength is the product of the weights along the way, each counted as one at most, by the strongest way.
    """
    of: dict[str, list[tuple[int, str]]] = {}
    for tie in edges:
        weight = decayed(tie.weight, now - tie.at)
        if weight >= WALKED_ABOVE:
            of.setdefault(tie.source, []).append((-weight, tie.target))
            of.setdefault(tie.target, []).append((-weight, tie.source))
    started = list(dict.fromkeys(seeds))[:SEEDS]
    found: dict[str, Neighbour] = {}
    front = [Neighbour(seed, ONE, 0, seed) for seed in started]
    for hops in range(1, HOPS + 1):
        reached: dict[str, Neighbour] = {}
        for item in front:
            for weight, other in sorted(of.get(item.id, ()))[:PER_SEED]:
                strength = item.strength * min(-weight, ONE) // ONE
                if other in started or other in found:
                    continue
                if other not in reached or strength > reached[other].strength:
                    reached[other] = Neighbour(other, strength, hops, item.id)
        front = sorted(reached.values(), key=lambda it: (-it.strength, it.id))[: WALKED - len(found)]
        found.update((it.id, it) for it in front)
    return sorted(found.values(), key=lambda it: (-it.strength, it.id))


def candidates(edges: Iterable[Tie], now: int) -> list[Tie]:
    """Return the resolved edges that are proposed for curated ones, strongest first: at most 20, and 3 of a source."""
    held: dict[str, int] = {}
    found: list[Tie] = []
    for tie in sorted(edges, key=lambda tie: (-decayed(tie.weight, now - tie.at), tie.source, tie.target)):
        is_strong = decayed(tie.weight, now - tie.at) >= PROMOTED_FROM
        if is_strong and held.get(tie.source, 0) < PROMOTED_PER_SOURCE and len(found) < PROMOTED:
            held[tie.source] = held.get(tie.source, 0) + 1
            found.append(tie)
    return found


def snapshot(state: Edges) -> bytes:
    """Return the bytes from which `restore` makes an equal state."""
    pairs = [(*pair, edge) for pair, edge in state.pairs.items()]
    return msgspec.msgpack.encode((pairs, state.windows))


def restore(data: bytes) -> Edges:
    """Return the state of a snapshot."""
    state = Edges()
    pairs, state.windows = msgspec.msgpack.decode(data, type=tuple[list[tuple[int, int, Edge]], dict[str, Window]])
    for low, high, edge in pairs:
        _link(state, (low, high), edge)
    return state


def _window(state: Edges, session: str | None, at: int) -> Window:
    """Return the open window of a session at a time, after closing those of which this use says that they are over."""
    state.windows = {name: window for name, window in state.windows.items() if at - window.start < WINDOW_US}
    if session is None:
        return Window(at, [])
    window = state.windows.get(session)
    if window is None or window.start - at >= WINDOW_US:  # A use from long before opens one of its own.
        window = state.windows[session] = Window(at, [])
    return window


def _pair(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def _link(state: Edges, pair: Pair, edge: Edge) -> None:
    state.pairs[pair] = edge
    for end, other in (pair, pair[::-1]):
        state.of.setdefault(end, {})[other] = None


def _strengthen(state: Edges, pair: Pair, at: int) -> None:
    edge = state.pairs.get(pair)
    if edge is None:
        _link(state, pair, Edge(ONE, at, 1))
        return
    later = max(edge.at, at)
    edge.weight = decayed(edge.weight, later - edge.at) + decayed(ONE, later - at)
    edge.at = later
    edge.count += 1


def _trim(state: Edges, seq: int) -> list[Pair]:
    """Drop the edges of an item beyond its strongest, and those that weigh nothing any more; return them."""
    others = list(state.of.get(seq, {}))
    edges = ((other, state.pairs[_pair(seq, other)]) for other in others)
    kept = strongest((other, edge.weight, edge.at) for other, edge in edges)
    dropped = [other for other in others if other not in kept]
    for other in dropped:
        del state.pairs[_pair(seq, other)]
        del state.of[seq][other], state.of[other][seq]
    return [_pair(seq, other) for other in dropped]
