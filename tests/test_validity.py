"""What replaces what: order by when things happened, and by what people say of them.

Who is trusted less, what is hidden and what is said again, the model of `test_model.py` has in any order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from builders import START, captured, configured, forgotten, linked, slots
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from memtape.schemas.errors import MemtapeError
from memtape.schemas.rows import MemoryRow
from memtape.schemas.times import format_day
from memtape.sinks.home.folders import Home
from memtape.state.core.partition import Partition, fold
from memtape.state.views.rows import memory_row
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main

DAY, SECOND = 86_400_000_000, 1_000_000
BEGIN = START - 100 * DAY
OLD, NEW, NEWEST = (f"The staging database listens on port {port}." for port in (5433, 5434, 5435))


def rows(events: list[Any]) -> dict[str, MemoryRow]:
    """The rows of the memories of a history of one scope, by text."""
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    scope = partition.scopes["project:test"]
    found = (memory_row(scope, scope.captures.by_seq[it.name].id) for it in scope.memories.by_birth.values())
    return {row.text: row for row in found if row is not None}


def said(text: str, day: int, sent: int | None = None, **fields: Any) -> Any:
    return captured(text, at=START + (day - 100) * DAY, sent=START + (sent or day) * SECOND, **fields)


@given(st.permutations([(OLD, 1), (NEW, 2), (NEWEST, 3)]))
def test_values_follow_each_other_as_they_happened(order: list[tuple[str, int]]) -> None:
    """In whatever order they arrive."""
    found = rows([said(text, day, sent=10 + n) for n, (text, day) in enumerate(order)])
    first, second, third = (found[text] for text in (OLD, NEW, NEWEST))
    assert [(it.valid_from, it.valid_to) for it in (first, second, third)] == [
        (BEGIN + DAY, BEGIN + 2 * DAY), (BEGIN + 2 * DAY, BEGIN + 3 * DAY), (BEGIN + 3 * DAY, None)
    ]  # fmt: skip
    assert [(it.replaced_by, it.before, it.replaces) for it in (first, second, third)] == [
        (second.id, "", ()), (third.id, "5433", (first.id,)), (None, "5434", (second.id,))
    ]  # fmt: skip


def test_a_value_that_came_back_held_twice() -> None:
    told = [(OLD, 1), (OLD, 2), (NEW, 4), (NEW, 5), (OLD, 7), (NEWEST, 8), (OLD, 9), (OLD, 10)]
    found = rows([said(text, day, id=f"{text} {day}") for text, day in told])
    times = [(it.valid_from, it.valid_to) for it in found[OLD].held]
    assert times == [(BEGIN + DAY, BEGIN + 4 * DAY), (BEGIN + 7 * DAY, BEGIN + 8 * DAY)]
    assert (found[OLD].valid_from, found[OLD].valid_to) == (BEGIN + 9 * DAY, None)
    assert found[NEW].held == () and found[NEW].valid_from == BEGIN + 4 * DAY


def test_what_tells_more_is_outdated_in_that_part_and_holds() -> None:
    older = "The staging database listens on port 5433, and backups run nightly."
    found = rows([said(older, 1), said(NEW, 2)])
    assert (found[older].valid_to, found[older].outdated_by) == (None, found[NEW].id)


def test_people_overrule_the_rule_and_it_stays_so() -> None:
    events = [said(OLD, 1), said(NEW, 2), linked(OLD, "holds", None, "l1", sent=START + 3 * SECOND)]
    assert rows(events)[OLD].valid_to is None
    events.append(said(NEWEST, 4))
    assert rows(events)[OLD].valid_to is None
    assert rows(events)[NEW].replaced_by == rows(events)[NEWEST].id
    events.append(linked(OLD, "holds", None, "l2", on=False, sent=START + 5 * SECOND))
    assert rows(events)[OLD].valid_to == BEGIN + 2 * DAY


def test_what_is_said_to_replace_something_does_whatever_the_texts_say() -> None:
    one, other = "The lighthouse is white.", "Maria keeps the light."
    events = [said(one, 2), said(other, 1), linked(one, "replaced_by", other, "l1", sent=START + 3 * SECOND)]
    found = rows(events)
    assert (found[one].replaced_by, found[other].replaces) == (found[other].id, (found[one].id,))
    assert found[one].valid_to == found[one].valid_from  # What replaced it was said before it: it never held.
    assert rows([*events, forgotten([other], "f", sent=START + 4 * SECOND)])[one].valid_to is None
    events[-1] = linked(one, "replaced_by", other, "l1", origin="agent", sent=START + 3 * SECOND)
    assert rows(events)[one].valid_to is None, "an agent does not end what a person said"


def in_force(goals: list[Any]) -> list[str]:
    return [row.text for row in rows(goals).values() if not row.replaced]


def test_the_goal_in_force_was_said_last_by_who_is_trusted_or_named_by_a_person() -> None:
    told = ((70, 1, {}), (85, 5, {}), (60, 3, {"sent": 6}), (50, 7, {"origin": "agent"}))
    text = "The target for test coverage is {} percent."
    goals = [said(text.format(n), day, kind="goal", **who) for n, day, who in told]
    assert in_force(goals) == [text.format(85)]
    said_of = (("Write the manual.", 1), ("Tidy the quay.", 3))
    manual, quay = (said(text, day, kind="goal") for text, day in said_of)
    goals = [manual, said("Learn to sail.", 2, kind="goal", origin="agent"), quay]
    assert (in_force(goals[:2]), in_force(goals)) == (["Write the manual."], ["Tidy the quay."])
    goals.append(linked("Write the manual.", "holds", None, "l", sent=START + 9 * SECOND))
    assert in_force(goals) == ["Write the manual."]


# In a home.


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(Home(tmp_path / "home").path, scope="project:test", origin="user")


def at(day: int) -> str:
    return f"2026-03-{day:02}T10:00:00Z"


def test_what_holds_stands_above_what_it_replaced_and_every_way_to_ask_says_so(client: Client) -> None:
    """A search, a start, `MEMORY.md`, and `show` by a whole or shortened id, in the tail and in the views."""
    old = client.capture(OLD, at=at(1)).id
    new = client.capture("The staging database is on port 5434 now.", at=at(9)).id
    goal = client.capture("Ship it.", kind="goal").id
    for _ in ("in the tail", "in the views"):
        # Two captures in one millisecond share the first 18 characters.
        here = ("--json", "--home", str(client.home.path), "--scope", client.scope)
        told = [orjson.loads(CliRunner().invoke(main, ["show", id, *here]).stdout) for id in (old, old[:30])]
        assert told[0] == told[1] and told[0]["memory"]["replaced_by"] == new
        assert told[0]["memory"]["valid_to"] - told[0]["memory"]["valid_from"] == 8 * DAY
        client.project()
    asked = "on which port does the staging database listen"  # These are the words of the older text alone.
    newer, older = client.search(asked).results
    assert (newer.id, older.id) == (new, old) and newer.score >= older.score
    assert older.marks == (f"replaced on 2026-03-09 by {new}",)
    assert newer.marks[0].startswith("since 2026-03-09; before: 5433")
    assert [result.id for result in client.search(asked, limit=1).results] == [new]
    context = client.context(2_000, "prompt")
    for text in (context.text, (client.home.scope_folder("project:test") / "MEMORY.md").read_text()):
        assert "since 2026-03-09; before: 5433" in text.replace("\\", "") and OLD not in text
    items = {item.id: item for item in context.items}
    assert items.keys() == {new, goal} and items[new].replaces == (old,)
    for id, item in items.items():
        row = client.show(id).memory
        assert row is not None and item.valid_from == row.valid_from
        assert item.valid_to is None and item.replaced_by is None
        assert (item.replaces, item.wordings) == (row.replaces, row.wordings)


def test_a_turn_that_says_what_was_replaced_is_marked_wherever_it_is_told(client: Client) -> None:
    """In a daily log the mark comes and goes with what is known of the value, also long after the day."""
    told = f"Remember that {OLD[0].lower()}{OLD[1:]}"
    client.capture_many([Line(text=told, kind="turn", session="s", at=BEGIN)])
    client.project()
    page = client.home.scope_folder("project:test") / "logs" / f"{format_day(BEGIN)}.md"
    assert OLD[1:-1] in page.read_text() and "says what was" not in page.read_text()
    newer = client.capture(NEW, at=BEGIN + DAY).id
    client.project()
    mark = f"says what was replaced on {format_day(BEGIN + DAY)} by {newer}"
    assert f"({mark})" in page.read_text().replace("\\", "")
    turn = next(it for it in client.search("staging database port").results if it.kind == "turn")
    left = [line for line in client.context(2_000, "prompt").text.splitlines() if told in line]
    assert turn.marks == (mark,) and left and all(mark.rpartition(" by ")[0] in line for line in left)
    client.say_holds(client.show(newer).memory.replaces[0])  # type: ignore[union-attr]
    client.project()
    assert "says what was" not in page.read_text() and client.verify().ok


def test_what_held_then_also_before_it_came_back_is_asked_for_by_its_time(client: Client) -> None:
    for day, text in ((1, OLD), (5, NEW), (9, OLD), (12, OLD)):
        client.capture(text, at=at(day))
    client.project()
    for day, text in ((1, OLD), (4, OLD), (5, NEW), (8, NEW), (9, OLD), (20, OLD)):
        found = client.search("staging database port", valid_at=1_772_359_200_000_000 + (day - 1) * DAY)
        assert [it.text for it in found.results] == [text] and found.recall_id is None


def test_deciding_by_hand_says_what_it_did_and_refuses_what_cannot_be(client: Client) -> None:
    one, other = client.capture(OLD, at=at(1)), client.capture("Maria keeps the light.", at=at(2))
    turn = client.capture("Hello there.", "turn")
    assert client.say_replaced(one.id, other.id).ids == (one.id,)
    client.project()
    assert client.show(one.id).memory.replaced_by == other.id  # type: ignore[union-attr]
    assert client.say_holds(one.id).ids == (one.id,)
    assert client.say_holds(one.id, undo=True).ids == (one.id,)
    for wrong in (
        lambda: client.say_holds(one.id, undo=True),
        lambda: client.say_holds(turn.id),
        lambda: client.say_replaced(one.id, one.id),
        lambda: (client.say_replaced(one.id, other.id), client.say_replaced(other.id, one.id)),
        lambda: Client(client.home.path, scope="project:test", origin="agent").say_replaced(one.id, other.id),
    ):
        with pytest.raises(MemtapeError):
            wrong()
