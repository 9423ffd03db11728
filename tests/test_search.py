"""What a search finds: by words, from its own scope alone, and also what no view holds yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import START, captured, worlds
from click.testing import CliRunner
from corpora import Document, corpus_of
from hypothesis import example, given
from hypothesis import strategies as st
from overlaying import laid_over
from tables import table

from memtape.schemas.codec import encode, event_of
from memtape.schemas.events import Event
from memtape.schemas.log import Slot
from memtape.schemas.rows import MemoryRow
from memtape.schemas.times import parse_time
from memtape.state.core.partition import Partition, fold
from memtape.state.views.rows import ROWS, all_changes, row_of
from memtape.tools.ask.ordering import SearchQuery
from memtape.tools.capture.lines import Line
from memtape.tools.client import Client
from memtape.tools.doors.cli import main


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(tmp_path, scope="project:mine", actor="Ada", origin="user") as client:
        yield client


def found(client: Client, query: str) -> list[tuple[str, float]]:
    return [(result.text, result.score) for result in client.search(query, 50, quiet=True).results]


def best(chat: list[Document], query: str) -> int | None:
    hit = next(iter(corpus_of(chat).rank(query).hits), None)
    return None if hit is None else hit.place


def test_thousands_of_rows_of_another_scope_change_nothing(client: Client) -> None:
    texts = [f"The gauge {number % 7} reads {number} on port {number % 5}." for number in range(60)]
    client.capture_many([Line(text=text, kind="turn") for text in texts])
    before = found(client, "gauge 3 port 4 reads")
    assert len(before) == 50
    other = [Line(text=f"gauge port reads {n}", kind="turn", scope="project:other") for n in range(3_000)]
    client.capture_many(other)
    client.project()
    assert found(client, "gauge 3 port 4 reads") == before
    assert all("gauge port reads" not in text for text, _ in before)


def test_a_project_reads_global_too_and_global_reads_only_itself(client: Client, tmp_path: Path) -> None:
    client.capture("Use tabs in this project.")
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture("Use tabs everywhere.")
        assert [text for text, _ in found(operator, "tabs")] == ["Use tabs everywhere."]
    texts = {text for text, _ in found(client, "tabs")}
    assert texts == {"Use tabs in this project.", "Use tabs everywhere."}


def test_what_is_not_projected_is_found_and_tombstones_hold(client: Client) -> None:
    kept, hidden = (client.capture(f"The gateway is {place}.") for place in ("at the light", "in the office"))
    said = client.capture("gateway, gateway", "turn")
    client.project()
    # A projector elsewhere holds the lock, so that this client can only answer from views and tail.
    with client.home.lock("projector"):
        fresh = client.capture("The gateway took nine seconds.")
        client.forget(hidden.id)
        client.forget(said.id)
        with Client(client.home, scope=client.scope, log=client.log) as agent:
            agent.capture("the gateway is in the office.")
        answer = client.search("gateway", quiet=True)
        assert {result.id for result in answer.results} == {kept.id, fresh.id}
        assert [result.projected for result in answer.results if result.id == fresh.id] == [False]
        assert answer.lag == 4
        assert client.show(fresh.id).type == "captured"
        assert client.why(fresh.id).events[0].how == "waiting"
        client.restore(hidden.id)
        texts = {text for text, _ in found(client, "gateway")}
        assert "The gateway is in the office." in texts
    client.project()
    answer = client.search("gateway", quiet=True)
    assert (answer.lag, all(result.projected for result in answer.results)) == (0, True)


def test_a_repeated_event_behind_the_views_undoes_nothing(client: Client) -> None:
    """A producer that was not answered appends an event again; what came between stands."""
    said = client.capture("The gateway is in the office.")
    client.forget(said.id)
    client.restore(said.id)
    partition = said.position.partition
    again = event_of(client.log.read(partition, client.log.ends()[partition] - 1, 1)[0].payload)
    assert again is not None and again.type == "restored"
    client.forget(said.id)
    client.project()
    client.log.append([again])
    with client.home.lock("projector"):
        assert found(client, "gateway") == []
    client.project()
    assert found(client, "gateway") == []


def tail_view(events: list[Event], cut: int) -> tuple[set[str], set[str]]:
    """Ids of the captures that a reader shows when the views stand at `cut`, and that the fold shows."""
    slots = [Slot(0, offset, encode(event)) for offset, event in enumerate(events)]
    partition = Partition(0)
    fold(partition, slots[:cut])
    changes = ((scope, change) for scope in partition.scopes.values() for change in all_changes(scope))
    rows = [row_of(scope, change) for scope, change in changes if change.table in ROWS]
    over = laid_over(rows, events, cut)
    shown = {row.canonical if isinstance(row, MemoryRow) else row.id for row in over}
    shown |= {wording.id for row in over if isinstance(row, MemoryRow) for wording in row.wordings}
    fold(partition, slots[cut:])
    captures = [capture for scope in partition.scopes.values() for capture in scope.captures.by_seq.values()]
    return shown, {capture.id for capture in captures if not capture.hidden}


@example([captured("One.", 1, "page", path="b"), captured("Two.", 2, "page", path="b")])
@given(worlds(max_size=12))
def test_the_tail_never_shows_what_is_forgotten(events: list[Event]) -> None:
    """Whatever stands behind the watermark, a reader shows no capture that the whole fold hides."""
    for cut in range(len(events) + 1):
        shown, visible = tail_view(events, cut)
        assert shown <= visible


def documents(*texts: str, **fields: object) -> list[Document]:
    said = {"session": None, "speaker": "Ada", "turn": False, "answers": False, "at": START, **fields}
    return [Document(text=text, **said) for text in texts]  # type: ignore[arg-type]


@pytest.mark.parametrize("case", table("searches")["chats"], ids=lambda case: case["why"])
def test_the_best_of_what_was_said_is_found(case: dict[str, Any]) -> None:
    """Each case has what was said, and questions with the place of the best answer, or none."""
    plain = {"session": None, "speaker": "Ada", "turn": False, "answers": False, "at": "2026-09-21T13:33:20Z"}
    said = [plain | (it if isinstance(it, dict) else {"text": it}) for it in case["said"]]
    chat = [Document(**it | {"at": parse_time(it["at"], 0) + place}) for place, it in enumerate(said)]
    for question, *places in case["asked"]:
        assert [best(chat, question)] == (places or [None]), question


def test_a_weak_hit_of_one_scope_is_not_as_good_as_a_whole_one_of_another() -> None:
    whole = corpus_of(documents("The staging gateway listens on port 5433.", "Something else."))
    weak = corpus_of(documents("A gateway drug.", "Something else."))
    query = "staging gateway port"
    assert next(iter(whole.rank(query).hits)).score > 2 * next(iter(weak.rank(query).hits)).score


@given(st.lists(st.text(max_size=20), max_size=12), st.text(max_size=20), st.booleans())
def test_any_text_can_be_asked_of_any_corpus(texts: list[str], query: str, answers: bool) -> None:
    chat = [
        Document(text, f"s{n % 2}", f"p{n % 3}", n % 4 > 0, answers and n % 2 == 0, START + n)
        for n, text in enumerate(texts)
    ]
    hits = list(corpus_of(chat).rank(query).hits)
    assert len({hit.place for hit in hits}) == len(hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


QUESTION = "Which port does the staging database listen on?"


def test_what_was_said_often_takes_one_place_and_hides_nothing(client: Client, tmp_path: Path) -> None:
    fact = client.capture("The staging database listens on port 5433.").id
    asked = [Line(text=QUESTION, kind="turn", session=f"s-{n}") for n in range(13)]
    asked.append(Line(text="  which port does  the staging database listen on?", kind="turn"))
    client.capture_many(asked)
    with Client(tmp_path, scope="global", origin="operator") as operator:
        operator.capture(QUESTION, "turn")
    for _ in ("in the tail", "in the views"):
        results = client.search(QUESTION, 5, quiet=True).results
        assert {(result.kind, result.again) for result in results} == {("turn", 14), ("fact", 0)}
        assert fact in [result.id for result in results]
        client.project()
    query = SearchQuery(QUESTION, repeats=True, limit=50)
    with_repeats = client.reader.retriever.answer("project:mine", query).results
    assert len({result.id for result in with_repeats}) == 16  # Every turn has an id of its own.
    words = ["search", QUESTION, "--scope", "project:mine", "--home", str(tmp_path)]
    out = CliRunner().invoke(main, words).output
    assert out.count("Which port") == 1 and "said 15 times" in out
