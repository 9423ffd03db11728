"""What people are told of aging adds up, is what a tick then does, and changes nothing by being told."""

from __future__ import annotations

from collections import Counter

import builders
import pytest
from builders import START, archived, captured, histories, partition_of, slots, used
from builders import scope_of as world
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from memtape.schemas.events import Event, make_tick
from memtape.schemas.settings import Settings
from memtape.schemas.times import DAY_US, HOUR_US
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.subjects.lifecycle import MOST_A_PASS, units_of
from memtape.state.views.ages import next_pass, standing, to_be_archived

QUICK = Settings(
    mid_after_days=0, long_after_days=0, mid_retention_hundredths=60, long_retention_hundredths=45,
    archive_after_days=2, purge_after_days=1, dormant_after_days=3,
)  # fmt: skip
NOW = START // HOUR_US * HOUR_US


def tick(days: float) -> Event:
    return make_tick(0, START + int(days * DAY_US))


def said(count: int, kind: str = "fact", day: int = 0, **fields: object) -> list[Event]:
    texts = [f"Harbour {kind} {day} number {n} has {n * 7 + 3} boats." for n in range(count)]
    at = START + day * DAY_US
    return [captured(text, kind=kind, sent=at + n, **fields) for n, text in enumerate(texts)]


def counted(scope: Scope, settings: Settings, at: int) -> None:
    """Every count adds up to the texts that there are."""
    total = len(list(units_of(scope)))
    here, would = standing(scope), next_pass(scope, settings, at)
    tiers = (here.short, here.mid, here.long, here.archived, here.purged)
    assert sum(tiers) + sum(here.apart.values()) == here.total == total
    assert sum(move.count for move in would.moves) == would.moving
    assert would.moving <= would.total == total
    life = scope.lifecycle
    mark, at_hand = life.mark(), Counter(life.tier(it) for it in units_of(scope) if it not in life.archived)
    assert (mark.archived - mark.purged, mark.purged) == (here.archived, here.purged)
    assert (mark.mid, mark.long) == (at_hand["mid"], at_hand["long"])
    assert msgpack.decode(msgpack.encode(scope), type=Scope).lifecycle.mark() == mark


@given(histories(), st.lists(st.integers(0, 9), max_size=6), st.booleans(), st.integers(0, 400))
def test_counts_add_up_to_all_texts(events: list[Event], days: list[int], quick: bool, ahead: int) -> None:
    settings = QUICK if quick else Settings()
    partition = partition_of(*events, *(tick(day) for day in sorted(days)), settings=settings)
    for scope in partition.scopes.values():
        counted(scope, settings, (partition.clock or START) + ahead * DAY_US)


def hour_after(partition: Partition, days: int) -> int:
    """Return the hour that is so many days after the clock's next."""
    return ((partition.clock or 0) // HOUR_US + 1 + 24 * days) * HOUR_US


@given(builders.worlds(), st.lists(st.integers(0, 30), max_size=5), st.integers(0, 30))
def test_a_dry_run_changes_nothing_and_says_what_the_tick_then_does(
    events: list[Event], days: list[int], ahead: int
) -> None:
    partition = partition_of(*events, *(tick(day) for day in sorted(days)), settings=QUICK)
    if "project:test" not in partition.scopes:
        return
    scope, at = partition.scopes["project:test"], hour_after(partition, ahead)
    before, state = msgpack.encode(scope), scope.lifecycle.project.state
    told_before = sum(len(it.units) for it in scope.lifecycle.summaries.values())
    would, here = next_pass(scope, QUICK, at), standing(scope)
    assert msgpack.encode(scope) == before
    fold(partition, slots([make_tick(0, at)], start=partition.offset))
    moves = [(move.to, move.count) for move in would.moves]
    counts = {place: sum(n for to, n in moves if to == place) for place in ("archived", "purged")}
    after = standing(scope)
    assert after.purged - here.purged == counts["purged"]
    assert after.archived - here.archived == counts["archived"] - counts["purged"]
    moved = sum(move.count for move in would.moves if move.to in ("mid", "long"))
    told = sum(len(it.units) for it in scope.lifecycle.summaries.values())
    counted(scope, QUICK, at)
    assert (would.project == "dormant") is (scope.lifecycle.project.state == "dormant" != state)
    assert moved == told - told_before


def test_what_is_beyond_the_room_of_a_pass_waits_for_the_next() -> None:
    scope = world(*said(MOST_A_PASS + 20, "turn"))
    would = next_pass(scope, Settings(), NOW + 60 * DAY_US)
    assert (would.moving, would.total) == (MOST_A_PASS, MOST_A_PASS + 20)
    (move,) = would.moves
    assert (move.to, move.kind, move.label, move.since) == ("mid", "turn", "Ada", START // DAY_US * DAY_US)


def test_what_was_used_is_never_archived_by_age() -> None:
    turns = said(3, "turn")
    ids: list[object] = [its.body.text for its in turns]
    aged = [*turns, used(ids[:1], "w", sent=START + DAY_US), tick(60), tick(200), tick(300)]
    scope = world(*aged)
    assert standing(scope).long == 3
    would = next_pass(scope, Settings(), NOW + 391 * DAY_US)
    assert would.moving == 2
    assert {move.to for move in would.moves} == {"archived"}
    assert next_pass(scope, Settings(archive_after_days=-1), NOW + 391 * DAY_US).moving == 0


@pytest.mark.parametrize(("ticked", "days", "then"), [(0, 20, None), (0, 91, "dormant"), (91, 122, "purged")])
def test_a_project_that_would_be_dormant_or_leave_the_views_is_told_so(
    ticked: int, days: int, then: str | None
) -> None:
    assert next_pass(world(*said(3), tick(ticked)), Settings(), NOW + days * DAY_US).project == then


def test_what_finishing_a_project_would_archive_is_counted() -> None:
    facts = said(2)
    assert (
        to_be_archived(world(*facts, captured("Said since the last tick.", sent=START + HOUR_US // 2))) == 3
    )
    assert to_be_archived(world(*facts, archived([facts[0].body.text], "a"))) == 1
