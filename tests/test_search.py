"""What a search finds: by words, from its own scope alone, and also what no view holds yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import worlds
from hypothesis import HealthCheck, given, settings

from recollect.schemas.codec import encode
from recollect.schemas.events import Captured, Event
from recollect.schemas.log import Slot
from recollect.schemas.rows import GoneRow, MemoryRow, TombstoneRow, TurnRow
from recollect.state.partition import Partition, fold
from recollect.state.ranking import Corpus
from recollect.state.tail import overlay
from recollect.state.views import all_changes, row_of
from recollect.tools.client import Client
from recollect.tools.lines import Line


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def found(client: Client, query: str) -> list[tuple[str, float]]:
    return [(result.text, result.score) for result in client.search(query, 50, quiet=True).answer.results]


def test_ten_thousand_rows_of_another_scope_change_nothing(client: Client) -> None:
    client.capture_many([Line(text=f"The gauge {n % 7} reads {n} on port {n % 5}.", kind="turn") for n in range(60)])
    before = found(client, "gauge 3 port 4 reads")
    assert len(before) == 50
    other = [Line(text=f"gauge port reads {n}", kind="turn", scope="project:other") for n in range(10_000)]
    client.capture_many(other)
    client.project()
    assert found(client, "gauge 3 port 4 reads") == before
    assert all("gauge port reads" not in text for text, _ in before)


def test_a_project_reads_global_too_and_global_reads_only_itself(client: Client, tmp_path: Path) -> None:
    client.capture("Use tabs in this project.")
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture("Use tabs everywhere.")
        assert [text for text, _ in found(operator, "tabs")] == ["Use tabs everywhere."]
    assert {text for text, _ in found(client, "tabs")} == {"Use tabs in this project.", "Use tabs everywhere."}


def test_what_is_not_projected_is_found_and_tombstones_hold(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, hidden = client.capture("The gateway is at the lighthouse."), client.capture("The gateway is in the office.")
    said = client.capture("gateway, gateway", "turn")
    client.project()
    # A projector elsewhere holds the lock, so that this client can only answer from views and tail.
    with client.home.projector_lock():
        fresh = client.capture("The gateway took nine seconds.")
        client.forget(hidden.id)
        client.forget(said.id)
        client.capture("the gateway is in the office.")
        answer = client.search("gateway", quiet=True).answer
        assert {result.id for result in answer.results} == {kept.id, fresh.id}
        assert [result.projected for result in answer.results if result.id == fresh.id] == [False]
        assert answer.lag == 4
        assert client.show(fresh.id).type == "captured"
        assert client.why(fresh.id).events[0].how == "waiting"
        client.restore(hidden.id)
        texts = {text for text, _ in found(client, "gateway")}
        assert "The gateway is in the office." in texts
    client.project()
    answer = client.search("gateway", quiet=True).answer
    assert (answer.lag, all(result.projected for result in answer.results)) == (0, True)


def tail_view(events: list[Event], cut: int) -> tuple[set[str], set[str]]:
    """Ids that a reader shows when the views stand at `cut`, and those that the whole fold shows."""
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate(events)]
    rows: dict[str, list[object]] = {"memories": [], "turns": [], "tombstones": []}
    partition = Partition(0)
    fold(partition, slots[:cut])
    for scope in partition.scopes.values():
        for change in all_changes(scope):
            row = None if change.table == "journal" else row_of(scope, change)
            if row is not None and not isinstance(row, GoneRow):
                rows[change.table].append(row)
    memories: list[MemoryRow] = rows["memories"]  # type: ignore[assignment]
    turns: list[TurnRow] = rows["turns"]  # type: ignore[assignment]
    tombstones: list[TombstoneRow] = rows["tombstones"]  # type: ignore[assignment]
    laid = overlay(memories, turns, tombstones, events[cut:])
    shown = {row.id for row in (*laid.memories, *laid.turns, *laid.captured)}
    fold(partition, slots[cut:])
    captures = [capture for scope in partition.scopes.values() for capture in scope.captures.by_seq.values()]
    return shown, {capture.id for capture in captures if not capture.hidden}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(worlds(max_size=12))
def test_the_tail_never_shows_what_is_forgotten(events: list[Event]) -> None:
    """Whatever stands behind the watermark, a reader shows no capture that the whole fold hides."""
    for cut in range(len(events) + 1):
        shown, visible = tail_view(events, cut)
        captured = {event.id for event in events[cut:] if isinstance(event.body, Captured)}
        assert shown & captured <= visible


def test_scores_come_from_the_corpus_and_ties_keep_its_order() -> None:
    corpus = Corpus(["tabs and spaces", "tabs", "nothing of it", "tabs"])
    hits = corpus.rank("tabs tabs")
    assert [hit.place for hit in hits] == [1, 3, 0]
    assert hits[0].score == hits[1].score > hits[2].score > 0
    assert Corpus([]).rank("tabs") == []
    assert corpus.rank("?!") == []


def test_filters_narrow_and_limits_hold(client: Client) -> None:
    client.capture("Tabs for code.", tags=("style",), at="2026-01-01")
    client.capture("Tabs for soup.", "journal", at="2026-02-01")
    from recollect.schemas.events import Filters
    from recollect.schemas.times import parse_time

    def narrowed(**fields: object) -> list[str]:
        filters = Filters(**({"kinds": (), "since": None, "tags": (), "until": None} | fields))  # type: ignore[arg-type]
        return [result.text for result in client.search("tabs", filters=filters, quiet=True).answer.results]

    assert narrowed(tags=("style",)) == ["Tabs for code."]
    assert narrowed(kinds=("journal",)) == ["Tabs for soup."]
    assert narrowed(since=parse_time("2026-01-15", 0)) == ["Tabs for soup."]
    assert narrowed(until=parse_time("2026-01-15", 0)) == ["Tabs for code."]
    assert len(client.search("tabs", 1, quiet=True).answer.results) == 1
