"""Edges: joint uses within one window of a session, with weights that decay on event time.

A window opens with a use and holds those of the next 30 minutes of its session; a later use of any session
past its end closes it. Each pair in it adds one to the pair's weight, at the moment when it is complete, so
that closing changes nothing. Weights are stored with their time, by captured id; only their own events write
them. Readers decay them to now and resolve the ids to memories. In a deep search, a result of the first look
and a result of a later look are linked too, the more weakly the later the look.

The learned weight of a pair is the normalised pointwise mutual information of two items over 90 days, with
shares of the windows kept (Bouma 2009, "Normalized (pointwise) mutual information in collocation
extraction"). Each window counts from its first use on. A use that completes a pair in a window sets the
weight; for a pair with a weight, so does a later window's use of either end, since use without the other
reduces it. Nothing else writes it, no tick and no read.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from memtape.schemas.events import Event, Recalled
from memtape.schemas.rows import Change, Context, EdgeRow
from memtape.schemas.times import DAY_US, US_PER_S
from memtape.state.subjects.captures import HasCaptures
from memtape.state.subjects.weights import EXACT, ONE, decayed, rounded_share

SPAN_US = 90 * DAY_US
"""How far behind the latest window one may open and still count; how long a weight is believed (spec R7)."""
WINDOWS_KEPT = 4_096
"""Maximum number of windows counted, 45 a day; the earliest opened are dropped."""
TOGETHER_FROM = 3
LEARNED_FROM = ONE // 5
"""Limits of learned pairs: the minimum of joint windows, and of the weight (spec R7)."""

Pair = tuple[int, int]
Ends = tuple[str, str]
WeightT = TypeVar("WeightT")


class Window(msgspec.Struct):
    """The uses of one session since `start`, as seqs in their order; `slot` is a bit in `holding`, or -1."""

    start: int
    seqs: list[int]
    slot: int = -1


class Learned(NamedTuple):
    """A pair's weight in billionths over `windows` joint windows; `at` is the last use that completed it."""

    weight: int
    windows: int
    at: int


UNLEARNED = Learned(0, 0, 0)


def _link(of: dict[int, dict[int, None]], pair: Pair) -> None:
    for end, other in (pair, pair[::-1]):
        of.setdefault(end, {})[other] = None


def _unlink(of: dict[int, dict[int, None]], pair: Pair) -> None:
    for end, other in (pair, pair[::-1]):
        del of[end][other]
        if not of[end]:
            del of[end]


@lru_cache(WINDOWS_KEPT)
def _ln(number: int) -> Decimal:
    return EXACT.ln(Decimal(number))


def npmi(together: int, first: int, second: int, windows: int) -> int:
    """Return the association of two items, in billionths, by windows with both, the first, the second.

    ln(p(x, y) / (p(x) p(y))) / -ln p(x, y): one if neither is used without the other, zero at the rate of
    chance. If every window holds both, which leaves 0 / 0, it is one.
    """
    if together == windows:
        return ONE
    both, every = _ln(together), _ln(windows)
    above = EXACT.subtract(EXACT.add(both, every), EXACT.add(_ln(first), _ln(second)))
    share = EXACT.divide(above, EXACT.subtract(every, both))
    return rounded_share(ONE, share)


def believed(learned: Learned, now: int) -> Learned:
    """Return a learned weight as of `now`: none if the pair's last use is 90 days past."""
    return learned if now - learned.at <= SPAN_US else UNLEARNED


def pair_of(a: int, b: int) -> Pair:
    """Return two seqs, the lower first."""
    return (a, b) if a < b else (b, a)


WINDOW_US = 1_800 * US_PER_S
WINDOW_ITEMS = 32
"""Maximum of linked items in one window, so that an event with hundreds of ids does not link all pairs."""
PER_ITEM = 6
"""The most edges of each weight that an item keeps and shows. Of equals the later captured goes."""
PRUNED_BELOW = ONE // 100
PROMOTED_FROM = ONE * 3 // 2
PROMOTED, PROMOTED_PER_SOURCE = 20, 3
"""Proposals for curated edges: the minimum weight, the maximum at once and for one source."""


class Edge(msgspec.Struct):
    """A pair's weight in billionths as of the time `at`, and how many windows used both."""

    weight: int
    at: int
    count: int


class Edges(msgspec.Struct, dict=True, array_like=True):
    """The edges of a scope by pair of seqs, the lower first, and the open windows by session.

    `kept` are the windows counted for learned weights, in order of their start. `learned` has by pair the
    learned weight, also of a pair without an edge. The rest follows: `of` and `learned_of` have the other
    ends of each seq, `holding` has for each seq its windows as bits, so that a pair's windows are counted at
    once, and `taken` the bits in use.
    """

    pairs: dict[Pair, Edge] = {}
    learned: dict[Pair, Learned] = {}
    kept: list[Window] = []
    windows: dict[str, Window] = {}

    def __post_init__(self) -> None:
        self.of: dict[int, dict[int, None]] = {}
        self.learned_of: dict[int, dict[int, None]] = {}
        for pairs, of in ((self.pairs, self.of), (self.learned, self.learned_of)):
            for pair in pairs:
                _link(of, pair)
        self.holding: dict[int, int] = {}
        self.taken = 0
        for window in self.kept:
            self.taken |= 1 << window.slot
            for seq in window.seqs:
                self.holding[seq] = self.holding.get(seq, 0) | 1 << window.slot
        kept = {window.slot: window for window in self.kept}  # An open window is counted while it grows.
        self.windows = {session: kept.get(window.slot, window) for session, window in self.windows.items()}


class Tie(NamedTuple):
    """An edge between two ids as a reader has it: `weight` in billionths as of `at`, `windows` used both.

    `learned` is the other weight of the pair; either may be nothing.
    """

    source: str
    target: str
    weight: int
    at: int
    windows: int = 1
    learned: Learned = UNLEARNED


def evolve(state: Edges, event: Event, context: Context[HasCaptures]) -> list[Change]:
    """Link an event's uses, or the results of a search's looks, and return the rows of the changed pairs."""
    captures = context.of.captures
    pairs = use_together(state, event.session, context.used, context.at)
    if isinstance(event.body, Recalled) and event.body.trace:
        seen: dict[str, int] = {}
        for taken in event.body.trace:
            if taken.step in ("scouts", "walk", "edges"):
                seen |= {id: taken.look for id in taken.ids if id not in seen}
        own = captures.found(id for id in dict.fromkeys(event.body.results) if id in seen)
        pairs += see_together(state, [(it.seq, seen[it.id]) for it in own[:WINDOW_ITEMS]], context.at)
    return [Change("edges", context.scope, "~".join(captures.by_seq[seq].id for seq in it)) for it in pairs]


def use_together(state: Edges, session: str | None, used: Sequence[int], at: int) -> list[Pair]:
    """Apply a joint use at a time (seqs, each once) and return the changed pairs.

    Without a session, the ids of one event are a window of their own.
    """
    if not used:
        return []
    # A later use of any session closes the windows that are over by then.
    state.windows = {name: window for name, window in state.windows.items() if at - window.start < WINDOW_US}
    window = None if session is None else state.windows.get(session)
    if window is None or window.start - at >= WINDOW_US:  # A use from long before opens one of its own.
        window = Window(at, [], (~state.taken & (state.taken + 1)).bit_length() - 1)  # The lowest free slot.
        state.taken |= 1 << window.slot
        insort(state.kept, window, key=lambda it: it.start)
        # Windows too old or too many go, perhaps the new one.
        while state.kept[-1].start - state.kept[0].start > SPAN_US or len(state.kept) > WINDOWS_KEPT:
            dropped = state.kept.pop(0)
            bit, dropped.slot = 1 << dropped.slot, -1
            state.taken ^= bit
            for seq in dropped.seqs:
                state.holding[seq] ^= bit
                if not state.holding[seq]:
                    del state.holding[seq]
        if session is not None:
            state.windows[session] = window
    before = len(window.seqs)
    completed: list[Pair] = []
    for seq in used:
        if seq not in window.seqs and len(window.seqs) < WINDOW_ITEMS:
            completed += [pair_of(seq, other) for other in window.seqs]
            window.seqs.append(seq)
    for pair in completed:
        _strengthen(state, pair, at)
    touched = [*completed, *_trim_used(state, completed)]
    return list(dict.fromkeys([*touched, *_learn(state, window, window.seqs[before:], completed, at)]))


def see_together(state: Edges, looks: Sequence[tuple[int, int]], at: int) -> list[Pair]:
    """Apply the results of a deep search, as (seq, the look that saw it first), and return the changed pairs.

    A result of the first look and a result of a later look gain 1 / (1 + the looks between them), the gap of
    spec R6. No window used them, so that no association is learned.
    """
    touched: list[Pair] = []
    for seq, look in looks:
        for other in (first for first, its in looks if its == 1 < look):
            touched.append(pair_of(seq, other))
            _strengthen(state, touched[-1], at, ONE // look, windows=0)
    return list(dict.fromkeys((*touched, *_trim_used(state, touched))))


def tie_of(row: EdgeRow) -> Tie:
    """Return the edge of a row."""
    learned = Learned(row.learned, row.learned_windows, row.learned_at)
    return Tie(row.source, row.target, row.weight, row.at, row.count, learned)


def strongest(ties: Iterable[tuple[int, int, int]], limit: int = PER_ITEM) -> list[int]:
    """Return the numbers of the strongest of (number, weight, at), the strongest first; equals by number.

    All decay alike, so that the order is the same at any time.
    """
    listed = list(ties)
    now = max((at for _, _, at in listed), default=0)
    ranked = sorted((-decayed(weight, now - at), number) for number, weight, at in listed)
    return [number for negative, number in ranked if -negative >= PRUNED_BELOW][:limit]


def resolved(ties: Iterable[Tie], name_of: Mapping[str, str], now: int) -> list[Tie]:
    """Return the edges between memories and turns, to which captured ids resolve, with weights at `now`.

    `name_of` has the ids of all visible items; edges of other ids are left out, and so are loops. The weights
    of parallel edges add up, and the greatest learned weight counts. Weights below a hundredth are dropped,
    and six edges of each kind stay at an item. The strongest come first, equals by their ids.
    """
    found: dict[Ends, Tie] = {}
    for tie in ties:
        named = sorted({name_of[id]: None for id in (tie.source, tie.target) if id in name_of})
        if len(named) < 2:
            continue
        ends = (named[0], named[1])
        before = found.get(ends, Tie(*ends, 0, now, 0))
        weight = before.weight + decayed(tie.weight, now - tie.at)
        learned = max(before.learned, believed(tie.learned, now))
        found[ends] = Tie(*ends, weight, now, before.windows + tie.windows, learned)
    used = _held(found.values(), lambda tie: tie.weight, PRUNED_BELOW, PER_ITEM)
    learned_of = _held(found.values(), lambda tie: tie.learned.weight, 1, PER_ITEM)
    kept = []
    for ends in used | learned_of:
        tie = found[ends] if ends in used else found[ends]._replace(weight=0, windows=0)
        kept.append(tie if ends in learned_of else tie._replace(learned=UNLEARNED))
    return sorted(kept, key=lambda tie: (-weight_at(tie, now), tie.source, tie.target))


def weight_at(tie: Tie, now: int) -> int:
    """Return the weight of an edge at `now`, in billionths: the greater of its two weights."""
    return max(decayed(tie.weight, now - tie.at), believed(tie.learned, now).weight)


def candidates(edges: Iterable[Tie], now: int) -> list[Tie]:
    """Return the resolved edges proposed for curated ones, strongest first: at most 20, and 3 of a source."""
    held = Counter[str]()
    found: list[Tie] = []
    for tie in sorted(edges, key=lambda tie: (-decayed(tie.weight, now - tie.at), tie.source, tie.target)):
        if decayed(tie.weight, now - tie.at) >= PROMOTED_FROM and held[tie.source] < PROMOTED_PER_SOURCE:
            held[tie.source] += 1
            found.append(tie)
    return found[:PROMOTED]


def _held(ties: Iterable[Tie], weight_of: Callable[[Tie], int], least: int, limit: int) -> dict[Ends, None]:
    """Return the ends of the edges kept by a weight: the strongest, at most `limit` of an item."""
    kept, held = dict[Ends, None](), Counter[str]()
    for tie in sorted(ties, key=lambda tie: (-weight_of(tie), tie.source, tie.target)):
        ends = (tie.source, tie.target)
        if weight_of(tie) >= least and all(held[end] < limit for end in ends):
            kept[ends] = None
            held.update(ends)
    return kept


def _strengthen(state: Edges, pair: Pair, at: int, weight: int = ONE, windows: int = 1) -> None:
    edge = state.pairs.get(pair)
    if edge is None:
        state.pairs[pair] = Edge(weight, at, windows)
        _link(state.of, pair)
        return
    later = max(edge.at, at)
    edge.weight = decayed(edge.weight, later - edge.at) + decayed(weight, later - at)
    edge.at = later
    edge.count += windows


def _trim(
    known: dict[Pair, WeightT], of: dict[int, dict[int, None]], pairs: Iterable[Pair],
    strongest_of: Callable[[list[tuple[int, WeightT]]], list[int]],
) -> list[Pair]:  # fmt: skip
    """Drop the known edges of pairs' ends that are not among the strongest of an end; return their pairs."""
    dropped = []
    for seq in dict.fromkeys(end for pair in pairs for end in pair):
        found = [(other, known[pair_of(seq, other)]) for other in of.get(seq, ())]
        kept = strongest_of(found)
        for pair in (pair_of(seq, other) for other, _ in found if other not in kept):
            dropped.append(pair)
            del known[pair]
            _unlink(of, pair)
    return dropped


def _trim_used(state: Edges, pairs: Iterable[Pair]) -> list[Pair]:
    return _trim(state.pairs, state.of, pairs, lambda its: strongest((n, it.weight, it.at) for n, it in its))


def _learn(state: Edges, window: Window, added: list[int], completed: list[Pair], at: int) -> list[Pair]:
    """Apply a use's additions to a window and its completed pairs; return the pairs with a changed weight.

    A window too old to count changes no weight.
    """
    if window.slot < 0:
        return []
    for seq in added:
        state.holding[seq] = state.holding.get(seq, 0) | 1 << window.slot
    together, learned_of = dict.fromkeys(completed), state.learned_of
    pairs = together | dict.fromkeys(pair_of(seq, it) for seq in added for it in learned_of.get(seq, ()))
    changed = []
    for pair in pairs:
        before, (first, second) = state.learned.get(pair), (state.holding.get(seq, 0) for seq in pair)
        windows = (first & second).bit_count()
        weight = npmi(windows, first.bit_count(), second.bit_count(), len(state.kept)) if windows else 0
        if windows >= TOGETHER_FROM and weight >= LEARNED_FROM:
            known = at if before is None else before.at
            state.learned[pair] = Learned(weight, windows, max(known, at) if pair in together else known)
            _link(state.learned_of, pair)
        elif before is not None:
            del state.learned[pair]
            _unlink(state.learned_of, pair)
        if state.learned.get(pair) != before:
            changed.append(pair)
    newest = state.kept[-1].start

    def strongest_of(ties: list[tuple[int, Learned]]) -> list[int]:
        ranked = sorted((-believed(learned, newest).weight, other) for other, learned in ties)
        return [other for negative, other in ranked[:PER_ITEM] if negative]

    return changed + _trim(state.learned, state.learned_of, changed, strongest_of)
