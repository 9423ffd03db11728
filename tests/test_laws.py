"""The laws that the state must keep whatever happened: see `docs/architecture.md`, "What must always hold"."""

from __future__ import annotations

from builders import START, captured, configured, dense_worlds, slots, worlds
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.codec import encode
from memtape.schemas.events import Event
from memtape.schemas.log import Slot
from memtape.state.core.digests import state_leaves
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.replay import replay
from memtape.state.views.rows import all_changes, guarded_rows, page, pages_of, row_of

histories = st.one_of(worlds(), dense_worlds())


def folded(events: list[Event]) -> Partition:
    """The state of a partition that begins with its settings."""
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    return partition


def leaves(partition: Partition) -> dict[str, str]:
    return state_leaves([partition])


@given(histories, st.data())
def test_folding_in_two_parts_is_folding_at_once(events: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(events)))
    partition = folded(events[:cut])
    fold(partition, slots(events[cut:], start=cut + 1))
    assert leaves(partition) == leaves(folded(events))


@given(histories, st.data())
def test_a_snapshot_restored_goes_on_as_if_nothing_had_happened(events: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(events)))
    partition = folded(events[:cut])
    again = restore(snapshot(partition))
    assert snapshot(again) == snapshot(partition)
    rest = slots(events[cut:], start=cut + 1)
    assert fold(again, rest) == fold(partition, rest)
    assert snapshot(again) == snapshot(partition)
    assert leaves(again) == leaves(folded(events))


@given(histories, st.data())
def test_a_duplicated_event_changes_nothing(events: list[Event], data: st.DataObject) -> None:
    doubled = list(events)
    for place in sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)), reverse=True):
        if place:
            doubled.insert(data.draw(st.integers(place, len(doubled))), events[place - 1])
    assert leaves(folded(doubled)) == leaves(folded(events))


@given(worlds("project:a"), worlds("project:b"), st.randoms(use_true_random=False))
def test_scopes_do_not_see_each_other(a: list[Event], b: list[Event], random: object) -> None:
    mixed, rest_a, rest_b = [], list(a), list(b)
    while rest_a or rest_b:
        source = rest_a if rest_a and (not rest_b or random.random() < 0.5) else rest_b  # type: ignore[attr-defined]
        mixed.append(source.pop(0))
    both, alone = leaves(folded(mixed)), leaves(folded(a))
    assert {name: both[name] for name in alone} == alone


@given(histories)
def test_bad_bytes_stop_nothing(events: list[Event]) -> None:
    good = [encode(event) for event in [configured(), *events]]
    payloads = [bytes for payload in good for bytes in (payload, b'{"half an event', b"\xff\xfe")]
    replayed = replay(Slot(0, offset, payload) for offset, payload in enumerate(payloads))
    assert replayed.state_hash == replay(slots([configured(), *events])).state_hash
    assert len(replayed.dead_letters) == 2 * len(good)


@given(worlds())
def test_blank_events_count_and_say_nothing(events: list[Event]) -> None:
    """An erased event keeps its header, id and seq: the others stand where they stood."""
    import msgspec

    blank = [msgspec.structs.replace(event, body=None) for event in events]
    partition = folded(blank)
    scope = partition.scopes.get("project:test")
    unique = len({event.id for event in events})
    assert (scope.seq if scope else 0) == unique
    assert not scope or not scope.captures.by_seq


@given(histories, st.data())
def test_what_changed_is_all_that_changed(events: list[Event], data: st.DataObject) -> None:
    """Rows and pages kept from the changes alone equal those of the whole state, for any batching."""
    partition = Partition(0)
    rows: dict[object, object] = {}
    pages: dict[object, object] = {}
    rest = slots([configured(), *events])
    while rest:
        size = data.draw(st.integers(1, 7))
        batch, rest = rest[:size], rest[size:]
        changes = fold(partition, batch).changes
        rows |= {(guarded.table, guarded.row.key): guarded.row for guarded in guarded_rows(partition, changes)}
        pages |= {(found.scope, found.path): found for found in pages_of(partition, changes)}
    for scope in partition.scopes.values():
        expected = all_changes(scope)
        for change in expected:
            if change.table != "journal":
                row = row_of(scope, change)
                assert rows.pop((change.table, row.key)) == row
        for found in pages_of(partition, expected):
            assert pages.pop((found.scope, found.path)) == found
        for leftover in list(pages.values()):
            assert page(scope, leftover.path, partition.settings) == leftover  # type: ignore[attr-defined]
    assert all(type(row).__name__ == "GoneRow" for row in rows.values())


def test_the_clock_only_moves_by_ticks_and_clamps_the_future() -> None:
    from memtape.schemas.events import make_tick
    from memtape.schemas.times import DAY_US, HOUR_US

    late = captured("late", sent=START + 10 * DAY_US)
    partition = folded([late])
    assert partition.clock == START
    assert partition.scopes["project:test"].captures.by_seq[0].at == START + HOUR_US
    fold(partition, slots([make_tick(0, START + 10 * DAY_US), captured("then", sent=START + 10 * DAY_US)], start=9))
    assert partition.scopes["project:test"].captures.by_seq[1].at == START + 10 * DAY_US
    jump = START + 500 * DAY_US
    fold(partition, slots([make_tick(0, jump)], start=20))
    assert partition.clock < START + 11 * DAY_US
    assert partition.counters.ignored == 1
    fold(partition, slots([make_tick(0, jump, accepted=True)], start=21))
    assert partition.clock == jump // HOUR_US * HOUR_US
