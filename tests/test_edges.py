"""What is used together is linked: windows of a session, weights that decay, caps, walks, and who may see them."""

from __future__ import annotations

from pathlib import Path

import msgspec
from builders import MINUTE, START, captured, configured, forgotten, make_id, restored, slots, unfolded, used
from hypothesis import example, given
from hypothesis import strategies as st
from replaying import replay

from memtape import Client
from memtape.schemas.events import Event
from memtape.schemas.rows import MemoryPage
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core.scope import Scope
from memtape.state.subjects.edges import (
    PER_ITEM,
    PROMOTED,
    PROMOTED_PER_SOURCE,
    PRUNED_BELOW,
    WINDOW_ITEMS,
    Edges,
    Tie,
    candidates,
    resolved,
    use_together,
)
from memtape.state.subjects.weights import ONE, decayed
from memtape.state.views.pages import page
from memtape.state.views.rows import all_changes
from memtape.tools.keep.erasing import plan

FACTS = [captured(f"Fact {name} {name}", name) for name in ("heron", "otter", "lynx", "marten", "stoat")]


def together(ids: list[object], id: object, minute: int, session: str | None = "s") -> Event:
    return used(ids, id, session=session, sent=START + minute * MINUTE)


def scope_of(*events: Event) -> Scope:
    (state,) = replay(slots([configured(), *FACTS, *events])).partitions.values()
    return state.scopes["project:test"]


def linked(scope: Scope) -> dict[tuple[int, int], int]:
    return {pair: edge.count for pair, edge in scope.edges.pairs.items()}


def links_of(scope: Scope, name: str) -> list[str]:
    """Return what the vault says that a memory was used with."""
    found = page(scope, "memories/001.md", Settings())
    assert isinstance(found, MemoryPage)
    names = {fact.id: str(fact.body.text).split()[1] for fact in FACTS}  # type: ignore[union-attr]
    return [names[id] for id, _ in found.links.get(make_id(name), ())]


def test_a_window_closes_by_a_later_use_of_any_session_and_not_by_the_end_of_the_log() -> None:
    late = used(["otter"], "u3", session="s", at=START + MINUTE, sent=START + 50 * MINUTE)
    open_still = [together(["heron"], "u1", 0), late]
    closed = [together(["heron"], "u1", 0), together(["lynx"], "u2", 40, "t"), late]
    assert linked(scope_of(*open_still)) == {(0, 1): 1}
    assert linked(scope_of(*closed)) == {}


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str | None, list[int], int]]:
    """Uses (session, seqs, minute) of five captures in order of time, so that no cap is met."""
    minutes = sorted(draw(st.lists(st.integers(0, 12_000), max_size=25)))
    return [
        (draw(st.sampled_from(("s", "t", None))), draw(st.lists(st.integers(0, 4), max_size=3, unique=True)), minute)
        for minute in minutes
    ]


@given(histories(), st.integers(0, 20_000))
@example([("s", [], 0), ("s", [0, 1], 1), ("s", [0, 1], 30)], 0)
def test_a_weight_is_what_each_use_is_still_worth(history: list[tuple[str | None, list[int], int]], later: int) -> None:
    """By its definition: one for each pair of each window, halved every three days since the pair was complete."""
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
    assert kept(state) == state
    for pair, times in expected.items():
        worth = sum(decayed(ONE, now - at) for at in times)
        edge = state.pairs.get(pair)
        if edge is None:  # What weighed less than a hundredth may be gone.
            assert sum(decayed(ONE, history[-1][2] * MINUTE - at) for at in times) < 2 * PRUNED_BELOW
        else:
            # An edge that was dropped begins again, and each event rounds once.
            assert abs(decayed(edge.weight, now - edge.at) - worth) <= 2 * PRUNED_BELOW + len(times)
    assert state.pairs.keys() <= expected.keys()


def kept(state: Edges) -> Edges:
    """Return what a snapshot keeps of a state."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(state), type=Edges)


def test_who_names_hundreds_links_a_few() -> None:
    state = Edges()
    use_together(state, "s", range(5_000), 0)
    assert len(state.windows["s"].seqs) == WINDOW_ITEMS
    assert len(state.pairs) <= WINDOW_ITEMS * PER_ITEM


def test_edges_are_kept_by_capture_and_resolved_to_memories() -> None:
    again = captured("Fact heron heron", "again", sent=START + MINUTE)
    events = [again, together(["again", "otter"], "u1", 2), together(["heron", "again"], "u2", 2, "t")]
    folded, split = scope_of(*events), scope_of(*events, unfolded(["again"], "x"))
    assert linked(folded) == linked(split) == {(1, 5): 1, (0, 5): 1}
    assert (links_of(folded, "heron"), links_of(folded, "otter")) == (["otter"], ["heron"])
    assert [change.id for change in all_changes(folded) if change.table == "edges"] == [
        change.id for change in all_changes(split) if change.table == "edges"
    ]


def test_the_vault_links_living_memories_the_strongest_first() -> None:
    pairs = [together(["heron", "otter"], "u1", 0, "a"), together(["heron", "lynx"], "u2", 1, "b")]
    events = [*pairs, together(["heron", "lynx"], "u3", 60, "c")]
    assert links_of(scope_of(*events), "heron") == ["lynx", "otter"]
    hidden = [*events, forgotten(["lynx"], "f", sent=START + 70 * MINUTE)]
    assert links_of(scope_of(*hidden), "heron") == ["otter"]
    back = [*hidden, restored(["lynx"], "b", sent=START + 71 * MINUTE)]
    assert links_of(scope_of(*back), "heron") == ["lynx", "otter"]


def test_a_link_to_another_page_follows_what_happens_there() -> None:
    """Only the page of the other memory is named by a change of its own, so that this one must be named too."""
    from memtape.state.core.partition import Partition, fold
    from memtape.state.views.pages import pages_of
    from memtape.state.views.standing_pages import MEMORIES_PER_PAGE

    partition = Partition(0)
    many = [captured(f"Fact number {n} of many", n, "document") for n in range(MEMORIES_PER_PAGE)]
    pair = [captured("The far one", "far"), together(["heron", "far"], "u", 1)]
    before = slots([configured(), *FACTS, *many, *pair])
    fold(partition, before)
    hide, show = forgotten(["far"], "f"), restored(["far"], "b")
    for event, linked_to in ((hide, []), (show, [(make_id("far"), "memories/002.md")])):
        changes = fold(partition, slots([event], start=partition.offset)).changes
        (first,) = [it for it in pages_of(partition, changes) if it.path == "memories/001.md"]
        assert isinstance(first, MemoryPage)
        assert list(first.links.get(make_id("heron"), ())) == linked_to


def test_what_may_not_be_seen_and_what_joins_a_memory_with_itself_is_not_there() -> None:
    now = START
    ties = [Tie("a", "b", ONE, now), Tie("a", "c", ONE, now), Tie("a", "hidden", ONE, now), Tie("b", "c", ONE, now)]
    found = resolved(ties, {"a": "a", "b": "b", "c": "b"}, now)
    assert found == [Tie("a", "b", 2 * ONE, now, 2)]
    assert resolved(ties, {"a": "a", "b": "a"}, now) == []
    assert resolved([Tie("a", "b", ONE, now - 20 * DAY_US)], {"a": "a", "b": "b"}, now) == []


ids = st.integers(0, 40).map(str)
ties = st.lists(
    st.tuples(ids, ids, st.integers(1, 3 * ONE), st.integers(0, 20 * 24)).map(
        lambda it: Tie(it[0], it[1], it[2], START - it[3] * HOUR_US)
    ),
    max_size=200,
)


@given(ties)
def test_what_is_proposed_keeps_its_limits_in_any_order(found: list[Tie]) -> None:
    names = {str(number): str(number) for number in range(41)}
    edges = resolved(found, names, START)
    assert edges == resolved(found[::-1], names, START)
    held = [end for tie in edges for end in (tie.source, tie.target)]
    assert all(held.count(end) <= PER_ITEM for end in held)
    chosen = candidates(edges, START)
    assert len(chosen) <= PROMOTED
    assert all(tie.weight >= ONE * 3 // 2 for tie in chosen)
    sources = [tie.source for tie in chosen]
    assert all(sources.count(source) <= PROMOTED_PER_SOURCE for source in sources)


def test_a_client_shows_edges_as_of_now_and_as_of_then_and_none_of_what_is_erased(tmp_path: Path) -> None:
    with Client(tmp_path, scope="project:a", actor="Ada", origin="user", session="s") as memory:
        port, proxy, third = (memory.capture(text).id for text in ("Port 8081", "The proxy", "A third *thing*"))
        before = ",".join(f"{number}:{end}" for number, end in enumerate(memory.log.ends()))
        memory.use([port, proxy])
        memory.use([third])
        found = memory.edges(port)
        assert {edge.target.id for edge in found.edges} == {proxy, third}
        assert all(0.99 < edge.weight <= 1 and edge.source.id == port for edge in found.edges)
        assert memory.edges(port, as_of=before).edges == ()
        assert memory.edges().edges == ()
        # Another window: two uses together, a moment ago, weigh more than 1.5.
        with Client(tmp_path, scope="project:a", origin="user", session="t") as other:
            other.use([port, proxy])
        (proposed,) = memory.edges().edges
        assert {proposed.source.id, proposed.target.id} == {port, proxy}
        assert proposed.windows == 2
        memory.forget(proxy)
        assert [edge.target.id for edge in memory.edges(port).edges] == [third]
        assert memory.edges().edges == ()
        memory.project()
        text = (memory.home.vault / "projects" / "a" / "memories" / "001.md").read_text()
        assert f"used with [`{third}`](001.md)" in text
        assert proxy not in text
        assert memory.verify().ok
        erasure = memory.erase(plan(memory.home, memory.log, "project:a", [third], only=False))
        assert erasure.before is not None and erasure.ok
        places = {place.path.split(".lance")[0].rpartition("/")[2] for place in erasure.before.found}
        assert {"uses", "edges", "memories"} <= places, "the search sees these tables"
        assert memory.edges(port).edges == () and memory.verify().ok
