"""The laws that the state must keep: see `docs/architecture.md`, "What must always hold"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from builders import START, captured, configured, histories, slots, unfolded, worlds
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import asdict, replace
from replaying import replay

from memtape.schemas.codec import encode
from memtape.schemas.events import Event, make_tick
from memtape.schemas.log import Slot
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core import partition as partition_state
from memtape.state.core.digests import state_leaves
from memtape.state.core.erasures import erasures_of
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.subjects import memories, paraphrases, validity
from memtape.state.views.pages import page, pages_of
from memtape.state.views.rows import ROWS, all_changes, guarded_rows, row_of


def folded(events: list[Event], whole: list[Event] | None = None) -> Partition:
    """The state of a partition that begins with its settings, and knows what a whole history erases."""
    partition = Partition(0, erasures_of(slots(events if whole is None else whole)))
    fold(partition, slots([configured(), *events]))
    return partition


def leaves(partition: Partition) -> dict[str, str]:
    return state_leaves([partition])


@given(histories(), st.data())
def test_folding_in_two_parts_is_folding_at_once(events: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(events)))
    partition = folded(events[:cut], events)
    fold(partition, slots(events[cut:], start=cut + 1))
    assert leaves(partition) == leaves(folded(events))


@given(histories(max_size=12))
def test_a_snapshot_restored_goes_on_as_if_nothing_had_happened(events: list[Event]) -> None:
    """At every offset: what was restored there ends as what never stopped."""
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    resumed: list[Partition] = []
    for slot in rest:
        kept = snapshot(partition)
        resumed.append(restore(kept))
        assert snapshot(resumed[-1]) == kept
        expected = fold(partition, [slot])
        for again in resumed:
            assert fold(again, [slot]) == expected
    whole = snapshot(partition)
    assert [place for place, again in enumerate(resumed) if snapshot(again) != whole] == []
    assert leaves(partition) == state_leaves(replay(rest).partitions.values())


TAKEN_APART = [captured("one text", name) for name in "abc"] + [unfolded(["c"], 1), unfolded(["b"], 2)]
"""Three captures of one text, of which two are taken out one after the other."""


@example(TAKEN_APART)
@given(histories())
def test_all_that_a_state_holds_beside_its_snapshot_follows_from_it(events: list[Event]) -> None:
    """Indexes are there to be quick: one that grew event by event is the one that a restore makes.

    What a run has met of erased bodies that still stand on the log is no state: every start looks for them.
    """
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    for slot in rest:
        fold(partition, [slot])
        assert held(with_index(partition)) == held(with_index(restore(snapshot(partition))))


def with_index(partition: Partition) -> Partition:
    """A state whose memories are indexed, as when they were compared and `MEMORY.md` was written."""
    for scope in partition.scopes.values():
        scope.leading.births(scope)
        scope.lifecycle.forget_due()
        context = partition_state._context(partition, scope, partition.offset, 0)
        memories._indexed(scope.memories, context)
        validity._sharing_of(scope.validity, "fact", scope)
        paraphrases._indexed(scope.paraphrases, context)
        scope.threads.told(scope)
    partition.met_erased = False
    return partition


def held(value: Any) -> Any:
    """All that an object holds, but for the order of dicts and for what of them is empty."""
    if hasattr(value, "__dict__"):
        value = (asdict(value) if isinstance(value, Struct) else {}) | vars(value)
    if isinstance(value, Mapping):
        return {key: found for key, inner in value.items() if (found := held(inner)) not in ({}, [], ())}
    return value


@given(histories(), st.data())
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
        source = rest_a if rest_a and (not rest_b or random.random() < 0.5) else rest_b  # type: ignore
        mixed.append(source.pop(0))
    both, alone = leaves(folded(mixed)), leaves(folded(a))
    assert {name: both[name] for name in alone} == alone


@given(histories())
def test_bad_bytes_stop_nothing(events: list[Event]) -> None:
    good = [encode(event) for event in [configured(), *events]]
    payloads = [bytes for payload in good for bytes in (payload, b'{"half an event', b"\xff\xfe")]
    replayed = replay(Slot(0, offset, payload) for offset, payload in enumerate(payloads))
    assert replayed.state_hash == replay(slots([configured(), *events])).state_hash
    assert len(replayed.dead_letters) == 2 * len(good)


@given(worlds())
def test_blank_events_count_and_say_nothing(events: list[Event]) -> None:
    """An erased event keeps its header, id and seq: the others stand where they stood."""
    scope = folded([replace(event, body=None) for event in events]).scopes.get("project:test")
    assert (scope.seq if scope else 0) == len({event.id for event in events})
    assert not scope or not scope.captures.by_seq


@given(histories(), st.data())
def test_what_changed_is_all_that_changed(events: list[Event], data: st.DataObject) -> None:
    """Rows and pages kept from the changes alone equal those of the whole state, for any batching."""
    rest = slots([configured(), *events])
    partition = Partition(0, erasures_of(rest))
    rows: dict[object, object] = {}
    pages: dict[object, object] = {}
    while rest:
        size = data.draw(st.integers(1, 7))
        batch, rest = rest[:size], rest[size:]
        changes = fold(partition, batch)
        rows |= {(it.table, it.row.key): it.row for it in guarded_rows(partition, changes)}
        pages |= {(found.scope, found.path): found for found in pages_of(partition, changes)}
    for scope in partition.scopes.values():
        expected = all_changes(scope)
        for change in expected:
            if change.table in ROWS:
                row = row_of(scope, change)
                assert rows.pop((change.table, row.key)) == row
        for found in pages_of(partition, expected):
            kept = pages.pop((found.scope, found.path), None)
            assert kept == found or (kept is None and not found.text)  # An empty page is none.
        for leftover in list(pages.values()):
            assert page(scope, leftover.path, partition.settings) == leftover  # type: ignore[attr-defined]
    assert all(type(row).__name__ == "GoneRow" for row in rows.values())


def test_the_clock_only_moves_by_ticks_and_clamps_the_future() -> None:
    later = START + 10 * DAY_US
    partition = folded([captured("late", sent=later)])
    assert partition.clock == START
    assert partition.scopes["project:test"].captures.by_seq[0].at == START + HOUR_US
    fold(partition, slots([make_tick(0, later), captured("then", sent=later)], start=9))
    assert partition.scopes["project:test"].captures.by_seq[1].at == later
    jump = START + 500 * DAY_US
    fold(partition, slots([make_tick(0, jump)], start=20))
    assert partition.clock < START + 11 * DAY_US
    assert partition.counters.ignored == 1
    fold(partition, slots([make_tick(0, jump, accepted=True)], start=21))
    assert partition.clock == jump // HOUR_US * HOUR_US
