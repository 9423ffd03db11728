"""What folds, what is an echo, what is hidden: the rule of `docs/architecture.md`, case by case."""

from __future__ import annotations

from typing import Any

import pytest
from builders import MINUTE, START, captured, configured, forgotten, make_id, recalled, restored, slots
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.events import Event
from memtape.schemas.lanes import unasked_lanes
from memtape.schemas.rows import Change, MemoryRow
from memtape.schemas.settings import Settings
from memtape.state.core.partition import Partition, fold, restore, snapshot
from memtape.state.core.scope import Scope
from memtape.state.fold.candidates import Candidates
from memtape.state.subjects.recalls import SESSIONS
from memtape.state.views.rows import row_of


def world(*events: Event, settings: Settings | None = None) -> Scope:
    partition = Partition(0)
    fold(partition, slots([configured(settings), *events]))
    return partition.scopes["project:test"]


def memories(scope: Scope) -> list[MemoryRow]:
    """Every memory of a scope, hidden ones too, in the order of births."""
    rows = []
    for memory in scope.memories.by_birth.values():
        row = row_of(scope, Change("memories", scope.name, scope.captures.by_seq[memory.name].id))
        assert isinstance(row, MemoryRow)
        rows.append(row)
    return rows


def only(scope: Scope) -> MemoryRow:
    (row,) = memories(scope)
    return row


def test_the_canonical_text_is_the_most_trusted_then_the_latest() -> None:
    row = only(
        world(
            captured("The repo uses tabs", 1, origin="user"),
            captured("the repository uses tabs", 2, origin="agent", sent=START + MINUTE),
        )
    )
    assert row.text == "The repo uses tabs"
    row = only(world(captured("Use tabs", 1), captured("use tabs", 2, sent=START + MINUTE)))
    assert row.text == "use tabs"
    assert row.id == make_id(1)


ECHO: dict[str, Any] = {"session": "s", "origin": "agent", "sent": START + 2 * MINUTE}


@pytest.mark.parametrize(
    ("changed", "echoes", "confirmations"),
    [
        ({}, 1, 0),
        ({"origin": "tool"}, 1, 0),
        ({"origin": "model"}, 1, 0),
        ({"origin": "user"}, 0, 1),
        ({"origin": "operator"}, 0, 1),
        ({"session": "another"}, 0, 1),
        ({"session": None}, 0, 1),
        ({"sent": START + 31 * MINUTE}, 1, 0),
        ({"sent": START + 32 * MINUTE}, 0, 1),
        ({"at": START}, 0, 1),
    ],
)
def test_an_agent_repeating_what_it_was_just_shown_is_an_echo(
    changed: dict[str, Any], echoes: int, confirmations: int
) -> None:
    scope = world(
        captured("Use tabs.", 1),
        recalled([1], "r", session="s", sent=START + MINUTE),
        captured("use tabs", 2, **(ECHO | changed)),
    )
    row = only(scope)
    assert (len(row.echoes), row.confirmations) == (echoes, confirmations)
    assert row.ids == (make_id(1), make_id(2))


def test_only_the_last_three_recalls_make_an_echo() -> None:
    recalls = [recalled([1] if n == 0 else [], f"r{n}", session="s", sent=START + MINUTE) for n in range(4)]
    assert len(only(world(captured("Use tabs.", 1), *recalls[:3], captured("use tabs", 2, **ECHO))).echoes) == 1
    assert len(only(world(captured("Use tabs.", 1), *recalls, captured("use tabs", 2, **ECHO))).echoes) == 0


GIVEN_AT_START: dict[str, Any] = {"lanes": unasked_lanes("start", 900), "query": "", "session": "s"}


def test_what_a_start_has_told_is_an_echo_as_long_as_the_session_lasts() -> None:
    start = recalled([1], "start", sent=START + MINUTE, **GIVEN_AT_START)
    resumed = recalled([], "resumed", sent=START + 2 * MINUTE, **GIVEN_AT_START)
    searches = [recalled([], f"r{n}", session="s", sent=START + 3 * MINUTE) for n in range(4)]
    late = ECHO | {"sent": START + 50 * MINUTE}
    told = world(captured("Use tabs.", 1), start, resumed, *searches, captured("use tabs", 2, **late))
    assert (len(only(told).echoes), only(told).confirmations) == (1, 0)
    for other in ({"origin": "user"}, {"session": "another"}, {"at": START}):
        said = captured("use tabs", 2, **(late | other))
        assert len(only(world(captured("Use tabs.", 1), start, said)).echoes) == 0


def test_starts_push_no_recall_out_of_what_makes_an_echo() -> None:
    starts = [recalled([], f"start {n}", sent=START + MINUTE, **GIVEN_AT_START) for n in range(5)]
    search = recalled([1], "r", session="s", sent=START + MINUTE)
    assert len(only(world(captured("Use tabs.", 1), search, *starts, captured("use tabs", 2, **ECHO))).echoes) == 1


def test_an_id_may_be_forgotten_before_it_comes() -> None:
    events = [forgotten([1, 2], "f"), captured("Use tabs.", 1), captured("Hello.", 2, "turn")]
    scope = world(*events)
    assert all(capture.hidden for capture in scope.captures.by_seq.values())
    assert only(world(*events, captured("use tabs.", 3))).hidden
    scope = world(forgotten([1], "f"), restored([1], "u"), captured("Use tabs.", 1))
    assert not only(scope).hidden


def test_dead_members_are_never_name_canonical_or_candidate() -> None:
    events = [
        captured("The repo uses tabs", 1, origin="operator"),
        captured("The repository uses tabs", 2),
        forgotten([1], "f"),
    ]
    row = only(world(*events))
    assert (row.id, row.text, row.hidden, row.confirmations) == (make_id(2), "The repository uses tabs", False, 0)
    assert only(world(*events, restored([1], "u"))).id == make_id(1)
    # With nothing of a memory alive, a similar text finds no candidate, and the very text still joins.
    dead = [captured("The repo uses tabs", 1), forgotten([1], "f")]
    assert len(memories(world(*dead, captured("The repository uses tabs", 2)))) == 2
    assert only(world(*dead, captured("the repo uses tabs", 2))).hidden


def test_global_belongs_to_operators() -> None:
    partition = Partition(0)
    events = [
        captured("from an agent", 1, scope="global", origin="agent"),
        captured("from one", 2, scope="global", origin="operator"),
    ]
    fold(partition, slots([configured(), *events]))
    scope = partition.scopes["global"]
    assert [scope.captures.body(capture).text for capture in scope.captures.by_seq.values()] == ["from one"]
    assert partition.counters.ignored == 1


def test_recalls_are_kept_of_the_sessions_that_recalled_last_also_after_a_restore() -> None:
    """A session that recalls again is among the last, and a restored state gives up the same session as the other."""
    said = captured("Use tabs.", "it")
    shown = [recalled(["it"], f"r{n}", session=f"s{n}", sent=START + n) for n in range(SESSIONS)]
    again = recalled(["it"], "again", session="s0", sent=START + SESSIONS)
    more = recalled(["it"], "more", session="another", sent=START + SESSIONS)
    partition = Partition(0)
    fold(partition, slots([configured(), said, *shown, again]))
    other = restore(snapshot(partition))
    for state in (partition, other):
        fold(state, slots([more], start=SESSIONS + 3))
        kept = state.scopes["project:test"].recalls.latest
        assert len(kept) == SESSIONS and "s0" in kept and "another" in kept and "s1" not in kept
        echo = captured("use tabs", "echo", origin="agent", session="s0", sent=START + MINUTE)
        fold(state, slots([echo], start=SESSIONS + 4))
        (memory,) = state.scopes["project:test"].memories.by_birth.values()
        assert [join.how for join in memory.echoes] == ["echo"]
    assert snapshot(partition) == snapshot(other)


def test_a_second_event_of_an_id_is_counted_and_changes_nothing() -> None:
    partition = Partition(0)
    first = captured("Use tabs.", 1)
    fold(partition, slots([configured(), first, first, captured("Use spaces.", 1)]))
    assert (partition.counters.events, partition.counters.duplicates, partition.counters.divergent) == (1, 1, 1)
    assert partition.scopes["project:test"].seq == 1


@pytest.mark.parametrize(("given", "again"), [(0, 7), (-5, 7), (0, -5), (-5, -6)])
def test_a_time_makes_no_repetition_another_event(given: int, again: int) -> None:
    partition = Partition(0)
    first = captured("Use tabs.", 1, at=START + given)
    repeated = captured("Use tabs.", 1, at=START + again, sent=START + 7)
    fold(partition, slots([configured(), first, repeated]))
    assert (partition.counters.duplicates, partition.counters.divergent) == (1, 0)


@given(st.permutations(range(5)))
def test_a_verdict_does_not_depend_on_the_order_in_which_texts_were_put(order: list[int]) -> None:
    texts = (
        "The build takes 5 minutes",
        "The build takes 6 minutes on CI",
        "The deploy takes 7 minutes",
        "The build takes 9 minutes",
        "Five minutes is what the build takes",
    )
    candidates = Candidates()
    for birth in order:
        candidates.put(birth, texts[birth], birth)
    assert candidates.judge("the build takes five minutes!")[:2] == ("similar", 0)
    assert candidates.judge("The build takes 8 minutes").how == "new"
