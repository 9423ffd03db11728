"""Association: items used in the same windows more often than by chance, over 90 days of event time.

Its weight is the normalised pointwise mutual information of two items, with shares of the windows kept (Bouma
2009, "Normalized (pointwise) mutual information in collocation extraction"). The windows are those of
`edges`, which opens and closes them; each counts from its first use on. A use that completes a pair in a
window sets its weight; for a pair with a weight, so does a later window's use of either end, since use
without the other reduces it. Nothing else writes it, no tick and no read.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import NamedTuple

import msgspec

from memtape.schemas.times import DAY_US
from memtape.state.subjects.weights import ONE

SPAN_US = 90 * DAY_US
"""How far behind the latest window one may open and still count, and how long a reader believes a weight (spec R7)."""
WINDOWS_KEPT = 4_096
"""Maximum number of windows counted, 45 a day; the earliest opened are dropped."""
TOGETHER_FROM = 3
LEARNED_FROM = ONE // 5
"""Limits of learned pairs: the minimum of joint windows, and of the weight (spec R7)."""
LEARNED_PER_ITEM = 6
"""The most learned edges that one item keeps and shows; the weakest go, and of equals the later captured."""

_CONTEXT = Context(prec=18, rounding=ROUND_HALF_EVEN)

Pair = tuple[int, int]


class Window(msgspec.Struct):
    """The uses of one session since `start`, as seqs in their order; `slot` is its bit in `holding`, -1 for none."""

    start: int
    seqs: list[int]
    slot: int = -1


class Learned(NamedTuple):
    """A pair's weight in billionths over `windows` joint windows; `at` is the last use that completed it."""

    weight: int
    windows: int
    at: int


UNLEARNED = Learned(0, 0, 0)


def link(of: dict[int, dict[int, None]], pair: Pair) -> None:
    """Let each end of a pair lead to the other."""
    for end, other in (pair, pair[::-1]):
        of.setdefault(end, {})[other] = None


class Association(msgspec.Struct, dict=True, array_like=True):
    """The counted windows, in order of their start, and the weights of pairs of seqs, the lower first.

    `holding` has, for each seq, its windows as bits, so that a pair's windows are counted at once; `taken`
    are the bits in use. `of` has the other ends of each seq's learned pairs.
    """

    kept: list[Window] = []
    pairs: dict[Pair, Learned] = {}

    def __post_init__(self) -> None:
        self.holding: dict[int, int] = {}
        self.taken = 0
        self.of: dict[int, dict[int, None]] = {}
        for window in self.kept:
            self.taken |= 1 << window.slot
            for seq in window.seqs:
                self.holding[seq] = self.holding.get(seq, 0) | 1 << window.slot
        for pair in self.pairs:
            link(self.of, pair)


def count(state: Association, window: Window) -> None:
    """Count an opened window, and drop windows too old or too many, perhaps the new one."""
    window.slot = (~state.taken & (state.taken + 1)).bit_length() - 1  # The lowest that is free.
    state.taken |= 1 << window.slot
    insort(state.kept, window, key=lambda it: it.start)
    while state.kept[-1].start - state.kept[0].start > SPAN_US or len(state.kept) > WINDOWS_KEPT:
        _drop(state, state.kept.pop(0))


def evolve(state: Association, window: Window, added: Sequence[int], completed: Sequence[Pair], at: int) -> list[Pair]:
    """Apply a use's additions to a window and its completed pairs; return the pairs with a changed weight.

    A window too old to count changes no weight.
    """
    if window.slot < 0:
        return []
    for seq in added:
        state.holding[seq] = state.holding.get(seq, 0) | 1 << window.slot
    together = dict.fromkeys(completed)
    pairs = together | dict.fromkeys(pair_of(seq, other) for seq in added for other in state.of.get(seq, ()))
    changed: dict[Pair, None] = {}
    for pair in pairs:
        before = state.pairs.get(pair)
        weight, windows = _association(state, pair)
        if windows >= TOGETHER_FROM and weight >= LEARNED_FROM:
            known = at if before is None else before.at
            _put(state, pair, Learned(weight, windows, max(known, at) if pair in together else known))
        elif before is not None:
            _remove(state, pair)
        if state.pairs.get(pair) != before:
            changed[pair] = None
    for seq in dict.fromkeys(end for pair in changed for end in pair):
        changed.update(dict.fromkeys(_trim(state, seq)))
    return list(changed)


def npmi(together: int, first: int, second: int, windows: int) -> int:
    """Return the association of two items, in billionths, by windows with both, the first, the second.

    ln(p(x, y) / (p(x) p(y))) / -ln p(x, y): one if neither is used without the other, zero at the rate of
    chance. If every window holds both, which leaves 0 / 0, it is one. `Decimal.ln` rounds correctly
    everywhere.
    """
    if together == windows:
        return ONE
    both, every = _ln(together), _ln(windows)
    above = _CONTEXT.subtract(_CONTEXT.add(both, every), _CONTEXT.add(_ln(first), _ln(second)))
    share = _CONTEXT.divide(above, _CONTEXT.subtract(every, both))
    return int(_CONTEXT.multiply(Decimal(ONE), share).to_integral_value(ROUND_HALF_EVEN, _CONTEXT))


def believed(learned: Learned, now: int) -> Learned:
    """Return a learned weight as of `now`: none if the pair's last use is 90 days past."""
    return learned if now - learned.at <= SPAN_US else UNLEARNED


def pair_of(a: int, b: int) -> Pair:
    """Return two seqs, the lower first."""
    return (a, b) if a < b else (b, a)


@lru_cache(WINDOWS_KEPT)
def _ln(number: int) -> Decimal:
    return _CONTEXT.ln(Decimal(number))


def _association(state: Association, pair: Pair) -> tuple[int, int]:
    """Return the weight of a pair and how many of the windows hold both."""
    first, second = (state.holding.get(seq, 0) for seq in pair)
    together = (first & second).bit_count()
    if not together:
        return 0, 0
    return npmi(together, first.bit_count(), second.bit_count(), len(state.kept)), together


def _drop(state: Association, window: Window) -> None:
    bit = 1 << window.slot
    state.taken ^= bit
    window.slot = -1
    for seq in window.seqs:
        state.holding[seq] ^= bit
        if not state.holding[seq]:
            del state.holding[seq]


def _put(state: Association, pair: Pair, learned: Learned) -> None:
    state.pairs[pair] = learned
    link(state.of, pair)


def _remove(state: Association, pair: Pair) -> None:
    del state.pairs[pair]
    for end, other in (pair, pair[::-1]):
        del state.of[end][other]
        if not state.of[end]:
            del state.of[end]


def _trim(state: Association, seq: int) -> list[Pair]:
    """Drop an item's learned pairs beyond its strongest, and pairs too weak for readers; return them."""
    newest = state.kept[-1].start
    pairs = [(other, pair_of(seq, other)) for other in state.of.get(seq, ())]
    alive = [(other, pair) for other, pair in pairs if believed(state.pairs[pair], newest).weight]
    ranked = sorted(alive, key=lambda it: (-state.pairs[it[1]].weight, it[0]))
    kept = dict.fromkeys(pair for _, pair in ranked[:LEARNED_PER_ITEM])
    dropped = [pair for _, pair in pairs if pair not in kept]
    for pair in dropped:
        _remove(state, pair)
    return dropped
