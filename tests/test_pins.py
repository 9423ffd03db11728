"""Pins: they are kept by captured id, and a memory is pinned while any of its captures is."""

from __future__ import annotations

from pathlib import Path

import orjson
from builders import configured, histories, slots
from click.testing import CliRunner
from hypothesis import given

from memtape.schemas.events import Event
from memtape.state.core.partition import Partition, fold
from memtape.tools.client import Client
from memtape.tools.commands.cli import main
from memtape.tools.doors.mcp import call


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
        assert "Unpinned 1 capture" in run("pin", "--undo", id)
