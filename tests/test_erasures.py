"""The laws of erasing: what is erased counts as if it had never been said, before and after it on the log."""

from __future__ import annotations

import builders
import pytest
from builders import MINUTE, START, captured, configured, erased, forgotten, make_id, recalled, slots
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from replaying import replay
from test_model import rows_differ, told

from memtape.schemas.codec import blanked, decode, encode
from memtape.schemas.errors import InvalidEvent
from memtape.schemas.events import Captured, Event, Recalled
from memtape.schemas.log import Slot
from memtape.state.core.digests import state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.views.pages import pages_of
from memtape.state.views.rows import ROWS, all_changes, row_of


def leaves(events: list[Event]) -> dict[str, str]:
    """The logical state of a log of one partition."""
    return state_leaves(replay(slots([configured(), *events])).partitions.values())


def blank(events: list[Event], ids: list[str]) -> list[Event]:
    return [replace(it, body=None) if it.id in ids and it.type != "erased" else it for it in events]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Event], list[str]]:
    """A world, with `erased` events of captures and recalls that were, come later or never; and ids."""
    events = draw(builders.worlds())
    ids: list[object] = []
    known = [it.id for it in events if isinstance(it.body, (Captured, Recalled))]
    for number in range(draw(st.integers(1, 3))):
        named: list[object] = draw(st.lists(st.integers(0, 30), max_size=3))
        made = erased(named, f"e{number}", sent=START + 10_000 * MINUTE)
        if known:
            others = tuple(draw(st.lists(st.sampled_from(known), max_size=3)))
            made = replace(made, body=replace(made.body, ids=(*made.body.ids, *others)))
        assert made.body is not None
        ids += made.body.ids
        events.insert(draw(st.integers(0, len(events))), made)
    return events, [str(id) for id in ids]


# B joined A, C joined B's memory since its canonical text was B's, and was never like A; then B is erased.
CHAIN = [captured("The staging database listens on port 5433", 0, origin="agent"),
    captured("The staging db listens on port 5433", 1, origin="operator", sent=START + MINUTE),
    captured("the staging db listens on port 5433.", 2, origin="user", sent=START + 2 * MINUTE),
    forgotten([1], "f", sent=START + 3 * MINUTE), recalled([1], "r", session="s1", sent=START + 4 * MINUTE),
    captured("The staging database listens on port 5433", 3, origin="agent", session="s1")]  # fmt: skip


@given(histories())
@example(([*CHAIN, erased([1], "e")], [make_id(1)]))
@example(([*CHAIN, erased([0], "e")], [make_id(0)]))
@example(([*CHAIN, erased(["r"], "e")], [make_id("r")]))
def test_erasing_is_folding_a_log_whose_slots_are_blank(history: tuple[list[Event], list[str]]) -> None:
    events, ids = history
    assert leaves(events) == leaves(blank(events, ids))


# The third derives from the first only by way of the second, whose body may be gone by then.
DERIVED = [erased([0], "e"), captured("The staging database is called Harbour.", 0),
           replace(captured("It is called Harbour.", 1), refs=(make_id(0),)),
           replace(captured("Harbour.", 2), refs=(make_id(1),))]  # fmt: skip


@given(builders.histories())
@example(DERIVED)
def test_a_log_means_the_same_after_its_erased_bodies_are_gone(events: list[Event]) -> None:
    """Also where only those up to some offset are gone, as when more comes after they were taken out."""
    log = slots([configured(), *events])
    whole = leaves(events)
    erasures = erasures_of(log)
    gone: list[Slot] = []
    for place, slot in enumerate(log):
        if erasures.covers(decode(slot.payload)):
            gone.append(Slot(slot.partition, slot.offset, blanked(slot.payload)))
            assert state_leaves(replay([*gone, *log[place + 1 :]]).partitions.values()) == whole
        else:
            gone.append(slot)


@given(histories())
def test_what_is_erased_is_what_the_model_says(history: tuple[list[Event], list[str]]) -> None:
    log = slots([configured(), *history[0]])
    differs = rows_differ(told(log, 1), replay(log).partitions.values())
    assert not differs, differs


@given(histories())
def test_no_row_page_or_snapshot_holds_what_was_erased(history: tuple[list[Event], list[str]]) -> None:
    events, ids = history
    named = [it for it in events if isinstance(it.body, Captured) and it.id in ids]
    marks = {it.id: replace(it, body=replace(it.body, text=f"{it.body.text} ZQJXK")) for it in named}
    marked = [marks[it.id] if it in named else it for it in events]
    (state,) = replay(slots([configured(), *marked])).partitions.values()
    changes = [(scope, it) for scope in state.scopes.values() for it in all_changes(scope)]
    shown = [row_of(scope, it) for scope, it in changes if it.table in ROWS]
    pages = [page for scope in state.scopes.values() for page in pages_of(state, all_changes(scope))]
    assert b"ZQJXK" not in snapshot(state) + repr((shown, pages)).encode()


@given(histories(), st.data())
def test_a_reader_that_meets_an_erasure_knows_that_its_state_is_stale(
    history: tuple[list[Event], list[str]], data: st.DataObject
) -> None:
    """And one that knew it from the start goes on from a snapshot as if nothing had happened."""
    log = slots([configured(), *history[0]])
    unaware, aware = Partition(0), Partition(0, erasures_of(log))
    fold(unaware, log)
    assert unaware.stale is bool(history[1])
    cut = data.draw(st.integers(0, len(log)))
    fold(aware, log[:cut])
    aware = restore(snapshot(aware))
    fold(aware, log[cut:])
    assert not aware.stale
    assert state_leaves([aware]) == leaves(history[0])


def test_what_derives_from_an_erased_event_is_erased_however_late_it_comes() -> None:
    first = captured("The first.", "first")
    second = replace(captured("Said of the first.", "second"), refs=(make_id("first"),))
    third = replace(captured("Said of the second.", "third"), refs=(make_id("second"),))
    apart = captured("Something else.", "apart")
    said = [first, erased(["first"], "e"), second, third, apart]
    state = builders.partition_of(*said)
    assert [it.id for it in state.scopes["project:test"].captures.by_seq.values()] == [make_id("apart")]


@given(histories(), st.data())
def test_an_erasure_whose_id_stood_before_changes_nothing(
    history: tuple[list[Event], list[str]], data: st.DataObject
) -> None:
    """Whatever type of event had the id, and whether or not the reader has it from a snapshot."""
    events, _ = history
    place = data.draw(st.integers(1, len(events)))
    first = data.draw(st.sampled_from(events[:place]))
    named = data.draw(st.lists(st.sampled_from([it.id for it in events]), min_size=1, max_size=3))
    repeated = replace(erased([], "e", scope=first.scope), id=first.id)
    repeated = replace(repeated, body=replace(repeated.body, ids=tuple(named)))
    log = slots([configured(), *events[:place], repeated, *events[place:]])
    assert state_leaves(replay(log).partitions.values()) == leaves(events)
    aware = Partition(0, erasures_of(log))
    fold(aware, log[: place + 1])
    aware = restore(snapshot(aware))
    fold(aware, log[place + 1 :])
    assert not aware.stale and state_leaves([aware]) == leaves(events)


def test_nobody_but_an_operator_erases_in_global() -> None:
    said = captured("Known to all.", "it", scope="global", origin="operator")
    for origin, gone in (("agent", False), ("operator", True)):
        erasing = erased(["it"], "e", scope="global", origin=origin)
        (state,) = replay(slots([configured(), said, erasing])).partitions.values()
        assert (not state.scopes["global"].captures.by_seq) is gone


def test_an_event_of_any_type_can_be_blank_except_an_erasure() -> None:
    encode(builders.event("captured", None, "x"))
    with pytest.raises(InvalidEvent, match="cannot be blank"):
        encode(builders.event("erased", None, "x"))
