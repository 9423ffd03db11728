"""How memories stand: confirmed, used, stale, pinned; orders about memory and what they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from pathlib import Path

import orjson
import pytest
from builders import START, captured, configured, histories, slots, used
from commanding import call as command
from commanding import document
from hypothesis import given
from hypothesis import strategies as st
from tables import table

from memtape.schemas.events import Event, Origin
from memtape.schemas.rows import Category, MemoryRow
from memtape.schemas.times import DAY_US
from memtape.state.core.erasures import Erasures
from memtape.state.core.partition import Partition, fold
from memtape.state.subjects.weights import importance_confirmed
from memtape.state.text.categories import FRESH_DAYS, category_of, is_stale
from memtape.state.text.reading import read
from memtape.state.views.rows import memory_row
from memtape.tools.agents.offering import offered
from memtape.tools.capture.writing import Line
from memtape.tools.client import Client
from memtape.tools.doors.mcp import call

ORDER, TRIP = "Never mention the Berlin trip again.", "The Berlin trip with Otto is booked for May 3."


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:p", actor="Ada", origin="user") as client:
        yield client


def rows(*events: object) -> dict[str, MemoryRow]:
    partition = Partition(0, Erasures())
    fold(partition, slots([configured(), *events]))  # type: ignore[list-item]
    scope = partition.scopes["project:test"]
    names = (scope.captures.by_seq[memory.name].id for memory in scope.memories.by_birth.values())
    found = [row for name in names if (row := memory_row(scope, name))]
    return {row.text: row for row in found}


@given(st.integers(0, 10_000))
def test_confirmations_count_by_their_logarithm_up_to_a_quarter(count: int) -> None:
    assert importance_confirmed(0) == 500 and importance_confirmed(9) == 750
    assert importance_confirmed(count) <= importance_confirmed(count + 1) <= 750
    assert abs(importance_confirmed(count) - 500 - 250 * log10(min(10, count + 1))) < 1


@given(
    st.lists(st.sampled_from(("operator", "user", "agent", "tool", "web", "model")), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=3),
)
def test_a_draft_is_what_a_machine_said_once(origins: list[Origin], uses: list[int]) -> None:
    said = [captured("The gate is red.", f"c{n}", origin=it, sent=START + n) for n, it in enumerate(origins)]
    marked = [used([f"c{n}"], f"u{place}", sent=START + 10 + place) for place, n in enumerate(uses)]
    (row,) = rows(*said, *marked).values()
    counted = [place for place, n in enumerate(uses) if n < len(origins)]
    is_draft = len(origins) == 1 and origins[0] not in ("operator", "user") and not counted
    assert row.status == ("draft" if is_draft else "stable")
    assert row.uses == len(counted)
    assert row.used_at == (START + 10 + counted[-1] if counted else None)
    assert row.importance_confirmed == importance_confirmed(len(origins) - 1)


def test_what_was_replaced_is_deprecated() -> None:
    found = rows(
        captured("The staging database listens on port 5433.", "a", sent=START, at=START),
        captured("The staging database now listens on port 5434.", "b", sent=START + 1, at=START + 1),
        captured("Ship it in May.", "g", kind="goal", sent=START + 2, at=START + 2),
        captured("Win the cup.", "h", kind="goal", sent=START + 3, at=START + 3),
    )
    told = {text: row.status for text, row in found.items()}
    assert list(told.values()) == ["deprecated", "stable", "deprecated", "stable"]


@pytest.mark.parametrize(("text", "category"), table("sentences")["categories"])
def test_a_category_is_told_by_rule(text: str, category: Category) -> None:
    assert category_of("fact", (), read(text)) == category
    assert (
        category_of("goal", (), read(text)) == "goal" and category_of("journal", (), read(text)) == "context"
    )


@given(st.sampled_from(list(FRESH_DAYS)), st.integers(0, 4_000))
def test_what_is_older_than_its_category_is_fresh_is_stale(category: Category, days: int) -> None:
    fresh = FRESH_DAYS[category]
    assert is_stale(category, START, START + days * DAY_US + 1) is (fresh is not None and days >= fresh)


def old(client: Client) -> dict[str, str]:
    """Capture what is old, and return its ids."""
    texts = ("The old worker uses Celery.", "My sister Anna lives in Graz.", "The relay uses ZeroMQ.")
    lines = [Line(text=text, kind="fact", at="2020-01-02T00:00:00Z", origin="agent") for text in texts]
    made = client.capture_many(lines)
    client.project()
    return {text.split()[1]: one.id for text, one in zip(texts, made, strict=True)}


def test_what_is_stale_is_listed_until_it_is_said_or_used(client: Client, tmp_path: Path) -> None:
    ids = old(client)
    client.use([ids["relay"]])
    client.project()
    assert [it.id for it in client.stale()] == [ids["old"]]
    (found,) = client.search("Celery worker").results
    assert found.stale and "stale: last said on 2020-01-02" in found.marks and found.category == "technical"
    assert "stale: last said on 2020-01-02" in client.context().text
    assert "stale: last said on 2020-01-02" in call(client, "search_memories", {"query": "Celery worker"})
    assert client.show(ids["old"]).stale and not client.show(ids["sister"]).stale
    told = command("settle", "--stale", home=tmp_path, scope="project:p").output
    assert f"memtape forget {ids['old'][-8:]}" in told and "memtape capture 'The old worker" in told
    listed = document("settle", "--stale", home=tmp_path, scope="project:p")
    assert [it["uses"] for it in listed["stale"]] == [0]
    client.capture("The old worker uses Celery.")
    client.project()
    assert client.stale() == [] and client.verify().ok


def test_an_order_is_listed_marked_and_ended_by_forgetting_it(client: Client, tmp_path: Path) -> None:
    trip = client.capture(TRIP).id
    turn = client.capture_many([Line(text=f"Hm. {ORDER}", kind="turn", session="s-1")])[0].id
    client.capture("Never mention the gate again.", origin="agent")  # No agent gives orders.
    client.project()
    (order,) = client.orders()
    assert order.text == ORDER and order.about == ("berlin", "trip") and turn in order.ids
    told = command("settle", "--orders", home=tmp_path, scope="project:p").output
    assert all(f"memtape forget {id[-8:]}" in told for id in order.ids)
    asked = "When is the Berlin trip with Otto booked?"
    assert offered(client, asked, "now")[0] == ""
    context = client.context().text
    assert "Berlin" not in context
    found = {result.id: result for result in client.search("Berlin trip").results}
    assert trip in found and found[trip].polarity == "fact"
    assert all("an order about memory" in it.marks for id, it in found.items() if id in order.ids)
    assert ORDER not in next((tmp_path / "vault").rglob("MEMORY.md")).read_text()
    assert "an order about memory" in call(client, "search_memories", {"query": "Berlin trip"})
    assert "an order about memory" in call(client, "get_memory", {"id": order.ids[0]})
    assert "Berlin" not in call(client, "get_context", {})
    for id in order.ids:
        client.forget(id)
    client.project()
    assert client.orders() == [] and "May 3" in client.context().text
    assert "May 3" in offered(client, asked, "now")[0]


def test_an_order_that_no_view_holds_yet_is_kept_too(client: Client) -> None:
    client.capture(TRIP)
    client.project()
    client.capture(f"{ORDER} Always run the slow tests.")
    items = client.context(as_is=True).items
    assert [(it.section, it.text) for it in items] == [("guardrails", "Always run the slow tests.")]
    assert offered(client, "When is the Berlin trip with Otto booked?", "now")[0] == ""
    assert "Berlin" not in client.context(as_is=True).text


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
        return command(*words, home=tmp_path, scope="project:a").output

    with Client(tmp_path, scope="project:a") as client:
        id = client.capture("The staging database listens on port 5433.").id
        assert id[-8:] in run("pin", id)
        found = orjson.loads(run("search", "staging port", "--json"))["results"][0]
        assert (found["id"], found["pinned"]) == (id, True)
        assert "pinned" in run("search", "staging port") and "pinned" in run("show", id)
        assert "(pinned)" in (client.home.vault / "projects" / "a" / "MEMORY.md").read_text()
        assert "Unpinned 1 capture" in run("pin", "--undo", id)
        assert not client.search("staging port").results[0].pinned
        assert "Pinned 1 capture" in run("pin", id)
        assert client.search("staging port").results[0].pinned
        assert client.verify().ok
        assert "Unpinned 1 capture" in run("pin", "--undo", id)
