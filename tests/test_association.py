"""What 90 days of windows teach: a learned weight by its definition, its bounds and caps, and what readers see."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log
from pathlib import Path

import msgspec
from builders import MINUTE, START, captured, configured, event, make_id, slots, used
from hypothesis import given
from hypothesis import strategies as st
from met import events_of
from replaying import replay

from memtape import Client
from memtape.schemas.events import Event, Used, make_tick
from memtape.schemas.rows import EdgeRow, GoneRow
from memtape.schemas.times import DAY_US
from memtape.state.core.scope import Scope
from memtape.state.subjects.edges import (
    LEARNED_FROM,
    LEARNED_PER_ITEM,
    PER_ITEM,
    SPAN_US,
    UNLEARNED,
    WINDOWS_KEPT,
    Edges,
    Learned,
    Tie,
    candidates,
    npmi,
    resolved,
    use_together,
    weight_at,
)
from memtape.state.subjects.weights import ONE
from memtape.state.views.rows import all_changes, row_of

Use = tuple[str | None, list[int], int]
"""Session, seqs and time of a use."""

HALF_HOUR = 30 * MINUTE


class Naive:
    """The definition, worked out from the list of all windows (start, seqs) each time it is asked."""

    def __init__(self) -> None:
        self.windows: list[tuple[int, list[int]]] = []
        self.open: dict[str, tuple[int, list[int]]] = {}
        self.learned: dict[tuple[int, int], tuple[float, int, int]] = {}

    def newest(self) -> int:
        return max(start for start, _ in self.windows)

    def take(self, session: str | None, seqs: list[int], at: int) -> None:
        if not seqs:
            return
        self.open = {name: it for name, it in self.open.items() if at - it[0] < HALF_HOUR}
        window = self.open.get(session or "")
        if window is None or window[0] - at >= HALF_HOUR:
            window = (at, list[int]())
            self.windows.append(window)
        if session is not None:
            self.open[session] = window
        added = [seq for seq in seqs if seq not in window[1]]
        before = list(window[1])
        window[1].extend(added)
        counted = [held for start, held in self.windows if self.newest() - start <= 90 * DAY_US]
        if self.newest() - window[0] > 90 * DAY_US:
            return
        items = sorted({seq for held in counted for seq in held} | {end for pair in self.learned for end in pair})
        for pair in [(a, b) for a in items for b in items if a < b and (a in added or b in added)]:
            is_complete = all(end in added or end in before for end in pair)
            if is_complete or pair in self.learned:
                self._weigh(pair, counted, at if is_complete else None)

    def _weigh(self, pair: tuple[int, int], counted: list[list[int]], at: int | None) -> None:
        both = sum(pair[0] in held and pair[1] in held for held in counted)
        one, other = (sum(end in held for held in counted) for end in pair)
        times = [time for time in (at, self.learned.pop(pair, (0, 0, None))[2]) if time is not None]
        if both >= 3 and not_below_floor(both, one, other, len(counted)):
            self.learned[pair] = (by_floats(both, one, other, len(counted)), both, max(times))


def not_below_floor(both: int, one: int, other: int, every: int) -> bool:
    """Whether ln(r) / ln(N / n) is a fifth or more, exactly: r to the fifth is N / n or more."""
    return both == every or Fraction(both * every, one * other) ** 5 >= Fraction(every, both)


def by_floats(both: int, one: int, other: int, every: int) -> float:
    if both == every:
        return 1.0
    share, first, second = both / every, one / every, other / every
    return log(share / (first * second)) / -log(share)


@st.composite
def histories(draw: st.DrawFn, items: int = 5, longest: int = 40) -> list[Use]:
    """Uses of a few items, mostly in order of time, some late by days or months; so few that no cap is met."""
    now, found = START, list[Use]()
    for _ in range(draw(st.integers(0, longest))):
        now += draw(st.sampled_from((0, MINUTE, 29 * MINUTE, HALF_HOUR, DAY_US, 20 * DAY_US)))
        late = draw(st.sampled_from((0, 0, 0, 0, MINUTE, HALF_HOUR, DAY_US, 89 * DAY_US, 91 * DAY_US)))
        seqs = draw(st.lists(st.integers(0, items - 1), max_size=3, unique=True))
        found.append((draw(st.sampled_from(("s", "t", None))), seqs, now - late))
    return found


def state_of(history: list[Use]) -> Edges:
    state = Edges()
    for session, seqs, at in history:
        use_together(state, session, seqs, at)
    return state


def windows(*groups: list[int], since: int = START, apart: int = DAY_US // 24) -> list[Use]:
    """Return uses that are each a window of their own."""
    return [(None, seqs, since + number * apart) for number, seqs in enumerate(groups)]


@given(histories())
def test_a_learned_weight_is_what_the_windows_of_90_days_say(history: list[Use]) -> None:
    state, naive = Edges(), Naive()
    for session, seqs, at in history:
        use_together(state, session, seqs, at)
        naive.take(session, seqs, at)
        if not naive.windows:
            continue
        newest = naive.newest()
        assert [window.start for window in state.kept] == sorted(
            start for start, _ in naive.windows if newest - start <= 90 * DAY_US
        )
        # What no reader believes any more may be gone from the state, or not yet.
        found = {pair: it for pair, it in state.learned.items() if newest - it.at <= 90 * DAY_US}
        expected = {pair: it for pair, it in naive.learned.items() if newest - it[2] <= 90 * DAY_US}
        assert {pair: (it.windows, it.at) for pair, it in found.items()} == {
            pair: it[1:] for pair, it in expected.items()
        }
        assert all(abs(it.weight - expected[pair][0] * ONE) <= 1 for pair, it in found.items())


@given(histories(items=12), st.data())
def test_to_stop_and_go_on_changes_nothing(history: list[Use], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(history)))
    resumed = msgspec.msgpack.decode(msgspec.msgpack.encode(state_of(history[:cut])), type=Edges)
    for session, seqs, at in history[cut:]:
        use_together(resumed, session, seqs, at)
    whole = state_of(history)
    assert (resumed, vars(resumed), resumed.windows) == (whole, vars(whole), whole.windows)


@given(
    st.lists(st.lists(st.integers(0, 13), max_size=9, unique=True), min_size=1, max_size=6),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from((HALF_HOUR, DAY_US, 31 * DAY_US))), max_size=25),
)
def test_an_item_keeps_six_and_every_change_is_named(groups: list[list[int]], order: list[tuple[int, int]]) -> None:
    """Groups that are used again and again teach more than six of an item."""
    state, known, at = Edges(), dict[tuple[int, int], object](), START
    for number, gap in order:
        at += gap
        touched = use_together(state, None, groups[number % len(groups)], at)
        known.update({pair: row(state, pair) for pair in touched})
        assert {pair: it for pair, it in known.items() if it != (None, None)} == {
            pair: row(state, pair) for pair in state.pairs | state.learned
        }
        assert all(0 < len(others) <= PER_ITEM for others in (*state.of.values(), *state.learned_of.values()))
        assert {(a, b) for a, others in state.of.items() for b in others if a < b} == state.pairs.keys()
        assert {(a, b) for a, others in state.learned_of.items() for b in others if a < b} == state.learned.keys()
        assert all(LEARNED_FROM <= it.weight <= ONE and it.windows >= 3 for it in state.learned.values())


def row(state: Edges, pair: tuple[int, int]) -> object:
    edge = state.pairs.get(pair)
    return edge and (edge.weight, edge.at, edge.count), state.learned.get(pair)


def test_the_floor_is_reached_exactly() -> None:
    """By hand: 96 windows, 3 with both, 12 with each: ln(3 x 96 / 144) / ln(96 / 3) = ln 2 / ln 32 = 1/5."""
    groups = [*(9 * [[0]]), *(9 * [[1]]), *(3 * [[0, 1]])]
    assert state_of(windows(*(75 * [[2]]), *groups)).learned[0, 1].weight == LEARNED_FROM
    assert state_of(windows(*(74 * [[2]]), *groups)).learned == {}


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 200))
def test_an_association_is_symmetric_and_at_most_one(both: int, first: int, second: int, neither: int) -> None:
    every = both + first + second + neither
    weight = npmi(both, both + first, both + second, every)
    assert weight == npmi(both, both + second, both + first, every)
    assert -ONE <= weight <= ONE
    assert (weight == ONE) is (first == second == 0)


def test_only_so_many_windows_are_kept() -> None:
    pairs = windows(*(3 * [[0, 1]]), apart=1)
    others = windows(*((WINDOWS_KEPT - 3) * [[2]]), since=START + MINUTE, apart=MINUTE)
    full = state_of([*pairs, *others])
    assert len(full.kept) == WINDOWS_KEPT
    use_together(full, None, [0], START + 30 * DAY_US)
    assert full.learned == {}, "the first of the three had to make room"
    use_together(full, None, [3], START)
    assert len(full.kept) == WINDOWS_KEPT
    assert 3 not in full.holding, "and so has one that is older than all"
    assert full.taken.bit_length() <= WINDOWS_KEPT + 1


FACTS = [captured(f"Fact {name} {name}", name) for name in ("heron", "otter", "lynx")]


def together(names: list[object], id: str, day: float) -> Event:
    return used(names, id, session=None, sent=START + int(day * DAY_US))


def scope_of(*events: Event) -> Scope:
    (state,) = replay(slots([configured(), *FACTS, *events])).partitions.values()
    return state.scopes["project:test"]


def rows_of(scope: Scope) -> dict[tuple[str, str], EdgeRow]:
    rows = [row_of(scope, change) for change in all_changes(scope) if change.table == "edges"]
    assert not any(isinstance(it, GoneRow) for it in rows)
    return {(it.source, it.target): it for it in rows if isinstance(it, EdgeRow)}


PAIR = (make_id("heron"), make_id("otter"))
OTHERS = [together(["lynx"], f"o{number}", 0) for number in range(5)]
THRICE = [together(["heron", "otter"], f"u{number}", number / 100) for number in range(3)]


def test_a_row_has_either_weight_or_both() -> None:
    both = rows_of(scope_of(*THRICE))[PAIR]
    assert (both.count, both.learned, both.learned_windows) == (3, ONE, 3)
    assert both.learned_at == both.at == START + DAY_US // 50
    # Forty days later a use of the one alone drops what has decayed, and what was learned stays.
    ticks = [make_tick(0, START + 40 * DAY_US)]
    late = [together(["heron", "lynx"], "late", 40)]
    rows = rows_of(scope_of(*OTHERS, *THRICE, *ticks, *late))
    kept = rows[PAIR]
    assert (kept.weight, kept.at, kept.count, kept.learned_windows) == (0, 0, 0, 3)
    assert LEARNED_FROM <= kept.learned < ONE
    once = rows[make_id("heron"), make_id("lynx")]
    assert (once.weight, once.count, once.learned, once.learned_at) == (ONE, 1, 0, 0)


def tie(source: str, target: str, learned: int, *, weight: int = 0, windows: int = 3, at: int = START) -> Tie:
    return Tie(source, target, weight, at, 0, Learned(learned, windows, at))


def test_a_reader_believes_a_learned_weight_for_90_days() -> None:
    names = {"a": "a", "b": "b"}
    edge = tie("a", "b", ONE // 2)
    for now, expected in ((START + SPAN_US, ONE // 2), (START + SPAN_US + 1, 0)):
        assert [it.learned.weight for it in resolved([edge], names, now)] == ([expected] if expected else [])
        assert weight_at(edge, now) == expected


def test_the_stronger_of_the_two_counts_and_the_decaying_one_is_proposed() -> None:
    edges = [tie("a", "b", ONE // 2, weight=ONE // 4), tie("a", "c", ONE // 4, weight=ONE // 2), tie("a", "d", ONE)]
    assert [weight_at(it, START) for it in edges] == [ONE // 2, ONE // 2, ONE]
    assert candidates(edges, START) == []
    assert candidates([tie("a", "b", ONE // 5, weight=2 * ONE)], START) != []


def days_ago(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most).map(lambda days: START - days * DAY_US)


ids = st.integers(0, 12).map(str)
lessons = st.builds(Learned, st.integers(0, ONE), st.integers(3, 9), days_ago(99))
ties = st.lists(
    st.builds(Tie, ids, ids, st.integers(0, 3 * ONE), days_ago(20), st.integers(1, 9), lessons), max_size=80
)


@given(ties)
def test_six_of_each_kind_stay_in_any_order(found: list[Tie]) -> None:
    names = {str(number): str(number) for number in range(13)}
    edges = resolved(found, names, START)
    assert edges == resolved(found[::-1], names, START)
    used_ends = Counter(end for it in edges if it.weight for end in (it.source, it.target))
    learned_ends = Counter(end for it in edges if it.learned.weight for end in (it.source, it.target))
    assert all(n <= PER_ITEM for n in used_ends.values()) and all(n <= LEARNED_PER_ITEM for n in learned_ends.values())
    assert all(it.weight or it.learned.weight for it in edges)
    # Each kind is what it would be without the other.
    plain = resolved([it._replace(learned=UNLEARNED) for it in found], names, START)
    assert sorted(it._replace(learned=UNLEARNED) for it in edges if it.weight) == sorted(plain)


def test_a_search_finds_by_what_was_learned_when_the_decaying_weight_is_gone(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", origin="user") as client:
        port, proxy = (client.capture(text) for text in ("Port 8081 is taken", "Nginx restarts at dawn"))
        sent, both = events_of(client.log)[-1].sent, Used(ids=(port.id, proxy.id), recall=None)
        for age, expected in ((91, []), (30, [proxy.id])):
            times = {"at": sent - age * DAY_US, "sent": sent}
            client.log.append([event("used", both, f"{age} {n}", scope="project:a", **times) for n in range(3)])
            client.project()
            found = client.search("port 8081").results
            assert [result.id for result in found if "edges" in result.lanes] == expected
            assert [(edge.weight, edge.learned) for edge in client.edges(port.id).edges] == [(0.0, 1.0)] * len(expected)
