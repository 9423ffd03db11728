"""Pins: they are kept by captured id, and a memory is pinned while any of its captures is."""

from __future__ import annotations

from pathlib import Path

import orjson
from builders import captured, configured, forgotten, histories, make_id, pinned, slots, unfolded
from click.testing import CliRunner
from hypothesis import given

from memtape.schemas.events import Event
from memtape.schemas.rows import Change, MemoryRow, TurnRow
from memtape.state.core.partition import Partition, fold
from memtape.state.core.scope import Scope
from memtape.state.views.rows import all_changes, row_of
from memtape.tools.agents.mcp.answers import call
from memtape.tools.client import Client
from memtape.tools.commands.cli import main


def world(*events: Event) -> Scope:
    partition = Partition(0)
    fold(partition, slots([configured(), *events]))
    return partition.scopes["project:test"]


def pinned_rows(scope: Scope) -> list[str]:
    rows = (row_of(scope, change) for change in all_changes(scope) if change.table in ("memories", "turns"))
    return [row.id for row in rows if isinstance(row, MemoryRow | TurnRow) and row.pinned]


def test_what_is_pinned_is_so_until_that_ends() -> None:
    said = [captured("Use tabs.", 1), captured("Aye.", 2, "turn"), captured("Never use spaces.", 3)]
    assert pinned_rows(world(*said, pinned([1, 2], "p"))) == [make_id(1), make_id(2)]
    assert pinned_rows(world(*said, pinned([1, 2], "p"), pinned([2, 3], "q", on=False))) == [make_id(1)]
    assert pinned_rows(world(*said, pinned([9], "p"))) == []


def test_a_memory_is_pinned_while_any_of_its_captures_is() -> None:
    said = [captured("Use tabs.", 1), captured("use tabs", 2)]
    assert pinned_rows(world(*said, pinned([2], "p"))) == [make_id(1)]
    assert pinned_rows(world(*said, pinned([2], "p"), unfolded([2], "u"))) == [make_id(2)]
    assert pinned_rows(world(*said, pinned([1, 2], "p"), pinned([1], "q", on=False))) == [make_id(1)]


def test_a_pin_waits_for_its_capture_and_outlives_forgetting() -> None:
    assert pinned_rows(world(pinned([1], "p"), captured("Use tabs.", 1))) == [make_id(1)]
    scope = world(captured("Use tabs.", 1), pinned([1], "p"), forgotten([1], "f"))
    row = row_of(scope, Change("memories", scope.name, make_id(1)))
    assert isinstance(row, MemoryRow) and row.hidden and row.pinned


@given(histories())
def test_a_pin_changes_no_memory(events: list[Event]) -> None:
    others = [event for event in events if event.type != "pinned"]
    kept = [event for event in events if event.type == "pinned"]
    if not kept:
        return
    with_pins, without = (Partition(0), Partition(0))
    fold(with_pins, slots([configured(), *others, *kept]))
    fold(without, slots([configured(), *others]))
    for name, scope in without.scopes.items():
        same = with_pins.scopes[name]
        assert list(scope.memories.by_birth.values()) == list(same.memories.by_birth.values())


def test_commands_results_pages_and_tools_show_a_pin(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        result = CliRunner().invoke(main, [*words, "--scope", "project:a", "--home", str(tmp_path)])
        assert result.exit_code == 0, result.output
        return result.output

    with Client(tmp_path, scope="project:a") as client:
        id = client.capture("The staging database listens on port 5433.").id
        assert id in run("pin", id)
        found = orjson.loads(run("search", "staging port", "--json"))["results"][0]
        assert (found["id"], found["pinned"]) == (id, True)
        assert "pinned" in run("search", "staging port") and "pinned" in run("show", id)
        assert "(pinned)" in (client.home.vault / "projects" / "a" / "MEMORY.md").read_text()
        assert "Unpinned 1 capture" in call(client, "unpin_memory", {"id": id})
        assert not client.search("staging port").results[0].pinned
        assert "Pinned 1 capture" in call(client, "pin_memory", {"id": id})
        assert client.search("staging port").results[0].pinned
        assert client.verify().ok
        assert "Unpinned 1 capture" in run("unpin", id)
