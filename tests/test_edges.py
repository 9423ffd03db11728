"""What is used together is linked: windows, weights that decay or are learned, caps, walks, who sees them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import log
from pathlib import Path

import builders as b
import msgspec
from builders import MINUTE, START, captured, configured, forgotten, make_id, restored, slots, used
from hypothesis import example, given
from hypothesis import strategies as st
from met import events_of

from memtape import Client
from memtape.schemas.events import Event, Used, make_tick
from memtape.schemas.rows import EdgeRow, GoneRow
from memtape.schemas.times import DAY_US
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.subjects import edges as subject
from memtape.state.subjects.edges import Edges, Learned, Tie, candidates, resolved, use_together, weight_at
from memtape.state.subjects.weights import ONE, decayed
from memtape.state.views.page_texts import used_with
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import all_changes, row_of
from memtape.state.views.standing_pages import MEMORIES_PER_PAGE
from memtape.tools.keep.erasing import plan

FACTS = [captured(f"Fact {name} {name}", name) for name in ("heron", "otter", "lynx", "marten", "stoat")]


Use = tuple[str | None, list[int], int]
"""Session, seqs and time of a use."""


def together(ids: list[object], id: object, minute: int, session: str | None = "s") -> Event:
    return used(ids, id, session=session, sent=START + minute * MINUTE)


def scope_of(*events: Event) -> Scope:
    return b.scope_of(*FACTS, *events)


def apart(ids: list[object], id: object, minute: int) -> Event:
    """A use that is a window of its own."""
    return together(ids, id, minute, None)


def linked(scope: Scope) -> dict[tuple[int, int], int]:
    return {pair: edge.count for pair, edge in scope.edges.pairs.items()}


def links_of(scope: Scope, name: str) -> list[str]:
    """Return what the vault says that a memory was used with."""
    names = {fact.id: str(fact.body.text).split()[1] for fact in FACTS}  # type: ignore[union-attr]
    return [names[id] for id, _ in used_with(scope, make_id(name))]


def test_a_window_closes_by_a_later_use_of_any_session_and_not_by_the_end_of_the_log() -> None:
    late = used(["otter"], "u3", session="s", at=START + MINUTE, sent=START + 50 * MINUTE)
    open_still = [together(["heron"], "u1", 0), late]
    closed = [together(["heron"], "u1", 0), together(["lynx"], "u2", 40, "t"), late]
    assert linked(scope_of(*open_still)) == {(0, 1): 1}
    assert linked(scope_of(*closed)) == {}


@st.composite
def histories(draw: st.DrawFn) -> list[Use]:
    """Uses (session, seqs, minute) of five captures in order of time, so that no cap is met."""
    minutes = sorted(draw(st.lists(st.integers(0, 12_000), max_size=25)))
    seqs = st.lists(st.integers(0, 4), max_size=3, unique=True)
    return [(draw(st.sampled_from(("s", "t", None))), draw(seqs), minute) for minute in minutes]


@given(histories(), st.integers(0, 20_000))
@example([("s", [], 0), ("s", [0, 1], 1), ("s", [0, 1], 30)], 0)
def test_a_weight_is_what_each_use_is_still_worth(history: list[Use], later: int) -> None:
    """By its definition: one for each pair of each window, halved every three days since it was complete."""
    state, expected = Edges(), dict[tuple[int, int], list[int]]()
    windows: dict[str, tuple[int, list[int]]] = {}
    for session, seqs, minute in history:
        use_together(state, session, seqs, minute * MINUTE)
        if not seqs:  # What uses nothing opens no window.
            continue
        start, held = windows.get(session or "", (-(10**9), []))
        if session is None or minute - start >= 30:
            start, held = minute, []
        for seq in seqs:
            if seq not in held:
                for other in held:
                    expected.setdefault((min(seq, other), max(seq, other)), []).append(minute * MINUTE)
                held = [*held, seq]
        if session is not None:
            windows[session] = start, held
    now = (max((minute for _, _, minute in history), default=0) + later) * MINUTE
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=Edges) == state
    for pair, times in expected.items():
        worth = sum(decayed(ONE, now - at) for at in times)
        edge = state.pairs.get(pair)
        if edge is None:  # What weighed less than a hundredth may be gone.
            assert sum(decayed(ONE, history[-1][2] * MINUTE - at) for at in times) < 2 * subject.PRUNED_BELOW
        else:
            # An edge that was dropped begins again, and each event rounds once.
            assert abs(decayed(edge.weight, now - edge.at) - worth) <= 2 * subject.PRUNED_BELOW + len(times)
    assert state.pairs.keys() <= expected.keys()


def test_who_names_hundreds_links_a_few() -> None:
    state = Edges()
    use_together(state, "s", range(5_000), 0)
    assert len(state.windows["s"].seqs) == subject.WINDOW_ITEMS
    assert len(state.pairs) <= subject.WINDOW_ITEMS * subject.PER_ITEM


def test_edges_are_kept_by_capture_and_resolved_to_memories() -> None:
    again = captured("Fact heron heron", "again", sent=START + MINUTE)
    events = [again, together(["again", "otter"], "u1", 2), together(["heron", "again"], "u2", 2, "t")]
    folded, split = scope_of(*events), scope_of(*events, b.unfolded(["again"], "x"))
    assert linked(folded) == linked(split) == {(1, 5): 1, (0, 5): 1}
    assert (links_of(folded, "heron"), links_of(folded, "otter")) == (["otter"], ["heron"])
    ones, others = ([it.id for it in all_changes(its) if it.table == "edges"] for its in (folded, split))
    assert ones == others


def test_the_vault_links_living_memories_the_strongest_first() -> None:
    pairs = [together(["heron", "otter"], "u1", 0, "a"), together(["heron", "lynx"], "u2", 1, "b")]
    events = [*pairs, together(["heron", "lynx"], "u3", 60, "c")]
    assert links_of(scope_of(*events), "heron") == ["lynx", "otter"]
    hidden = [*events, forgotten(["lynx"], "f", sent=START + 70 * MINUTE)]
    assert links_of(scope_of(*hidden), "heron") == ["otter"]
    back = [*hidden, restored(["lynx"], "b", sent=START + 71 * MINUTE)]
    assert links_of(scope_of(*back), "heron") == ["lynx", "otter"]


def test_a_link_to_another_page_follows_what_happens_there() -> None:
    """Only the page of the other memory is named by a change of its own: this one must be named too."""
    partition = Partition(0)
    many = [captured(f"Fact number {n} of many", n, "document") for n in range(MEMORIES_PER_PAGE)]
    pair = [captured("The far one", "far"), together(["heron", "far"], "u", 1)]
    before = slots([configured(), *FACTS, *many, *pair])
    fold(partition, before)
    hide, show = forgotten(["far"], "f"), restored(["far"], "b")
    for said, linked_to in ((hide, []), (show, [(make_id("far"), "memories/002.md")])):
        changes = fold(partition, slots([said], start=partition.offset))
        assert [it for it in pages_of(partition, changes) if it.path == "memories/001.md"]
        assert used_with(partition.scopes["project:test"], make_id("heron")) == linked_to


def test_what_may_not_be_seen_and_what_joins_a_memory_with_itself_is_not_there() -> None:
    now = START
    ties = [Tie(source, target, ONE, now) for source, target in ("ab", "ac", "ax", "bc")]
    found = resolved(ties, {"a": "a", "b": "b", "c": "b"}, now)
    assert found == [Tie("a", "b", 2 * ONE, now, 2)]
    assert resolved(ties, {"a": "a", "b": "a"}, now) == []
    assert resolved([Tie("a", "b", ONE, now - 20 * DAY_US)], {"a": "a", "b": "b"}, now) == []


def test_a_client_shows_edges_as_of_now_and_as_of_then_and_none_of_what_is_erased(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", session="s") as memory:
        port, proxy, third = (memory.capture(text).id for text in ("Port 8081", "The proxy", "A *thing*"))
        before = ",".join(f"{number}/{end}" for number, end in enumerate(memory.log.ends()))
        memory.use([port, proxy])
        memory.use([third])
        found = memory.edges(port)
        assert {edge.target.id for edge in found.edges} == {proxy, third}
        assert all(0.99 < edge.weight <= 1 and edge.source.id == port for edge in found.edges)
        assert memory.edges(port, as_of=before).edges == memory.edges().edges == ()
        # Another window: two uses together, a moment ago, weigh more than 1.5.
        with Client(tmp_path, scope="project:a", origin="user", session="t") as other:
            other.use([port, proxy])
        (proposed,) = memory.edges().edges
        assert {proposed.source.id, proposed.target.id} == {port, proxy} and proposed.windows == 2
        memory.forget(proxy)
        assert [edge.target.id for edge in memory.edges(port).edges] == [third]
        assert memory.edges().edges == ()
        memory.project()
        text = (memory.home.vault / "projects" / "a" / "memories" / "001.md").read_text()
        assert f"used with [`{third}`](001.md)" in text and proxy not in text and memory.verify().ok
        erasure = memory.erase(plan(memory.home, memory.log, "project:a", [third], only=False))
        assert erasure.before is not None and erasure.ok
        places = {place.path.split(".lance")[0].rpartition("/")[2] for place in erasure.before.found}
        assert {"uses", "edges", "memories"} <= places, "the search sees these tables"
        assert memory.edges(port).edges == () and memory.verify().ok


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
        items = sorted({seq for held in (*counted, *self.learned) for seq in held})
        for pair in [it for it in combinations(items, 2) if {*it} & {*added}]:
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
def late_histories(draw: st.DrawFn, items: int = 5, longest: int = 40) -> list[Use]:
    """Uses of a few items, mostly in order of time, some late by months; so few that no cap is met."""
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


@given(late_histories())
def test_a_learned_weight_is_what_the_windows_of_90_days_say(history: list[Use]) -> None:
    state, naive = Edges(), Naive()
    for session, seqs, at in history:
        use_together(state, session, seqs, at)
        naive.take(session, seqs, at)
        if not naive.windows:
            continue
        newest = naive.newest()
        starts = sorted(start for start, _ in naive.windows if newest - start <= 90 * DAY_US)
        assert [window.start for window in state.kept] == starts
        # What no reader believes any more may be gone from the state, or not yet.
        found = {pair: it for pair, it in state.learned.items() if newest - it.at <= 90 * DAY_US}
        expected = {pair: it for pair, it in naive.learned.items() if newest - it[2] <= 90 * DAY_US}
        counted = {pair: (it.windows, it.at) for pair, it in found.items()}
        assert counted == {pair: it[1:] for pair, it in expected.items()}
        assert all(abs(it.weight - expected[pair][0] * ONE) <= 1 for pair, it in found.items())


@given(late_histories(items=12), st.data())
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
def test_an_item_keeps_six_and_every_change_is_named(groups: list[list[int]], order: list[list[int]]) -> None:
    """Groups that are used again and again teach more than six of an item."""
    state, known, at = Edges(), dict[tuple[int, int], object](), START
    for number, gap in order:
        at += gap
        touched = use_together(state, None, groups[number % len(groups)], at)
        known.update({pair: row(state, pair) for pair in touched})
        there = {pair: it for pair, it in known.items() if it != (None, None)}
        assert there == {pair: row(state, pair) for pair in state.pairs | state.learned}
        for of, pairs in ((state.of, state.pairs), (state.learned_of, state.learned)):
            assert all(0 < len(others) <= subject.PER_ITEM for others in of.values())
            assert {(one, it) for one, others in of.items() for it in others if one < it} == pairs.keys()
        learned = state.learned.values()
        assert all(subject.LEARNED_FROM <= it.weight <= ONE and it.windows >= 3 for it in learned)


def row(state: Edges, pair: tuple[int, int]) -> object:
    edge = state.pairs.get(pair)
    return edge and (edge.weight, edge.at, edge.count), state.learned.get(pair)


def test_the_floor_is_reached_exactly() -> None:
    """By hand: 96 windows, 3 with both, 12 with each: ln(3 x 96 / 144) / ln(96 / 3) = ln 2 / ln 32 = 1/5."""
    groups = [*(9 * [[0]]), *(9 * [[1]]), *(3 * [[0, 1]])]
    assert state_of(windows(*(75 * [[2]]), *groups)).learned[0, 1].weight == subject.LEARNED_FROM
    assert state_of(windows(*(74 * [[2]]), *groups)).learned == {}


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 200))
def test_an_association_is_mutual_and_at_most_one(both: int, first: int, second: int, neither: int) -> None:
    every = both + first + second + neither
    weight = subject.npmi(both, both + first, both + second, every)
    assert weight == subject.npmi(both, both + second, both + first, every) and -ONE <= weight <= ONE
    assert (weight == ONE) is (first == second == 0)


def test_only_so_many_windows_are_kept() -> None:
    pairs = windows(*(3 * [[0, 1]]), apart=1)
    others = windows(*((subject.WINDOWS_KEPT - 3) * [[2]]), since=START + MINUTE, apart=MINUTE)
    full = state_of([*pairs, *others])
    assert len(full.kept) == subject.WINDOWS_KEPT
    use_together(full, None, [0], START + 30 * DAY_US)
    assert full.learned == {}, "the first of the three had to make room"
    use_together(full, None, [3], START)
    assert len(full.kept) == subject.WINDOWS_KEPT
    assert 3 not in full.holding, "and so has one that is older than all"
    assert full.taken.bit_length() <= subject.WINDOWS_KEPT + 1


def rows_of(scope: Scope) -> dict[tuple[str, str], EdgeRow]:
    rows = [row_of(scope, change) for change in all_changes(scope) if change.table == "edges"]
    assert not any(isinstance(it, GoneRow) for it in rows)
    return {(it.source, it.target): it for it in rows if isinstance(it, EdgeRow)}


PAIR = (make_id("heron"), make_id("otter"))
OTHERS = [apart(["lynx"], f"o{number}", 0) for number in range(5)]
THRICE = [apart(["heron", "otter"], f"u{number}", 15 * number) for number in range(3)]


def test_a_row_has_either_weight_or_both() -> None:
    both = rows_of(scope_of(*THRICE))[PAIR]
    assert (both.count, both.learned, both.learned_windows) == (3, ONE, 3)
    assert both.learned_at == both.at == START + 30 * MINUTE
    # Forty days later a use of the one alone drops what has decayed, and what was learned stays.
    late = [make_tick(0, START + 40 * DAY_US), apart(["heron", "lynx"], "late", 40 * 24 * 60)]
    rows = rows_of(scope_of(*OTHERS, *THRICE, *late))
    kept = rows[PAIR]
    assert (kept.weight, kept.at, kept.count, kept.learned_windows) == (0, 0, 0, 3)
    assert subject.LEARNED_FROM <= kept.learned < ONE
    once = rows[make_id("heron"), make_id("lynx")]
    assert (once.weight, once.count, once.learned, once.learned_at) == (ONE, 1, 0, 0)


def tie(source: str, target: str, learned: int, *, weight: int = 0, windows: int = 3, at: int = START) -> Tie:
    return Tie(source, target, weight, at, 0, Learned(learned, windows, at))


def test_a_reader_believes_a_learned_weight_for_90_days() -> None:
    names = {"a": "a", "b": "b"}
    edge = tie("a", "b", ONE // 2)
    for now, expected in ((START + subject.SPAN_US, ONE // 2), (START + subject.SPAN_US + 1, 0)):
        assert [it.learned.weight for it in resolved([edge], names, now)] == ([expected] if expected else [])
        assert weight_at(edge, now) == expected


def test_the_stronger_of_the_two_counts_and_the_decaying_one_is_proposed() -> None:
    half, quarter = ONE // 2, ONE // 4
    edges = [tie("a", "b", half, weight=quarter), tie("a", "c", quarter, weight=half), tie("a", "d", ONE)]
    assert [weight_at(it, START) for it in edges] == [ONE // 2, ONE // 2, ONE]
    assert candidates(edges, START) == []
    assert candidates([tie("a", "b", ONE // 5, weight=2 * ONE)], START) != []


def days_ago(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most).map(lambda days: START - days * DAY_US)


ids = st.integers(0, 12).map(str)
lessons = st.builds(Learned, st.integers(0, ONE), st.integers(3, 9), days_ago(99))
any_tie = st.builds(Tie, ids, ids, st.integers(0, 3 * ONE), days_ago(20), st.integers(1, 9), lessons)
ties = st.lists(any_tie, max_size=80)


@given(ties)
def test_six_of_each_kind_stay_and_few_are_proposed_in_any_order(found: list[Tie]) -> None:
    names = {str(number): str(number) for number in range(13)}
    edges = resolved(found, names, START)
    assert edges == resolved(found[::-1], names, START)
    for is_of in ("weight", "learned"):
        held = [it for it in edges if (it.weight if is_of == "weight" else it.learned.weight)]
        assert max(Counter(end for it in held for end in it[:2]).values(), default=0) <= subject.PER_ITEM
    assert all(it.weight or it.learned.weight for it in edges)
    # Each kind is what it would be without the other.
    plain = resolved([it._replace(learned=subject.UNLEARNED) for it in found], names, START)
    assert sorted(it._replace(learned=subject.UNLEARNED) for it in edges if it.weight) == sorted(plain)
    chosen = candidates(edges, START)
    assert len(chosen) <= subject.PROMOTED and all(it.weight >= ONE * 3 // 2 for it in chosen)
    counts = Counter(it.source for it in chosen).values()
    assert max(counts, default=0) <= subject.PROMOTED_PER_SOURCE


def test_a_search_finds_by_what_was_learned_when_the_decaying_weight_is_gone(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", origin="user") as client:
        port, proxy = (client.capture(text) for text in ("Port 8081 is taken", "Nginx restarts at dawn"))
        sent, both = events_of(client.log)[-1].sent, Used(ids=(port.id, proxy.id), recall=None)
        for age, expected in ((91, []), (30, [proxy.id])):
            times = {"at": sent - age * DAY_US, "sent": sent}
            uses = [b.event("used", both, f"{age} {n}", scope="project:a", **times) for n in range(3)]
            client.log.append(uses)
            client.project()
            found = client.search("port 8081").results
            assert [result.id for result in found if "edges" in result.lanes] == expected
            weights = [(edge.weight, edge.learned) for edge in client.edges(port.id).edges]
            assert weights == [(0.0, 1.0)] * len(expected)
